//! Finds the known nodes that may include a class under any condition, from manifests and from
//! lists in data.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Body, Broken, Inclusions, code};
use crate::analysis::Analysis;
use crate::analysis::evaluation_order::EvaluationOrder;
use crate::analysis::members::Members;
use crate::analysis::site::{environment_of, manifests_of};
use crate::hierarchy::Layer;
use crate::scope::KnownNodes;
use crate::workspace::{
    CodeFacts, DefinitionKind, File, IncludeFact, IncludeKind, LookupFact, LookupFunction,
    LookupKey, Means, Root, Within,
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
struct Walk<'w, 'v, 'a> {
    inclusions: &'w Inclusions<'v, 'a>,
    environment: &'a Root,
    found: PossibleInclusions,
    /// The members that reached the bodies of definitions, by file and index.
    seen: HashMap<(Arc<str>, u32), Members>,
    open: Vec<(Body<'a>, Members)>,
}

impl PossibleInclusions {
    /// Whether a known node may include a class. If neither code nor data names the class,
    /// something else includes it, and any node may have it.
    #[must_use]
    pub fn may_have(&self, class: &str, node: usize) -> bool {
        let named = self.named.get(class);
        named.is_none_or(|named| named.contains(node) || self.any.contains(node))
    }
}

impl<'a> Analysis<'a> {
    /// The known nodes of a root's environment that may include classes. Classes of missing modules
    /// are assumed not to include those that exist. O(distinct nodes × classes).
    #[must_use]
    pub fn possible_inclusions(
        self,
        root: &'a Root,
        known: &KnownNodes,
        order: &EvaluationOrder,
    ) -> PossibleInclusions {
        let Some(environment) = environment_of(self.snapshot, root) else {
            return PossibleInclusions::default();
        };
        let site = manifests_of(self.snapshot, environment);
        let files = site.files.iter();
        let files = files.filter_map(|it| self.snapshot.file(it.path()));
        let codes = files.filter_map(|file| Some((file, code(file)?)));
        let codes: Vec<(&Arc<File>, &CodeFacts)> = codes.collect();
        if site.unseen.is_some() || codes.iter().any(|(_, code)| code.is_broken) {
            return PossibleInclusions::default();
        }
        let view = self.at(environment);
        let none_broken = Broken::of(std::iter::empty());
        let inclusions = Inclusions::new(&view, known, order, none_broken);
        let mut walk = Walk {
            inclusions: &inclusions,
            environment,
            found: PossibleInclusions::default(),
            seen: HashMap::new(),
            open: Vec::new(),
        };
        walk.start(&codes);
        while let Some((body, members)) = walk.open.pop() {
            walk.body(&body, &members);
        }
        walk.found
    }
}

impl<'a> Walk<'_, '_, 'a> {
    fn start(&mut self, codes: &[(&'a Arc<File>, &'a CodeFacts)]) {
        let everyone: Members = (0..self.inclusions.known.len()).collect();
        let body = |file, code, within| Body {
            file,
            code,
            within,
            class: None,
        };
        for &(file, code) in codes {
            self.open
                .push((body(file, code, Within::Top), everyone.clone()));
        }
        let blocks = codes.iter().flat_map(|&(file, code)| {
            let blocks = code.nodes.iter().enumerate();
            blocks.map(move |(at, block)| (body(file, code, Within::Node(at as u32)), block))
        });
        let blocks: Vec<(Body<'a>, _)> = blocks.collect();
        let all: Vec<_> = blocks.iter().map(|(_, block)| *block).collect();
        let mut own = vec![Members::default(); blocks.len()];
        for member in everyone.iter() {
            match self.inclusions.own_block(member, &all) {
                Some(Some(block)) => own[block].insert(member),
                Some(None) => {}
                None => self.found.any.insert(member),
            }
        }
        let blocks = blocks.into_iter().map(|(body, _)| body);
        self.open.extend(blocks.zip(own));
        // Where resources are declared is unknown.
        for file in self.inclusions.analysis().snapshot.files() {
            for class in named_by_types(file) {
                self.class(class, &everyone);
            }
        }
    }

    fn body(&mut self, body: &Body<'a>, members: &Members) {
        let Body { code, within, .. } = body;
        let is_here = |include: &&IncludeFact| {
            include.within == *within && include.kind != IncludeKind::Reference
        };
        for include in code.includes.iter().filter(is_here) {
            if let Some(class) = include.known_class() {
                self.class(class, members);
                continue;
            }
            let mut rest = members.clone();
            match &include.means {
                Some(Means::Parts(parts)) => {
                    for (class, named) in self.inclusions.named(parts, members, body.viewpoint()) {
                        rest = rest.without(&named);
                        self.class(&class, &named);
                    }
                }
                // The classes it names are visited at the lookup.
                Some(Means::List(call)) => {
                    let mut lookups = code.lookups.iter();
                    if lookups.any(|lookup| lookup.call == *call && lookup.within == *within) {
                        continue;
                    }
                }
                Some(Means::Class(_) | Means::Parameter(_)) | None => {}
            }
            let analysis = self.inclusions.analysis();
            if !analysis.is_idle(self.environment, body.file, code, include) {
                self.found.any.add(&rest);
            }
        }
        for lookup in code.lookups.iter().filter(|it| it.within == *within) {
            self.list(code, lookup, members);
        }
        for call in code.calls.iter().filter(|it| it.within == *within) {
            self.call(&call.function, members);
        }
    }

    /// Adds the classes that a list in data may name.
    fn list(&mut self, code: &CodeFacts, lookup: &LookupFact, members: &Members) {
        let mut includes = code.includes.iter();
        let is_included = lookup.function == LookupFunction::HieraInclude
            || includes.any(|include| include.is_of_list(lookup.call));
        if !is_included {
            return;
        }
        let LookupKey::Literal(key) = &lookup.key else {
            return self.found.any.add(members);
        };
        let top = key.split('.').next().unwrap_or(key);
        let analysis = self.inclusions.analysis();
        for file in analysis.snapshot.iter_files_with(top) {
            let readers = match self.inclusions.reaches(file.path()).is_empty() {
                true => members.clone(),
                false => {
                    let mut found = Members::default();
                    for layer in [Layer::Global, Layer::Environment] {
                        found.add(&self.inclusions.possible_readers(&layer, file.path()));
                    }
                    found.among(members)
                }
            };
            for (class, _) in analysis.elements(file, top) {
                match class.contains("%{") {
                    true => self.found.any.add(&readers),
                    false => self.class(&class, &readers),
                }
            }
        }
        let defaults = code.default_classes.iter();
        let mut defaults = defaults.filter(|it| it.call == lookup.call).peekable();
        if (lookup.default.is_some() && defaults.peek().is_none()) || **key != *top {
            self.found.any.add(members);
        }
        defaults.for_each(|default| self.class(&default.class, members));
    }

    fn class(&mut self, class: &Arc<str>, members: &Members) {
        let named = self.found.named.entry(Arc::clone(class)).or_default();
        named.add(members);
        let Some(defined) = self
            .inclusions
            .analysis()
            .autoloaded(self.environment, class)
        else {
            return;
        };
        let Some(code) = code(defined.file) else {
            return;
        };
        let mut definitions = code.definitions.iter();
        let at = definitions.position(|it| std::ptr::eq(it, defined.definition));
        if let Some(at) = at {
            let definition = (defined.file, code, at as u32);
            self.open_body(definition, Some(Arc::clone(class)), members);
        }
    }

    /// Visits everything that a function may do.
    fn call(&mut self, function: &Arc<str>, members: &Members) {
        let analysis = self.inclusions.analysis();
        let mut is_known = false;
        for (file, code, at) in analysis.functions(function) {
            is_known = !code.is_broken;
            self.open_body((file, code, at), None, members);
        }
        if !is_known && !analysis.is_harmless_ruby(self.environment, function) {
            self.found.any.add(members);
        }
    }

    /// Schedules the body of a definition for members that have not reached it yet.
    fn open_body(
        &mut self,
        (file, code, at): (&'a Arc<File>, &'a CodeFacts, u32),
        class: Option<Arc<str>>,
        members: &Members,
    ) {
        let place = (Arc::clone(file.path()), at);
        let seen = self.seen.entry(place).or_default();
        let new = members.without(seen);
        if !new.is_empty() {
            seen.add(&new);
            let body = Body {
                file,
                code,
                within: Within::Definition(at),
                class,
            };
            self.open.push((body, new));
        }
    }
}

/// The classes that a file's defined types include by name, without those in tests.
fn named_by_types(file: &File) -> impl Iterator<Item = &Arc<str>> {
    let is_of_tests = file.path().contains("/spec/");
    let codes = code(file).filter(|_| !is_of_tests).into_iter();
    codes.flat_map(|code| {
        let is_of_type = |include: &&IncludeFact| match include.within {
            Within::Definition(at) => {
                let definition = code.definitions.get(at as usize);
                include.kind != IncludeKind::Reference
                    && definition.is_some_and(|it| it.kind == DefinitionKind::DefinedType)
            }
            Within::Top | Within::Node(_) => false,
        };
        let includes = code.includes.iter().filter(is_of_type);
        includes.filter_map(IncludeFact::known_class)
    })
}
