//! `interpolation-loop`: keys look each other up in a loop.
//!
//! References in the files give possible loops; lookups in the scopes that read the file show which
//! of them occur. A loop through an overridden value does not.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::checker::Checker;
use super::reference_graph::files_on_circles;
use super::{FileContext, Findings, Reader, Related, Severity};
use crate::interpolation::Key;
use crate::lookup::{Reach, Request, TraceKind, TraceNode, Unknown};
use crate::scope::{Scope, Variable};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, LOOKUP_OPTIONS};

rule!(
    "interpolation-loop",
    Error,
    [File(check)],
    VALUES,
    files_on_circles
);

/// Maximum number of steps in the search for scopes with a loop, for one key.
const MOST_STEPS: usize = 500;

/// Maximum number of scopes in which one key is looked up.
const MOST_SCOPES: usize = 24;

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    for reader in at.readers() {
        let mut loops = Loops::default();
        let mut confirmed: HashSet<&str> = HashSet::new();
        for (key, _, to) in at.facts().uses() {
            let root = &*key.name;
            if root == LOOKUP_OPTIONS {
                if confirmed.insert(root) {
                    confirm(at, reader, to, root, &mut loops);
                }
            } else if at.checker.graph().is_on_circle(root, to) && confirmed.insert(root) {
                confirm(at, reader, root, root, &mut loops);
            }
        }
        loops.report(findings);
    }
}

/// A scope in which a key is looked up.
struct Candidate {
    scope: Scope,
    /// The index of the file's own scope that it extends.
    reading: usize,
    /// The additional variables: path and value.
    added: Vec<(Arc<str>, String)>,
}

/// A reference in the file that is part of a loop.
struct Member {
    /// All keys of the loop in order, starting with this reference's.
    keys: Vec<Arc<str>>,
    related: Vec<Related>,
    /// The indexes of the file's own scopes in which the loop certainly occurs.
    certain: HashSet<usize>,
    /// The condition of the first scope in which the loop was found.
    condition: Condition,
}

/// The condition of a loop: values of variables, and unknown levels.
#[derive(Clone, Default)]
struct Condition {
    added: Vec<(Arc<str>, String)>,
    /// Levels that may set one of the keys, which would end the loop.
    unless: Vec<Arc<str>>,
}

#[derive(Default)]
struct Loops {
    readings: usize,
    members: HashMap<TextRange, Member>,
}

/// Looks a key up in every scope in which its loop may close, and collects the loops that occur in
/// this file. `member` is the key that must be part of the loop.
fn confirm(at: &FileContext<'_>, reader: &Reader<'_>, root: &str, member: &str, loops: &mut Loops) {
    let readings = readings(&reader.reached);
    loops.readings = readings.len();
    let mut candidates: Vec<Candidate> = readings
        .iter()
        .enumerate()
        .map(|(reading, scope)| Candidate {
            scope: scope.clone(),
            reading,
            added: Vec::new(),
        })
        .collect();
    if member != LOOKUP_OPTIONS {
        for (reading, scope) in readings.iter().enumerate().take(1) {
            let mut search = Search {
                checker: at.checker,
                goal: member,
                reading,
                steps: 0,
                on_way: vec![],
                candidates: &mut candidates,
            };
            search.go(member, Some(at.file), scope, &mut Vec::new());
        }
    }
    let view = at.checker.analysis().at(reader.root.root);
    let session = view.session();
    let request = Request::key(&quoted(root)).traced();
    for candidate in candidates {
        let answer = session.lookup(&candidate.scope, &request);
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
        loops.take(at, member, &circle, &candidate, unless);
    }
}

