//! Files that Puppet refuses, so that lookups of a key fail. The answer uses what can be read of them.

use super::Context;
use crate::analysis::RefusedFile;
use crate::hierarchy::Layer;
use crate::ide::cell::counted;
use crate::page::{Line, Page, text};

/// Maximum number of files that are named.
const MAX_NAMED: usize = 2;

/// Adds a line for each of the files that makes lookups fail for the nodes that the hover is about.
pub(super) fn add_lines(context: &Context<'_>, files: &[RefusedFile], page: &mut Page) {
    let members = context.answered();
    let lines = files
        .iter()
        .filter_map(|file| line(context, file, &members));
    for line in lines.take(MAX_NAMED) {
        page.line(line);
    }
}

/// The number of nodes that read one of the files.
pub(super) fn count_failing(files: &[RefusedFile], members: &[usize]) -> usize {
    let fails = |member: &&usize| {
        let mut files = files.iter();
        files.any(|file| file.readers.binary_search(member).is_ok())
    };
    members.iter().filter(fails).count()
}

fn line(context: &Context<'_>, file: &RefusedFile, members: &[usize]) -> Option<Line> {
    let is_reader = |member: &&usize| file.readers.binary_search(member).is_ok();
    let failing = members.iter().filter(is_reader).count();
    let is_for_all = if members.is_empty() {
        file.is_for_all || *file.path == *context.path()
    } else {
        failing == members.len()
    };
    if !is_for_all && failing == 0 {
        return None;
    }
    let place = match file.line {
        Some(line) => context.link(&file.path, line),
        None => context.file_link(&file.path),
    };
    let what = match &file.layer {
        Layer::Module(name) => format!("every lookup of a key of module '{name}' fails"),
        Layer::Global | Layer::Environment => "every lookup fails".to_owned(),
    };
    let nodes_text = if is_for_all {
        String::new()
    } else {
        format!(" on {}", counted(failing))
    };
    let failure = if file.is_syntax {
        " does not parse: Puppet refuses it, "
    } else {
        " does not load: Puppet refuses it, "
    };
    Some(vec![
        place,
        text(format!("{failure}{what}{nodes_text} until it is fixed")),
    ])
}
