//! `textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and
//! `callHierarchy/outgoingCalls`: lookups between keys.

use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::diagnostic::uri;
use super::locations::offset;
use super::{View, of_workspace};
use crate::ide::call_hierarchy::{
    CallItem, incoming as callers, outgoing as called, prepare as key_at,
};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::text::TextRange;

pub(crate) fn prepare(
    view: &View,
    path: &str,
    params: lsp::CallHierarchyPrepareParams,
) -> Option<Vec<lsp::CallHierarchyItem>> {
    let offset = offset(view, path, params.text_document_position_params.position)?;
    let item = view.analyse(path, |analysis| key_at(analysis, path, offset))?;
    Some(vec![item_of(view, &item)?])
}

pub(crate) async fn incoming(
    session: &Connection,
    params: lsp::CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
    let work = move |view: View| {
        let calls = callers(&view.snapshot, &params.item.name).into_iter();
        let calls = calls.filter_map(|call| {
            Some(lsp::CallHierarchyIncomingCall {
                from: item_of(&view, &call.item)?,
                from_ranges: ranges(&view, &call.item.path, &call.tokens)?,
            })
        });
        Some(calls.collect())
    };
    of_workspace(session, "callHierarchy/incomingCalls", work).await
}

pub(crate) async fn outgoing(
    session: &Connection,
    params: lsp::CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
    let Some(path) = convert::path(params.item.uri.as_str()) else {
        return Ok(None);
    };
    // The key and its file identify the caller; its position may have changed since the request.
    let from = CallItem {
        key: Arc::from(params.item.name),
        path: Arc::from(path),
        range: TextRange::new(0, 0),
        selection: TextRange::new(0, 0),
    };
    let work = move |view: View| {
        let calls = called(&view.snapshot, &from).into_iter();
        let calls = calls.filter_map(|call| {
            Some(lsp::CallHierarchyOutgoingCall {
                to: item_of(&view, &call.item)?,
                from_ranges: ranges(&view, &from.path, &call.tokens)?,
            })
        });
        Some(calls.collect())
    };
    of_workspace(session, "callHierarchy/outgoingCalls", work).await
}

fn ranges(view: &View, path: &str, tokens: &[TextRange]) -> Option<Vec<lsp::Range>> {
    view.lines(path, |lines| {
        let range = |token: &TextRange| convert::range(lines, *token, view.encoding);
        tokens.iter().map(range).collect()
    })
}

fn item_of(view: &View, item: &CallItem) -> Option<lsp::CallHierarchyItem> {
    let (range, selection_range) = view.lines(&item.path, |lines| {
        let range = |range| convert::range(lines, range, view.encoding);
        (range(item.range), range(item.selection))
    })?;
    Some(lsp::CallHierarchyItem {
        name: item.key.to_string(),
        kind: lsp::SymbolKind::KEY,
        tags: None,
        detail: item.path.rsplit('/').next().map(str::to_owned),
        uri: uri(view, &item.path)?,
        range,
        selection_range,
        data: None,
    })
}
