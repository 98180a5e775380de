//! What the thing under the cursor means for the nodes: effective values with where they come from,
//! how sure that is, and for which nodes.
//!
//! One file for each kind of [`Target`]: a key (top-level or nested), a token, an entry of
//! `lookup_options`, a path of `hiera.yaml`, an encrypted value, a word of the configuration. In a
//! manifest: a class's parameter, a key that is looked up, a class that is included.
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
mod context;
mod element;
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

use std::sync::Arc;

use super::target::{self, KeyTarget, Target, is_config};
use crate::analysis::{Analysis, without_keys};
use crate::lookup::LookupError;
use crate::text::TextRange;
use crate::value::Value;
pub use blob::{Revealed, plain_text};
pub(super) use change::changes_in_words;
use context::Context;
pub(super) use element::{Element, find as element_at};
pub(super) use key::used;
pub(super) use provenance::dig;
pub use word::{meaning_of_key, meaning_of_value};
pub(super) use yaml::inline;

/// Makes a link's target from a path and a line (from 1).
pub type Link<'a> = &'a (dyn Fn(&str, u32) -> String + Sync);

/// Names a file by its path.
pub type Name<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// Makes the target of a link that shows the plain text of the encrypted value at a byte of the file.
pub type RevealLink<'a> = &'a (dyn Fn(usize) -> String + Sync);

/// How a client shows the plain text of an encrypted value, where the user has turned decryption
/// on: behind a command, never in the hover.
#[derive(Clone, Copy)]
pub struct Reveal<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// Links that run it, for clients that follow such links.
    pub link: Option<RevealLink<'a>>,
}

/// Makes the target of a link to the whole value of a key, as it is looked up.
pub type ValueLink<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// How a client shows the whole of a value that a hover cuts.
#[derive(Clone, Copy)]
pub struct WholeValue<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// Links that run it, for clients that follow such links.
    pub link: Option<ValueLink<'a>>,
    /// Links to how the value comes about, for the same clients.
    pub explain: Option<ValueLink<'a>>,
    /// Links to the answers for all nodes, for the same clients.
    pub all_nodes: Option<ValueLink<'a>>,
}

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

/// Most lines of a hover where nothing else is asked.
pub const MAX_LINES: usize = 20;

/// Most lines where a person asks for those that were left out.
const ALL_LINES: usize = 1_000;

/// How a hover is shown.
#[derive(Clone, Copy)]
pub struct HoverOptions<'a> {
    /// Most lines; the greatest number there is shows all, and lines of values in full.
    pub max_lines: usize,
    /// How the whole of a value can be seen, beside the command line.
    pub whole: Option<WholeValue<'a>>,
    /// How the plain text of an encrypted value can be seen; none where decryption is off.
    pub reveal: Option<Reveal<'a>>,
    /// How links are made; without it places are named only.
    pub link: Option<Link<'a>>,
    /// How files are named; without it by their path below the data directory of the file under the
    /// cursor, else below the workspace.
    pub name: Option<Name<'a>>,
    /// The one form that is wanted, the others stay empty; none for all forms.
    pub form: Option<HoverForm>,
    /// Widest line of the plain text but those of values, in characters.
    pub width: usize,
}

impl Default for HoverOptions<'_> {
    /// All forms, without links.
    fn default() -> Self {
        HoverOptions {
            max_lines: MAX_LINES,
            whole: None,
            reveal: None,
            link: None,
            name: None,
            form: None,
            width: page::WIDTH,
        }
    }
}

/// What is said of a place in a file, in three forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub range: TextRange,
    /// Markdown.
    pub markdown: String,
    /// Markdown in lines of at most 100 characters and without links, for terminal clients.
    pub aligned: String,
    /// Plain text in lines of at most 100 characters.
    pub plain: String,
}

/// What is said of the byte at `offset` of a file; nothing for a file that no hierarchy concerns
/// or a place that says nothing. What is encrypted is never shown.
///
/// Costs a lookup, one for each group of nodes that see the same files; no file is read but those
/// that the key's lookups read.
#[must_use]
pub fn hover(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    options: &HoverOptions<'_>,
) -> Option<Hover> {
    let settings = without_keys(analysis.settings);
    let analysis = Analysis {
        settings: &settings,
        ..analysis
    };
    let context = Context::new(analysis, path, options);
    if let Some(context) = context.as_ref().filter(|context| context.is_code) {
        let code = context.file.facts().code.as_deref()?;
        let (mut page, range) = class::in_manifest(context, code, offset)?;
        mark_what_if(analysis, &mut page);
        page.rest(rest(context, None, range));
        return Some(page.hover(range, options));
    }
    let target = target::at(analysis.snapshot, path, offset);
    let is_known = |context: &Context<'_>| {
        is_config(analysis.snapshot, path)
            || !context.reaches.is_empty()
            || context.view.lies_among_data(path)
    };
    let Some(context) = &context.filter(is_known) else {
        let (Target::Key(key) | Target::NestedKey(key)) = &target else {
            return None;
        };
        let page = unread::page(analysis, path, key)?;
        return Some(page.hover(target.range()?, options));
    };
    if let Some((mut page, range)) = part(context, &target, offset) {
        mark_what_if(analysis, &mut page);
        page.rest(rest(context, target.key(), range));
        return Some(page.hover(range, options));
    }
    let mut page = match &target {
        Target::Key(key) | Target::NestedKey(key) => key::page(context, key),
        Target::Token(token) => token::page(context, token),
        Target::Path(path) => path::page(context, path),
        Target::Option(option) => option::page(context, option),
        Target::Blob(blob) => blob::page(context, blob),
        Target::Word(word) => word::page(context, word)?,
        Target::None => return None,
    };
    mark_what_if(analysis, &mut page);
    page.rest(rest(context, target.key(), target.range()?));
    Some(page.hover(target.range()?, options))
}

