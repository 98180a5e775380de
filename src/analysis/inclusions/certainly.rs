//! Finds the known nodes that certainly include a class, and what these certainly get: parameters without a value, and
//! wrong defaults.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Broken, Inclusions, LackingCache, MAX_NODES, MissingValue, WrongDefaultValue};
use crate::analysis::Analysis;
use crate::analysis::evaluation_order::EvaluationOrder;
use crate::analysis::members::Members;
use crate::scope::KnownNodes;
use crate::workspace::Root;

/// The classes that nodes certainly include, and what is wrong with them.
#[derive(Clone, Debug, Default)]
pub struct CertainInclusions {
    /// The known nodes with a class, by its name; empty if some manifest is unknown.
    classes: HashMap<Arc<str>, Members>,
    wrong_defaults: Vec<WrongDefaultValue>,
    missing: Arc<[MissingValue]>,
}

impl CertainInclusions {
    /// Whether a known node certainly includes a class, unless its catalog fails before.
    #[must_use]
    pub fn has(&self, class: &str, node: usize) -> bool {
        let members = self.classes.get(class);
        members.is_some_and(|members| members.contains(node))
    }

    /// The defaults that nodes certainly get, and that Puppet refuses.
    #[must_use]
    pub fn wrong_defaults(&self) -> &[WrongDefaultValue] {
        &self.wrong_defaults
    }

    /// The values that the classes certainly lack.
    #[must_use]
    pub fn missing_values(&self) -> &Arc<[MissingValue]> {
        &self.missing
    }
}

impl<'a> Analysis<'a> {
    /// The classes that the nodes of an environment certainly include through statements in its manifests, evaluated in
    /// the order `order`. What a broken manifest names is left out. O(distinct nodes × classes).
    #[must_use]
    pub fn certain_inclusions(
        self,
        environment: &'a Root,
        (known, kept): (&KnownNodes, &LackingCache),
        order: &EvaluationOrder,
    ) -> CertainInclusions {
        let tops = self.site_bodies(environment).into_iter();
        let (broken, tops): (Vec<_>, Vec<_>) = tops.partition(|top| top.code.is_broken);
        let broken = Broken::of(broken.iter().map(|top| &**top.file));
        let mut codes = tops.iter().map(|top| top.code);
        let does_something =
            codes.any(|code| !code.includes.is_empty() || !code.lookups.is_empty());
        let view = self.at(environment);
        // Keys without a module use the same levels as the classes of the site.
        if !does_something || broken.may_declare_any() || view.has_outside("key") {
            return CertainInclusions::default();
        }
        let is_whole = self.whole_site(environment).is_some();
        let first = known.first(MAX_NODES);
        let known = first.as_ref().unwrap_or(known);
        let mut inclusions = Inclusions::new(&view, known, order, broken);
        inclusions.resume(kept);
        inclusions.start(&tops);
        inclusions.follow();
        let missing = inclusions.missing_values().into();
        let wrong_defaults = is_whole.then(|| inclusions.wrong_defaults());
        inclusions.forget_other_files();
        inclusions.leave(kept);
        let classes = inclusions.classes.into_iter().filter(|_| is_whole);
        CertainInclusions {
            classes: classes.map(|(name, it)| (name, it.seen)).collect(),
            wrong_defaults: wrong_defaults.unwrap_or_default(),
            missing,
        }
    }
}
