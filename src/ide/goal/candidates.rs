//! Edits that might give some nodes a value, level by level. Whether they do is tried out elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Goal, State, cell_of};
use crate::analysis::RootView;
use crate::ide::edit::entry::Sheet;
use crate::ide::edit::part::with_part;
use crate::ide::edit::{Plan, Style};
use crate::ide::hover::dig;
use crate::lookup::Place;
use crate::value::{HashMap, Value, load_node};
use crate::workspace::{Format, LOOKUP_OPTIONS};

/// Most files that one proposal touches.
const MOST_FILES: usize = 50;

/// A level's location, with the file that each of the wanted nodes reads there.
pub(super) struct Level {
    place: Place,
    /// Whether its path has a variable that the nodes were chosen by.
    is_asked_for: bool,
    /// The files, with whose they are.
    files: BTreeMap<Arc<str>, Vec<usize>>,
    /// How near the keys of the files are to the key: the segments that the nearest one shares with
    /// it, and how many share as many.
    nearness: (usize, usize),
}

/// Edits to try out.
pub(super) struct Candidate {
    pub(super) title: String,
    pub(super) plan: Plan,
    /// Entries that are written, taken away, and options.
    pub(super) entries: usize,
    is_asked_for: bool,
    /// Whether other keys of the class stand there already.
    is_among_its_own: bool,
    /// How far down the level is; a level further down is for more nodes.
    above: usize,
}

impl Candidate {
    /// Smaller is better: few entries, no new files, the level that the nodes were chosen by, beside
    /// keys of the same class, little text.
    pub(super) fn cost(&self) -> (usize, usize, bool, bool, usize, usize) {
        let files = self.plan.new_files.len();
        let edits = self.plan.edits.values().flatten();
        let text = edits
            .map(|edit| edit.new_text.len() + edit.range.len())
            .sum();
        let is_elsewhere = !self.is_among_its_own;
        (
            self.entries,
            files,
            !self.is_asked_for,
            is_elsewhere,
            self.above,
            text,
        )
    }

    /// Whether it writes into a file that is kept for secrets, by its name or its folder's: values
    /// that anybody may read are out of place there.
    pub(super) fn is_among_secrets(&self, view: &RootView<'_>) -> bool {
        let snapshot = view.analysis.snapshot;
        let is_secret = |at: &Arc<str>| {
            let name = snapshot.short_name(at).to_lowercase();
            name.ends_with(".eyaml") || name.contains("secret")
        };
        self.plan.paths().any(is_secret)
    }

    /// Whether it touches every file that another one touches.
    pub(super) fn covers(&self, other: &Plan) -> bool {
        let mut paths = other.paths();
        paths.all(|at| self.plan.paths().any(|own| own == at))
    }
}

impl Level {
    /// A location.
    ///
    /// # Errors
    /// Why nothing can be written there for the nodes.
    pub(super) fn of(view: &RootView<'_>, goal: &Goal, place: &Place) -> Result<Level, String> {
        if place.in_default_hierarchy {
            return Err(
                "the default hierarchy is asked last, for keys that nothing else sets".into(),
            );
        }
        match place.reading.map(|reading| reading.format()) {
            Some(Format::Yaml) => {}
            Some(Format::Json | Format::Hocon) => return Err("only YAML files are edited".into()),
            None => return Err("its data comes from a function".into()),
        }
        if view.analysis.is_outside(&place.template) {
            return Err("it is outside the workspace".into());
        }
        let mut files: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for &member in &goal.members {
            let Some(at) = view.path_for(place, &goal.key, member) else {
                let name = view.analysis.nodes.certname(member);
                return Err(format!("it is not known which file {name} reads there"));
            };
            files.entry(Arc::from(at)).or_default().push(member);
        }
        if files.len() > MOST_FILES {
            return Err(format!("{} files would have to be edited", files.len()));
        }
        let mut variables = place.template.variables();
        let asked = |name: &Arc<str>| {
            let bare = |text: &str| text.trim_start_matches("facts.").to_owned();
            goal.variables.iter().any(|known| bare(known) == bare(name))
        };
        Ok(Level {
            is_asked_for: variables.any(asked),
            place: place.clone(),
            nearness: nearness(view, &goal.key, files.keys()),
            files,
        })
    }

