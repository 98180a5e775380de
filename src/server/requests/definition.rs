//! `textDocument/definition`, `textDocument/declaration` and `textDocument/typeDefinition`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{LocationConverter, range};
use super::{Needs, View, at_place};
use crate::analysis::{Analysis, NodeFile};
use crate::ide::definition::{DefinitionPlaces, declaration, definition, type_definition};
use crate::server::connection::Connection;

type Find = fn(Analysis<'_>, &str, usize, &[NodeFile]) -> Option<DefinitionPlaces>;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let links = session.facts().definition_links;
    let method = "textDocument/definition";
    answer(session, method, params, links, definition).await
}

pub(crate) async fn declared(
    session: &Connection,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let links = session.facts().declaration_links;
    let method = "textDocument/declaration";
    answer(session, method, params, links, declaration).await
}

pub(crate) async fn of_type(
    session: &Connection,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let links = session.facts().type_links;
    let find: Find = |analysis, path, offset, _| type_definition(analysis, path, offset);
    answer(session, "textDocument/typeDefinition", params, links, find).await
}

async fn answer(
    session: &Connection,
    method: &str,
    params: lsp::GotoDefinitionParams,
    links: bool,
    find: Find,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let place = params.text_document_position_params;
    let work = move |view: &View, path: &str, offset| {
        let files = view.node_files(path);
        let found = view.analyse(path, |analysis| find(analysis, path, offset, &files))?;
        let locations = LocationConverter::new(view, &files);
        let origin = range(view, path, found.origin)?;
        let places = found.places.iter();
        Some(match links {
            true => lsp::GotoDefinitionResponse::Link(
                places
                    .filter_map(|place| locations.link(origin, place))
                    .collect(),
            ),
            false => lsp::GotoDefinitionResponse::Array(
                places
                    .filter_map(|place| locations.location(place))
                    .collect(),
            ),
        })
    };
    at_place(session, method, &place, Needs::WholeWorkspace, work).await
}
