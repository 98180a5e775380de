//! What is wrong with a value, part by part: the path to the part, the kind of the mismatch, what
//! was expected and what is there. `Display` gives Puppet's words
//! (`pops/types/type_mismatch_describer.rb`). Nothing else about values or files is known here.

mod describe;
mod merge;
mod text;

pub(super) use describe::describe;
pub(super) use merge::{Merging, merge};

use std::fmt;

use super::infer::normalize;
use super::model::{Range, Type};
use super::{assignable, infer_set, is_instance};
use crate::value::Value;

/// Checks a value against a type.
///
/// # Errors
/// The mismatches. Puppet refuses some values without a word: then the list is empty.
pub fn check(expected: &Type, actual: &Value) -> Result<(), Mismatches> {
    if is_instance(expected, actual) {
        return Ok(());
    }
    Err(Mismatches::new(
        "has wrong type,",
        expected,
        &infer_set(actual),
    ))
}

/// Checks the type that a function declares to return (`TypeAsserter.assert_assignable`).
///
/// # Errors
/// The mismatches.
pub fn check_return(expected: &Type, declared: &Type) -> Result<(), Mismatches> {
    if assignable(expected, declared) {
        return Ok(());
    }
    Err(Mismatches::new("is incorrect,", expected, declared))
}

/// All mismatches of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatches {
    verdict: &'static str,
    list: Vec<Mismatch>,
    /// The type that was asked for: aliases in the list that refer to themselves live as long.
    _whole: Box<Type>,
}

impl Mismatches {
    fn new(verdict: &'static str, expected: &Type, actual: &Type) -> Mismatches {
        Mismatches {
            verdict,
            list: describe(expected, actual, &[]),
            _whole: Box::new(expected.clone()),
        }
    }

    /// The message of Puppet's error: the subject, ` has wrong type,` and each mismatch, one a line.
    /// Empty where there is none, as in Puppet.
    #[must_use]
    pub fn describe(&self, subject: &str) -> String {
        let verdict = self.verdict;
        let line = |mismatch: &Mismatch| format!("{subject} {verdict} {mismatch}");
        match self.list.as_slice() {
            [] => String::new(),
            [only] => line(only).trim().to_owned(),
            several => {
                let lines: Vec<String> = several.iter().map(|m| format!(" {}", line(m))).collect();
                lines.join("\n ")
            }
        }
    }
}

impl<'a> IntoIterator for &'a Mismatches {
    type Item = &'a Mismatch;
    type IntoIter = std::slice::Iter<'a, Mismatch>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// One step of the path from a value to one of its parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The value of a hash's entry.
    Entry(String),
    /// The key of a hash's entry.
    EntryKey(String),
    /// An element of an array.
    Index(usize),
    /// A parameter of a function.
    Parameter(String),
    /// An alternative of a `Variant`: the same part of the value.
    Variant(usize),
    /// A signature of a function, counted from 0.
    Signature(usize),
    /// The type behind an alias: the same part of the value, and not printed.
    Alias(String),
}

impl Step {
    /// Whether the step stays at the same part of the value.
    fn stays(&self) -> bool {
        matches!(self, Step::Variant(_) | Step::Signature(_) | Step::Alias(_))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Entry(key) => write!(f, "entry '{key}'"),
            Step::EntryKey(key) => write!(f, "key of entry '{key}'"),
            Step::Index(index) => write!(f, "index {index}"),
            Step::Parameter(name) => write!(f, "parameter '{name}'"),
            Step::Variant(index) => write!(f, "variant {index}"),
            Step::Signature(index) => write!(f, "{}.", index + 1),
            Step::Alias(_) => Ok(()),
        }
    }
}

/// What is wrong with one part of a value. `Display` leaves the subject out: `entry 'port' expects
/// an Integer value, got String`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The way to the part.
    pub path: Vec<Step>,
    /// What is wrong, with what was expected and what is there.
    pub kind: MismatchKind,
}

/// The kinds of mismatch.
#[derive(Clone, Debug, PartialEq)]
pub enum MismatchKind {
    /// A `Struct` requires the key.
    MissingKey(String),
    /// A `Struct` does not have the key.
    UnknownKey(String),
    /// The expected type names a type that does not exist.
    Unresolved(String),
    /// The type is another one.
    Type {
        /// The type that was expected.
        expected: Type,
        /// The type of the value.
        actual: Type,
    },
    /// The text matches no pattern, or is none of an `Enum`'s.
    Pattern {
        /// The type that was expected.
        expected: Type,
        /// The type of the value.
        actual: Type,
    },
    /// A collection has too few or too many elements.
    Size {
        /// The sizes that are allowed.
        expected: Range,
        /// The size of the value.
        actual: Range,
    },
    /// A call has too few or too many arguments.
    Count {
        /// The numbers that are allowed.
        expected: Range,
        /// The number of arguments.
        actual: Range,
    },
}

impl Mismatch {
    fn new(path: &[Step], kind: MismatchKind) -> Mismatch {
        Mismatch {
            path: path.to_vec(),
            kind,
        }
    }

    fn of_type(path: &[Step], expected: &Type, actual: &Type) -> Mismatch {
        let kind = MismatchKind::Type {
            expected: normalize(expected),
            actual: normalize(actual),
        };
        Mismatch::new(path, kind)
    }

    fn of_pattern(path: &[Step], expected: &Type, actual: &Type) -> Mismatch {
        let kind = MismatchKind::Pattern {
            expected: normalize(expected),
            actual: normalize(actual),
        };
        Mismatch::new(path, kind)
    }

    fn of_size(path: &[Step], expected: Range, actual: Range) -> Mismatch {
        Mismatch::new(path, MismatchKind::Size { expected, actual })
    }

    /// A call with the wrong number of arguments.
    pub(super) fn of_count(path: &[Step], expected: Range, actual: Range) -> Mismatch {
        Mismatch::new(path, MismatchKind::Count { expected, actual })
    }

    pub(super) fn without_step(mut self, index: usize) -> Mismatch {
        if index < self.path.len() {
            self.path.remove(index);
        }
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            if !matches!(step, Step::Alias(_)) {
                write!(f, "{step} ")?;
            }
        }
        write!(f, "{}", self.kind)
    }
}
