//! `textDocument/prepareRename`, `textDocument/rename` and `workspace/willRenameFiles`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::edits::{EditNote, annotate, workspace_edit};
use super::locations::{offset, range};
use super::{Needs, View, of_file, of_workspace, refused};
use crate::plan::rename::file::{Moved, file_renames};
use crate::plan::rename::{prepare as prepared, rename};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::runtime;

pub(crate) async fn prepare(
    session: &Connection,
    params: lsp::TextDocumentPositionParams,
) -> Result<Option<lsp::PrepareRenameResponse>> {
    let work = |view: &View, path: &str, params: lsp::TextDocumentPositionParams| {
        let offset = offset(view, path, params.position)?;
        let found = view.analyse(path, |analysis| prepared(analysis, path, offset));
        let renamed = found.map(|(name, placeholder)| {
            let range = range(view, path, name)?;
            Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
        });
        renamed.transpose()
    };
    let method = "textDocument/prepareRename";
    let answer = of_file(session, method, Needs::Soon, params, work).await?;
    answer.transpose().map_err(refused)
}

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::RenameParams,
) -> Result<Option<lsp::WorkspaceEdit>> {
    let (method, needs) = ("textDocument/rename", Needs::WholeWorkspace);
    let answer = of_file(session, method, needs, params, renamed).await?;
    let Some((edit, notes)) = answer.transpose().map_err(refused)? else {
        return Ok(None);
    };
    if !notes.is_empty() {
        let client = session.client.clone();
        let notes = notes.join("; ");
        // No handler waits for the client.
        runtime::spawn(async move { client.show_message(lsp::MessageType::WARNING, notes).await });
    }
    Ok(Some(edit))
}

/// The edit of a renaming and what the user should know, or why nothing is renamed.
fn renamed(
    view: &View,
    path: &str,
    params: lsp::RenameParams,
) -> Option<std::result::Result<(lsp::WorkspaceEdit, Vec<String>), String>> {
    let offset = offset(view, path, params.text_document_position.position)?;
    let name = &params.new_name;
    let renamed = match view.analyse(path, |analysis| rename(analysis, path, offset, name)) {
        Ok(renamed) => renamed,
        Err(why) => return Some(Err(why)),
    };
    let form = view.facts.edits;
    let mut edit = workspace_edit(view, &renamed.edits, form);
    let mut to_know = renamed.to_know;
    let questions = renamed.to_confirm.iter();
    let sentences: Vec<&str> = questions.map(|it| &*it.sentence).collect();
    if !sentences.is_empty() && form.annotates {
        let note = EditNote {
            label: sentences.join("; "),
            is_to_confirm: true,
        };
        annotate(&mut edit, &note);
    } else if let Some(first) = renamed.to_confirm.iter().find(|it| it.changes_values) {
        return Some(Err(format!(
            "{}: this editor cannot ask for confirmation, so nothing is renamed",
            first.sentence
        )));
    } else {
        to_know.extend(sentences.into_iter().map(str::to_owned));
    }
    Some(Ok((edit, to_know)))
}

pub(crate) async fn files(
    session: &Connection,
    params: lsp::RenameFilesParams,
) -> Result<Option<lsp::WorkspaceEdit>> {
    let moved = params.files.into_iter().filter_map(|file| {
        let at = |uri: &str| convert::path(uri).map(|path| path.trim_end_matches('/').to_owned());
        let (from, to) = (at(&file.old_uri)?, at(&file.new_uri)?);
        Some(Moved { from, to })
    });
    let moved: Vec<Moved> = moved.collect();
    let work = move |view: View| {
        let edits = view.analyse("/", |analysis| file_renames(analysis, &moved));
        Some(workspace_edit(&view, &edits, view.facts.edits)).filter(|_| !edits.is_empty())
    };
    of_workspace(session, "workspace/willRenameFiles", work).await
}
