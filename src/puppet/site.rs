//! Runs the manifests of an environment for a node: the top scope, then the block of the node
//! (`puppet/parser/compiler.rb`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::conditions::not_matched;
use super::evaluator::{Evaluator, body};
use super::host::Host;
use super::source::CodeFile;
use super::stop::{Evaluated, Stop};
use super::uses;
use super::variables::ScopeLevel;
use crate::scope::{Assigned, CompileFailure, Scope};
use crate::syntax::puppet::{Expression, ExpressionKind, NodeBlock, is_qualified};
use crate::text::TextRange;
use crate::value;

/// Maximum number of manifests of an environment.
const MAX_SOURCES: usize = 1_000;

/// The manifests of an environment, in the order in which Puppet runs them.
#[derive(Debug, Default)]
pub struct Site {
    sources: Vec<Arc<CodeFile>>,
    /// The places of names of node blocks among all, by the name in lower case; the first of equal ones.
    named_blocks: HashMap<Box<str>, usize>,
    /// The names of the variables that they set.
    names: Arc<BTreeSet<Arc<str>>>,
    /// Whether they may set others: they call functions that are not evaluated, or cannot be
    /// parsed.
    may_set_any: bool,
    /// Whether they declare classes, or resources that may.
    may_have_classes: bool,
    /// Whether they may fail for some node.
    may_fail: bool,
    /// Whether they read variables of classes.
    reads_classes: bool,
    /// Why there are other manifests, which cannot be seen.
    unseen: Option<Arc<str>>,
    /// Whether their variables may depend on data, or on functions of modules.
    depends_on_data: bool,
    /// What is done with the classes and resources that they declare.
    classes: ClassRun,
}

/// What is done with the classes and resources that site manifests declare.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClassRun {
    /// They are not evaluated: their effects are unknown.
    #[default]
    Skipped,
    /// They are evaluated until the first one fails, as in a compilation: then nothing has a value.
    UntilFailure,
    /// They are evaluated. One that fails is passed over: what it would have done is unknown, and the
    /// rest keeps its values, as people need while data has a mistake.
    PastFailures,
}

/// What manifests do for a node.
#[derive(Debug)]
pub struct RunOfSite {
    /// The variables that they set, and whether they fail.
    pub assigned: Assigned,
    /// Paths of the node's variables that were read or may be set: `facts.os.family`. Without those of lookups, and
    /// without the name that chooses its block ([`Site::block_at`]). `None` if more was read, such as the name.
    pub reads: Option<BTreeSet<Arc<str>>>,
}

/// A node's block, with the name in it that matched.
type OwnBlock<'n> = (&'n Arc<CodeFile>, &'n NodeBlock, &'n Expression);

impl Site {
    /// The manifests of an environment, and why there are others that cannot be seen.
    #[must_use]
    pub fn new(mut sources: Vec<Arc<CodeFile>>, unseen: Option<Arc<str>>) -> Site {
        sources.truncate(MAX_SOURCES);
        let mut site = Site {
            may_set_any: unseen.is_some(),
            unseen,
            ..Site::default()
        };
        for source in &sources {
            // Code after a syntax error is unknown.
            site.may_set_any |= source.problem.is_some();
            source.root.each_for_nodes(&mut |node| site.look(node));
        }
        site.sources = sources;
        let mut named = HashMap::new();
        for (at, (.., node)) in site.names_of_blocks().enumerate() {
            if let Some(name) = node.literal()
                && !matches!(node.kind, ExpressionKind::Default)
            {
                named.entry(name.to_lowercase().into()).or_insert(at);
            }
        }
        site.named_blocks = named;
        // To set a variable fails if it is a fact, or if it is set already.
        site.may_fail |=
            site.lacks_default() || site.defined_twice().is_some() || site.may_set_variables();
        site
    }

    /// The same manifests, with the classes and resources that they declare.
    #[must_use]
    pub fn with_classes(self, classes: ClassRun) -> Site {
        Site {
            depends_on_data: self.depends_on_data || self.may_have_classes,
            classes,
            ..self
        }
    }

    /// Whether they declare classes, or may, and read variables of classes.
    #[must_use]
    pub fn reads_classes(&self) -> bool {
        self.may_have_classes && self.reads_classes
    }

    /// Whether they declare classes, or may.
    #[must_use]
    pub fn may_have_classes(&self) -> bool {
        self.may_have_classes
    }

