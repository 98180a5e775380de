//! What an upgrade does to lookups, by cause: sentences, Markdown and JSON.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::words::effect_text;
pub use super::words::{fix, headline, name_and_subject, summary, version_name};
use super::{Upgrade, UpgradeCause, UpgradeChange, UpgradeEffect, UpgradeOutcome};
use crate::ide::cell::{counted, nodes_text, outcome_text, shorten_distinctly, side_texts};
use crate::ide::compare::Difference;
use crate::ide::matrix::{Cell, SourceLine};
use crate::ide::secrets::without_secrets;
use crate::lookup::PuppetVersion;
use crate::text::few;
use crate::value::RubyChange;

/// Maximum number of keys, places or names in a line.
const MAX_LISTED: usize = 5;

/// Maximum width of a value, in characters.
const WIDEST: usize = 100;

/// What is said instead of a computed key.
const COMPUTED: &str = "(a computed key)";

/// The kind of a line of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportLine {
    /// The whole or a cause.
    Title,
    /// Something about a cause.
    Text,
    /// The key and the node of an example.
    Example,
    /// The example's answer before the upgrade.
    Old,
    /// The answer after it.
    New,
}

/// The text of a file's path and a line.
pub type ShownPlace<'s> = &'s dyn Fn(&SourceLine) -> String;

type KeysAndNodes = (Vec<String>, BTreeSet<Arc<str>>);

/// What changes: the key, and the merge of a call, as it is written, if it is what that looks up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChangedKey {
    /// The key.
    pub key: Arc<str>,
    /// The merge.
    pub merge: Option<Arc<str>>,
}

impl std::fmt::Display for ChangedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.merge {
            Some(merge) => write!(f, "{} with merge {merge}", self.key),
            None => f.write_str(&self.key),
        }
    }
}

/// For which nodes a key changes, and where.
#[derive(Clone, Debug, Default)]
pub struct ChangedNodes {
    /// The nodes, in their order.
    pub nodes: Vec<Arc<str>>,
    /// The lines that read or set it.
    places: BTreeSet<SourceLine>,
}

/// All changes with one cause.
#[derive(Debug, Default)]
pub struct OfCause {
    /// What happens to a key.
    pub changes: BTreeMap<(UpgradeEffect, ChangedKey), ChangedNodes>,
    /// One of the changes with the worst effect, if there is something to compare.
    pub example: Option<UpgradeChange>,
}

/// What an upgrade does to the known nodes.
pub struct UpgradeReport<'a> {
    versions: [PuppetVersion; 2],
    /// The number of known nodes.
    of: usize,
    has_values: bool,
    causes: BTreeMap<UpgradeCause, OfCause>,
    /// Legacy facts that are used and of which it is unknown whether nodes have them.
    untold: Vec<Arc<str>>,
    /// Keys with a variable of which it is unknown whether it exists.
    undecided: Vec<Arc<str>>,
    upgrade: &'a Upgrade<'a>,
}

