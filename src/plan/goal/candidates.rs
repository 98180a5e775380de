//! Edits that may give some nodes a value, by level; they are tried out elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::answers::NodeChange;
use super::level::{GoalLevel, MAX_FILES};
use super::pieces::{Gone, Merging};
use super::{CurrentAnswers, Goal};
use crate::analysis::RootView;
use crate::analysis::dig;
use crate::edit::entry::{Sheet, with_merge};
use crate::edit::part::with_part;
use crate::edit::{Plan, Style};
use crate::lookup::OptionsEntry;
use crate::value::{Value, load_node};
use crate::workspace::LOOKUP_OPTIONS;

/// A possible edit.
pub(super) struct Candidate {
    pub(super) title: String,
    pub(super) plan: Plan,
    /// The number of written and removed entries, including options.
    pub(super) entries: usize,
    is_requested_level: bool,
    /// Whether other keys of the class are in the same file.
    is_among_its_own: bool,
    /// The distance of the level from the bottom; lower levels are for more nodes.
    above: usize,
    /// Whether the edit changes the merge of the key.
    pub(super) is_merged_anew: bool,
}

impl Candidate {
    /// An edit of the files that nodes get the value from.
    fn in_sources(title: String, plan: Plan) -> Candidate {
        Candidate {
            title,
            entries: plan.files(),
            is_requested_level: false,
            is_among_its_own: true,
            is_merged_anew: false,
            above: 0,
            plan,
        }
    }

    /// Smaller is better: few entries, no new files, the level by which the nodes were chosen,
    /// other keys of the same class, a low level, little text.
    pub(super) fn cost(&self) -> (usize, usize, bool, bool, usize, usize) {
        let files = self.plan.new_files.len();
        let edits = self.plan.edits.values().flatten();
        let text = edits.map(|edit| edit.new_text.len() + edit.range.len());
        let is_other_level = !self.is_requested_level;
        let is_elsewhere = !self.is_among_its_own;
        (
            self.entries,
            files,
            is_other_level,
            is_elsewhere,
            self.above,
            text.sum(),
        )
    }

    /// Whether it writes into a file for secrets, by its name or folder: a wrong place for public values.
    pub(super) fn is_among_secrets(&self, view: &RootView<'_>) -> bool {
        let snapshot = view.analysis.snapshot;
        let is_secret = |at: &Arc<str>| {
            let name = snapshot.short_name(at).to_lowercase();
            name.ends_with(".eyaml") || name.contains("secret")
        };
        self.plan.paths().any(is_secret)
    }

    /// Whether it changes every file that another plan changes.
    pub(super) fn covers(&self, other: &Plan) -> bool {
        other.paths().all(|at| self.plan.changes(at))
    }
}

/// All possible edits; those of the same level are adjacent.
pub(super) fn candidates(
    view: &RootView<'_>,
    goal: &Goal,
    levels: &[GoalLevel],
    state: &CurrentAnswers,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut add = |candidate: Option<Candidate>| {
        if let Some(candidate) = candidate
            && !candidate.plan.is_empty()
            && found.iter().all(|known| known.plan != candidate.plan)
        {
            found.push(candidate);
        }
    };
    let sources = deciding(view, goal, state);
    add(in_place(view, goal, &sources));
    if goal.steps.is_empty() {
        add(without(view, goal, &sources));
    }
    let whole = state.wanted_by_all();
    let whole = whole.filter(|whole| goal.steps.is_empty() || !super::has_token(whole));
    for (above, level) in levels.iter().enumerate() {
        let making = Making {
            view,
            goal,
            state,
            level,
            above: levels.len() - above,
            overriding: overriding(view, goal, &levels[..above]),
            options: options(view, goal, level),
        };
        if !goal.steps.is_empty() {
            add(making.set(&New::value(&goal.steps, &goal.value), &ExtraChange::Nothing));
        }
        if let Some(whole) = whole {
            let whole = New::value(&[], whole);
            add(making.set(&whole, &ExtraChange::Nothing));
            add(making.set(&whole, &ExtraChange::Removed));
        }
        making.merged(whole, &mut add);
        if goal.only && goal.steps.is_empty() && above > 0 {
            making.all_kept(&levels[..above], &mut add);
        }
    }
    found
}

