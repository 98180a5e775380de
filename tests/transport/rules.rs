//! The four rules of the transport.
//!
//! Each rule is a scenario that is run twice: on the real server, where it must hold, and behind a
//! test double that breaks the rule, where it must not.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use hiera_ls::server::testing::{CONCURRENCY, MessageService, Ordered};
use serde_json::json;
use tower::Service;
use tower_lsp::ExitedError;
use tower_lsp::jsonrpc::{Request, Response};

use crate::client::{Client, Planted, options};

/// Long enough for the broken server to show that it does not answer.
const IMPATIENCE: Duration = Duration::from_secs(2);

type Answer = Pin<Box<dyn Future<Output = Result<Option<Response>, ExitedError>> + Send>>;
type Shared = Arc<Mutex<Ordered>>;

/// A service in front of the ordered one that handles messages incorrectly.
struct Wrong {
    inner: Shared,
    handle: fn(Shared, Request) -> Answer,
}

impl Service<Request> for Wrong {
    type Response = Option<Response>;
    type Error = ExitedError;
    type Future = Answer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ExitedError>> {
        self.inner.lock().unwrap().poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Answer {
        (self.handle)(self.inner.clone(), request)
    }
}

fn right(inner: Shared, request: Request) -> Answer {
    inner.lock().unwrap().call(request)
}

/// A handler that awaits before it applies an edit: others overtake it.
fn late(inner: Shared, request: Request) -> Answer {
    let rounds = request.to_string().len() % 7;
    if request.id().is_some() {
        return right(inner, request);
    }
    Box::pin(async move {
        for _ in 0..rounds {
            tokio::task::yield_now().await;
        }
        let answer = right(inner, request);
        answer.await
    })
}

/// A handler that computes where messages are read.
fn computing(inner: Shared, request: Request) -> Answer {
    let is_hover = request.method() == "textDocument/hover";
    let answer = right(inner, request);
    if is_hover {
        Box::pin(async move { block_on(answer) })
    } else {
        answer
    }
}

/// A handler that sends a request to the client and waits for the reply.
fn waiting(inner: Shared, request: Request) -> Answer {
    if request.method() != "textDocument/hover" {
        return right(inner, request);
    }
    Box::pin(async move {
        let client = inner.lock().unwrap().client();
        let _ = client.workspace_folders().await;
        let answer = right(inner, request);
        answer.await
    })
}

/// Runs an answer to its end on this thread, and lets nothing else run on it.
fn block_on(mut answer: Answer) -> Result<Option<Response>, ExitedError> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match answer.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Runs a scenario on the real server, and on one that handles messages incorrectly, at most
/// `limit` at once.
fn pinned(
    handle: fn(Shared, Request) -> Answer,
    limit: usize,
    scenario: fn(&mut Client, &Planted) -> Result<(), String>,
) {
    let features = Arc::new(Planted::default());
    let mut client = Client::new(&features);
    let held = scenario(&mut client, &features);
    features.gate.open();
    assert_eq!(held, Ok(()), "the rule does not hold");
    client.end();

    let features = Arc::new(Planted::default());
    let mut options = options(&features);
    let wrong = move |ordered| -> Box<MessageService> {
        let inner = Arc::new(Mutex::new(ordered));
        Box::new(Wrong { inner, handle })
    };
    (options.front, options.concurrency) = (Arc::new(wrong), limit);
    let mut client = Client::with(options, json!({}));
    client.deadline = IMPATIENCE;
    let noticed = scenario(&mut client, &features);
    features.gate.open();
    assert!(noticed.is_err(), "the test does not notice a broken rule");
}

/// Rule 1: order is taken where messages arrive.
#[test]
fn edits_take_effect_in_wire_order() {
    pinned(late, CONCURRENCY, |client, _| {
        client.open("file:///f.yaml", "");
        let mut text = String::new();
        for number in 1..=200_u64 {
            let word = "x".repeat((number * 31 % 17) as usize) + ";";
            let end = json!({ "line": 0, "character": text.len() });
            let range = json!({ "start": end, "end": end });
            client.change(
                "file:///f.yaml",
                number as i64 + 1,
                json!([{ "range": range, "text": word }]),
            );
            text += &word;
        }
        let hover = client.hover("file:///f.yaml", 0, 0);
        let seen = client.seen(hover)?;
        if seen == text { Ok(()) } else { Err(seen) }
    });
}

/// Rule 2: handlers never compute.
#[test]
fn a_long_computation_stops_nothing_else() {
    pinned(computing, CONCURRENCY, |client, features| {
        client.open("file:///slow.yaml", "a");
        client.open("file:///f.yaml", "b");
        client.hover("file:///slow.yaml", 0, 0);
        // Otherwise the next request could be answered before the computation begins.
        let until = Instant::now() + client.deadline;
        while features.started.load(std::sync::atomic::Ordering::SeqCst) == 0 {
            if Instant::now() > until {
                return Err("nothing is computed".to_owned());
            }
            std::thread::yield_now();
        }
        client.rewrite("file:///f.yaml", 2, "c");
        let hover = client.hover("file:///f.yaml", 0, 0);
        let seen = client.seen(hover)?;
        if seen == "c" { Ok(()) } else { Err(seen) }
    });
}

/// Rule 3: no handler waits for the client.
#[test]
fn a_client_that_never_replies_gets_answers() {
    pinned(waiting, CONCURRENCY, |client, _| {
        client.open("file:///f.yaml", "a");
        let hovers: Vec<_> = (0..8)
            .map(|_| client.hover("file:///f.yaml", 0, 0))
            .collect();
        for hover in hovers {
            client.seen(hover)?;
        }
        Ok(())
    });
}

/// Rule 4: many handlers may be under way at once, and a semaphore bounds their work.
#[test]
fn hundreds_of_waiting_requests_do_not_stop_the_reader() {
    pinned(right, 4, |client, features| {
        client.open("file:///slow.yaml", "a");
        let hovers: Vec<_> = (0..300)
            .map(|_| client.hover("file:///slow.yaml", 0, 0))
            .collect();
        let last = *hovers.last().unwrap();
        client.notify("$/cancelRequest", json!({ "id": last }));
        let answer = client.answer(last)?;
        if answer["error"]["code"] != -32800 {
            return Err(answer.to_string());
        }
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let most = features.most.load(std::sync::atomic::Ordering::SeqCst);
        if most > cores.max(2) {
            return Err(format!("{most} computations at once"));
        }
        Ok(())
    });
}
