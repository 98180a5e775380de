//! `textDocument/documentLink`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::diagnostic::uri;
use super::locations::range;
use crate::ide::links::document_links;

pub(crate) fn handle(
    view: &View,
    path: &str,
    _: lsp::DocumentLinkParams,
) -> Option<Vec<lsp::DocumentLink>> {
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
}
