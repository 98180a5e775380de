//! `textDocument/definition`, `textDocument/declaration` and `textDocument/typeDefinition`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::{LocationConverter, offset, range};
use crate::analysis::{Analysis, NodeFile};
use crate::ide::definition::{DefinitionPlaces, declaration, definition, type_definition};

type Find = fn(Analysis<'_>, &str, usize, &[NodeFile]) -> Option<DefinitionPlaces>;

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::GotoDefinitionParams,
) -> Option<lsp::GotoDefinitionResponse> {
    let links = view.facts.definition_links;
    answer(view, path, &params, links, definition)
}

pub(crate) fn declared(
    view: &View,
    path: &str,
    params: lsp::GotoDefinitionParams,
) -> Option<lsp::GotoDefinitionResponse> {
    let links = view.facts.declaration_links;
    answer(view, path, &params, links, declaration)
}

pub(crate) fn of_type(
    view: &View,
    path: &str,
    params: lsp::GotoDefinitionParams,
) -> Option<lsp::GotoDefinitionResponse> {
    let find: Find = |analysis, path, offset, _| type_definition(analysis, path, offset);
    answer(view, path, &params, view.facts.type_links, find)
}

fn answer(
    view: &View,
    path: &str,
    params: &lsp::GotoDefinitionParams,
    links: bool,
    find: Find,
) -> Option<lsp::GotoDefinitionResponse> {
    let offset = offset(view, path, params.text_document_position_params.position)?;
    let files = view.node_files(path);
    let found = view.analyse(path, |analysis| find(analysis, path, offset, &files))?;
    let locations = LocationConverter::new(view, &files);
    let origin = range(view, path, found.origin)?;
    let places = found.places.iter();
    Some(if links {
        let links = places.filter_map(|place| locations.link(origin, place));
        lsp::GotoDefinitionResponse::Link(links.collect())
    } else {
        let places = places.filter_map(|place| locations.location(place));
        lsp::GotoDefinitionResponse::Array(places.collect())
    })
}
