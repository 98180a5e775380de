//! `hiera-ls check --self-test [PATH]`: tests whether this workspace answers the same after random
//! edits as when read afresh. Nothing is written: everything happens in memory.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;

use super::terminal::complain;
use crate::analysis::Analysis;
use crate::disk::{Ignore, scan};
use crate::ide::hover::{HoverOptions, hover};
use crate::ide::{KnownNodes, outline::outline};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::rules::{Checker, Finding, Recheck, recheck};
use crate::workspace::{Change, DiskEntry, Snapshot, Workspace};

/// Number of comparisons with a fresh workspace.
const ROUNDS: usize = 5;

/// Number of changes between two comparisons.
const CHANGES: usize = 10;

/// Number of hovers in one comparison.
const PLACES: usize = 40;

/// Number of files that the changes concentrate on, so that they affect each other.
const FILES: usize = 25;

type Findings = BTreeMap<Arc<str>, Vec<Finding>>;

/// Random numbers from a seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        number as usize % end.max(1)
    }
}

/// Tests the workspace in a folder; the exit code is 1 if it differs from a fresh one.
pub(super) fn run(folder: &Arc<str>, version: PuppetVersion) -> ExitCode {
    match compare(folder, &Settings::for_version(version).for_editor()) {
        Ok(summary) => {
            let _ = writeln!(std::io::stdout(), "{summary}");
            ExitCode::SUCCESS
        }
        Err(difference) => {
            complain(&difference);
            ExitCode::FAILURE
        }
    }
}

fn compare(folder: &Arc<str>, settings: &Settings) -> Result<String, String> {
    let proceed = |_| ControlFlow::Continue(());
    let found = scan(&[Arc::clone(folder)], &Ignore::default(), &proceed);
    let start = Change::Batch(vec![Change::Folders(vec![folder.clone()]), found.change]);
    let workspace = Workspace::new();
    let mut snapshot = workspace.apply(start.clone());
    let known = Arc::clone(&snapshot);
    let files: Vec<Arc<str>> = known
        .files()
        .filter(|file| file.format().is_some())
        .map(|file| file.path().clone())
        .collect();
    if files.is_empty() {
        return Err(format!("{folder} has no data to change"));
    }
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let chosen: Vec<&Arc<str>> = (0..FILES)
        .map(|_| &files[dice.below(files.len())])
        .collect();
    let mut findings = check(&snapshot, settings, Recheck::All, Findings::new());
    let (mut open, mut gone) = (BTreeMap::new(), BTreeMap::new());
    let (mut hovers, mut shown) = (0, 0);
    for round in 1..=ROUNDS {
        for _ in 0..CHANGES {
            let path = chosen[dice.below(chosen.len())];
            let change = change(&mut dice, &known, path, &mut open, &mut gone);
            snapshot = workspace.apply(change);
            let named = findings.iter().flat_map(|(file, found)| {
                let related = found.iter().flat_map(|it| &it.related);
                related.map(move |related| (file, &related.path))
            });
            let again = recheck(&snapshot).with_moved(&snapshot, named);
            findings = check(&snapshot, settings, again, findings);
        }
        let mut afresh = vec![start.clone()];
        afresh.extend(gone.iter().map(|(path, ())| absent(path)));
        afresh.extend(open.iter().map(|(path, text)| opened(path, text)));
        let fresh = Workspace::new().apply(Change::Batch(afresh));
        let expected = check(&fresh, settings, Recheck::All, Findings::new());
        if let Some(path) = different(&findings, &expected) {
            return Err(format!(
                "round {round}: the findings of {path} are {:?}, those of a fresh workspace {:?}",
                findings.get(path),
                expected.get(path)
            ));
        }
        shown += expected.values().map(Vec::len).sum::<usize>();
        for _ in 0..PLACES {
            let path = &files[dice.below(files.len())];
            let end = fresh.file(path).map_or(0, |file| file.text().len());
            let offset = dice.below(end);
            let here = hover_at(&snapshot, path, offset, settings);
            if here != hover_at(&fresh, path, offset, settings) {
                return Err(format!(
                    "round {round}: {path}, byte {offset}: another hover"
                ));
            }
            if outline(&snapshot, path) != outline(&fresh, path) {
                return Err(format!("round {round}: {path}: another outline"));
            }
            hovers += usize::from(here.is_some());
        }
    }
    Ok(format!(
        "{} changes: {hovers} hovers, their outlines and {shown} findings are those of a fresh \
         workspace",
        ROUNDS * CHANGES
    ))
}

fn hover_at(snapshot: &Snapshot, path: &str, offset: usize, settings: &Settings) -> Option<String> {
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, settings, &configs, &nodes);
    hover(analysis, path, offset, &HoverOptions::default()).map(|hover| hover.plain)
}

/// The findings of some files after a change.
fn check(snapshot: &Snapshot, settings: &Settings, again: Recheck, before: Findings) -> Findings {
    let checker = Checker::with_settings(snapshot, settings.clone());
    let (mut findings, paths): (Findings, Vec<Arc<str>>) = match again {
        Recheck::All => {
            let files = snapshot.files().map(|file| file.path().clone());
            (Findings::new(), files.collect())
        }
        Recheck::Files(files) => (before, files.into_iter().collect()),
    };
    for path in paths {
        match checker.file(&path) {
            Some(found) if !found.is_empty() => findings.insert(path, found),
            Some(_) | None => findings.remove(&path),
        };
    }
    findings
}

fn different<'a>(left: &'a Findings, right: &'a Findings) -> Option<&'a Arc<str>> {
    let mut paths = left.keys().chain(right.keys());
    paths.find(|path| left.get(*path) != right.get(*path))
}

/// A random event for a file; records which files are open and which are gone.
fn change(
    dice: &mut Dice,
    known: &Snapshot,
    path: &Arc<str>,
    open: &mut BTreeMap<Arc<str>, Arc<str>>,
    gone: &mut BTreeMap<Arc<str>, ()>,
) -> Change {
    let on_disk = known.file(path).map(|file| file.text().clone());
    let on_disk = on_disk.unwrap_or_default();
    match dice.below(10) {
        0 if open.remove(path).is_some() => Change::Close { path: path.clone() },
        1 => {
            gone.insert(path.clone(), ());
            absent(path)
        }
        _ => {
            let text = open.get(path).unwrap_or(&on_disk);
            let text: Arc<str> = mutated(dice, text).into();
            open.insert(path.clone(), text.clone());
            opened(path, &text)
        }
    }
}

fn opened(path: &Arc<str>, text: &Arc<str>) -> Change {
    Change::Edit {
        path: path.clone(),
        text: text.clone(),
        version: 1,
    }
}

fn absent(path: &Arc<str>) -> Change {
    Change::Disk {
        path: path.clone(),
        entry: DiskEntry::Absent,
    }
}

/// The text with one line lost, doubled, cut or added.
fn mutated(dice: &mut Dice, text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = dice.below(lines.len());
    match (dice.below(5), lines.is_empty()) {
        (0, false) => {
            lines.remove(at);
        }
        (1, false) => lines.insert(at, lines[at]),
        (2, false) => {
            let cut = dice.below(lines[at].len());
            lines[at] = lines[at].get(..cut).unwrap_or_default();
        }
        (3, _) => lines.insert(at, "self::test: \"%{lookup('self::other')}\""),
        _ => lines.insert(at, "self::other: [\"%{lookup('self::test')}\"]"),
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}