impl<'a> UpgradeReport<'a> {
    /// The report of some keys. `progress` gets the number of keys that are done.
    ///
    /// # Errors
    /// An error of `progress`.
    pub fn of(
        upgrade: &'a Upgrade<'a>,
        keys: &[Arc<str>],
        has_values: bool,
        progress: &mut dyn FnMut(usize) -> Result<(), String>,
    ) -> Result<UpgradeReport<'a>, String> {
        let mut report = UpgradeReport::empty(upgrade, has_values);
        report.add_all(keys, progress)?;
        Ok(report)
    }

    /// The report after an edit that touches some keys: the others have the changes of the report
    /// before it. `progress` gets the number of the touched keys that are done.
    ///
    /// # Errors
    /// An error of `progress`.
    pub fn after(
        upgrade: &'a Upgrade<'a>,
        before: &UpgradeReport<'_>,
        touched: &[Arc<str>],
        progress: &mut dyn FnMut(usize) -> Result<(), String>,
    ) -> Result<UpgradeReport<'a>, String> {
        let is_touched: HashSet<&str> = touched.iter().map(|key| &**key).collect();
        let stays = |key: &Arc<str>| !is_touched.contains(&**key);
        let undecided = before.undecided.iter().filter(|key| stays(key));
        let mut report = UpgradeReport {
            undecided: undecided.cloned().collect(),
            ..UpgradeReport::empty(upgrade, before.has_values)
        };
        report.add_all(touched, progress)?;
        for (cause, of) in &before.causes {
            if let UpgradeCause::HieraFunction(_) = cause {
                continue;
            }
            let kept = of.changes.iter().filter(|((_, it), _)| stays(&it.key));
            let mut kept: Vec<_> = kept.map(|(it, of)| (it.clone(), of.clone())).collect();
            if let UpgradeCause::LegacyFact(Some(name)) = cause {
                for (_, of) in &mut kept {
                    of.places = upgrade.legacy_places(name);
                }
            }
            let worst = kept
                .first()
                .map(|((effect, it), _)| (*effect, it.key.clone()));
            let Some((effect, key)) = worst else {
                continue;
            };
            let of = report.causes.entry(cause.clone()).or_default();
            if of.worst().is_none_or(|worst| effect < worst) {
                let (changes, _) = upgrade.changes(&key);
                let mut alike = changes.into_iter();
                let example = alike.find(|it| it.outcome.effect == effect && it.cause == *cause);
                of.example = example.or(of.example.take());
            }
            of.changes.extend(kept);
        }
        Ok(report)
    }

    fn empty(upgrade: &'a Upgrade<'a>, has_values: bool) -> UpgradeReport<'a> {
        UpgradeReport {
            versions: upgrade.versions(),
            of: upgrade.nodes.len(),
            has_values,
            causes: BTreeMap::new(),
            untold: upgrade.untold_facts().into_iter().cloned().collect(),
            undecided: Vec::new(),
            upgrade,
        }
    }

    fn add_all(
        &mut self,
        keys: &[Arc<str>],
        progress: &mut dyn FnMut(usize) -> Result<(), String>,
    ) -> Result<(), String> {
        for (at, key) in keys.iter().enumerate() {
            let (changes, is_undecided) = self.upgrade.changes(key);
            changes.into_iter().for_each(|change| self.add(change));
            if is_undecided {
                self.undecided.push(key.clone());
            }
            progress(at + 1)?;
        }
        Ok(())
    }

    /// Adds the calls of functions of Hiera 3 of all keys for which a test holds.
    pub fn add_hiera_calls(&mut self, is_asked: &dyn Fn(&str) -> bool) {
        for call in self.upgrade.hiera_calls() {
            let key = call.key.as_deref().unwrap_or(COMPUTED);
            if !is_asked(key) {
                continue;
            }
            let cause = UpgradeCause::HieraFunction(call.function.clone());
            let key = ChangedKey {
                key: Arc::from(key),
                merge: None,
            };
            let of = self.causes.entry(cause).or_default();
            let of = of
                .changes
                .entry((UpgradeEffect::Deprecated, key))
                .or_default();
            of.places.insert(call.place.clone());
            of.nodes.extend(call.nodes.iter().cloned());
            of.nodes.sort();
            of.nodes.dedup();
        }
    }

    /// The pairs of a node and a key whose lookup fails, or whose value is lost or changes. Without nodes
    /// the name is empty.
    #[must_use]
    pub fn harmed(&self) -> BTreeSet<(Arc<str>, Arc<str>)> {
        let changes = self.causes.values().flat_map(|of| &of.changes);
        let harmful = changes.filter(|((effect, _), _)| *effect <= UpgradeEffect::Changes);
        let pairs = harmful.flat_map(|((_, key), of)| {
            let name: Arc<str> = Arc::from(key.to_string());
            of.nodes
                .iter()
                .map(move |node| (node.clone(), name.clone()))
        });
        pairs.collect()
    }

    fn add(&mut self, change: UpgradeChange) {
        let UpgradeOutcome {
            difference, effect, ..
        } = &change.outcome;
        let (effect, Difference { key, before, after }) = (*effect, difference);
        let all = [before, after].map(Cell::sources);
        let mut places: BTreeSet<SourceLine> = all.into_iter().flatten().cloned().collect();
        // The places of the cause itself say more than those of the values.
        if let UpgradeCause::LegacyFact(Some(name)) = &change.cause {
            places = self.upgrade.legacy_places(name);
        } else if change.cause == UpgradeCause::Ruby(RubyChange::JsonEscape)
            && let Some(place) = self.upgrade.refused_place(after)
        {
            places = BTreeSet::from([place]);
        }
        places.extend(change.outcome.calls.iter().cloned());
        let key = ChangedKey {
            key: key.clone(),
            merge: change.outcome.merge.clone(),
        };
        let nodes = after.nodes.clone();
        let known = self.causes.entry(change.cause.clone()).or_default();
        let all = known.changes.entry((effect, key)).or_default();
        all.nodes.extend(nodes);
        all.places.append(&mut places);
        let worst = known.example.as_ref().map(|example| example.outcome.effect);
        if worst.is_none_or(|worst| effect < worst) {
            known.example = Some(change);
        }
    }

    /// The causes, the worst first.
    #[must_use]
    pub fn causes(&self) -> Vec<(&UpgradeCause, &OfCause)> {
        let mut all: Vec<_> = self.causes.iter().collect();
        all.sort_by_key(|(_, of)| (of.worst(), std::cmp::Reverse(of.count())));
        all
    }

    /// Whether a lookup fails newly, or a value is lost or changes.
    #[must_use]
    pub fn is_harmful(&self) -> bool {
        let mut causes = self.causes.values();
        causes.any(|of| of.worst().is_some_and(|it| it <= UpgradeEffect::Changes))
    }

    /// The versions, and the numbers of keys and nodes.
    #[must_use]
    pub fn title(&self) -> String {
        let [from, to] = self.versions.map(version_name);
        let mut counts: BTreeMap<UpgradeEffect, BTreeSet<&ChangedKey>> = BTreeMap::new();
        let mut nodes: BTreeSet<&str> = BTreeSet::new();
        let changes = self.causes.values().flat_map(|of| &of.changes);
        let is_change = |effect| effect != UpgradeEffect::Deprecated;
        for ((effect, key), of) in changes.filter(|((effect, _), _)| is_change(*effect)) {
            counts.entry(*effect).or_default().insert(key);
            nodes.extend(of.nodes.iter().map(|name| &**name));
        }
        if counts.is_empty() {
            let verb = if self.is_certain() {
                "changes"
            } else {
                "is known to change"
            };
            return format!("from {from} to {to} no lookup {verb}{}", self.for_nodes());
        }
        let counts = counts.iter();
        let counts: Vec<String> = counts
            .map(|(effect, keys)| effect_text(*effect, keys.len()))
            .collect();
        let nodes = match self.of {
            0 => String::new(),
            of => format!(", on {} of {}", nodes.len(), counted(of)),
        };
        format!("from {from} to {to}: {}{nodes}", counts.join(", "))
    }

    fn for_nodes(&self) -> String {
        match self.of {
            0 => String::new(),
            1 => " for the known node".to_owned(),
            of => format!(" for any of {}", counted(of)),
        }
    }

    /// Whether all that may change is known.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.untold.is_empty() && self.undecided.is_empty()
    }

    /// What is not known, in sentences.
    #[must_use]
    pub fn unknown(&self, shown: ShownPlace<'_>) -> Vec<String> {
        let lines = [self.untold_line(shown), self.undecided_line()];
        lines.into_iter().flatten().collect()
    }

    fn undecided_line(&self) -> Option<String> {
        let (count, keys) = (self.undecided.len(), few(&self.undecided, MAX_LISTED));
        (count > 0).then(|| {
            format!("unknown: what changes in {keys}: no file tells whether their variables exist")
        })
    }

    fn untold_line(&self, shown: ShownPlace<'_>) -> Option<String> {
        let first = self.untold.first()?;
        let places = self.upgrade.legacy_places(first);
        let file = places.first()?;
        Some(format!(
            "unknown: what changes where {} {} read, such as in {}: no file tells whether nodes have {}",
            few(&self.untold, MAX_LISTED),
            if self.untold.len() == 1 { "is" } else { "are" },
            shown(file),
            if self.untold.len() == 1 { "it" } else { "them" },
        ))
    }

    /// The report for people, line by line.
    #[must_use]
    pub fn for_people(&self, shown: ShownPlace<'_>) -> Vec<(ReportLine, String)> {
        let mut lines = vec![(ReportLine::Title, self.title())];
        for (cause, of) in self.causes() {
            lines.push((ReportLine::Text, String::new()));
            lines.push((ReportLine::Title, headline(cause)));
            let texts = of.lines(shown).into_iter();
            lines.extend(texts.map(|text| (ReportLine::Text, format!("  {text}"))));
            if let Some((on, [old, new])) = self.example(of) {
                lines.push((ReportLine::Example, format!("  {on}")));
                lines.push((ReportLine::Old, format!("  - {old}")));
                lines.push((ReportLine::New, format!("  + {new}")));
            }
            let fix = fix(cause).map(|fix| (ReportLine::Text, format!("  fix: {fix}")));
            lines.extend(fix);
        }
        lines
    }

    /// The report in Markdown.
    #[must_use]
    pub fn markdown(&self, shown: ShownPlace<'_>) -> String {
        let mut out = format!("## {}\n", self.title());
        for (cause, of) in self.causes() {
            let _ = writeln!(out, "\n### {}\n", headline(cause));
            for line in of.lines(shown) {
                let _ = writeln!(out, "- {}", line.replace('`', "\u{2bb}"));
            }
            if let Some((on, [old, new])) = self.example(of) {
                let _ = writeln!(out, "- {on}\n\n```diff\n- {old}\n+ {new}\n```");
            }
            if let Some(fix) = fix(cause) {
                let _ = writeln!(out, "\nFix: {fix}");
            }
        }
        out
    }

    /// A change with a cause: its key and node, and both answers. Values are left out if the report has
    /// none.
    #[must_use]
    pub fn example(&self, of: &OfCause) -> Option<(String, [String; 2])> {
        let change = &of.example.as_ref()?.outcome;
        let shown = without_secrets(&change.difference);
        let mut sides = example_sides(&shown, self.has_values);
        if let Some(warning) = &change.warning {
            sides[1] = format!("{} (warning: {warning})", sides[1]);
        }
        Some((example_place(&shown, change.merge.as_deref()), sides))
    }

    /// The report as JSON has it.
    #[must_use]
    pub fn fields(&self) -> ReportFields<'_> {
        let [from, to] = self.versions;
        ReportFields {
            from,
            to,
            nodes: self.of,
            causes: self.causes().into_iter().map(CauseFields::of).collect(),
            untold_facts: &self.untold,
            undecided_keys: &self.undecided,
        }
    }
}

