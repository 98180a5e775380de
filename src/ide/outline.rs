//! Document symbols: the nested keys of a file, also in half-typed text.

use std::collections::HashMap;
use std::sync::Arc;

use super::block_line::{BlockLine, End};
use super::symbols::{Symbol, SymbolKind};
use super::target::is_config;
use crate::analysis::Analysis;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, NodeKind, Tree, TreeNode, parse_yaml};
use crate::text::{TextRange, number_of};
use crate::workspace::{File, Format, KeyFact, KeyState, Snapshot};

/// Maximum number of nested symbols in a file.
const MAX_NESTED: usize = 20_000;

/// Maximum width of a value beside a name, in characters.
const WIDEST: usize = 60;

/// The symbols of a file that a hierarchy reads, or of its configuration; empty for others.
#[must_use]
pub fn document_symbols(analysis: Analysis<'_>, path: &str) -> Vec<Symbol> {
    if analysis.reads(path) {
        outline(analysis.snapshot, path)
    } else {
        Vec::new()
    }
}

/// The top-level keys of a file in the order of the text, with nested symbols; empty for an unknown
/// file. Parses the file: O(bytes).
#[must_use]
pub fn outline(snapshot: &Snapshot, path: &str) -> Vec<Symbol> {
    let Some(file) = snapshot.file(path) else {
        return Vec::new();
    };
    let is_config = is_config(snapshot, path);
    if file.format().is_none() && !is_config {
        return Vec::new();
    }
    let parse = snapshot.parse_of(file, file.format().unwrap_or(Format::Yaml));
    let mut below = Below {
        tree: &parse.tree,
        left: MAX_NESTED,
    };
    if is_config {
        let root = parse.tree.root();
        return root.map(|root| below.of(root)).unwrap_or_default();
    }
    // The values of top-level keys by the range of the key; those from merge keys have another place.
    let values: HashMap<TextRange, NodeId> = parse
        .tree
        .entries()
        .map(|(key, value)| (parse.tree.node(key).range, value))
        .collect();
    let keys = file.facts().keys.iter();
    keys.map(|key| match values.get(&key.key) {
        Some(&value) if key.state == KeyState::Read => {
            let (kind, detail) = kind_and_detail(&parse.tree, value);
            Symbol {
                kind,
                detail,
                children: below.of(value),
                ..of_key(key)
            }
        }
        Some(_) | None => broken(file, key),
    })
    .collect()
}

/// The symbol of a top-level key, without its value.
pub(super) fn of_key(key: &KeyFact) -> Symbol {
    Symbol {
        name: Arc::clone(&key.name),
        kind: SymbolKind::Key,
        detail: None,
        range: key.key.cover(key.value),
        selection: key.key,
        children: Vec::new(),
    }
}

/// Collects nested symbols; `left` is the number that may follow.
struct Below<'t> {
    tree: &'t Tree,
    left: usize,
}

impl Below<'_> {
    /// The keys of a hash, or the collections in a list; not behind an alias. Trees are no deeper
    /// than [`crate::syntax::MAX_DEPTH`].
    fn of(&mut self, at: NodeId) -> Vec<Symbol> {
        let tree = self.tree;
        let mut found = Vec::new();
        match &tree.node(at).kind {
            NodeKind::Mapping(pairs) => {
                for &(key, value) in pairs {
                    let Some(name) = tree.scalar_text(key) else {
                        continue;
                    };
                    let selection = tree.node(key).full_range();
                    found.extend(self.symbol(name.clone(), selection, value));
                }
            }
            NodeKind::Sequence(elements) => {
                for (number, &element) in elements.iter().enumerate() {
                    if let NodeKind::Scalar(_) | NodeKind::Alias { .. } = tree.node(element).kind {
                        continue;
                    }
                    let (name, selection) = self.element(number, element);
                    found.extend(self.symbol(name, selection, element));
                }
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
        }
        found
    }

    fn symbol(&mut self, name: Arc<str>, selection: TextRange, value: NodeId) -> Option<Symbol> {
        self.left = self.left.checked_sub(1)?;
        let (kind, detail) = kind_and_detail(self.tree, value);
        Some(Symbol {
            name,
            kind,
            detail,
            range: selection.cover(self.tree.node(value).full_range()),
            selection,
            children: self.of(value),
        })
    }

    /// The name of a list's element if it has one, as levels do, else its index.
    fn element(&self, number: usize, element: NodeId) -> (Arc<str>, TextRange) {
        let pairs = self.tree.node(element).as_mapping().unwrap_or_default();
        for &(key, value) in pairs {
            let value = self.tree.node(value);
            if self.tree.scalar_text(key).map(|text| &**text) == Some("name")
                && let Some(name) = value.as_scalar()
            {
                return (name.text.clone(), value.range);
            }
        }
        let start = self.tree.node(element).range.start as usize;
        (Arc::from(number.to_string()), TextRange::empty(start))
    }
}

