//! A service around the protocol's own that fixes the order: it sees every message in wire order,
//! one after another.
//!
//! The transport runs handlers concurrently, in no order. Here, before any handler runs, text
//! changes enter documents and model, and each request gets a [`Ticket`] for the state at its
//! place. A handler gets its ticket with [`ticket`]. Nothing here computes or waits.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::{Value, json};
use tower::Service;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::ls_types::{LogTraceParams, notification::LogTrace};
use tower_lsp::{ExitedError, LspService};

use super::backend::Handlers;
use super::capabilities::{self, Trace};
use super::connection::{Connection, Repeat, Stage, Ticket};
use super::convert;
use super::documents::{OpenDocument, Text, TextChange};
use super::requests;
use super::runtime::{self, Instant};
use super::settings::{LogLevel, SECTION};
use crate::text::Position;
use crate::workspace::{Change, ENVIRONMENT_CONF, HIERA_YAML, path};

tokio::task_local! {
    static TICKET: Arc<Ticket>;
}

/// The ticket of the current request; `None` outside a request's handler.
pub(crate) fn ticket() -> Option<Arc<Ticket>> {
    TICKET.try_with(Arc::clone).ok()
}

/// The protocol's service with ordering in front of it.
pub struct Ordered {
    inner: LspService<Handlers>,
    session: Arc<Connection>,
}

type FutureAnswer = Pin<Box<dyn Future<Output = Result<Option<Response>, ExitedError>> + Send>>;

/// A service of the protocol's messages.
pub type MessageService = dyn Service<Request, Response = Option<Response>, Error = ExitedError, Future = FutureAnswer>
    + Send;

impl Ordered {
    pub(crate) fn new(inner: LspService<Handlers>, session: Arc<Connection>) -> Ordered {
        Ordered { inner, session }
    }

    /// The client, for wrapping services.
    #[must_use]
    pub fn client(&self) -> tower_lsp::Client {
        self.session.client.clone()
    }
}

fn ready(answer: Option<Response>) -> FutureAnswer {
    Box::pin(std::future::ready(Ok(answer)))
}

/// Drives an answer that waits for nothing to completion at once, so that a client that sends on
/// before it has read the answer to `initialize` is not refused as uninitialized.
fn finished(mut answer: FutureAnswer) -> FutureAnswer {
    let mut context = Context::from_waker(std::task::Waker::noop());
    match answer.as_mut().poll(&mut context) {
        Poll::Ready(done) => Box::pin(std::future::ready(done)),
        Poll::Pending => answer,
    }
}

fn refused(id: Id, code: ErrorCode, why: &'static str) -> FutureAnswer {
    let error = Error {
        code,
        message: why.into(),
        data: None,
    };
    ready(Some(Response::from_error(id, error)))
}

impl Service<Request> for Ordered {
    type Response = Option<Response>;
    type Error = ExitedError;
    type Future = FutureAnswer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ExitedError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> FutureAnswer {
        match request.id().cloned() {
            Some(id) => self.request(request, id),
            None => self.notification(request),
        }
    }
}

impl Ordered {
    fn request(&mut self, request: Request, id: Id) -> FutureAnswer {
        let session = &self.session;
        match request.method() {
            "initialize" => {
                let params = request.params().cloned().unwrap_or_default();
                let refused = !session.initialize(&params);
                // The handler's typed parameters would refuse a client for one odd capability.
                let params = json!({ "capabilities": {} });
                let call = Request::build("initialize").id(id.clone()).params(params);
                if refused {
                    let why = "invalid request: 'initialize' came twice";
                    return self::refused(id, ErrorCode::InvalidRequest, why);
                }
                return finished(Box::pin(self.inner.call(call.finish())));
            }
            "shutdown" => {
                if session.stage() == Stage::Running {
                    session.enter(Stage::ShutDown);
                    session.cancel_all();
                }
                // Some clients send an empty object along, which the handler would refuse.
                let call = Request::build("shutdown").id(id);
                return Box::pin(self.inner.call(call.finish()));
            }
            _ => {}
        }
        if session.stage() != Stage::Running {
            return Box::pin(self.inner.call(request));
        }
        let request = with_strict_uri(request);
        let path = request.params().and_then(document).map(|(path, _)| path);
        let Some(stop) = session.admit(&id, path.clone()) else {
            let why = "too many requests are waiting, or this id is in use";
            return refused(id, ErrorCode::ServerError(requests::SERVER_CANCELLED), why);
        };
        if request.method() == "workspace/executeCommand" {
            // A choice applies to every later request.
            requests::execute_command::choose(session, request.params());
        }
        let ticket = Arc::new(session.ticket(stop, path));
        let trace = session.trace();
        let verbose = request.params().filter(|_| trace == Trace::Verbose);
        let (method, verbose) = (request.method().to_owned(), verbose.map(Value::to_string));
        let since = Instant::now();
        let session = session.clone();
        let guard = Dismiss {
            session: session.clone(),
            id,
        };
        let answer = TICKET.scope(ticket, self.inner.call(request));
        Box::pin(async move {
            let answer = answer.await;
            drop(guard);
            if trace != Trace::Off {
                let message = format!("{method} answered after {} µs", since.elapsed().as_micros());
                runtime::spawn(async move {
                    let params = LogTraceParams { message, verbose };
                    session.client.send_notification::<LogTrace>(params).await;
                });
            }
            answer
        })
    }

