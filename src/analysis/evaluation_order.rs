//! The order in which Puppet evaluates an environment's manifests: the top scope first, then the
//! node's block (`puppet/parser/compiler.rb`), each class once, where it is first included.
//!
//! A class that is evaluated from the top scope sees neither the variables of node blocks nor those
//! that the top scope sets later. A statement after a call that may declare classes might find them
//! declared already.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::Analysis;
use super::site::manifests_of;
use crate::scope::top_name;
use crate::text::TextRange;
use crate::workspace::{
    CallFact, CodeFacts, DefinitionKind, File, IncludeFact, IncludeKind, LookupFact,
    LookupFunction, LookupKey, Root, VariableFact, Within, path,
};

/// Maximum number of visited bodies; beyond it everything is considered possible.
const MOST_VISITS: usize = 200_000;

/// Maximum nesting depth of bodies.
const MOST_DEPTH: usize = 200;

/// Words that Ruby code needs to make the compiler evaluate or declare something. A function
/// without any of them can only return a value.
const WORDS_OF_RUBY: [&str; 10] = [
    "call_function",
    "function_",
    "scope",
    "compiler",
    "catalog",
    "evaluate",
    "eval",
    "send",
    "create_resources",
    "Puppet.lookup",
];

/// What is known about the order of evaluation in an environment.
#[derive(Clone, Debug, Default)]
pub struct EvaluationOrder {
    /// Classes that may be evaluated from the top scope.
    early: BTreeSet<Arc<str>>,
    /// Whether any class may be evaluated from the top scope.
    may_any_be_early: bool,
    /// The variables that such a class might not see.
    late: BTreeSet<Arc<str>>,
    /// Starts of statements that may follow a call that declares classes, with their files.
    behind_calls: HashSet<(Arc<str>, u32)>,
    is_all_behind_calls: bool,
}

/// The scope from which a variable is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Viewpoint<'c> {
    Top,
    Block,
    Class(&'c str),
}

impl EvaluationOrder {
    /// Whether a class may be evaluated where it does not see one of the nodes' variables.
    #[must_use]
    pub fn may_miss(&self, class: &str, variable: &str) -> bool {
        self.may_miss_from(Viewpoint::Class(class), variable)
    }

    /// Whether one of the nodes' variables may be invisible from there.
    pub(super) fn may_miss_from(&self, from: Viewpoint<'_>, variable: &str) -> bool {
        let is_early = match from {
            Viewpoint::Top => true,
            Viewpoint::Block => false,
            Viewpoint::Class(class) => self.may_any_be_early || self.early.contains(class),
        };
        is_early && self.late.contains(top_name(variable))
    }

    /// Whether a function that was called earlier may have declared what a statement includes.
    pub(super) fn is_behind_call(&self, file: &File, statement: TextRange) -> bool {
        let place = (Arc::clone(file.path()), statement.start);
        self.is_all_behind_calls || self.behind_calls.contains(&place)
    }
}

impl<'a> Analysis<'a> {
    /// The evaluation order of an environment's manifests. O(manifests and the classes that they
    /// include), times the node blocks if a call may declare classes.
    #[must_use]
    pub fn evaluation_order(self, environment: &'a Root) -> EvaluationOrder {
        let files = manifests_of(self.snapshot, environment).files;
        let files = files.iter().filter_map(|it| self.snapshot.file(it.path()));
        let codes: Vec<_> = files.filter_map(|file| Some((file, code(file)?))).collect();
        let mut walk = Walk {
            analysis: self,
            environment,
            order: EvaluationOrder::default(),
            visits: HashMap::new(),
            lists: HashMap::new(),
            count: 0,
            depth: 0,
            is_at_top: true,
            is_behind_call: false,
            has_included: false,
        };
        for &(file, code) in &codes {
            walk.body(Body::of(file, code, Within::Top), Certainty::Sure);
        }
        let variables = codes.iter().flat_map(|(_, code)| code.variables.iter());
        let of_blocks = variables.filter(|it| it.in_node_block);
        let of_blocks = of_blocks.map(|it| Arc::clone(&it.name));
        walk.order.late.extend(of_blocks);
        walk.is_at_top = false;
        walk.blocks(&codes);
        let mut order = walk.order;
        // A computed name may include anything.
        order.may_any_be_early |= codes.iter().any(|(_, code)| code.is_broken);
        if walk.count > MOST_VISITS {
            order.may_any_be_early = true;
            order.is_all_behind_calls = true;
        }
        order
    }
}

impl<'a> Analysis<'a> {
    /// A function's definitions in manifests, by their indexes in the file.
    pub(super) fn functions(
        self,
        function: &str,
    ) -> impl Iterator<Item = (&'a Arc<File>, &'a CodeFacts, u32)> {
        let files = self.snapshot.files_defining(function);
        let codes = files.filter_map(|file| Some((file, code(file)?)));
        codes.flat_map(move |(file, code)| {
            let definitions = code.definitions.iter().enumerate();
            let functions = definitions.filter(move |(_, it)| {
                it.kind == DefinitionKind::Function && *it.name == *function
            });
            functions.map(move |(at, _)| (file, code, at as u32))
        })
    }

