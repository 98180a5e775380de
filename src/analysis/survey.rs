//! One key: the nodes with each answer, and a survey over all levels in one scope: which levels set
//! the key, could set it, or don't.
//!
//! It must not know wording or output formats; features render it.

use std::collections::HashSet;
use std::sync::Arc;

use super::condition::has_option_for;
use super::key_answer::{DecidingOrder, KeyAnswer};
use super::scope_view::{DecidingOptions, ScopeView, layers_of, options_line};
use super::source::{LevelValue, dig, quoted, request, sources};
use super::{Analysis, RootView, is_wildcard};
use crate::hierarchy::{Layer, Template};
use crate::interpolation::has_tokens;
use crate::lookup::{
    self, Answer, FirstFiles, LookupError, LookupLimit, Place, Request, Run, Strategy, UnknownCause,
};
use crate::scope::Scope;
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{File, Format, KeyState, LOOKUP_OPTIONS, Paths, ValueKind, path};

/// A top-level key over all levels.
pub struct Survey {
    /// The answer of the lookup.
    pub found: KeyAnswer,
    /// The highest file with the entry of `lookup_options` that applies to the key, and its line, from 1.
    options_place: Option<(Arc<str>, u32)>,
    /// Every location of every level in which the key can be looked up, the highest first.
    pub levels: Vec<SurveyLevel>,
    /// Locations of other layers that the answer's unknown parts name.
    pub(super) elsewhere: Vec<Place>,
}

/// One location of a level, and its status for the key.
pub struct SurveyLevel {
    /// The layer, the level, and the path with its unknown variables.
    pub place: Place,
    /// The file, if the path is known and the file is in the workspace.
    pub file: Option<Arc<str>>,
    /// Where the file sets the key: the line (from 0) and the range of the key.
    pub key: Option<(u32, TextRange)>,
    /// The location's status for the key.
    pub status: Status,
}

/// A location's status for a key.
pub enum Status {
    /// It gives the value.
    Sets,
    /// It gives a part of the value.
    Merged,
    /// It has the key, but a higher level overrides it.
    Overridden,
    /// The path depends on the node: for some, these files are overridden or merged.
    ForSomeNodes(Vec<Arc<str>>),
    /// It doesn't have the key.
    NotSet,
    /// The path is unknown, and these files with the key could change the answer.
    Unknown(Paths),
    /// It lies outside of the workspace.
    Outside {
        /// Whether a value there would change the answer.
        decides: bool,
    },
}

/// Maximum number of lookups of one key over the known nodes while a person waits, if that is
/// enough for all answers.
pub const MAX_LOOKUPS: usize = 64;

/// Maximum number of lookups if there are more distinct answers than that: those for the largest
/// groups of nodes. A key with a different value on each of thousands of nodes would take seconds.
const SAMPLE: usize = 6;

/// Maximum number of lookups of one key if answers are shown beside many keys, if that is enough for
/// all nodes.
const MAX_BESIDE: usize = 16;

/// The number of lookups then, if it is not.
const SAMPLE_BESIDE: usize = 2;

