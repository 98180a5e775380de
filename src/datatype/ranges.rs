//! Ranges of numbers, sizes and times.

use num_bigint::BigInt;

use super::time;

/// A range of integers; `None` is without bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Least value.
    pub from: Option<BigInt>,
    /// Greatest value.
    pub to: Option<BigInt>,
}

impl Range {
    /// From one number to another, both included.
    #[must_use]
    pub fn of(from: usize, to: usize) -> Range {
        Range {
            from: Some(from.into()),
            to: Some(to.into()),
        }
    }

    /// From a number upwards.
    #[must_use]
    pub fn at_least(from: usize) -> Range {
        Range {
            from: Some(from.into()),
            to: None,
        }
    }

    pub(super) fn is_unbounded(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    pub(super) fn contains(&self, number: &BigInt) -> bool {
        self.from.as_ref().is_none_or(|from| from <= number)
            && self.to.as_ref().is_none_or(|to| number <= to)
    }

    pub(super) fn contains_size(&self, size: usize) -> bool {
        self.contains(&size.into())
    }

    pub(super) fn covers(&self, other: &Range) -> bool {
        (match (&self.from, &other.from) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own <= other,
        }) && (match (&self.to, &other.to) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own >= other,
        })
    }

    /// The range limited to sizes: never below zero.
    pub(super) fn to_size(&self) -> Range {
        let zero = BigInt::from(0);
        if self.from.as_ref().is_some_and(|from| *from >= zero) {
            return self.clone();
        }
        Range {
            from: Some(zero.clone()),
            to: self.to.clone().map(|to| to.max(zero)),
        }
    }

    pub(super) fn is_empty_size(&self) -> bool {
        *self == Range::of(0, 0)
    }

    /// One range over both, if they touch or overlap.
    pub(super) fn merge(&self, other: &Range) -> Option<Range> {
        let is_below = |low: &Range, high: &Range| match (&low.to, &high.from) {
            (Some(to), Some(from)) => to + 1 < *from,
            _ => false,
        };
        (!is_below(self, other) && !is_below(other, self)).then(|| self.hull(other))
    }

    /// The smallest range over both.
    pub(super) fn hull(&self, other: &Range) -> Range {
        Range {
            from: match (&self.from, &other.from) {
                (Some(a), Some(b)) => Some(a.min(b).clone()),
                _ => None,
            },
            to: match (&self.to, &other.to) {
                (Some(a), Some(b)) => Some(a.max(b).clone()),
                _ => None,
            },
        }
    }
}

/// A range of floats; `None` is without bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FloatRange {
    /// Least value.
    pub from: Option<f64>,
    /// Greatest value.
    pub to: Option<f64>,
}

impl FloatRange {
    pub(super) fn low(self) -> f64 {
        self.from.unwrap_or(f64::NEG_INFINITY)
    }

    pub(super) fn high(self) -> f64 {
        self.to.unwrap_or(f64::INFINITY)
    }

    pub(super) fn is_unbounded(self) -> bool {
        self.low() == f64::NEG_INFINITY && self.high() == f64::INFINITY
    }
}

/// A range of times in nanoseconds; `None` is without bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// Least value.
    pub from: Option<i128>,
    /// Greatest value.
    pub to: Option<i128>,
    /// How Puppet writes the fractions of both.
    pub digits: (Digits, Digits),
}

/// How Puppet prints the fraction of a second of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// Without trailing zeros.
    #[default]
    Needed,
    /// With all digits, as for a bound that was a float.
    All,
}

impl TimeRange {
    /// The range of one time, or of all times if it isn't known.
    pub(super) fn exactly(time: Option<i128>) -> TimeRange {
        TimeRange {
            from: time,
            to: time,
            digits: <(Digits, Digits)>::default(),
        }
    }

    /// Both bounds in Puppet's format for timestamps.
    pub(super) fn stamps(self) -> (Option<String>, Option<String>) {
        (
            self.from.map(time::timestamp_text),
            self.to.map(time::timestamp_text),
        )
    }

    /// Both bounds in Puppet's format for spans.
    pub(super) fn spans(self) -> (Option<String>, Option<String>) {
        let text = |time, digits| match digits {
            Digits::Needed => time::timespan_text(time),
            Digits::All => time::timespan_text_of_float(time),
        };
        (
            self.from.map(|from| text(from, self.digits.0)),
            self.to.map(|to| text(to, self.digits.1)),
        )
    }

    pub(super) fn contains(self, time: i128) -> bool {
        self.from.is_none_or(|from| from <= time) && self.to.is_none_or(|to| time <= to)
    }

    pub(super) fn covers(self, other: TimeRange) -> bool {
        self.from
            .is_none_or(|from| other.from.is_some_and(|o| from <= o))
            && self.to.is_none_or(|to| other.to.is_some_and(|o| to >= o))
    }
}
