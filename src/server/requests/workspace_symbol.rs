//! `workspace/symbol`: keys of the whole workspace that match a query.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::diagnostic::uri;
use super::{View, of_workspace};
use crate::ide::symbols::search;
use crate::server::connection::Connection;
use crate::server::convert;

/// Maximum number of results; the best matches come first.
const MAX_SYMBOLS: usize = 200;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
    let work = move |view: View| {
        let symbols = view.analyse("/", |analysis| {
            let found = search(analysis, &params.query, MAX_SYMBOLS).into_iter();
            let symbols = found.filter_map(|(file, found)| {
                let range = convert::range(file.lines(), found.selection, view.encoding);
                let uri = uri(&view, file.path())?;
                Some(symbol(file.path(), found.name.to_string(), uri, range))
            });
            symbols.collect()
        });
        Some(lsp::WorkspaceSymbolResponse::Flat(symbols))
    };
    of_workspace(session, "workspace/symbol", work).await
}

fn symbol(path: &str, name: String, uri: lsp::Uri, range: lsp::Range) -> lsp::SymbolInformation {
    #[expect(deprecated, reason = "the protocol's type still has the field")]
    lsp::SymbolInformation {
        name,
        kind: lsp::SymbolKind::KEY,
        tags: None,
        deprecated: None,
        location: lsp::Location::new(uri, range),
        container_name: path.rsplit('/').next().map(str::to_owned),
    }
}