impl RootView<'_> {
    /// The answers for some of the known nodes: one lookup for each distinct set of sources, up to
    /// [`MAX_LOOKUPS`] and until the request is cancelled. Members beyond that are in no run.
    #[must_use]
    pub fn runs(&self, request: &Request, members: &[usize]) -> Arc<[Run]> {
        self.runs_of_most((MAX_LOOKUPS, SAMPLE), request, members)
    }

    /// The answers for some of the known nodes, as [`RootView::runs`], for what is shown beside many
    /// keys at once: at most 16 lookups.
    #[must_use]
    pub fn runs_beside(&self, request: &Request, members: &[usize]) -> Arc<[Run]> {
        self.runs_of_most((MAX_BESIDE, SAMPLE_BESIDE), request, members)
    }

    fn runs_of_most(
        &self,
        (most, sample): (usize, usize),
        request: &Request,
        members: &[usize],
    ) -> Arc<[Run]> {
        let limit = LookupLimit {
            most,
            sample,
            is_cancelled: self.analysis.is_cancelled,
        };
        let nodes = self.analysis.nodes;
        let compute = || lookup::runs_within(&self.session(), nodes, request, members, &limit);
        match self.analysis.answers {
            Some(answers) => answers.runs(self, (most, sample), (request, members), compute),
            None => compute().into(),
        }
    }

    /// The first file with a top-level key that each known node reads, if that file alone gives the
    /// value: no options apply to the key, and no value needs a lookup or is unknown, but for that of the file `own`. O(files
    /// with the key + nodes that read them + `lookup_options` of the workspace).
    #[must_use]
    pub fn first_files(&self, key: &str, own: Option<&str>) -> Option<FirstFiles> {
        let analysis = &self.analysis;
        let snapshot = analysis.snapshot;
        let mut with_options = snapshot.iter_files_with(LOOKUP_OPTIONS);
        if with_options.any(|file| may_have_options_for(analysis, file, key)) {
            return None;
        }
        let sets = |path: &str, format: Format| {
            let file = snapshot.file(path)?;
            let facts = file.facts();
            if facts.error.is_some() || file.format() != Some(format) {
                return None;
            }
            let Some(fact) = facts.key(key) else {
                let data = || snapshot.data_of(file, format);
                let is_hash = |data: &Value| data.as_hash().is_some();
                let is_sound = !facts.keys.is_empty() || data().loaded.as_ref().is_ok_and(is_hash);
                return is_sound.then_some(false);
            };
            let text = fact.value.slice(file.text());
            let is_plain =
                own == Some(path) || !["%{", "ENC[", "*", "<<"].iter().any(|it| text.contains(it));
            let is_whole = fact.state == KeyState::Read && fact.kind != ValueKind::Undef;
            (is_plain && is_whole && fact.key.start < fact.value.start).then_some(true)
        };
        let layers = layers_of(&quoted(key));
        lookup::first_files(&self.session(), analysis.nodes, (key, &layers), sets)
    }

    /// Looks up a top-level key in a scope and determines the status of every level. Costs the
    /// lookup and O(levels).
    #[must_use]
    pub fn survey(&self, key: &str, scope: &Scope) -> Survey {
        self.survey_by(key, scope, &request(key))
    }

    /// Like [`RootView::survey`], for a request for the key that may contain a merge.
    #[must_use]
    pub fn survey_by(&self, key: &str, scope: &Scope, request: &Request) -> Survey {
        self.in_scope(scope).survey_by(key, request)
    }

    /// Like [`RootView::survey_by`], for an existing answer to the request.
    #[must_use]
    pub fn survey_of(
        &self,
        key: &str,
        scope: &Scope,
        (request, answer): (&Request, Answer),
    ) -> Survey {
        let sources = sources(&answer, &quoted(key));
        let mut scoped = self.in_scope(scope);
        let found = scoped.key_answer_from(key, answer, sources);
        scoped.survey_from(found.asked_by(request))
    }

    /// Looks up a top-level key in a scope, without the statuses of levels.
    #[must_use]
    pub fn key_answer(&self, key: &str, scope: &Scope) -> KeyAnswer {
        self.in_scope(scope).key_answer(key)
    }

    /// Like [`RootView::key_answer`], for an existing answer with sources, perhaps those of several nodes'
    /// answers.
    #[must_use]
    pub fn key_answer_from(
        &self,
        key: &str,
        scope: &Scope,
        answer: Answer,
        sources: Vec<LevelValue>,
    ) -> KeyAnswer {
        self.in_scope(scope).key_answer_from(key, answer, sources)
    }

    /// Whether some node looks up the key in levels outside of the workspace.
    #[must_use]
    pub fn has_outside(&self, key: &str) -> bool {
        layers_of(key).iter().any(|layer| self.is_outside(layer))
    }

    /// Whether a level of a layer is outside of the workspace. O(levels).
    #[must_use]
    pub fn is_outside(&self, layer: &Layer) -> bool {
        let places = self.places(layer);
        let mut templates = places.iter().map(|place| &place.template);
        templates.any(|template| self.analysis.is_outside(template))
    }

    /// Whether a file that every node reads for a key is missing, such as one written at
    /// deployment. Modules are deployed as they are.
    #[must_use]
    pub fn lacks_file(&self, key: &str) -> bool {
        let layers = layers_of(key).into_iter();
        let mut deployed = layers.filter(|layer| layer.module_name().is_none());
        deployed.any(|layer| {
            if self.lacks_levels(&layer) {
                return true;
            }
            let places = self.places(&layer);
            let mut paths = places
                .iter()
                .filter_map(|place| constant(&place.for_key(key)?));
            paths.any(|path| self.analysis.snapshot.file(&path).is_none())
        })
    }
}

/// Whether the `lookup_options` of a file may have an entry for a key.
fn may_have_options_for(analysis: &Analysis<'_>, file: &File, key: &str) -> bool {
    let facts = file.facts();
    let mut entries = facts.lookup_options.iter();
    facts.error.is_some()
        || facts.lookup_options.is_empty()
        || entries.any(|entry| has_tokens(&entry.pattern) || &*entry.pattern == "<<")
        || has_option_for(analysis, file.path(), key)
}

