//! The context of one hover: the file under the cursor, its root, and the names of files.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::HoverOptions;
use super::page::{Line, Piece, joined, text};
use super::unread::within;
use crate::analysis::{Analysis, KeyPositions, LevelValue, RootView, datadir_of};
use crate::hierarchy::{Template, TemplatePart};
use crate::ide::target::is_config;
use crate::lookup::Reach;
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::{File, language_of, path};

/// Maximum number of files in one line.
const MOST_NAMED: usize = 3;

/// Maximum number of files without a key that are named.
const MOST_WITHOUT: usize = 2;

pub(super) struct Context<'a> {
    pub(super) view: RootView<'a>,
    pub(super) options: &'a HoverOptions<'a>,
    /// The file under the cursor.
    pub(super) file: &'a Arc<File>,
    /// The levels that read the file.
    pub(super) reaches: Vec<Reach>,
    /// Whether answers are for all nodes, as in a manifest.
    pub(super) is_code: bool,
    positions: KeyPositions<'a>,
    /// The data directory of the file.
    datadir: OnceCell<Option<String>>,
    readers: OnceCell<Vec<usize>>,
}

impl<'a> Context<'a> {
    /// `None` for a file outside of every root.
    pub(super) fn new(
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
    pub(super) fn of_answer(
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

    pub(super) fn shows_whole(&self) -> bool {
        self.options.max_lines == usize::MAX
    }

    pub(super) fn path(&self) -> &'a str {
        self.file.path()
    }

    /// The scope of the nodes that read the file, as far as the path determines it.
    pub(super) fn scope(&self) -> Scope {
        self.reaches.first().map_or_else(Scope::open, Reach::scope)
    }

    /// Indexes of the known nodes that read the file. O(nodes) once.
    pub(super) fn readers(&self) -> &[usize] {
        self.readers.get_or_init(|| {
            if self.is_code {
                return (0..self.view.analysis.nodes.len()).collect();
            }
            let places = self.reaches.iter().map(|reach| &reach.place);
            self.view.readers(places, self.path())
        })
    }

    /// Indexes of the nodes that an answer is for: the selected one, else those that read the file.
    pub(super) fn answered(&self) -> Cow<'_, [usize]> {
        match self.selected() {
            Some((_, member)) => Cow::Owned(vec![member]),
            None => Cow::Borrowed(self.readers()),
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

    /// The name of a file: by the options, else its path below the data directory of the file under
    /// the cursor, else below the root or the workspace's folder.
    pub(super) fn label(&self, at: &str) -> String {
        if let Some(name) = self.options.name {
            return name(at);
        }
        let datadir = || datadir_of(&self.reaches.first()?.place);
        if let Some(datadir) = self.datadir.get_or_init(datadir)
            && let Some(rest) = path::within(at, datadir)
            && !rest.is_empty()
        {
            return rest.to_string();
        }
        // In a module's manifest, data of the environment is shown beside that of the module.
        let root = Some(&self.view.root.dir).filter(|_| !self.is_code);
        if let Some(rest) = root.and_then(|root| path::within(at, root)) {
            return rest.to_string();
        }
        match within(self.view.analysis, at) {
            "" => at.to_string(),
            rest => rest.to_string(),
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
        few(links, MOST_NAMED)
    }

    /// Links to files without lines; only a few of them are named.
    pub(super) fn labels(&self, files: &[Arc<str>]) -> Line {
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
