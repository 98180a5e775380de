//! `textDocument/references`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::LocationConverter;
use super::{Needs, View, at_place};
use crate::ide::references::{Role, references};
use crate::server::connection::Connection;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>> {
    let roles: &[Role] = match params.context.include_declaration {
        true => &[Role::Definition, Role::Option, Role::Use],
        false => &[Role::Option, Role::Use],
    };
    let work = |view: &View, path: &str, offset| {
        let found = view.analyse(path, |analysis| references(analysis, path, offset, roles))?;
        let locations = LocationConverter::new(view, &[]);
        let found = found.iter().filter_map(|place| locations.location(place));
        Some(found.collect())
    };
    let place = params.text_document_position;
    let method = "textDocument/references";
    at_place(session, method, &place, Needs::WholeWorkspace, work).await
}
