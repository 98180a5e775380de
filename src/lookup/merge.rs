//! The merge strategies (`puppet/pops/merge_strategy.rb`).

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::sync::{Arc, LazyLock, OnceLock};

use indexmap::IndexSet;

use super::deep_merge::{DeepOptions, Mutation, deep_merge};
use super::error::{Cause, ErrorClass, Failure, Found, LookupError, Subject, raise};
use crate::datatype::{self, Type};
use crate::value::{HashMap, KeyHashing, StrKey, Value};

/// The documented strategies.
pub const STRATEGIES: [&str; 4] = ["first", "unique", "hash", "deep"];

/// The documented entries of a `merge` hash; those after `strategy` are options of deep merges.
pub const MERGE_OPTIONS: [&str; 4] = [
    "strategy",
    "knockout_prefix",
    "sort_merged_arrays",
    "merge_hash_arrays",
];

/// The registered strategies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StrategyKind {
    /// The first value found wins.
    First,
    /// The same, if no strategy was given.
    Default,
    /// A flat list without duplicates.
    Unique,
    /// Hashes merged by their top-level keys.
    Hash,
    /// Hashes and lists merged at every depth.
    Deep,
    /// Deep, with any option (Hiera 3's `deeper`).
    UnconstrainedDeep,
    /// Deep, with the lower level winning (Hiera 3's `deep`).
    ReverseDeep,
}

impl StrategyKind {
    /// Whether nested hashes are merged, too: such a merge may change its own sources
    /// (`deep_merge/core.rb`).
    #[must_use]
    pub fn is_deep(self) -> bool {
        matches!(
            self,
            StrategyKind::Deep | StrategyKind::UnconstrainedDeep | StrategyKind::ReverseDeep
        )
    }

    /// The name in `merge:`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StrategyKind::First => "first",
            StrategyKind::Default => "default",
            StrategyKind::Unique => "unique",
            StrategyKind::Hash => "hash",
            StrategyKind::Deep => "deep",
            StrategyKind::UnconstrainedDeep => "unconstrained_deep",
            StrategyKind::ReverseDeep => "reverse_deep",
        }
    }

    /// The strategy of that name, from all registered ones.
    #[must_use]
    pub fn from_name(name: &str) -> Option<StrategyKind> {
        [
            StrategyKind::First,
            StrategyKind::Default,
            StrategyKind::Unique,
            StrategyKind::Hash,
            StrategyKind::Deep,
            StrategyKind::UnconstrainedDeep,
            StrategyKind::ReverseDeep,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }

    /// The Puppet type of the options (`options_t`).
    fn options_type(self) -> &'static Type {
        const TEXTS: [&str; 6] = [
            "Struct[{strategy=>Optional[Pattern[/first/]]}]",
            "Struct[{strategy=>Optional[Pattern[/default/]]}]",
            "Struct[{strategy=>Optional[Pattern[/unique/]]}]",
            "Struct[{strategy=>Optional[Pattern[/hash/]]}]",
            "Struct[{strategy=>Optional[Pattern[/deep/]],\
             knockout_prefix=>Optional[String],merge_debug=>Optional[Boolean],\
             merge_hash_arrays=>Optional[Boolean],sort_merged_arrays=>Optional[Boolean]}]",
            "Hash[String[1],Any]",
        ];
        // Most runs need one or two of them.
        static TYPES: [OnceLock<Type>; TEXTS.len()] = [const { OnceLock::new() }; TEXTS.len()];
        let at = match self {
            StrategyKind::First => 0,
            StrategyKind::Default => 1,
            StrategyKind::Unique => 2,
            StrategyKind::Hash => 3,
            StrategyKind::Deep => 4,
            StrategyKind::UnconstrainedDeep | StrategyKind::ReverseDeep => 5,
        };
        TYPES[at].get_or_init(|| datatype::parse_known(TEXTS[at]))
    }
}

/// A strategy with its options.
#[derive(Clone, PartialEq, Debug)]
pub struct Strategy {
    /// The kind of strategy.
    pub kind: StrategyKind,
    /// The options as given, including `strategy`; empty if only a name was given.
    pub options: Arc<HashMap>,
}

