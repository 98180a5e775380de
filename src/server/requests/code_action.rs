//! `textDocument/codeAction`: fixes of findings, encrypting a value, refactorings.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::text_range;
use super::refactor::offered;
use super::{View, of_workspace};
use crate::disk::DiskFiles;
use crate::eyaml::Encryptor;
use crate::ide::actions::{Action, actions};
use crate::plan::encrypt::{EncryptedForm, certificates, plan};
use crate::plan::refactor::RefactoringKind;
use crate::rules::{Finding, Fixing, RuleSet, Safety, helpful};
use crate::server::capabilities::FIX_ALL;
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::diagnostics::{TriedEdits, diagnostic, findings};
use crate::text::{TextEdit, TextRange, edits_between};
use crate::workspace::{Files as _, Snapshot, path};

pub(crate) async fn handle(
    session: &Connection,
    params: lsp::CodeActionParams,
) -> Result<Option<lsp::CodeActionResponse>> {
    let uri = params.text_document.uri;
    let only = params.context.only;
    let wants_fixes = accepts(only.as_deref(), lsp::CodeActionKind::QUICKFIX.as_str());
    // "Fix all" is offered only if the client asks for its kind.
    let wants_all = only.is_some() && accepts(only.as_deref(), FIX_ALL);
    let rewrite = lsp::CodeActionKind::REFACTOR_REWRITE;
    let wants_encryption = accepts(only.as_deref(), rewrite.as_str());
    let kinds = RefactoringKind::ALL.into_iter();
    let kinds: Vec<RefactoringKind> = kinds
        .filter(|kind| accepts(only.as_deref(), kind.name()))
        .collect();
    let is_wanted = wants_fixes || wants_all || wants_encryption || !kinds.is_empty();
    let path = convert::path(uri.as_str()).filter(|_| is_wanted && session.facts().code_actions);
    let Some(path) = path else {
        return Ok(None);
    };
    let range = params.range;
    let work = move |view: View| {
        let at = text_range(&view, &path, range)?;
        // Refactorings need no findings.
        let findings = if wants_fixes || wants_encryption {
            findings(&view, RuleSet::All)(&path)?
        } else {
            Vec::new()
        };
        let mut shown = Vec::new();
        if wants_fixes {
            let actions: Vec<Action<'_>> = actions(&findings, at).collect();
            let fixes: Vec<_> = actions.iter().map(|one| (one.finding, one.fix)).collect();
            let tried = TriedEdits::of(&view);
            let find = |snapshot: &Snapshot| {
                let is_wanted = !view.stop.requested();
                is_wanted.then(|| tried.findings(snapshot, &path).unwrap_or_default())
            };
            let helps = helpful(&view.snapshot, &findings, &fixes, find);
            let helping = actions.into_iter().zip(helps);
            let helping = helping.filter(|(_, helps)| *helps);
            shown.extend(helping.filter_map(|(action, _)| one(&view, &uri, &path, action)));
        }
        if wants_fixes || wants_encryption {
            let secret = findings.iter().find(|finding| {
                finding.is_secret && finding.range.start <= at.end && at.start <= finding.range.end
            });
            if secret.is_some() || wants_encryption {
                shown.extend(encryption(&view, &uri, &path, (at, secret)));
            }
        }
        let place = (&*path, range.start);
        shown.extend(offered(&view, &uri, place, &kinds));
        if wants_all {
            shown.extend(all(&view, &uri, &Arc::from(&*path)));
        }
        let shown = shown.into_iter().map(lsp::CodeActionOrCommand::CodeAction);
        Some(shown.collect())
    };
    of_workspace(session, "textDocument/codeAction", work).await
}

