//! `textDocument/completion` and `completionItem/resolve`.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;

use super::locations::{offset, range};
use super::{Needs, View, answer};
use crate::ide::completion::{Completion, Item, ItemKind, complete};
use crate::ide::hover::{Described, HoverForm, HoverOptions, described};
use crate::page::in_markdown;
use crate::server::connection::Connection;
use crate::server::convert;
use crate::server::jobs::Lane;

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::CompletionParams,
) -> Option<lsp::CompletionResponse> {
    let offset = offset(view, path, params.text_document_position.position)?;
    let uri = params.text_document_position.text_document.uri.as_str();
    let (snippets, form) = (view.facts.snippets, view.facts.completion_form());
    let found = view.analyse(path, |analysis| complete(analysis, path, offset))?;
    let Completion {
        items,
        replace,
        is_incomplete,
    } = found;
    let replaced = range(view, path, replace)?;
    let items = items.into_iter().enumerate();
    let items = items.map(|(order, item)| lsp::CompletionItem {
        documentation: item
            .documentation
            .as_deref()
            .map(|words| documentation(words, form)),
        ..converted(item, order, replaced, snippets, uri)
    });
    Some(lsp::CompletionResponse::List(lsp::CompletionList {
        is_incomplete,
        items: items.collect(),
    }))
}

pub(crate) async fn resolve(
    session: &Connection,
    item: lsp::CompletionItem,
) -> Result<lsp::CompletionItem> {
    let Some((path, about)) = item.data.as_ref().and_then(item_subject) else {
        return Ok(item);
    };
    let work = move |view: View| {
        let form = view.facts.completion_form();
        let options = HoverOptions {
            form: Some(form),
            ..HoverOptions::default()
        };
        let found = view.analyse(&path, |analysis| {
            described(analysis, &path, &about, &options)
        });
        let documentation = found.map(|hover| match form {
            HoverForm::Markdown => (lsp::MarkupKind::Markdown, hover.markdown),
            HoverForm::Aligned => (lsp::MarkupKind::Markdown, hover.aligned),
            HoverForm::Plain => (lsp::MarkupKind::PlainText, hover.plain),
        });
        let documentation = documentation.map(|(kind, value)| {
            lsp::Documentation::MarkupContent(lsp::MarkupContent { kind, value })
        });
        lsp::CompletionItem {
            documentation: documentation.or_else(|| item.documentation.clone()),
            ..item
        }
    };
    let (lane, needs) = (Lane::Interactive, Needs::Soon);
    answer(session, "completionItem/resolve", lane, needs, work).await
}

fn converted(
    item: Item,
    order: usize,
    replaced: lsp::Range,
    snippets: bool,
    uri: &str,
) -> lsp::CompletionItem {
    let kind = match item.kind {
        ItemKind::Key => lsp::CompletionItemKind::PROPERTY,
        ItemKind::Value => lsp::CompletionItemKind::VALUE,
        ItemKind::Function => lsp::CompletionItemKind::FUNCTION,
        ItemKind::Variable => lsp::CompletionItemKind::VARIABLE,
        ItemKind::Word => lsp::CompletionItemKind::KEYWORD,
        ItemKind::Type => lsp::CompletionItemKind::CLASS,
        ItemKind::Pattern => lsp::CompletionItemKind::EVENT,
        ItemKind::File => lsp::CompletionItemKind::FILE,
        ItemKind::Folder => lsp::CompletionItemKind::FOLDER,
        ItemKind::Anchor => lsp::CompletionItemKind::REFERENCE,
    };
    let snippet = item.snippet.filter(|_| snippets);
    let format = snippet.is_some().then_some(lsp::InsertTextFormat::SNIPPET);
    lsp::CompletionItem {
        kind: Some(kind),
        detail: item.detail,
        sort_text: Some(format!("{order:05}")),
        filter_text: Some(item.label.clone()),
        insert_text_format: format,
        text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit {
            range: replaced,
            new_text: snippet.unwrap_or(item.insert),
        })),
        data: item.about.map(|about| match about {
            Described::Key(key) => json!({ "uri": uri, "key": *key }),
            Described::Variable(name) => json!({ "uri": uri, "variable": *name }),
        }),
        label: item.label,
        ..lsp::CompletionItem::default()
    }
}

/// A text in a form that the client shows.
fn documentation(words: &str, form: HoverForm) -> lsp::Documentation {
    match form {
        HoverForm::Plain => lsp::Documentation::String(words.to_owned()),
        HoverForm::Markdown | HoverForm::Aligned => {
            lsp::Documentation::MarkupContent(lsp::MarkupContent {
                kind: lsp::MarkupKind::Markdown,
                value: in_markdown(words),
            })
        }
    }
}

/// The file and the subject of an item.
fn item_subject(data: &Value) -> Option<(String, Described)> {
    let path = convert::path(data.get("uri")?.as_str()?)?;
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(Arc::from);
    let key = text("key").map(Described::Key);
    let about = key.or_else(|| text("variable").map(Described::Variable))?;
    Some((path, about))
}
