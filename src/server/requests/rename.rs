//! `textDocument/prepareRename`, `textDocument/rename` and `workspace/willRenameFiles`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::edits::{Note, annotate, workspace_edit};
use super::locations::range;
use super::{Needs, View, at_place, refused};
use crate::ide::rename::file::{Moved, file_renames};
use crate::ide::rename::{prepare as prepared, rename};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) async fn prepare(
    session: &Connection,
    at: lsp::TextDocumentPositionParams,
) -> Result<Option<lsp::PrepareRenameResponse>> {
    let work = |view: &View, path: &str, offset| {
        let found = view.analyse(path, |analysis| prepared(analysis, path, offset));
        let renamed = found.map(|(name, placeholder)| {
            let range = range(view, path, name)?;
            Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
        });
        renamed.transpose()
    };
    let method = "textDocument/prepareRename";
    let answer = at_place(session, method, &at, Needs::Soon, work).await?;
    answer.transpose().map_err(refused)
}

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::RenameParams,
) -> Result<Option<lsp::WorkspaceEdit>> {
    let at = params.text_document_position;
    let form = session.facts().edits;
    let new_name = params.new_name;
    let renamed = move |view: &View, path: &str, offset| {
        let renamed = view.analyse(path, |analysis| rename(analysis, path, offset, &new_name))?;
        let mut edit = workspace_edit(view, &renamed.edits, form);
        if let Some(first) = renamed.to_confirm.first() {
            if !form.annotates {
                return Err(format!(
                    "{first}: this editor cannot ask for confirmation, so nothing is renamed"
                ));
            }
            let note = Note {
                label: renamed.to_confirm.join("; "),
                is_to_confirm: true,
            };
            annotate(&mut edit, &note);
        }
        Ok((edit, renamed.to_know))
    };
    let work = move |view: &View, path: &str, offset| Some(renamed(view, path, offset));
    let (method, needs) = ("textDocument/rename", Needs::WholeWorkspace);
    let answer = at_place(session, method, &at, needs, work).await?;
    let Some((edit, notes)) = answer.transpose().map_err(refused)? else {
        return Ok(None);
    };
    if !notes.is_empty() {
        let client = session.client.clone();
        let notes = notes.join("; ");
        // No handler waits for the client.
        tokio::spawn(async move { client.show_message(lsp::MessageType::WARNING, notes).await });
    }
    Ok(Some(edit))
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
    let form = session.facts().edits;
    let work = move |view: View| {
        let edits = view.analyse("/", |analysis| file_renames(analysis, &moved));
        Some(workspace_edit(&view, &edits, form)).filter(|_| !edits.is_empty())
    };
    let (lane, needs) = (Lane::Interactive, Needs::WholeWorkspace);
    super::answer(session, "workspace/willRenameFiles", lane, needs, work).await
}
