//! Hovers: effective values of the thing under the cursor, with their sources, their certainty and
//! the nodes that get them.
//!
//! One module for each kind of [`Target`], and one for manifests.
//!
//! ```
//! use hiera_ls::analysis::Analysis;
//! use hiera_ls::ide::{KnownNodes, hover::{HoverOptions, hover}};
//! use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
//! use hiera_ls::workspace::{Change, Workspace};
//!
//! let workspace = Workspace::new();
//! workspace.apply(Change::Folders(vec!["/repo".into()]));
//! let open = |path: &str, text: &str| workspace.apply(Change::Open {
//!     path: path.into(),
//!     text: text.into(),
//!     version: 1,
//! });
//! open("/repo/hiera.yaml", "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n");
//! let snapshot = open("/repo/data/common.yaml", "ntp::servers: [a, b]\n");
//! let settings = Settings::for_version(PuppetVersion::V8).for_editor();
//! let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
//! let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
//! let found = hover(analysis, "/repo/data/common.yaml", 0, &HoverOptions::default());
//! assert_eq!(
//!     found.map(|hover| hover.plain).as_deref(),
//!     Some("ntp::servers — first found, for every node that reads this file\n  \
//!           - a\n  - b\nset in common.yaml:1"),
//! );
//! ```

mod anchor;
mod blob;
mod change;
mod class;
mod element;
mod interface;
mod key;
mod levels;
mod option;
mod over_nodes;
mod page;
mod path;
mod provenance;
mod refused;
mod token;
mod unread;
mod word;
mod yaml;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::shell::shell_word;
use super::target::{self, KeyTarget, Target, is_config};
use crate::analysis::{Analysis, KeyPositions, LevelValue, RootView, datadir_of, without_keys};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::Reach;
use crate::scope::Scope;
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::path::within as within_folder;
use crate::workspace::{File, language_of};
pub use blob::{Revealed, plain_text};
pub(super) use change::changes_in_words;
pub(super) use element::{ListElement, find as element_at};
pub use interface::{
    Described, DocumentedAnswers, Effective, Hover, HoverForm, HoverOptions, Link, MAX_LINES, Name,
    Reveal, RevealLink, ValueLink,
};
pub(super) use key::used;
use page::{Line, Page, Piece, Whole, code, few, text};
pub(super) use provenance::dig;
pub use word::{meaning_of_key, meaning_of_value};
pub(super) use yaml::{has_secret, inline};

/// The maximum in the command that shows the dropped lines.
const ALL_LINES: usize = 1_000;

/// Maximum number of files in one line.
const MOST_NAMED: usize = 3;

/// Maximum number of files without a key that are named.
const MOST_WITHOUT: usize = 2;

/// The hover for the byte at `offset` of a file; `None` for a file outside of every hierarchy and a
/// place without meaning. Never shows decrypted values.
///
/// Costs one lookup for each group of nodes that see the same files; only reads files that these
/// lookups read.
#[must_use]
pub fn hover(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    options: &HoverOptions<'_>,
) -> Option<Hover> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let context = Context::new(analysis, path, options);
    let target = target::at(analysis.snapshot, path, offset);
    let is_known = |context: &Context<'_>| {
        is_config(analysis.snapshot, path)
            || !context.reaches.is_empty()
            || context.view.lies_among_data(path)
    };
    let Some(context) = &context.filter(|context| context.is_code || is_known(context)) else {
        let page = unread::page(analysis, path, target.key()?, options)?;
        return Some(page.hover(target.range()?, options));
    };
    let (mut page, range) = match context.is_code {
        true => class::in_manifest(context, context.file.facts().code.as_deref()?, offset)?,
        false => part(context, &target, offset).or_else(|| whole(context, &target))?,
    };
    mark_what_if(analysis, &mut page);
    page.rest(rest(context, target.key(), range));
    Some(page.hover(range, options))
}

