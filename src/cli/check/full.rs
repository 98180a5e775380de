//! `--format full`: findings for people, with excerpts of the sources.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::hidden::SecretRanges;
use crate::cli::terminal::hanging;
use crate::rules::{Finding, Severity};
use crate::text::TextRange;
use crate::workspace::{File, Snapshot};

/// Maximum number of lines of one excerpt: a value can be a thousand lines long.
const MAX_LINES: u32 = 6;

/// The text of a finding; `shown` makes a path relative.
pub(super) fn text(
    (renderer, width): (&Renderer, Option<usize>),
    snapshot: &Snapshot,
    finding: &Finding,
    hidden: &SecretRanges<'_>,
    shown: &dyn Fn(&str) -> String,
) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Information => Level::INFO,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    // The lines of a title are aligned after the code.
    let before = finding.severity.name().len() + finding.code.len() + "[]: ".len();
    let width = width.map_or(usize::MAX, |width| width.saturating_sub(before));
    let mut group: Group<'_> = level
        .primary_title(hanging(&finding.message, width, 0))
        .id(finding.code)
        .elements(Vec::<Snippet<'_, Annotation<'_>>>::new());
    if let Some(file) = snapshot.file(&finding.path) {
        let source = hidden.shown(file.path(), file.text());
        group = group.element(excerpt(file, &source, (finding.range, None), shown));
    }
    for related in &finding.related {
        if let Some(file) = snapshot.file(&related.path) {
            let source = hidden.shown(file.path(), file.text());
            let place = (related.range, Some(related.message.as_str()));
            group = group.element(excerpt(file, &source, place, shown));
        }
    }
    let mut text = renderer.render(&[group]).to_string();
    text.push('\n');
    text
}

/// The lines of a range of a file, underlined and labelled; `source` is the file's text with
/// secrets masked.
fn excerpt<'f>(
    file: &File,
    source: &str,
    (range, label): (TextRange, Option<&'f str>),
    shown: &dyn Fn(&str) -> String,
) -> Snippet<'f, Annotation<'f>> {
    let lines = file.lines();
    let first = lines.line(range.start as usize);
    let last = (range.end as usize).saturating_sub(1);
    let last = lines.line(last.max(range.start as usize));
    let last = last.min(first + MAX_LINES - 1);
    let start = lines.line_range(first);
    let start = start.map_or(0, |line| line.start as usize);
    let end = lines.line_range(last);
    let end = end.map_or(source.len(), |line| line.end as usize);
    let source = source.get(start..end).unwrap_or_default().to_owned();
    let from = (range.start as usize).saturating_sub(start);
    let from = source.floor_char_boundary(from);
    let to = (range.end as usize).saturating_sub(start);
    let to = source.ceil_char_boundary(to).max(from);
    let kind = match label {
        None => AnnotationKind::Primary,
        Some(_) => AnnotationKind::Context,
    };
    Snippet::source(source)
        .line_start(first as usize + 1)
        .path(shown(file.path()))
        .annotation(kind.span(from..to).label(label))
}