impl OfCause {
    /// The worst effect.
    #[must_use]
    pub fn worst(&self) -> Option<UpgradeEffect> {
        self.changes.keys().next().map(|(effect, _)| *effect)
    }

    /// The lines that read or set what changes.
    #[must_use]
    pub fn places(&self) -> BTreeSet<&SourceLine> {
        self.changes.values().flat_map(|of| &of.places).collect()
    }

    /// The number of keys.
    fn count(&self) -> usize {
        self.changes.len()
    }

    /// What happens to which keys, and where.
    #[must_use]
    pub fn lines(&self, shown: ShownPlace<'_>) -> Vec<String> {
        let mut lines = effects_text(self);
        let places: Vec<String> = self.places().into_iter().map(shown).collect();
        if !places.is_empty() {
            lines.push(format!("in {}", few(&places, MAX_LISTED)));
        }
        lines
    }
}

/// What happens to which keys on which nodes, a text for each effect, the worst first.
#[must_use]
pub fn effects_text(of: &OfCause) -> Vec<String> {
    let mut by_effect: BTreeMap<UpgradeEffect, KeysAndNodes> = BTreeMap::new();
    for ((effect, key), changed) in &of.changes {
        let (keys, nodes) = by_effect.entry(*effect).or_default();
        keys.push(key.to_string());
        nodes.extend(changed.nodes.iter().cloned());
    }
    let texts = by_effect.into_iter().map(|(effect, (keys, nodes))| {
        let nodes: Vec<Arc<str>> = nodes.into_iter().collect();
        let count = effect_text(effect, keys.len());
        let on = match nodes.as_slice() {
            [] => String::new(),
            nodes => format!(" on {}", nodes_text(nodes)),
        };
        format!("{count}{on}: {}", few(&keys, MAX_LISTED))
    });
    texts.collect()
}

