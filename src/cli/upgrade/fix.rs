//! `upgrade --fix`: replaces legacy facts where no value changes, and says what that mends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::{UpgradeArguments, go_on, shown_line};
use crate::cli::check::fix::{Fixed, fixed};
use crate::cli::terminal::{ProgressLine, shown};
use crate::cli::workspace::Loaded;
use crate::cli::written::write_all;
use crate::ide::cell::{counted, nodes_text};
use crate::ide::matrix::SourceLine;
use crate::ide::secrets::without_secrets;
use crate::ide::upgrade::report::{ReportFields, UpgradeReport, example_sides, version_name};
use crate::ide::upgrade::{LegacyUse, Upgrade};
use crate::lookup::PuppetVersion;
use crate::plan::upgrade::{UpgradeFixes, WhyRefused, upgrade_fixes};
use crate::rules::AfterFixes;
use crate::text::{few, number_of};
use crate::workspace::Snapshot;

/// Maximum number of places in a line.
const MAX_LISTED: usize = 5;

/// A pair of a node and a key.
type NodeAndKey = (Arc<str>, Arc<str>);

/// The proved edits, and what they mend.
pub(super) struct MadeFixes<'u> {
    fixes: UpgradeFixes,
    uses: &'u [LegacyUse],
    from: PuppetVersion,
    /// The number of known nodes.
    nodes: usize,
    files: Vec<Fixed>,
    /// The workspace with the edits.
    pub(super) snapshot: Arc<Snapshot>,
    /// The lookups that fail or change without the edits.
    harmed: BTreeSet<NodeAndKey>,
    /// Those that do so with them too.
    left: BTreeSet<NodeAndKey>,
}

impl<'u> MadeFixes<'u> {
    /// Finds the edits and proves them.
    ///
    /// # Errors
    /// No node is known, or the command was cancelled.
    pub(super) fn find(upgrade: &'u Upgrade<'_>, loaded: &Loaded) -> Result<MadeFixes<'u>, String> {
        let mut progress = ProgressLine::new();
        let fixes = upgrade_fixes(upgrade, &mut |done, all| {
            progress.count(done, all, "keys proved");
            go_on()
        })?;
        progress.clear();
        let before = &loaded.here.snapshot;
        let snapshot = Arc::new(fixes.plan.after(before)?);
        let after = AfterFixes {
            snapshot: snapshot.clone(),
            touched: fixes.plan.paths().cloned().collect(),
        };
        Ok(MadeFixes {
            files: fixed(before, &after, loaded.settings()),
            fixes,
            uses: upgrade.legacy_uses(),
            from: upgrade.versions()[0],
            nodes: loaded.nodes.len(),
            snapshot,
            harmed: BTreeSet::new(),
            left: BTreeSet::new(),
        })
    }

    /// Compares what fails or changes without the edits and with them.
    pub(super) fn compare(&mut self, before: &UpgradeReport<'_>, after: &UpgradeReport<'_>) {
        self.harmed = before.harmed();
        self.left = after.harmed();
    }

    /// Whether nothing is edited.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Prints the edits as a unified diff.
    pub(super) fn print_diff(&self) {
        self.files
            .iter()
            .for_each(|file| file.print(shown(file.path())));
    }

    /// Writes the files.
    ///
    /// # Errors
    /// Why one is not written.
    pub(super) fn write(&self, folder: &str) -> Result<(), String> {
        write_all(folder, self.files.iter().map(Fixed::written))
    }

    /// The lookups that the edits mend.
    fn mended(&self) -> BTreeSet<&NodeAndKey> {
        self.harmed.difference(&self.left).collect()
    }

    /// What was replaced, what that mends, and what stays and why: a sentence each.
    pub(super) fn lines(&self, arguments: &UpgradeArguments) -> Vec<String> {
        let from = version_name(self.from);
        let mut lines = match (self.fixes.count, self.files.len()) {
            (0, _) => vec!["no legacy fact can be replaced".to_owned()],
            (count, files) => {
                let verb = if arguments.diff { "can be" } else { "are" };
                vec![
                    format!(
                        "{} to legacy facts {verb} replaced in {}: in {from} no value of {} differs ({} looked up \
                         before and after)",
                        number_of(count, "reference"),
                        number_of(files, "file"),
                        counted(self.nodes),
                        number_of(self.fixes.keys, "key"),
                    ),
                    self.mended_line(),
                ]
            }
        };
        let mut stays: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
        for refused in &self.fixes.refused {
            let Some(of) = self.uses.get(refused.at) else {
                continue;
            };
            let reason = reason(&refused.reason, !arguments.no_values, self.from);
            let places = stays.entry((&*of.name, reason)).or_default();
            places.push(shown_line(&of.place));
        }
        let stays = stays.into_iter().map(|((name, reason), places)| {
            let places = few(&places, MAX_LISTED);
            format!("'{name}' stays in {places}: {reason}")
        });
        lines.extend(stays);
        lines
    }

    fn mended_line(&self) -> String {
        let mended = self.mended();
        let nodes: BTreeSet<&Arc<str>> = mended.iter().map(|(node, _)| node).collect();
        let keys: BTreeSet<&Arc<str>> = mended.iter().map(|(_, key)| key).collect();
        let nodes: Vec<Arc<str>> = nodes.into_iter().cloned().collect();
        if nodes.is_empty() {
            return "that mends no lookup that fails or changes".to_owned();
        }
        let left = match self.left.len() {
            0 => "none is left".to_owned(),
            1 => "1 lookup is left".to_owned(),
            count => format!("{count} lookups are left"),
        };
        format!(
            "that mends {} of {} that fail or change: {} on {}; {left}",
            mended.len(),
            number_of(self.harmed.len(), "lookup"),
            number_of(keys.len(), "key"),
            nodes_text(&nodes),
        )
    }

    /// A report with the edits, for programs.
    pub(super) fn fields<'f>(
        &'f self,
        report: &'f UpgradeReport<'_>,
        has_values: bool,
    ) -> FixedFields<'f> {
        let mended = self.mended();
        let nodes: BTreeSet<&str> = mended.iter().map(|(node, _)| &**node).collect();
        let keys: BTreeSet<&str> = mended.iter().map(|(_, key)| &**key).collect();
        let refused = self.fixes.refused.iter().filter_map(|refused| {
            let of = self.uses.get(refused.at)?;
            Some(RefusedFields {
                fact: &of.name,
                place: &of.place,
                reason: reason(&refused.reason, has_values, self.from),
            })
        });
        FixedFields {
            report: report.fields(),
            fixes: FixFields {
                edits: self.fixes.count,
                files: self.files.iter().map(Fixed::path).collect(),
                proved_keys: self.fixes.keys,
                mended_nodes: nodes.into_iter().collect(),
                mended_keys: keys.into_iter().collect(),
                refused: refused.collect(),
            },
        }
    }
}

