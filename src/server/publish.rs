//! Diagnostics pushed to the client: after a short quiet time, open files first, and never for a
//! text that is no longer the latest. After an edit only those files are checked again whose
//! findings it can touch.
//!
//! This task is the only one that publishes, so a client never sees an older result after a newer
//! one. It works from the latest state, computes on the background lane, is stopped by the next
//! edit, and begins again when it is quiet.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tower_lsp::ls_types as lsp;

use super::backend::ask_to_pull_again;
use super::convert;
use super::jobs::{Lane, Stop};
use super::model::Unchecked;
use super::requests::View;
use super::requests::diagnostic::{Diagnoser, result_id, uri};
use super::session::{Index, Session, Stage};
use crate::rules::{Recheck, recheck};

/// Nothing is checked before no change has come for so long: shorter than a pause between words,
/// longer than one between letters of a fast typist's burst.
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// Changes that never pause are checked at least so often.
pub(crate) const MAX_QUIET: Duration = Duration::from_secs(1);

/// The rest of the workspace is checked only after a longer rest, since it can take long.
pub(crate) const REST: Duration = Duration::from_millis(500);

/// So many closed files are checked in one job: enough to share what their findings need, few
/// enough for the first to be shown soon.
const MAX_TOGETHER: usize = 512;

/// So many open files are checked in one job: fewer, since somebody looks at them.
const MAX_OPEN_TOGETHER: usize = 16;

/// What the client has been told of one file.
struct Told {
    id: String,
    version: Option<i32>,
    uri: lsp::Uri,
}

/// What has to be checked.
#[derive(Default)]
pub(crate) enum Pending {
    /// Everything.
    #[default]
    All,
    /// These files.
    Files(BTreeSet<Arc<str>>),
}

impl Pending {
    /// Adds what changes can touch.
    pub(crate) fn take(&mut self, unchecked: Unchecked) {
        let snapshots = match unchecked {
            Unchecked::All => return *self = Pending::All,
            Unchecked::Since(snapshots) => snapshots,
        };
        for snapshot in snapshots {
            let Pending::Files(files) = self else {
                return;
            };
            match recheck(&snapshot) {
                Recheck::All => *self = Pending::All,
                Recheck::Files(again) => files.extend(again),
            }
        }
    }
}

/// What the client has been told, and what it has to be told again.
struct Board {
    told: HashMap<Arc<str>, Told>,
    pending: Pending,
}

/// Publishes until the session ends.
pub(crate) async fn publish(session: Arc<Session>) {
    let mut board = Board {
        told: HashMap::new(),
        pending: Pending::All,
    };
    let mut asked = None;
    // A change that came while something was computed has left a permit here.
    loop {
        session.changed.notified().await;
        loop {
            quiet(&session, session.options.quiet).await;
            if session.stage() != Stage::Running {
                break;
            }
            // Half a workspace would show problems that it does not have.
            if *session.index.borrow() != Index::Complete {
                break;
            }
            if session.facts().pulls {
                // One question at a time: a client that never replies is not flooded.
                let replied = asked
                    .as_ref()
                    .is_none_or(tokio::task::JoinHandle::is_finished);
                if session.facts().refreshes && replied {
                    asked = Some(ask_to_pull_again(&session));
                }
                break;
            }
            if round(&session, &mut board).await == Round::Done {
                break;
            }
        }
    }
}

