//! The running requests of a session: their place in the stream, and their cancellation.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tower_lsp::jsonrpc::Id;

use super::{Connection, Index, lock};
use crate::server::MAX_REQUESTS;
use crate::server::documents::Documents;
use crate::server::jobs::Cancellation;
use crate::server::model::Pinned;

pub(super) struct Underway {
    stop: Cancellation,
    /// The document of the request.
    path: Option<Arc<str>>,
}

/// One request's place in the stream: the state it sees, and its cancellation.
pub(crate) struct Ticket {
    /// The document of the request.
    pub(crate) path: Option<Arc<str>>,
    pub(crate) documents: Documents,
    pub(crate) pinned: Mutex<Option<Pinned>>,
    pub(crate) index: Index,
    /// Set when the client cancels the request or edits its document.
    pub(crate) stop: Cancellation,
}

impl Connection {
    /// A ticket at the current place: it sees everything before it and nothing after it.
    pub(crate) fn ticket(&self, stop: Cancellation, path: Option<Arc<str>>) -> Ticket {
        let documents = lock(&self.documents);
        // Before the pin: a completed read is in it, a later one is not.
        let index = *self.index.borrow();
        Ticket {
            path,
            documents: documents.clone(),
            index,
            pinned: Mutex::new(Some(self.model.pin(&stop))),
            stop,
        }
    }

    /// Registers a request, so that it can be cancelled; `None` if its id is in use or too many are
    /// waiting.
    pub(crate) fn admit(&self, id: &Id, path: Option<Arc<str>>) -> Option<Cancellation> {
        let mut requests = lock(&self.requests);
        if requests.len() >= MAX_REQUESTS || requests.contains_key(id) {
            return None;
        }
        let stop = Cancellation::new(self.options.outdated_grace);
        let underway = Underway {
            stop: stop.clone(),
            path,
        };
        requests.insert(id.clone(), underway);
        Some(stop)
    }

    pub(crate) fn dismiss(&self, id: &Id) {
        lock(&self.requests).remove(id);
    }

    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(underway) = lock(&self.requests).get(id) {
            underway.stop.cancel();
        }
    }

    pub(crate) fn name(&self, token: String, stop: Cancellation) {
        lock(&self.tokens).insert(token, stop);
    }

    pub(crate) fn unname(&self, token: &str) {
        lock(&self.tokens).remove(token);
    }

    /// Cancels the work behind a progress that the user cancelled; the first read continues without
    /// progress.
    pub(crate) fn cancel_progress(&self, token: &Value) {
        match lock(&self.tokens).get(&token.to_string()) {
            Some(stop) => stop.cancel(),
            None => self.unwanted_progress.send_modify(|times| *times += 1),
        }
    }

    pub(crate) fn cancel_all(&self) {
        for underway in lock(&self.requests).values() {
            underway.stop.cancel();
        }
    }

    /// Marks the requests on a document as outdated: its text has changed.
    pub(crate) fn outdate(&self, path: &str) {
        // The model may need time before it gets to this text.
        self.changed.notify_one();
        for underway in lock(&self.requests).values() {
            if underway.path.as_deref() == Some(path) {
                underway.stop.outdate();
            }
        }
    }
}
