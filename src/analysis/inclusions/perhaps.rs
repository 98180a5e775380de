//! Finds the known nodes that may include a class under any condition, from manifests and from
//! lists in data.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Broken, Inclusions, LackingCache, MAX_NODES, viewpoint};
use crate::analysis::bodies::CodeBody;
use crate::analysis::evaluation_order::EvaluationOrder;
use crate::analysis::members::Members;
use crate::analysis::{Analysis, Defined};
use crate::hierarchy::Layer;
use crate::scope::KnownNodes;
use crate::workspace::{
    DefinitionKind, File, IncludeFact, IncludeKind, LookupFact, LookupKey, Means, Root, Within,
};

/// The known nodes that may include classes.
#[derive(Clone, Debug, Default)]
pub struct PossibleInclusions {
    /// Nodes for which something names a class, by class name.
    named: HashMap<Arc<str>, Members>,
    /// Nodes for which something may include any class.
    any: Members,
}

/// Visits everything that may be evaluated.
struct PossibleWalk<'w, 'v, 'a> {
    inclusions: &'w Inclusions<'v, 'a>,
    environment: &'a Root,
    found: PossibleInclusions,
    /// The members that reached the bodies of definitions, by file.
    seen: HashMap<(Arc<str>, Within), Members>,
    open: Vec<(CodeBody<'a>, Members)>,
}

impl PossibleInclusions {
    /// Whether a known node may include a class. If neither code nor data names the class,
    /// something else includes it, and any node may have it.
    #[must_use]
    pub fn may_have(&self, class: &str, node: usize) -> bool {
        let named = self.named.get(class);
        node >= MAX_NODES
            || named.is_none_or(|named| named.contains(node) || self.any.contains(node))
    }
}

impl<'a> Analysis<'a> {
    /// The known nodes of an environment that may include classes. Classes of missing modules are assumed not to
    /// include those that exist. O(distinct nodes × classes).
    #[must_use]
    pub fn possible_inclusions(
        self,
        environment: &'a Root,
        (known, kept): (&KnownNodes, &LackingCache),
        order: &EvaluationOrder,
    ) -> PossibleInclusions {
        let Some(tops) = self.whole_site(environment) else {
            return PossibleInclusions::default();
        };
        let view = self.at(environment);
        let none_broken = Broken::of(std::iter::empty());
        let first = known.first(MAX_NODES);
        let known = first.as_ref().unwrap_or(known);
        let mut inclusions = Inclusions::new(&view, known, order, none_broken);
        inclusions.resume(kept);
        let mut walk = PossibleWalk {
            inclusions: &inclusions,
            environment,
            found: PossibleInclusions::default(),
            seen: HashMap::new(),
            open: Vec::new(),
        };
        walk.start(&tops);
        while let Some((body, members)) = walk.open.pop() {
            walk.body(body, &members);
        }
        let found = walk.found;
        inclusions.leave(kept);
        found
    }
}

