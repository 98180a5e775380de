//! Pushes diagnostics to the client: debounced, open files first, and never for an outdated text.
//! While the workspace is being read, open files are checked with rules that need only their own
//! text.
//!
//! This task is the only one that publishes, so a client never sees an older result after a newer
//! one. It works on the latest state, computes on the background lane, is cancelled by the next
//! edit, and starts again after the debounce.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tower_lsp::ls_types as lsp;

use super::backend::request_new_pull;
use super::connection::{Connection, Index, Stage};
use super::convert;
use super::diagnostics::{FileDiagnostics, OfFile, checker};
use super::jobs::{Cancellation, Lane};
use super::requests::View;
use super::requests::diagnostic::uri;
use super::runtime::{self, Instant};
use crate::rules::RuleSet;

/// Debounce: check after this much time without a change. Shorter than a pause between words,
/// longer than one between letters of a fast typist's burst.
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// Maximum delay of a check while changes continue.
pub(crate) const MAX_QUIET: Duration = Duration::from_secs(1);

/// Debounce for files that are not open: a longer one, since checking them can take long.
pub(crate) const REST: Duration = Duration::from_millis(500);

/// Number of closed files checked in one job: enough to share inputs, few enough to show the first
/// results soon.
const MAX_TOGETHER: usize = 512;

/// Number of open files checked in one job: fewer, since the user looks at them.
const MAX_OPEN_TOGETHER: usize = 16;

/// A file as the client addresses it.
#[derive(Clone, PartialEq)]
struct Address {
    path: Arc<str>,
    version: Option<i32>,
    uri: lsp::Uri,
}

/// The ids of the published diagnostics, and where they were published, by path.
#[derive(Default)]
struct Publisher {
    published: HashMap<Arc<str>, (String, Address)>,
}

pub(crate) async fn publish(session: Arc<Connection>) {
    let mut publisher = Publisher::default();
    let mut pull_request = None;
    let mut is_first = true;
    // A change during a computation has left a permit here.
    loop {
        session.changed.notified().await;
        loop {
            let is_whole = *session.index.borrow() == Index::Complete;
            let pause = session.options.quiet;
            match is_whole && !is_first {
                true => quiet(&session, pause).await,
                // While the workspace loads, open files are checked on their own, whatever is
                // opened or read meanwhile.
                false => since(pause, || session.model.last_edit()).await,
            }
            if session.stage() != Stage::Running {
                break;
            }
            if session.facts().pulls {
                if !is_whole {
                    break;
                }
                // One request at a time: a client that never replies is not flooded.
                let replied = pull_request
                    .as_ref()
                    .is_none_or(runtime::JoinHandle::is_finished);
                if session.facts().refreshes && replied {
                    pull_request = Some(request_new_pull(&session));
                }
                break;
            }
            // A partial workspace would show false problems, and the first check of a whole one
            // takes a while.
            is_first |= !is_whole;
            let is_stopped = is_first
                && (early(&session, &mut publisher).await == CheckRound::Interrupted
                    || is_whole && all_applied(&session).await == CheckRound::Interrupted);
            // The change that cancelled it has left a permit.
            if is_stopped || !is_whole {
                break;
            }
            if round(&session, &mut publisher).await == CheckRound::Done {
                is_first = false;
                break;
            }
        }
    }
}

/// Waits until nothing has changed for `quiet`, at most [`MAX_QUIET`].
async fn quiet(session: &Connection, quiet: Duration) {
    let enough = Instant::now() + MAX_QUIET;
    loop {
        let woken = Instant::now();
        // The time since the change arrived counts, including the time to apply it.
        let fresh = || session.model.arrived().filter(|at| *at + quiet > woken);
        let until = (fresh().unwrap_or(woken) + quiet).min(enough);
        tokio::select! {
            () = session.changed.notified() => {}
            () = runtime::sleep_until(until) => {
                let since = session.model.arrived();
                if since.is_none_or(|at| at + quiet <= Instant::now()) {
                    return;
                }
            }
        }
        if Instant::now() >= enough {
            return;
        }
    }
}

/// An edit settles after this many debounce times.
const SETTLED: u32 = 4;

/// Waits until an edit has settled, with a limit: until then a client keeps its lenses and hints in
/// place, so that nothing moves while a person types.
pub(crate) async fn settled(session: &Connection) {
    since(session.options.quiet * SETTLED, || session.model.arrived()).await;
}

