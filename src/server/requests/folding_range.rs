//! `textDocument/foldingRange` and `textDocument/selectionRange`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::{offset, range};
use crate::ide::folding::{FoldKind, folds, selections};

pub(crate) fn handle(
    view: &View,
    path: &str,
    _: lsp::FoldingRangeParams,
) -> Option<Vec<lsp::FoldingRange>> {
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
}

pub(crate) fn selection(
    view: &View,
    path: &str,
    params: lsp::SelectionRangeParams,
) -> Option<Vec<lsp::SelectionRange>> {
    let positions = params.positions.into_iter();
    positions.map(|at| around(view, path, at)).collect()
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
