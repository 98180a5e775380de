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

mod anchor;
mod blob;
mod change;
mod class;
mod context;
mod differing;
mod element;
mod key;
mod levels;
mod option;
mod page;
mod path;
mod provenance;
mod refused;
mod token;
mod unread;
mod word;
mod yaml;

use std::sync::Arc;

use super::shell::shell_word;
use super::target::{self, KeyTarget, Target, is_config};
use crate::analysis::{Analysis, without_keys};
use crate::lookup::LookupError;
use crate::text::TextRange;
use crate::value::Value;
pub use blob::{Revealed, plain_text};
pub(super) use change::changes_in_words;
use context::Context;
pub(super) use element::{ListElement, find as element_at};
pub(super) use key::used;
pub use word::{meaning_of_key, meaning_of_value};
pub(super) use yaml::{has_secret, inline};

/// Makes a link's target from a path and a line (from 1).
pub type Link<'a> = &'a (dyn Fn(&str, u32) -> String + Sync);

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
fn whole(context: &Context<'_>, target: &Target) -> Option<(page::Page, TextRange)> {
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
    page::Whole {
        link: link.zip(key).map(|(link, key)| link(&key.lookup_name())),
        words: vec![format!(
            "hiera-ls hover {place}{node} --max-lines {ALL_LINES}"
        )],
        is_shortened: false,
    }
}

/// The page and range of a part of a value: an anchor, an alias, `<<` or a list's element. `None` for others.
fn part(context: &Context<'_>, target: &Target, offset: usize) -> Option<(page::Page, TextRange)> {
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
fn mark_what_if(analysis: Analysis<'_>, page: &mut page::Page) {
    if !analysis.what_if.is_empty() {
        page.second_line(vec![page::text("what if: "), page::code(analysis.what_if)]);
    }
}

/// What to describe, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Described {
    /// A key, by its name in lookups.
    Key(Arc<str>),
    /// A variable by its dotted path.
    Variable(Arc<str>),
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
    let view = analysis.governing(path)?;
    let context = &Context::new(&view, path, options)?;
    let page = match about {
        Described::Key(name) => key::page(context, &KeyTarget::named(name)?),
        Described::Variable(name) => token::variable_page(context, name),
    };
    Some(page.hover(TextRange::empty(0), options))
}

/// One answer of a hover on a key.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The value of the key under the cursor; `None` if the effective value of the top-level key
    /// lacks it. Or the error that Puppet raises.
    pub result: Result<Option<Value>, LookupError>,
    /// The known nodes that get it; empty if no known node reads the file.
    pub nodes: Vec<Arc<str>>,
    /// Whether all that it depends on is known.
    pub is_certain: bool,
}

/// The answers of a hover on a key as data, for the nodes that read the file, the most frequent
/// first; one answer for any node if none is known. Nodes beyond [`crate::analysis::MOST_LOOKUPS`]
/// lookups are left out. Empty if the cursor is on no key of a file that a level reads.
#[must_use]
pub fn effective(analysis: Analysis<'_>, path: &str, offset: usize) -> Vec<Effective> {
    let settings = without_keys(analysis.settings);
    let analysis = analysis.with_settings(&settings);
    let options = HoverOptions::default();
    let Some(view) = analysis.governing(path) else {
        return Vec::new();
    };
    let key = target::key_around(analysis.snapshot, path, offset);
    let (Some(key), Some(context)) = (key, Context::new(&view, path, &options)) else {
        return Vec::new();
    };
    key::effective(&context, &key::in_effective_value(&context, &key)).0
}

/// How many answers a document of a key may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DocumentedAnswers {
    /// One.
    One,
    /// Any number; the document has the value of the first.
    Any,
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
    let view = analysis.answering(path)?;
    let context = Context::of_answer(&view, path, &options)?;
    let target = KeyTarget::named(key)?;
    if answers == DocumentedAnswers::One && analysis.selected.is_none() {
        let (found, left) = key::effective(&context, &target);
        if found.len() > 1 || left > 0 {
            return None;
        }
    }
    let mut page = key::page(&context, &target);
    mark_what_if(analysis, &mut page);
    Some(page.document())
}

#[cfg(test)]
mod tests;
