//! Only for the tests of the transport: the same server on any pipe, with the test's own answers
//! and with test doubles in front of the ordered service.

use std::io::{Read, Write};

use tower::Service;
use tower_lsp::ExitedError;
use tower_lsp::jsonrpc::{Request, Response};

pub use super::CONCURRENCY;
pub use super::context::ServerContext;
pub use super::jobs::Cancellation;
pub use super::ordered::Ordered;
pub use super::settings::UserSettings;
pub use super::{Options, serve};
pub use crate::ide::hover::Hover;
pub use crate::ide::symbols::Symbol;
pub use crate::rules::Finding;
pub use crate::workspace::Snapshot;

/// Serves like [`serve`], with another limit of messages handled at once, and with a service in
/// front of the ordered one: test doubles break a rule of the transport there.
#[must_use]
pub fn serve_through<S>(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
    limit: usize,
    in_front: impl FnOnce(Ordered) -> S + Send + 'static,
) -> u8
where
    S: Service<Request, Response = Option<Response>, Error = ExitedError> + Send + 'static,
    S::Future: Send,
{
    super::serve_through(input, output, options, limit, in_front)
}

/// Tests' replacements for `ide` and `rules`: answers that wait, count, or panic.
pub struct Doubles {
    /// The hover at a byte of a file.
    pub hover: Box<HoverDouble>,
    pub check: Box<CheckDouble>,
    pub symbols: Box<SymbolsDouble>,
}

type HoverDouble = dyn Fn(&Snapshot, &str, usize, &Cancellation) -> Option<Hover> + Send + Sync;
type CheckDouble = dyn Fn(&Snapshot, &str) -> Option<Vec<Finding>> + Send + Sync;
type SymbolsDouble = dyn Fn(&Snapshot, &str) -> Vec<Symbol> + Send + Sync;