    /// Whether both are files that one glob names.
    fn is_of_same_glob(&self, other: &Level) -> bool {
        let glob = |level: &Level| (level.place.index, level.place.original.clone());
        self.place.layer == other.place.layer && glob(self) == glob(other)
    }

    /// Whether its files set other keys of a key's class.
    fn has_class_of(&self, key: &str) -> bool {
        let class = key.split("::").count() - 1;
        class > 0 && self.nearness.0 >= class
    }

    /// The file that another node reads there.
    fn place_of(&self, view: &RootView<'_>, key: &str, member: usize) -> Option<String> {
        view.path_for(&self.place, key, member)
    }
}

/// How near the keys of some files are to a key; see [`Level::nearness`]. O(keys of the files).
fn nearness<'f>(
    view: &RootView<'_>,
    key: &str,
    files: impl Iterator<Item = &'f Arc<str>>,
) -> (usize, usize) {
    let shared = |other: &str| {
        let pairs = key.split("::").zip(other.split("::"));
        pairs.take_while(|(own, other)| own == other).count()
    };
    let files = files.filter_map(|at| view.analysis.snapshot.file(at));
    let keys = files.flat_map(|file| file.facts().keys.iter());
    keys.fold((0, 0), |(most, count), known| match shared(&known.name) {
        shared if shared > most => (shared, 1),
        shared if shared == most && most > 0 => (most, count + 1),
        _ => (most, count),
    })
}

/// Of the files that one glob names the one whose keys are nearest to the key, else the first: a key
/// belongs beside those of its own class.
pub(super) fn one_of_each_glob(levels: Vec<Level>) -> Vec<Level> {
    let mut chosen: Vec<Level> = Vec::new();
    for level in levels {
        match chosen.last_mut() {
            Some(last) if last.is_of_same_glob(&level) => {
                if level.nearness > last.nearness {
                    *last = level;
                }
            }
            _ => chosen.push(level),
        }
    }
    chosen
}

/// The edits to try out, those of each level side by side.
pub(super) fn candidates(
    view: &RootView<'_>,
    goal: &Goal,
    levels: &[Level],
    state: &State,
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
    for (above, level) in levels.iter().enumerate() {
        let making = Making {
            view,
            goal,
            level,
            above: levels.len() - above,
            overriding: overriding(view, goal, &levels[..above]),
        };
        if !goal.steps.is_empty() {
            add(making.set(&New::Part, &Beside::Nothing));
            let whole = state.wanted_by_all();
            if let Some(whole) = whole.filter(|whole| !super::has_token(whole)) {
                add(making.set(&New::Whole(whole), &Beside::Nothing));
                add(making.set(&New::Whole(whole), &Beside::Removed));
            }
            continue;
        }
        let whole = New::Whole(&goal.value);
        add(making.set(&whole, &Beside::Nothing));
        add(making.set(&whole, &Beside::Removed));
        add(making.set(&whole, &Beside::First));
        for value in parts(goal, state, level, view) {
            add(making.set(&New::Whole(&value), &Beside::Nothing));
        }
        for other in levels[..above].iter().rev() {
            add(making.kept(other, state));
        }
    }
    found
}

/// The files that give the lacking nodes what they have.
fn deciding(view: &RootView<'_>, goal: &Goal, state: &State) -> BTreeSet<Arc<str>> {
    let nodes = view.analysis.nodes;
    let mut files = BTreeSet::new();
    for &member in &state.lacking {
        let name = nodes.certname(member);
        let cell = cell_of(&state.row, name);
        let origins = cell.map_or(&[][..], |cell| &cell.origins);
        let own = origins
            .iter()
            .find(|origin| origin.nodes.iter().any(|node| **node == *name));
        for source in own.into_iter().flat_map(|origin| &origin.sources) {
            files.insert(source.file.clone());
        }
        if files.len() > MOST_FILES {
            return BTreeSet::new();
        }
    }
    let snapshot = view.analysis.snapshot;
    files.retain(|at| {
        snapshot
            .file(at)
            .is_some_and(|file| file.facts().key(&goal.key).is_some())
    });
    files
}

