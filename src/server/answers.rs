//! The functions that answer requests about a file; tests replace them.

use super::requests::{View, document_symbol, hover};
use crate::ide::hover::Hover;
use crate::ide::symbols::Symbol;
use crate::rules::{Checker, Finding, RuleSet};

/// The functions behind the handlers of requests.
pub struct AnswerFunctions {
    /// The hover at a byte of a file.
    pub hover: Box<AnswerHover>,
    /// The findings of some rules in a file; `None` for a file that is not checked.
    pub check: Box<AnswerCheck>,
    /// The outline of a file.
    pub symbols: Box<AnswerSymbols>,
}

type AnswerHover = dyn Fn(&View, &str, usize) -> Option<Hover> + Send + Sync;
type AnswerCheck = dyn Fn(&Checker<'_>, &str, RuleSet) -> Option<Vec<Finding>> + Send + Sync;
type AnswerSymbols = dyn Fn(&View, &str) -> Vec<Symbol> + Send + Sync;

impl Default for AnswerFunctions {
    fn default() -> AnswerFunctions {
        AnswerFunctions {
            hover: Box::new(hover::shown),
            check: Box::new(|checker, path, part| checker.part(path, part)),
            symbols: Box::new(document_symbol::outline),
        }
    }
}
