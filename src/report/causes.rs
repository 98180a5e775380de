//! Which changed lines are the cause of each difference.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;

use crate::analysis::{DecidingOptions, RootView, difference};
use crate::ide::compare::Difference;
use crate::interpolation::root_of;
use crate::scope::Scope;
use crate::workspace::path;

/// Differences with the same changed files as their cause.
#[derive(Serialize)]
pub(super) struct ChangeCause {
    /// The files; none if the cause is not known.
    files: Vec<Arc<str>>,
    /// The changed lines in them.
    lines: BTreeSet<ChangedLine>,
    /// The differences, by their numbers.
    differences: Vec<usize>,
}

/// A changed line, and what begins there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct ChangedLine {
    file: Arc<str>,
    /// From 1.
    line: u32,
    /// The key, or the name of an entry of `lookup_options`; none in a file that is no data.
    key: Option<Arc<str>>,
    /// Whether the line is only on the other side.
    before: bool,
}

/// The differences by their causes, those of most differences first. A cause is an own entry of the key that differs and
/// is a part of one of the answers, or an entry of `lookup_options` for it that differs; then those of the keys that it
/// looks up. Without any, a changed hierarchy is the cause, or a changed manifest.
pub(super) fn causes(views: [&RootView<'_>; 2], found: &[Difference]) -> Vec<ChangeCause> {
    let [then, now] = views;
    let changed = difference(then.analysis.snapshot, now.analysis.snapshot);
    let paths: BTreeSet<&str> = changed.files.iter().map(|file| &*file.path).collect();
    let own: Vec<_> = found
        .iter()
        .map(|one| own_lines(views, &paths, one))
        .collect();
    let mut by_root: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
    for (at, one) in found.iter().enumerate() {
        by_root.entry(root_of(&one.key)).or_default().push(at);
    }
    let mut all = own.clone();
    for (root, differences) in &by_root {
        let looking_up = users(views, root);
        let others = looking_up
            .iter()
            .filter_map(|user| by_root.get(user))
            .flatten();
        for (&other, &at) in others.flat_map(|other| differences.iter().map(move |at| (other, at)))
        {
            if !nodes_of(&found[at]).is_disjoint(&nodes_of(&found[other])) {
                all[other].extend(own[at].iter().cloned());
            }
        }
    }
    let is_config = |at: &&str| now.analysis.snapshot.roots().of_config(at).is_some();
    let is_manifest = |at: &&str| path::extension(at) == Some("pp");
    let hierarchies = paths.iter().copied().filter(is_config);
    let mut others: Vec<&str> = hierarchies.collect();
    if others.is_empty() {
        others = paths.iter().copied().filter(is_manifest).collect();
    }
    let others: BTreeSet<_> = others.iter().map(|at| first_changed(views, at)).collect();
    let mut causes: BTreeMap<Vec<Arc<str>>, ChangeCause> = BTreeMap::new();
    for (at, mut lines) in all.into_iter().enumerate() {
        if lines.is_empty() {
            lines.clone_from(&others);
        }
        let files: BTreeSet<_> = lines.iter().map(|line| line.file.clone()).collect();
        let files: Vec<_> = files.into_iter().collect();
        let cause = causes.entry(files.clone()).or_insert_with(|| ChangeCause {
            files,
            lines: BTreeSet::new(),
            differences: Vec::new(),
        });
        cause.lines.extend(lines);
        cause.differences.push(at);
    }
    let mut causes: Vec<ChangeCause> = causes.into_values().collect();
    causes.sort_by_key(|cause| (cause.files.is_empty(), Reverse(cause.differences.len())));
    causes
}

/// The changed entries of a key itself, and of options for it.
fn own_lines(
    views: [&RootView<'_>; 2],
    changed: &BTreeSet<&str>,
    one: &Difference,
) -> BTreeSet<ChangedLine> {
    let root = root_of(&one.key);
    let own = |view: &RootView<'_>, file: &str| view.analysis.own_value(file, &root);
    let sources = one.before.sources().into_iter().chain(one.after.sources());
    let files: BTreeSet<&str> = sources.map(|source| &*source.file).collect();
    let files = files.intersection(changed).copied();
    let files = files.filter(|file| own(views[0], file) != own(views[1], file));
    let mut lines: BTreeSet<_> = files
        .filter_map(|file| line_of(views, file, &root))
        .collect();
    let [old, new] = views.map(|view| options_of(view, &root, one));
    let entry = |options: &Option<DecidingOptions>| options.as_ref().map(|it| it.entry.clone());
    if entry(&old) != entry(&new) {
        let sides = [(new, false), (old, true)].into_iter();
        let places = sides.filter_map(|(options, before)| {
            let DecidingOptions { entry, place } = options?;
            let (file, line) = place?;
            let key = Some(entry.name);
            changed.contains(&*file).then_some(ChangedLine {
                file,
                line,
                key,
                before,
            })
        });
        // Where it is now, or else where it was.
        lines.extend(places.take(1));
    }
    lines
}

/// The options of a top-level key for the first node of a difference.
fn options_of(view: &RootView<'_>, root: &str, one: &Difference) -> Option<DecidingOptions> {
    let nodes = view.analysis.nodes;
    let member = one.after.nodes.first().and_then(|name| nodes.find(name));
    let scope = member.map_or_else(Scope::open, |member| nodes.scope(member));
    view.in_scope(&scope).options_of(root)
}

/// The line of a key in a file now, or else before.
fn line_of([then, now]: [&RootView<'_>; 2], at: &str, key: &Arc<str>) -> Option<ChangedLine> {
    let sides = [(now, false), (then, true)].into_iter();
    let mut lines = sides.filter_map(|(view, before)| {
        let file = view.analysis.snapshot.file(at)?;
        Some(ChangedLine {
            file: file.path().clone(),
            line: file.facts().key(key)?.line + 1,
            key: Some(key.clone()),
            before,
        })
    });
    lines.next()
}

/// The first line of a file that differs.
fn first_changed([then, now]: [&RootView<'_>; 2], at: &str) -> ChangedLine {
    let text = |view: &RootView<'_>| {
        view.analysis
            .snapshot
            .file(at)
            .map(|file| file.text().clone())
    };
    let [old, new] = [then, now].map(|view| text(view).unwrap_or_default());
    let same = old
        .lines()
        .zip(new.lines())
        .take_while(|(old, new)| old == new);
    let count = u32::try_from(same.count()).unwrap_or_default();
    ChangedLine {
        file: Arc::from(at),
        line: count + 1,
        key: None,
        before: new.is_empty(),
    }
}

fn nodes_of(one: &Difference) -> HashSet<&str> {
    let nodes = one.before.nodes.iter().chain(&one.after.nodes);
    nodes.map(|name| &**name).collect()
}

/// The keys that look up a key on either side, directly or through others.
fn users(views: [&RootView<'_>; 2], key: &Arc<str>) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    let mut open = vec![key.clone()];
    while let Some(key) = open.pop() {
        let snapshots = views.iter().map(|view| view.analysis.snapshot);
        for user in snapshots.flat_map(|snapshot| snapshot.users(&key)) {
            if found.insert(user.clone()) {
                open.push(user.clone());
            }
        }
    }
    found
}