impl Strategy {
    /// A strategy without options.
    #[must_use]
    pub fn plain(kind: StrategyKind) -> Strategy {
        Strategy {
            kind,
            options: no_options(),
        }
    }

    /// Why Puppet refuses a `merge` option, if it does.
    #[must_use]
    pub fn refusal(merge: &Value) -> Option<LookupError> {
        match Strategy::read(merge) {
            Err(Failure::Error(error)) => Some(*error),
            Ok(_) | Err(Failure::NotFound) => None,
        }
    }

    /// `MergeStrategy.strategy`: reads a `merge` argument or lookup option.
    pub(super) fn read(merge: &Value) -> Found<Strategy> {
        if merge.is_falsey() {
            return Ok(Strategy::plain(StrategyKind::Default));
        }
        let (name, options) = match merge {
            Value::Hash(hash) => match hash.get(&StrKey("strategy")) {
                None | Some(Value::Undef) => {
                    return raise(ErrorClass::Argument, Cause::NoStrategy);
                }
                Some(name) if hash.len() == 1 => (name, no_options()),
                Some(name) => (name, hash.clone()),
            },
            name => (name, no_options()),
        };
        let kind = match name {
            Value::String(name) | Value::Symbol(name) => StrategyKind::from_name(name),
            _ => None,
        };
        let Some(kind) = kind else {
            let cause = Cause::UnknownStrategy(name.to_s());
            return raise(ErrorClass::Argument, cause);
        };
        // Without options Ruby finds the constant INSTANCE of the superclass: plain deep.
        let kind = match kind {
            StrategyKind::UnconstrainedDeep if options.is_empty() => StrategyKind::Deep,
            kind => kind,
        };
        if !options.is_empty() {
            let value = Value::Hash(options.clone());
            if !value.has_opaque() {
                datatype::check(kind.options_type(), &value).map_err(|mismatches| {
                    let cause = Cause::MergeOptions(Box::new(mismatches));
                    LookupError::new(ErrorClass::TypeAssertion, cause)
                })?;
            }
        }
        Ok(Strategy { kind, options })
    }

    /// Whether the first value found ends the search.
    #[must_use]
    pub fn is_first_found(&self) -> bool {
        matches!(self.kind, StrategyKind::First | StrategyKind::Default)
    }

    /// The options without the strategy's name, if any remain.
    pub(super) fn options_without_strategy(&self) -> Option<Value> {
        let mut options = HashMap::clone(&self.options);
        options.shift_remove(&StrKey("strategy"));
        (!options.is_empty()).then(|| Value::from(options))
    }

    /// `merge_single`: the result if there is only one value.
    pub(super) fn single(&self, value: Value) -> Value {
        match (self.kind, &value) {
            (StrategyKind::Unique, Value::Array(elements)) => unique(elements.iter()),
            _ => value,
        }
    }

    /// `convert_value`: the result of converting the first value found.
    pub(super) fn convert(&self, value: Value) -> Value {
        match (self.kind, &value) {
            (StrategyKind::Unique, Value::Array(elements)) => {
                let mut flat = Vec::new();
                flatten(elements, &mut flat);
                Value::from(flat)
            }
            (StrategyKind::Unique, _) => Value::array([value]),
            _ => value,
        }
    }

