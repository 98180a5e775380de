//! Only for the tests of the transport: the same server on any pipe, and the types of the functions
//! that tests replace.

pub use super::jobs::Cancellation;
pub use super::ordered::{MessageService, Ordered};
pub use super::requests::{AnswerFunctions, View};
pub use super::{CONCURRENCY, Options, serve};
pub use crate::ide::hover::Hover;
pub use crate::ide::symbols::Symbol;
pub use crate::workspace::Snapshot;