/// The page of the whole target, and its range; [`part`] is for parts of it.
fn whole(context: &Context<'_>, target: &Target) -> Option<(Page, TextRange)> {
    let page = match target {
        Target::Key(key) => key::page(context, key),
        Target::Token(token) => token::page(context, token),
        Target::Path(path) => path::page(context, path),
        Target::Option(option) => option::page(context, option),
        Target::Blob(blob) => blob::page(context, blob),
        Target::Word(word) => word::page(context, word)?,
        Target::None => return None,
    };
    Some((page, target.range()?))
}

/// How to see all lines of a hover: a link to the explanation of a key, or a command.
fn rest(context: &Context<'_>, key: Option<&KeyTarget>, range: TextRange) -> Whole {
    let (file, start) = (context.file, range.start as usize);
    let line = file.line(start) + 1;
    let before = file.text()[..start].rsplit('\n').next().unwrap_or_default();
    let column = match before.trim().is_empty() {
        true => String::new(),
        false => format!(":{}", before.chars().count() + 1),
    };
    let name = match context.options.name {
        Some(name) => name(context.path()),
        None => {
            let snapshot = context.view.analysis.snapshot;
            snapshot.short_name(context.path()).to_owned()
        }
    };
    let place = shell_word(&format!("{name}:{line}{column}"));
    let node = context.selected();
    let node = node.map_or_else(String::new, |(name, _)| {
        format!(" --node {}", shell_word(name))
    });
    let link = context.options.explain;
    Whole {
        link: link.zip(key).map(|(link, key)| link(&key.lookup_name())),
        words: vec![format!(
            "hiera-ls hover {place}{node} --max-lines {ALL_LINES}"
        )],
        is_shortened: false,
    }
}

/// The page and range of a part of a value: an anchor, an alias, `<<` or a list's element. `None` for others.
fn part(context: &Context<'_>, target: &Target, offset: usize) -> Option<(Page, TextRange)> {
    let key = target.key();
    let is_on_key = |key: &KeyTarget| key.before_list.is_none() && key.range.touches(offset);
    // Shortcut for ordinary keys, which are the most frequent.
    if key.is_some_and(is_on_key) {
        return None;
    }
    match target {
        Target::Key(_) | Target::None | Target::Option(_) => {}
        Target::Token(_) | Target::Path(_) | Target::Blob(_) | Target::Word(_) => return None,
    }
    let format = context.file.format()?;
    let snapshot = context.view.analysis.snapshot;
    let parse = snapshot.parse_around(context.file, format, offset);
    let nodes = parse.tree.path_at(offset);
    if let Some((joint, range)) = anchor::find(&parse.tree, &nodes, offset) {
        if let Some(page) = anchor::page(context, &parse.tree, &joint) {
            return Some((page, range));
        }
        let mut page = if let Target::Option(option) = target {
            option::page(context, option)
        } else {
            key::page(context, key?)
        };
        page.second_line(anchor::uses(context, &parse.tree, &joint));
        return Some((page, range));
    }
    let key = key?;
    let element = element::find(&parse.tree, &nodes)?;
    let line = element::line(context, &element);
    if line.is_empty() {
        return None;
    }
    let mut page = key::page(context, key);
    page.second_line(line);
    Some((page, element.range))
}

/// Adds a line about overridden facts below the first line.
fn mark_what_if(analysis: Analysis<'_>, page: &mut Page) {
    if !analysis.what_if.is_empty() {
        page.second_line(vec![text("what if: "), code(analysis.what_if)]);
    }
}

/// The hover of a key or variable for the nodes that read a file.
#[must_use]
pub fn described(
    analysis: Analysis<'_>,
    path: &str,
    about: &Described,
    options: &HoverOptions<'_>,
) -> Option<Hover> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let context = &Context::new(analysis, path, options)?;
    let page = match about {
        Described::Key(name) => key::page(context, &KeyTarget::named(name)?),
        Described::Variable(name) => token::variable_page(context, name),
    };
    Some(page.hover(TextRange::empty(0), options))
}