/// The report of what is left, and the edits. The format is public.
#[derive(Serialize)]
pub(super) struct FixedFields<'a> {
    #[serde(flatten)]
    report: ReportFields<'a>,
    fixes: FixFields<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixFields<'a> {
    edits: usize,
    files: Vec<&'a str>,
    proved_keys: usize,
    mended_nodes: Vec<&'a str>,
    mended_keys: Vec<&'a str>,
    refused: Vec<RefusedFields<'a>>,
}

#[derive(Serialize)]
struct RefusedFields<'a> {
    fact: &'a str,
    #[serde(flatten)]
    place: &'a SourceLine,
    reason: String,
}

/// Why a place stays as it is.
fn reason(refusal: &WhyRefused, has_values: bool, from: PuppetVersion) -> String {
    match refusal {
        WhyRefused::NoOtherFact => "no structured fact has its value".to_owned(),
        WhyRefused::Unknown(node, fact) => format!("no file tells whether {node} has {fact}"),
        WhyRefused::OtherFact(node, values) if has_values => {
            let [old, new] = values.each_ref().map(|value| match value {
                Some(value) => value.inspect(),
                None => "nothing".to_owned(),
            });
            format!("on {node} the structured fact is {new}, not {old}")
        }
        WhyRefused::OtherFact(node, _) => {
            format!("on {node} the structured fact has another value")
        }
        WhyRefused::NoOuterFact(node, outer) => {
            format!("{node} has no {outer}, and to read a part of it would be an error")
        }
        WhyRefused::SetForNodes => "a manifest sets a variable of that name for nodes".to_owned(),
        WhyRefused::Changes(difference) => {
            let shown = without_secrets(difference);
            let node = shown.after.nodes.first();
            let node = node.map(|node| format!(" on {node}")).unwrap_or_default();
            let (key, from) = (&shown.key, version_name(from));
            let change = format!("in {from} the value of '{key}'{node} would change");
            let [old, new] = example_sides(&shown, has_values);
            match has_values {
                true => format!("{change} from {old} to {new}"),
                false => change,
            }
        }
        WhyRefused::Undecided(key) => {
            format!("it is not known whether the value of '{key}' would change")
        }
        WhyRefused::File(message) => message.clone(),
        WhyRefused::NotProved => "there are too many edits to prove each".to_owned(),
    }
}
