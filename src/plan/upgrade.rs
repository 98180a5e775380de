//! The edits that prepare an upgrade, each proved: in the old version every known node gets from every
//! lookup what it got before.
//!
//! Two kinds of edits: structured facts instead of legacy ones, and `lookup` instead of the functions
//! of Hiera 3. The edits are made together and all keys that they can affect are looked up. If a value
//! differs, the edits that are to blame are found by halves, and not made; then only the keys that
//! those can affect are looked up again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::proof::after;
use crate::analysis::{ChangeExtent, RootView};
use crate::edit::Plan;
use crate::ide::compare::{Difference, compare_versions};
use crate::ide::matrix::SourceLine;
use crate::ide::upgrade::calls::{HieraCall, WhyKept};
use crate::ide::upgrade::{LegacyUse, Upgrade, effect, structured_fact};
use crate::scope::{KnownNodes, top_name};
use crate::syntax::puppet::without_colons;
use crate::text::TextEdit;
use crate::value::Value;

/// Maximum number of proofs to find the edits to blame; then the rest is not made.
const MAX_PROOFS: usize = 500;

/// Maximum number of differing keys by which edits are blamed in one round.
const MAX_KEYS: usize = 20;

/// Maximum number of rounds of a whole proof.
const MAX_ROUNDS: usize = 20;

/// The proved edits for an upgrade.
#[derive(Debug, Default)]
pub struct UpgradeFixes {
    /// The edits.
    pub plan: Plan,
    /// The number of edits of each kind: legacy facts, calls.
    pub counts: [usize; 2],
    /// The places that stay as they are.
    pub refused: Vec<RefusedFix>,
    /// The number of keys that were looked up for all nodes, before and after.
    pub keys: usize,
}

/// A place that reads a legacy fact or calls a function of Hiera 3, and is not edited.
#[derive(Debug)]
pub struct RefusedFix {
    /// The fact, or the function.
    pub what: Replaced,
    /// Where it stands.
    pub place: SourceLine,
    /// Why.
    pub reason: WhyRefused,
}

/// What an edit replaces.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Replaced {
    /// A legacy fact, by its name.
    Fact(Arc<str>),
    /// A call of a function of Hiera 3, by its name.
    Call(Arc<str>),
}

/// Why an edit is not made.
#[derive(Clone, Debug)]
pub enum WhyRefused {
    /// No structured fact has the value.
    NoOtherFact,
    /// No file tells whether a node has a fact: the node, and the variable.
    Unknown(Arc<str>, Arc<str>),
    /// A manifest would read another value: the node, and both.
    OtherFact(Arc<str>, Box<[Option<Value>; 2]>),
    /// `$facts['os']['name']` is an error on a node without the outer fact: the node, and that fact.
    NoOuterFact(Arc<str>, Arc<str>),
    /// A site manifest or a node block sets a variable of that name.
    SetForNodes,
    /// A lookup would have another value in the old version.
    Changes(Box<Difference>),
    /// It is unknown whether a lookup would have another value: its key.
    Undecided(Arc<str>),
    /// The file cannot be edited, in words.
    File(String),
    /// A call has another result than `lookup`, or that is not known.
    Call(WhyKept),
    /// The limit of proofs was reached.
    NotProved,
}

/// An edit of one place.
#[derive(Clone)]
struct FixOfPlace<'u> {
    what: Replaced,
    path: &'u Arc<str>,
    place: &'u SourceLine,
    edits: Vec<TextEdit>,
    /// Whether what it replaces is known to have the same value on every node.
    is_same: bool,
}

