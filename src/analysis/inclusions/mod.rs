//! The classes that nodes surely include, and the required parameters without a value. Classes come
//! from site manifests (the top scope or a node's block), from lists of classes in data, and from
//! those classes in turn, each without a condition.
//!
//! Considers known nodes, nodes named in node blocks, and all nodes that read a list of classes. A
//! missing fact is treated as unknown.

mod broken;
mod certainly;
mod defaults;
mod lacking;
mod missing;
mod nodes;
mod perhaps;
mod reached;
mod readers;

pub use certainly::CertainInclusions;
pub use defaults::WrongDefaultValue;
pub use lacking::LackingCache;
pub use nodes::NodesOfSite;
pub use perhaps::PossibleInclusions;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use broken::Broken;
use indexmap::IndexMap;
use lacking::KnownLacking;

use crate::analysis::bodies::{CodeBody, code};
use crate::analysis::condition::{has_conversion_for, has_option_for};
use crate::analysis::declarations::Declarations;
use crate::analysis::evaluation_order::{EvaluationOrder, Viewpoint};
use crate::analysis::members::Members;
use crate::analysis::site::{IncludedList, ListLevels, is_for_everyone, list_included};
use crate::analysis::{Analysis, Defined, KnownOfScope, RootView};
use crate::hierarchy::Layer;
use crate::lookup::{LayerReaders, Reach};
use crate::scope::{KnownNodes, Scope};
use crate::syntax::puppet::without_colons;
use crate::text::TextRange;
use crate::workspace::{
    DefaultClass, File, Format, IncludeFact, LOOKUP_OPTIONS, Means, Within, path,
};

/// Maximum number of known nodes whose classes are considered, in their order. Sets of nodes are kept for
/// the lists of classes of each file.
const MAX_NODES: usize = 20_000;

/// Maximum number of classes in an inclusion chain.
const MAX_WAYS: usize = 8;

/// A class parameter that needs a value and surely has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingValue {
    /// The class.
    pub class: Arc<str>,
    /// The parameter.
    pub parameter: Arc<str>,
    /// The range of the parameter.
    pub declared: FileRange,
    /// Where the class is included: a statement, or an element of a list in data.
    pub included: FileRange,
    /// For an element of a list: the key, and the number of the class name in it. Edits elsewhere in
    /// the file move its range.
    pub element: Option<(Arc<str>, usize)>,
    /// The chain of inclusions: where the including class is itself included, and so on, each with
    /// its name.
    pub ways: Vec<(Arc<str>, FileRange)>,
    /// The nodes without a value.
    pub affected: Affected,
}

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRange {
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// Bytes of its text.
    pub range: TextRange,
}

/// The nodes that something applies to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Affected {
    /// All.
    Everyone,
    /// Some known nodes.
    Nodes {
        /// How many.
        count: usize,
        /// Out of how many.
        of: usize,
        /// One of them.
        example: Arc<str>,
    },
    /// The nodes that read a data file.
    Readers(Arc<str>),
}

/// As the end of a sentence; empty for all nodes.
impl std::fmt::Display for Affected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Affected::Everyone => Ok(()),
            Affected::Nodes {
                count: 1,
                of: 1,
                example,
            } => write!(f, " for {example}"),
            Affected::Nodes { count, of, example } => {
                write!(f, " for {count} of {of} nodes, such as {example}")
            }
            Affected::Readers(at) => write!(f, " for the nodes that read {}", path::name(at)),
        }
    }
}

/// One or several nodes with the same scope.
struct AffectedGroup {
    scope: Scope,
    affected: Affected,
}

struct Included<'a> {
    class: Defined<'a>,
    /// The first statement that includes it, and the class around that.
    statement: Option<Statement<'a>>,
    /// Members for which a statement includes it.
    by_statement: Members,
    /// The list elements in data that name it, each with the members that surely get it.
    elements: Vec<(ListedElement<'a>, Members)>,
    /// Members for which its own includes have been followed.
    seen: Members,
    /// Whether a function that was called earlier may have declared it.
    may_be_declared: bool,
}

#[derive(Clone)]
struct ListedElement<'a> {
    file: &'a Arc<File>,
    range: TextRange,
    /// The key, and the number of the class name in its list; `None` for one in code.
    element: Option<(Arc<str>, usize)>,
}

