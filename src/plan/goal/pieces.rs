//! The share of a level in a merged value: missing parts, and knock-outs of unwanted elements.

use std::sync::Arc;

use crate::analysis::merge_kind;
use crate::lookup::{OptionsEntry, StrategyKind};
use crate::value::{HashMap, Value};

/// The proposed knock-out prefix, if none is set.
const PREFIX: &str = "--";

/// How values of levels are merged.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Merging {
    kind: StrategyKind,
    prefix: Option<Arc<str>>,
}

/// The elements of lists to knock out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gone {
    None,
    /// Unwanted elements that the level does not set itself.
    OfOthers,
    /// All unwanted elements, since lower levels may set them too.
    All,
}

/// A proposed merge.
pub(super) struct NewMerge {
    /// The new value of `merge`.
    pub(super) value: Value,
    /// The effect on values.
    pub(super) merging: Merging,
    /// Words to append to the edit's title.
    pub(super) words: String,
}

impl Merging {
    /// The merge of a key; `None` if its options do not merge it.
    pub(super) fn of(entry: &OptionsEntry) -> Option<Merging> {
        let kind = merge_kind(entry)?;
        let prefix = entry.value.get("merge")?.get("knockout_prefix");
        let is_merged = !matches!(kind, StrategyKind::First | StrategyKind::Default);
        is_merged.then(|| Merging {
            kind,
            prefix: prefix.and_then(Value::as_str).map(Arc::from),
        })
    }

    /// Whether elements of lists can be knocked out.
    pub(super) fn knocks_out(&self) -> bool {
        self.knock_out_prefix().is_some()
    }

    /// The knock-out prefix; only deep merges have one.
    fn knock_out_prefix(&self) -> Option<&str> {
        self.prefix.as_deref().filter(|_| self.kind.is_deep())
    }

    fn merges_lists(&self) -> bool {
        self.kind.is_deep() || self.kind == StrategyKind::Unique
    }

    /// Other merges that take less from other levels, the smallest change first.
    pub(super) fn others(&self, entry: &OptionsEntry) -> Vec<NewMerge> {
        let mut found = Vec::new();
        let old = entry.value.get("merge");
        let is_plain = matches!(self.kind, StrategyKind::Unique | StrategyKind::Deep);
        if is_plain && self.prefix.is_none() {
            let old = old.and_then(Value::as_hash).cloned();
            let mut merge = old.unwrap_or_default();
            merge.insert(Value::from("strategy"), Value::from("deep"));
            merge.insert(Value::from("knockout_prefix"), Value::from(PREFIX));
            found.push(NewMerge {
                value: Value::from(merge),
                merging: Merging {
                    kind: StrategyKind::Deep,
                    prefix: Some(Arc::from(PREFIX)),
                },
                words: format!(", merged by 'deep' with the knockout_prefix '{PREFIX}'"),
            });
        }
        if self.kind.is_deep() {
            found.push(NewMerge {
                value: Value::from("hash"),
                merging: Merging {
                    kind: StrategyKind::Hash,
                    prefix: None,
                },
                words: ", merged by 'hash'".to_owned(),
            });
        }
        found
    }

    /// The new value of a level, so that the merged value changes from `now` to `wanted`; `None` if
    /// only the whole value would do.
    pub(super) fn piece(
        &self,
        own: Option<&Value>,
        now: &Value,
        wanted: &Value,
        gone: Gone,
    ) -> Option<Value> {
        match (wanted, now) {
            (Value::Array(wanted), Value::Array(now)) if self.merges_lists() => {
                let own = own.and_then(Value::as_array).unwrap_or_default();
                Some(self.elements(own, now, wanted, gone))
            }
            (Value::Hash(wanted), Value::Hash(now)) => {
                let own = own.and_then(Value::as_hash);
                Some(self.entries(own, now, wanted, gone))
            }
            (_, _) => None,
        }
    }

    fn elements(&self, own: &[Value], now: &[Value], wanted: &[Value], gone: Gone) -> Value {
        let knocked_out = |element: &Value| {
            let name = element.as_str()?.strip_prefix(self.knock_out_prefix()?)?;
            Some(Value::from(name))
        };
        // Keep knock-outs of elements that remain unwanted.
        let stays = |element: &&Value| {
            wanted.contains(element)
                || knocked_out(element).is_some_and(|name| !wanted.contains(&name))
        };
        let mut piece: Vec<Value> = own.iter().filter(stays).cloned().collect();
        for element in wanted {
            if !now.contains(element) && !piece.contains(element) {
                piece.push(element.clone());
            }
        }
        if let Some(prefix) = self.knock_out_prefix() {
            let unwanted = now.iter().filter(|element| !wanted.contains(element));
            let unwanted = unwanted.filter(|element| match gone {
                Gone::None => false,
                Gone::OfOthers => !own.contains(element),
                Gone::All => true,
            });
            for text in unwanted.filter_map(Value::as_str) {
                piece.push(Value::from(format!("{prefix}{text}")));
            }
        }
        Value::from(piece)
    }

    fn entries(&self, own: Option<&HashMap>, now: &HashMap, wanted: &HashMap, gone: Gone) -> Value {
        let mut piece = HashMap::default();
        // Entries of the level keep their order.
        let first = own.into_iter().flat_map(HashMap::keys);
        let first = first.filter_map(|key| Some((key, wanted.get(key)?)));
        let own = |key: &Value| own.and_then(|own| own.get(key));
        for (key, value) in first.chain(wanted.iter()) {
            let given = match now.get(key) {
                Some(old) if old == value => own(key).cloned(),
                Some(old) if self.kind.is_deep() => {
                    let inner = self.piece(own(key), old, value, gone);
                    Some(inner.unwrap_or_else(|| value.clone()))
                }
                Some(_) | None => Some(value.clone()),
            };
            if let Some(given) = given {
                piece.insert(key.clone(), given);
            }
        }
        Value::from(piece)
    }
}
