//! Parts of manifests that hold statements, by the facts of their files.

use std::sync::Arc;

use super::site::manifests_of;
use super::{Analysis, Defined};
use crate::text::TextRange;
use crate::workspace::{
    CallFact, CodeFacts, DefaultClass, DefinitionFact, DefinitionKind, File, IncludeFact,
    IncludeKind, LookupFact, LookupFunction, NodeFact, Root, Within,
};

/// A part of a file that holds statements.
#[derive(Clone, Copy)]
pub(super) struct CodeBody<'a> {
    pub(super) file: &'a Arc<File>,
    pub(super) code: &'a CodeFacts,
    pub(super) within: Within,
}

impl<'a> CodeBody<'a> {
    /// The top level of a file, if it is code.
    pub(super) fn top(file: &'a Arc<File>) -> Option<CodeBody<'a>> {
        let code = code(file)?;
        let within = Within::Top;
        Some(CodeBody { file, code, within })
    }

    /// The node blocks of the file, each with its names.
    pub(super) fn blocks(self) -> impl Iterator<Item = (CodeBody<'a>, &'a NodeFact)> {
        (0..).zip(&self.code.nodes).map(move |(at, block)| {
            let within = Within::Node(at);
            (CodeBody { within, ..self }, block)
        })
    }

    /// The definition that the body belongs to.
    pub(super) fn definition(self) -> Option<&'a DefinitionFact> {
        match self.within {
            Within::Definition(at) => self.code.definitions.get(at as usize),
            Within::Top | Within::Node(_) => None,
        }
    }

    /// The name of the class that the body belongs to.
    pub(super) fn class(self) -> Option<&'a Arc<str>> {
        let definition = self.definition()?;
        (definition.kind == DefinitionKind::Class).then_some(&definition.name)
    }

    /// The statements that include or declare classes.
    pub(super) fn includes(self) -> impl Iterator<Item = &'a IncludeFact> {
        let all = self.code.includes.iter();
        all.filter(move |it| it.within == self.within && it.kind != IncludeKind::Reference)
    }

    pub(super) fn lookups(self) -> impl Iterator<Item = &'a LookupFact> {
        let all = self.code.lookups.iter();
        all.filter(move |it| it.within == self.within)
    }

    pub(super) fn calls(self) -> impl Iterator<Item = &'a CallFact> {
        let all = self.code.calls.iter();
        all.filter(move |it| it.within == self.within)
    }

    /// Whether the result of a lookup is a list of classes that something includes.
    pub(super) fn includes_list(self, lookup: &LookupFact) -> bool {
        let mut includes = self.code.includes.iter();
        lookup.function == LookupFunction::HieraInclude
            || includes.any(|include| include.is_of_list(lookup.call))
    }

    /// Whether a value in the body is written as an empty list or hash, or as `undef`.
    pub(super) fn is_empty_value(self, value: TextRange) -> bool {
        let text = value.slice(self.file.text()).chars();
        let text: String = text.filter(|c| !c.is_whitespace()).collect();
        matches!(text.as_str(), "[]" | "{}" | "undef")
    }

    /// The classes in the default of a lookup.
    pub(super) fn default_classes(self, call: TextRange) -> impl Iterator<Item = &'a DefaultClass> {
        let all = self.code.default_classes.iter();
        all.filter(move |it| it.call == call)
    }
}

impl<'a> Defined<'a> {
    /// The statements of the definition.
    pub(super) fn body(self) -> Option<CodeBody<'a>> {
        let top = CodeBody::top(self.file)?;
        let mut definitions = top.code.definitions.iter();
        let at = definitions.position(|it| std::ptr::eq(it, self.definition))?;
        let within = Within::Definition(at as u32);
        Some(CodeBody { within, ..top })
    }
}

impl<'a> Analysis<'a> {
    /// The top levels of an environment's site manifests, in Puppet's order.
    pub(super) fn site_bodies(self, environment: &Root) -> Vec<CodeBody<'a>> {
        let files = manifests_of(self.snapshot, environment).files.into_iter();
        files.filter_map(CodeBody::top).collect()
    }

    /// The same; `None` if some of it is unseen or cannot be parsed.
    pub(super) fn whole_site(self, environment: &Root) -> Option<Vec<CodeBody<'a>>> {
        let tops = self.site_bodies(environment);
        let is_whole = manifests_of(self.snapshot, environment).unseen.is_none();
        (is_whole && !tops.iter().any(|top| top.code.is_broken)).then_some(tops)
    }

    /// The bodies of a function's definitions in manifests.
    pub(super) fn functions(self, function: &str) -> impl Iterator<Item = CodeBody<'a>> {
        let files = self.snapshot.files_defining(function);
        files.filter_map(CodeBody::top).flat_map(move |top| {
            let definitions = (0..).zip(&top.code.definitions);
            let functions = definitions.filter(move |(_, it)| {
                it.kind == DefinitionKind::Function && *it.name == *function
            });
            functions.map(move |(at, _)| CodeBody {
                within: Within::Definition(at),
                ..top
            })
        })
    }
}

pub(super) fn code(file: &File) -> Option<&CodeFacts> {
    file.facts().code.as_deref()
}
