//! For the tests of the transport only: the same server on any pipe, with planted features, and
//! with one of its four rules broken on purpose, so that each test is seen to notice.

pub use super::context::Context;
pub use super::features::{Asked, Check, Features, Hover, Question, Symbol, Told, Work};
pub use super::jobs::Stop;
pub use super::settings::Settings;
pub use super::{Options, serve};
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

/// The features that the program serves.
#[must_use]
pub fn rooms() -> std::sync::Arc<dyn Features> {
    std::sync::Arc::new(super::features::Rooms::default())
}
