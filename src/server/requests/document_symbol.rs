//! `textDocument/documentSymbol`: the keys of a file as an outline.

use tower_lsp::ls_types as lsp;

use super::View;
use crate::ide::outline::document_symbols;
use crate::ide::symbols::{Symbol, SymbolKind};
use crate::server::convert;
use crate::text::{LineIndex, PositionEncoding};

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::DocumentSymbolParams,
) -> Option<lsp::DocumentSymbolResponse> {
    let symbols = (view.answers.symbols)(view, path);
    let encoding = view.encoding;
    view.lines(path, |lines| {
        let symbols = symbols.into_iter();
        if view.facts.nested_symbols {
            let nested = symbols.map(|symbol| tree(lines, symbol, encoding));
            return lsp::DocumentSymbolResponse::Nested(nested.collect());
        }
        let (uri, mut flat) = (&params.text_document.uri, Vec::new());
        symbols.for_each(|symbol| flatten(lines, symbol, None, uri, encoding, &mut flat));
        lsp::DocumentSymbolResponse::Flat(flat)
    })
}

pub(crate) fn outline(view: &View, path: &str) -> Vec<Symbol> {
    view.analyse(path, |analysis| document_symbols(analysis, path))
}

#[expect(deprecated, reason = "the protocol's type still has the field")]
fn tree(lines: &LineIndex, symbol: Symbol, encoding: PositionEncoding) -> lsp::DocumentSymbol {
    let kind = kind(&symbol);
    let children = symbol.children.into_iter();
    let children: Vec<_> = children.map(|child| tree(lines, child, encoding)).collect();
    lsp::DocumentSymbol {
        name: symbol.name.to_string(),
        detail: symbol.detail,
        kind,
        tags: None,
        deprecated: None,
        range: convert::range(lines, symbol.range, encoding),
        selection_range: convert::range(lines, symbol.selection, encoding),
        children: Some(children).filter(|children| !children.is_empty()),
    }
}

#[expect(deprecated, reason = "the protocol's type still has the field")]
fn flatten(
    lines: &LineIndex,
    symbol: Symbol,
    container: Option<&str>,
    uri: &lsp::Uri,
    encoding: PositionEncoding,
    flat: &mut Vec<lsp::SymbolInformation>,
) {
    let range = convert::range(lines, symbol.range, encoding);
    flat.push(lsp::SymbolInformation {
        name: symbol.name.to_string(),
        kind: kind(&symbol),
        tags: None,
        deprecated: None,
        location: lsp::Location::new(uri.clone(), range),
        container_name: container.map(str::to_owned),
    });
    for child in symbol.children {
        flatten(lines, child, Some(&symbol.name), uri, encoding, flat);
    }
}

fn kind(symbol: &Symbol) -> lsp::SymbolKind {
    match symbol.kind {
        SymbolKind::Key => lsp::SymbolKind::KEY,
        SymbolKind::Hash => lsp::SymbolKind::OBJECT,
        SymbolKind::List => lsp::SymbolKind::ARRAY,
        SymbolKind::Text => lsp::SymbolKind::STRING,
        SymbolKind::Number => lsp::SymbolKind::NUMBER,
        SymbolKind::Truth => lsp::SymbolKind::BOOLEAN,
        SymbolKind::Nothing => lsp::SymbolKind::NULL,
    }
}
