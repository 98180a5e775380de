//! `textDocument/linkedEditingRange`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::range;
use super::{Needs, View, at_place};
use crate::ide::linked_editing::linked_ranges;
use crate::server::connection::Connection;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::LinkedEditingRangeParams,
) -> Result<Option<lsp::LinkedEditingRanges>> {
    let place = params.text_document_position_params;
    let work = |view: &View, path: &str, offset| {
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
    };
    let method = "textDocument/linkedEditingRange";
    at_place(session, method, &place, Needs::Soon, work).await
}