/// How many of some members are in no run, because of [`MAX_LOOKUPS`].
#[must_use]
pub fn left_out(runs: &[Run], members: &[usize]) -> usize {
    let looked_up: usize = runs.iter().map(|run| run.members.len()).sum();
    members.len() - looked_up
}

/// Nodes with the same answer.
pub struct SameAnswer<'a> {
    /// The part of the value that was asked for; `None` if the value lacks it.
    pub value: Result<Option<&'a Value>, &'a LookupError>,
    /// One for each set of files that was read, the most frequent first.
    pub runs: Vec<&'a Run>,
    /// The number of nodes.
    pub count: usize,
}

/// Groups runs by their answer, or by a part of it, the largest group first.
#[must_use]
pub fn grouped_by_answer<'a>(runs: &'a [Run], steps: &[Value]) -> Vec<SameAnswer<'a>> {
    let mut groups: Vec<SameAnswer<'a>> = Vec::new();
    for run in runs {
        let value = run.answer.result.as_ref().map(|value| dig(value, steps));
        match groups.iter_mut().find(|group| group.value == value) {
            Some(group) => {
                group.runs.push(run);
                group.count += run.members.len();
            }
            None => groups.push(SameAnswer {
                value,
                runs: vec![run],
                count: run.members.len(),
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    for group in &mut groups {
        group
            .runs
            .sort_by_key(|run| std::cmp::Reverse(run.members.len()));
    }
    groups
}

impl ScopeView<'_> {
    fn survey_by(&mut self, key: &str, request: &Request) -> Survey {
        let answer = self.lookup(request);
        let sources = sources(&answer, &quoted(key));
        let found = self.key_answer_from(key, answer, sources);
        self.survey_from(found.asked_by(request))
    }

    fn survey_from(&mut self, found: KeyAnswer) -> Survey {
        let key = &*found.key;
        let mut walk = SurveyWalk {
            analysis: &self.view.analysis,
            key,
            strategy: &found.strategy,
            sources: &found.sources,
            possible: possible(&found.answer, key),
            order: DecidingOrder::new(&found.strategy, &found.sources),
            named: HashSet::new(),
        };
        let mut levels = Vec::new();
        let mut options_place = None;
        let layers = layers_of(key);
        for layer in &layers {
            let all = self.places(layer);
            let of_any_node = self.view.places(layer);
            for any_key in &*all {
                let Some(place) = any_key.for_key(key) else {
                    continue;
                };
                if let Some(entry) = &found.options
                    && options_place.is_none()
                {
                    options_place = options_line(walk.analysis.snapshot, &place, &entry.name);
                }
                levels.push(walk.level(place, &any_key.template, &of_any_node));
            }
        }
        let mut elsewhere = Vec::new();
        let mut others: Vec<&Layer> = Vec::new();
        for unknown in &found.answer.unknown {
            if !layers.contains(&unknown.layer) && !others.contains(&&unknown.layer) {
                others.push(&unknown.layer);
                elsewhere.extend(self.places(&unknown.layer).iter().cloned());
            }
        }
        Survey {
            options_place,
            levels,
            elsewhere,
            found,
        }
    }
}

struct SurveyWalk<'w> {
    analysis: &'w Analysis<'w>,
    key: &'w str,
    strategy: &'w Strategy,
    sources: &'w [LevelValue],
    /// Files with the key that could change the answer.
    possible: Vec<Paths>,
    order: DecidingOrder<'w>,
    /// Files named by a level so far.
    named: HashSet<Arc<str>>,
}

impl SurveyWalk<'_> {
    /// The status of a place for the key. `any_key` is its path for any key, `all` are the places of
    /// its hierarchy for any node.
    fn level(&mut self, place: Place, any_key: &Template, all: &[Place]) -> SurveyLevel {
        let decides = self.order.may_decide(&place);
        let (mut file, mut key) = (None, None);
        let status = if self.analysis.is_outside(&place.template) {
            Status::Outside { decides }
        } else if !place.template.is_constant() {
            self.open(&place, any_key, all)
        } else if let Some(known) = constant(&place).and_then(|at| self.analysis.snapshot.file(&at))
        {
            file = Some(known.path().clone());
            let fact = known.facts().key(self.key);
            key = fact.map(|fact| (fact.line, fact.key));
            match (fact, self.has_given(known.path())) {
                (Some(_), true) if self.strategy.is_first_found() => Status::Sets,
                (Some(_), true) => Status::Merged,
                // The function that reads the file is never run, so its result is unknown.
                (Some(_), false) if place.reading.is_none() => {
                    Status::Unknown([known.path().clone()].into_iter().collect())
                }
                (Some(_), false) => Status::Overridden,
                (None, _) => Status::NotSet,
            }
        } else {
            Status::NotSet
        };
        SurveyLevel {
            place,
            file,
            key,
            status,
        }
    }

    fn has_given(&self, path: &str) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| source.path.as_deref() == Some(path))
    }

    /// A location with an unknown path. A variable may stand for several folders only in a file that
    /// no place in `all` more likely names.
    fn open(&mut self, place: &Place, any_key: &Template, all: &[Place]) -> Status {
        let snapshot = self.analysis.snapshot;
        let mut maybe = snapshot.holders(self.key, any_key, None);
        if any_key.depends_on_key() {
            maybe = maybe.filtered(|path| place.template.matches(path));
        }
        let across = snapshot.holders_across(self.key, any_key, None);
        if !across.is_empty() {
            maybe = maybe.with(&across.filtered(|path| place.fits_among(all, path)));
        }
        if maybe.is_empty() {
            return Status::NotSet;
        }
        // Usually all of them are possible, or none.
        if self.possible.contains(&maybe) || place.reading.is_none() {
            return Status::Unknown(maybe);
        }
        let mut found = Vec::new();
        for path in maybe.iter() {
            let is_possible = self.possible.iter().any(|files| files.contains(path));
            let is_new = !self.has_given(path) && !is_possible;
            if is_new && !place.in_default_hierarchy && self.named.insert(path.clone()) {
                found.push(path.clone());
            }
        }
        Status::ForSomeNodes(found)
    }
}

