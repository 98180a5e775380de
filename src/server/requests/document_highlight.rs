//! `textDocument/documentHighlight`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::range;
use super::{Needs, View, at_place};
use crate::ide::references::{Role, highlights};
use crate::server::connection::Connection;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::DocumentHighlightParams,
) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
    let place = params.text_document_position_params;
    let work = |view: &View, path: &str, offset| {
        let is_code = view.snapshot.file(path)?.facts().code.is_some();
        if !is_code && !view.analyse(path, |analysis| analysis.reads(path)) {
            return None;
        }
        let found = highlights(&view.snapshot, path, offset).into_iter();
        let found = found.filter_map(|one| {
            Some(lsp::DocumentHighlight {
                range: range(view, path, one.name)?,
                kind: Some(match one.role {
                    Role::Definition => lsp::DocumentHighlightKind::WRITE,
                    Role::Option => lsp::DocumentHighlightKind::TEXT,
                    Role::Use => lsp::DocumentHighlightKind::READ,
                }),
            })
        });
        // With `None`, editors fall back to their own highlighting of words.
        Some(found.collect::<Vec<_>>()).filter(|found| !found.is_empty())
    };
    let method = "textDocument/documentHighlight";
    at_place(session, method, &place, Needs::Soon, work).await
}
