//! `hiera-ls upgrade`: the lookups that fail or change for known nodes with another version of Puppet,
//! by the change of Puppet that causes it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::console;
use super::puppet::puppet_version;
use super::suggestions::KnownKeys;
use super::terminal::{Layout, Paint, ProgressLine, complain, print, remark, shown};
use super::workspace::{WorkspaceArguments, load_with_any_nodes};
use super::{Ended, usage};
use crate::analysis::keys_of_all;
use crate::ide::cell::{counted, nodes_text, outcome_text, shorten_distinctly, side_texts};
use crate::ide::compare::Difference;
use crate::ide::json::json;
use crate::ide::matrix::{Cell, SourceLine};
use crate::ide::secrets::without_secrets;
use crate::ide::upgrade::{Upgrade, UpgradeCause, UpgradeChange, UpgradeEffect, structured_fact};
use crate::lookup::PuppetVersion;
use crate::text::{few, number_of};

/// Exit code if a lookup fails newly, or a value is lost or changes.
const CHANGES: u8 = 1;

/// Exit code if nothing changes for certain, but something may.
const UNDECIDED: u8 = 3;

/// Maximum number of keys, places or names in a line.
const MAX_LISTED: usize = 5;

/// Maximum width of a value, in characters.
const WIDEST: usize = 100;

/// Which upgrade, of which nodes.
#[derive(Args)]
pub(super) struct UpgradeArguments {
    /// The version of today [default: --puppet-version, else as .hiera-ls.yaml says, else 7]
    #[arg(long, value_name = "7|8", value_parser = puppet_version)]
    from: Option<PuppetVersion>,
    /// The version to upgrade to; 9 is OpenVox 9
    #[arg(long, value_name = "8|9", value_parser = puppet_version, default_value = "9")]
    to: PuppetVersion,
    /// Only these keys; * stands for any characters
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Print no values: for public logs
    #[arg(long)]
    no_values: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: UpgradeFormat,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// How the changes are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum UpgradeFormat {
    /// For people
    #[default]
    Text,
    /// Markdown, as for a comment on a pull request
    Markdown,
    /// One JSON object
    Json,
}

/// Runs the command: exit code 0 if no lookup changes, 1 if one fails, loses its value or changes, 2 if
/// something could not be read, 3 if nothing changes for certain, but something may.
pub(super) fn run(arguments: &UpgradeArguments) -> ExitCode {
    compared(arguments).unwrap_or_else(|message| {
        complain(&message);
        ExitCode::from(usage::SENSELESS)
    })
}

fn compared(arguments: &UpgradeArguments) -> Ended {
    let mut flags = arguments.workspace.clone();
    flags.puppet = flags.puppet.with_version(arguments.from);
    let loaded = load_with_any_nodes(&flags, &[])?;
    let (upgrade, from) = loaded.upgrade(&flags.puppet, arguments.to)?;
    loaded.note_known_nodes();
    let views = [upgrade.before(), upgrade.after()];
    let (keys, missing) = match arguments.keys.as_slice() {
        [] => (keys_of_all(&views), Vec::new()),
        keys => KnownKeys::of(&views).chosen(keys),
    };
    missing.iter().for_each(|message| complain(message));
    let mut report = UpgradeReport {
        versions: [from, arguments.to],
        of: loaded.nodes.len(),
        has_values: !arguments.no_values,
        causes: BTreeMap::new(),
        untold: upgrade.untold_facts().into_iter().cloned().collect(),
        undecided: Vec::new(),
        upgrade: &upgrade,
    };
    let mut progress = ProgressLine::new();
    for (at, key) in keys.iter().enumerate() {
        let (changes, is_undecided) = upgrade.changes(key);
        changes.into_iter().for_each(|change| report.add(change));
        if is_undecided {
            report.undecided.push(key.clone());
        }
        progress.count(at + 1, keys.len(), "keys");
        if console::is_cancelled() {
            return Err(console::CANCELLED.to_owned());
        }
    }
    progress.clear();
    let text = match arguments.format {
        UpgradeFormat::Text => report.text(Layout::of_output()),
        UpgradeFormat::Markdown => report.markdown(),
        UpgradeFormat::Json => json(&report.fields()) + "\n",
    };
    print(&text)?;
    for line in report.untold_line().iter().chain(&report.undecided_line()) {
        remark(line);
    }
    Ok(if !missing.is_empty() {
        ExitCode::from(usage::SENSELESS)
    } else if report.is_harmful() {
        ExitCode::from(CHANGES)
    } else if report.is_certain() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(UNDECIDED)
    })
}

