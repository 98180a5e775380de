//! `textDocument/linkedEditingRange`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::{offset, range};
use crate::ide::linked_editing::linked_ranges;

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::LinkedEditingRangeParams,
) -> Option<lsp::LinkedEditingRanges> {
    let offset = offset(view, path, params.text_document_position_params.position)?;
    if !view.analyse(path, |analysis| analysis.reads(path)) {
        return None;
    }
    let linked = linked_ranges(&view.snapshot, path, offset)?;
    let ranges = linked.ranges.into_iter();
    let ranges = ranges.map(|part| range(view, path, part));
    Some(lsp::LinkedEditingRanges {
        ranges: ranges.collect::<Option<_>>()?,
        word_pattern: Some(linked.pattern.to_owned()),
    })
}
