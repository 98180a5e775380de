//! What all parts of a hover need: the file under the cursor, the nodes that the answer is for, and
//! names and links of files.

use std::borrow::Cow;
use std::sync::Arc;

use super::HoverOptions;
use super::page::{Line, Piece, joined, text};
use crate::analysis::{Analysis, FileView, KeyPositions, LevelValue, RootView};
use crate::ide::target::is_config;
use crate::value::Value;
use crate::workspace::{File, language_of, path};

/// Maximum number of files in one line.
const MOST_NAMED: usize = 3;

/// Maximum number of files without a key that are named.
const MOST_WITHOUT: usize = 2;

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
        match self.is_code {
            true => (0..self.view.analysis.nodes.len()).collect(),
            false => Cow::Borrowed(self.own.readers()),
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
        few(links, MOST_NAMED)
    }

    /// Links to files without lines; only a few of them are named.
    pub(super) fn labels(&self, files: &[Arc<str>]) -> Line {
        let names = files.iter().map(|path| vec![self.file_link(path)]);
        few(names, MOST_WITHOUT)
    }
}

/// A path below the workspace's folder.
pub(super) fn within<'p>(analysis: Analysis<'_>, at: &'p str) -> &'p str {
    let areas = analysis.snapshot.areas().iter();
    areas
        .filter_map(|area| path::within(at, area))
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
