//! The known nodes as the features of an editor see them.

pub(super) use crate::scope::Column;
pub use crate::scope::KnownNodes;