    /// Merges `high`, of the higher priority, with `low`. Source arrays that Ruby changes are
    /// reported to `mutated`.
    pub(super) fn merge(
        &self,
        high: Value,
        low: &Value,
        mutated: Option<&mut Vec<Mutation>>,
    ) -> Found<Value> {
        match self.kind {
            StrategyKind::First | StrategyKind::Default => Ok(high),
            StrategyKind::Hash => {
                self.assert_sides(&HASH_OF_DATA, &high, low)?;
                let (Value::Hash(high), Value::Hash(low)) = (&high, low) else {
                    return Ok(high);
                };
                let mut merged = HashMap::clone(low);
                merged.extend(high.iter().map(|(key, value)| (key.clone(), value.clone())));
                Ok(Value::from(merged))
            }
            StrategyKind::Unique => {
                self.assert_sides(&SCALAR_OR_ARRAY, &high, low)?;
                let (Value::Array(high), Value::Array(low)) =
                    (self.convert(high), self.convert(low.clone()))
                else {
                    return Ok(Value::Undef);
                };
                Ok(unique(high.iter().chain(low.iter())))
            }
            StrategyKind::Deep | StrategyKind::UnconstrainedDeep => deep_merge(
                &high,
                low.clone(),
                &DeepOptions::read(&self.options)?,
                mutated,
            ),
            StrategyKind::ReverseDeep => {
                deep_merge(low, high, &DeepOptions::read(&self.options)?, mutated)
            }
        }
    }

    fn assert_sides(&self, expected: &Type, high: &Value, low: &Value) -> Found<()> {
        assert_type(Subject::FirstOfMerge, expected, high)?;
        assert_type(Subject::SecondOfMerge, expected, low)
    }
}

/// The shared options of strategies given by name only.
fn no_options() -> Arc<HashMap> {
    static NONE: OnceLock<Arc<HashMap>> = OnceLock::new();
    NONE.get_or_init(Arc::default).clone()
}

static HASH_OF_DATA: LazyLock<Type> = LazyLock::new(|| datatype::parse_known("Hash[String,Data]"));

static SCALAR_OR_ARRAY: LazyLock<Type> =
    LazyLock::new(|| datatype::parse_known("Variant[Scalar,Array[Data]]"));

/// Whether a merge of hashes takes a value.
pub(super) fn is_hash_of_data(value: &Value) -> bool {
    assert_type(Subject::FirstOfMerge, &HASH_OF_DATA, value).is_ok()
}

/// `TypeAsserter.assert_instance_of`
pub(super) fn assert_type(subject: Subject, expected: &Type, value: &Value) -> Found<()> {
    if value.has_opaque() {
        return Ok(());
    }
    datatype::check(expected, value).map_err(|mismatches| {
        let cause = Cause::WrongType {
            subject,
            mismatches: Box::new(mismatches),
        };
        LookupError::new(ErrorClass::TypeAssertion, cause).into()
    })
}

/// `Array#uniq`: keeps the first of equal elements.
fn unique<'a>(elements: impl Iterator<Item = &'a Value>) -> Value {
    let set: IndexSet<&Value, KeyHashing> = elements.collect();
    Value::array(set.into_iter().cloned())
}

fn flatten(elements: &[Value], flat: &mut Vec<Value>) {
    for element in elements {
        match element {
            Value::Array(inner) => flatten(inner, flat),
            other => flat.push(other.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(kind: StrategyKind, high: Value, low: Value) -> Found<Value> {
        Strategy::plain(kind).merge(high, &low, None)
    }

    #[test]
    fn hash_puts_lower_keys_first_and_higher_values_win() {
        let high = Value::hash([("a", 1.into()), ("c", 3.into())]);
        let low = Value::hash([("b", 2.into()), ("a", 0.into())]);
        let merged = merge(StrategyKind::Hash, high, low).unwrap();
        assert_eq!(merged.inspect(), r#"{"b"=>2, "a"=>1, "c"=>3}"#);
    }

    #[test]
    fn unique_puts_higher_elements_first() {
        let merged = merge(
            StrategyKind::Unique,
            Value::array([1.into(), "x".into()]),
            Value::array([Value::array([2.into()]), 1.into(), Value::Float(1.0)]),
        );
        assert_eq!(merged.unwrap().inspect(), r#"[1, "x", 2, 1.0]"#);
    }

    #[test]
    fn sides_of_the_wrong_type_are_errors() {
        let Err(super::super::error::Failure::Error(error)) = merge(
            StrategyKind::Hash,
            Value::hash([]),
            Value::array([1.into()]),
        ) else {
            panic!("a list is no hash");
        };
        assert_eq!(
            error.to_string(),
            "The second element of the merge has wrong type, expects a Hash value, got Tuple"
        );
    }
}
