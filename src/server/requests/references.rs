//! `textDocument/references`.

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{Locations, offset};
use super::{View, Wants};
use crate::ide::references::{Role, references};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>> {
    let at = params.text_document_position;
    let Some(path) = convert::path(at.text_document.uri.as_str()) else {
        return Ok(None);
    };
    let roles: &[Role] = match params.context.include_declaration {
        true => &[Role::Definition, Role::Option, Role::Use],
        false => &[Role::Option, Role::Use],
    };
    let work = move |view: View| {
        let offset = offset(&view, &path, at.position)?;
        let found = view.analyse(&path, |analysis| references(analysis, &path, offset, roles))?;
        let locations = Locations::new(&view, &[]);
        let found = found.iter().filter_map(|place| locations.location(place));
        Some(found.collect())
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, "textDocument/references", lane, wants, work).await
}
