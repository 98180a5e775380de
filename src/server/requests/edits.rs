//! Converts edits of files to the form that the client accepts.

use std::collections::HashMap;

use tower_lsp::ls_types as lsp;

use super::View;
use super::diagnostic::uri;
use crate::edit::{Edits, Plan, of_one_name};
use crate::server::capabilities::EditForm;
use crate::server::convert;

/// Edits, with the version of open documents if the client supports it.
pub(super) fn workspace_edit(view: &View, edits: &Edits, form: EditForm) -> lsp::WorkspaceEdit {
    let mut changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = HashMap::new();
    let mut documents = Vec::new();
    for (path, edits) in of_one_name(&view.snapshot, edits) {
        let (Some(uri), Some(file)) = (uri(view, path), view.snapshot.file(path)) else {
            continue;
        };
        let edits = edits.iter().map(|edit| lsp::TextEdit {
            range: convert::range(file.lines(), edit.range, view.encoding),
            new_text: edit.new_text.clone(),
        });
        if form.document_changes {
            documents.push(lsp::TextDocumentEdit {
                text_document: lsp::OptionalVersionedTextDocumentIdentifier {
                    uri,
                    version: file.version(),
                },
                edits: edits.map(lsp::OneOf::Left).collect(),
            })
        } else {
            changes.insert(uri, edits.collect());
        }
    }
    if form.document_changes {
        lsp::WorkspaceEdit {
            document_changes: Some(lsp::DocumentChanges::Edits(documents)),
            ..lsp::WorkspaceEdit::default()
        }
    } else {
        lsp::WorkspaceEdit {
            changes: Some(changes),
            ..lsp::WorkspaceEdit::default()
        }
    }
}

/// An annotation of an edit, shown by the client before it is applied.
pub(super) struct EditNote {
    pub(super) label: String,
    pub(super) is_to_confirm: bool,
}

/// The id of the annotation in an edit.
const NOTE: &str = "values";

/// The edit of a plan; `None` if it creates files and the client cannot.
pub(super) fn plan_edit(
    view: &View,
    plan: &Plan,
    form: EditForm,
    note: Option<&EditNote>,
) -> Option<lsp::WorkspaceEdit> {
    let note = note.filter(|_| form.annotates);
    let mut edit = workspace_edit(view, &plan.edits, form);
    if let Some(note) = note {
        annotate(&mut edit, note);
    }
    if plan.new_files.is_empty() {
        return Some(edit);
    }
    let annotation = note.map(|_| NOTE.to_owned());
    let Some(lsp::DocumentChanges::Edits(documents)) = edit.document_changes.take() else {
        return None;
    };
    if !form.creates_files {
        return None;
    }
    let documents = documents.into_iter();
    let mut operations: Vec<lsp::DocumentChangeOperation> =
        documents.map(lsp::DocumentChangeOperation::Edit).collect();
    for (path, text) in &plan.new_files {
        let uri = uri(view, path)?;
        let create = lsp::CreateFile {
            uri: uri.clone(),
            options: None,
            annotation_id: annotation.clone(),
        };
        let start = lsp::Position::default();
        let text = lsp::TextEdit {
            range: lsp::Range::new(start, start),
            new_text: text.clone(),
        };
        let text = match &annotation {
            Some(id) => lsp::OneOf::Right(lsp::AnnotatedTextEdit {
                text_edit: text,
                annotation_id: id.clone(),
            }),
            None => lsp::OneOf::Left(text),
        };
        let document = lsp::OptionalVersionedTextDocumentIdentifier { uri, version: None };
        operations.push(lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(
            create,
        )));
        operations.push(lsp::DocumentChangeOperation::Edit(lsp::TextDocumentEdit {
            text_document: document,
            edits: vec![text],
        }));
    }
    edit.document_changes = Some(lsp::DocumentChanges::Operations(operations));
    Some(edit)
}

pub(super) fn annotate(edit: &mut lsp::WorkspaceEdit, note: &EditNote) {
    let Some(lsp::DocumentChanges::Edits(documents)) = &mut edit.document_changes else {
        return;
    };
    for one in documents
        .iter_mut()
        .flat_map(|document| &mut document.edits)
    {
        if let lsp::OneOf::Left(text_edit) = one {
            *one = lsp::OneOf::Right(lsp::AnnotatedTextEdit {
                text_edit: text_edit.clone(),
                annotation_id: NOTE.to_owned(),
            });
        }
    }
    let shown = lsp::ChangeAnnotation {
        label: note.label.clone(),
        needs_confirmation: Some(note.is_to_confirm),
        description: None,
    };
    edit.change_annotations = Some(HashMap::from([(NOTE.to_owned(), shown)]));
}
