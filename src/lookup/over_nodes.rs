//! One request over many scopes: the distinct answers, and the nodes that get each.
//!
//! Nodes share a lookup if their levels read the same files, as far as these matter to the
//! requested keys, and if the variables in the data have the same values. So a key over ten
//! thousand nodes costs about one lookup for each distinct set of sources.
//!
//! Without sharing, a hover in `common.yaml` at 10,000 nodes takes 3.2 ms instead of about 1 ms
//! (floor: 1 ms), and the most lookups that a hover makes, 64, answer for 64 nodes only.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap as Map};
use std::sync::Arc;

use super::node_classes::{Classes, NumberLists};
use super::request::{Answer, Reads, Request};
use super::session::Session;
use super::shared_results::{are_among, path_variables};
use super::views::{LayerViews, LevelInput};
use crate::hierarchy::Layer;
use crate::scope::KnownNodes;
use crate::value::KeyHashing;
use crate::workspace::{Format, LOOKUP_OPTIONS};

/// One lookup, and the nodes that share it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The answer.
    pub answer: Answer,
    /// The numbers of the nodes, in their order.
    pub members: Vec<usize>,
}

/// Limits the lookups over many nodes.
#[derive(Clone, Copy)]
pub struct LookupLimit<'a> {
    /// Maximum number of lookups, if that covers all answers.
    pub most: usize,
    /// Maximum number of lookups otherwise: those for the largest sets of nodes.
    pub sample: usize,
    /// Whether the request was cancelled.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> LookupLimit<'a> {
    /// As many lookups as there are distinct sets of sources.
    #[must_use]
    pub fn unlimited(is_cancelled: &'a dyn Fn() -> bool) -> LookupLimit<'a> {
        LookupLimit {
            most: usize::MAX,
            sample: usize::MAX,
            is_cancelled,
        }
    }
}

/// The answers for `members`: one lookup for each distinct set of sources, plus O(members). Members
/// that would need more lookups than the limit allows are in no run.
#[must_use]
pub fn runs_within(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
    limit: &LookupLimit<'_>,
) -> Vec<Run> {
    let found = answers_within(session, nodes, request, members, limit, |answer| answer);
    let runs = found.into_iter();
    let mut runs: Vec<Run> = runs
        .map(|(answer, mut members)| {
            members.sort_unstable();
            Run { answer, members }
        })
        .collect();
    runs.sort_by_key(|run| run.members[0]);
    runs
}

/// [`runs_within`], unordered, keeping only the result of `visit` for each answer: the traces of a
/// large hierarchy are much larger.
pub(super) fn answers_within<T>(
    session: &Session<'_>,
    nodes: &KnownNodes,
    request: &Request,
    members: &[usize],
    limit: &LookupLimit<'_>,
    mut visit: impl FnMut(Answer) -> T,
) -> Vec<(T, Vec<usize>)> {
    if let [only] = *members
        && limit.most > 0
        && !(limit.is_cancelled)()
    {
        let answer = session.lookup(&nodes.scope(only), request);
        return vec![(visit(answer), vec![only])];
    }
    let mut most = limit.most;
    let mut known = ClassResults::default();
    let mut is_answered = vec![false; nodes.len()];
    let mut runs: Vec<(T, Vec<usize>)> = Vec::new();
    let mut largest = Vec::new().into_iter();
    let mut rest = members.iter().copied();
    let mut left = members.len();
    session.with_shared_work(|shared| {
        while left > 0
            && let Some(member) = largest.next().or_else(|| rest.next())
        {
            if is_answered[member] {
                continue;
            }
            if runs.len() >= most || (limit.is_cancelled)() {
                break;
            }
            let mut answer = shared.lookup(session, nodes, request, member);
            let parted = known.parted(session, nodes, &answer.reads, &|| members.to_vec());
            answer.reads = Arc::clone(&parted.reads);
            let lists = parted.lists(members);
            let class = lists.list(parted.classes.of(member) as u32);
            let mut same: Vec<usize> = Vec::with_capacity(class.len());
            for member in class.iter().map(|&member| member as usize) {
                if !std::mem::replace(&mut is_answered[member], true) {
                    same.push(member);
                }
            }
            left -= same.len();
            runs.push((visit(answer), same));
            if runs.len() == 1 && lists.count_used() > most {
                most = limit.sample;
                largest = lists.largest(most).into_iter();
            }
        }
    });
    runs
}