/// Another value where the nodes have theirs from.
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
    Some(Candidate {
        title: format!(
            "Change '{}' in {}",
            goal.asked,
            listed(view, goal, plan.paths())
        ),
        entries: plan.files(),
        is_asked_for: false,
        is_among_its_own: true,
        above: 0,
        plan,
    })
}

/// Nothing where the nodes have their value from: what a lower level sets counts.
fn without(view: &RootView<'_>, goal: &Goal, files: &BTreeSet<Arc<str>>) -> Option<Candidate> {
    let mut plan = Plan::default();
    for at in files {
        remove(view, goal, at, &mut plan)?;
    }
    Some(Candidate {
        title: format!(
            "Remove '{}' from {}",
            goal.key,
            listed(view, goal, files.iter())
        ),
        entries: files.len(),
        is_asked_for: false,
        is_among_its_own: true,
        above: 0,
        plan,
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
fn overriding(view: &RootView<'_>, goal: &Goal, above: &[Level]) -> BTreeSet<Arc<str>> {
    let files = above.iter().flat_map(|level| level.files.keys());
    let snapshot = view.analysis.snapshot;
    let sets = |at: &&Arc<str>| {
        snapshot
            .file(at)
            .is_some_and(|file| file.facts().key(&goal.key).is_some())
    };
    files.filter(sets).cloned().collect()
}

/// What is done beside setting a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// Higher levels no longer set the key.
    Removed,
    /// The key is no longer merged.
    First,
}

/// What a file is to give.
enum New<'n> {
    /// A whole value.
    Whole(&'n Value),
    /// What it gives now, with the part that is asked for.
    Part,
}

/// The edits of one level.
struct Making<'m> {
    view: &'m RootView<'m>,
    goal: &'m Goal,
    level: &'m Level,
    above: usize,
    overriding: BTreeSet<Arc<str>>,
}

impl Making<'_> {
    fn set(&self, new: &New<'_>, beside: &Beside) -> Option<Candidate> {
        let mut plan = Plan::default();
        let mut entries = 0;
        for at in self.level.files.keys() {
            entries += self.write(&mut plan, at, new, *beside)?;
        }
        let mut title = format!(
            "Set '{}' in {}",
            self.goal.asked,
            listed(self.view, self.goal, self.level.files.keys())
        );
        match beside {
            Beside::Nothing => {}
            Beside::First => title.push_str(" and no longer merge it"),
            Beside::Removed => {
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
                title = format!(
                    "{title} and remove it from {}",
                    listed(self.view, self.goal, removed.into_iter())
                );
            }
        }
        if plan.files() > MOST_FILES {
            return None;
        }
        Some(Candidate {
            title,
            plan,
            entries,
            is_asked_for: self.level.is_asked_for,
            is_among_its_own: self.level.has_class_of(&self.goal.key),
            above: self.above,
        })
    }

    /// Writes an entry into a file or a new one; how many entries that are.
    fn write(
        &self,
        plan: &mut Plan,
        at: &Arc<str>,
        new: &New<'_>,
        beside: Beside,
    ) -> Option<usize> {
        let key = &self.goal.key;
        let snapshot = self.view.analysis.snapshot;
        let first = Value::from("first");
        let is_first = beside == Beside::First;
        let part;
        let value = match new {
            New::Whole(value) => *value,
            New::Part => {
                part = with_part(None, &self.goal.steps, &self.goal.value)?;
                &part
            }
        };
        if snapshot.file(at).is_none() {
            let mut text = format!("---\n{}", Style::default().entry(key, value));
            if is_first {
                let options = Value::hash([("merge", first)]);
                let options = Value::hash([(&**key, options)]);
                text.push_str(&Style::default().entry(LOOKUP_OPTIONS, &options));
            }
            plan.new_files.insert(at.clone(), text);
            return Some(1 + usize::from(is_first));
        }
        let sheet = Sheet::of(snapshot, at).ok()?;
        let edit = match sheet.entry(key) {
            Some(entry) => match new {
                New::Whole(value) => sheet.set(entry, value).ok()?,
                New::Part => {
                    let (steps, part) = (&self.goal.steps, &self.goal.value);
                    sheet.set_part(entry, steps, part).ok()?
                }
            },
            None if snapshot.file(at)?.facts().key(key).is_some() => return None,
            None => sheet.addition(key, value),
        };
        plan.add(at, edit);
        if is_first {
            plan.add(at, sheet.with_merge(key, &first).ok()?);
        }
        Some(1 + usize::from(is_first))
    }

    /// Sets the value, and what other nodes have on a level above: they read the same files.
    fn kept(&self, above: &Level, state: &State) -> Option<Candidate> {
        let mut candidate = self.set(&New::Whole(&self.goal.value), &Beside::Nothing)?;
        if !self.goal.only {
            return None;
        }
        let later = super::after(self.view, &self.goal.request(), &candidate.plan).ok()?;
        let changes = crate::ide::compare::changes(&state.row, &later);
        let mut kept: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        for change in &changes {
            let others = change.after.nodes.iter();
            for name in others.filter(|name| !state.wanted.contains_key(*name)) {
                let value = change.before.result.as_ref().ok()?;
                if change.before.unknown.is_some() || value.has_opaque() {
                    return None;
                }
                let member = self.view.analysis.nodes.find(name)?;
                let at = Arc::from(above.place_of(self.view, &self.goal.key, member)?);
                let known = kept.insert(at, value.clone());
                if known.is_some_and(|known| known != *value) || kept.len() > MOST_FILES {
                    return None;
                }
            }
        }
        for (at, value) in &kept {
            let is_touched =
                candidate.plan.edits.contains_key(at) || candidate.plan.new_files.contains_key(at);
            if is_touched || super::has_token(value) {
                return None;
            }
            candidate.entries +=
                self.write(&mut candidate.plan, at, &New::Whole(value), Beside::Nothing)?;
        }
        if kept.is_empty() {
            return None;
        }
        candidate.title = format!(
            "{}, and keep the value of other nodes in {}",
            candidate.title,
            listed(self.view, self.goal, kept.keys())
        );
        Some(candidate)
    }
}

