//! The edits that prepare an upgrade, each proved: in the old version every known node gets from every
//! lookup what it got before.
//!
//! The edits are made together and all keys that they can affect are looked up. If a value differs,
//! the edits that are to blame are found by halves, and not made.

use std::sync::Arc;

use super::proof::after;
use crate::analysis::RootView;
use crate::edit::Plan;
use crate::ide::compare::{Difference, compare_versions};
use crate::ide::upgrade::{LegacyUse, Upgrade, effect, structured_fact};
use crate::scope::{KnownNodes, top_name};
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
    /// The number of edits.
    pub count: usize,
    /// The places that stay as they are.
    pub refused: Vec<RefusedFix>,
    /// The number of keys that were looked up for all nodes, before and after.
    pub keys: usize,
}

/// A place that reads a legacy fact and is not edited.
#[derive(Debug)]
pub struct RefusedFix {
    /// The index among [`Upgrade::legacy_uses()`].
    pub at: usize,
    /// Why.
    pub reason: WhyRefused,
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
    /// The limit of proofs was reached.
    NotProved,
}

/// An edit, by the index of its place.
struct LegacyEdit<'u> {
    at: usize,
    it: &'u LegacyUse,
    /// Whether both facts are known to have the same value on every node.
    is_same: bool,
}

/// The effect of a plan on the old version.
struct ProvedEffect {
    differences: Vec<Difference>,
    undecided: Vec<Arc<str>>,
    /// The number of keys.
    keys: usize,
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
    let mut candidates = Vec::new();
    for (at, it) in upgrade.legacy_uses().iter().enumerate() {
        if !it.is_own {
            continue;
        }
        match is_same_fact(&before, it) {
            Ok(is_same) => candidates.push(LegacyEdit { at, it, is_same }),
            Err(reason) => fixes.refused.push(RefusedFix { at, reason }),
        }
    }
    let mut search = Search {
        before: &before,
        left: MAX_PROOFS,
        progress,
    };
    let mut is_proved = false;
    for _ in 0..MAX_ROUNDS {
        let all: Vec<&LegacyEdit<'_>> = candidates.iter().collect();
        let found = search.effect(&all, &[])?;
        let Some(reason) = found.reason(&all) else {
            fixes.keys = found.keys;
            is_proved = true;
            break;
        };
        let mut refused = search.blamed(&all, &found.blaming_keys(), &reason)?;
        if refused.is_empty() {
            // Several edits together do what none of them does alone.
            refused.extend(all.iter().map(|one| (one.at, reason.clone())));
        }
        candidates.retain(|one| refused.iter().all(|(at, _)| *at != one.at));
        let refused = refused.into_iter();
        let refused = refused.map(|(at, reason)| RefusedFix { at, reason });
        fixes.refused.extend(refused);
    }
    if !is_proved {
        let rest = candidates.drain(..).map(|one| RefusedFix {
            at: one.at,
            reason: WhyRefused::NotProved,
        });
        fixes.refused.extend(rest);
    }
    fixes.refused.sort_by_key(|one| one.at);
    fixes.count = candidates.len();
    fixes.plan = plan_of(candidates.iter());
    Ok(fixes)
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
    let old: Arc<str> = Arc::from(it.written.trim_start_matches("::"));
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

fn plan_of<'c>(candidates: impl Iterator<Item = &'c LegacyEdit<'c>>) -> Plan {
    let mut plan = Plan::default();
    for one in candidates {
        if let Some(edit) = edit_of(one.it) {
            plan.add(&one.it.finding.path, edit);
        }
    }
    plan
}

impl ProvedEffect {
    /// Why some of these edits must not be made; `None` if all may.
    fn reason(&self, edits: &[&LegacyEdit<'_>]) -> Option<WhyRefused> {
        if let Some(first) = self.differences.first() {
            return Some(WhyRefused::Changes(Box::new(first.clone())));
        }
        // If both facts have the same value on every node, so have all lookups.
        let first = self.undecided.first()?;
        let is_sure = edits.iter().all(|edit| edit.is_same);
        (!is_sure).then(|| WhyRefused::Undecided(first.clone()))
    }

    /// Some of the keys that have another value, or may have one.
    fn blaming_keys(&self) -> Vec<Arc<str>> {
        let differing = self.differences.iter().map(|it| &it.key);
        let mut keys: Vec<Arc<str>> = differing.chain(&self.undecided).cloned().collect();
        keys.dedup();
        keys.truncate(MAX_KEYS);
        keys
    }
}

struct Search<'s> {
    before: &'s RootView<'s>,
    /// How many more proofs may be made.
    left: usize,
    progress: &'s mut dyn FnMut(usize, usize) -> Result<(), String>,
}

impl Search<'_> {
    /// The effect of some edits on some keys; on all that they can affect, if `keys` is empty.
    fn effect(
        &mut self,
        edits: &[&LegacyEdit<'_>],
        keys: &[Arc<str>],
    ) -> Result<ProvedEffect, String> {
        self.left = self.left.saturating_sub(1);
        let mut found = ProvedEffect {
            differences: Vec::new(),
            undecided: Vec::new(),
            keys: 0,
        };
        let plan = plan_of(edits.iter().copied());
        if plan.is_empty() {
            return Ok(found);
        }
        let before = self.before;
        let undecided = after(before, &plan, |after| {
            compare_versions(before, after, keys, &mut |differences, done, all| {
                let differences = differences.into_iter();
                let known = differences.filter(|it| effect(&it.before, &it.after).is_some());
                found.differences.extend(known);
                found.keys = done;
                (self.progress)(done, all)
            })
        })??;
        found.undecided = undecided.into_iter().map(|it| it.key).collect();
        Ok(found)
    }

    /// The edits that alone change one of the keys, by halves.
    fn blamed(
        &mut self,
        edits: &[&LegacyEdit<'_>],
        keys: &[Arc<str>],
        reason: &WhyRefused,
    ) -> Result<Vec<(usize, WhyRefused)>, String> {
        if let [one] = edits {
            return Ok(vec![(one.at, reason.clone())]);
        }
        let mut blamed = Vec::new();
        let (first, second) = edits.split_at(edits.len() / 2);
        for half in [first, second] {
            if half.is_empty() {
                continue;
            }
            if self.left == 0 {
                blamed.extend(half.iter().map(|one| (one.at, WhyRefused::NotProved)));
                continue;
            }
            if let Some(reason) = self.effect(half, keys)?.reason(half) {
                blamed.extend(self.blamed(half, keys, &reason)?);
            }
        }
        Ok(blamed)
    }
}