/// How all lines of a hover can be seen: a link to the explanation of a key, or a command.
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
        None => context
            .view
            .analysis
            .snapshot
            .short_name(context.path())
            .to_owned(),
    };
    let place = key::shell_word(&format!("{name}:{line}{column}"));
    let node = context.selected();
    let node = node.map_or_else(String::new, |(name, _)| {
        format!(" --node {}", key::shell_word(name))
    });
    let link = context.options.whole.and_then(|whole| whole.explain);
    page::Whole {
        link: link.zip(key).map(|(link, key)| link(&key.lookup_name())),
        words: vec![format!(
            "hiera-ls hover {place}{node} --max-lines {ALL_LINES}"
        )],
        is_shortened: false,
    }
}

/// The page of a part of a value that is no key, and what it is in the file.
fn part(context: &Context<'_>, target: &Target, offset: usize) -> Option<(page::Page, TextRange)> {
    let key = match target {
        // An ordinary key costs nothing more.
        Target::Key(key) | Target::NestedKey(key)
            if key.before_list.is_none() && key.range.touches(offset) =>
        {
            return None;
        }
        Target::Key(key) | Target::NestedKey(key) => Some(key),
        Target::None | Target::Option(_) => None,
        Target::Token(_) | Target::Path(_) | Target::Blob(_) | Target::Word(_) => return None,
    };
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

/// Says below the first line that facts are overridden.
fn mark_what_if(analysis: Analysis<'_>, page: &mut page::Page) {
    if !analysis.what_if.is_empty() {
        page.second_line(vec![page::text("what if: "), page::code(analysis.what_if)]);
    }
}

/// A thing that a hover can be asked for by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Described {
    /// A key as it is looked up.
    Key(Arc<str>),
    /// A variable by its dotted path.
    Variable(Arc<str>),
}

/// What a hover says of a thing for the nodes that read a file, wherever it stands.
#[must_use]
pub fn described(
    analysis: Analysis<'_>,
    path: &str,
    about: &Described,
    options: &HoverOptions<'_>,
) -> Option<Hover> {
    let settings = without_keys(analysis.settings);
    let analysis = Analysis {
        settings: &settings,
        ..analysis
    };
    let context = &Context::new(analysis, path, options)?;
    let page = match about {
        Described::Key(name) => key::page(context, &KeyTarget::named(name)?),
        Described::Variable(name) => token::variable_page(context, name),
    };
    Some(page.hover(TextRange::empty(0), options))
}

/// One answer of a hover on a key.
#[derive(Clone, Debug)]
pub struct Effective {
    /// The value of the key under the cursor, nothing where the effective value of the top-level
    /// key lacks it; or the error that Puppet raises.
    pub result: Result<Option<Value>, LookupError>,
    /// The known nodes that get it; none where no known node reads the file.
    pub nodes: Vec<Arc<str>>,
    /// Whether nothing that is unknown could change it.
    pub is_certain: bool,
}

/// What a hover on a key says, as data: the answers for the nodes that read the file, the one for
/// most nodes first; for any node where none is known. Nodes are left out where they would take more
/// than [`crate::analysis::MOST_LOOKUPS`]. Empty where the cursor is on no key of a file that a level reads.
#[must_use]
pub fn effective(analysis: Analysis<'_>, path: &str, offset: usize) -> Vec<Effective> {
    let settings = without_keys(analysis.settings);
    let analysis = Analysis {
        settings: &settings,
        ..analysis
    };
    let options = HoverOptions::default();
    let key = target::key_around(analysis.snapshot, path, offset);
    let (Some(key), Some(context)) = (key, Context::new(analysis, path, &options)) else {
        return Vec::new();
    };
    over_nodes::effective(&context, &key::in_effective_value(&context, &key)).0
}

/// The whole effective value of a key (as it is looked up) for the nodes that read a file, or for the
/// selected one: a YAML document with what a hover says in comments. Nothing where there are
/// several answers, and for a file that belongs to no hierarchy.
#[must_use]
pub fn whole_value(
    analysis: Analysis<'_>,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
) -> Option<String> {
    document(analysis, path, key, options, |context, target| {
        let is_one = || {
            let (answers, left) = over_nodes::effective(context, target);
            answers.len() <= 1 && left == 0
        };
        analysis.selected.is_some() || is_one()
    })
}

/// All that a hover on a key says (as it is looked up) for the nodes that read a file, or for the selected
/// one, as a YAML document: the first value, everything else in comments. Nothing for a file that
/// belongs to no hierarchy.
#[must_use]
pub fn answer_document(
    analysis: Analysis<'_>,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
) -> Option<String> {
    document(analysis, path, key, options, |_, _| true)
}

/// What a hover on a key says, in full, as a YAML document; nothing where it is not wanted for such a key.
fn document(
    analysis: Analysis<'_>,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
    is_wanted: impl FnOnce(&Context<'_>, &KeyTarget) -> bool,
) -> Option<String> {
    let settings = without_keys(analysis.settings);
    let analysis = Analysis {
        settings: &settings,
        ..analysis
    };
    let options = HoverOptions {
        max_lines: usize::MAX,
        ..*options
    };
    let context = Context::new(analysis, path, &options)?;
    let target = KeyTarget::named(key)?;
    if !is_wanted(&context, &target) {
        return None;
    }
    let mut page = key::page(&context, &target);
    mark_what_if(analysis, &mut page);
    Some(page.document())
}

#[cfg(test)]
mod tests;
