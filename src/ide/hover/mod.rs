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
//! let open = |path: &str, text: &str| workspace.apply(Change::open(path, text));
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

mod about;
mod anchor;
mod blob;
mod change;
mod class;
mod differing;
mod element;
mod key;
mod levels;
mod option;
mod path;
mod provenance;
mod refused;
mod token;
mod unread;
mod word;

use std::borrow::Cow;
use std::sync::Arc;

use super::shell_word;
use super::target::{self, KeyTarget, Target, is_config};
use crate::analysis::{Analysis, FileView, KeyPositions, LevelValue, RootView, without_keys};
pub use crate::page::Link;
use crate::page::{self, Line, Page, PageForm, Piece, joined, text};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{self, File, language_of};
pub use about::{Described, DocumentedAnswers, Effective, described, document, effective};
pub use blob::{Revealed, plain_text};
pub(super) use change::changes_in_words;
pub(super) use class::merge_of;
pub(super) use element::{ListElement, find as element_at};
pub(super) use key::used;
pub use word::{meaning_of_key, meaning_of_value};

/// Names a file by its path.
pub type Name<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// Makes the target of a link that reveals the encrypted value at a byte offset of the file.
pub type RevealLink<'a> = &'a (dyn Fn(usize) -> String + Sync);

/// How a client reveals an encrypted value if the user has turned decryption on: by a command,
/// never in the hover.
#[derive(Clone, Copy)]
pub struct Reveal<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// Links that run the command, for clients that support them.
    pub link: Option<RevealLink<'a>>,
}

/// Makes the target of a link to a document about a key, given by the name in lookups.
pub type ValueLink<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// A form of a hover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HoverForm {
    /// See [`Hover::markdown`].
    #[default]
    Markdown,
    /// See [`Hover::aligned`].
    Aligned,
    /// See [`Hover::plain`].
    Plain,
}

/// The default maximum number of lines.
pub const MAX_LINES: usize = 20;

/// The maximum in the command that shows the dropped lines.
const ALL_LINES: usize = 1_000;

/// Options of a hover.
#[derive(Clone, Copy)]
pub struct HoverOptions<'a> {
    /// Maximum number of lines; `usize::MAX` also shows long lines in full.
    pub max_lines: usize,
    /// Links to the whole of a value that the hover cuts, for clients that run commands from links.
    pub whole: Option<ValueLink<'a>>,
    /// Links to the explanation of the value.
    pub explain: Option<ValueLink<'a>>,
    /// Links to the answers for all nodes.
    pub all_nodes: Option<ValueLink<'a>>,
    /// How to reveal encrypted values; `None` if decryption is off.
    pub reveal: Option<Reveal<'a>>,
    /// The target of a link that lets the user choose a hierarchy, for clients that run commands
    /// from links.
    pub choose: Option<&'a str>,
    /// Makes links; without it places are only named.
    pub link: Option<Link<'a>>,
    /// Names files; without it they are named by their path below the data directory of the file
    /// under the cursor, else below the workspace.
    pub name: Option<Name<'a>>,
    /// The only form to fill; `None` for all.
    pub form: Option<HoverForm>,
    /// Maximum width of the plain text in characters, except for lines of values.
    pub width: usize,
}

impl Default for HoverOptions<'_> {
    /// All forms, without links.
    fn default() -> Self {
        HoverOptions {
            max_lines: MAX_LINES,
            whole: None,
            explain: None,
            all_nodes: None,
            reveal: None,
            choose: None,
            link: None,
            name: None,
            form: None,
            width: page::WIDTH,
        }
    }
}

