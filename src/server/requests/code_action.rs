//! `textDocument/codeAction`: fixes of findings.

use std::collections::HashMap;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::{View, Wants};
use crate::ide::actions::{Action, actions};
use crate::rules::Part;
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::diagnostics::{diagnostic, findings};
use crate::server::jobs::Lane;
use crate::text::TextRange;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::CodeActionParams,
) -> Result<Option<lsp::CodeActionResponse>> {
    let uri = params.text_document.uri;
    let wants_fixes = params.context.only.is_none_or(|kinds| {
        let fixes = lsp::CodeActionKind::QUICKFIX;
        kinds
            .iter()
            .any(|kind| *kind == fixes || kind.as_str().is_empty())
    });
    let path = convert::path(uri.as_str()).filter(|_| wants_fixes && session.facts().code_actions);
    let Some(path) = path else {
        return Ok(None);
    };
    let range = params.range;
    let work = move |view: View| {
        let at = view.lines(&path, |lines| {
            let at = |place| lines.offset(convert::place(place), view.encoding);
            TextRange::new(at(range.start), at(range.end).max(at(range.start)))
        })?;
        let findings = findings(&view, Part::All)(&path)?;
        let actions = actions(&findings, at);
        let shown = actions.filter_map(|action| shown(&view, &uri, &path, action));
        Some(shown.map(lsp::CodeActionOrCommand::CodeAction).collect())
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, "textDocument/codeAction", lane, wants, work).await
}

fn shown(view: &View, uri: &lsp::Uri, path: &str, action: Action<'_>) -> Option<lsp::CodeAction> {
    let diagnostic = diagnostic(view, path, action.finding.clone())?;
    let edits = view.lines(path, |lines| {
        let edits = action.fix.edits.iter().map(|edit| lsp::TextEdit {
            range: convert::range(lines, edit.range, view.encoding),
            new_text: edit.new_text.clone(),
        });
        edits.collect()
    })?;
    Some(lsp::CodeAction {
        title: action.fix.title.clone(),
        kind: Some(lsp::CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic]),
        edit: Some(lsp::WorkspaceEdit {
            changes: Some(HashMap::from([(uri.clone(), edits)])),
            ..lsp::WorkspaceEdit::default()
        }),
        is_preferred: Some(true).filter(|_| action.is_preferred),
        ..lsp::CodeAction::default()
    })
}