enum By<'a> {
    Statement(Statement<'a>),
    Element(ListedElement<'a>),
}

#[derive(Clone, Copy)]
struct Statement<'a> {
    body: CodeBody<'a>,
    include: &'a IncludeFact,
}

/// Locations that read a file, with their layers.
type Reaches = Arc<[(Layer, Reach)]>;

/// A class named by a list element, and the members that surely get the element.
type ListedClass<'a> = (Arc<str>, ListedElement<'a>, Members);

struct Inclusions<'v, 'a> {
    view: &'v RootView<'a>,
    known: &'v KnownNodes,
    /// Numbered after the known nodes.
    groups: Vec<AffectedGroup>,
    /// Groups by a variable's name and value.
    by_value: HashMap<(Arc<str>, Arc<str>), Vec<usize>>,
    /// The group of a file's readers, by path.
    reading: HashMap<Arc<str>, usize>,
    classes: IndexMap<Arc<str>, Included<'a>>,
    open: VecDeque<(Arc<str>, Members)>,
    /// The classes in lists, by key.
    lists: HashMap<(Arc<str>, ListLevels), Rc<[ListedClass<'a>]>>,
    declarations: Declarations<'a>,
    order: &'v EvaluationOrder,
    broken: Broken<'a>,
    /// What is kept for later snapshots, and the files of the groups for which it was found.
    lookups: RefCell<KnownLacking>,
    groups_of_kept: Vec<Arc<str>>,
    /// What is known about the scope of which nothing is known.
    open_scope: RefCell<KnownOfScope>,
    layer_readers: RefCell<HashMap<Layer, Rc<LayerReaders<'v>>>>,
}

impl<'v, 'a> Inclusions<'v, 'a> {
    fn new(
        view: &'v RootView<'a>,
        known: &'v KnownNodes,
        order: &'v EvaluationOrder,
        broken: Broken<'a>,
    ) -> Inclusions<'v, 'a> {
        Inclusions {
            view,
            known,
            groups: Vec::new(),
            by_value: HashMap::new(),
            reading: HashMap::new(),
            classes: IndexMap::new(),
            open: VecDeque::new(),
            lists: HashMap::new(),
            declarations: Declarations::of(view.analysis, view.root),
            order,
            broken,
            lookups: RefCell::default(),
            groups_of_kept: Vec::new(),
            open_scope: RefCell::default(),
            layer_readers: RefCell::default(),
        }
    }
}

impl<'a> Inclusions<'_, 'a> {
    fn analysis(&self) -> Analysis<'a> {
        self.view.analysis
    }

    fn group(&mut self, scope: Scope, affected: Affected) -> usize {
        for (name, value) in scope.bound() {
            let key = (Arc::from(name), Arc::from(value));
            self.by_value
                .entry(key)
                .or_default()
                .push(self.groups.len());
        }
        if let Affected::Readers(path) = &affected {
            self.reading.insert(Arc::clone(path), self.groups.len());
        }
        self.groups.push(AffectedGroup { scope, affected });
        self.known.len() + self.groups.len() - 1
    }

    /// Visits the site manifests.
    fn start(&mut self, tops: &[CodeBody<'a>]) {
        let blocks = tops.iter().flat_map(|top| top.blocks());
        let (blocks, all): (Vec<CodeBody<'a>>, Vec<_>) = blocks.unzip();
        let mut everyones = Members::default();
        everyones.insert(self.group(Scope::open(), Affected::Everyone));
        let lists = tops.iter().chain(&blocks).flat_map(|body| lists(*body));
        let lists = lists.map(|list| Arc::clone(list.key));
        let lists: BTreeSet<Arc<str>> = lists.collect();
        for (path, scope) in self.readers_of_lists(&lists) {
            everyones.insert(self.group(scope, Affected::Readers(path)));
        }
        self.compare_groups();
        let mut own: Vec<Members> = vec![Members::default(); blocks.len()];
        for member in 0..self.known.len() {
            match self.own_block(member, &all) {
                Some(None) => everyones.insert(member),
                Some(Some(block)) => {
                    everyones.insert(member);
                    own[block].insert(member);
                }
                None => {}
            }
        }
        let is_for_everyone = is_for_everyone(&all) && self.broken.is_none();
        if let ([only], true) = (&mut own[..], is_for_everyone) {
            only.add(&everyones);
        }
        for body in tops {
            self.body(*body, &everyones);
        }
        for (body, members) in blocks.iter().zip(&own) {
            self.body(*body, members);
        }
    }

    /// The scopes of files that have a list of classes and whose paths say something about their
    /// nodes.
    fn readers_of_lists(&self, lists: &BTreeSet<Arc<str>>) -> IndexMap<Arc<str>, Scope> {
        let mut found: IndexMap<Arc<str>, Scope> = IndexMap::new();
        for key in lists {
            for file in self.analysis().snapshot.iter_files_with(key) {
                let reaches = self.reaches(file.path());
                let Some((_, reach)) = reaches.first() else {
                    continue;
                };
                if !reach.place.template.is_constant() && !found.contains_key(file.path()) {
                    found.insert(Arc::clone(file.path()), reach.scope());
                }
            }
        }
        found
    }

    /// Adds what a body includes for some members.
    fn body(&mut self, body: CodeBody<'a>, members: &Members) {
        if members.is_empty() {
            return;
        }
        let from = viewpoint(body);
        for include in body.includes().filter(|it| !it.is_conditional) {
            let by = || By::Statement(Statement { body, include });
            let place = (&**body.file, include.place);
            if let Some(class) = include.known_class() {
                self.add(class, members, by(), place);
            } else if let Some(Means::Parts(parts)) = &include.means {
                for (class, members) in self.named(parts, members, from) {
                    self.add(&class, &members, by(), place);
                }
            }
        }
        for list in lists(body) {
            let place = (&**body.file, list.call);
            for (class, element, readers) in self.listed(list).iter() {
                if !self.may_be_unseen(from, element.file.path()) {
                    let readers = readers.among(members);
                    self.add(class, &readers, By::Element(element.clone()), place);
                }
            }
            let mut defaults = body.default_classes(list.call).peekable();
            if defaults.peek().is_none() {
                continue;
            }
            let lacking = self.lacking(from, list.key, members);
            for DefaultClass {
                class,
                place: range,
                ..
            } in defaults
            {
                let element = ListedElement {
                    file: body.file,
                    range: *range,
                    element: None,
                };
                self.add(class, &lacking, By::Element(element), place);
            }
        }
    }

    /// Whether a file that nodes read may be invisible from a viewpoint.
    fn may_be_unseen(&self, from: Viewpoint<'_>, path: &str) -> bool {
        let reaches = self.reaches(path);
        let mut variables = reaches
            .iter()
            .flat_map(|(_, reach)| reach.place.template.variables());
        variables.any(|variable| self.order.may_miss_from(from, variable))
    }

    /// Adds a class that a statement includes.
    fn add(
        &mut self,
        class: &Arc<str>,
        members: &Members,
        by: By<'a>,
        (file, place): (&File, TextRange),
    ) {
        if members.is_empty() || self.broken.mentions(class) {
            return;
        }
        let root = self.view.root;
        if !self.classes.contains_key(class) {
            let Some(defined) = self.analysis().autoloaded(root, class) else {
                return;
            };
            if code(defined.file).is_none_or(|code| code.is_broken) {
                return;
            }
            let included = Included {
                class: defined,
                statement: None,
                by_statement: Members::default(),
                elements: Vec::new(),
                seen: Members::default(),
                may_be_declared: false,
            };
            self.classes.insert(Arc::clone(class), included);
        }
        let Some(included) = self.classes.get_mut(class) else {
            return;
        };
        included.may_be_declared |= self.order.is_behind_call(file, place);
        match by {
            By::Statement(statement) => {
                included.statement.get_or_insert(statement);
                included.by_statement.add(members);
            }
            By::Element(element) => included.elements.push((element, members.clone())),
        }
        let new = members.without(&included.seen);
        if !new.is_empty() {
            included.seen.add(&new);
            self.open.push_back((Arc::clone(class), new));
        }
    }

    /// Follows the classes included so far to the classes that they include.
    fn follow(&mut self) {
        while let Some((name, members)) = self.open.pop_front() {
            let class = self.classes.get(&name).map(|included| included.class);
            if let Some(body) = class.and_then(Defined::body) {
                self.body(body, &members);
            }
        }
    }

    /// The classes in a list in data. With a merge, every level's elements count; without one, only
    /// the highest level's list does. Options may change that.
    fn listed(&mut self, list: IncludedList<'_>) -> Rc<[ListedClass<'a>]> {
        let IncludedList { key, levels, .. } = list;
        let name = (Arc::clone(key), levels);
        if let Some(known) = self.lists.get(&name) {
            return Rc::clone(known);
        }
        let analysis = self.analysis();
        let mut found = Vec::new();
        // A call that names its merge ignores that of the options (`LookupAdapter#lookup`).
        let decides = |file: &Arc<File>| match levels {
            ListLevels::All => has_conversion_for(&analysis, file.path(), key),
            ListLevels::Highest => has_option_for(&analysis, file.path(), key),
        };
        let has_options = |file: &Arc<File>| decides(file) && !self.reaches(file.path()).is_empty();
        let mut options = analysis.snapshot.iter_files_with(LOOKUP_OPTIONS);
        let lacks_file = levels == ListLevels::Highest && self.view.lacks_file(key);
        if !options.any(has_options) && !lacks_file {
            for file in analysis.snapshot.iter_files_with(key) {
                let readers = match levels {
                    ListLevels::All => self.readers(file.path()),
                    ListLevels::Highest => self.readers_of_highest(key, file.path()),
                };
                let elements = self.elements(file, key);
                for (index, (class, range)) in elements.iter().enumerate() {
                    let element = ListedElement {
                        file,
                        range: *range,
                        element: Some((Arc::clone(key), index)),
                    };
                    found.push((Arc::clone(class), element, readers.clone()));
                }
            }
        }
        let found: Rc<[ListedClass<'a>]> = found.into();
        self.lists.insert(name, Rc::clone(&found));
        found
    }
}

impl MissingValue {
    /// Where the class is included in the current text of the file.
    #[must_use]
    pub fn included_at(&self, analysis: Analysis<'_>) -> TextRange {
        let element = || {
            let (key, index) = self.element.as_ref()?;
            let file = analysis.snapshot.file(&self.included.path)?;
            let elements = analysis.elements(file, key);
            elements.get(*index).map(|(_, range)| *range)
        };
        element().unwrap_or(self.included.range)
    }
}

impl Affected {
    /// Whether these are the readers of a file.
    fn reads(&self, path: &str) -> bool {
        matches!(self, Affected::Readers(readers) if **readers == *path)
    }
}

impl AffectedGroup {
    fn value(&self, name: &str) -> Option<&str> {
        let mut bound = self.scope.bound();
        bound
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

impl Statement<'_> {
    fn place(&self) -> FileRange {
        FileRange {
            path: Arc::clone(self.body.file.path()),
            range: self.include.place,
        }
    }
}

fn viewpoint(body: CodeBody<'_>) -> Viewpoint<'_> {
    match (body.class(), body.within) {
        (Some(class), _) => Viewpoint::Class(class),
        (None, Within::Node(_)) => Viewpoint::Block,
        (None, Within::Top | Within::Definition(_)) => Viewpoint::Top,
    }
}

/// The lists of classes that a body surely includes.
fn lists(body: CodeBody<'_>) -> impl Iterator<Item = IncludedList<'_>> {
    body.lookups()
        .filter_map(move |lookup| list_included(body, lookup))
}

impl<'a> Analysis<'a> {
    /// The class names in a list of a file, with their places.
    pub(super) fn elements(self, file: &File, key: &str) -> Vec<(Arc<str>, TextRange)> {
        let format = file.format().unwrap_or(Format::Yaml);
        let Some(fact) = file.facts().key(key) else {
            return Vec::new();
        };
        let parse = self.snapshot.parse_entry(file, format, fact);
        let tree = &parse.tree;
        let is_it = |key_at| tree.scalar_text(key_at).is_some_and(|text| **text == *key);
        let list = tree.entries().filter(|&(key, _)| is_it(key)).last();
        let list = list.map(|(_, value)| tree.resolve(value));
        let only = list.as_slice();
        let elements = list.and_then(|list| tree.node(list).as_sequence());
        let elements = elements.unwrap_or(only);
        let names = elements.iter().filter_map(|&element| {
            let element = tree.resolve(element);
            let text = tree.scalar_text(element)?;
            let name = without_colons(text).to_lowercase();
            Some((Arc::from(name), tree.node(element).range))
        });
        names.collect()
    }
}
