//! `textDocument/documentHighlight`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::{offset, range};
use crate::ide::references::{Role, highlights};

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::DocumentHighlightParams,
) -> Option<Vec<lsp::DocumentHighlight>> {
    let offset = offset(view, path, params.text_document_position_params.position)?;
    let is_code = view.snapshot.file(path)?.facts().code.is_some();
    let found = view.analyse(path, |analysis| {
        (is_code || analysis.reads(path)).then(|| highlights(analysis, path, offset))
    })?;
    let found = found.into_iter();
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
}