/// The files of a layer that known nodes read, for questions about many of them.
pub struct LayerReaders<'a> {
    session: Session<'a>,
    views: Arc<LayerViews>,
}

impl<'a> LayerReaders<'a> {
    /// Those of a layer. O(nodes × locations), once for a set of nodes and files.
    #[must_use]
    pub fn of(session: Session<'a>, nodes: &KnownNodes, layer: &Layer) -> LayerReaders<'a> {
        LayerReaders {
            views: session.views(nodes, layer),
            session,
        }
    }

    /// The nodes whose levels read the file at `path`, by number. O(these nodes).
    #[must_use]
    pub fn certain(&self, path: &str) -> Vec<usize> {
        let wanted = |input: &LevelInput| input.reads(path);
        self.views.nodes_with(&self.session, path, wanted)
    }

    /// The nodes whose levels read the file at `path`, or a file with an unknown path that may be it, by number.
    /// O(these nodes).
    #[must_use]
    pub fn possible(&self, path: &str) -> Vec<usize> {
        let wanted = |input: &LevelInput| input.reads(path) || input.may_read(path);
        self.views.nodes_with(&self.session, path, wanted)
    }
}

/// The known nodes whose levels of a layer read the file at `path`, by number. O(nodes that read it)
/// once the views are known.
#[must_use]
pub fn readers(session: &Session<'_>, nodes: &KnownNodes, layer: &Layer, path: &str) -> Vec<usize> {
    LayerReaders::of(*session, nodes, layer).certain(path)
}

/// The known nodes whose levels of some layers read one of some files, or a file with an unknown path that may be one,
/// by number; `None` if a path has a variable that manifests, or code in which they look data up, may set. O(nodes that
/// read them) once the views are known.
#[must_use]
pub fn possible_readers_of(
    session: &Session<'_>,
    nodes: &KnownNodes,
    (layers, paths): (&[Layer], &[Arc<str>]),
    set_by_code: &BTreeSet<Arc<str>>,
) -> Option<BTreeSet<usize>> {
    let given = nodes.as_given();
    let mut found = BTreeSet::new();
    for layer in layers {
        let variables = path_variables(session, layer);
        let may_be_set = variables.iter().any(|path| nodes.is_set_by_manifests(path));
        if may_be_set || are_among(&variables, set_by_code) {
            return None;
        }
        let readers = LayerReaders::of(*session, &given, layer);
        found.extend(paths.iter().flat_map(|path| readers.possible(path)));
    }
    Some(found)
}

/// For each known node the first file with a key that it reads.
#[derive(Debug)]
pub struct FirstFiles {
    /// The files.
    pub files: Vec<Arc<str>>,
    /// For each node, by number, the index of its file; `None` if it reads none.
    pub of: Vec<Option<u32>>,
}

/// The first file with a top-level key that each node reads: the one that gives the value if the
/// key is never merged. No lookup is made. `sets` tells whether a file sets the key, `None` if that
/// is not certain; `layers` are those in which the key is looked up, in order. `None` if the answer
/// depends on more than files. O(files with the key + nodes
/// that read them).
#[must_use]
pub fn first_files(
    session: &Session<'_>,
    nodes: &KnownNodes,
    (key, layers): (&str, &[Layer]),
    sets: impl Fn(&str, Format) -> Option<bool>,
) -> Option<FirstFiles> {
    if nodes.failures().is_some() {
        return None;
    }
    let mut first = FirstFiles {
        files: Vec::new(),
        of: vec![None; nodes.len()],
    };
    for layer in layers {
        let views = session.views(nodes, layer);
        views.note_first(session, key, &sets, &mut first)?;
    }
    Some(first)
}

/// The classes of nodes for each different set of reads, with the results that were kept for them.
#[derive(Debug, Default)]
pub(super) struct ClassResults(Vec<Parted>);

impl ClassResults {
    /// The number of different reads.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a result with these reads is kept.
    pub(super) fn has(&self, reads: &Reads) -> bool {
        self.0.iter().any(|parted| *parted.reads == *reads)
    }