/// Waits until `pause` has passed since `last`, at most `MAX_QUIET`.
async fn since(pause: Duration, last: impl Fn() -> Option<Instant>) {
    let enough = Instant::now() + MAX_QUIET;
    while let Some(until) = last().map(|at| at + pause)
        && until > Instant::now()
        && Instant::now() < enough
    {
        runtime::sleep_until(until.min(enough)).await;
    }
}

#[derive(PartialEq, Eq)]
enum CheckRound {
    Done,
    Interrupted,
}

/// Publishes the changed diagnostics, open files first.
async fn round(session: &Arc<Connection>, publisher: &mut Publisher) -> CheckRound {
    if FileDiagnostics::updated(session).await.is_none() {
        return CheckRound::Done;
    }
    let documents = session.documents();
    let open = documents.paths();
    // The file being edited comes before other open files that it affects.
    let (edited, others): (Vec<_>, Vec<_>) = open.iter().cloned().partition(|path| {
        let version = documents.get(path).map(|document| document.version);
        let published = publisher.published.get(path);
        published.and_then(|(_, address)| address.version) != version
    });
    for files in [edited, others] {
        for together in files.chunks(MAX_OPEN_TOGETHER) {
            if check(session, publisher, together).await == CheckRound::Interrupted {
                return CheckRound::Interrupted;
            }
        }
    }
    let Some(view) = View::now(session, Cancellation::never()).await else {
        return CheckRound::Done;
    };
    let mut diagnostics = session.diagnostics.lock().await;
    // O(files): another thread takes over the messages that wait for this one.
    let closed = runtime::block_in_place(|| {
        let pending = diagnostics.pending(&view).clone();
        let mut closed = publisher.stale(&diagnostics, pending);
        closed.retain(|path| !open.contains(path));
        drop(view);
        closed
    });
    drop(diagnostics);
    if closed.is_empty() {
        return CheckRound::Done;
    }
    tokio::select! {
        () = session.changed.notified() => return CheckRound::Interrupted,
        () = runtime::sleep(session.options.rest.max(session.options.quiet)) => {}
    }
    let closed: Vec<Arc<str>> = closed.into_iter().collect();
    for together in closed.chunks(MAX_TOGETHER) {
        if check(session, publisher, together).await == CheckRound::Interrupted {
            return CheckRound::Interrupted;
        }
    }
    CheckRound::Done
}

impl Publisher {
    /// Whether the client has these diagnostics of a file.
    fn is_current(&self, address: &Address, now: Option<&OfFile>) -> bool {
        match self.published.get(&address.path) {
            Some((id, published)) => now.is_some_and(|now| now.id == *id) && published == address,
            // Nothing is published for a file that no hierarchy reads, and for a closed one without
            // findings.
            None => now.is_none_or(|now| now.items.is_empty() && address.version.is_none()),
        }
    }

    /// The files whose diagnostics at the client may be outdated, or belong to a closed document's
    /// version. A pull may have checked a file that is no longer `pending`.
    fn stale(
        &self,
        diagnostics: &FileDiagnostics,
        pending: BTreeSet<Arc<str>>,
    ) -> BTreeSet<Arc<str>> {
        let mut stale = pending;
        let id = |path: &str| self.published.get(path).map(|(id, _)| id);
        let news = diagnostics
            .iter()
            .filter(|(path, now)| id(path) != Some(&now.id));
        stale.extend(news.map(|(path, _)| path.clone()));
        let outdated = self.published.iter().filter(|(path, (id, address))| {
            let now = diagnostics.of(path).map(|now| &now.id);
            address.version.is_some() || now != Some(id)
        });
        stale.extend(outdated.map(|(path, _)| path.clone()));
        stale
    }

    /// Publishes, unless the client is up to date.
    async fn publish(&mut self, session: &Connection, address: Address, now: Option<OfFile>) {
        if self.is_current(&address, now.as_ref()) {
            return;
        }
        let Address { path, version, uri } = address.clone();
        let items = match now {
            Some(OfFile { id, items, .. }) if version.is_some() || !items.is_empty() => {
                self.published.insert(path, (id, address));
                items
            }
            Some(_) | None => {
                self.published.remove(&path);
                Vec::new()
            }
        };
        let client = &session.client;
        client.publish_diagnostics(uri, items, version).await;
    }
}

fn address_of(view: &View, path: &Arc<str>) -> Option<Address> {
    Some(Address {
        path: path.clone(),
        version: view.documents.get(path).map(|document| document.version),
        uri: uri(view, path).or_else(|| convert::uri(path))?,
    })
}