impl<'u> FixOfPlace<'u> {
    fn of_fact(it: &'u LegacyUse, edit: TextEdit, is_same: bool) -> FixOfPlace<'u> {
        FixOfPlace {
            what: Replaced::Fact(it.name.clone()),
            path: &it.finding.path,
            place: &it.place,
            edits: vec![edit],
            is_same,
        }
    }

    fn of_call(it: &'u HieraCall, edits: &[TextEdit]) -> FixOfPlace<'u> {
        FixOfPlace {
            what: Replaced::Call(it.function.clone()),
            path: &it.path,
            place: &it.place,
            edits: edits.to_vec(),
            is_same: true,
        }
    }

    fn refused(&self, reason: WhyRefused) -> RefusedFix {
        RefusedFix {
            what: self.what.clone(),
            place: self.place.clone(),
            reason,
        }
    }

    fn is_at(&self, refused: &RefusedFix) -> bool {
        self.what == refused.what && *self.place == refused.place
    }
}

/// The effect of a plan on the old version.
struct ProvedEffect {
    differences: Vec<Difference>,
    undecided: Vec<Arc<str>>,
}

/// The edits of all places that read legacy facts, proved. `progress` gets the number of keys that are
/// looked up and of all keys.
///
/// # Errors
/// No node is known, or an error of `progress`.
pub fn upgrade_fixes(
    upgrade: &Upgrade<'_>,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), String>,
) -> Result<UpgradeFixes, String> {
    let before = upgrade.before();
    let nodes = before.analysis.nodes;
    if nodes.is_empty() {
        return Err("no nodes are known for which an edit could be proved".to_owned());
    }
    let mut fixes = UpgradeFixes::default();
    let mut candidates = candidates(upgrade, &before, &mut fixes.refused);
    let mut search = Search {
        before: &before,
        left: MAX_PROOFS,
        progress,
    };
    let mut keys = search.touched(None, &candidates)?;
    fixes.keys = keys.len();
    let mut is_proved = false;
    for _ in 0..MAX_ROUNDS {
        let all: Vec<&FixOfPlace<'_>> = candidates.iter().collect();
        let found = search.effect(&all, &keys)?;
        let Some(reason) = found.reason(&all) else {
            is_proved = true;
            break;
        };
        let mut refused = search.blamed(&all, &found.blaming_keys(), &reason)?;
        if refused.is_empty() {
            // Several edits together do what none of them does alone.
            refused.extend(all.iter().map(|one| one.refused(reason.clone())));
        }
        let is_refused = |one: &FixOfPlace<'_>| refused.iter().any(|it| one.is_at(it));
        let rest = candidates.iter().filter(|one| !is_refused(one));
        let rest: Vec<FixOfPlace<'_>> = rest.cloned().collect();
        // The other keys have the values that were just looked up.
        let again = search.touched(Some(&candidates), &rest)?;
        let differing = found.all_keys();
        keys.retain(|key| again.contains(key) || differing.contains(key));
        candidates = rest;
        fixes.refused.extend(refused);
    }
    if !is_proved {
        let rest = candidates.drain(..);
        fixes
            .refused
            .extend(rest.map(|one| one.refused(WhyRefused::NotProved)));
    }
    fixes
        .refused
        .sort_by(|one, other| one.place.cmp(&other.place));
    let calls = candidates
        .iter()
        .filter(|one| matches!(one.what, Replaced::Call(_)));
    let calls = calls.count();
    fixes.counts = [candidates.len() - calls, calls];
    fixes.plan = plan_of(candidates.iter());
    Ok(fixes)
}

/// The edits that may be made, if no lookup changes. Adds the places that must not be edited, whatever lookups say.
fn candidates<'u>(
    upgrade: &'u Upgrade<'_>,
    before: &RootView<'_>,
    refused: &mut Vec<RefusedFix>,
) -> Vec<FixOfPlace<'u>> {
    let mut candidates = Vec::new();
    for it in upgrade.legacy_uses().iter().filter(|it| it.is_own) {
        match (is_same_fact(before, it), edit_of(it)) {
            (Ok(is_same), Some(edit)) => candidates.push(FixOfPlace::of_fact(it, edit, is_same)),
            (is_same, _) => refused.push(RefusedFix {
                what: Replaced::Fact(it.name.clone()),
                place: it.place.clone(),
                reason: is_same.err().unwrap_or(WhyRefused::NoOtherFact),
            }),
        }
    }
    for call in upgrade.hiera_calls() {
        match &call.edits {
            Ok(edits) => candidates.push(FixOfPlace::of_call(call, edits)),
            Err(reason) => refused.push(RefusedFix {
                what: Replaced::Call(call.function.clone()),
                place: call.place.clone(),
                reason: WhyRefused::Call(*reason),
            }),
        }
    }
    candidates
}