/// Waits until nothing has changed for `quiet`, but not for ever.
async fn quiet(session: &Session, quiet: Duration) {
    let enough = Instant::now() + MAX_QUIET;
    loop {
        let woken = Instant::now();
        // The time that a change has taken to be applied is quiet already.
        let fresh = || session.model.arrived().filter(|at| *at + quiet > woken);
        let until = (fresh().unwrap_or(woken) + quiet).min(enough);
        tokio::select! {
            () = session.changed.notified() => {}
            () = tokio::time::sleep_until(until) => {
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

#[derive(PartialEq, Eq)]
enum Round {
    /// Everything is told.
    Done,
    /// Something changed meanwhile.
    Interrupted,
}

async fn round(session: &Arc<Session>, board: &mut Board) -> Round {
    board.pending.take(session.take_unchecked());
    let documents = session.documents();
    let open = documents.paths();
    // What somebody types in is told before what it touches in the other open files.
    let is_edited = |path: &Arc<str>| {
        let version = documents.get(path).map(|document| document.version);
        board.told.get(path).and_then(|told| told.version) != version
    };
    let (edited, others): (Vec<_>, Vec<_>) = open.iter().cloned().partition(is_edited);
    for together in [edited, others]
        .iter()
        .flat_map(|of_one| of_one.chunks(MAX_OPEN_TOGETHER))
    {
        if check(session, board, together.to_vec()).await == Round::Interrupted {
            return Round::Interrupted;
        }
    }
    let closed_before = board.told.iter().any(|(path, told)| {
        // The client forgets a version with its document; and an error of a file that is gone.
        told.version.is_some() && !open.contains(path)
    });
    let others = match &board.pending {
        Pending::All => true,
        Pending::Files(files) => files.iter().any(|path| !open.contains(path)),
    };
    if !others && !closed_before {
        board.pending = Pending::Files(BTreeSet::new());
        return Round::Done;
    }
    tokio::select! {
        () = session.changed.notified() => return Round::Interrupted,
        () = tokio::time::sleep(session.options.rest.max(session.options.quiet)) => {}
    }
    let Some(view) = View::now(session, Stop::never()).await else {
        return Round::Done;
    };
    let mut closed: Vec<Arc<str>> = match &board.pending {
        Pending::All => {
            let files = view.snapshot.files();
            let paths = files.map(|file| file.path().clone());
            // What was told of files that are gone has to be taken back.
            paths.chain(board.told.keys().cloned()).collect()
        }
        Pending::Files(files) => {
            let versioned = board.told.iter().filter(|(_, told)| told.version.is_some());
            let versioned = versioned.map(|(path, _)| path.clone());
            files.iter().cloned().chain(versioned).collect()
        }
    };
    drop(view);
    closed.sort();
    closed.dedup();
    closed.retain(|path| !open.contains(path));
    // From here on a change leaves only what is not told yet.
    board.pending = Pending::Files(closed.iter().chain(&open).cloned().collect());
    for path in &open {
        board.settle(path);
    }
    for together in closed.chunks(MAX_TOGETHER) {
        if check(session, board, together.to_vec()).await == Round::Interrupted {
            return Round::Interrupted;
        }
    }
    Round::Done
}

impl Board {
    /// Whether the client may know something else of this file than what is true.
    fn is_stale(&self, path: &str, version: Option<i32>, uri: &lsp::Uri) -> bool {
        let pending = match &self.pending {
            Pending::All => true,
            Pending::Files(files) => files.contains(path),
        };
        pending
            || self.told.get(path).map_or(version.is_some(), |told| {
                told.version != version || told.uri != *uri
            })
    }

    /// The client knows what is true of this file.
    fn settle(&mut self, path: &str) {
        if let Pending::Files(files) = &mut self.pending {
            files.remove(path);
        }
    }
}

/// Checks files as they are now and tells the client, unless it knows already.
async fn check(session: &Arc<Session>, board: &mut Board, paths: Vec<Arc<str>>) -> Round {
    let stop = Stop::new(Duration::ZERO);
    let Some(view) = View::now(session, stop.clone()).await else {
        return Round::Done;
    };
    let revision = view.revision;
    let mut stale = Vec::new();
    for path in paths {
        let version = view.documents.get(&path).map(|document| document.version);
        let Some(uri) = uri(&view, &path).or_else(|| convert::uri(&path)) else {
            board.settle(&path);
            continue;
        };
        if board.is_stale(&path, version, &uri) {
            stale.push((path, version, uri));
        }
    }
    if stale.is_empty() {
        return Round::Done;
    }
    let checked: Vec<Arc<str>> = stale.iter().map(|(path, ..)| path.clone()).collect();
    let job = session.lanes.run(Lane::Background, &stop, move || {
        let diagnoser = Diagnoser::new(&view);
        let unstopped = checked.iter().take_while(|_| !view.stop.requested());
        unstopped
            .map(|path| diagnoser.file_of_many(path))
            .collect::<Vec<_>>()
    });
    tokio::pin!(job);
    let found = tokio::select! {
        biased;
        found = &mut job => found,
        () = session.changed.notified() => {
            stop.outdate();
            // The permit that was just taken stands for a change that must be looked at.
            session.changed.notify_one();
            return Round::Interrupted;
        }
    };
    let Ok(found) = found else {
        return Round::Done;
    };
    // A result about a text that has moved on is dropped: the change that moved it has woken us.
    if session.model.newest() != revision {
        return Round::Interrupted;
    }
    for ((path, version, uri), items) in stale.into_iter().zip(found) {
        board.settle(&path);
        // A file that is not ours is passed over in silence.
        let is_ours = items.is_some();
        let items = items.unwrap_or_default();
        let id = result_id(&items);
        let known = board.told.get(&path);
        let news = match known {
            Some(known) => known.id != id || known.version != version || known.uri != uri,
            None => !items.is_empty() || (version.is_some() && is_ours),
        };
        if !news {
            continue;
        }
        if items.is_empty() && (version.is_none() || !is_ours) {
            board.told.remove(&path);
        } else {
            let uri = uri.clone();
            board.told.insert(path, Told { id, version, uri });
        }
        session
            .client
            .publish_diagnostics(uri, items, version)
            .await;
    }
    Round::Done
}