/// The key and the node of a difference, with a colon.
fn example_place(shown: &Difference, merge: Option<&str>) -> String {
    let Difference { key, after, .. } = shown;
    let key = ChangedKey {
        key: key.clone(),
        merge: merge.map(Arc::from),
    };
    match after.nodes.first() {
        Some(node) => format!("{key} on {node}:"),
        None => match after.condition.first() {
            first if first.is_empty() => format!("{key}:"),
            first => format!("{key} where {first}:"),
        },
    }
}

/// Both answers of a difference without secrets, in one line each.
#[must_use]
pub fn example_sides(shown: &Difference, has_values: bool) -> [String; 2] {
    if has_values {
        let sides = side_texts(shown);
        return [0, 1].map(|at| sides.get(at).cloned().unwrap_or_default());
    }
    [&shown.before, &shown.after].map(|cell| match &cell.result {
        Ok(_) => "(a value)".to_owned(),
        Err(_) => shorten_distinctly(&[outcome_text(cell)], WIDEST).remove(0),
    })
}

/// The whole report. The format is public.
#[derive(Serialize)]
pub struct ReportFields<'a> {
    from: PuppetVersion,
    to: PuppetVersion,
    nodes: usize,
    causes: Vec<CauseFields<'a>>,
    #[serde(rename = "untoldFacts")]
    untold_facts: &'a [Arc<str>],
    #[serde(rename = "undecidedKeys")]
    undecided_keys: &'a [Arc<str>],
}

