//! `textDocument/foldingRange` and `textDocument/selectionRange`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{offset, range};
use super::{View, Wants};
use crate::ide::folding::{FoldKind, folds, selections};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::FoldingRangeParams,
) -> Result<Option<Vec<lsp::FoldingRange>>> {
    let Some(path) = convert::path(params.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        // Files that no hierarchy reads are left to YAML servers.
        if !view.analyse(&path, |analysis| analysis.reads(&path)) {
            return None;
        }
        let found = folds(&view.snapshot, &path).into_iter();
        let found = found.map(|fold| lsp::FoldingRange {
            start_line: fold.first,
            end_line: fold.last,
            kind: match fold.kind {
                FoldKind::Value => None,
                FoldKind::Comment => Some(lsp::FoldingRangeKind::Comment),
            },
            ..lsp::FoldingRange::default()
        });
        Some(found.collect())
    };
    let (lane, wants) = (Lane::Interactive, Wants::Soon);
    super::answer(session, "textDocument/foldingRange", lane, wants, work).await
}

pub(crate) async fn selection(
    session: &Connection,
    params: lsp::SelectionRangeParams,
) -> Result<Option<Vec<lsp::SelectionRange>>> {
    let Some(path) = convert::path(params.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        let positions = params.positions.iter();
        positions
            .map(|&position| around(&view, &path, position))
            .collect()
    };
    let (lane, wants) = (Lane::Interactive, Wants::Soon);
    super::answer(session, "textDocument/selectionRange", lane, wants, work).await
}

/// The ranges around a position; the protocol requires a result for each position.
fn around(view: &View, path: &str, position: lsp::Position) -> Option<lsp::SelectionRange> {
    let offset = offset(view, path, position)?;
    let found = selections(&view.snapshot, path, offset).into_iter();
    let mut outer: Option<lsp::SelectionRange> = None;
    for part in found.rev() {
        outer = Some(lsp::SelectionRange {
            range: range(view, path, part)?,
            parent: outer.map(Box::new),
        });
    }
    Some(outer.unwrap_or_else(|| lsp::SelectionRange {
        range: lsp::Range::new(position, position),
        parent: None,
    }))
}
