//! Joins the mismatches that all alternatives share (`merge_descriptions`).

use super::{Mismatch, MismatchKind, Step};
use crate::datatype::infer::normalize;
use crate::datatype::model::Type;

/// The kind of numeric mismatches to merge.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::datatype) enum NumericMerge {
    Sizes,
    Counts,
}

/// Merges the mismatches that all alternatives have at the same part of the value into one, and
/// leaves the step at `varying` out of its path.
pub(in crate::datatype) fn merge(
    varying: usize,
    described: Vec<Vec<Mismatch>>,
    merging: NumericMerge,
) -> Vec<Mismatch> {
    let alternatives = described.len();
    let mut all: Vec<Mismatch> = described.into_iter().flatten().collect();
    let numbers = |m: &Mismatch| match merging {
        NumericMerge::Sizes => matches!(
            m.kind,
            MismatchKind::Size { .. } | MismatchKind::Count { .. }
        ),
        NumericMerge::Counts => matches!(m.kind, MismatchKind::Count { .. }),
    };
    let types = |m: &Mismatch| {
        matches!(
            m.kind,
            MismatchKind::Type { .. } | MismatchKind::Pattern { .. }
        )
    };
    for of_kind in [&numbers as &dyn Fn(&Mismatch) -> bool, &types] {
        let picked: Vec<&Mismatch> = all.iter().filter(|m| of_kind(m)).collect();
        if picked.len() != alternatives {
            continue;
        }
        let [first, others @ ..] = picked.as_slice() else {
            continue;
        };
        if others.iter().all(|m| canonical(first).eq(canonical(m))) {
            let first = Mismatch::clone(first);
            all = vec![others.iter().fold(first, |joined, m| join(&joined, m))];
            break;
        }
    }
    // Puppet tries to drop repeated mismatches here, but its comparison never finds two equal.
    if all.len() == 1 {
        return all.into_iter().map(|m| m.without_step(varying)).collect();
    }
    all
}

fn join(a: &Mismatch, b: &Mismatch) -> Mismatch {
    let mut joined = a.clone();
    match (&mut joined.kind, &b.kind) {
        (
            MismatchKind::Type { expected, .. } | MismatchKind::Pattern { expected, .. },
            MismatchKind::Type {
                expected: other, ..
            }
            | MismatchKind::Pattern {
                expected: other, ..
            },
        ) => *expected = normalize(&Type::variant([expected.clone(), other.clone()])),
        (
            MismatchKind::Size { expected, .. } | MismatchKind::Count { expected, .. },
            MismatchKind::Size {
                expected: other, ..
            }
            | MismatchKind::Count {
                expected: other, ..
            },
        ) => *expected = expected.hull(other),
        _ => {}
    }
    joined
}

/// The steps that lead to another part of the value.
fn canonical(mismatch: &Mismatch) -> impl Iterator<Item = &Step> {
    mismatch.path.iter().filter(|step| !step.stays())
}
