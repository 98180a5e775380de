//! `textDocument/documentHighlight`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{offset, range};
use super::{View, Wants};
use crate::ide::references::{Role, highlights};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::DocumentHighlightParams,
) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
    let at = params.text_document_position_params;
    let Some(path) = convert::path(at.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        let offset = offset(&view, &path, at.position)?;
        let is_code = view.snapshot.file(&path)?.facts().code.is_some();
        if !is_code && !view.analyse(&path, |analysis| analysis.reads(&path)) {
            return None;
        }
        let found = highlights(&view.snapshot, &path, offset).into_iter();
        let found = found.filter_map(|one| {
            Some(lsp::DocumentHighlight {
                range: range(&view, &path, one.name)?,
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
    let (lane, wants) = (Lane::Interactive, Wants::Soon);
    super::answer(session, "textDocument/documentHighlight", lane, wants, work).await
}