    /// Keeps the number of the result for a node, for all nodes of its class.
    pub(super) fn keep(
        &mut self,
        session: &Session<'_>,
        nodes: &KnownNodes,
        (reads, members): (&Arc<Reads>, &dyn Fn() -> Vec<usize>),
        (member, result): (usize, usize),
    ) {
        let parted = self.parted(session, nodes, reads, members);
        parted.found.insert(parted.classes.of(member), result);
    }

    /// The number of the result that was kept for a node's class.
    pub(super) fn find(&self, member: usize) -> Option<usize> {
        let mut all = self.0.iter();
        all.find_map(|parted| parted.found.get(&parted.classes.of(member)).copied())
    }

    /// The classes of nodes for these reads; `members` are the only nodes of interest.
    fn parted(
        &mut self,
        session: &Session<'_>,
        nodes: &KnownNodes,
        reads: &Arc<Reads>,
        members: &dyn Fn() -> Vec<usize>,
    ) -> &mut Parted {
        let known = self.0.iter().position(|known| known.reads == *reads);
        let known = known.unwrap_or_else(|| {
            self.0
                .push(Parted::new(session, nodes, reads.clone(), &members()));
            self.0.len() - 1
        });
        &mut self.0[known]
    }
}

/// Nodes split into classes by everything that distinguishes them for one [`Reads`]: their view of
/// the files that matter to the keys, and the values of the variables.
#[derive(Debug)]
struct Parted {
    reads: Arc<Reads>,
    classes: Classes,
    /// The number of the result for each class that has one.
    found: Map<usize, usize, KeyHashing>,
    /// The nodes of each class.
    lists: OnceCell<NumberLists>,
}

impl Parted {
    /// Splits `members`; O(files with a key + nodes that read one of them), and for each variable
    /// O(members + values).
    fn new(
        session: &Session<'_>,
        nodes: &KnownNodes,
        reads: Arc<Reads>,
        members: &[usize],
    ) -> Parted {
        let mut classes = Classes::new(nodes.len());
        let mut layers = vec![Layer::Global, Layer::Environment];
        layers.extend(reads.modules.iter().cloned().map(Layer::Module));
        let keys = std::iter::once(LOOKUP_OPTIONS).chain(reads.keys.iter().map(|key| &**key));
        let files = keys.clone().flat_map(|key| session.files.mattering(key));
        let files: Vec<u32> = files.collect();
        for layer in layers {
            let views = session.views(nodes, &layer);
            views.part(session, keys.clone(), &files, &mut classes);
        }
        for column in nodes.columns(reads.variables.iter()) {
            classes.split_by(&column, members);
        }
        if let Some(failures) = nodes.failures() {
            classes.split_by(&failures, members);
        }
        Parted {
            found: Map::default(),
            lists: OnceCell::new(),
            classes,
            reads,
        }
    }

    /// The nodes of each class, in the order of `members`: those for which the classes were made.
    /// O(members) the first time.
    fn lists(&self, members: &[usize]) -> &NumberLists {
        self.lists.get_or_init(|| {
            let classes = members.iter().map(|&member| self.classes.of(member) as u32);
            let pairs = classes.zip(members.iter().map(|&member| member as u32));
            NumberLists::new(self.classes.len(), pairs)
        })
    }
}
