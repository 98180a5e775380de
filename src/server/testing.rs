//! Only for the tests of the transport: the same server on any pipe, with test doubles for its
//! features, for the time that the disk takes, and in front of the ordered service.

use std::sync::Arc;

pub use super::jobs::Cancellation;
pub use super::ordered::{MessageService, Ordered};
pub use super::{CONCURRENCY, Options, serve};
use crate::disk::ScanProgress;
pub use crate::ide::hover::Hover;
pub use crate::ide::symbols::Symbol;
pub use crate::rules::Finding;
pub use crate::workspace::Snapshot;

/// Replacements by tests.
#[derive(Clone, Default)]
pub struct Doubles {
    pub features: Option<Arc<Features>>,
    /// Called by the reader of the disk with its progress: tests make it wait.
    pub scanning: Option<Arc<dyn Fn(ScanProgress) + Send + Sync>>,
    /// Called by the model's writer with each new snapshot: tests make it wait.
    pub applied: Option<Arc<AppliedDouble>>,
    /// The number of messages handled at once, and a service in front of the ordered one that
    /// breaks a rule of the transport.
    pub front: Option<(usize, Arc<Front>)>,
}

/// Answers that wait, count, or panic.
pub struct Features {
    /// The hover at a byte of a file.
    pub hover: Box<HoverDouble>,
    pub check: Box<CheckDouble>,
    pub symbols: Box<SymbolsDouble>,
}

type Front = dyn Fn(Ordered) -> Box<MessageService> + Send + Sync;
type AppliedDouble = dyn Fn(&Snapshot) + Send + Sync;
type HoverDouble = dyn Fn(&Snapshot, &str, usize, &Cancellation) -> Option<Hover> + Send + Sync;
type CheckDouble = dyn Fn(&Snapshot, &str) -> Option<Vec<Finding>> + Send + Sync;
type SymbolsDouble = dyn Fn(&Snapshot, &str) -> Vec<Symbol> + Send + Sync;
