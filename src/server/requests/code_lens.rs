//! `textDocument/codeLens`: what is said above keys, each with a command of this server, so that a
//! client has nothing to know of them.

use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{View, Wants};
use crate::server::capabilities::{IMPACT, MATRIX, USES};
use crate::server::convert;
use crate::server::features::LensKind;
use crate::server::jobs::Lane;
use crate::server::session::Session;

pub(crate) async fn handle(
    session: &Session,
    params: lsp::CodeLensParams,
) -> Result<Option<Vec<lsp::CodeLens>>> {
    let uri = params.text_document.uri;
    let Some(path) = convert::path(uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        let (snapshot, context) = (&view.snapshot, &view.context);
        let lenses = view.features.lenses(snapshot, &path, context, &view.stop);
        view.lines(&path, |lines| {
            let lenses = lenses.into_iter().map(|lens| {
                let (title, command) = words(&lens.kind);
                let mut argument = json!({ "uri": uri.as_str() });
                if let Some(key) = &lens.key {
                    argument["key"] = Value::from(&**key);
                }
                lsp::CodeLens {
                    range: convert::range(lines, lens.range, view.encoding),
                    command: Some(lsp::Command {
                        title,
                        command: command.to_owned(),
                        arguments: Some(vec![argument]),
                    }),
                    data: None,
                }
            });
            lenses.collect()
        })
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, "textDocument/codeLens", lane, wants, work).await
}

fn words(kind: &LensKind) -> (String, &'static str) {
    match kind {
        LensKind::Overrides { above, below: 0 } => {
            (format!("set in {} above", files(*above)), MATRIX)
        }
        LensKind::Overrides { above: 0, below } => {
            (format!("set in {} below", files(*below)), MATRIX)
        }
        LensKind::Overrides { above, below } => {
            let title = format!("set in {} above · {below} below", files(*above));
            (title, MATRIX)
        }
        LensKind::Uses(1) => ("1 use".to_owned(), USES),
        LensKind::Uses(count) => (format!("{count} uses"), USES),
        LensKind::AnyImpact => ("what does this edit change?".to_owned(), IMPACT),
        LensKind::Impact { keys, nodes, of } => {
            let keys = match keys {
                None => String::new(),
                Some(1) => " 1 key".to_owned(),
                Some(count) => format!(" {count} keys"),
            };
            let title = match (keys.is_empty(), of) {
                (true, 0) => "changes the value".to_owned(),
                (true, of) => format!("changes {nodes} of {of} nodes"),
                (false, 0) => format!("unsaved: changes{keys}"),
                (false, of) => format!("unsaved: changes{keys} for {nodes} of {of} nodes"),
            };
            (title, IMPACT)
        }
    }
}

fn files(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}
