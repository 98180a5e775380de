//! Semantic tokens that no grammar can find: keys, parts of tokens, options and patterns, paths in
//! `hiera.yaml`.

use super::references::Role;
use super::target::is_config;
use crate::analysis::Analysis;
use crate::hierarchy::{ConfigSpans, locate};
use crate::interpolation::{has_tokens, tokens};
use crate::syntax::{NodeId, ScalarMap, Tree};
use crate::text::TextRange;
use crate::workspace::{File, Format, LOOKUP_OPTIONS, TokenFact};

/// The type of a semantic token. The order is that of the protocol's legend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TokenClass {
    /// A key, or a call's argument with a key.
    Key,
    /// A function of a token, or a data function.
    Function,
    /// A fact or another variable.
    Variable,
    /// A word with a meaning for Puppet: `merge`, `hierarchy`.
    Keyword,
    /// A value of such a word: `deep`.
    Choice,
    /// A pattern of `lookup_options`.
    Pattern,
    /// A data type.
    Type,
}

/// All types, in the order of the legend.
pub const CLASSES: [TokenClass; 7] = [
    TokenClass::Key,
    TokenClass::Function,
    TokenClass::Variable,
    TokenClass::Keyword,
    TokenClass::Choice,
    TokenClass::Pattern,
    TokenClass::Type,
];

/// A semantic token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SemanticToken {
    /// The word, on one line.
    pub range: TextRange,
    /// The type.
    pub class: TokenClass,
    /// Whether it is a definition.
    pub role: Role,
}

/// The semantic tokens of a file that a hierarchy reads, in the order of the text, without
/// overlaps. O(nodes).
#[must_use]
pub fn semantic_tokens(analysis: Analysis<'_>, path: &str) -> Vec<SemanticToken> {
    let Some(file) = analysis.snapshot.file(path) else {
        return Vec::new();
    };
    if !analysis.reads(path) {
        return Vec::new();
    }
    let format = file.format().unwrap_or(Format::Yaml);
    let parse = analysis.snapshot.parse_of(file, format);
    let mut words = Words {
        file,
        tree: &parse.tree,
        found: Vec::new(),
    };
    if is_config(analysis.snapshot, path) {
        words.of_config()
    } else {
        words.of_data()
    }
    let mut found = words.found;
    found.sort_by_key(|token| (token.range, token.class));
    let mut end = 0;
    found.retain(|token| {
        let is_line = !token.range.is_empty() && !token.range.slice(file.text()).contains('\n');
        let is_free = is_line && token.range.start >= end;
        if is_free {
            end = token.range.end;
        }
        is_free
    });
    found
}

struct Words<'w> {
    file: &'w File,
    tree: &'w Tree,
    found: Vec<SemanticToken>,
}

impl Words<'_> {
    fn add(&mut self, range: TextRange, class: TokenClass, role: Role) {
        self.found.push(SemanticToken { range, class, role });
    }

    fn of_data(&mut self) {
        for token in &self.file.facts().tokens {
            self.of_token(token);
        }
        let tree = self.tree;
        let mut options = None;
        for (key, value) in tree.entries() {
            if tree.scalar_text(key).map(|text| &**text) == Some(LOOKUP_OPTIONS) {
                self.name(key, TokenClass::Keyword, Role::Use);
                options = Some(tree.node(value).range);
                self.of_options(value);
            } else {
                self.name(key, TokenClass::Key, Role::Definition);
            }
        }
        for (_, node) in tree.nodes() {
            let is_option = options.is_some_and(|range| range.contains(node.range));
            for &(key, _) in node.as_mapping().unwrap_or_default() {
                // Top-level keys were added above.
                if !is_option && node.range.start != top(tree) {
                    self.name(key, TokenClass::Key, Role::Use);
                }
            }
        }
        for broken in tree.broken() {
            if let Some(key) = &broken.key {
                self.add(key.range, TokenClass::Key, Role::Definition);
            }
        }
    }

    /// Adds a key without tokens.
    fn name(&mut self, key: NodeId, class: TokenClass, role: Role) {
        let node = self.tree.node(key);
        if let Some(scalar) = node.as_scalar()
            && !has_tokens(&scalar.text)
        {
            self.add(node.range, class, role);
        }
    }

    fn of_token(&mut self, token: &TokenFact) {
        match token {
            TokenFact::Reference(reference) => {
                self.add(reference.function, TokenClass::Function, Role::Use);
                self.add(reference.argument, TokenClass::Key, Role::Use);
            }
            TokenFact::Variable(variable) => {
                if let Some(function) = variable.function {
                    self.add(function, TokenClass::Function, Role::Use);
                }
                self.add(variable.variable, TokenClass::Variable, Role::Use);
            }
            TokenFact::Other { function, .. } => {
                if let Some(function) = function {
                    self.add(*function, TokenClass::Function, Role::Use);
                }
            }
        }
    }

    fn of_options(&mut self, value: NodeId) {
        let tree = self.tree;
        let entries = |at| tree.node(tree.resolve(at)).as_mapping().unwrap_or_default();
        for &(entry, members) in entries(value) {
            let is_pattern = tree
                .scalar_text(entry)
                .is_some_and(|text| text.starts_with('^'));
            let class = if is_pattern {
                TokenClass::Pattern
            } else {
                TokenClass::Key
            };
            self.name(entry, class, Role::Option);
            for &(member, value) in entries(members) {
                self.name(member, TokenClass::Keyword, Role::Use);
                match tree.scalar_text(member).map(|text| &**text) {
                    Some("convert_to") => self.types(value),
                    Some("merge") => {
                        self.name(value, TokenClass::Choice, Role::Use);
                        for &(option, value) in entries(value) {
                            self.name(option, TokenClass::Keyword, Role::Use);
                            let option = tree.scalar_text(option).map(|text| &**text);
                            if option == Some("strategy") {
                                self.name(value, TokenClass::Choice, Role::Use);
                            }
                        }
                    }
                    Some(_) | None => {}
                }
            }
        }
    }

    /// Adds a type; of a list with arguments the first element.
    fn types(&mut self, value: NodeId) {
        let elements = self.tree.node(value).as_sequence();
        let name = elements.map_or(Some(value), |elements| elements.first().copied());
        if let Some(name) = name {
            self.name(name, TokenClass::Type, Role::Use);
        }
    }

    fn of_config(&mut self) {
        let ConfigSpans {
            hierarchy,
            default_hierarchy,
            defaults,
            ..
        } = locate(self.tree);
        let tree = self.tree;
        for (_, node) in tree.nodes() {
            for &(key, _) in node.as_mapping().unwrap_or_default() {
                self.name(key, TokenClass::Keyword, Role::Use);
            }
        }
        let levels = hierarchy.iter().chain(&default_hierarchy);
        for level in levels.chain([&defaults]) {
            if let Some((_, function)) = level.function {
                self.add(function, TokenClass::Function, Role::Use);
            }
            for location in &level.locations {
                let map = ScalarMap::new(self.file.text(), tree.node(location.node));
                for token in tokens(&location.text) {
                    if let Some(part) = token.variable() {
                        let range = map.source_range(part.as_usize());
                        self.add(range, TokenClass::Variable, Role::Use);
                    }
                }
            }
        }
    }
}

/// The start of the root collection.
fn top(tree: &Tree) -> u32 {
    tree.root().map_or(0, |root| tree.node(root).range.start)
}
