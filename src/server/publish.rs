//! Diagnostics pushed to the client: after a short quiet time, open files first, and never for a
//! text that is no longer the latest.
//!
//! This task is the only one that publishes, so a client never sees an older result after a newer
//! one. It works from the latest state, computes on the background lane, is stopped by the next
//! edit, and begins again when it is quiet.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tower_lsp::ls_types as lsp;

use super::backend::ask_to_pull_again;
use super::convert;
use super::jobs::{Lane, Stop};
use super::requests::View;
use super::requests::diagnostic::{diagnostics, result_id, uri};
use super::session::{Index, Session, Stage};

/// Nothing is checked before no change has come for so long: shorter than a pause between words,
/// longer than one between letters of a fast typist's burst.
pub(crate) const QUIET: Duration = Duration::from_millis(60);

/// Changes that never pause are checked at least so often.
const MAX_QUIET: Duration = Duration::from_secs(1);

/// The rest of the workspace is checked only after a longer rest, since it can take long.
const REST: Duration = Duration::from_millis(500);

/// What the client has been told of one file.
struct Told {
    id: String,
    version: Option<i32>,
    uri: lsp::Uri,
}

/// Publishes until the session ends.
pub(crate) async fn publish(session: Arc<Session>) {
    let mut told: HashMap<Arc<str>, Told> = HashMap::new();
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
            if round(&session, &mut told).await == Round::Done {
                break;
            }
        }
    }
}

/// Waits until nothing has changed for `quiet`, but not for ever.
async fn quiet(session: &Session, quiet: Duration) {
    let enough = Instant::now() + MAX_QUIET;
    loop {
        let until = (Instant::now() + quiet).min(enough);
        tokio::select! {
            () = session.changed.notified() => {}
            () = tokio::time::sleep_until(until) => return,
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

async fn round(session: &Arc<Session>, told: &mut HashMap<Arc<str>, Told>) -> Round {
    let open = session.documents().paths();
    for path in &open {
        if check(session, told, path).await == Round::Interrupted {
            return Round::Interrupted;
        }
    }
    tokio::select! {
        () = session.changed.notified() => return Round::Interrupted,
        () = tokio::time::sleep(REST.max(session.options.quiet)) => {}
    }
    let Some(view) = View::now(session, Stop::never()).await else {
        return Round::Done;
    };
    let mut closed = view.features.files(&view.snapshot);
    // What was told of files that are gone has to be taken back.
    closed.extend(told.keys().cloned());
    closed.sort();
    closed.dedup();
    closed.retain(|path| !open.contains(path));
    for path in &closed {
        if check(session, told, path).await == Round::Interrupted {
            return Round::Interrupted;
        }
    }
    Round::Done
}

/// Checks one file as it is now and tells the client, unless it knows already.
async fn check(
    session: &Arc<Session>,
    told: &mut HashMap<Arc<str>, Told>,
    path: &Arc<str>,
) -> Round {
    let stop = Stop::new(Duration::ZERO);
    let Some(view) = View::now(session, stop.clone()).await else {
        return Round::Done;
    };
    let revision = view.revision;
    let related = session.facts().related;
    let version = view.documents.get(path).map(|document| document.version);
    let uri = uri(&view, path).or_else(|| convert::uri(path));
    let checked = path.clone();
    let job = session.lanes.run(Lane::Background, &stop, move || {
        diagnostics(&view, &checked, related)
    });
    tokio::pin!(job);
    let items = tokio::select! {
        biased;
        items = &mut job => items,
        () = session.changed.notified() => {
            stop.outdate();
            // The permit that was just taken stands for a change that must be looked at.
            session.changed.notify_one();
            return Round::Interrupted;
        }
    };
    let (Ok(items), Some(uri)) = (items, uri) else {
        return Round::Done;
    };
    // A result about a text that has moved on is dropped: the change that moved it has woken us.
    if session.model.newest() != revision {
        return Round::Interrupted;
    }
    let id = result_id(&items);
    let known = told.get(path);
    let news = match known {
        Some(known) => known.id != id || known.version != version || known.uri != uri,
        None => !items.is_empty() || version.is_some(),
    };
    if news {
        if items.is_empty() && version.is_none() {
            told.remove(path);
        } else {
            let uri = uri.clone();
            told.insert(path.clone(), Told { id, version, uri });
        }
        session
            .client
            .publish_diagnostics(uri, items, version)
            .await;
    }
    Round::Done
}
