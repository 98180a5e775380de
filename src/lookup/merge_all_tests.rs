//! All at once gives what one after another gives, wherever it gives anything.

use proptest::prelude::{Just, ProptestConfig, any, prop, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;

use super::*;
use crate::lookup::error::Found;

fn leaf() -> impl Generator<Value = Value> + Clone {
    prop_oneof![
        Just(Value::Undef),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        Just(Value::Float(1.0)),
        Just(Value::Float(f64::NAN)),
        "(--)?[ab]?|a\n--b".prop_map(Value::from),
        Just(Value::Symbol("s".into())),
    ]
}

fn value() -> impl Generator<Value = Value> + Clone {
    leaf().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            hash(inner),
        ]
    })
}

fn hash(inner: impl Generator<Value = Value> + Clone) -> impl Generator<Value = Value> + Clone {
    prop::collection::vec(("[a-d]", inner), 0..5).prop_map(|entries| {
        let entries = entries.into_iter();
        let entries = entries.map(|(key, value)| (Value::from(key), value));
        Value::from(entries.collect::<HashMap>())
    })
}

fn one_by_one(strategy: &Strategy, values: &[Value]) -> Found<Value> {
    let mut values = values.iter().cloned();
    let first = strategy.convert(values.next().unwrap_or_default());
    values.try_fold(first, |high, low| strategy.merge(high, &low, None))
}

/// Whether all at once gave anything.
fn check(strategy: &Strategy, values: &[Value]) -> bool {
    if !values.iter().all(|value| is_regular(strategy, value)) {
        return false;
    }
    let options = strategy.deep_options().unwrap();
    let Some(merged) = merge_all(strategy, &options, values) else {
        return false;
    };
    let expected = one_by_one(strategy, values).unwrap();
    // Texts show the order too.
    assert_eq!(merged.inspect(), expected.inspect(), "{values:?}");
    assert_eq!(merged, expected);
    true
}

fn strategies() -> Vec<Strategy> {
    let deep = |options: &[(&str, Value)]| {
        let entries = options.iter().cloned();
        let entries = entries.chain([("strategy", "deep".into())]);
        Strategy::read(&Value::hash(entries)).unwrap()
    };
    let mut all: Vec<Strategy> = [StrategyKind::Hash, StrategyKind::Unique, StrategyKind::Deep]
        .into_iter()
        .map(Strategy::plain)
        .collect();
    all.push(deep(&[("knockout_prefix", "--".into())]));
    all.push(deep(&[("sort_merged_arrays", true.into())]));
    all.push(deep(&[("merge_hash_arrays", true.into())]));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]
    #[test]
    fn all_at_once_is_one_after_another(values in prop::collection::vec(value(), 2..5)) {
        for strategy in strategies() {
            check(&strategy, &values);
        }
    }

    #[test]
    fn hashes_at_once_are_hashes_one_after_another(values in prop::collection::vec(hash(value()), 2..5)) {
        for strategy in strategies() {
            check(&strategy, &values);
        }
    }
}

#[test]
fn regular_values_are_merged_at_once() {
    let hash = |number: i64| {
        let list: Value = vec![Value::from(number), 0.into()].into();
        Value::hash([("own", number.into()), ("list", list)])
    };
    let values = [hash(1), hash(2), hash(3)];
    let at_once: Vec<bool> = strategies()
        .iter()
        .map(|strategy| check(strategy, &values))
        .collect();
    assert_eq!(at_once, [true, false, true, true, false, false]);
    let lists: Vec<Value> = (0..3)
        .map(|number| Value::from(vec![Value::from(number), "x".into()]))
        .collect();
    assert!(check(&Strategy::plain(StrategyKind::Unique), &lists));
}
