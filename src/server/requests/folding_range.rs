//! `textDocument/foldingRange` and `textDocument/selectionRange`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{offset, range};
use super::{Needs, View, of_file};
use crate::ide::folding::{FoldKind, folds, selections};
use crate::server::connection::Connection;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::FoldingRangeParams,
) -> Result<Option<Vec<lsp::FoldingRange>>> {
    let work = |view: &View, path: &str| {
        // Files that no hierarchy reads are left to YAML servers.
        if !view.analyse(path, |analysis| analysis.reads(path)) {
            return None;
        }
        let found = folds(&view.snapshot, path).into_iter();
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
    let (method, document) = ("textDocument/foldingRange", params.text_document);
    of_file(session, method, &document, Needs::Soon, work).await
}

pub(crate) async fn selection(
    session: &Connection,
    params: lsp::SelectionRangeParams,
) -> Result<Option<Vec<lsp::SelectionRange>>> {
    let positions = params.positions;
    let work = move |view: &View, path: &str| {
        let positions = positions.iter();
        positions.map(|&at| around(view, path, at)).collect()
    };
    let (method, document) = ("textDocument/selectionRange", params.text_document);
    of_file(session, method, &document, Needs::Soon, work).await
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
