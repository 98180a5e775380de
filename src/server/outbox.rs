//! The queue of messages to the client, written by its own thread: a full pipe delays nothing else
//! until [`MAX_BACKLOG`] is reached.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
#[cfg(not(target_family = "wasm"))]
use std::{io::Write, sync::PoisonError, time::Duration};

use serde::Serialize;
use tokio::sync::Notify;

use super::lock;

/// Maximum number of unread output bytes; above it the server produces no more until its client
/// reads.
const MAX_BACKLOG: usize = 32 * 1024 * 1024;

/// The queue for the writing thread; a clone is the same queue.
#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<OutboxState>);

#[derive(Default)]
struct OutboxState {
    unwritten: Mutex<Unwritten>,
    changed: Condvar,
    written: Notify,
}

#[derive(Default)]
#[cfg_attr(
    target_family = "wasm",
    expect(dead_code, reason = "no thread writes there")
)]
struct Unwritten {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether the thread is inside a write; no message is lost meanwhile.
    writing: bool,
    /// The pipe is broken: all output is dropped.
    broken: bool,
    closed: bool,
}

impl Outbox {
    pub(crate) fn push(&self, message: &impl Serialize) {
        // Leaves room for a header, so that the body is not copied.
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

    /// Whether the client keeps up with reading.
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

    /// The next message, without its header, if there is one.
    #[cfg(target_family = "wasm")]
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let mut unwritten = self.lock();
        let mut frame = unwritten.frames.pop_front()?;
        unwritten.bytes -= frame.len();
        drop(unwritten);
        self.0.written.notify_one();
        let end = memchr::memmem::find(&frame, b"\r\n\r\n")?;
        Some(frame.split_off(end + 4))
    }

    fn lock(&self) -> MutexGuard<'_, Unwritten> {
        lock(&self.0.unwritten)
    }
}

#[cfg(not(target_family = "wasm"))]
impl Outbox {
    /// Writes messages to `pipe` until [`Outbox::finish`]; true if the pipe accepted them all.
    /// Blocks; meant for its own thread.
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

    /// Waits for the next message; `None` once it is finished.
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

    /// Lets the writing thread finish, and waits at most `patience` for that.
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
}
