//! Why an evaluation ends early.

use std::sync::Arc;

use crate::value::Value;

/// The result of an evaluation.
pub type Evaluated<T = Value> = Result<T, Stop>;

/// Why an evaluation ends early.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The value is unknown: the reason, for people. Evaluation continues with the next statement.
    Unknown(Arc<str>),
    /// The control flow is unknown: the reason, for people.
    Lost(Arc<str>),
    /// Puppet fails: its message.
    Failed(Arc<str>),
    /// `next()` in a lambda.
    Next(Value),
    /// `break()` in a lambda.
    Break,
    /// `return()` in a function.
    Return(Value),
    /// `not_found()` of a lookup function's context.
    NotFound,
}

impl Stop {
    /// An unknown value.
    #[must_use]
    pub fn unknown(because: impl AsRef<str>) -> Stop {
        Stop::Unknown(Arc::from(because.as_ref()))
    }

    /// A failure of Puppet's.
    #[must_use]
    pub fn failed(message: impl AsRef<str>) -> Stop {
        Stop::Failed(Arc::from(message.as_ref()))
    }

    /// Why everything after it is unknown, in words.
    #[must_use]
    pub fn because(&self) -> Arc<str> {
        match self {
            Stop::Unknown(because) | Stop::Lost(because) => because.clone(),
            Stop::Failed(message) => Arc::from(format!("Puppet fails: {message}")),
            Stop::Next(_) | Stop::Break | Stop::Return(_) | Stop::NotFound => {
                Arc::from("it ends early")
            }
        }
    }
}
