//! `textDocument/inlayHint`: overridden, merged or never used values, at the ends of the keys'
//! lines; and the values of tokens, right after them.

use tower_lsp::ls_types as lsp;

use super::View;
use super::diagnostic::uri;
use super::locations::text_range;
use crate::ide::hint::{Hint, HintKind, hints};
use crate::server::convert;
use crate::text::TextRange;

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::InlayHintParams,
) -> Option<Vec<lsp::InlayHint>> {
    let visible = text_range(view, path, params.range)?;
    let options = view.context.settings.hints;
    let hints = view.analyse(path, |analysis| hints(analysis, path, visible, options));
    let hints = hints.iter().filter_map(|hint| shown(view, path, hint));
    Some(hints.collect())
}

fn shown(view: &View, path: &str, hint: &Hint) -> Option<lsp::InlayHint> {
    let file = view.snapshot.file(path)?;
    let end = match hint.kind {
        HintKind::TokenValue(_) => hint.range.end as usize,
        _ => {
            let behind = file.text().get(hint.range.end as usize..)?;
            let line = behind.lines().next().unwrap_or_default();
            hint.range.end as usize + line.trim_end().len()
        }
    };
    let at = TextRange::new(end, end);
    let position = convert::range(file.lines(), at, view.encoding).start;
    let by = match &hint.kind {
        HintKind::Overridden { by, .. } | HintKind::Dead { by, .. } => by.as_ref(),
        _ => None,
    };
    let location = by.and_then(|by| {
        let line = by.line.saturating_sub(1);
        let start = lsp::Position::new(line, 0);
        Some(lsp::Location::new(
            uri(view, &by.file)?,
            lsp::Range::new(start, start),
        ))
    });
    let label = match location {
        Some(_) => lsp::InlayHintLabel::LabelParts(vec![lsp::InlayHintLabelPart {
            value: hint.label(),
            location,
            ..lsp::InlayHintLabelPart::default()
        }]),
        None => lsp::InlayHintLabel::String(hint.label()),
    };
    Some(lsp::InlayHint {
        position,
        label,
        kind: None,
        text_edits: None,
        tooltip: hint.sentence().map(lsp::InlayHintTooltip::String),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    })
}
