//! What an upgrade does to lookups, by cause: sentences, Markdown and JSON.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;

use super::{Upgrade, UpgradeCause, UpgradeChange, UpgradeEffect, structured_fact};
use crate::ide::cell::{counted, nodes_text, outcome_text, shorten_distinctly, side_texts};
use crate::ide::compare::Difference;
use crate::ide::matrix::{Cell, SourceLine};
use crate::ide::secrets::without_secrets;
use crate::lookup::PuppetVersion;
use crate::text::{few, number_of};

/// Maximum number of keys, places or names in a line.
const MAX_LISTED: usize = 5;

/// Maximum width of a value, in characters.
const WIDEST: usize = 100;

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

type KeysAndNodes = (Vec<Arc<str>>, BTreeSet<Arc<str>>);

/// All changes with one cause.
#[derive(Debug)]
pub struct OfCause {
    /// The nodes for which something happens to a key, in their order.
    pub changes: BTreeMap<(UpgradeEffect, Arc<str>), Vec<Arc<str>>>,
    /// The lines that read or set what changes.
    pub places: BTreeSet<SourceLine>,
    /// One of the changes with the worst effect.
    pub example: UpgradeChange,
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
        let mut report = UpgradeReport {
            versions: upgrade.versions(),
            of: upgrade.nodes.len(),
            has_values,
            causes: BTreeMap::new(),
            untold: upgrade.untold_facts().into_iter().cloned().collect(),
            undecided: Vec::new(),
            upgrade,
        };
        for (at, key) in keys.iter().enumerate() {
            let (changes, is_undecided) = upgrade.changes(key);
            changes.into_iter().for_each(|change| report.add(change));
            if is_undecided {
                report.undecided.push(key.clone());
            }
            progress(at + 1)?;
        }
        Ok(report)
    }

    /// The pairs of a node and a key whose lookup fails, or whose value is lost or changes. Without nodes
    /// the name is empty.
    #[must_use]
    pub fn harmed(&self) -> BTreeSet<(Arc<str>, Arc<str>)> {
        let changes = self.causes.values().flat_map(|of| &of.changes);
        let harmful = changes.filter(|((effect, _), _)| *effect <= UpgradeEffect::Changes);
        let pairs = harmful
            .flat_map(|((_, key), nodes)| nodes.iter().map(|node| (node.clone(), key.clone())));
        pairs.collect()
    }

    fn add(&mut self, change: UpgradeChange) {
        let Difference { key, before, after } = &change.difference;
        let all = [before, after].map(Cell::sources);
        let mut places: BTreeSet<SourceLine> = all.into_iter().flatten().cloned().collect();
        if let UpgradeCause::LegacyFact(Some(name)) = &change.cause {
            // The places of the fact itself say more than those of the values.
            places = self.upgrade.legacy_places(name);
        }
        let effect = change.effect;
        let (key, mut nodes) = (key.clone(), after.nodes.clone());
        let known = match self.causes.entry(change.cause.clone()) {
            Entry::Vacant(cause) => cause.insert(OfCause {
                changes: BTreeMap::new(),
                places: BTreeSet::new(),
                example: change,
            }),
            Entry::Occupied(cause) => {
                let known = cause.into_mut();
                if effect < known.example.effect {
                    known.example = change;
                }
                known
            }
        };
        known.places.append(&mut places);
        let all = known.changes.entry((effect, key)).or_default();
        all.append(&mut nodes);
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
        causes.any(|of| of.worst() <= Some(UpgradeEffect::Changes))
    }

    /// The versions, and the numbers of keys and nodes.
    #[must_use]
    pub fn title(&self) -> String {
        let [from, to] = self.versions.map(version_name);
        let mut counts: BTreeMap<UpgradeEffect, BTreeSet<&str>> = BTreeMap::new();
        let mut nodes: BTreeSet<&str> = BTreeSet::new();
        for ((effect, key), of) in self.causes.values().flat_map(|of| &of.changes) {
            counts.entry(*effect).or_default().insert(key);
            nodes.extend(of.iter().map(|name| &**name));
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
            let (on, [old, new]) = self.example(of);
            lines.push((ReportLine::Example, format!("  {on}")));
            lines.push((ReportLine::Old, format!("  - {old}")));
            lines.push((ReportLine::New, format!("  + {new}")));
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
            let (on, [old, new]) = self.example(of);
            let _ = writeln!(out, "- {on}\n\n```diff\n- {old}\n+ {new}\n```");
            if let Some(fix) = fix(cause) {
                let _ = writeln!(out, "\nFix: {fix}");
            }
        }
        out
    }

    /// A change with a cause: its key and node, and both answers. Values are left out if the report has
    /// none.
    #[must_use]
    pub fn example(&self, of: &OfCause) -> (String, [String; 2]) {
        let shown = without_secrets(&of.example.difference);
        (
            example_place(&shown),
            example_sides(&shown, self.has_values),
        )
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

    /// The number of keys.
    fn count(&self) -> usize {
        self.changes.len()
    }

    /// What happens to which keys, and where.
    #[must_use]
    pub fn lines(&self, shown: ShownPlace<'_>) -> Vec<String> {
        let mut lines = effects_text(self);
        let places = self.places.iter();
        let places: Vec<String> = places.map(shown).collect();
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
    for ((effect, key), nodes) in &of.changes {
        let (keys, of) = by_effect.entry(*effect).or_default();
        keys.push(key.clone());
        of.extend(nodes.iter().cloned());
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
fn example_place(shown: &Difference) -> String {
    let Difference { key, after, .. } = shown;
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
    places: Vec<&'a SourceLine>,
    example: Difference,
}

#[derive(Serialize)]
struct ChangeFields<'a> {
    key: &'a str,
    effect: &'static str,
    nodes: &'a [Arc<str>],
}

impl<'a> CauseFields<'a> {
    fn of((cause, of): (&'a UpgradeCause, &'a OfCause)) -> CauseFields<'a> {
        let (name, subject) = name_and_subject(cause);
        let changes = of
            .changes
            .iter()
            .map(|((effect, key), nodes)| ChangeFields {
                key,
                nodes,
                effect: match effect {
                    UpgradeEffect::Fails => "fails",
                    UpgradeEffect::Lost => "lost",
                    UpgradeEffect::Changes => "changes",
                    UpgradeEffect::Works => "works",
                    UpgradeEffect::Unknown => "unknown",
                },
            });
        CauseFields {
            cause: name,
            subject,
            since: cause.since(),
            message: headline(cause),
            fix: fix(cause),
            changes: changes.collect(),
            places: of.places.iter().collect(),
            example: without_secrets(&of.example.difference),
        }
    }
}

/// The name of a cause in JSON and SARIF, and what it is about.
#[must_use]
pub fn name_and_subject(cause: &UpgradeCause) -> (&'static str, Option<&str>) {
    match cause {
        UpgradeCause::UndefinedVariable(name) => ("undefined-variable", Some(name)),
        UpgradeCause::Manifests(message) => ("manifests", Some(message)),
        UpgradeCause::Strict(message) => ("strict", Some(message)),
        UpgradeCause::LegacyFact(name) => ("legacy-fact", name.as_deref()),
        UpgradeCause::DataProvider => ("environment-data-provider", None),
        UpgradeCause::HashText => ("hash-text", None),
        UpgradeCause::Version => ("version", None),
    }
}

/// The version's name for people.
#[must_use]
pub fn version_name(version: PuppetVersion) -> &'static str {
    match version {
        PuppetVersion::V7 => "Puppet 7",
        PuppetVersion::V8 => "Puppet 8",
        PuppetVersion::V9 => "OpenVox 9",
    }
}

