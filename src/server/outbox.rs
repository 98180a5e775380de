//! Messages on their way to the client, written by a thread of their own: a full pipe delays
//! nothing else until [`MAX_BACKLOG`] is reached.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Notify;

/// Unread output from which on the server makes no more of it until its client reads, in bytes.
const MAX_BACKLOG: usize = 32 * 1024 * 1024;

/// The queue in front of the writing thread; a clone is the same queue.
#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    unwritten: Mutex<Unwritten>,
    changed: Condvar,
    /// Notifies [`Outbox::room`].
    written: Notify,
}

#[derive(Default)]
struct Unwritten {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether the thread is inside a write; nothing is lost while it is.
    writing: bool,
    /// The pipe is broken: whatever comes is thrown away.
    broken: bool,
    closed: bool,
}

impl Outbox {
    pub(crate) fn push(&self, message: &impl Serialize) {
        // Room for a header, so that the body is written where it stays.
        let mut frame = Vec::with_capacity(512);
        if let Err(error) = serde_json::to_writer(&mut frame, message) {
            return tracing::error!("a message could not be written: {error}");
        }
        let header = format!("Content-Length: {}\r\n\r\n", frame.len());
        frame.splice(..0, header.into_bytes());
        let mut unwritten = self.lock();
        if !unwritten.broken {
            unwritten.bytes += frame.len();
            unwritten.frames.push_back(frame);
            self.0.changed.notify_all();
        }
    }

    /// Whether the client reads what it is sent.
    pub(crate) fn has_room(&self) -> bool {
        let unwritten = self.lock();
        unwritten.broken || unwritten.bytes <= MAX_BACKLOG
    }

    /// Waits until there is room. For one task at a time.
    pub(crate) async fn room(&self) {
        while !self.has_room() {
            self.0.written.notified().await;
        }
    }

    /// Writes messages to `pipe` until [`Outbox::finish`]; true if the pipe took them all. Blocks;
    /// meant for a thread of its own.
    pub(crate) fn write_to(&self, mut pipe: impl Write) -> bool {
        while let Some(frame) = self.next() {
            let written = pipe.write_all(&frame).and_then(|()| pipe.flush());
            let mut unwritten = self.lock();
            unwritten.writing = false;
            unwritten.bytes -= frame.len();
            unwritten.broken = written.is_err();
            if unwritten.broken {
                unwritten.frames.clear();
            }
            self.0.changed.notify_all();
            self.0.written.notify_one();
            if unwritten.broken {
                return false;
            }
        }
        true
    }

    /// Waits for the next message; nothing once it is finished.
    fn next(&self) -> Option<Vec<u8>> {
        let mut unwritten = self.lock();
        loop {
            if let Some(frame) = unwritten.frames.pop_front() {
                unwritten.writing = true;
                return Some(frame);
            }
            if unwritten.closed {
                return None;
            }
            let changed = self.0.changed.wait(unwritten);
            unwritten = changed.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets the writing thread end once it is through, and waits for that at most `patience`.
    pub(crate) fn finish(&self, patience: Duration) {
        let mut unwritten = self.lock();
        unwritten.closed = true;
        self.0.changed.notify_all();
        let is_under_way = |unwritten: &mut Unwritten| {
            !unwritten.broken && (unwritten.writing || !unwritten.frames.is_empty())
        };
        let changed = &self.0.changed;
        drop(changed.wait_timeout_while(unwritten, patience, is_under_way));
    }

    fn lock(&self) -> MutexGuard<'_, Unwritten> {
        // A panic elsewhere leaves the queue whole: each change is one push or pop.
        let unwritten = self.0.unwritten.lock();
        unwritten.unwrap_or_else(PoisonError::into_inner)
    }
}
