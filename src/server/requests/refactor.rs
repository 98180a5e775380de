//! Refactorings as code actions, and `codeAction/resolve`: the changes are computed when one is
//! chosen if the client can show them then, else before it is offered.

use serde_json::json;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::edits::{EditNote, plan_edit};
use super::locations::offset;
use super::{Needs, View};
use crate::plan::refactor::{RefactoringKind, chosen, effect, offers, refused};
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(super) fn offered(
    view: &View,
    uri: &lsp::Uri,
    (path, position): (&str, lsp::Position),
    kinds: &[RefactoringKind],
) -> Vec<lsp::CodeAction> {
    let Some(offset) = offset(view, path, position) else {
        return Vec::new();
    };
    let form = view.facts.edits;
    let offers = view.analyse(path, |analysis| offers(analysis, path, offset));
    let offers = offers
        .into_iter()
        .filter(|offer| kinds.contains(&offer.kind));
    let actions = offers.filter_map(|offer| {
        let kind = Some(lsp::CodeActionKind::from(offer.kind.name()));
        if form.resolves {
            return Some(lsp::CodeAction {
                data: Some(json!({ "uri": uri, "position": position, "title": offer.title })),
                title: offer.title,
                kind,
                ..lsp::CodeAction::default()
            });
        }
        let proof = view.analyse(path, |analysis| effect(analysis, path, &offer));
        let proof = proof.ok()?;
        Some(lsp::CodeAction {
            title: format!("{} ({})", offer.title, proof.words()),
            kind,
            edit: Some(plan_edit(view, &offer.plan, form, None)?),
            ..lsp::CodeAction::default()
        })
    });
    let refused = view.analyse(path, |analysis| refused(analysis, path));
    let refused = refused.filter(|one| form.disables && kinds.contains(&one.kind));
    let refused = refused.map(|one| lsp::CodeAction {
        title: one.title,
        kind: Some(lsp::CodeActionKind::from(one.kind.name())),
        disabled: Some(lsp::CodeActionDisabled { reason: one.reason }),
        ..lsp::CodeAction::default()
    });
    actions.chain(refused).collect()
}

/// `codeAction/resolve`: the edit of a refactoring, annotated with its effects; requires
/// confirmation if values change.
pub(crate) async fn resolve(
    session: &Connection,
    action: lsp::CodeAction,
) -> Result<lsp::CodeAction> {
    let offer_data = action.data.as_ref().and_then(|data| {
        let path = convert::path(data.get("uri")?.as_str()?)?;
        let position = serde_json::from_value(data.get("position")?.clone()).ok()?;
        Some((path, position, data.get("title")?.as_str()?.to_owned()))
    });
    let Some((path, position, title)) = offer_data else {
        return Ok(action);
    };
    let work = move |view: View| {
        let gone = || "the file has changed: ask again".to_owned();
        let offset = offset(&view, &path, position).ok_or_else(gone)?;
        let found = view.analyse(&path, |analysis| chosen(analysis, &path, offset, &title));
        let (offer, proof) = found?;
        let note = EditNote {
            label: proof.words(),
            is_to_confirm: !proof.changes_nothing(),
        };
        let edit = plan_edit(&view, &offer.plan, view.facts.edits, Some(&note));
        Ok(lsp::CodeAction { edit, ..action })
    };
    let (lane, needs) = (Lane::Document, Needs::WholeWorkspace);
    let answer = super::answer(session, "codeAction/resolve", lane, needs, work).await?;
    answer.map_err(super::refused)
}
