//! Finds the known nodes that certainly include a class, and the wrong defaults that they get.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Broken, Inclusions, LackingCache, MAX_NODES, WrongDefaultValue};
use crate::analysis::Analysis;
use crate::analysis::evaluation_order::EvaluationOrder;
use crate::analysis::members::Members;
use crate::scope::KnownNodes;
use crate::workspace::Root;

/// The known nodes that certainly include classes.
#[derive(Clone, Debug, Default)]
pub struct CertainInclusions {
    classes: HashMap<Arc<str>, Members>,
    wrong_defaults: Vec<WrongDefaultValue>,
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
}

impl<'a> Analysis<'a> {
    /// The known nodes of an environment that certainly include classes; none if some manifest is unknown. O(distinct
    /// nodes × classes).
    #[must_use]
    pub fn certain_inclusions(
        self,
        environment: &'a Root,
        (known, kept): (&KnownNodes, &LackingCache),
        order: &EvaluationOrder,
    ) -> CertainInclusions {
        let Some(tops) = self.whole_site(environment) else {
            return CertainInclusions::default();
        };
        let view = self.at(environment);
        if view.has_outside("key") {
            return CertainInclusions::default();
        }
        let first = known.first(MAX_NODES);
        let known = first.as_ref().unwrap_or(known);
        let none_broken = Broken::of(std::iter::empty());
        let mut inclusions = Inclusions::new(&view, known, order, none_broken);
        inclusions.resume(kept);
        inclusions.start(&tops);
        inclusions.follow();
        let wrong_defaults = inclusions.wrong_defaults();
        inclusions.leave(kept);
        let classes = inclusions.classes.into_iter();
        CertainInclusions {
            classes: classes.map(|(name, it)| (name, it.seen)).collect(),
            wrong_defaults,
        }
    }
}
