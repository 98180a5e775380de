//! A fingerprint of the code's effects on nodes and on other code.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use std::sync::Arc;

use foldhash::quality::FixedState;

use crate::syntax::puppet::{Expression, ExpressionKind, hash_tokens};
use crate::text::TextRange;
use crate::workspace::cache::TextHash;
use crate::workspace::code::{CodeFacts, IncludeFact, Means, Within};
use crate::workspace::resources::ResourceSource;

/// The fingerprint of some code; for a manifest with its tree. Positions, comments, parameter types
/// and defaults are ignored, and so is everything in bodies of classes and defined types except
/// includes and lookups, unless these are conditional.
pub(super) fn of(code: &CodeFacts, text: &str, manifest: Option<&Expression>) -> TextHash {
    let mut hasher = FixedState::default().build_hasher();
    code.is_broken.hash(&mut hasher);
    for (at, definition) in code.definitions.iter().enumerate() {
        if code.has_conditions(Some(Within::Definition(at as u32))) {
            hash_tokens(definition.range.slice(text), &mut hasher);
        }
        let parent = definition.parent.as_ref().map(|(name, _)| name);
        (definition.kind, &definition.name, parent).hash(&mut hasher);
        for parameter in &definition.parameters {
            (&parameter.name, parameter.default.is_some()).hash(&mut hasher);
        }
    }
    let mut statements = statements(code, text);
    // The order matters among all of them.
    statements.sort_by_key(|(start, _)| *start);
    for (_, fingerprint) in statements {
        fingerprint.hash(&mut hasher);
    }
    if let Some(root) = manifest {
        for range in evaluated(root, text.len()) {
            hash_tokens(range.slice(text), &mut hasher);
        }
    }
    TextHash(hasher.finish())
}

/// The includes and lookups, by start offset.
fn statements(code: &CodeFacts, text: &str) -> Vec<(u32, u64)> {
    let state = FixedState::default();
    let includes = code.includes.iter().map(|it| {
        let means = means(code, text, it);
        let parts = (
            it.kind,
            &it.class,
            means,
            it.within,
            &it.sets,
            it.is_conditional,
        );
        (it.place.start, state.hash_one(parts))
    });
    let lookups = code.lookups.iter().map(|it| {
        let mut hasher = state.build_hasher();
        (it.function, &it.key, it.within, it.is_conditional).hash(&mut hasher);
        hash_tokens(it.call.slice(text), &mut hasher);
        (it.place.start, hasher.finish())
    });
    let calls = code.calls.iter();
    let calls = calls.map(|it| (it.place.start, state.hash_one((&it.function, it.within))));
    let resources = code.resources.of_data.iter().map(|it| {
        let source = match &it.source {
            ResourceSource::Lookup(call) => {
                (None, code.lookups.iter().position(|it| it.call == *call))
            }
            ResourceSource::Parameter(name) => (Some(name), None),
        };
        let parts = (
            &it.type_name,
            source,
            &it.given,
            it.within,
            it.is_conditional,
        );
        (it.place.start, state.hash_one(parts))
    });
    let changed = code.resources.changed.iter();
    let changed = changed.map(|name| (0, state.hash_one(name)));
    let all = includes.chain(lookups).chain(calls);
    all.chain(resources).chain(changed).collect()
}

/// The hash of a computed name, without positions.
fn means(code: &CodeFacts, text: &str, include: &IncludeFact) -> impl std::hash::Hash {
    let list = |call: &TextRange| code.lookups.iter().position(|it| it.call == *call);
    match &include.means {
        None => (0, None, None, None),
        Some(Means::Class(class)) => (1, Some(class.clone()), None, None),
        Some(Means::List(call)) => (2, None, list(call), None),
        Some(Means::Parts(parts)) => (3, None, None, Some(parts.clone())),
        Some(Means::Parameter(name)) => {
            let default = code.parameter_around(include, name);
            let default = default.and_then(|it| it.default);
            let default = default.map(|range| Arc::from(range.slice(text)));
            (4, default, None, None)
        }
        Some(Means::Beginning(text)) => (5, Some(text.clone()), None, None),
    }
}

/// The parts of a manifest that are evaluated for nodes: all but classes, defined types and plans.
fn evaluated(root: &Expression, end: usize) -> Vec<TextRange> {
    let statements = match &root.kind {
        ExpressionKind::Block(statements) => &statements[..],
        _ => std::slice::from_ref(root),
    };
    // The text of a heredoc comes after its statement.
    let ends = statements
        .iter()
        .skip(1)
        .map(|next| next.range.start as usize);
    let with_ends = statements.iter().zip(ends.chain([end]));
    let evaluated = with_ends.filter(|(statement, _)| {
        !matches!(
            statement.kind,
            ExpressionKind::Class(_) | ExpressionKind::Define(_) | ExpressionKind::Plan(_)
        )
    });
    let ranges =
        evaluated.map(|(statement, end)| TextRange::new(statement.range.start as usize, end));
    ranges.collect()
}
