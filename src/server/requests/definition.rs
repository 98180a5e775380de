//! `textDocument/definition`, `textDocument/declaration` and `textDocument/typeDefinition`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{Locations, offset, range};
use super::{View, Wants};
use crate::analysis::{Analysis, NodeFile};
use crate::ide::definition::{Definition, declaration, definition, type_definition};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

type Find = fn(Analysis<'_>, &str, usize, &[NodeFile]) -> Option<Definition>;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let links = session.facts().definition_links;
    answer(
        session,
        "textDocument/definition",
        params,
        links,
        definition,
    )
    .await
}

pub(crate) async fn declared(
    session: &Connection,
    params: lsp::GotoDefinitionParams,
) -> Result<Option<lsp::GotoDefinitionResponse>> {
    let links = session.facts().declaration_links;
    answer(
        session,
        "textDocument/declaration",
        params,
        links,
        declaration,
    )
    .await
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
    let at = params.text_document_position_params;
    let Some(path) = convert::path(at.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let work = move |view: View| {
        let offset = offset(&view, &path, at.position)?;
        let files = view.node_files(&path);
        let found = view.analyse(&path, |analysis| find(analysis, &path, offset, &files))?;
        let locations = Locations::new(&view, &files);
        let origin = range(&view, &path, found.origin)?;
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
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, method, lane, wants, work).await
}