fn effect_text(effect: UpgradeEffect, count: usize) -> String {
    let [one, many] = match effect {
        UpgradeEffect::Fails => ["fails", "fail"],
        UpgradeEffect::Lost => ["loses its value", "lose their values"],
        UpgradeEffect::Changes => ["changes", "change"],
        UpgradeEffect::Works => ["does not fail any longer", "do not fail any longer"],
        UpgradeEffect::Unknown => ["is unknown", "are unknown"],
    };
    let verb = if count == 1 { one } else { many };
    format!("{} {verb}", number_of(count, "key"))
}

/// What Puppet does otherwise with all causes of the same name.
#[must_use]
pub fn summary(cause: &UpgradeCause) -> &'static str {
    match cause {
        UpgradeCause::UndefinedVariable(_) => "a variable that does not exist is an error",
        UpgradeCause::Manifests(_) => "manifests fail, or give nodes other variables",
        UpgradeCause::Strict(_) => "what was a warning is an error",
        UpgradeCause::LegacyFact(_) => "agents do not send legacy facts",
        UpgradeCause::DataProvider => "environment_data_provider in environment.conf is ignored",
        UpgradeCause::HashText => "hashes have another text in strings",
        UpgradeCause::Version => "Puppet behaves otherwise",
    }
}

/// What Puppet does otherwise, and from which version on.
#[must_use]
pub fn headline(cause: &UpgradeCause) -> String {
    let what = match cause {
        UpgradeCause::UndefinedVariable(name) => {
            format!("the variable '{name}' does not exist, which is an error")
        }
        UpgradeCause::Manifests(message) => format!("manifests: {message}"),
        UpgradeCause::Strict(message) => message.to_string(),
        UpgradeCause::LegacyFact(Some(name)) => {
            format!("agents do not send the legacy fact '{name}'")
        }
        UpgradeCause::LegacyFact(None)
        | UpgradeCause::DataProvider
        | UpgradeCause::HashText
        | UpgradeCause::Version => summary(cause).to_owned(),
    };
    format!("{what} (from {} on)", u8::from(cause.since()))
}

/// The edit that prevents the change.
#[must_use]
pub fn fix(cause: &UpgradeCause) -> Option<String> {
    Some(match cause {
        UpgradeCause::UndefinedVariable(_) => {
            "set the variable for these nodes, or leave the token out".to_owned()
        }
        UpgradeCause::LegacyFact(Some(name)) => match structured_fact(name) {
            Some(structured) => format!(
                "use facts.{structured}: 'hiera-ls upgrade --fix' writes it where no value changes"
            ),
            None => format!("use a structured fact instead of '{name}'"),
        },
        UpgradeCause::LegacyFact(None) => {
            "use structured facts: 'hiera-ls upgrade --fix' writes them where no value changes".to_owned()
        }
        UpgradeCause::DataProvider => "give the environment a hiera.yaml of version 5".to_owned(),
        UpgradeCause::HashText => {
            "look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}"
                .to_owned()
        }
        UpgradeCause::Manifests(_) | UpgradeCause::Strict(_) | UpgradeCause::Version => return None,
    })
}
