//! The server inside a host that calls it, such as a worker of a browser: messages go in and come out as texts, without
//! frames. It asks the host's client for files, and has no disk, no process and no thread.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{Sender, channel};

use super::connection::Connection;
use super::ordered::Ordered;
use super::outbox::Outbox;
use super::wire::{self, Incoming};
use super::{CONCURRENCY, Options, background, finish, report_to, runtime, session, transport};

/// A server for one client. One thread has one.
pub struct HostedServer {
    session: Arc<Connection>,
    inbox: Sender<Incoming>,
    outbox: Outbox,
}

impl HostedServer {
    /// Starts it; nothing runs before [`HostedServer::advance`].
    ///
    /// # Errors
    /// None here.
    pub fn start(options: Options) -> std::io::Result<HostedServer> {
        let (inbox, messages) = channel(CONCURRENCY);
        let outbox = Outbox::default();
        let (front, concurrency) = (options.front.clone(), options.concurrency);
        let (service, socket) = session(options)?;
        let session = service.inner().session.clone();
        session.disk.start(
            session.model.clone(),
            session.options.scanning.clone(),
            report_to(session.clone()),
            session.client.clone(),
        );
        let background = background(&session);
        let service = front(Ordered::new(service, session.clone()));
        let output = outbox.clone();
        runtime::spawn(async move {
            transport::serve(service, socket, messages, &output, concurrency).await;
        });
        let ends = session.clone();
        runtime::spawn(async move {
            ends.ending.notified().await;
            for task in background {
                task.abort();
            }
            finish(&ends).await;
        });
        Ok(HostedServer {
            session,
            inbox,
            outbox,
        })
    }

    /// Takes a message of the client, as JSON. It is handled in the next [`HostedServer::advance`].
    pub fn receive(&self, message: &[u8]) {
        match wire::message(message) {
            Ok(message) => {
                if self.inbox.try_send(message).is_err() {
                    let why = "a message was lost: more wait than can be handled";
                    self.session.log(super::settings::LogLevel::Error, why);
                }
            }
            Err(answer) => self.outbox.push(&answer),
        }
    }

    /// Works until there is nothing to do, for one long job at most. `now` is the host's clock, from any fixed moment.
    /// Returns when to call it again at the latest: zero for at once, nothing for after the next message.
    #[must_use]
    pub fn advance(&self, now: Duration) -> Option<Duration> {
        runtime::hosted::advance(now)
    }

    /// The next message for the client, as JSON.
    #[must_use]
    pub fn take(&self) -> Option<Vec<u8>> {
        self.outbox.take()
    }
}
