//! Keys that code names where Puppet's own functions do not look them up directly: for other functions, and in texts that
//! may be evaluated as code.

use std::sync::Arc;

use super::{CodeExtraction, LookupCallArguments};
use crate::syntax::puppet::{Expression, ExpressionKind, is_qualified};
use crate::text::TextRange;
use crate::workspace::code::{LookupFact, LookupFunction, LookupKey};
use crate::workspace::erb;

impl CodeExtraction<'_> {
    /// `call('lookup', 'key')`, `Deferred('lookup', ['key'])`
    pub(super) fn call_by_text(&mut self, node: &Expression, arguments: &[&Expression]) {
        let function = arguments.first().and_then(|name| name.literal());
        if let (Some(function), Some(&keys)) = (function, arguments.get(1))
            && (function.contains("lookup") || function.contains("hiera"))
        {
            self.looked_up_otherwise(node, keys, true);
        }
    }

    /// `simplib::lookup('key')`
    pub(super) fn call_of_other(
        &mut self,
        node: &Expression,
        name: &str,
        arguments: &[&Expression],
    ) {
        let last = name.rsplit("::").next().unwrap_or(name);
        if let Some(&keys) = arguments.first()
            && (last.contains("lookup") || last.contains("hiera"))
        {
            let is_lookup = is_qualified(name) && (last == "lookup" || last.starts_with("hiera"));
            self.looked_up_otherwise(node, keys, is_lookup);
        }
    }

    /// Records the keys that a function looks up in a way that is not known. A function of another purpose may have such
    /// a name (`dns_lookup('host')`): what it is called with is a key only if it looks like one of a class.
    fn looked_up_otherwise(&mut self, call: &Expression, keys: &Expression, is_lookup: bool) {
        match &keys.kind {
            ExpressionKind::List(elements) => {
                for element in elements {
                    self.looked_up_otherwise(call, element, is_lookup);
                }
            }
            ExpressionKind::Hash(entries) => {
                if let Some(name) = LookupCallArguments::default().take(entries) {
                    self.looked_up_otherwise(call, name, is_lookup);
                }
            }
            _ => {
                let key = self.key(keys);
                let is_key = match &key {
                    LookupKey::Literal(key) => is_qualified(key),
                    LookupKey::Partly(_) | LookupKey::Computed => is_lookup,
                };
                if is_key {
                    let fact = self.other_lookup(key, keys.range, call.range);
                    self.lookups.push(fact);
                }
            }
        }
    }

    /// Records the keys of calls in a text: a template in a manifest, a text that is interpolated. The parts of a text with
    /// interpolations are texts of their own: of the whole only the keys with interpolations count.
    pub(super) fn calls_in_text(&mut self, node: &Expression) {
        let is_whole = matches!(node.kind, ExpressionKind::Concatenated(_));
        for (place, key) in erb::keys_in_text(self.text, node.range) {
            let key = match key.split_once("${") {
                None if is_whole => continue,
                None => LookupKey::Literal(Arc::from(key)),
                Some((first, rest)) => {
                    let behind =
                        |part: &str| part.split_once('}').map_or("", |(_, it)| it).to_owned();
                    let rest = rest.split("${").map(behind);
                    LookupKey::of_texts(std::iter::once(first.to_owned()).chain(rest).collect())
                }
            };
            let fact = self.other_lookup(key, place, node.range);
            self.lookups.push(fact);
        }
    }

    fn other_lookup(&self, key: LookupKey, place: TextRange, call: TextRange) -> LookupFact {
        LookupFact {
            function: LookupFunction::Other,
            key,
            place,
            call,
            expected: None,
            merge: None,
            may_knock_out: true,
            may_merge: true,
            default: None,
            within: self.within,
            is_conditional: true,
        }
    }
}
