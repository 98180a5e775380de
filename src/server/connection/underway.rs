//! The requests of a conversation that are under way: their place in the stream, and how they are stopped.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tower_lsp::jsonrpc::Id;

use super::{Connection, Index, lock};
use crate::server::MAX_REQUESTS;
use crate::server::documents::Documents;
use crate::server::jobs::Stop;
use crate::server::model::Pinned;

pub(super) struct Underway {
    stop: Stop,
    /// The document that it is about.
    path: Option<Arc<str>>,
}

/// One request's place in the stream: what it may see, and whether it is still wanted.
pub(crate) struct Ticket {
    /// The documents as of the request's place.
    pub(crate) documents: Documents,
    /// The workspace as of the request's place.
    pub(crate) pinned: Mutex<Option<Pinned>>,
    /// Whether that was a whole workspace.
    pub(crate) index: Index,
    /// Raised when the client takes the request back or edits its document.
    pub(crate) stop: Stop,
}

impl Connection {
    /// A place in the stream: everything before it counts, nothing after it.
    pub(crate) fn ticket(&self, stop: Stop) -> Ticket {
        let documents = lock(&self.documents);
        // Before the pin: a reading that is complete by now is in it, one that will be is not.
        let index = *self.index.borrow();
        Ticket {
            documents: documents.clone(),
            index,
            pinned: Mutex::new(Some(self.model.pin(&stop))),
            stop,
        }
    }

    /// Remembers a request, so that it can be stopped; `None` if its id is in use or too many wait.
    pub(crate) fn admit(&self, id: &Id, path: Option<Arc<str>>) -> Option<Stop> {
        let mut requests = lock(&self.requests);
        if requests.len() >= MAX_REQUESTS || requests.contains_key(id) {
            return None;
        }
        let stop = Stop::new(self.options.outdated_grace);
        let underway = Underway {
            stop: stop.clone(),
            path,
        };
        requests.insert(id.clone(), underway);
        Some(stop)
    }

    /// Forgets an answered request.
    pub(crate) fn dismiss(&self, id: &Id) {
        lock(&self.requests).remove(id);
    }

    /// Stops a request on the client's word.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(underway) = lock(&self.requests).get(id) {
            underway.stop.cancel();
        }
    }

    /// From here on, `token` stops what `stop` stops.
    pub(crate) fn name(&self, token: String, stop: Stop) {
        lock(&self.tokens).insert(token, stop);
    }

    /// Forgets a token.
    pub(crate) fn unname(&self, token: &str) {
        lock(&self.tokens).remove(token);
    }

    /// Stops the work behind a progress that the user has taken back; that of the first reading
    /// goes on unseen.
    pub(crate) fn cancel_progress(&self, token: &Value) {
        match lock(&self.tokens).get(&token.to_string()) {
            Some(stop) => stop.cancel(),
            None => self.unwanted_progress.send_modify(|times| *times += 1),
        }
    }

    /// Stops everything that is under way.
    pub(crate) fn cancel_all(&self) {
        for underway in lock(&self.requests).values() {
            underway.stop.cancel();
        }
    }

    /// Marks the requests on a document as outdated: its text has changed.
    pub(crate) fn outdate(&self, path: &str) {
        if *self.index.borrow() != Index::Complete {
            // The model may be busy with what was read before it gets to this text.
            self.changed.notify_one();
        }
        for underway in lock(&self.requests).values() {
            if underway.path.as_deref() == Some(path) {
                underway.stop.outdate();
            }
        }
    }
}