    fn notification(&mut self, request: Request) -> FutureAnswer {
        let session = &self.session;
        let take: fn(&Connection, Value) = match request.method() {
            "exit" => {
                session.exit();
                let call = self.inner.call(request);
                session.ending.notify_one();
                return Box::pin(call);
            }
            "$/cancelRequest" => |session, params| {
                let id = params.get("id").cloned().map(serde_json::from_value);
                if let Some(Ok(id)) = id {
                    session.cancel(&id);
                }
            },
            "$/setTrace" => |session, params| session.set_trace(Trace::read(params.get("value"))),
            "initialized" => |session, _| {
                if let Some(session) = session.myself() {
                    super::backend::begin(&session);
                }
            },
            "textDocument/didOpen" => did_open,
            "textDocument/didChange" => did_change,
            "textDocument/didClose" => did_close,
            "textDocument/didSave" => did_save,
            "workspace/didChangeWatchedFiles" => did_change_watched_files,
            "workspace/didChangeWorkspaceFolders" => did_change_workspace_folders,
            "workspace/didChangeConfiguration" => did_change_configuration,
            "window/workDoneProgress/cancel" => |session, params| {
                session.cancel_progress(params.get("token").unwrap_or(&Value::Null));
            },
            _ => return Box::pin(self.inner.call(request)),
        };
        if session.stage() == Stage::Running {
            let (_, _, params) = request.into_parts();
            take(session, params.unwrap_or_default());
        }
        ready(None)
    }
}

/// Removes a request when its future ends, even if it is dropped unanswered.
struct Dismiss {
    session: Arc<Connection>,
    id: Id,
}

impl Drop for Dismiss {
    fn drop(&mut self) {
        self.session.dismiss(&self.id);
    }
}

/// The request with the URI of its document escaped as the typed parameters require.
fn with_strict_uri(request: Request) -> Request {
    let (method, id, params) = request.into_parts();
    let mut call = Request::build(method);
    if let Some(mut params) = params {
        if let Some(Value::String(uri)) = params.pointer_mut("/textDocument/uri") {
            *uri = convert::strict(uri);
        }
        call = call.params(params);
    }
    match id {
        Some(id) => call.id(id).finish(),
        None => call.finish(),
    }
}

/// The path and the original URI of a notification's document.
fn document(params: &Value) -> Option<(Arc<str>, Arc<str>)> {
    let uri = params.pointer("/textDocument/uri")?.as_str()?;
    Some((convert::path(uri)?.into(), uri.into()))
}

fn version(params: &Value) -> Option<i32> {
    let version = params.pointer("/textDocument/version")?.as_i64()?;
    i32::try_from(version).ok()
}

fn did_open(session: &Connection, mut params: Value) {
    let Some((path, uri)) = document(&params) else {
        return;
    };
    // Moved out, not borrowed: it may be long, and is kept once.
    let text = params.pointer_mut("/textDocument/text").map(Value::take);
    let Some(Value::String(text)) = text else {
        session.log(LogLevel::Warning, &format!("{uri} was opened without text"));
        return;
    };
    let version = version(&params).unwrap_or(0);
    let document = OpenDocument {
        uri,
        version,
        text: Text::Whole(text.into()),
    };
    session.edit(|documents| {
        let (text, version) = (document.text.clone(), document.version);
        documents.open(path.clone(), document);
        session.model.text(path.clone(), text, version);
    });
    session.seek(Repeat::No);
    session.outdate(&path);
}

