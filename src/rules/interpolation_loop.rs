//! `interpolation-loop`: keys look each other up in a loop.
//!
//! References in the files give possible loops; lookups in the scopes that read the file show which
//! of them occur. A loop through an overridden value does not.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Checker, FileContext, Findings, Reader, Related, Severity};
use crate::analysis::quoted;
use crate::interpolation::root_of;
use crate::lookup::{Reach, Request, TraceKind, TraceNode, Unknown};
use crate::scope::{Scope, Variable};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, LOOKUP_OPTIONS};

rule!("interpolation-loop", Error, [File(check)], WORKSPACE);

/// Maximum number of steps in the search for scopes with a loop, for one key.
const MAX_STEPS: usize = 500;

/// Maximum number of scopes in which one key is looked up.
const MAX_SCOPES: usize = 24;

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let references = at.snapshot().references();
    for reader in at.readers() {
        let mut loops = Loops {
            at,
            reader,
            own: OnceCell::new(),
            found: BTreeMap::new(),
        };
        let mut confirmed: HashSet<&str> = HashSet::new();
        for (key, _, to) in at.facts().uses() {
            let root = &*key.name;
            if root == LOOKUP_OPTIONS {
                if confirmed.insert(root) {
                    loops.confirm(to, root);
                }
            } else if references.circles().is_on(root, to) && confirmed.insert(root) {
                loops.confirm(root, root);
            }
        }
        loops.report(findings);
    }
}

/// A reference in the file that is part of a loop.
struct LoopingReference {
    /// All keys of the loop in order, starting with this reference's.
    keys: Vec<Arc<str>>,
    related: Vec<Related>,
    /// The indexes of the file's own scopes in which the loop certainly occurs.
    certain: HashSet<usize>,
    /// The variables of the first scope in which the loop was found.
    bound: Vec<(String, String)>,
    /// Levels that may set one of the keys in that scope, which would end the loop.
    unless: Vec<Arc<str>>,
}

/// The loops that occur in a file for the nodes of one root.
struct Loops<'a> {
    at: &'a FileContext<'a>,
    reader: &'a Reader<'a>,
    /// The cache of [`Loops::own`], which few files need.
    own: OnceCell<Vec<Scope>>,
    found: BTreeMap<TextRange, LoopingReference>,
}

/// Follows references from key to key, binding the variables in the paths of the files on the way.
struct LoopSearch<'s, 'a> {
    checker: &'s Checker<'a>,
    goal: &'s str,
    steps: usize,
    on_way: Vec<Arc<str>>,
    /// The scopes in which the loop may close.
    scopes: &'s mut Vec<Scope>,
}

impl LoopSearch<'_, '_> {
    fn go(&mut self, key: &str, only: Option<&File>, scope: &Scope) {
        for edge in self.checker.circular(key).iter() {
            self.steps += 1;
            if self.steps > MAX_STEPS || self.scopes.len() > MAX_SCOPES {
                return;
            }
            if only.is_some_and(|file| file.id() != edge.file) || self.on_way.contains(&edge.to) {
                continue;
            }
            let Some(file) = self.checker.snapshot.file_by_id(edge.file) else {
                continue;
            };
            let mut seen = Vec::new();
            for reader in self.checker.readers(file) {
                // If two levels read a file by different variables, only the first counts: both
                // together describe nodes that do not exist.
                let reach = reader.reached().first();
                let Some(scope) = reach.and_then(|reach| bound(scope, reach)) else {
                    continue;
                };
                if seen.contains(&scope) {
                    continue;
                }
                if *edge.to != *self.goal {
                    self.on_way.push(edge.to.clone());
                    self.go(&edge.to, None, &scope);
                    self.on_way.pop();
                } else if !self.scopes.contains(&scope) {
                    self.scopes.push(scope.clone());
                }
                seen.push(scope);
            }
        }
    }
}

/// The scope with the variables that a file's path binds; `None` if they contradict it.
fn bound(scope: &Scope, reach: &Reach) -> Option<Scope> {
    let mut scope = scope.clone();
    for (path, value) in &reach.bindings {
        match scope.variable(path) {
            Variable::Known(known) if known == Value::string(value) => {}
            Variable::Known(_) | Variable::Undefined(_) => return None,
            Variable::Unknown => scope.bind(path, value),
        }
    }
    Some(scope)
}

/// One step of a loop: the key, and the file with the value that looks up the next key.
struct LoopStep {
    key: Arc<str>,
    file: Option<Arc<str>>,
}

/// The loop that ended a lookup: the open nodes of the trace, from the first lookup of the key that
/// was looked up again.
fn circle(trace: &TraceNode) -> Option<Vec<LoopStep>> {
    let mut steps: Vec<LoopStep> = Vec::new();
    let mut node = trace;
    loop {
        if let Some(key) = node.kind.key() {
            steps.push(LoopStep {
                key: Arc::from(key),
                file: None,
            });
        } else if let (TraceKind::Location(location), Some(step)) = (&node.kind, steps.last_mut()) {
            step.file = Some(location.place.clone());
        }
        match node.children.last() {
            Some(child) => node = child,
            None => break,
        }
    }
    let closing = steps.pop()?.key;
    let first = steps.iter().position(|step| step.key == closing)?;
    Some(steps.split_off(first))
}

