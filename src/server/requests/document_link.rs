//! `textDocument/documentLink`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::diagnostic::uri;
use super::locations::range;
use super::{Needs, View, of_file};
use crate::ide::links::document_links;
use crate::server::connection::Connection;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::DocumentLinkParams,
) -> Result<Option<Vec<lsp::DocumentLink>>> {
    let work = |view: &View, path: &str| {
        let links = view.analyse(path, |analysis| document_links(analysis, path));
        let links = links.into_iter().filter_map(|link| {
            Some(lsp::DocumentLink {
                range: range(view, path, link.range)?,
                target: Some(uri(view, &link.to)?),
                tooltip: None,
                data: None,
            })
        });
        Some(links.collect())
    };
    let (method, document) = ("textDocument/documentLink", params.text_document);
    of_file(session, method, &document, Needs::WholeWorkspace, work).await
}