async fn check(
    session: &Arc<Connection>,
    publisher: &mut Publisher,
    paths: &[Arc<str>],
) -> CheckRound {
    let stop = Cancellation::new(Duration::ZERO);
    // Held until the job ends, so that an older view is never checked after a newer one.
    let mut diagnostics = session.diagnostics.clone().lock_owned().await;
    let Some(view) = View::now(session, stop.clone()).await else {
        return CheckRound::Done;
    };
    let revision = view.revision;
    let mut due: Vec<Address> = paths
        .iter()
        .filter_map(|path| address_of(&view, path))
        .collect();
    due.retain(|address| {
        diagnostics.is_pending(&address.path)
            || !publisher.is_current(address, diagnostics.of(&address.path))
    });
    if due.is_empty() {
        return CheckRound::Done;
    }
    let paths: Vec<Arc<str>> = due.iter().map(|address| address.path.clone()).collect();
    let job = move || {
        diagnostics.check(&view, &paths);
        let found = paths.iter().map(|path| diagnostics.of(path).cloned());
        found.collect::<Vec<_>>()
    };
    let Some(found) = unless_changed(session, &stop, job).await else {
        return CheckRound::Interrupted;
    };
    // A result for an outdated text is dropped: the newer change has woken us.
    if session.model.newest() != revision {
        return CheckRound::Interrupted;
    }
    for (address, now) in due.into_iter().zip(found.into_iter().flatten()) {
        publisher.publish(session, address, now).await;
    }
    CheckRound::Done
}

/// While the workspace is being read: publishes diagnostics of open files that need only their own
/// text.
async fn early(session: &Arc<Connection>, publisher: &mut Publisher) -> CheckRound {
    let stop = Cancellation::new(Duration::ZERO);
    let view = View::latest(session, stop.clone());
    let open = view.documents.paths();
    let mut due: Vec<Address> = open
        .iter()
        .filter_map(|path| address_of(&view, path))
        .collect();
    due.retain(|address| {
        let published = publisher.published.get(&address.path);
        let is_news = published.is_none_or(|(_, known)| known.version != address.version);
        is_news && view.is_early(&address.path)
    });
    if due.is_empty() {
        return CheckRound::Done;
    }
    let paths: Vec<Arc<str>> = due.iter().map(|address| address.path.clone()).collect();
    let job = move || {
        let view = view.with_open_files();
        let check = checker(&view, RuleSet::OwnFile);
        let found = paths.iter().map(|path| check(path).map(OfFile::new));
        found.collect::<Vec<_>>()
    };
    let Some(found) = unless_changed(session, &stop, job).await else {
        return CheckRound::Interrupted;
    };
    let documents = session.documents();
    for (address, now) in due.into_iter().zip(found.into_iter().flatten()) {
        let version = documents
            .get(&address.path)
            .map(|document| document.version);
        // Further findings may still follow.
        let has_findings = now.as_ref().is_some_and(|now| !now.items.is_empty());
        if version == address.version
            && (has_findings || publisher.published.contains_key(&address.path))
        {
            publisher.publish(session, address, now).await;
        }
    }
    CheckRound::Done
}

/// Waits until all that was read is in the model. A file that is opened meanwhile interrupts it.
async fn all_applied(session: &Connection) -> CheckRound {
    tokio::select! {
        biased;
        _ = session.model.pin(&Cancellation::never()).snapshot() => CheckRound::Done,
        () = session.changed.notified() => {
            // The permit just taken stands for a change that must be handled.
            session.changed.notify_one();
            CheckRound::Interrupted
        }
    }
}

/// Runs a check in the background. `None` if something changed meanwhile; no findings if it failed.
async fn unless_changed<T: Send + 'static>(
    session: &Connection,
    stop: &Cancellation,
    job: impl FnOnce() -> T + Send + 'static,
) -> Option<Option<T>> {
    let job = session.lanes.run(Lane::Background, stop, job);
    tokio::pin!(job);
    tokio::select! {
        biased;
        found = &mut job => Some(found.ok()),
        () = session.changed.notified() => {
            stop.outdate();
            // The permit just taken stands for a change that must be handled.
            session.changed.notify_one();
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_that_a_pull_saw_vanish_are_taken_back() {
        let path: Arc<str> = Arc::from("/repo/hiera.yaml");
        let address = Address {
            path: path.clone(),
            version: None,
            uri: "file:///repo/hiera.yaml".parse().unwrap(),
        };
        let published = ("findings of before".to_owned(), address);
        let publisher = Publisher {
            published: HashMap::from([(path.clone(), published)]),
        };
        let stale = publisher.stale(&FileDiagnostics::default(), BTreeSet::new());
        assert_eq!(stale, BTreeSet::from([path]));
    }
}
