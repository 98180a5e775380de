//! For the tests of the transport only: the same server on any pipe, with planted features, and
//! with one of its four rules broken on purpose, so that each test is seen to notice.

pub use super::context::Context;
pub use super::jobs::Stop;
pub use super::settings::Settings;
pub use super::{Options, serve};
pub use crate::ide::hover::Hover;
pub use crate::ide::symbols::Symbol;
pub use crate::rules::Finding;
pub use crate::workspace::Snapshot;

/// A rule of the house, broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// Edits are applied in handlers, not where they arrive.
    Order,
    /// Handlers compute on the transport's task.
    Compute,
    /// Handlers wait for replies of the client.
    Wait,
    /// The transport's own limit of handlers at once is left as it comes.
    Slots,
}

/// What tests answer requests with in the place of `ide` and `rules`: answers that take as long as
/// the test wants, count, or panic.
pub struct Doubles {
    /// A hover at a byte of a file.
    pub hover: Box<HoverDouble>,
    /// The findings of a file.
    pub check: Box<CheckDouble>,
    /// The symbols of a file.
    pub symbols: Box<SymbolsDouble>,
}

type HoverDouble = dyn Fn(&Snapshot, &str, usize, &Stop) -> Option<Hover> + Send + Sync;
type CheckDouble = dyn Fn(&Snapshot, &str) -> Option<Vec<Finding>> + Send + Sync;
type SymbolsDouble = dyn Fn(&Snapshot, &str) -> Vec<Symbol> + Send + Sync;
