//! A top-level key in one scope: the answer of its lookup, what gave it, and what could change it.
//! What each level says about the key is a [`Survey`](super::Survey), which costs more.

use std::sync::Arc;

use super::Analysis;
use super::condition::has_option_for;
use super::scope_view::{ScopeView, layers_of};
use super::source::{LevelValue, kind_of, merged_by, quoted, request, sources, strategy};
use crate::lookup::{
    Answer, OptionsEntry, Place, Request, Strategy, StrategyKind, Unknown, UnknownCause,
};
use crate::value::Value;

/// A top-level key in one scope.
pub struct KeyAnswer {
    /// The key.
    pub key: Arc<str>,
    /// The answer of the lookup, with its trace.
    pub answer: Answer,
    /// The sources that gave values, the highest first.
    pub sources: Vec<LevelValue>,
    /// The entry of `lookup_options` that applies to the key.
    pub options: Option<OptionsEntry>,
    /// How sources are merged.
    pub strategy: Strategy,
    /// The merge in the request itself; it overrides the options.
    pub request_merge: Option<Value>,
    /// Names of levels outside of the workspace that could change the answer: those above the level
    /// that answers, or all if values are merged.
    pub outside: Vec<Arc<str>>,
}

impl ScopeView<'_> {
    /// Looks up a top-level key. Costs the lookup; where levels lie outside of the workspace O(levels) more.
    #[must_use]
    pub fn key_answer(&mut self, key: &str) -> KeyAnswer {
        let answer = self.lookup(&request(key));
        let sources = sources(&answer, &quoted(key));
        self.key_answer_from(key, answer, sources)
    }

    /// Like [`ScopeView::key_answer`], for an existing answer with its sources.
    #[must_use]
    pub fn key_answer_from(
        &mut self,
        key: &str,
        answer: Answer,
        sources: Vec<LevelValue>,
    ) -> KeyAnswer {
        let strategy = strategy(&answer, key);
        KeyAnswer {
            key: Arc::from(key),
            options: answer.options.as_ref().and_then(|all| all.entry(key)),
            outside: self.outside(key, &strategy, &sources),
            answer,
            sources,
            strategy,
            request_merge: None,
        }
    }

    /// The levels outside of the workspace that could change an answer.
    fn outside(&mut self, key: &str, strategy: &Strategy, sources: &[LevelValue]) -> Vec<Arc<str>> {
        let layers = layers_of(key);
        if !layers.iter().any(|layer| self.has_outside(layer)) {
            return Vec::new();
        }
        let mut order = DecidingOrder::new(strategy, sources);
        let mut found = Vec::new();
        for layer in &layers {
            let places = self.places(layer);
            for place in places.iter().filter_map(|place| place.for_key(key)) {
                let may_decide = order.may_decide(&place);
                let is_new = !found.contains(&place.level);
                if may_decide && is_new && self.view.analysis.is_outside(&place.template) {
                    found.push(place.level.clone());
                }
            }
        }
        found
    }
}

/// The places of a key from the highest to the lowest: those behind the one that answers decide
/// nothing.
pub(super) struct DecidingOrder<'a> {
    strategy: &'a Strategy,
    sources: &'a [LevelValue],
    is_answered: bool,
}

impl<'a> DecidingOrder<'a> {
    pub(super) fn new(strategy: &'a Strategy, sources: &'a [LevelValue]) -> DecidingOrder<'a> {
        DecidingOrder {
            strategy,
            sources,
            is_answered: false,
        }
    }

    /// Whether another value at the next place would change the answer.
    pub(super) fn may_decide(&mut self, place: &Place) -> bool {
        let gives = |source: &LevelValue| match &source.path {
            Some(path) => place.template.matches(path),
            None => place.level == source.level,
        };
        if self.strategy.is_first_found() && !self.is_answered {
            self.is_answered = self.sources.iter().any(gives);
        }
        !self.is_answered && !place.in_default_hierarchy
    }
}

impl KeyAnswer {
    /// The same for a request that may contain a merge.
    pub(super) fn asked_by(mut self, request: &Request) -> KeyAnswer {
        let kind = request.merge.as_ref().and_then(kind_of);
        if let (Some(kind), None) = (kind, merged_by(&self.answer, &quoted(&self.key))) {
            self.strategy = Strategy::plain(kind);
        }
        self.request_merge.clone_from(&request.merge);
        self
    }

    /// The unknown sources that could change a part of the answer: possible files that set the
    /// part, or that replace what contains it.
    #[must_use]
    pub fn unknowns(&self, analysis: &Analysis<'_>, steps: &[Value]) -> Vec<Unknown> {
        let depth = match self.strategy.kind {
            StrategyKind::First | StrategyKind::Default | StrategyKind::Unique => 0,
            StrategyKind::Hash => steps.len().min(1),
            StrategyKind::Deep | StrategyKind::UnconstrainedDeep | StrategyKind::ReverseDeep => {
                steps.len()
            }
        };
        let mut found: Vec<Unknown> = Vec::new();
        for unknown in &self.answer.unknown {
            let mut unknown = unknown.clone();
            // What lies outside is known besides.
            if matches!(unknown.cause, UnknownCause::Absent { .. }) {
                continue;
            }
            if let UnknownCause::Path(possible) = &mut unknown.cause {
                if possible.is_of_options() {
                    let decides = |path: &Arc<str>| has_option_for(analysis, path, &self.key);
                    possible.files = possible.files.filtered(decides);
                } else if depth > 0 && *possible.key == *self.key {
                    let (files, key) = (&possible.files, &*self.key);
                    let files = analysis
                        .snapshot
                        .without_those_lacking(files, key, &steps[0]);
                    let sets = |path: &Arc<str>| analysis.may_set(path, key, &steps[..depth]);
                    possible.files = files.filtered(sets);
                }
                if possible.files.is_empty() {
                    continue;
                }
            }
            // A function is called for options and for the key; it is listed once.
            let is_same = |known: &&mut Unknown| {
                known.layer == unknown.layer
                    && known.index == unknown.index
                    && matches!((&known.cause, &unknown.cause),
                        (UnknownCause::Function { name, .. }, UnknownCause::Function { name: other, .. })
                            if name == other)
            };
            match found.iter_mut().find(is_same) {
                Some(known) if known.for_options => *known = unknown,
                Some(_) => {}
                None => found.push(unknown),
            }
        }
        found
    }

    /// Whether nothing could change the answer: no unknown part and no level outside of the
    /// workspace.
    #[must_use]
    pub fn is_sure(&self, analysis: &Analysis<'_>) -> bool {
        self.unknowns(analysis, &[]).is_empty() && self.outside.is_empty()
    }
}