impl<'a> Loops<'a> {
    /// The scopes that the file's own path allows, without duplicates.
    fn own(&self) -> &[Scope] {
        self.own
            .get_or_init(|| Reach::scopes(self.reader.reached()))
    }

    /// Looks a key up in every scope in which its loop may close, and collects the loops that occur
    /// in this file. `member` is the key that must be part of the loop.
    fn confirm(&mut self, root: &str, member: &str) {
        let at = self.at;
        let mut scopes = self.own().to_vec();
        if let Some(own) = self.own().first().filter(|_| member != LOOKUP_OPTIONS) {
            let mut search = LoopSearch {
                checker: at.checker,
                goal: member,
                steps: 0,
                on_way: vec![],
                scopes: &mut scopes,
            };
            search.go(member, Some(at.file), own);
        }
        let view = at.checker.analysis().at(self.reader.root.root);
        let session = view.session();
        let request = Request::key(&quoted(root)).traced();
        for (index, scope) in scopes.iter().enumerate() {
            let answer = session.lookup(scope, &request);
            let Err(error) = &answer.result else { continue };
            if error.recursion().is_none() {
                continue;
            }
            let Some(circle) = answer.trace.as_ref().and_then(circle) else {
                continue;
            };
            let unless: Vec<Arc<str>> = answer
                .unknown
                .iter()
                .filter(|unknown| !unknown.for_options)
                .map(|Unknown { level, .. }| level.clone())
                .collect();
            self.take(member, &circle, (index, scope), unless);
        }
    }

    /// Collects the references of a loop that was found in a scope with this index.
    fn take(
        &mut self,
        member: &str,
        circle: &[LoopStep],
        (index, scope): (usize, &Scope),
        unless: Vec<Arc<str>>,
    ) {
        let at = self.at;
        let next = |step: usize| (step + 1) % circle.len();
        let place_of = |step: usize| {
            let file = at.snapshot().file(circle[step].file.as_deref()?)?;
            place(file, &circle[step].key, &circle[next(step)].key)
        };
        let places: Vec<Option<TextRange>> = (0..circle.len()).map(place_of).collect();
        for (first, step) in circle.iter().enumerate() {
            let is_here = step.file.as_ref() == Some(at.file.path());
            let Some(range) = places[first].filter(|_| is_here) else {
                continue;
            };
            if *root_of(&step.key) != *member {
                continue;
            }
            let in_order = (0..circle.len()).map(|by| (first + by) % circle.len());
            let others = in_order.clone().skip(1).filter_map(|other| {
                Some(Related {
                    path: circle[other].file.clone()?,
                    range: places[other]?,
                    message: format!(
                        "'{}' looks up '{}'",
                        circle[other].key,
                        circle[next(other)].key
                    ),
                })
            });
            let values = scope.bound();
            let is_certain = index < self.own().len() && unless.is_empty();
            let known = self.found.entry(range).or_insert_with(|| LoopingReference {
                keys: in_order.map(|at| circle[at].key.clone()).collect(),
                related: others.collect(),
                certain: HashSet::new(),
                bound: values
                    .map(|(path, value)| (path.to_owned(), value.to_owned()))
                    .collect(),
                unless: unless.clone(),
            });
            if is_certain {
                known.certain.insert(index);
            }
        }
    }

    fn report(self, findings: &mut Findings<'_>) {
        let Some(count) = self.own.get().map(Vec::len) else {
            return;
        };
        for (range, reference) in self.found {
            if findings.has(range) {
                continue;
            }
            let always = reference.certain.len() == count;
            let severity = if always {
                Severity::Error
            } else {
                Severity::Warning
            };
            let message = reference.message(always);
            findings.report_as(severity, range, message).related = reference.related;
        }
    }
}

impl LoopingReference {
    fn message(&self, always: bool) -> String {
        let first = self.keys.first().cloned().unwrap_or_default();
        let mut message = String::from("lookup loop");
        if !always && !self.bound.is_empty() {
            let values = self.bound.iter();
            let values: Vec<String> = values
                .map(|(path, value)| format!("{path} is '{value}'"))
                .collect();
            message += &format!(" where {}", values.join(" and "));
        }
        let keys: Vec<&str> = self.keys.iter().chain([&first]).map(|key| &**key).collect();
        message += &format!(": {}", keys.join(" → "));
        if !always && !self.unless.is_empty() {
            let mut levels: Vec<String> = Vec::new();
            for level in &self.unless {
                let level = format!("'{level}'");
                if !levels.contains(&level) {
                    levels.push(level);
                }
            }
            message += &format!(", unless level {} sets one of them", levels.join(" or "));
        }
        message
            + match &*first {
                LOOKUP_OPTIONS => ": Puppet fails on every lookup",
                _ if self.keys.len() > 1 => ": Puppet fails on each of these keys",
                key if *root_of(key) != *key => {
                    ": Puppet fails, since a hash cannot look up its own parts"
                }
                _ => {
                    ": Puppet fails, since a key cannot use its own value, nor that of a lower level"
                }
            }
    }
}

/// The range of the reference in a file's value of a key that looks up the next key.
fn place(file: &File, key: &str, next: &str) -> Option<TextRange> {
    let root = root_of(key);
    file.facts()
        .uses()
        .find(|(owner, reference, to)| {
            owner.name == root
                && (*reference.key == *next || (next == LOOKUP_OPTIONS && ***to != *LOOKUP_OPTIONS))
        })
        .map(|(_, reference, _)| reference.range)
}
