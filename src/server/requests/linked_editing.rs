//! `textDocument/linkedEditingRange`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{offset, range};
use super::{View, Wants};
use crate::ide::linked_editing::linked_ranges;
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::LinkedEditingRangeParams,
) -> Result<Option<lsp::LinkedEditingRanges>> {
    let at = params.text_document_position_params;
    let Some(path) = convert::path(at.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        let offset = offset(&view, &path, at.position)?;
        if !view.analyse(&path, |analysis| analysis.reads(&path)) {
            return None;
        }
        let linked = linked_ranges(&view.snapshot, &path, offset)?;
        let ranges = linked.ranges.into_iter();
        let ranges = ranges.map(|part| range(&view, &path, part));
        Some(lsp::LinkedEditingRanges {
            ranges: ranges.collect::<Option<_>>()?,
            word_pattern: Some(linked.pattern.to_owned()),
        })
    };
    let (lane, wants) = (Lane::Interactive, Wants::Soon);
    super::answer(
        session,
        "textDocument/linkedEditingRange",
        lane,
        wants,
        work,
    )
    .await
}
