//! `workspace/symbol`: keys of the whole workspace by what somebody typed.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::diagnostic::uri;
use super::{View, Wants};
use crate::server::convert;
use crate::server::jobs::Lane;
use crate::server::session::Session;

/// Nobody reads a longer list; the best matches come first.
const MAX_SYMBOLS: usize = 200;

pub(crate) async fn handle(
    session: &Session,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
    let work = move |view: View| {
        let found = view.features.search(
            &view.snapshot,
            &view.context,
            &params.query,
            MAX_SYMBOLS,
            &view.stop,
        );
        let symbols = found.into_iter().filter_map(|(path, symbol)| {
            let range = view.lines(&path, |lines| {
                convert::range(lines, symbol.selection, view.encoding)
            })?;
            #[expect(deprecated, reason = "the protocol's type still has the field")]
            Some(lsp::SymbolInformation {
                name: symbol.name,
                kind: lsp::SymbolKind::KEY,
                tags: None,
                deprecated: None,
                location: lsp::Location::new(uri(&view, &path)?, range),
                container_name: path.rsplit('/').next().map(str::to_owned),
            })
        });
        Some(lsp::WorkspaceSymbolResponse::Flat(symbols.collect()))
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, "workspace/symbol", lane, wants, work).await
}
