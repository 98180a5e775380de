//! The preview of an upgrade in an editor: the report as a document, and what becomes of a key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::kept::KeptPreviews;
use super::report::UpgradeReport;
use super::{Upgrade, UpgradeEffect};
use crate::analysis::{Analysis, RootView};
use crate::ide::cell::{counted, nodes_text, outcome_text, shorten_distinctly};
use crate::ide::document::{Document, OnProgress, cancelled};
use crate::ide::json::json;
use crate::ide::matrix::SourceLine;
use crate::ide::secrets::without_secrets;
use crate::ide::target::key_at;
use crate::interpolation::root_of;
use crate::lookup::{PuppetVersion, Settings};
use crate::scope::KnownNodes;

/// Maximum width of an error in a hover, in characters.
const WIDEST: usize = 80;

/// An upgrade to preview.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The old and the new version.
    pub versions: (PuppetVersion, PuppetVersion),
    /// Puppet's settings in each version, in the order of [`PuppetVersion::ALL`].
    pub settings: [Settings; 3],
}

impl Preview {
    /// The settings of a version.
    pub(super) fn of(&self, version: PuppetVersion) -> Settings {
        let mut all = PuppetVersion::ALL.iter().zip(&self.settings);
        let found = all.find(|(one, _)| **one == version);
        found.map_or_else(|| Settings::for_version(version), |(_, it)| it.clone())
    }

    fn upgrade<'a>(&'a self, view: &'a RootView<'_>, nodes: &'a KnownNodes) -> Upgrade<'a> {
        let place = (view.analysis.snapshot, view.root, view.analysis.environment);
        Upgrade::new(place, nodes, |version| self.of(version), self.versions)
    }
}

/// The report of an upgrade for the environment of a view.
///
/// # Errors
/// The versions are no upgrade, or the request was cancelled.
pub fn document(
    view: &RootView<'_>,
    preview: &Preview,
    progress: OnProgress<'_>,
) -> Result<Document, String> {
    let (from, to) = preview.versions;
    if from >= to {
        let [from, to] = [from, to].map(u8::from);
        return Err(format!("{from} to {to} is no upgrade"));
    }
    let nodes = view.analysis.nodes.as_given();
    let upgrade = preview.upgrade(view, &nodes);
    let keys = upgrade.keys();
    let mut report = UpgradeReport::of(&upgrade, &keys, true, &mut |done| {
        progress(done, keys.len());
        match (view.analysis.is_cancelled)() {
            true => Err(cancelled()),
            false => Ok(()),
        }
    })?;
    report.add_hiera_calls(&|_| true);
    let snapshot = view.analysis.snapshot;
    let shown = |place: &SourceLine| format!("{}:{}", snapshot.short_name(&place.file), place.line);
    let lines = report.for_people(&shown).into_iter();
    let mut content: String = lines.map(|(_, line)| line + "\n").collect();
    let unknown = report.unknown(&shown);
    if !unknown.is_empty() {
        content += &format!("\n{}\n", unknown.join("\n"));
    }
    let [from, to] = [from, to].map(super::report::version_name);
    Ok(Document {
        title: format!("Upgrade from {from} to {to}"),
        language: "text",
        content,
        data: Some(json(&report.fields())),
        ..Document::default()
    })
}

/// What becomes of the key at an offset of a file: `changes in 9: fails on 2 nodes: …`; `None` if there
/// is no key, or no hierarchy reads the file. Costs the rows of the key in both versions, unless the line
/// is kept.
#[must_use]
pub fn line(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    (preview, kept): (&Preview, &KeptPreviews),
) -> Option<Arc<str>> {
    let key = root_of(&key_at(analysis.snapshot, path, offset)?);
    let view = analysis.answering(path)?;
    Some(kept.line(&view, &key, preview, || line_of(&view, &key, preview)))
}

pub(super) fn line_of(view: &RootView<'_>, key: &str, preview: &Preview) -> String {
    let nodes = view.analysis.nodes.as_given();
    let upgrade = preview.upgrade(view, &nodes);
    let (outcomes, is_undecided) = upgrade.outcomes(key);
    let mut by_effect: BTreeMap<UpgradeEffect, (BTreeSet<Arc<str>>, String)> = BTreeMap::new();
    for outcome in &outcomes {
        let shown = without_secrets(&outcome.difference);
        let new = || shorten_distinctly(&[outcome_text(&shown.after)], WIDEST).remove(0);
        let (nodes, _) = by_effect
            .entry(outcome.effect)
            .or_insert_with(|| (BTreeSet::new(), new()));
        nodes.extend(shown.after.nodes.iter().cloned());
    }
    let parts = by_effect.into_iter().map(|(effect, (on, new))| {
        let on: Vec<Arc<str>> = on.into_iter().collect();
        let on = match (on.len(), nodes.len()) {
            (0, _) => "for some facts".to_owned(),
            (1, _) => format!("on {}", nodes_text(&on)),
            (count, all) if count == all => format!("on all {}", counted(all)),
            (count, all) => format!("on {count} of {}", counted(all)),
        };
        match effect {
            UpgradeEffect::Fails => format!("fails {on}: {new}"),
            UpgradeEffect::Lost => format!("no value {on} any longer"),
            UpgradeEffect::Changes => format!("another value {on}: {new}"),
            UpgradeEffect::Works => format!("does not fail {on} any longer: {new}"),
            UpgradeEffect::Warns => format!("a new warning {on}"),
            UpgradeEffect::Unknown => format!("unknown {on}"),
            UpgradeEffect::Deprecated => format!("looked up by a deprecated function {on}"),
        }
    });
    let mut parts: Vec<String> = parts.collect();
    if is_undecided {
        parts.push("unknown where no file tells whether its variables exist".to_owned());
    }
    if parts.is_empty() {
        parts.push("nothing".to_owned());
    }
    let to = u8::from(preview.versions.1);
    format!("changes in {to}: {}", parts.join("; "))
}