/// The kind of a value, and its description.
fn kind_and_detail(tree: &Tree, value: NodeId) -> (SymbolKind, Option<String>) {
    let node = tree.node(value);
    match &node.kind {
        NodeKind::Mapping(pairs) => (SymbolKind::Hash, Some(number_of(pairs.len(), "key"))),
        NodeKind::Sequence(elements) => {
            (SymbolKind::List, Some(number_of(elements.len(), "element")))
        }
        NodeKind::Alias { name, .. } => (SymbolKind::Key, Some(format!("*{name}"))),
        NodeKind::Scalar(scalar) => {
            let text = &scalar.text;
            let kind = kind_of(node, text);
            let shown = if text.contains("ENC[") {
                "encrypted".to_owned()
            } else {
                shortened(text)
            };
            (kind, Some(shown).filter(|shown| !shown.is_empty()))
        }
    }
}

fn kind_of(node: &TreeNode, text: &str) -> SymbolKind {
    if node.is_quoted() || node.tag.is_some() {
        return SymbolKind::Text;
    }
    match resolve_plain(text) {
        Resolved::Int(_) | Resolved::BigInt(_) | Resolved::Float(_) => SymbolKind::Number,
        Resolved::Bool(_) => SymbolKind::Truth,
        Resolved::Null => SymbolKind::Nothing,
        Resolved::Symbol(_)
        | Resolved::Date
        | Resolved::Time
        | Resolved::String
        | Resolved::Invalid { .. } => SymbolKind::Text,
    }
}

/// The first line of a text, cut if it is long.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None if line.len() < text.trim_end().len() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// The symbols of an entry that does not parse: its keys, nested by indentation, with the values on
/// the same line.
fn broken(file: &File, key: &KeyFact) -> Symbol {
    let text = file.text();
    let end = (key.value.end.max(key.key.end) as usize).min(text.len());
    let from = key.key.end as usize;
    let rest = text.get(from..end).unwrap_or_default();
    let first = rest.lines().next().unwrap_or_default();
    let value = first.trim_start().strip_prefix(':').unwrap_or_default();
    let (kind, detail) = in_line(value);
    let mut symbol = Symbol {
        kind,
        detail,
        children: broken_lines(text, from + first.len() + 1, end),
        ..of_key(key)
    };
    as_hash(&mut symbol);
    symbol
}

/// The kind of a value, judging by its first line.
fn in_line(value: &str) -> (SymbolKind, Option<String>) {
    let parse = parse_yaml(value);
    match parse.tree.root() {
        Some(root) if parse.problems.is_empty() => kind_and_detail(&parse.tree, root),
        Some(_) | None => (SymbolKind::Key, None),
    }
}

/// Turns a symbol without a value, but with keys below it, into a hash.
fn as_hash(symbol: &mut Symbol) {
    if symbol.kind == SymbolKind::Key && !symbol.children.is_empty() {
        symbol.kind = SymbolKind::Hash;
        symbol.detail = Some(number_of(symbol.children.len(), "key"));
    }
}

/// The keys of some lines.
fn broken_lines(text: &str, mut start: usize, end: usize) -> Vec<Symbol> {
    let mut lines: Vec<(usize, Symbol)> = Vec::new();
    while start < end && lines.len() < MAX_NESTED {
        let line = text[start..end].lines().next().unwrap_or_default();
        let read = BlockLine::read(line, End::Break);
        if let Some(name) = read.key
            && !line.trim_start().starts_with('#')
        {
            let selection = TextRange::new(start + read.column, start + read.key_end);
            let (kind, detail) = in_line(&line[read.rest..]);
            let symbol = Symbol {
                name: Arc::from(name),
                kind,
                detail,
                range: TextRange::new(start + read.column, start + line.trim_end().len()),
                selection,
                children: Vec::new(),
            };
            lines.push((read.column, symbol));
        }
        start += line.len() + 1;
    }
    nest(lines)
}

