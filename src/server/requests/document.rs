//! The commands that answer with a read-only document, or with a sentence if there is nothing to
//! show; with progress and cancellation.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::execute_command::{file, version};
use super::{Needs, View};
use crate::ide::document::{self, Document, DocumentAnswer, ExplainForm, KeyPlace, Question};
use crate::ide::hover;
use crate::lookup::PuppetVersion;
use crate::server::capabilities::{
    DIFF, DOCTOR, EXPLAIN, IMPACT, MATRIX, REVEAL, UPGRADE, USES, VALUE,
};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;
use crate::server::ordered;
use crate::server::progress::Progress;
use crate::server::runtime;
use crate::text::Position;

/// The arguments, with positions in the client's encoding.
struct DocumentArguments {
    /// The file, or the default folder.
    path: Arc<str>,
    file: Option<Arc<str>>,
    key: Option<Arc<str>>,
    position: Option<Position>,
    node: Option<Arc<str>>,
    from: Option<Arc<str>>,
    to: Option<Arc<str>>,
    form: ExplainForm,
    /// The versions of an upgrade.
    versions: (Option<PuppetVersion>, Option<PuppetVersion>),
}

#[derive(Clone, Copy, Default)]
struct Extras {
    data: bool,
    values: bool,
    sides: bool,
}

pub(super) async fn answer(
    session: &Connection,
    command: &str,
    arguments: &Value,
    token: Option<lsp::ProgressToken>,
) -> Result<Value> {
    let is_wanted = |name| arguments.get(name) == Some(&Value::Bool(true));
    let extras = Extras {
        data: is_wanted("data"),
        values: is_wanted("values"),
        sides: is_wanted("sides"),
    };
    let arguments = read(session, command, arguments)?;
    let (lane, title) = match command {
        DIFF => (Lane::Document, "Comparing"),
        IMPACT => (Lane::Document, "Computing the impact"),
        UPGRADE => (Lane::Document, "Looking everything up in both versions"),
        DOCTOR => (Lane::Document, "Checking the workspace"),
        _ => (Lane::Interactive, "Looking up"),
    };
    let Some(ticket) = ordered::ticket() else {
        return Err(Error::internal_error());
    };
    let progress = Progress::begin(session, token, title, &ticket.stop);
    let reporter = progress.reporter();
    let command_name = command.to_owned();
    let work = move |view: View| {
        let path = arguments.path.clone();
        let place = place(&arguments, &view);
        if command_name == REVEAL {
            let mut answer = json_of(reveal(&view, &place)?, extras);
            answer["secret"] = Value::Bool(true);
            return Ok(answer);
        }
        let question = question(&command_name, arguments, place, &view);
        let report = |done, total| reporter.report(done, total);
        let answer = view.analyse(&path, |analysis| {
            document::answer(analysis, &question, &report)
        })?;
        Ok(match answer {
            DocumentAnswer::Message(message) => json!({ "message": message }),
            DocumentAnswer::Document(document) => json_of(document, extras),
        })
    };
    let answer = super::answer(session, command, lane, Needs::WholeWorkspace, work).await;
    progress.end(session).await;
    let answer = answer?.map_err(|why: String| Error::invalid_params(why))?;
    if session.facts().opens_files {
        show(session, &answer);
    }
    Ok(answer)
}

/// Shows an answer to a client that does not do so itself: a sentence as a message, a document as a
/// file to open. A secret is never written to a file.
fn show(session: &Connection, answer: &Value) {
    let Some(session) = session.myself() else {
        return;
    };
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let (message, title, content) = (text("message"), text("title"), text("content"));
    let is_secret = answer.get("secret") == Some(&Value::Bool(true));
    let ending = match text("language").as_deref() {
        Some("yaml") => "yaml",
        Some(_) | None => "txt",
    };
    // No handler waits for the client.
    runtime::spawn(async move {
        let client = session.client.clone();
        let client = &client;
        let notify = |kind, words: String| async move { client.show_message(kind, words).await };
        match (message, title, content) {
            (Some(message), _, _) => notify(lsp::MessageType::INFO, message).await,
            (None, Some(_), Some(_)) if is_secret => {
                let why = "the plain text is not shown: this editor could only show it from a file, and secrets are not written to files";
                notify(lsp::MessageType::WARNING, why.to_owned()).await;
            }
            (None, Some(title), Some(content)) => {
                let put = move || session.shown_files.put(&title, ending, &content);
                let put = runtime::spawn_blocking(put).await;
                let at = match put {
                    Ok(Ok(at)) => at,
                    Ok(Err(why)) => {
                        let why = format!("the answer cannot be shown: {why}");
                        return notify(lsp::MessageType::WARNING, why).await;
                    }
                    // It was cancelled: the process is ending.
                    Err(_) => return,
                };
                let Some(uri) = at.to_str().and_then(convert::uri) else {
                    return;
                };
                let params = lsp::ShowDocumentParams {
                    uri,
                    external: Some(false),
                    take_focus: Some(true),
                    selection: None,
                };
                let _ = client.show_document(params).await;
            }
            (None, _, _) => {}
        }
    });
}