type KeysAndNodes = (Vec<Arc<str>>, BTreeSet<Arc<str>>);

/// All changes with one cause.
struct OfCause {
    /// The nodes for which something happens to a key, in their order.
    changes: BTreeMap<(UpgradeEffect, Arc<str>), Vec<Arc<str>>>,
    places: BTreeSet<SourceLine>,
    /// One of the changes with the worst effect.
    example: UpgradeChange,
}

struct UpgradeReport<'a> {
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

impl UpgradeReport<'_> {
    fn add(&mut self, change: UpgradeChange) {
        let Difference { key, before, after } = &change.difference;
        let all = [before, after].map(Cell::sources);
        let mut places: BTreeSet<SourceLine> = all.into_iter().flatten().cloned().collect();
        if let UpgradeCause::LegacyFact(Some(name)) = &change.cause {
            // The places of the fact itself say more than those of the values.
            let named = self.upgrade.legacy_facts.get(name);
            places = named.cloned().unwrap_or(places);
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
    fn causes(&self) -> Vec<(&UpgradeCause, &OfCause)> {
        let mut all: Vec<_> = self.causes.iter().collect();
        all.sort_by_key(|(_, of)| (of.worst(), std::cmp::Reverse(of.count())));
        all
    }

    /// Whether a node loses something.
    fn is_harmful(&self) -> bool {
        let mut causes = self.causes.values();
        causes.any(|of| of.worst() <= Some(UpgradeEffect::Changes))
    }

    fn title(&self) -> String {
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
    fn is_certain(&self) -> bool {
        self.untold.is_empty() && self.undecided.is_empty()
    }

    fn undecided_line(&self) -> Option<String> {
        let (count, keys) = (self.undecided.len(), few(&self.undecided, MAX_LISTED));
        (count > 0).then(|| {
            format!("unknown: what changes in {keys}: no file tells whether their variables exist")
        })
    }

    fn untold_line(&self) -> Option<String> {
        let first = self.untold.first()?;
        let file = self.upgrade.legacy_facts.get(first)?.first()?;
        Some(format!(
            "unknown: what changes where {} {} read, such as in {}:{}: no file tells whether nodes have {}",
            few(&self.untold, MAX_LISTED),
            if self.untold.len() == 1 { "is" } else { "are" },
            shown(&file.file),
            file.line,
            if self.untold.len() == 1 { "it" } else { "them" },
        ))
    }

    fn text(&self, layout: Layout) -> String {
        let mut out = layout.line(Paint::Title, &self.title());
        for (cause, of) in self.causes() {
            out.push('\n');
            out += &layout.line(Paint::Title, &headline(cause));
            for line in of.lines() {
                out += &layout.paragraph(Paint::Plain, &format!("  {line}"), 4);
            }
            let (on, [old, new]) = of.example(self.has_values);
            out += &layout.line(Paint::Aside, &format!("  {on}"));
            out += &layout.line(Paint::Old, &format!("  - {old}"));
            out += &layout.line(Paint::New, &format!("  + {new}"));
            if let Some(fix) = fix(cause) {
                out += &layout.paragraph(Paint::Plain, &format!("  fix: {fix}"), 4);
            }
        }
        out
    }

    fn markdown(&self) -> String {
        let mut out = format!("## {}\n", self.title());
        for (cause, of) in self.causes() {
            let _ = writeln!(out, "\n### {}\n", headline(cause));
            for line in of.lines() {
                let _ = writeln!(out, "- {}", line.replace('`', "\u{2bb}"));
            }
            let (on, [old, new]) = of.example(self.has_values);
            let _ = writeln!(out, "- {on}\n\n```diff\n- {old}\n+ {new}\n```");
            if let Some(fix) = fix(cause) {
                let _ = writeln!(out, "\nFix: {fix}");
            }
        }
        out
    }

    fn fields(&self) -> ReportFields<'_> {
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
    fn worst(&self) -> Option<UpgradeEffect> {
        self.changes.keys().next().map(|(effect, _)| *effect)
    }

    /// The number of keys.
    fn count(&self) -> usize {
        self.changes.len()
    }

    /// What happens to which keys, and where.
    fn lines(&self) -> Vec<String> {
        let mut by_effect: BTreeMap<UpgradeEffect, KeysAndNodes> = BTreeMap::new();
        for ((effect, key), nodes) in &self.changes {
            let (keys, of) = by_effect.entry(*effect).or_default();
            keys.push(key.clone());
            of.extend(nodes.iter().cloned());
        }
        let mut lines: Vec<String> = by_effect
            .into_iter()
            .map(|(effect, (keys, nodes))| {
                let nodes: Vec<Arc<str>> = nodes.into_iter().collect();
                let count = effect_text(effect, keys.len());
                let on = match nodes.as_slice() {
                    [] => String::new(),
                    nodes => format!(" on {}", nodes_text(nodes)),
                };
                format!("{count}{on}: {}", few(&keys, MAX_LISTED))
            })
            .collect();
        let places = self.places.iter();
        let places: Vec<String> = places
            .map(|place| format!("{}:{}", shown(&place.file), place.line))
            .collect();
        if !places.is_empty() {
            lines.push(format!("in {}", few(&places, MAX_LISTED)));
        }
        lines
    }

    /// A change: its key and node, and both answers.
    fn example(&self, has_values: bool) -> (String, [String; 2]) {
        let shown = without_secrets(&self.example.difference);
        let Difference { key, before, after } = &shown;
        let on = match after.nodes.first() {
            Some(node) => format!("{key} on {node}:"),
            None => match after.condition.first() {
                first if first.is_empty() => format!("{key}:"),
                first => format!("{key} where {first}:"),
            },
        };
        let texts = if has_values {
            let sides = side_texts(&shown);
            [0, 1].map(|at| sides.get(at).cloned().unwrap_or_default())
        } else {
            [before, after].map(|cell| match &cell.result {
                Ok(_) => "(a value)".to_owned(),
                Err(_) => shorten_distinctly(&[outcome_text(cell)], WIDEST).remove(0),
            })
        };
        (on, texts)
    }
}

/// The whole report. The format is public.
#[derive(Serialize)]
struct ReportFields<'a> {
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
        let (name, subject) = match cause {
            UpgradeCause::UndefinedVariable(name) => ("undefined-variable", Some(&**name)),
            UpgradeCause::Manifests(message) => ("manifests", Some(&**message)),
            UpgradeCause::Strict(message) => ("strict", Some(&**message)),
            UpgradeCause::LegacyFact(name) => ("legacy-fact", name.as_deref()),
            UpgradeCause::DataProvider => ("environment-data-provider", None),
            UpgradeCause::HashText => ("hash-text", None),
            UpgradeCause::Version => ("version", None),
        };
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

fn version_name(version: PuppetVersion) -> &'static str {
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

/// What Puppet does otherwise, and from which version on.
fn headline(cause: &UpgradeCause) -> String {
    let what = match cause {
        UpgradeCause::UndefinedVariable(name) => {
            format!("the variable '{name}' does not exist, which is an error")
        }
        UpgradeCause::Manifests(message) => format!("manifests: {message}"),
        UpgradeCause::Strict(message) => message.to_string(),
        UpgradeCause::LegacyFact(Some(name)) => {
            format!("agents do not send the legacy fact '{name}'")
        }
        UpgradeCause::LegacyFact(None) => "agents do not send legacy facts".to_owned(),
        UpgradeCause::DataProvider => {
            "environment_data_provider in environment.conf is ignored".to_owned()
        }
        UpgradeCause::HashText => "hashes have another text in strings".to_owned(),
        UpgradeCause::Version => "Puppet behaves otherwise".to_owned(),
    };
    format!("{what} (from {} on)", u8::from(cause.since()))
}

/// The edit that prevents the change.
fn fix(cause: &UpgradeCause) -> Option<String> {
    Some(match cause {
        UpgradeCause::UndefinedVariable(_) => {
            "set the variable for these nodes, or leave the token out".to_owned()
        }
        UpgradeCause::LegacyFact(Some(name)) => match structured_fact(name) {
            Some(structured) => format!(
                "use facts.{structured}: 'hiera-ls check --select legacy-fact --fix' writes it"
            ),
            None => format!("use a structured fact instead of '{name}'"),
        },
        UpgradeCause::LegacyFact(None) => {
            "use structured facts: 'hiera-ls check --select legacy-fact --fix' writes them".to_owned()
        }
        UpgradeCause::DataProvider => "give the environment a hiera.yaml of version 5".to_owned(),
        UpgradeCause::HashText => {
            "look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}"
                .to_owned()
        }
        UpgradeCause::Manifests(_) | UpgradeCause::Strict(_) | UpgradeCause::Version => return None,
    })
}