/// The answers of a hover on a key as data, for the nodes that read the file, the most frequent
/// first; one answer for any node if none is known. Nodes beyond [`crate::analysis::MOST_LOOKUPS`]
/// lookups are left out. Empty if the cursor is on no key of a file that a level reads.
#[must_use]
pub fn effective(analysis: Analysis<'_>, path: &str, offset: usize) -> Vec<Effective> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let options = HoverOptions::default();
    let key = target::key_around(analysis.snapshot, path, offset);
    let (Some(key), Some(context)) = (key, Context::new(analysis, path, &options)) else {
        return Vec::new();
    };
    over_nodes::effective(&context, &key::in_effective_value(&context, &key)).0
}

/// The whole hover on a key for the nodes that read a file, or for the selected node, as a YAML
/// document: the value, and the rest in comments; for all nodes if the file is no data. `None` if
/// there are too many answers, and if no hierarchy answers.
#[must_use]
pub fn document(
    analysis: Analysis<'_>,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
    answers: DocumentedAnswers,
) -> Option<String> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let options = HoverOptions {
        max_lines: usize::MAX,
        ..*options
    };
    let context = Context::of_answer(analysis, path, &options)?;
    let target = KeyTarget::named(key)?;
    if answers == DocumentedAnswers::One && analysis.selected.is_none() {
        let (found, left) = over_nodes::effective(&context, &target);
        if found.len() > 1 || left > 0 {
            return None;
        }
    }
    let mut page = key::page(&context, &target);
    mark_what_if(analysis, &mut page);
    Some(page.document())
}

/// The file under the cursor, its root, and the names of files.
struct Context<'a> {
    view: RootView<'a>,
    options: &'a HoverOptions<'a>,
    /// The file under the cursor.
    file: &'a Arc<File>,
    /// The levels that read the file.
    reaches: Vec<Reach>,
    /// Whether answers are for all nodes, as in a manifest.
    is_code: bool,
    positions: KeyPositions<'a>,
    /// The data directory of the file.
    datadir: OnceCell<Option<String>>,
    readers: OnceCell<Vec<usize>>,
}

impl<'a> Context<'a> {
    /// `None` for a file outside of every root.
    fn new(
        analysis: Analysis<'a>,
        path: &str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Context<'a>> {
        let view = analysis.governing(path)?;
        let file = analysis.snapshot.file(path)?;
        Some(Context::of(analysis, view, file, options))
    }

    /// The context of an answer about a key of any name: for the nodes that read the file, or for
    /// all nodes, as in a manifest, if no hierarchy reads the file. A folder is replaced by the
    /// configuration of its hierarchy. `None` if no hierarchy answers.
    fn of_answer(
        analysis: Analysis<'a>,
        path: &str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Context<'a>> {
        let view = analysis.answering(path)?;
        let file = match analysis.snapshot.file(path) {
            Some(file) => file,
            None => analysis.snapshot.file(view.root.hiera_yaml.as_deref()?)?,
        };
        let mut context = Context::of(analysis, view, file, options);
        let path = context.path();
        let may_be_read = || {
            !is_config(analysis.snapshot, path) && !analysis.configurations_reading(path).is_empty()
        };
        let is_data = !context.reaches.is_empty() || may_be_read();
        if !is_data && context.view.refused_config().is_none() {
            context.is_code = true;
        }
        Some(context)
    }