    /// Whether the classes that they include are evaluated.
    #[must_use]
    pub fn follows_classes(&self) -> bool {
        self.classes != ClassRun::Skipped
    }

    /// Whether there are node blocks, but none for all nodes.
    fn lacks_default(&self) -> bool {
        let is_default = |node: &Expression| matches!(node.kind, ExpressionKind::Default);
        let mut blocks = self.blocks();
        let has_default = blocks.any(|(_, block)| block.matches.iter().any(is_default));
        !has_default && self.blocks().next().is_some()
    }

    /// Records what code may do.
    fn look(&mut self, node: &Expression) {
        let names = Arc::make_mut(&mut self.names);
        node.each_assigned(&mut |name, _| {
            names.insert(Arc::from(name));
        });
        uses::called(node, &mut |name| {
            let is_known = super::builtin::is_known(name);
            self.may_set_any |= !is_known;
            // Another module may define it, and another version of the library may lack it.
            let is_of_modules = !is_known || super::builtin::is_of_library(name);
            self.depends_on_data |= is_of_modules || super::builtin::asks_data(name);
            self.may_fail |= super::builtin::may_fail(name);
        });
        self.may_have_classes |= uses::declares(node);
        self.reads_classes |= uses::reads_classes(node);
        self.may_fail |= uses::may_fail(node);
    }

    /// Whether the manifests set variables, or call functions that may.
    fn may_set_variables(&self) -> bool {
        !self.names.is_empty() || self.may_set_any
    }

    /// Whether they set variables, declare classes or fail, or may. If not, they need not be run.
    #[must_use]
    pub fn may_matter(&self) -> bool {
        self.may_set_variables() || self.may_have_classes || self.may_fail()
    }

    /// Whether they may set a variable.
    #[must_use]
    pub fn may_set(&self, name: &str) -> bool {
        let name = name.strip_prefix("::").unwrap_or(name);
        let is_of_class = self.may_have_classes && is_qualified(name);
        self.may_set_any || is_of_class || self.names.contains(name)
    }

