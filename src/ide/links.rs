//! Document links: paths in `hiera.yaml` with exactly one file, in general or for the selected
//! node, and `puppet:///modules/…` in data.

use std::sync::Arc;

use crate::analysis::{Analysis, RootView, places_of};
use crate::hierarchy::{LevelSpans, locate};
use crate::ide::target::is_config;
use crate::syntax::{ScalarMap, Tree};
use crate::text::TextRange;
use crate::workspace::{File, FileKind, Files as _, Format};

/// The start of the URL of a module's file.
const MODULES: &str = "puppet:///modules/";

/// Maximum number of links in a document.
const MAX_LINKS: usize = 2_000;

/// A document link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentLink {
    /// The range of the link.
    pub range: TextRange,
    /// The absolute path of the linked file.
    pub to: Arc<str>,
}

/// The links of a file, in the order of the text. O(nodes of the file).
#[must_use]
pub fn document_links(analysis: Analysis<'_>, path: &str) -> Vec<DocumentLink> {
    let (Some(file), Some(view)) = (analysis.snapshot.file(path), analysis.governing(path)) else {
        return Vec::new();
    };
    let format = file.format().unwrap_or(Format::Yaml);
    let parse = analysis.snapshot.parse_of(file, format);
    let mut links = match is_config(analysis.snapshot, path) {
        true => in_config(&view, &parse.tree),
        false if analysis.reads(path) => in_data(&view, file, &parse.tree),
        false => Vec::new(),
    };
    links.sort_by_key(|link| link.range);
    links.truncate(MAX_LINKS);
    links
}

fn in_config(view: &RootView<'_>, tree: &Tree) -> Vec<DocumentLink> {
    let spans = locate(tree);
    let mut links = of_levels(view, &spans.hierarchy, false);
    links.extend(of_levels(view, &spans.default_hierarchy, true));
    links
}

fn of_levels(view: &RootView<'_>, levels: &[LevelSpans], are_default: bool) -> Vec<DocumentLink> {
    let all = view.places(&view.layer);
    let nodes = view.analysis.nodes;
    let selected = view.analysis.selected.and_then(|name| nodes.find(name));
    let selected = selected.map(|member| view.in_scope(&nodes.scope(member)).places(&view.layer));
    let mut links = Vec::new();
    for (index, level) in levels.iter().enumerate() {
        for span in &level.locations {
            let places = places_of(&all, index, are_default, span);
            let mut files = view.files_of(&places);
            if files.len() > 1
                && let Some(scoped) = &selected
            {
                files = view.files_of(&places_of(scoped, index, are_default, span));
            }
            // 'Go to Definition' lists several files; a link would hide the others.
            if let [file] = files.as_slice() {
                links.push(DocumentLink {
                    range: span.range,
                    to: Arc::from(file.as_str()),
                });
            }
        }
    }
    links
}

fn in_data(view: &RootView<'_>, file: &File, tree: &Tree) -> Vec<DocumentLink> {
    if !file.text().contains(MODULES) {
        return Vec::new();
    }
    let links = tree.nodes().filter_map(|(_, node)| {
        let text = &node.as_scalar()?.text;
        let (module, rest) = text.strip_prefix(MODULES)?.split_once('/')?;
        let modules = &view.environment.modules;
        let (_, folder) = modules.iter().find(|(name, _)| **name == *module)?;
        let to = format!("{folder}/files/{rest}");
        let is_file = view.files().kind(&to) == Some(FileKind::File);
        let map = ScalarMap::new(file.text(), node);
        is_file.then(|| DocumentLink {
            range: map.source_range(0..text.len()),
            to: Arc::from(to),
        })
    });
    links.collect()
}