/// Reads the arguments; missing ones are an error.
fn read(session: &Connection, command: &str, arguments: &Value) -> Result<DocumentArguments> {
    let wrong = |wanted: &str| Error::invalid_params(format!("'{command}' needs {wanted}"));
    let text = |name: &str| -> Option<Arc<str>> {
        arguments.get(name).and_then(Value::as_str).map(Arc::from)
    };
    let file: Option<Arc<str>> = file(arguments).map(Arc::from);
    let folder = || session.folders().into_iter().next().map(Arc::from);
    let Some(path) = file.clone().or_else(folder) else {
        return Err(wrong("{\"uri\": a file, …}"));
    };
    let read = DocumentArguments {
        path,
        file,
        key: text("key"),
        position: arguments.get("position").and_then(ordered::position),
        node: text("node"),
        from: text("from"),
        to: text("to"),
        form: match text("form").as_deref() {
            Some("puppet") => ExplainForm::Puppet,
            Some(_) | None => ExplainForm::People,
        },
        versions: if command == UPGRADE {
            let of = |name| version(arguments.get(name).cloned()).map_err(Error::invalid_params);
            (of("from")?, of("to")?)
        } else {
            (None, None)
        },
    };
    let is_about_a_key = matches!(command, VALUE | EXPLAIN | MATRIX | USES);
    if is_about_a_key && read.key.is_none() && read.position.is_none() {
        return Err(wrong("{\"uri\": a file, \"position\" or \"key\"}"));
    }
    if command == REVEAL && (read.file.is_none() || read.position.is_none()) {
        return Err(wrong("{\"uri\": a file, \"position\"}"));
    }
    if command == DIFF && read.to.is_none() {
        return Err(wrong(
            "{\"uri\": a file, \"from\"?, \"to\": a node or an environment}",
        ));
    }
    Ok(read)
}

/// The requested key, with its position in bytes of the request's text.
fn place(arguments: &DocumentArguments, view: &View) -> KeyPlace {
    let path = &arguments.path;
    let offset = arguments
        .position
        .and_then(|position| view.lines(path, |lines| lines.offset(position, view.encoding)));
    KeyPlace {
        path: path.clone(),
        key: arguments.key.clone(),
        offset,
    }
}

fn question(command: &str, arguments: DocumentArguments, place: KeyPlace, view: &View) -> Question {
    let path = arguments.path;
    match command {
        VALUE => Question::Value(place),
        MATRIX => Question::Matrix(place),
        USES => Question::Uses(place),
        DIFF => Question::Diff {
            path,
            from: arguments.from,
            to: arguments.to.unwrap_or_default(),
            key: arguments.key,
        },
        DOCTOR => Question::Doctor {
            nodes: view.nodes(&path),
            path,
            now: crate::disk::now(),
        },
        UPGRADE => {
            let (from, to) = arguments.versions;
            let to = to.unwrap_or(PuppetVersion::V9);
            Question::Upgrade {
                path,
                preview: Box::new(view.context.upgrade(from, to)),
            }
        }
        IMPACT => Question::Impact {
            path,
            file: arguments.file,
        },
        _ => {
            let nodes = view.nodes(&path);
            let node = arguments.node.or_else(|| nodes.selected.clone());
            Question::Explain {
                place,
                form: arguments.form,
                node: node.map(|name| nodes.node(&name)),
            }
        }
    }
}

/// The plain text of one encrypted value, if the user's settings allow it.
fn reveal(view: &View, place: &KeyPlace) -> std::result::Result<Document, String> {
    if !view.context.settings.decrypt {
        return Err(
            "decryption is off: 'hiera-ls.decrypt' in the user's settings turns it on, with \
                    the keys in 'hiera-ls.pkcs7PrivateKey' and 'hiera-ls.pkcs7PublicKey'"
                .to_owned(),
        );
    }
    let Some(keys) = view.context.keys() else {
        return Err(
            "there are no keys to decrypt with: 'hiera-ls.pkcs7PrivateKey' and \
                    'hiera-ls.pkcs7PublicKey' must name a private key and its certificate"
                .to_owned(),
        );
    };
    let Some(offset) = place.offset else {
        return Err("there is no encrypted value at this place".to_owned());
    };
    let found = hover::plain_text(&view.snapshot, &place.path, offset, keys)?;
    let file = view.snapshot.short_name(&place.path);
    let line = found.line;
    Ok(Document {
        title: match found.key {
            Some(key) => format!("Plain text of {key} in {file}:{line}"),
            None => format!("Plain text in {file}:{line}"),
        },
        language: "text",
        content: found.text,
        ..Document::default()
    })
}

/// A text with its title, in the form that clients show.
pub(super) fn shown(title: &str, language: &str, content: &str) -> Value {
    json!({
        "title": title,
        "uri": format!("hiera-ls:/{}", convert::escaped(title)),
        "language": language,
        "content": content,
    })
}

fn json_of(document: Document, extras: Extras) -> Value {
    let Document {
        title,
        language,
        content,
        data,
        values,
        sides,
    } = document;
    let mut answer = shown(&title, language, &content);
    if extras.data {
        let data = data.and_then(|data| serde_json::from_str::<Value>(&data).ok());
        answer["data"] = data.unwrap_or_default();
    }
    if extras.values && !values.is_empty() {
        answer["values"] = values.into();
    }
    if extras.sides && !sides.is_empty() {
        let sides = sides.into_iter();
        answer["sides"] = sides.map(|side| json_of(side, Extras::default())).collect();
    }
    answer
}