impl<'a> PossibleWalk<'_, '_, 'a> {
    fn start(&mut self, tops: &[CodeBody<'a>]) {
        let everyone: Members = (0..self.inclusions.known.len()).collect();
        self.open
            .extend(tops.iter().map(|top| (*top, everyone.clone())));
        let blocks = tops.iter().flat_map(|top| top.blocks());
        let (blocks, all): (Vec<CodeBody<'a>>, Vec<_>) = blocks.unzip();
        let mut own = vec![Members::default(); blocks.len()];
        for member in everyone.iter() {
            match self.inclusions.own_block(member, &all) {
                Some(Some(block)) => own[block].insert(member),
                Some(None) => {}
                None => self.found.any.insert(member),
            }
        }
        self.open.extend(blocks.into_iter().zip(own));
        // Where resources are declared is unknown.
        for file in self.inclusions.analysis().snapshot.files() {
            for class in named_by_types(file) {
                self.class(class, &everyone);
            }
        }
    }

    fn body(&mut self, body: CodeBody<'a>, members: &Members) {
        let analysis = self.inclusions.analysis();
        for include in body.includes() {
            let members = &self.inclusions.reaching(body, include.place, members);
            if let Some(class) = include.known_class() {
                self.class(class, members);
                continue;
            }
            let mut rest = members.clone();
            match &include.means {
                Some(Means::Parts(parts)) => {
                    for (class, named) in self.inclusions.named(parts, members, viewpoint(body)) {
                        rest = rest.without(&named);
                        self.class(&class, &named);
                    }
                }
                // The classes it names are visited at the lookup.
                Some(Means::List(call)) => {
                    if body.lookups().any(|lookup| lookup.call == *call) {
                        continue;
                    }
                }
                Some(Means::Class(_) | Means::Parameter(_) | Means::Beginning(_)) | None => {}
            }
            if !analysis.is_idle(self.environment, body, include) {
                self.found.any.add(&rest);
            }
        }
        for lookup in body.lookups() {
            let members = self.inclusions.reaching(body, lookup.call, members);
            self.list(body, lookup, &members);
        }
        for call in body.calls() {
            self.call(&call.function, members);
        }
    }

    /// Adds the classes that a list in data may name.
    fn list(&mut self, body: CodeBody<'a>, lookup: &LookupFact, members: &Members) {
        if !body.includes_list(lookup) {
            return;
        }
        let LookupKey::Literal(key) = &lookup.key else {
            return self.found.any.add(members);
        };
        let top = key.split('.').next().unwrap_or(key);
        let analysis = self.inclusions.analysis();
        for file in analysis.snapshot.iter_files_with(top) {
            let readers = if self.inclusions.reaches(file.path()).is_empty() {
                members.clone()
            } else {
                let mut found = Members::default();
                for layer in [Layer::Global, Layer::Environment] {
                    found.add(&self.inclusions.possible_readers(&layer, file.path()));
                }
                found.among(members)
            };
            for (class, _) in self.inclusions.elements(file, top).iter() {
                if class.contains("%{") {
                    self.found.any.add(&readers)
                } else {
                    self.class(class, &readers)
                }
            }
        }
        let mut defaults = body.default_classes(lookup.call).peekable();
        let is_computed = |default| defaults.peek().is_none() && !body.is_empty_value(default);
        if lookup.default.is_some_and(is_computed) || **key != *top {
            self.found.any.add(members);
        }
        defaults.for_each(|default| self.class(&default.class, members));
    }

    fn class(&mut self, class: &Arc<str>, members: &Members) {
        if members.is_empty() {
            // That something names the class counts for all nodes.
            self.found.named.entry(Arc::clone(class)).or_default();
            return;
        }
        let named = self.found.named.entry(Arc::clone(class)).or_default();
        let new = members.without(named);
        if new.is_empty() {
            return;
        }
        named.add(&new);
        let analysis = self.inclusions.analysis();
        let defined = analysis.autoloaded(self.environment, class);
        if let Some(body) = defined.and_then(Defined::body) {
            self.open_body(body, &new);
        }
    }

    /// Visits everything that a function may do.
    fn call(&mut self, function: &Arc<str>, members: &Members) {
        if members.is_empty() {
            return;
        }
        let analysis = self.inclusions.analysis();
        let mut is_known = false;
        for body in analysis.functions(function) {
            is_known = !body.code.is_broken;
            self.open_body(body, members);
        }
        if !is_known && !analysis.is_harmless_ruby(self.environment, function) {
            self.found.any.add(members);
        }
    }

    /// Schedules the body of a definition for members that have not reached it yet.
    fn open_body(&mut self, body: CodeBody<'a>, members: &Members) {
        let place = (Arc::clone(body.file.path()), body.within);
        let seen = self.seen.entry(place).or_default();
        let new = members.without(seen);
        if !new.is_empty() {
            seen.add(&new);
            self.open.push((body, new));
        }
    }
}

/// The classes that a file's defined types include by name, without those in tests.
fn named_by_types(file: &Arc<File>) -> impl Iterator<Item = &Arc<str>> {
    let is_of_tests = file.path().contains("/spec/");
    let tops = CodeBody::top(file).filter(|_| !is_of_tests).into_iter();
    tops.flat_map(|top| {
        let is_of_type = move |include: &&IncludeFact| {
            let within = include.within;
            let definition = CodeBody { within, ..top }.definition();
            include.kind != IncludeKind::Reference
                && definition.is_some_and(|it| it.kind == DefinitionKind::DefinedType)
        };
        let includes = top.code.includes.iter().filter(is_of_type);
        includes.filter_map(IncludeFact::known_class)
    })
}
