//! Data files that Puppet refuses: they fail every lookup of the nodes that read them.

use std::sync::Arc;

use super::RootView;
use super::scope_view::layers_of;
use crate::hierarchy::Layer;
use crate::lookup::readers;
use crate::value::LoadErrorKind;
use crate::workspace::File;

/// A data file that Puppet refuses.
#[derive(Clone, Debug)]
pub struct RefusedFile {
    /// The file.
    pub path: Arc<str>,
    /// The line (from 1) of Puppet's error, if known.
    pub line: Option<u32>,
    /// Whether it is a syntax error.
    pub is_syntax: bool,
    /// The layer whose lookups fail.
    pub layer: Layer,
    /// Whether a level names the file for every node.
    pub is_for_all: bool,
    /// The known nodes whose levels read it, by number.
    pub readers: Vec<usize>,
}

impl RootView<'_> {
    /// The files that fail lookups of a key, for some node: `lookup_options` are read from every
    /// file of a layer, whichever gives the value. O(refused files × places).
    #[must_use]
    pub fn refused_files(&self, key: &str) -> Vec<RefusedFile> {
        let mut files: Vec<&Arc<File>> = self.analysis.snapshot.refused_files().collect();
        files.sort_by_key(|file| file.path());
        let mut found = Vec::new();
        if files.is_empty() {
            return found;
        }
        for layer in layers_of(key) {
            let places = self.places(&layer);
            let files = files.iter();
            found.extend(files.filter_map(|file| {
                let reads = places.iter().filter(|place| {
                    !place.in_default_hierarchy
                        && place.reading.map(|reading| reading.format()) == file.format()
                        && place.reads(file.path(), &self.files)
                });
                let reads: Vec<_> = reads.collect();
                if reads.is_empty() {
                    return None;
                }
                let error = file
                    .facts()
                    .error
                    .as_deref()
                    .filter(|error| is_sure(error.kind))?;
                let at = error.range.map(|range| range.start as usize);
                Some(RefusedFile {
                    path: file.path().clone(),
                    line: at.map(|at| file.line(at) + 1),
                    is_syntax: matches!(
                        error.kind,
                        LoadErrorKind::YamlSyntax | LoadErrorKind::Json | LoadErrorKind::Hocon
                    ),
                    is_for_all: reads.iter().any(|place| place.template.is_constant()),
                    readers: readers(&self.session(), self.analysis.nodes, &layer, file.path()),
                    layer: layer.clone(),
                })
            }));
        }
        found
    }
}

/// Whether Puppet refuses a file because of its content, whatever the machine.
fn is_sure(kind: LoadErrorKind) -> bool {
    match kind {
        LoadErrorKind::YamlSyntax
        | LoadErrorKind::YamlDisallowedClass
        | LoadErrorKind::YamlDate
        | LoadErrorKind::YamlUnknownAlias
        | LoadErrorKind::Json
        | LoadErrorKind::Hocon => true,
        LoadErrorKind::YamlOther
        | LoadErrorKind::HoconOutside
        | LoadErrorKind::LeftOut
        | LoadErrorKind::Io(_) => false,
    }
}