/// Whether a client that restricts the kinds wants actions of a kind.
fn accepts(only: Option<&[lsp::CodeActionKind]>, kind: &str) -> bool {
    only.is_none_or(|kinds| {
        kinds.iter().any(|wanted| {
            let rest = kind.strip_prefix(wanted.as_str());
            wanted.as_str().is_empty()
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    })
}

/// The safe fixes of all shown findings, and of findings that follow from them, as one action;
/// `None` if there are none. Errors in other files are not searched for, to save time.
fn all(view: &View, uri: &lsp::Uri, path: &Arc<str>) -> Option<lsp::CodeAction> {
    let fixing = Fixing {
        snapshot: &view.snapshot,
        paths: std::slice::from_ref(path),
        most: Safety::Safe,
        accepted: BTreeMap::new(),
    };
    let tried = TriedEdits::of(view);
    let find = |snapshot: &Snapshot, paths: &[Arc<str>]| {
        let own = paths.iter().filter(|at| *at == path);
        let found = own.map(|path| {
            let found = tried.findings(snapshot, path);
            (Arc::clone(path), found.unwrap_or_default())
        });
        found.collect()
    };
    let is_shown = |finding: &Finding| diagnostic(view, path, finding.clone()).is_some();
    let after = fixing.run(find, is_shown);
    let text = |snapshot: &Snapshot| Some(Arc::clone(snapshot.file(path)?.text()));
    let edits = edits_between(&text(&view.snapshot)?, &text(&after.snapshot)?);
    if edits.is_empty() {
        return None;
    }
    Some(lsp::CodeAction {
        title: "Apply all safe fixes in this file".to_owned(),
        kind: Some(lsp::CodeActionKind::from(FIX_ALL)),
        edit: Some(workspace_edit(view, uri, path, &edits)?),
        ..lsp::CodeAction::default()
    })
}

/// An action that encrypts the value at the cursor: a fix if a secret was found, else a rewrite.
/// `None` if no level decrypts values, or if no certificate is known.
fn encryption(
    view: &View,
    uri: &lsp::Uri,
    path: &str,
    (at, secret): (TextRange, Option<&Finding>),
) -> Option<lsp::CodeAction> {
    let offset = secret.map_or(at.start, |finding| finding.range.start);
    let read = |at: &str| Some(DiskFiles::new().text(at).ok()?.to_string());
    let of_user = view.context.settings.pkcs7_public_key.as_deref();
    let (plan, certificates) = view.analyse(path, |analysis| {
        let plan = plan(&analysis, path, offset as usize).ok()?;
        Some((plan, certificates(&analysis, path, &read)))
    })?;
    let certificates = of_user
        .into_iter()
        .chain(certificates.iter().map(String::as_str));
    let (certificate, encryptor) = certificates.into_iter().find_map(|at| {
        let text = read(at)?;
        Some((at, Encryptor::from_pem(text.as_bytes()).ok()?))
    })?;
    let edits = plan.edits(&encryptor, EncryptedForm::String).ok()?;
    let kind = match secret {
        Some(_) => lsp::CodeActionKind::QUICKFIX,
        None => lsp::CodeActionKind::REFACTOR_REWRITE,
    };
    let diagnostic = secret.and_then(|finding| diagnostic(view, path, finding.clone()));
    Some(lsp::CodeAction {
        title: format!("Encrypt it for {}", path::name(certificate)),
        kind: Some(kind),
        diagnostics: diagnostic.map(|diagnostic| vec![diagnostic]),
        edit: Some(workspace_edit(view, uri, path, &edits)?),
        ..lsp::CodeAction::default()
    })
}

fn one(view: &View, uri: &lsp::Uri, path: &str, action: Action<'_>) -> Option<lsp::CodeAction> {
    let diagnostic = diagnostic(view, path, action.finding.clone())?;
    Some(lsp::CodeAction {
        title: action.fix.title.clone(),
        kind: Some(lsp::CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic]),
        edit: Some(workspace_edit(view, uri, path, &action.fix.edits)?),
        is_preferred: Some(true).filter(|_| action.is_preferred),
        ..lsp::CodeAction::default()
    })
}

/// Edits of one file in the protocol's form.
fn workspace_edit(
    view: &View,
    uri: &lsp::Uri,
    path: &str,
    edits: &[TextEdit],
) -> Option<lsp::WorkspaceEdit> {
    let edits = view.lines(path, |lines| {
        let edits = edits.iter().map(|edit| lsp::TextEdit {
            range: convert::range(lines, edit.range, view.encoding),
            new_text: edit.new_text.clone(),
        });
        edits.collect()
    })?;
    Some(lsp::WorkspaceEdit {
        changes: Some(HashMap::from([(uri.clone(), edits)])),
        ..lsp::WorkspaceEdit::default()
    })
}