impl Survey {
    /// The entry of `lookup_options` that applies to the key, and its place.
    #[must_use]
    pub fn options(&self) -> Option<DecidingOptions> {
        Some(DecidingOptions {
            entry: self.found.options.clone()?,
            place: self.options_place.clone(),
        })
    }

    /// The files of levels with some status, without those of a module's `default_hierarchy`.
    fn proper_files(&self, has_status: impl Fn(&Status) -> bool) -> Vec<Arc<str>> {
        let levels = self.levels.iter();
        let levels = levels.filter(|it| !it.place.in_default_hierarchy && has_status(&it.status));
        distinct(levels.filter_map(|level| level.file.clone()))
    }

    /// Files that have the key but are overridden.
    #[must_use]
    pub fn overridden(&self) -> Vec<Arc<str>> {
        self.proper_files(|status| matches!(status, Status::Overridden))
    }

    /// Files that are overridden, or merged, for some nodes only.
    #[must_use]
    pub fn for_some_nodes(&self) -> Vec<Arc<str>> {
        let sure = self.overridden();
        let levels = self.levels.iter();
        let files = levels.filter_map(|level| {
            let Status::ForSomeNodes(files) = &level.status else {
                return None;
            };
            Some(files)
        });
        let files = files.flatten().filter(|path| !sure.contains(path));
        files.cloned().collect()
    }

    /// The variables that decide whether those files are read.
    #[must_use]
    pub fn variables_of_some(&self) -> Vec<Arc<str>> {
        let files = self.for_some_nodes();
        let levels = self.levels.iter().filter(|level| {
            matches!(&level.status, Status::ForSomeNodes(own) if own.iter().any(|at| files.contains(at)))
        });
        let names = levels.flat_map(|level| level.place.template.variables().cloned());
        distinct(names.filter(|name| !is_wildcard(name)))
    }

    /// Existing files without the key.
    #[must_use]
    pub fn not_set(&self) -> Vec<Arc<str>> {
        self.proper_files(|status| matches!(status, Status::NotSet))
    }
}

/// The files that could set a key where a level's path is unknown.
fn possible(answer: &Answer, key: &str) -> Vec<Paths> {
    let unknown = answer.unknown.iter();
    let files = unknown.filter_map(|unknown| match &unknown.cause {
        UnknownCause::Path(possible) if *possible.key == *key => Some(possible.files.clone()),
        UnknownCause::Path(_) | UnknownCause::Function { .. } | UnknownCause::Absent { .. } => None,
    });
    files.collect()
}

/// A place's path, if it has no variables.
fn constant(place: &Place) -> Option<String> {
    let path = place.template.with_values(&[])?;
    Some(path::normalise(&path))
}

fn distinct(items: impl Iterator<Item = Arc<str>>) -> Vec<Arc<str>> {
    let mut found: Vec<Arc<str>> = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}
