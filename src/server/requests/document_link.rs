//! `textDocument/documentLink`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::diagnostic::uri;
use super::locations::range;
use super::{View, Wants};
use crate::ide::links::document_links;
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::DocumentLinkParams,
) -> Result<Option<Vec<lsp::DocumentLink>>> {
    let Some(path) = convert::path(params.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        let links = view.analyse(&path, |analysis| document_links(analysis, &path));
        let links = links.into_iter().filter_map(|link| {
            Some(lsp::DocumentLink {
                range: range(&view, &path, link.range)?,
                target: Some(uri(&view, &link.to)?),
                tooltip: None,
                data: None,
            })
        });
        Some(links.collect())
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, "textDocument/documentLink", lane, wants, work).await
}
