//! Drives the protocol's service: messages in, in order; answers and the server's own messages out,
//! as they come.
//!
//! The library's transport would write each message as text for its own decoder to parse again, and
//! end the session if that fails. Its service and its client are used unchanged.

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use tokio::sync::mpsc::Receiver;
use tower_lsp::ClientSocket;

use super::ordered::MessageService;
use super::outbox::Outbox;
use super::wire::Incoming;

/// Serves until `exit`, or until `inbox` ends and everything is answered. At most `limit` messages
/// are handled at once; nothing more is read meanwhile.
pub(crate) async fn serve(
    mut service: Box<MessageService>,
    socket: ClientSocket,
    mut inbox: Receiver<Incoming>,
    outbox: &Outbox,
    limit: usize,
) {
    let (mut requests, mut replies) = socket.split();
    let mut answers = FuturesUnordered::new();
    let mut is_open = true;
    while is_open || !answers.is_empty() {
        // A client that does not read gets no more output; its messages are still read.
        let has_room = outbox.has_room();
        tokio::select! {
            incoming = inbox.recv(), if is_open && answers.len() < limit => match incoming {
                Some(Incoming::Call(call)) => {
                    let ready = std::future::poll_fn(|cx| service.poll_ready(cx)).await;
                    is_open = ready.is_ok() && call.method() != "exit";
                    if ready.is_ok() {
                        answers.push(service.call(call));
                    }
                }
                Some(Incoming::Reply(reply)) => {
                    let _ = replies.send(reply).await;
                }
                None => is_open = false,
            },
            Some(answer) = answers.next(), if has_room => {
                // Messages sent by a handler come before its answer.
                while let Some(Some(request)) = requests.next().now_or_never() {
                    outbox.push(&request);
                }
                if let Ok(Some(response)) = answer {
                    outbox.push(&response);
                }
            }
            Some(request) = requests.next(), if has_room => outbox.push(&request),
            () = outbox.room(), if !has_room => {}
        }
    }
}
