//! Keys that code names where Puppet's own functions do not look them up directly: for other functions, and in texts that
//! may be evaluated as code.

use std::sync::Arc;

use super::CodeExtraction;
use crate::syntax::puppet::{Expression, ExpressionKind, is_qualified};
use crate::text::TextRange;
use crate::workspace::code::{LookupFact, LookupFunction, LookupKey};
use crate::workspace::erb;

impl CodeExtraction<'_> {
    /// `call('lookup', 'key')`, `Deferred('lookup', ['key'])`
    pub(super) fn call_by_text(&mut self, node: &Expression, arguments: &[&Expression]) {
        let function = arguments.first().and_then(|name| name.literal());
        let looks_up =
            function.is_some_and(|name| name.contains("lookup") || name.contains("hiera"));
        let key = arguments.get(1).copied().and_then(|key| match &key.kind {
            ExpressionKind::List(elements) => elements.first(),
            _ => Some(key),
        });
        if looks_up {
            self.looked_up_otherwise(node, key);
        }
    }

    /// Records a key that a function looks up in a way that is not known.
    pub(super) fn looked_up_otherwise(&mut self, call: &Expression, key: Option<&Expression>) {
        if let Some(node) = key
            && let Some(key) = node.literal()
            // A function of another purpose may have such a name: `dns_lookup('host')`.
            && is_qualified(key)
        {
            let fact = self.other_lookup(key, node.range, call.range);
            self.lookups.push(fact);
        }
    }

    /// Records the keys of calls in a literal text: a template in a manifest, a text that is interpolated.
    pub(super) fn calls_in_text(&mut self, node: &Expression) {
        for (place, key) in erb::keys_in_text(self.text, node.range) {
            let fact = self.other_lookup(key, place, node.range);
            self.lookups.push(fact);
        }
    }

    fn other_lookup(&self, key: &str, place: TextRange, call: TextRange) -> LookupFact {
        LookupFact {
            function: LookupFunction::Other,
            key: LookupKey::Literal(Arc::from(key)),
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
