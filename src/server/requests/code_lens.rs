//! `textDocument/codeLens`: texts above keys, each with a command of this server, so that a client
//! needs no knowledge of them.

use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{Needs, View, answer};
use crate::ide::lens::{self, LensKind};
use crate::server::capabilities::{IMPACT, MATRIX, USES};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;
use crate::text::number_of;

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::CodeLensParams,
) -> Option<Vec<lsp::CodeLens>> {
    let uri = &params.text_document.uri;
    let options = view.context.settings.lenses;
    let lenses = view.analyse(path, |analysis| lens::lenses(analysis, path, options));
    view.lines(path, |lines| {
        let lenses = lenses.into_iter().map(|lens| {
            let mut argument = json!({ "uri": uri });
            if let Some(key) = &lens.key {
                argument["key"] = Value::from(&**key);
            }
            let is_later = lens.kind == LensKind::LaterImpact;
            lsp::CodeLens {
                range: convert::range(lines, lens.range, view.encoding),
                command: (!is_later).then(|| command(&lens.kind, argument.clone())),
                data: is_later.then_some(argument),
            }
        });
        lenses.collect()
    })
}

/// `codeLens/resolve`: computes the impact of an edit. A complete lens is returned unchanged.
pub(crate) async fn resolve(session: &Connection, lens: lsp::CodeLens) -> Result<lsp::CodeLens> {
    let uri = lens.data.as_ref().and_then(|data| data.get("uri"));
    let Some(path) = uri.and_then(Value::as_str).and_then(convert::path) else {
        return Ok(lens);
    };
    let work = move |view: View| {
        let kind = view.analyse(&path, |analysis| lens::impact(analysis, &path));
        lsp::CodeLens {
            command: lens.data.map(|argument| command(&kind, argument)),
            data: None,
            range: lens.range,
        }
    };
    let (lane, needs) = (Lane::Document, Needs::WholeWorkspace);
    answer(session, "codeLens/resolve", lane, needs, work).await
}

fn command(kind: &LensKind, argument: Value) -> lsp::Command {
    let (title, command) = words(kind);
    lsp::Command {
        title,
        command: command.to_owned(),
        arguments: Some(vec![argument]),
    }
}

fn words(kind: &LensKind) -> (String, &'static str) {
    match kind {
        LensKind::Overrides { above, below, more } => {
            let levels = [(above, "higher"), (below, "lower")];
            let levels = levels.into_iter().filter(|(count, _)| **count > 0);
            let levels = levels
                .map(|(count, levels)| format!("{} of {levels} levels", number_of(*count, "file")));
            let levels: Vec<String> = levels.collect();
            let more = if *more { " and more" } else { "" };
            (format!("also set in {}{more}", levels.join(" · ")), MATRIX)
        }
        LensKind::Uses(count) => (number_of(*count, "use"), USES),
        LensKind::AnyImpact | LensKind::LaterImpact => {
            ("show what this edit changes".to_owned(), IMPACT)
        }
        LensKind::NoImpact => ("unsaved: changes no effective value".to_owned(), IMPACT),
        LensKind::Impact { keys, nodes, total } => {
            let keys = keys.map_or_else(String::new, |keys| format!(" {}", number_of(keys, "key")));
            let title = match (keys.is_empty(), total) {
                (true, 0) => "changes the value".to_owned(),
                (true, total) => format!("changes {nodes} of {total} nodes"),
                (false, 0) => format!("unsaved: changes{keys}"),
                (false, total) => format!("unsaved: changes{keys} for {nodes} of {total} nodes"),
            };
            (title, IMPACT)
        }
    }
}