fn did_change(session: &Connection, params: Value) {
    let Some((path, uri)) = document(&params) else {
        return;
    };
    let encoding = session.facts().encoding;
    let Some(edits) = edits(&params) else {
        let why = format!("a change of {uri} could not be read");
        return lose(session, &path, &why);
    };
    let changed = session.edit(|documents| {
        let changed = documents.change(&path, version(&params), &edits, encoding)?;
        let text = changed.text.clone();
        session.model.edited(path.clone(), text, changed.version);
        Ok::<(), super::documents::Misfit>(())
    });
    match changed {
        Ok(()) => session.outdate(&path),
        Err(why) => {
            let why = format!("a change of {uri} does not fit: {why}");
            lose(session, &path, &why);
        }
    }
}

/// Drops a document whose text is no longer known: the disk's text is used until the client sends a
/// whole text again.
fn lose(session: &Connection, path: &Arc<str>, why: &str) {
    session.log(
        LogLevel::Warning,
        &format!("{why}; its text is read from disk until it is opened again"),
    );
    close(session, path);
}

fn close(session: &Connection, path: &Arc<str>) {
    let was_open = session.edit(|documents| {
        let was_open = documents.close(path);
        if was_open {
            session.model.change(Change::Close { path: path.clone() });
        }
        was_open
    });
    if was_open {
        session.disk.read(vec![path.clone()]);
        session.seek(Repeat::No);
        session.outdate(path);
    }
}

fn did_close(session: &Connection, params: Value) {
    if let Some((path, _)) = document(&params) {
        close(session, &path);
    }
}

fn did_save(session: &Connection, params: Value) {
    if let Some((path, _)) = document(&params) {
        let may_govern = matches!(path::name(&path), HIERA_YAML | ENVIRONMENT_CONF);
        session.disk.read(vec![path]);
        if may_govern {
            session.seek(Repeat::Yes);
        }
    }
}

fn edits(params: &Value) -> Option<Vec<TextChange>> {
    let changes = params.get("contentChanges")?.as_array()?;
    changes
        .iter()
        .map(|change| {
            let range = match change.get("range") {
                None | Some(Value::Null) => None,
                Some(range) => Some((position(range.get("start")?)?, position(range.get("end")?)?)),
            };
            Some(TextChange {
                range,
                text: change.get("text")?.as_str()?.to_owned(),
            })
        })
        .collect()
}

/// A position; numbers that are too large are clamped.
pub(super) fn position(value: &Value) -> Option<Position> {
    let number = |name| {
        let number = value.get(name)?.as_u64()?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    Some(Position {
        line: number("line")?,
        character: number("character")?,
    })
}

fn did_change_watched_files(session: &Connection, params: Value) {
    let changes = params.get("changes").and_then(Value::as_array);
    let paths = changes
        .into_iter()
        .flatten()
        .filter_map(|change| convert::path(change.get("uri")?.as_str()?))
        .map(Arc::from);
    session.disk.read(paths.collect());
}

fn did_change_workspace_folders(session: &Connection, params: Value) {
    let folders = |name: &str| -> Vec<String> {
        let folders = params.pointer(name).and_then(Value::as_array);
        let folders = folders.into_iter().flatten();
        folders.filter_map(capabilities::folder).collect()
    };
    session.change_folders(&folders("/event/removed"), folders("/event/added"));
}

fn did_change_configuration(session: &Connection, params: Value) {
    let facts = session.facts();
    match params.pointer(&format!("/settings/{SECTION}")) {
        // Pushed settings do not say who wrote them.
        Some(section) if !(facts.setting_origins && facts.configuration) => {
            session.configure(session.turn(), section.clone());
        }
        Some(_) | None => {
            if facts.configuration {
                super::backend::ask_for_configuration(session);
            } else if let Some(bare) = params.get("settings").filter(|bare| !bare.is_null()) {
                session.configure(session.turn(), bare.clone());
            }
        }
    }
}