/// Values that may give the wanted one together with what other levels give: where lists and hashes
/// are merged.
fn parts(goal: &Goal, state: &State, level: &Level, view: &RootView<'_>) -> Vec<Value> {
    let nodes = view.analysis.nodes;
    let Some(&first) = state.lacking.first() else {
        return Vec::new();
    };
    let Some(cell) = cell_of(&state.row, nodes.certname(first)) else {
        return Vec::new();
    };
    let Ok(now) = &cell.result else {
        return Vec::new();
    };
    // What the level's own file gives already stays in it.
    let own = level.files.keys().next().and_then(|at| {
        let sheet = Sheet::of(view.analysis.snapshot, at).ok()?;
        load_node(sheet.tree(), sheet.entry(&goal.key)?.value).ok()
    });
    match (&goal.value, now) {
        (Value::Array(wanted), Value::Array(now)) => {
            let mut own: Vec<Value> = own
                .and_then(|own| Some(own.as_array()?.to_vec()))
                .unwrap_or_default();
            own.retain(|element| wanted.contains(element));
            let new = wanted.iter().filter(|element| !now.contains(element));
            let mut more = own.clone();
            more.extend(new.filter(|element| !own.contains(element)).cloned());
            let gone = now.iter().filter(|element| !wanted.contains(element));
            let mut without = more.clone();
            without.extend(
                gone.filter_map(|element| Some(Value::from(format!("--{}", element.as_str()?)))),
            );
            vec![Value::from(more), Value::from(without)]
        }
        (Value::Hash(wanted), Value::Hash(now)) => {
            let mut new: HashMap = own
                .and_then(|own| Some(own.as_hash()?.clone()))
                .unwrap_or_default();
            for (key, value) in wanted.iter() {
                if now.get(key) != Some(value) {
                    new.insert(key.clone(), value.clone());
                }
            }
            new.retain(|key, _| wanted.contains_key(key));
            vec![Value::from(new)]
        }
        (_, _) => Vec::new(),
    }
}

/// Files by their names.
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