/// A hover, in three forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The range in the file that it describes.
    pub range: TextRange,
    /// Markdown.
    pub markdown: String,
    /// Markdown in lines of at most 100 characters and without links, for terminal clients.
    pub aligned: String,
    /// Plain text in lines of at most 100 characters.
    pub plain: String,
}

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
    let view = analysis.governing(path);
    let view = view.as_ref();
    let context = view.and_then(|view| Context::new(view, path, options));
    let target = target::at(analysis.snapshot, path, offset);
    let is_known = |context: &Context<'_>| {
        is_config(analysis.snapshot, path)
            || !context.own.reaches.is_empty()
            || context.view.lies_among_data(path)
    };
    let Some(context) = &context.filter(|context| context.is_code || is_known(context)) else {
        let page = unread::page(analysis, path, target.key()?, options)?;
        return Some(shown(&page, target.range()?, options));
    };
    let (mut page, range) = if context.is_code {
        class::in_manifest(context, context.file.facts().code.as_deref()?, offset)?
    } else {
        part(context, &target, offset).or_else(|| whole(context, &target))?
    };
    mark_what_if(analysis, &mut page);
    page.rest(rest(context, target.key(), range));
    Some(shown(&page, range, options))
}

/// A page in the requested forms.
fn shown(page: &Page, range: TextRange, options: &HoverOptions<'_>) -> Hover {
    let write = |which: HoverForm, form: PageForm<'_>| match options.form {
        Some(wanted) if wanted != which => String::new(),
        Some(_) | None => page.write(form, options.max_lines),
    };
    Hover {
        range,
        markdown: write(HoverForm::Markdown, PageForm::Markdown(options.link)),
        aligned: write(HoverForm::Aligned, PageForm::Aligned),
        plain: write(HoverForm::Plain, PageForm::Plain(options.width)),
    }
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
fn rest(context: &Context<'_>, key: Option<&KeyTarget>, range: TextRange) -> page::Whole {
    let (file, start) = (context.file, range.start as usize);
    let line = file.line(start) + 1;
    let before = file.text()[..start].rsplit('\n').next().unwrap_or_default();
    let column = if before.trim().is_empty() {
        String::new()
    } else {
        format!(":{}", before.chars().count() + 1)
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
    page::Whole {
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
        page.second_line(vec![page::text("what if: "), page::code(analysis.what_if)]);
    }
}

/// Maximum number of files in one line.
const MAX_NAMED: usize = 3;

/// Maximum number of files without a key that are named.
const MAX_WITHOUT: usize = 2;

/// What all parts of a hover need: the file under the cursor, the nodes that the answer is for, and
/// names and links of files.
pub(super) struct Context<'a> {
    pub(super) view: &'a RootView<'a>,
    pub(super) options: &'a HoverOptions<'a>,
    /// The file under the cursor.
    pub(super) file: &'a Arc<File>,
    /// The same from its root.
    pub(super) own: FileView<'a>,
    /// Whether answers are for all nodes, as in a manifest.
    pub(super) is_code: bool,
    positions: KeyPositions<'a>,
}

impl<'a> Context<'a> {
    /// `None` if there is no such file.
    pub(super) fn new(
        view: &'a RootView<'a>,
        path: &str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Context<'a>> {
        let snapshot = view.analysis.snapshot;
        let file = snapshot.file(path)?;
        let is_code = language_of(file.path()).is_some();
        Some(Context {
            own: view.file(file.path()),
            is_code,
            file,
            view,
            options,
            positions: KeyPositions::new(snapshot),
        })
    }

    /// The context of an answer about a key of any name: for the nodes that read the file, or for
    /// all nodes, as in a manifest, if no hierarchy reads the file. A folder is replaced by the
    /// configuration of its hierarchy. `None` if there is neither.
    pub(super) fn of_answer(
        view: &'a RootView<'a>,
        path: &str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Context<'a>> {
        let analysis = view.analysis;
        let config = || Context::new(view, view.root.hiera_yaml.as_deref()?, options);
        let mut context = Context::new(view, path, options).or_else(config)?;
        let path = context.path();
        let may_be_read = || {
            !is_config(analysis.snapshot, path) && !analysis.configurations_reading(path).is_empty()
        };
        let is_data = !context.own.reaches.is_empty() || may_be_read();
        if !is_data && view.refused_config().is_none() {
            context.is_code = true;
        }
        Some(context)
    }

