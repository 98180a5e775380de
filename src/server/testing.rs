//! Only for the tests of the transport: the same server on any pipe, and the types of the functions
//! that tests replace.

pub use super::jobs::Cancellation;
pub use super::ordered::{MessageService, Ordered};
pub use super::requests::{AnswerFunctions, View};
#[cfg(not(target_family = "wasm"))]
pub use super::serve;
pub use super::{CONCURRENCY, Options};
pub use crate::ide::hover::Hover;
pub use crate::ide::symbols::Symbol;
pub use crate::workspace::Snapshot;
