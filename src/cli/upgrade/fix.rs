//! `upgrade --fix`: replaces legacy facts where no value changes, and says what that mends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::{UpgradeArguments, go_on, shown_line};
use crate::analysis::{ChangeExtent, RootView};
use crate::cli::check::fix::{Fixed, fixed};
use crate::cli::terminal::{ProgressLine, shown};
use crate::cli::workspace::Loaded;
use crate::cli::written::write_all;
use crate::ide::cell::{counted, nodes_text};
use crate::ide::matrix::SourceLine;
use crate::ide::secrets::without_secrets;
use crate::ide::upgrade::Upgrade;
use crate::ide::upgrade::calls::WhyKept;
use crate::ide::upgrade::report::{ReportFields, UpgradeReport, example_sides, version_name};
use crate::lookup::PuppetVersion;
use crate::plan::upgrade::{Replaced, UpgradeFixes, WhyRefused, upgrade_fixes};
use crate::rules::AfterFixes;
use crate::text::{few, number_of};
use crate::workspace::Snapshot;

/// Maximum number of places in a line.
const MAX_LISTED: usize = 5;

/// A pair of a node and a key.
type NodeAndKey = (Arc<str>, Arc<str>);

/// The proved edits, and what they mend.
pub(super) struct MadeFixes {
    fixes: UpgradeFixes,
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

impl MadeFixes {
    /// Finds the edits and proves them.
    ///
    /// # Errors
    /// No node is known, or the command was cancelled.
    pub(super) fn find(upgrade: &Upgrade<'_>, loaded: &Loaded) -> Result<MadeFixes, String> {
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
            from: upgrade.versions()[0],
            nodes: loaded.nodes.len(),
            snapshot,
            harmed: BTreeSet::new(),
            left: BTreeSet::new(),
        })
    }

    /// The keys whose answers the edits can change, in one of the versions.
    pub(super) fn touched(upgrades: [&Upgrade<'_>; 2]) -> BTreeSet<Arc<str>> {
        let keys = |views: [RootView<'_>; 2]| {
            let [one, other] = &views;
            ChangeExtent::of(one, other).keys(one, other)
        };
        let mut touched: BTreeSet<Arc<str>> = BTreeSet::new();
        touched.extend(keys(upgrades.map(Upgrade::before)));
        touched.extend(keys(upgrades.map(Upgrade::after)));
        touched
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
        let mut lines = self.made_lines(arguments);
        let mut stays: BTreeMap<(&Replaced, String), Vec<String>> = BTreeMap::new();
        for refused in &self.fixes.refused {
            let reason = reason(&refused.reason, !arguments.no_values, self.from);
            let places = stays.entry((&refused.what, reason)).or_default();
            places.push(shown_line(&refused.place));
        }
        let stays = stays.into_iter().map(|((what, reason), places)| {
            let places = few(&places, MAX_LISTED);
            match what {
                Replaced::Fact(name) => format!("'{name}' stays in {places}: {reason}"),
                Replaced::Call(name) => format!("{name}() stays in {places}: {reason}"),
            }
        });
        lines.extend(stays);
        lines
    }

    /// What was replaced, or can be.
    fn made_lines(&self, arguments: &UpgradeArguments) -> Vec<String> {
        let [facts, calls] = self.fixes.counts;
        if facts + calls == 0 {
            return vec!["no legacy fact and no call can be replaced".to_owned()];
        }
        let parts = [
            (facts > 0).then(|| format!("{} to legacy facts", number_of(facts, "reference"))),
            (calls > 0).then(|| format!("{} of functions of Hiera 3", number_of(calls, "call"))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let verb = match (arguments.diff, facts + calls) {
            (true, _) => "can be",
            (false, 1) => "is",
            (false, _) => "are",
        };
        let looked_up = match facts {
            0 => String::new(),
            _ => format!(
                " ({} looked up before and after)",
                number_of(self.fixes.keys, "key")
            ),
        };
        let made = format!(
            "{} {verb} replaced in {}: in {} no value of {} differs{looked_up}",
            parts.join(" and "),
            number_of(self.files.len(), "file"),
            version_name(self.from),
            counted(self.nodes),
        );
        let mended = (facts > 0).then(|| self.mended_line());
        std::iter::once(made).chain(mended).collect()
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
        let refused = self.fixes.refused.iter().map(|refused| {
            let (fact, function) = match &refused.what {
                Replaced::Fact(name) => (Some(&**name), None),
                Replaced::Call(name) => (None, Some(&**name)),
            };
            RefusedFields {
                fact,
                function,
                place: &refused.place,
                reason: reason(&refused.reason, has_values, self.from),
            }
        });
        FixedFields {
            report: report.fields(),
            fixes: FixFields {
                edits: self.fixes.counts.iter().sum(),
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
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'a str>,
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
        WhyRefused::Call(why) => match why {
            WhyKept::GlobalOnly => {
                "the environment has no hierarchy of version 4 or 5: it asks the global layer only"
            }
            WhyKept::Ruby => "it is called from Ruby: use scope.call_function('lookup', …)",
            WhyKept::Computed => "its key is computed",
            WhyKept::Level => "lookup has no argument for a level",
            WhyKept::Result => "its result may be used, and include() has another one",
            WhyKept::Form => "it is written as a method, or its arguments cannot be read",
        }
        .to_owned(),
        WhyRefused::NotProved => "there are too many edits to prove each".to_owned(),
    }
}