/// Whether a legacy fact and its structured one have the same value on every node.
///
/// # Errors
/// Why the place must not be edited, whatever lookups say.
fn is_same_fact(before: &RootView<'_>, it: &LegacyUse) -> Result<bool, WhyRefused> {
    let nodes = before.analysis.nodes;
    let structured = structured_fact(&it.name).filter(|_| edit_of(it).is_some());
    let structured = structured.ok_or(WhyRefused::NoOtherFact)?;
    let mut alone = Plan::default();
    alone
        .edits
        .extend(edit_of(it).map(|edit| (it.finding.path.clone(), vec![edit])));
    alone
        .changed(before.analysis.snapshot)
        .map_err(WhyRefused::File)?;
    let is_bare = top_name(&it.written) == &*it.written;
    if it.is_code && is_bare && is_set_for_nodes(before, &it.name) {
        return Err(WhyRefused::SetForNodes);
    }
    let old: Arc<str> = Arc::from(without_colons(&it.written));
    let new: Arc<str> = Arc::from(format!("facts.{structured}"));
    let [of_old, of_new] = [&old, &new].map(|path| nodes.column(path));
    for (column, path) in [(&of_old, &old), (&of_new, &new)] {
        let mut members = 0..nodes.len();
        let unknown = column.unknown;
        if let Some(member) = members.find(|member| column.ids.get(*member).copied() == unknown)
            && unknown.is_some()
        {
            return Err(WhyRefused::Unknown(nodes.shared_name(member), path.clone()));
        }
    }
    let mut members = 0..nodes.len();
    let other = members.find(|member| of_old.value(*member) != of_new.value(*member));
    if it.is_code {
        // What a manifest does with it is not looked up.
        if let Some(member) = other {
            let values = [&of_old, &of_new].map(|column| column.value(member).cloned());
            return Err(WhyRefused::OtherFact(
                nodes.shared_name(member),
                Box::new(values),
            ));
        }
        has_outer_fact(nodes, structured)?;
    }
    Ok(other.is_none())
}

/// Refuses `$facts['os']['name']` if a node has no `os`.
fn has_outer_fact(nodes: &KnownNodes, structured: &str) -> Result<(), WhyRefused> {
    let Some((outer, _)) = structured.rsplit_once('.') else {
        return Ok(());
    };
    let column = nodes.column(&Arc::from(format!("facts.{outer}")));
    let mut members = 0..nodes.len();
    let lacking = members.find(|member| !matches!(column.value(*member), Some(Value::Hash(_))));
    match lacking {
        Some(member) => {
            let outer = Arc::from(format!("facts.{outer}"));
            Err(WhyRefused::NoOuterFact(nodes.shared_name(member), outer))
        }
        None => Ok(()),
    }
}

/// Whether a manifest sets a variable for nodes that classes see without `::`.
fn is_set_for_nodes(before: &RootView<'_>, name: &str) -> bool {
    let files = before.analysis.snapshot.files();
    let code = files.filter_map(|file| file.facts().code.as_deref());
    let mut variables = code.flat_map(|code| code.variables.iter());
    variables.any(|variable| *variable.name == *name)
}

/// The edit that names the structured fact.
fn edit_of(it: &LegacyUse) -> Option<TextEdit> {
    it.finding.fixes.first()?.edits.first().cloned()
}

fn plan_of<'c>(candidates: impl Iterator<Item = &'c FixOfPlace<'c>>) -> Plan {
    let mut plan = Plan::default();
    for one in candidates {
        for edit in &one.edits {
            plan.add(one.path, edit.clone());
        }
    }
    plan
}