    pub(super) fn shows_whole(&self) -> bool {
        self.options.max_lines == usize::MAX
    }

    pub(super) fn path(&self) -> &'a str {
        self.file.path()
    }

    /// Indexes of the known nodes that read the file. O(nodes).
    pub(super) fn readers(&self) -> Cow<'_, [usize]> {
        if self.is_code {
            self.view.members().into()
        } else {
            Cow::Borrowed(self.own.readers())
        }
    }

    /// Indexes of the nodes that an answer is for: the selected one, else those that read the file.
    pub(super) fn answered(&self) -> Cow<'_, [usize]> {
        match self.selected() {
            Some((_, member)) => Cow::Owned(vec![member]),
            None => self.readers(),
        }
    }

    /// The selected node, and its index among the known ones.
    pub(super) fn selected(&self) -> Option<(&'a str, usize)> {
        let Analysis {
            selected, nodes, ..
        } = self.view.analysis;
        let name = selected?;
        Some((name, nodes.find(name)?))
    }

    /// The line (from 1) of a key, or of a part of its value, in a file.
    pub(super) fn line_of(&self, file: &File, key: &str, steps: &[Value]) -> u32 {
        self.positions.line(file, key, steps)
    }

    /// Links to a line of a file, with the file's name.
    pub(super) fn link(&self, at: &str, line: u32) -> Piece {
        Piece::Place {
            label: format!("{}:{line}", self.label(at)),
            path: at.to_string(),
            line,
        }
    }

    /// Links to a key, or to a part of its value, in the file of a level.
    pub(super) fn source(&self, source: &LevelValue, key: &str, steps: &[Value]) -> Piece {
        let Some(path) = &source.path else {
            return text(format!("level '{}'", source.level));
        };
        match self.view.analysis.snapshot.file(path) {
            Some(file) => self.link(path, self.line_of(file, key, steps)),
            None => text(self.label(path)),
        }
    }

    /// Links to a file, without a line.
    pub(super) fn file_link(&self, at: &str) -> Piece {
        Piece::Place {
            label: self.label(at),
            path: at.to_string(),
            line: 1,
        }
    }

    /// The name of a file: by the options, else by its path below the data directory, the root or
    /// the workspace's folder.
    pub(super) fn label(&self, at: &str) -> String {
        if let Some(name) = self.options.name {
            return name(at);
        }
        // In a module's manifest, data of the environment is shown beside that of the module.
        let below = self.own.short_name(at).filter(|_| !self.is_code);
        match below.unwrap_or_else(|| within(self.view.analysis, at)) {
            "" => at.to_owned(),
            rest => rest.to_owned(),
        }
    }

    /// Links to a key in files; only a few of the files are named.
    pub(super) fn named<'f>(
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
        few(links, MAX_NAMED)
    }

    /// Links to files without lines; only a few of them are named.
    pub(super) fn labels(&self, files: &[Arc<str>]) -> Line {
        let names = files.iter().map(|path| vec![self.file_link(path)]);
        few(names, MAX_WITHOUT)
    }
}

/// A path below the workspace's folder.
pub(super) fn within<'p>(analysis: Analysis<'_>, at: &'p str) -> &'p str {
    let areas = analysis.snapshot.areas().iter();
    areas
        .filter_map(|area| workspace::path::within(at, area))
        .next()
        .unwrap_or(at)
}

/// The first items of a list, with the number of the others: `a, b and 3 more`.
pub(super) fn few(items: impl ExactSizeIterator<Item = Line>, most: usize) -> Line {
    let more = items.len().saturating_sub(most);
    with_more(joined(items.take(most), ", "), more)
}

/// Adds the number of further names to a list.
pub(super) fn with_more(mut line: Line, more: usize) -> Line {
    if more > 0 {
        line.push(text(format!(" and {more} more")));
    }
    line
}

#[cfg(test)]
mod tests;