    /// Whether a function is written in Ruby, in a file that is available and cannot declare
    /// classes.
    pub(super) fn is_harmless_ruby(self, environment: &Root, function: &str) -> bool {
        let at = function.replace("::", "/");
        let modules = environment.modules.values();
        let modules = modules.chain(environment.likely_modules.values());
        let folders = modules.chain(std::iter::once(&environment.dir));
        let mut texts = folders
            .flat_map(|dir| {
                ["lib/puppet/functions", "lib/puppet/parser/functions"]
                    .map(|folder| path::join(dir, &format!("{folder}/{at}.rb")))
            })
            .filter_map(|at| self.snapshot.file(&at))
            .peekable();
        texts.peek().is_some()
            && texts.all(|file| {
                let mut words = WORDS_OF_RUBY.iter();
                !words.any(|word| file.text().contains(word))
            })
    }
}

/// Whether something is evaluated for every node that reaches it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    Perhaps,
    Sure,
}

/// A part of a file that holds statements.
#[derive(Clone, Copy)]
struct Body<'a> {
    file: &'a Arc<File>,
    code: &'a CodeFacts,
    within: Within,
}

/// One action in a body, in order of evaluation.
enum Step<'a> {
    Include(&'a IncludeFact),
    List(&'a LookupFact),
    Call(&'a CallFact),
    Variable(&'a VariableFact),
}

struct Walk<'a> {
    analysis: Analysis<'a>,
    environment: &'a Root,
    order: EvaluationOrder,
    /// Visited bodies of definitions, by file and index: the certainty, and whether they were
    /// reached after a call.
    visits: HashMap<(Arc<str>, u32), (Certainty, bool)>,
    /// The names in lists of classes, by key.
    lists: HashMap<Arc<str>, Rc<BTreeSet<Arc<str>>>>,
    count: usize,
    depth: usize,
    is_at_top: bool,
    is_behind_call: bool,
    /// Whether the top scope may have evaluated a class.
    has_included: bool,
}

impl<'a> Walk<'a> {
    /// Visits the node blocks; a node has one of them.
    fn blocks(&mut self, codes: &[(&'a Arc<File>, &'a CodeFacts)]) {
        let (visits, is_behind_call) = (self.visits.clone(), self.is_behind_call);
        let behind_calls = self.order.behind_calls.clone();
        // Without such calls order is irrelevant: one visit per class is enough.
        for &(file, code) in codes {
            for at in 0..code.nodes.len() {
                let body = Body::of(file, code, Within::Node(at as u32));
                self.body(body, Certainty::Perhaps);
            }
        }
        if self.is_behind_call == is_behind_call {
            return;
        }
        self.order.behind_calls = behind_calls;
        for &(file, code) in codes {
            for at in 0..code.nodes.len() {
                self.visits.clone_from(&visits);
                self.is_behind_call = is_behind_call;
                let body = Body::of(file, code, Within::Node(at as u32));
                self.body(body, Certainty::Sure);
            }
        }
    }

    fn body(&mut self, body: Body<'a>, certainty: Certainty) {
        self.count += 1;
        if self.depth > MOST_DEPTH {
            self.count = usize::MAX / 2;
        }
        if self.count > MOST_VISITS {
            return;
        }
        self.depth += 1;
        for step in body.steps() {
            match step {
                Step::Variable(variable) => {
                    if self.is_at_top && self.has_included {
                        self.order.late.insert(Arc::clone(&variable.name));
                    }
                }
                Step::Include(include) => self.include(body, include, certainty),
                Step::List(lookup) => self.list(body, lookup),
                Step::Call(call) => self.call(&call.function),
            }
        }
        self.depth -= 1;
    }

    fn include(&mut self, body: Body<'a>, include: &'a IncludeFact, certainty: Certainty) {
        let (file, code) = (body.file, body.code);
        if self.analysis.is_idle(self.environment, file, code, include) {
            return;
        }
        self.note_place(body, include.place);
        let Some(class) = include.known_class() else {
            // The classes in a list are visited at its lookup.
            let is_own_list = |lookup: &LookupFact| {
                include.is_of_list(lookup.call) && lookup.within == body.within
            };
            if !body.code.lookups.iter().any(is_own_list) {
                self.any_class();
            }
            return;
        };
        let certainty = match include.is_conditional {
            true => Certainty::Perhaps,
            false => certainty,
        };
        self.class(class, certainty);
    }

    /// Visits the classes that a list in data may name.
    fn list(&mut self, body: Body<'a>, lookup: &'a LookupFact) {
        let mut includes = body.code.includes.iter();
        let is_included = lookup.function == LookupFunction::HieraInclude
            || includes.any(|include| include.is_of_list(lookup.call));
        if !is_included {
            return;
        }
        self.note_place(body, lookup.call);
        let LookupKey::Literal(key) = &lookup.key else {
            return self.any_class();
        };
        let top = key.split('.').next().unwrap_or(key);
        let classes = self.named_by(top);
        for class in classes.iter() {
            // A name with tokens may be any class.
            match class.contains("%{") {
                true => self.any_class(),
                false => self.class(class, Certainty::Perhaps),
            }
        }
        let defaults = body.code.default_classes.iter();
        let defaults: Vec<_> = defaults.filter(|it| it.call == lookup.call).collect();
        for default in &defaults {
            self.class(&default.class, Certainty::Perhaps);
        }
        if (lookup.default.is_some() && defaults.is_empty()) || **key != *top {
            self.any_class();
        }
    }

    /// The names in all files' lists for a key, read once.
    fn named_by(&mut self, key: &str) -> Rc<BTreeSet<Arc<str>>> {
        if let Some(known) = self.lists.get(key) {
            return Rc::clone(known);
        }
        let analysis = self.analysis;
        let files = analysis.snapshot.iter_files_with(key);
        let elements = files.flat_map(|file| analysis.elements(file, key));
        let found: Rc<BTreeSet<_>> = Rc::new(elements.map(|(class, _)| class).collect());
        self.lists.insert(Arc::from(key), Rc::clone(&found));
        found
    }

    fn note_place(&mut self, body: Body<'a>, place: TextRange) {
        self.has_included |= self.is_at_top;
        if self.is_behind_call {
            let place = (Arc::clone(body.file.path()), place.start);
            self.order.behind_calls.insert(place);
        }
    }

    fn any_class(&mut self) {
        self.order.may_any_be_early |= self.is_at_top;
        self.has_included |= self.is_at_top;
    }

    fn class(&mut self, class: &Arc<str>, certainty: Certainty) {
        if self.is_at_top {
            self.order.early.insert(Arc::clone(class));
        }
        let Some(defined) = self.analysis.autoloaded(self.environment, class) else {
            return;
        };
        let Some(code) = code(defined.file) else {
            return;
        };
        let mut definitions = code.definitions.iter();
        let found = definitions.position(|it| std::ptr::eq(it, defined.definition));
        if let Some(at) = found {
            self.definition(defined.file, code, at as u32, certainty);
        }
    }

    /// Visits the body of a class or a function: once, and again if a second path reaches it later
    /// in the order.
    fn definition(
        &mut self,
        file: &'a Arc<File>,
        code: &'a CodeFacts,
        at: u32,
        certainty: Certainty,
    ) {
        let name = (Arc::clone(file.path()), at);
        let is_done = |&(known, was_behind): &(Certainty, bool)| {
            known == Certainty::Sure || (known >= certainty && was_behind >= self.is_behind_call)
        };
        if self.visits.get(&name).is_some_and(is_done) {
            return;
        }
        self.visits.insert(name, (certainty, self.is_behind_call));
        self.body(Body::of(file, code, Within::Definition(at)), certainty);
    }

    /// Visits everything that a function may do.
    fn call(&mut self, function: &Arc<str>) {
        let mut is_known = false;
        for (file, code, at) in self.analysis.functions(function) {
            is_known = !code.is_broken;
            self.definition(file, code, at, Certainty::Perhaps);
        }
        if !is_known && !self.analysis.is_harmless_ruby(self.environment, function) {
            self.is_behind_call = true;
            self.any_class();
        }
    }
}

impl<'a> Body<'a> {
    fn of(file: &'a Arc<File>, code: &'a CodeFacts, within: Within) -> Body<'a> {
        Body { file, code, within }
    }

    /// Its actions, in the order of the text.
    fn steps(self) -> Vec<Step<'a>> {
        let Body { code, within, .. } = self;
        let includes = code
            .includes
            .iter()
            .filter(move |it| it.within == within && it.kind != IncludeKind::Reference);
        let includes = includes.map(|it| (it.place.start, Step::Include(it)));
        let lists = code.lookups.iter().filter(move |it| it.within == within);
        let lists = lists.map(|it| (it.call.start, Step::List(it)));
        let calls = code.calls.iter().filter(move |it| it.within == within);
        let calls = calls.map(|it| (it.place.start, Step::Call(it)));
        let is_top = within == Within::Top;
        let variables = code.variables.iter();
        let variables = variables.filter(move |it| is_top && !it.in_node_block);
        let variables = variables.map(|it| (it.place.start, Step::Variable(it)));
        let mut steps: Vec<(u32, Step<'a>)> = includes
            .chain(lists)
            .chain(calls)
            .chain(variables)
            .collect();
        steps.sort_by_key(|(at, _)| *at);
        steps.into_iter().map(|(_, step)| step).collect()
    }
}

fn code(file: &File) -> Option<&CodeFacts> {
    file.facts().code.as_deref()
}