impl ProvedEffect {
    /// Why some of these edits must not be made; `None` if all may.
    fn reason(&self, edits: &[&FixOfPlace<'_>]) -> Option<WhyRefused> {
        if let Some(first) = self.differences.first() {
            return Some(WhyRefused::Changes(Box::new(first.clone())));
        }
        // If both facts have the same value on every node, so have all lookups.
        let first = self.undecided.first()?;
        let is_sure = edits.iter().all(|edit| edit.is_same);
        (!is_sure).then(|| WhyRefused::Undecided(first.clone()))
    }

    /// The keys that have another value, or may have one.
    fn all_keys(&self) -> BTreeSet<Arc<str>> {
        let differing = self.differences.iter().map(|it| &it.key);
        differing.chain(&self.undecided).cloned().collect()
    }

    /// Some of them.
    fn blaming_keys(&self) -> Vec<Arc<str>> {
        self.all_keys().into_iter().take(MAX_KEYS).collect()
    }
}

struct Search<'s> {
    before: &'s RootView<'s>,
    /// How many more proofs may be made.
    left: usize,
    progress: &'s mut dyn FnMut(usize, usize) -> Result<(), String>,
}

impl Search<'_> {
    /// The keys that some edits can affect, as against others, or none.
    fn touched(
        &self,
        others: Option<&[FixOfPlace<'_>]>,
        edits: &[FixOfPlace<'_>],
    ) -> Result<Vec<Arc<str>>, String> {
        let keys = |one: &RootView<'_>, other: &RootView<'_>| {
            ChangeExtent::of(one, other).keys(one, other)
        };
        let plan = plan_of(edits.iter());
        let before = self.before;
        let others = others.map(|others| plan_of(others.iter()));
        let Some(others) = others.filter(|plan| !plan.is_empty()) else {
            return match plan.is_empty() {
                true => Ok(Vec::new()),
                false => after(before, &plan, |after| keys(before, after)),
            };
        };
        after(before, &others, |one| match plan.is_empty() {
            true => Ok(keys(one, before)),
            false => after(before, &plan, |other| keys(one, other)),
        })?
    }

    /// The effect of some edits on some keys.
    fn effect(
        &mut self,
        edits: &[&FixOfPlace<'_>],
        keys: &[Arc<str>],
    ) -> Result<ProvedEffect, String> {
        self.left = self.left.saturating_sub(1);
        let mut found = ProvedEffect {
            differences: Vec::new(),
            undecided: Vec::new(),
        };
        let plan = plan_of(edits.iter().copied());
        if plan.is_empty() || keys.is_empty() {
            return Ok(found);
        }
        let before = self.before;
        let undecided = after(before, &plan, |after| {
            compare_versions(before, after, keys, &mut |differences, done, all| {
                let differences = differences.into_iter();
                let known = differences.filter(|it| effect(&it.before, &it.after).is_some());
                found.differences.extend(known);
                (self.progress)(done, all)
            })
        })??;
        found.undecided = undecided.into_iter().map(|it| it.key).collect();
        Ok(found)
    }

    /// The edits that alone change one of the keys, by halves.
    fn blamed(
        &mut self,
        edits: &[&FixOfPlace<'_>],
        keys: &[Arc<str>],
        reason: &WhyRefused,
    ) -> Result<Vec<RefusedFix>, String> {
        if let [one] = edits {
            return Ok(vec![one.refused(reason.clone())]);
        }
        let mut blamed = Vec::new();
        let (first, second) = edits.split_at(edits.len() / 2);
        for half in [first, second] {
            if half.is_empty() {
                continue;
            }
            if self.left == 0 {
                blamed.extend(half.iter().map(|one| one.refused(WhyRefused::NotProved)));
                continue;
            }
            if let Some(reason) = self.effect(half, keys)?.reason(half) {
                blamed.extend(self.blamed(half, keys, &reason)?);
            }
        }
        Ok(blamed)
    }
}