    fn of(
        analysis: Analysis<'a>,
        view: RootView<'a>,
        file: &'a Arc<File>,
        options: &'a HoverOptions<'a>,
    ) -> Context<'a> {
        let path = file.path();
        let mut reaches = view.reach(path);
        // Of several matching paths, the one with the most literal text is the best.
        reaches.sort_by_key(|reach| std::cmp::Reverse(spelt(&reach.place.template)));
        Context {
            reaches,
            is_code: language_of(path).is_some(),
            file,
            view,
            options,
            positions: KeyPositions::new(analysis.snapshot),
            datadir: OnceCell::new(),
            readers: OnceCell::new(),
        }
    }

    fn shows_whole(&self) -> bool {
        self.options.max_lines == usize::MAX
    }

    fn path(&self) -> &'a str {
        self.file.path()
    }

    /// The scope of the nodes that read the file, as far as the path determines it.
    fn scope(&self) -> Scope {
        self.reaches.first().map_or_else(Scope::open, Reach::scope)
    }

    /// Indexes of the known nodes that read the file. O(nodes) once.
    fn readers(&self) -> &[usize] {
        self.readers.get_or_init(|| {
            if self.is_code {
                return (0..self.view.analysis.nodes.len()).collect();
            }
            let places = self.reaches.iter().map(|reach| &reach.place);
            self.view.readers(places, self.path())
        })
    }

    /// Indexes of the nodes that an answer is for: the selected one, else those that read the file.
    fn answered(&self) -> Cow<'_, [usize]> {
        match self.selected() {
            Some((_, member)) => Cow::Owned(vec![member]),
            None => Cow::Borrowed(self.readers()),
        }
    }

    /// The selected node, and its index among the known ones.
    fn selected(&self) -> Option<(&'a str, usize)> {
        let Analysis {
            selected, nodes, ..
        } = self.view.analysis;
        let name = selected?;
        Some((name, nodes.find(name)?))
    }

    /// The line (from 1) of a key, or of a part of its value, in a file.
    fn line_of(&self, file: &File, key: &str, steps: &[Value]) -> u32 {
        self.positions.line(file, key, steps)
    }

    /// Links to a line of a file, with the file's name.
    fn link(&self, at: &str, line: u32) -> Piece {
        Piece::Place {
            label: format!("{}:{line}", self.label(at)),
            path: at.to_string(),
            line,
        }
    }

    /// Links to a key, or to a part of its value, in the file of a level.
    fn source(&self, source: &LevelValue, key: &str, steps: &[Value]) -> Piece {
        let Some(path) = &source.path else {
            return text(format!("level '{}'", source.level));
        };
        match self.view.analysis.snapshot.file(path) {
            Some(file) => self.link(path, self.line_of(file, key, steps)),
            None => text(self.label(path)),
        }
    }

    /// Links to a file, without a line.
    fn file_link(&self, at: &str) -> Piece {
        Piece::Place {
            label: self.label(at),
            path: at.to_string(),
            line: 1,
        }
    }

    /// The name of a file: by the options, else its path below the data directory of the file under
    /// the cursor, else below the root or the workspace's folder.
    fn label(&self, at: &str) -> String {
        if let Some(name) = self.options.name {
            return name(at);
        }
        let datadir = || datadir_of(&self.reaches.first()?.place);
        if let Some(datadir) = self.datadir.get_or_init(datadir)
            && let Some(rest) = within_folder(at, datadir)
            && !rest.is_empty()
        {
            return rest.to_string();
        }
        // In a module's manifest, data of the environment is shown beside that of the module.
        let root = Some(&self.view.root.dir).filter(|_| !self.is_code);
        if let Some(rest) = root.and_then(|root| within_folder(at, root)) {
            return rest.to_string();
        }
        match unread::within(self.view.analysis, at) {
            "" => at.to_string(),
            rest => rest.to_string(),
        }
    }

    /// Links to a key in files; only a few of the files are named.
    fn named<'f>(
        &self,
        key: &str,
        steps: &[Value],
        files: impl ExactSizeIterator<Item = &'f Arc<str>>,
    ) -> Line {
        let snapshot = self.view.analysis.snapshot;
        let links = files.map(|path| {
            let file = snapshot.file(path);
            let line = file.map_or(1, |file| self.line_of(file, key, steps));
            vec![self.link(path, line)]
        });
        few(links, MOST_NAMED)
    }

    /// Links to files without lines; only a few of them are named.
    fn labels(&self, files: &[Arc<str>]) -> Line {
        let names = files.iter().map(|path| vec![self.file_link(path)]);
        few(names, MOST_WITHOUT)
    }
}

/// The number of letters and digits in a path, without its variables.
fn spelt(template: &Template) -> usize {
    let texts = template.parts.iter().filter_map(|part| match part {
        TemplatePart::Text(text) => Some(text),
        TemplatePart::Variable(_) | TemplatePart::Key(_) => None,
    });
    texts
        .flat_map(|text| text.chars())
        .filter(|c| c.is_alphanumeric())
        .count()
}

#[cfg(test)]
mod tests;