/// The effective options of the key, for the nodes that read each file of a level.
fn options(
    view: &RootView<'_>,
    goal: &Goal,
    level: &GoalLevel,
) -> BTreeMap<Arc<str>, Option<OptionsEntry>> {
    let nodes = view.analysis.nodes;
    let of_file = level.files.iter().map(|(at, members)| {
        let scope = members.first().map(|&member| nodes.scope(member));
        let entry = scope.and_then(|scope| view.in_scope(&scope).options_entry(&goal.key));
        (at.clone(), entry)
    });
    of_file.collect()
}

/// The files that set the current value of the nodes without the wanted one.
fn deciding(view: &RootView<'_>, goal: &Goal, state: &CurrentAnswers) -> BTreeSet<Arc<str>> {
    let files = state.answers.files_of(&state.lacking).cloned();
    let mut files: BTreeSet<Arc<str>> = files.collect();
    if files.len() > MAX_FILES {
        return BTreeSet::new();
    }
    files.retain(|at| sets(view, goal, at));
    files
}

/// Whether a file sets the key.
fn sets(view: &RootView<'_>, goal: &Goal, at: &str) -> bool {
    let file = view.analysis.snapshot.file(at);
    file.is_some_and(|file| file.facts().key(&goal.key).is_some())
}

/// Replaces the value in the files that nodes get it from.
fn in_place(view: &RootView<'_>, goal: &Goal, files: &BTreeSet<Arc<str>>) -> Option<Candidate> {
    let mut plan = Plan::default();
    for at in files {
        let sheet = Sheet::of(view.analysis.snapshot, at).ok()?;
        let entry = sheet.entry(&goal.key)?;
        let own = load_node(sheet.tree(), entry.value).ok()?;
        if goal.steps.is_empty() {
            plan.add(at, sheet.set(entry, &goal.value).ok()?);
        } else if dig(&own, &goal.steps).is_some() {
            let edit = sheet.set_part(entry, &goal.steps, &goal.value);
            plan.add(at, edit.ok()?);
        }
    }
    let places = listed(view, goal, plan.paths());
    let title = format!("Change '{}' in {places}", goal.written_key);
    Some(Candidate::in_sources(title, plan))
}

/// Removes the value from the files that nodes get it from, so that a lower level's is effective.
fn without(view: &RootView<'_>, goal: &Goal, files: &BTreeSet<Arc<str>>) -> Option<Candidate> {
    let mut plan = Plan::default();
    for at in files {
        remove(view, goal, at, &mut plan)?;
    }
    let places = listed(view, goal, files.iter());
    let title = format!("Remove '{}' from {places}", goal.key);
    Some(Candidate {
        entries: files.len(),
        ..Candidate::in_sources(title, plan)
    })
}

fn remove(view: &RootView<'_>, goal: &Goal, at: &Arc<str>, plan: &mut Plan) -> Option<()> {
    let sheet = Sheet::of(view.analysis.snapshot, at).ok()?;
    for entry in sheet.all(&goal.key) {
        plan.add(at, sheet.removal(sheet.with_comments(entry)?));
    }
    Some(())
}

/// The files of higher levels that set the key for one of the nodes.
fn overriding(view: &RootView<'_>, goal: &Goal, above: &[GoalLevel]) -> BTreeSet<Arc<str>> {
    let files = above.iter().flat_map(|level| level.files.keys());
    files.filter(|at| sets(view, goal, at)).cloned().collect()
}

/// A further change besides setting a value.
enum ExtraChange<'b> {
    Nothing,
    /// Remove the key from higher levels.
    Removed,
    /// Set the merge of the key; with words for the title.
    Merged(&'b Value, &'b str),
}

/// A value to write into a file.
struct New<'n> {
    /// The part of the key's value to set.
    steps: &'n [Value],
    /// The wanted value.
    value: &'n Value,
    /// How it is merged with other levels, and the elements to knock out.
    with: Option<(&'n Merging, Gone)>,
}

impl<'n> New<'n> {
    /// A value that is written as it is.
    fn value(steps: &'n [Value], value: &'n Value) -> New<'n> {
        New {
            steps,
            value,
            with: None,
        }
    }

    /// The same, written as the level's share in a merged value.
    fn of(&self, merging: &'n Merging, gone: Gone) -> New<'n> {
        New {
            with: Some((merging, gone)),
            ..*self
        }
    }
}