    /// Whether they may fail for some node. False says that they do not, as far as known.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        self.may_fail || (self.may_have_classes && self.classes == ClassRun::UntilFailure)
    }

    /// Whether there are other manifests, which cannot be seen.
    #[must_use]
    pub fn has_unseen(&self) -> bool {
        self.unseen.is_some()
    }

    /// Whether their variables, or whether they fail, may depend on data or on functions of modules.
    #[must_use]
    pub fn depends_on_data(&self) -> bool {
        self.depends_on_data
    }

    /// Where the manifests set a variable, for any node: file and range, in order.
    #[must_use]
    pub fn assignments(&self, name: &str) -> Vec<(Arc<str>, TextRange)> {
        let mut found = Vec::new();
        for source in &self.sources {
            source.root.each_for_nodes(&mut |node| {
                node.each_assigned(&mut |set, place| {
                    if set == name {
                        found.push((source.path.clone(), place));
                    }
                });
            });
        }
        found
    }

    /// What the manifests do if they need not be run: nothing that matters, as far as known.
    #[must_use]
    pub fn without_running(&self) -> Option<Assigned> {
        (!self.may_matter()).then(|| Assigned {
            names: Some(self.names.clone()),
            ..Assigned::default()
        })
    }

    /// Runs the manifests for a node whose scope so far is `scope`; without a certname, any block
    /// may be the node's. If the value of one of its known `variables` cannot be evaluated, the known
    /// value is kept.
    #[must_use]
    pub fn run(
        &self,
        host: &dyn Host,
        scope: &Scope,
        certname: Option<&str>,
        variables: &value::HashMap,
    ) -> RunOfSite {
        let Some(first) = self.sources.first() else {
            let assigned = Assigned {
                may_be_more: self.unseen.clone(),
                ..Assigned::default()
            };
            return RunOfSite {
                assigned,
                reads: Some(BTreeSet::new()),
            };
        };
        let mut evaluator = Evaluator::new(host, scope, first.clone());
        evaluator.variables.foresee(variables);
        evaluator.site = &self.sources;
        if self.follows_classes() {
            evaluator.variables.follows_classes = true;
            let catalog = evaluator.catalog();
            catalog.node = Arc::from(certname.unwrap_or_default());
            catalog.passes_failures = self.classes == ClassRun::PastFailures;
        }
        let mut stopped = self.top(&mut evaluator);
        let mut is_open = false;
        evaluator.variables.level = ScopeLevel::Node;
        match self.own_block(&mut evaluator, certname) {
            Ok(None) => {
                let is_missing = self.blocks().next().is_some();
                if is_missing && stopped.is_none() {
                    let name = certname.unwrap_or_default();
                    evaluator.variables.note_name();
                    stopped = Some(Stop::failed(format!(
                        "Could not find node statement with name 'default' or '{name}'"
                    )));
                }
                self.forget_blocks(&mut evaluator, stopped.as_ref().map(Stop::because));
            }
            Ok(Some((source, block, node))) => {
                let name = name_of_block(node);
                evaluator.variables.assigned.block = Some(Arc::from(name));
                evaluator.source = source.clone();
                let body = body(block.body.as_ref());
                stopped = stopped.or_else(|| evaluator.statements(body).err());
                if let Some(stop) = &stopped {
                    evaluator.forget_all(body, &stop.because());
                }
            }
            Err(stop) => {
                is_open = true;
                self.forget_blocks(&mut evaluator, Some(stop.because()));
                if self.follows_classes() {
                    evaluator.doubt_all(&stop.because());
                }
            }
        }
        if self.follows_classes() && stopped.is_none() {
            stopped = evaluator.evaluate_generators().err();
        }
        // There is no catalog, so nothing has a value.
        if let Some(stop @ Stop::Failed(_)) = &stopped
            && !evaluator.variables.lacks_one.get()
        {
            evaluator.variables.forget_all(&stop.because());
        }
        let failure = match &stopped {
            Some(Stop::Failed(message)) => {
                let is_refused = evaluator.met_refused
                    || self.sources.iter().any(|source| source.problem.is_some());
                Some(evaluator.failure(message, is_refused))
            }
            _ => None,
        };
        let variables = &evaluator.variables;
        let reads = variables.reads_all_told().then(|| variables.reads());
        let mut assigned = evaluator.variables.assigned;
        // What was not run may declare classes.
        assigned.may_have_classes |= self.may_have_classes && (stopped.is_some() || is_open);
        assigned.failure = failure;
        if let Some(stop) = stopped {
            assigned.may_be_more.get_or_insert(stop.because());
        }
        if !self.may_set_any {
            assigned.names = Some(self.names.clone());
        }
        RunOfSite { assigned, reads }
    }

    /// The place of a node's block among the names of all blocks: nodes of one block differ only in what a
    /// run reads. `None` if the node has no block. O(blocks).
    ///
    /// # Errors
    /// A pattern that is not evaluated.
    pub fn block_at(&self, host: &dyn Host, certname: &str) -> Evaluated<Option<usize>> {
        self.matching(certname, &mut |pattern, name| {
            let pattern = host.pattern(pattern).ok_or_else(|| not_matched(pattern))?;
            pattern
                .is_match(name)
                .map_err(|_| not_matched(pattern.source()))
        })
    }

    fn forget_blocks(&self, evaluator: &mut Evaluator<'_>, because: Option<Arc<str>>) {
        let Some(because) = because else {
            return;
        };
        for (source, block) in self.blocks() {
            evaluator.source = source.clone();
            evaluator.forget_all(body(block.body.as_ref()), &because);
        }
    }

    /// Puppet's error for two node blocks with the same name (`puppet/resource/type_collection.rb`,
    /// `add_node`).
    fn defined_twice(&self) -> Option<Stop> {
        let mut names = BTreeSet::new();
        let mut all = self.blocks().flat_map(|(_, block)| &block.matches);
        let twice = all.find(|node| !names.insert(name_of_block(node)))?;
        let name = name_of_block(twice);
        Some(Stop::failed(format!("Node '{name}' is already defined")))
    }

    /// Runs the top scope; returns why it ended early.
    fn top(&self, evaluator: &mut Evaluator<'_>) -> Option<Stop> {
        // If one of them cannot be parsed, none is run.
        let mut sources = self.sources.iter();
        let refused = sources.find_map(|source| {
            if source.is_too_long() {
                Some(Stop::Lost(Arc::from(source.refusal()?)))
            } else {
                Some(Stop::failed(source.refusal()?))
            }
        });
        let mut stopped = refused.or_else(|| self.defined_twice());
        for source in &self.sources {
            evaluator.source = source.clone();
            if stopped.is_none() {
                stopped = evaluator.statements(source.statements()).err();
            }
            if let Some(stop) = &stopped {
                evaluator.forget_all(source.statements(), &stop.because());
            }
        }
        stopped
    }

    fn blocks(&self) -> impl Iterator<Item = (&Arc<CodeFile>, &NodeBlock)> {
        self.sources.iter().flat_map(|source| {
            source
                .statements()
                .iter()
                .filter_map(move |node| match &node.kind {
                    ExpressionKind::NodeBlock(block) => Some((source, &**block)),
                    _ => None,
                })
        })
    }

    /// The block of a node: the one with its name, the first with a matching pattern, else the
    /// default (`puppet/resource/type_collection.rb`, `node`). Sets the groups of the pattern.
    fn own_block(
        &self,
        evaluator: &mut Evaluator<'_>,
        certname: Option<&str>,
    ) -> Evaluated<Option<OwnBlock<'_>>> {
        let name = certname.ok_or_else(|| Stop::unknown("the node's name is not known"))?;
        let at = self.matching(name, &mut |pattern, name| evaluator.search(pattern, name))?;
        Ok(at.and_then(|at| self.names_of_blocks().nth(at)))
    }

    /// The names of all blocks, in order, with the blocks.
    fn names_of_blocks(&self) -> impl Iterator<Item = OwnBlock<'_>> {
        self.blocks().flat_map(|(source, block)| {
            let names = block.matches.iter();
            names.map(move |node| (source, block, node))
        })
    }

    /// The place of the name that matches a node's, among those of all blocks.
    fn matching(
        &self,
        certname: &str,
        search: &mut dyn FnMut(&str, &str) -> Evaluated<bool>,
    ) -> Evaluated<Option<usize>> {
        let certname = certname.to_lowercase();
        if let Some(own) = self.named_blocks.get(&*certname) {
            return Ok(Some(*own));
        }
        let mut default = None;
        for (at, (.., node)) in self.names_of_blocks().enumerate() {
            match &node.kind {
                ExpressionKind::Regexp(pattern) if search(pattern, &certname)? => {
                    return Ok(Some(at));
                }
                ExpressionKind::Default => default = Some(at),
                _ => {}
            }
        }
        Ok(default)
    }
}