/// Nests symbols by their columns.
fn nest(lines: Vec<(usize, Symbol)>) -> Vec<Symbol> {
    let mut open: Vec<(usize, Symbol)> = Vec::new();
    let mut found = Vec::new();
    let close = |open: &mut Vec<(usize, Symbol)>, found: &mut Vec<Symbol>| {
        if let Some((_, mut symbol)) = open.pop() {
            as_hash(&mut symbol);
            match open.last_mut() {
                Some((_, outer)) => {
                    outer.range = outer.range.cover(symbol.range);
                    outer.children.push(symbol);
                }
                None => found.push(symbol),
            }
        }
    };
    for (column, symbol) in lines {
        while open.last().is_some_and(|(outer, _)| *outer >= column) {
            close(&mut open, &mut found);
        }
        open.push((column, symbol));
    }
    while !open.is_empty() {
        close(&mut open, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::fixture_tests::{AtCursor, check, with_hierarchy};
    use super::super::symbols::Symbol;
    use super::document_symbols;

    fn lines(symbols: &[Symbol], depth: usize, shown: &mut Vec<String>) {
        for symbol in symbols {
            assert!(symbol.range.contains(symbol.selection), "{symbol:?}");
            let detail = symbol.detail.as_deref().unwrap_or_default();
            let line = format!(
                "{}{} {:?} {detail}",
                "  ".repeat(depth),
                symbol.name,
                symbol.kind
            );
            shown.push(line.trim_end().to_owned());
            for child in &symbol.children {
                assert!(
                    symbol.range.contains(child.range),
                    "{child:?} in {symbol:?}"
                );
            }
            lines(&symbol.children, depth + 1, shown);
        }
    }

    fn outline(at: &AtCursor<'_>) -> String {
        let mut shown = Vec::new();
        let symbols = document_symbols(at.analysis, at.path);
        lines(&symbols, 0, &mut shown);
        shown.join("\n")
    }

    #[test]
    fn kinds_details_and_full_depth() {
        check(
            &with_hierarchy(
                "#- data/common.yaml\nusers:\n  alice: {uid: 1, keys: [a, {type: rsa}]}\n  \"bob\":\n    \
                 uid: &u 2\nport: 443\ntls: true\nnone: ~\nname: 'x'\nsecret: ENC[PKCS7,AAAA]\n\
                 text: |\n  one\n  two\nsame: *u\n$0",
            ),
            outline,
            expect![[r#"
                users Hash 2 keys
                  alice Hash 2 keys
                    uid Number 1
                    keys List 2 elements
                      1 Hash 1 key
                        type Text rsa
                  bob Hash 1 key
                    uid Number 2
                port Number 443
                tls Truth true
                none Nothing ~
                name Text x
                secret Text encrypted
                text Text one …
                same Key *u"#]],
        );
    }

    #[test]
    fn half_typed_entries_keep_their_keys() {
        check(
            &with_hierarchy(
                "#- data/common.yaml\nusers:\n  alice:\n    uid: [\n    shell: x # why\n    ids: {a: 1}\n    \
                 no: true\n  bob:\n    u\nport: 1\n$0",
            ),
            outline,
            expect![[r#"
                users Hash 2 keys
                  alice Hash 4 keys
                    uid Key
                    shell Text x
                    ids Hash 1 key
                    no Truth true
                  bob Key
                port Number 1"#]],
        );
    }

    #[test]
    fn configurations_are_their_levels() {
        check(
            &with_hierarchy("").replace("version: 5", "version: 5$0"),
            outline,
            expect![[r#"
                version Number 5
                defaults Hash 2 keys
                  datadir Text data
                  data_hash Text yaml_data
                hierarchy List 4 elements
                  Node Hash 2 keys
                    name Text Node
                    path Text node/%{trusted.certname}.yaml
                  Role Hash 2 keys
                    name Text Role
                    path Text role/%{facts.role}.yaml
                  Site Hash 2 keys
                    name Text Site
                    path Text site/%{facts.site}.yaml
                  Common Hash 2 keys
                    name Text Common
                    path Text common.yaml"#]],
        );
    }
}
