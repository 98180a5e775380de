//! The order in which Puppet evaluates an environment's manifests: the top scope first, then the
//! node's block (`puppet/parser/compiler.rb`), each class once, where it is first included.
//!
//! A class that is evaluated from the top scope sees neither the variables of node blocks nor those
//! that the top scope sets later. A statement after a call that may declare classes might find them
//! declared already.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::bodies::CodeBody;
use super::{Analysis, Defined};
use crate::scope::top_name;
use crate::text::TextRange;
use crate::workspace::{
    CallFact, File, IncludeFact, LookupFact, LookupKey, Root, VariableFact, Within, path,
};

/// Maximum number of visited bodies; beyond it everything is considered possible.
const MAX_VISITS: usize = 200_000;

/// Maximum nesting depth of bodies.
const MAX_DEPTH: usize = 200;

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
        let tops = self.site_bodies(environment);
        let mut walk = OrderWalk {
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
        for &top in &tops {
            walk.body(top, Sureness::Sure);
        }
        let variables = tops.iter().flat_map(|top| top.code.variables.iter());
        let of_blocks = variables.filter(|it| it.in_node_block);
        let of_blocks = of_blocks.map(|it| Arc::clone(&it.name));
        walk.order.late.extend(of_blocks);
        walk.is_at_top = false;
        walk.blocks(&tops);
        let mut order = walk.order;
        // A computed name may include anything.
        order.may_any_be_early |= tops.iter().any(|top| top.code.is_broken);
        if walk.count > MAX_VISITS {
            order.may_any_be_early = true;
            order.is_all_behind_calls = true;
        }
        order
    }
}

impl Analysis<'_> {
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
enum Sureness {
    Perhaps,
    Sure,
}

/// One action in a body, in order of evaluation.
enum BodyAction<'a> {
    Include(&'a IncludeFact),
    List(&'a LookupFact),
    Call(&'a CallFact),
    Variable(&'a VariableFact),
}

struct OrderWalk<'a> {
    analysis: Analysis<'a>,
    environment: &'a Root,
    order: EvaluationOrder,
    /// Visited bodies of definitions, by file: the certainty, and whether they were reached after a
    /// call.
    visits: HashMap<(Arc<str>, Within), (Sureness, bool)>,
    /// The names in lists of classes, by key.
    lists: HashMap<Arc<str>, Rc<BTreeSet<Arc<str>>>>,
    count: usize,
    depth: usize,
    is_at_top: bool,
    is_behind_call: bool,
    /// Whether the top scope may have evaluated a class.
    has_included: bool,
}

impl<'a> OrderWalk<'a> {
    /// Visits the node blocks; a node has one of them.
    fn blocks(&mut self, tops: &[CodeBody<'a>]) {
        let (visits, is_behind_call) = (self.visits.clone(), self.is_behind_call);
        let behind_calls = self.order.behind_calls.clone();
        let blocks = || tops.iter().flat_map(|top| top.blocks());
        // Without such calls order is irrelevant: one visit per class is enough.
        for (body, _) in blocks() {
            self.body(body, Sureness::Perhaps);
        }
        if self.is_behind_call == is_behind_call {
            return;
        }
        self.order.behind_calls = behind_calls;
        for (body, _) in blocks() {
            self.visits.clone_from(&visits);
            self.is_behind_call = is_behind_call;
            self.body(body, Sureness::Sure);
        }
    }

    fn body(&mut self, body: CodeBody<'a>, certainty: Sureness) {
        self.count += 1;
        if self.depth > MAX_DEPTH {
            self.count = usize::MAX / 2;
        }
        if self.count > MAX_VISITS {
            return;
        }
        self.depth += 1;
        for action in actions(body) {
            match action {
                BodyAction::Variable(variable) => {
                    if self.is_at_top && self.has_included {
                        self.order.late.insert(Arc::clone(&variable.name));
                    }
                }
                BodyAction::Include(include) => self.include(body, include, certainty),
                BodyAction::List(lookup) => self.list(body, lookup),
                BodyAction::Call(call) => self.call(&call.function),
            }
        }
        self.depth -= 1;
    }

    fn include(&mut self, body: CodeBody<'a>, include: &'a IncludeFact, certainty: Sureness) {
        if self.analysis.is_idle(self.environment, body, include) {
            return;
        }
        self.note_place(body, include.place);
        let Some(class) = include.known_class() else {
            // The classes in a list are visited at its lookup.
            if !body.lookups().any(|lookup| include.is_of_list(lookup.call)) {
                self.any_class();
            }
            return;
        };
        let certainty = if include.is_conditional {
            Sureness::Perhaps
        } else {
            certainty
        };
        self.class(class, certainty);
    }

    /// Visits the classes that a list in data may name.
    fn list(&mut self, body: CodeBody<'a>, lookup: &'a LookupFact) {
        if !body.includes_list(lookup) {
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
            if class.contains("%{") {
                self.any_class()
            } else {
                self.class(class, Sureness::Perhaps)
            }
        }
        let defaults: Vec<_> = body.default_classes(lookup.call).collect();
        for default in &defaults {
            self.class(&default.class, Sureness::Perhaps);
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

    fn note_place(&mut self, body: CodeBody<'a>, place: TextRange) {
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

    fn class(&mut self, class: &Arc<str>, certainty: Sureness) {
        if self.is_at_top {
            self.order.early.insert(Arc::clone(class));
        }
        let defined = self.analysis.autoloaded(self.environment, class);
        if let Some(body) = defined.and_then(Defined::body) {
            self.definition(body, certainty);
        }
    }

    /// Visits the body of a class or a function: once, and again if a second path reaches it later
    /// in the order.
    fn definition(&mut self, body: CodeBody<'a>, certainty: Sureness) {
        let name = (Arc::clone(body.file.path()), body.within);
        let is_done = |&(known, was_behind): &(Sureness, bool)| {
            known == Sureness::Sure || (known >= certainty && was_behind >= self.is_behind_call)
        };
        if self.visits.get(&name).is_some_and(is_done) {
            return;
        }
        self.visits.insert(name, (certainty, self.is_behind_call));
        self.body(body, certainty);
    }

    /// Visits everything that a function may do.
    fn call(&mut self, function: &Arc<str>) {
        let mut is_known = false;
        for body in self.analysis.functions(function) {
            is_known = !body.code.is_broken;
            self.definition(body, Sureness::Perhaps);
        }
        if !is_known && !self.analysis.is_harmless_ruby(self.environment, function) {
            self.is_behind_call = true;
            self.any_class();
        }
    }
}

/// The actions in a body, in the order of the text.
fn actions(body: CodeBody<'_>) -> Vec<BodyAction<'_>> {
    let includes = body.includes();
    let includes = includes.map(|it| (it.place.start, BodyAction::Include(it)));
    let lists = body
        .lookups()
        .map(|it| (it.call.start, BodyAction::List(it)));
    let calls = body
        .calls()
        .map(|it| (it.place.start, BodyAction::Call(it)));
    let is_top = body.within == Within::Top;
    let variables = body.code.variables.iter();
    let variables = variables.filter(|it| is_top && !it.in_node_block);
    let variables = variables.map(|it| (it.place.start, BodyAction::Variable(it)));
    let mut actions: Vec<(u32, BodyAction<'_>)> = includes
        .chain(lists)
        .chain(calls)
        .chain(variables)
        .collect();
    actions.sort_by_key(|(at, _)| *at);
    actions.into_iter().map(|(_, action)| action).collect()
}