/// The scopes that the file's own path allows, without duplicates.
fn readings(reached: &[Reach]) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for reach in reached {
        let scope = reach.scope();
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// Follows references from key to key, binding the variables in the paths of the files on the way.
struct Search<'s, 'a> {
    checker: &'s Checker<'a>,
    goal: &'s str,
    reading: usize,
    steps: usize,
    on_way: Vec<Arc<str>>,
    candidates: &'s mut Vec<Candidate>,
}

impl Search<'_, '_> {
    fn go(
        &mut self,
        key: &str,
        only: Option<&File>,
        scope: &Scope,
        added: &mut Vec<(Arc<str>, String)>,
    ) {
        let graph = self.checker.graph();
        for edge in graph.circular(self.checker.snapshot, key).iter() {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.candidates.len() > MOST_SCOPES {
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
                for reach in reader.reached.iter().take(1) {
                    let before = added.len();
                    if let Some(scope) = bound(scope, reach, added)
                        && !seen.contains(&scope)
                    {
                        seen.push(scope.clone());
                        if *edge.to == *self.goal {
                            self.close(&scope, added);
                        } else {
                            self.on_way.push(edge.to.clone());
                            self.go(&edge.to, None, &scope, added);
                            self.on_way.pop();
                        }
                    }
                    added.truncate(before);
                }
            }
        }
    }

    fn close(&mut self, scope: &Scope, added: &[(Arc<str>, String)]) {
        if !self.candidates.iter().any(|known| known.scope == *scope) {
            self.candidates.push(Candidate {
                scope: scope.clone(),
                reading: self.reading,
                added: added.to_vec(),
            });
        }
    }
}

/// The scope with the variables that a file's path binds; `None` if they contradict it. New ones
/// are added to `added`.
fn bound(scope: &Scope, reach: &Reach, added: &mut Vec<(Arc<str>, String)>) -> Option<Scope> {
    let mut scope = scope.clone();
    for (path, value) in &reach.bindings {
        match scope.variable(path) {
            Variable::Known(known) if known == Value::string(value) => {}
            Variable::Known(_) | Variable::Undefined(_) => return None,
            Variable::Unknown => {
                scope.bind(path, value);
                added.push((path.clone(), value.clone()));
            }
        }
    }
    Some(scope)
}

/// A key as the name of a lookup: quoted if dots would split it.
fn quoted(key: &str) -> String {
    if !key.contains(['.', '\'', '"']) {
        key.to_owned()
    } else if key.contains('\'') {
        format!("\"{key}\"")
    } else {
        format!("'{key}'")
    }
}

/// One step of a loop: the key, and the file with the value that looks up the next key.
struct Step {
    key: Arc<str>,
    file: Option<Arc<str>>,
}

/// The loop that ended a lookup: the open nodes of the trace, from the first lookup of the key that
/// was looked up again.
fn circle(trace: &TraceNode) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut node = trace;
    loop {
        match &node.kind {
            TraceKind::Data(key) => steps.push(Step {
                key: key.clone(),
                file: None,
            }),
            TraceKind::Options => steps.push(Step {
                key: Arc::from(LOOKUP_OPTIONS),
                file: None,
            }),
            TraceKind::Location(location) => {
                if let Some(step) = steps.last_mut() {
                    step.file = Some(location.place.clone());
                }
            }
            TraceKind::Root
            | TraceKind::InvalidKey(_)
            | TraceKind::MergeSource
            | TraceKind::Provider { .. }
            | TraceKind::Level { .. }
            | TraceKind::Merge(_)
            | TraceKind::Interpolation(_)
            | TraceKind::Scope(_)
            | TraceKind::SubKey(_)
            | TraceKind::Segment
            | TraceKind::Module(_) => {}
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

impl Loops {
    fn take(
        &mut self,
        at: &FileContext<'_>,
        member: &str,
        circle: &[Step],
        candidate: &Candidate,
        unless: Vec<Arc<str>>,
    ) {
        let places: Vec<Option<TextRange>> = circle
            .iter()
            .enumerate()
            .map(|(index, step)| {
                let next = &circle[(index + 1) % circle.len()];
                let file = at.snapshot().file(step.file.as_deref()?)?;
                place(file, &step.key, &next.key)
            })
            .collect();
        for (index, step) in circle.iter().enumerate() {
            let is_here = step.file.as_ref() == Some(at.file.path());
            let Some(range) = places[index].filter(|_| is_here) else {
                continue;
            };
            if *top_level(&step.key) != *member {
                continue;
            }
            let in_order = (0..circle.len()).map(|by| (index + by) % circle.len());
            let others = in_order.clone().skip(1).filter_map(|other| {
                Some(Related {
                    path: circle[other].file.clone()?,
                    range: places[other]?,
                    message: format!(
                        "'{}' looks up '{}'",
                        circle[other].key,
                        circle[(other + 1) % circle.len()].key
                    ),
                })
            });
            let known = self.members.entry(range).or_insert_with(|| Member {
                keys: in_order.map(|at| circle[at].key.clone()).collect(),
                related: others.collect(),
                certain: HashSet::new(),
                condition: Condition {
                    added: candidate
                        .scope
                        .bound()
                        .map(|(path, value)| (Arc::from(path), value.to_owned()))
                        .collect(),
                    unless: unless.clone(),
                },
            });
            if candidate.added.is_empty() && unless.is_empty() {
                known.certain.insert(candidate.reading);
            }
        }
    }

    fn report(self, findings: &mut Findings<'_>) {
        let readings = self.readings;
        let mut members: Vec<(TextRange, Member)> = self.members.into_iter().collect();
        members.sort_by_key(|(range, _)| range.start);
        for (range, member) in members {
            if findings.has(range) {
                continue;
            }
            let always = member.certain.len() == readings;
            let severity = if always {
                Severity::Error
            } else {
                Severity::Warning
            };
            let message = member.message(always);
            findings.report_as(severity, range, message).related = member.related;
        }
    }
}

impl Member {
    fn message(&self, always: bool) -> String {
        let first = self.keys.first().cloned().unwrap_or_default();
        let mut message = String::from("lookup loop");
        if !always && !self.condition.added.is_empty() {
            let added: Vec<String> = self
                .condition
                .added
                .iter()
                .map(|(path, value)| format!("{path} is '{value}'"))
                .collect();
            message += &format!(" where {}", added.join(" and "));
        }
        let keys: Vec<&str> = self.keys.iter().chain([&first]).map(|key| &**key).collect();
        message += &format!(": {}", keys.join(" → "));
        if !always && !self.condition.unless.is_empty() {
            let mut levels: Vec<String> = Vec::new();
            for level in &self.condition.unless {
                let level = format!("'{level}'");
                if !levels.contains(&level) {
                    levels.push(level);
                }
            }
            message += &format!(", unless level {} sets one of them", levels.join(" or "));
        }
        if *first == *LOOKUP_OPTIONS {
            return message + ": Puppet fails on every lookup";
        }
        if self.keys.len() > 1 {
            return message + ": Puppet fails on each of these keys";
        }
        if *top_level(&first) != *first {
            return message + ": Puppet fails, since a hash cannot look up its own parts";
        }
        message + ": Puppet fails, since a key cannot use its own value, nor that of a lower level"
    }
}

/// The top-level key that a lookup of `key` reads.
fn top_level(key: &str) -> Arc<str> {
    if key == LOOKUP_OPTIONS {
        return Arc::from(key);
    }
    let parsed = Key::parse(key).ok();
    let root = parsed.as_ref().and_then(|key| key.root.as_name());
    Arc::from(root.unwrap_or(key))
}

/// The range of the reference in a file's value of a key that looks up the next key.
fn place(file: &File, key: &str, next: &str) -> Option<TextRange> {
    let root = top_level(key);
    file.facts()
        .uses()
        .find(|(owner, reference, to)| {
            owner.name == root
                && (*reference.key == *next || (next == LOOKUP_OPTIONS && ***to != *LOOKUP_OPTIONS))
        })
        .map(|(_, reference, _)| reference.range)
}