/// Puppet's name for the block of one of its names (`Resource::Type#name`).
fn name_of_block(node: &Expression) -> String {
    match &node.kind {
        ExpressionKind::Default => "default".to_owned(),
        ExpressionKind::Regexp(pattern) => {
            let pattern = pattern.to_lowercase();
            let is_kept = |c: &char| c.is_ascii_alphanumeric() || "_-:.".contains(*c);
            let kept: String = pattern.chars().filter(is_kept).collect();
            format!("__node_regexp__{}", kept.trim_start_matches('.'))
        }
        _ => node.literal().unwrap_or_default().to_lowercase(),
    }
}

impl Evaluator<'_> {
    /// Puppet's error, with its place if it was raised by code.
    fn failure(&mut self, message: &Arc<str>, is_refused: bool) -> CompileFailure {
        let lacks_fact = self.variables.lacks_one.get() || self.variables.read_missing.get();
        let failed = self.failed.take();
        let failed = failed.filter(|(known, ..)| Arc::ptr_eq(known, message));
        CompileFailure {
            message: message.clone(),
            place: failed.map(|(_, path, line)| (path, line)),
            is_certain: !lacks_fact && !is_refused,
        }
    }

    /// Makes the variables unknown that statements may set.
    fn forget_all(&mut self, nodes: &[Expression], because: &Arc<str>) {
        for node in nodes {
            self.forget(node, because);
        }
    }

    /// Evaluates statements, ignoring their values.
    fn statements(&mut self, nodes: &[Expression]) -> Evaluated<()> {
        match self.block(nodes) {
            Ok(_) | Err(Stop::Unknown(_)) => Ok(()),
            Err(Stop::Next(_)) => Err(illegal("next")),
            Err(Stop::Break) => Err(illegal("break")),
            Err(Stop::Return(_)) => Err(illegal("return")),
            Err(stop) => Err(stop),
        }
    }
}

/// Puppet's error for a function that leaves a body, outside of one.
fn illegal(name: &str) -> Stop {
    Stop::failed(format!("{name}() from context where this is illegal"))
}
