//! What all parts of one hover share: the file under the cursor, the root that governs it, and how
//! files are named.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::HoverOptions;
use super::page::{Line, Piece, joined, text};
use crate::analysis::{Analysis, KeyPositions, RootView};
use crate::hierarchy::{Template, TemplatePart};
use crate::lookup::Reach;
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::{File, language_of};

/// Most files that one line names.
const MOST_NAMED: usize = 3;

/// Most files without a key that are named.
const MOST_WITHOUT: usize = 2;

/// One hover.
pub(super) struct Context<'a> {
    pub(super) view: RootView<'a>,
    pub(super) options: &'a HoverOptions<'a>,
    /// The file under the cursor.
    pub(super) file: &'a Arc<File>,
    /// The levels that read it.
    pub(super) reaches: Vec<Reach>,
    /// Whether it is a manifest, whose answers are for all nodes.
    pub(super) is_code: bool,
    positions: KeyPositions<'a>,
    readers: OnceCell<Vec<usize>>,
}

impl<'a> Context<'a> {
    /// None for a file that belongs to no root.
    pub(super) fn new(
        analysis: Analysis<'a>,
        path: &str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Context<'a>> {
        let view = analysis.governing(path)?;
        let mut reaches = view.reach(path);
        // Of the paths that fit a name, the one that spells most of it is meant.
        reaches.sort_by_key(|reach| std::cmp::Reverse(spelt(&reach.place.template)));
        Some(Context {
            file: analysis.snapshot.file(path)?,
            reaches,
            is_code: language_of(path).is_some(),
            view,
            options,
            positions: KeyPositions::new(analysis.snapshot),
            readers: OnceCell::new(),
        })
    }

    /// Whether everything is wanted, however long it is.
    pub(super) fn wants_whole(&self) -> bool {
        self.options.max_lines == usize::MAX
    }

    pub(super) fn path(&self) -> &'a str {
        self.file.path()
    }

    /// The scope of the nodes that read the file, as far as its path says.
    pub(super) fn scope(&self) -> Scope {
        self.reaches.first().map_or_else(Scope::open, Reach::scope)
    }

    /// The known nodes that read the file, by number. O(nodes) once.
    pub(super) fn readers(&self) -> &[usize] {
        self.readers.get_or_init(|| {
            if self.is_code {
                return (0..self.view.analysis.nodes.len()).collect();
            }
            let places = self.reaches.iter().map(|reach| &reach.place);
            self.view.readers(places, self.path())
        })
    }

    /// The nodes that an answer is for, by number: the selected one, else those that read the file.
    pub(super) fn answered(&self) -> Cow<'_, [usize]> {
        match self.selected() {
            Some((_, member)) => Cow::Owned(vec![member]),
            None => Cow::Borrowed(self.readers()),
        }
    }

    /// The selected node, and its number among the known ones.
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

    /// A file as a link: its name, with the line.
    pub(super) fn link(&self, at: &str, line: u32) -> Piece {
        Piece::Place {
            label: format!("{}:{line}", self.label(at)),
            path: at.to_string(),
            line,
        }
    }

    /// A file as a link without a line.
    pub(super) fn file_link(&self, at: &str) -> Piece {
        Piece::Place {
            label: self.label(at),
            path: at.to_string(),
            line: 1,
        }
    }

    /// The name of a file: as the options say, else its path below the workspace's folder, as in all
    /// documents and on the command line.
    pub(super) fn label(&self, at: &str) -> String {
        match self.options.name {
            Some(name) => name(at),
            None => self.view.analysis.snapshot.short_name(at).to_owned(),
        }
    }

    /// Files as links to where they set a key, a few of them by name.
    pub(super) fn named<'f>(
        &self,
        key: &str,
        steps: &[Value],
        files: impl ExactSizeIterator<Item = &'f Arc<str>>,
    ) -> Line {
        let more = files.len().saturating_sub(MOST_NAMED);
        let snapshot = self.view.analysis.snapshot;
        let links = files.take(MOST_NAMED).map(|path| {
            let file = snapshot.file(path);
            let line = file.map_or(1, |file| self.line_of(file, key, steps));
            vec![self.link(path, line)]
        });
        with_more(joined(links, ", "), more)
    }

    /// Names of files without lines, a few of them.
    pub(super) fn labels(&self, files: &[Arc<str>]) -> Line {
        let names = files.iter().take(MOST_WITHOUT);
        let names = names.map(|path| vec![self.file_link(path)]);
        with_more(
            joined(names, ", "),
            files.len().saturating_sub(MOST_WITHOUT),
        )
    }
}

/// How many letters and digits a path gives itself, without its variables.
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

/// A list of names, and how many more there are.
pub(super) fn with_more(mut line: Line, more: usize) -> Line {
    if more > 0 {
        line.push(text(format!(" and {more} more")));
    }
    line
}
