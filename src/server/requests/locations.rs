//! Converts between places in files and the protocol's locations, for requests that lead from one
//! place to others.

use std::collections::HashMap;
use std::sync::Arc;

use tower_lsp::ls_types as lsp;

use super::View;
use super::diagnostic::uri;
use crate::analysis::NodeFile;
use crate::ide::file_place::FilePlace;
use crate::server::convert;
use crate::text::{LineIndex, TextRange};

/// The file and the byte offset of a request.
pub(super) fn offset(view: &View, path: &str, at: lsp::Position) -> Option<usize> {
    view.lines(path, |lines| {
        lines.offset(convert::place(at), view.encoding)
    })
}

/// A request's range in bytes of the file.
pub(super) fn text_range(view: &View, path: &str, range: lsp::Range) -> Option<TextRange> {
    let (start, end) = (
        offset(view, path, range.start)?,
        offset(view, path, range.end)?,
    );
    Some(TextRange::new(start, end.max(start)))
}

/// A byte range of a file in the client's encoding.
pub(super) fn range(view: &View, path: &str, range: TextRange) -> Option<lsp::Range> {
    view.lines(path, |lines| convert::range(lines, range, view.encoding))
}

pub(super) struct LocationConverter<'v> {
    view: &'v View,
    /// Lines of files outside the snapshot.
    outside: HashMap<Arc<str>, LineIndex>,
}

impl<'v> LocationConverter<'v> {
    /// For places in the snapshot, or in some files outside of it.
    pub(super) fn new(view: &'v View, outside: &[NodeFile]) -> LocationConverter<'v> {
        let outside = outside.iter();
        let outside = outside.filter(|file| view.snapshot.file(&file.path).is_none());
        LocationConverter {
            view,
            outside: outside
                .map(|file| (file.path.clone(), LineIndex::new(&file.text)))
                .collect(),
        }
    }

    fn range(&self, path: &str, range: TextRange) -> lsp::Range {
        let encoding = self.view.encoding;
        if let Some(lines) = self.outside.get(path) {
            return convert::range(lines, range, encoding);
        }
        let known = self
            .view
            .lines(path, |lines| convert::range(lines, range, encoding));
        // In files that are not read (such as code) only the start is ever used.
        known.unwrap_or_default()
    }

    pub(super) fn location(&self, place: &FilePlace) -> Option<lsp::Location> {
        Some(lsp::Location {
            uri: uri(self.view, &place.path)?,
            range: self.range(&place.path, place.name),
        })
    }

    /// A place as a link from its origin.
    pub(super) fn link(&self, origin: lsp::Range, place: &FilePlace) -> Option<lsp::LocationLink> {
        Some(lsp::LocationLink {
            origin_selection_range: Some(origin),
            target_uri: uri(self.view, &place.path)?,
            target_range: self.range(&place.path, place.whole),
            target_selection_range: self.range(&place.path, place.name),
        })
    }
}