/// Creates the edits of one level.
struct Making<'m> {
    view: &'m RootView<'m>,
    goal: &'m Goal,
    state: &'m CurrentAnswers,
    level: &'m GoalLevel,
    above: usize,
    overriding: BTreeSet<Arc<str>>,
    /// The effective options of the key, by file.
    options: BTreeMap<Arc<str>, Option<OptionsEntry>>,
}

impl Making<'_> {
    /// The edits of a merged key: missing parts, knock-outs, and other merges.
    fn merged(&self, whole: Option<&Value>, add: &mut dyn FnMut(Option<Candidate>)) {
        let entry = self.options.values().find_map(Option::as_ref);
        let merging = entry.and_then(|entry| Some((entry, Merging::of(entry)?)));
        let Some((entry, merging)) = merging else {
            return;
        };
        let part = New::value(&self.goal.steps, &self.goal.value);
        add(self.set(&part.of(&merging, Gone::None), &ExtraChange::Nothing));
        let knock_outs = [Gone::OfOthers, Gone::All];
        if merging.knocks_out() {
            for gone in knock_outs {
                add(self.set(&part.of(&merging, gone), &ExtraChange::Nothing));
            }
        }
        for other in merging.others(entry) {
            let extra = ExtraChange::Merged(&other.value, &other.words);
            if other.merging.knocks_out() {
                for gone in knock_outs {
                    add(self.set(&part.of(&other.merging, gone), &extra));
                }
            } else if let Some(whole) = whole {
                let new = New::value(&[], whole);
                add(self.set(&new.of(&other.merging, Gone::None), &extra));
            }
        }
        if let Some(whole) = whole {
            let first = Value::from("first");
            let extra = ExtraChange::Merged(&first, " and no longer merge it");
            add(self.set(&New::value(&[], whole), &extra));
        }
    }

    fn set(&self, new: &New<'_>, extra: &ExtraChange<'_>) -> Option<Candidate> {
        let mut plan = Plan::default();
        let mut entries = 0;
        for at in self.level.files.keys() {
            entries += self.write(&mut plan, at, new, extra)?;
        }
        let places = listed(self.view, self.goal, self.level.files.keys());
        let mut title = format!("Set '{}' in {places}", self.goal.written_key);
        if new.with.is_some_and(|(_, gone)| gone != Gone::None) {
            title.push_str(" with knock-outs");
        }
        match extra {
            ExtraChange::Nothing => {}
            ExtraChange::Merged(_, words) => title.push_str(words),
            ExtraChange::Removed => {
                let removed = self.overriding.iter();
                let removed: Vec<&Arc<str>> =
                    removed.filter(|at| !plan.edits.contains_key(*at)).collect();
                if removed.is_empty() {
                    return None;
                }
                for at in &removed {
                    remove(self.view, self.goal, at, &mut plan)?;
                    entries += 1;
                }
                let places = listed(self.view, self.goal, removed.into_iter());
                title = format!("{title} and remove it from {places}");
            }
        }
        if plan.files() > MAX_FILES {
            return None;
        }
        Some(Candidate {
            title,
            plan,
            entries,
            is_requested_level: self.level.is_requested_level,
            is_among_its_own: self.level.has_class_of(&self.goal.key),
            above: self.above,
            is_merged_anew: matches!(extra, ExtraChange::Merged(_, _)),
        })
    }

    /// Writes an entry into an existing or new file; returns the number of entries.
    fn write(
        &self,
        plan: &mut Plan,
        at: &Arc<str>,
        new: &New<'_>,
        extra: &ExtraChange<'_>,
    ) -> Option<usize> {
        let key = &self.goal.key;
        let snapshot = self.view.analysis.snapshot;
        let sheet = match snapshot.file(at) {
            Some(_) => Some(Sheet::of(snapshot, at).ok()?),
            None => None,
        };
        let entry = sheet.as_ref().and_then(|sheet| sheet.entry(key));
        let value = match new.with {
            None => new.value.clone(),
            Some((merging, gone)) => {
                let own = sheet.as_ref().zip(entry);
                let own = own.and_then(|(sheet, entry)| load_node(sheet.tree(), entry.value).ok());
                let own = own.as_ref().and_then(|own| dig(own, new.steps));
                let now = dig(self.now(at)?, new.steps)?;
                merging.piece(own, now, new.value, gone)?
            }
        };
        let options = match extra {
            ExtraChange::Nothing | ExtraChange::Removed => None,
            ExtraChange::Merged(merge, _) => {
                let known = self.options.get(at)?.as_ref();
                Some((*merge, known.map(|entry| &entry.value)))
            }
        };
        let entries = 1 + usize::from(options.is_some());
        let Some(sheet) = sheet else {
            let value = with_part(None, new.steps, &value)?;
            let mut text = format!("---\n{}", Style::default().entry(key, &value));
            if let Some((merge, known)) = options {
                let options = Value::hash([(&**key, with_merge(known, merge))]);
                text.push_str(&Style::default().entry(LOOKUP_OPTIONS, &options));
            }
            plan.new_files.insert(at.clone(), text);
            return Some(entries);
        };
        let edit = match entry {
            Some(entry) if new.steps.is_empty() => sheet.set(entry, &value).ok()?,
            Some(entry) => sheet.set_part(entry, new.steps, &value).ok()?,
            None if snapshot.file(at)?.facts().key(key).is_some() => return None,
            None => sheet.addition(key, &with_part(None, new.steps, &value)?),
        };
        plan.add(at, edit);
        if let Some((merge, known)) = options {
            plan.add(at, sheet.with_merge(key, merge, known).ok()?);
        }
        Some(entries)
    }

    /// The current value of the nodes that read a file, preferably of one without the wanted value.
    fn now(&self, at: &Arc<str>) -> Option<&Value> {
        let members = self.level.files.get(at)?;
        let lacking = |member: &&usize| self.state.lacks(**member);
        let member = members.iter().find(lacking).or(members.first())?;
        let value = self.state.answers.cell(*member).result.as_ref().ok()?;
        if let Value::Sensitive(held) = value {
            return Some(held);
        }
        Some(value)
    }

    /// The edits that set the value, and the old value of other readers of the file in one of the
    /// higher levels.
    fn all_kept(&self, above: &[GoalLevel], add: &mut dyn FnMut(Option<Candidate>)) {
        let own = self.set(&New::value(&[], &self.goal.value), &ExtraChange::Nothing);
        let later = own.and_then(|own| super::after(self.view, self.goal, &own.plan).ok());
        if let Some(later) = later {
            let changes = self.state.answers.changes(&later);
            for other in above.iter().rev() {
                add(self.kept(&changes, other));
            }
        }
    }

    /// Sets the value, and the old value of other readers of the file in a higher level.
    fn kept(&self, changes: &[NodeChange<'_>], above: &GoalLevel) -> Option<Candidate> {
        let state = self.state;
        let mut candidate = self.set(&New::value(&[], &self.goal.value), &ExtraChange::Nothing)?;
        let mut kept: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        for change in changes {
            let members = change.members.iter().copied();
            for member in members.filter(|&member| !state.is_wanted(member)) {
                let value = change.before.result.as_ref().ok()?;
                if change.before.unknown.is_some() || value.has_opaque() {
                    return None;
                }
                let at = self.view.path_for(&above.place, &self.goal.key, member)?;
                let at = Arc::from(at);
                let known = kept.insert(at, value.clone());
                if known.is_some_and(|known| known != *value) || kept.len() > MAX_FILES {
                    return None;
                }
            }
        }
        for (at, value) in &kept {
            if candidate.plan.changes(at) || super::has_token(value) {
                return None;
            }
            let new = New::value(&[], value);
            candidate.entries +=
                self.write(&mut candidate.plan, at, &new, &ExtraChange::Nothing)?;
        }
        if kept.is_empty() {
            return None;
        }
        let places = listed(self.view, self.goal, kept.keys());
        let more = format!(", and keep the value of other nodes in {places}");
        candidate.title.push_str(&more);
        Some(candidate)
    }
}

/// Names of files, for people.
fn listed<'p>(
    view: &RootView<'_>,
    goal: &Goal,
    files: impl Iterator<Item = &'p Arc<str>>,
) -> String {
    let files: Vec<&str> = files.map(|at| goal.name_of(view, at)).collect();
    match files.as_slice() {
        [] => "no file".to_owned(),
        [only] => (*only).to_owned(),
        [one, other] => format!("{one} and {other}"),
        [first, rest @ ..] => format!("{first} and {} other files", rest.len()),
    }
}
