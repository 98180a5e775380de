//! What a level has to give of a merged value so that all levels together give the wanted one: what is
//! missing, and knock-outs of what is there and is not wanted.

use std::sync::Arc;

use crate::analysis::merge_kind;
use crate::lookup::{OptionsEntry, StrategyKind};
use crate::value::{HashMap, Value};

/// The knock-out prefix that is proposed where none is in force.
const PREFIX: &str = "--";

/// How the values of levels make one.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Merging {
    kind: StrategyKind,
    prefix: Option<Arc<str>>,
}

/// Which elements of lists are knocked out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gone {
    /// None.
    None,
    /// Those that are not wanted and that the level does not give itself.
    OfOthers,
    /// All that are not wanted: lower levels may give what the level gives.
    All,
}

/// A merge that is to count from some level on.
pub(super) struct NewMerge {
    /// What `merge` is set to.
    pub(super) value: Value,
    /// How levels are merged then.
    pub(super) merging: Merging,
    /// What is done, to be put behind what is set.
    pub(super) words: String,
}

impl Merging {
    /// How a key is merged by its options; nothing where it is not.
    pub(super) fn of(entry: &OptionsEntry) -> Option<Merging> {
        let kind = merge_kind(entry)?;
        let prefix = entry.value.get("merge")?.get("knockout_prefix");
        let is_merged = !matches!(kind, StrategyKind::First | StrategyKind::Default);
        is_merged.then(|| Merging {
            kind,
            prefix: prefix.and_then(Value::as_str).map(Arc::from),
        })
    }

    /// Whether elements of lists can be removed.
    pub(super) fn knocks_out(&self) -> bool {
        self.knock_out_prefix().is_some()
    }

    /// The prefix by which elements of lists are removed: only deep merges have one.
    fn knock_out_prefix(&self) -> Option<&str> {
        self.prefix.as_deref().filter(|_| self.kind.is_deep())
    }

    fn merges_lists(&self) -> bool {
        self.kind.is_deep() || self.kind == StrategyKind::Unique
    }

    /// Other ways to merge by which less is taken over from other levels, the gentlest first.
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

    /// What a level has to give, beside what it gives now, so that instead of one value another one is
    /// made; nothing where only the whole value would do.
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
        // Knock-outs of what is still not wanted stay.
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
        // What the level has stays in its order.
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
