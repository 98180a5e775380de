//! `workspace/executeCommand`.

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use crate::server::capabilities::RESCAN;
use crate::server::session::Session;

pub(crate) fn handle(
    session: &Session,
    params: &lsp::ExecuteCommandParams,
) -> Result<Option<Value>> {
    match params.command.as_str() {
        RESCAN => {
            session.rescan();
            Ok(None)
        }
        unknown => Err(Error::invalid_params(format!(
            "unknown command '{unknown}'"
        ))),
    }
}
