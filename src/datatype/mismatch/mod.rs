//! The mismatches between a value and a type: the path to a part, the kind, the expected and the
//! actual type. `Display` gives Puppet's messages (`pops/types/type_mismatch_describer.rb`). It
//! must not know files.

mod describe;
mod merge;
mod text;

pub(super) use describe::describe;
pub(super) use merge::{NumericMerge, merge};

use std::fmt;

use super::infer::normalize;
use super::model::{Range, Type};
use super::{assignable, infer_set, is_instance};
use crate::value::Value;

/// Checks a value against a type.
///
/// # Errors
/// The mismatches. Puppet refuses some values without a message: then the list is empty.
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

/// Checks the declared return type of a function (`TypeAsserter.assert_assignable`).
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
    /// The checked type, which keeps recursive aliases in the list alive.
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

    /// The message of Puppet's error: the subject, ` has wrong type,` and each mismatch, one per
    /// line. Empty without mismatches, as in Puppet.
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

/// A mismatch at one part of a value. `Display` omits the subject: `entry 'port' expects an Integer
/// value, got String`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The path to the part.
    pub path: Vec<Step>,
    /// The kind of mismatch, with the expected and the actual type.
    pub kind: MismatchKind,
}

/// The kinds of mismatch.
#[derive(Clone, Debug, PartialEq)]
pub enum MismatchKind {
    /// A key required by a `Struct` is missing.
    MissingKey(String),
    /// A key is not in the `Struct`.
    UnknownKey(String),
    /// The expected type names a type that does not exist.
    Unresolved(String),
    /// The type is different.
    Type {
        /// The expected type.
        expected: Type,
        /// The type of the value.
        actual: Type,
    },
    /// The text matches no pattern, or no value of an `Enum`.
    Pattern {
        /// The expected type.
        expected: Type,
        /// The type of the value.
        actual: Type,
    },
    /// A collection has too few or too many elements.
    Size {
        /// The allowed sizes.
        expected: Range,
        /// The size of the value.
        actual: Range,
    },
    /// A call has too few or too many arguments.
    Count {
        /// The allowed numbers.
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
