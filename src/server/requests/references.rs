//! `textDocument/references`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::{LocationConverter, offset};
use crate::ide::references::{Role, references};

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::ReferenceParams,
) -> Option<Vec<lsp::Location>> {
    let offset = offset(view, path, params.text_document_position.position)?;
    let roles: &[Role] = if params.context.include_declaration {
        &[Role::Definition, Role::Option, Role::Use]
    } else {
        &[Role::Option, Role::Use]
    };
    let found = view.analyse(path, |analysis| references(analysis, path, offset, roles))?;
    let locations = LocationConverter::new(view, &[]);
    let found = found.iter().filter_map(|place| locations.location(place));
    Some(found.collect())
}
