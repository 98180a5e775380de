//! A text in the Puppet language, with its tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::host::Defines;
use super::reached::BodyPlace;
use super::uses::{self, Effects};
use crate::syntax::puppet::{
    self, Definition, Dialect, Expression, ExpressionKind, PuppetProblem, without_colons,
};
use crate::text::{LineIndex, TextRange};

/// Maximum length of a text, in bytes.
const MAX_SOURCE: usize = 1 << 20;

/// A manifest or the file of a function.
#[derive(Debug)]
pub struct CodeFile {
    /// Its path.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    pub(super) root: Expression,
    pub(super) problem: Option<PuppetProblem>,
    lines: LineIndex,
    /// See [`uses::places_with_effects`].
    places: OnceLock<Box<[u32]>>,
    /// The parts that were passed over: the same ones for most nodes.
    passed: Mutex<HashMap<TextRange, Arc<PassedOver>>>,
    /// See [`super::depends_on_node`].
    pub(super) depending: Mutex<HashMap<BodyPlace, bool>>,
}

/// What code may do that was passed over.
#[derive(Debug, Default)]
pub(super) struct PassedOver {
    pub(super) effects: Effects,
    /// The variables that it sets in the enclosing scope, in order.
    pub(super) assigned: Box<[(Arc<str>, TextRange)]>,
}

impl CodeFile {
    /// Parses a text.
    #[must_use]
    pub fn new(path: Arc<str>, text: Arc<str>) -> CodeFile {
        let is_long = text.len() > MAX_SOURCE;
        let parse = puppet::parse(if is_long { "" } else { &text }, Dialect::Manifest);
        let too_long = || {
            let message = format!("the text is longer than {MAX_SOURCE} bytes");
            is_long.then(|| PuppetProblem::new(&message))
        };
        CodeFile {
            lines: LineIndex::new(&text),
            root: parse.root,
            problem: parse.problems.into_iter().next().or_else(too_long),
            places: OnceLock::new(),
            passed: Mutex::default(),
            depending: Mutex::default(),
            path,
            text,
        }
    }

    /// What a part of the text may do besides giving a value; `None` if that is nothing, as for most. O(log parts), and
    /// O(its parts) the first time.
    pub(super) fn passed_over(&self, part: &Expression) -> Option<Arc<PassedOver>> {
        let places = self
            .places
            .get_or_init(|| uses::places_with_effects(&self.root));
        let first = places.partition_point(|at| *at < part.range.start);
        places.get(first).filter(|at| **at < part.range.end)?;
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        // Parts with the same range hold each other and nothing else.
        let passed = passed.entry(part.range).or_insert_with(|| {
            let mut assigned = Vec::new();
            part.each_assigned(&mut |name, place| assigned.push((Arc::from(name), place)));
            Arc::new(PassedOver {
                effects: uses::effects(part),
                assigned: assigned.into(),
            })
        });
        Some(Arc::clone(passed))
    }

    /// Whether it is refused here, and not by Puppet.
    pub(super) fn is_too_long(&self) -> bool {
        self.text.len() > MAX_SOURCE
    }

    /// Why it cannot be run, with its place, as Puppet shows it.
    pub(super) fn refusal(&self) -> Option<String> {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        Some(self.problem.as_ref()?.full_in(name, &self.text))
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, offset: u32) -> u32 {
        self.lines.line(offset as usize) + 1
    }

    pub(super) fn statements(&self) -> &[Expression] {
        statements(&self.root)
    }

    /// Whether the text defines a class or a defined type of that name, or cannot be parsed and might.
    #[must_use]
    pub fn defines(&self, kind: Defines, name: &str) -> bool {
        self.problem.is_some() || self.definition(kind, name).is_some()
    }

    /// The class or the defined type of that name, if the text defines it.
    pub(super) fn definition(&self, kind: Defines, name: &str) -> Option<&Definition> {
        let mut found = None;
        self.root.walk(&mut |node| match (&node.kind, kind) {
            (ExpressionKind::Class(definition), Defines::Class)
            | (ExpressionKind::Define(definition), Defines::Type)
                if *definition.name == *name =>
            {
                found = found.or(Some(&**definition));
            }
            _ => {}
        });
        found
    }

    /// The function of that name, if the text defines it.
    pub(super) fn function(&self, name: &str) -> Option<&Definition> {
        let name = without_colons(name);
        self.statements().iter().find_map(|node| match &node.kind {
            ExpressionKind::Function(function) if *function.name == *name => Some(&**function),
            _ => None,
        })
    }
}

/// The statements of a block, or a single statement.
pub(super) fn statements(node: &Expression) -> &[Expression] {
    match &node.kind {
        ExpressionKind::Block(nodes) => nodes,
        _ => std::slice::from_ref(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_file_and_the_place_if_there_is_one() {
        let refusal = |text: &str| {
            let file = CodeFile::new(Arc::from("/repo/manifests/site.pp"), Arc::from(text));
            file.refusal().unwrap_or_default()
        };
        assert_eq!(refusal("$a = 1\n"), "");
        assert_eq!(
            refusal("$a = 1\n}\n"),
            "Syntax error at '}' (file: site.pp, line: 2, column: 1)"
        );
        assert_eq!(refusal("$a = "), "Syntax error at end of input");
        assert_eq!(
            refusal(&" ".repeat(MAX_SOURCE + 1)),
            "the text is longer than 1048576 bytes"
        );
    }

    #[test]
    fn effects_of_parts_are_those_that_a_walk_finds() {
        let text = "$a = $b ? { 1 => include('a'), default => [1, 2].each |$x| { $y = $x; return(1) } }\n\
             if $c { fail(\"no ${d.then |$z| { break() }}\") } else { notify { 'x': } }\n\
             $e = f(@(\"END\"), next)\n  ${contain('b')}\n  | END\n\
             class k($p = fail('p')) inherits j { class { 'l': } }\nnode default { $q = 1 + 2 }\n";
        let file = CodeFile::new(Arc::from("site.pp"), Arc::from(text));
        assert!(file.problem.is_none(), "{:?}", file.problem);
        let mut with = 0;
        file.root.walk(&mut |part| {
            let expected = uses::effects(part);
            let mut assigned = Vec::new();
            part.each_assigned(&mut |name, place| assigned.push((Arc::from(name), place)));
            let passed = file.passed_over(part).unwrap_or_default();
            assert!(passed.effects == expected, "{}", part.source(text));
            assert_eq!(*passed.assigned, *assigned, "{}", part.source(text));
            with += usize::from(expected != Effects::default());
        });
        assert!(with > 20, "{with}");
    }
}