#[derive(Serialize)]
struct CauseFields<'a> {
    cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    since: PuppetVersion,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    changes: Vec<ChangeFields<'a>>,
    places: BTreeSet<&'a SourceLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Difference>,
}

#[derive(Serialize)]
struct ChangeFields<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge: Option<&'a str>,
    effect: &'static str,
    nodes: &'a [Arc<str>],
}

impl<'a> CauseFields<'a> {
    fn of((cause, of): (&'a UpgradeCause, &'a OfCause)) -> CauseFields<'a> {
        let (name, subject) = name_and_subject(cause);
        let changes = of
            .changes
            .iter()
            .map(|((effect, changed), of)| ChangeFields {
                key: &changed.key,
                merge: changed.merge.as_deref(),
                nodes: &of.nodes,
                effect: match effect {
                    UpgradeEffect::Fails => "fails",
                    UpgradeEffect::Lost => "lost",
                    UpgradeEffect::Changes => "changes",
                    UpgradeEffect::Works => "works",
                    UpgradeEffect::Warns => "warns",
                    UpgradeEffect::Unknown => "unknown",
                    UpgradeEffect::Deprecated => "deprecated",
                },
            });
        CauseFields {
            cause: name,
            subject,
            since: cause.since(),
            message: headline(cause),
            fix: fix(cause),
            changes: changes.collect(),
            places: of.places(),
            example: of
                .example
                .as_ref()
                .map(|it| without_secrets(&it.outcome.difference)),
        }
    }
}
