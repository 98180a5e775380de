//! Extracts the facts of a manifest or template from its tree.

mod constants;
mod fingerprint;
mod other_lookups;
mod resources;

use std::collections::HashMap;
use std::sync::Arc;

use constants::Constant;

use super::cache::TextHash;
use super::code::{
    AliasFact, CallFact, CodeFacts, DefaultClass, DefinitionFact, DefinitionKind, IncludeFact,
    IncludeKind, LookupFact, LookupFunction, LookupKey, Means, NodeFact, NodeMatch, ParameterFact,
    SetParameters, VariableFact, Within,
};
use super::documentation::Documentation;
use super::resources::{ResourceFacts, ResourcesOfData};
use crate::puppet::{may_declare_classes, may_leave};
use crate::syntax::puppet::{
    self, Definition, Dialect, Expression, ExpressionKind, without_colons,
};
use crate::text::TextRange;

pub(super) fn facts(text: &str, dialect: Dialect) -> CodeFacts {
    let parse = puppet::parse(text, dialect);
    let mut extraction = CodeExtraction {
        text,
        comments: &parse.comments,
        definitions: Vec::new(),
        aliases: Vec::new(),
        nodes: Vec::new(),
        lookups: Vec::new(),
        includes: Vec::new(),
        defaults: Vec::new(),
        calls: Vec::new(),
        of_data: Vec::new(),
        changed: Vec::new(),
        constants: HashMap::new(),
        elements: None,
        within: Within::Top,
        is_conditional: false,
        may_leave: ["return", "break", "next"]
            .iter()
            .any(|it| text.contains(it)),
    };
    extraction.node(&parse.root);
    let mut code = CodeFacts {
        definitions: extraction.definitions.into(),
        aliases: extraction.aliases.into(),
        nodes: extraction.nodes.into(),
        lookups: extraction.lookups.into(),
        includes: extraction.includes.into(),
        default_classes: extraction.defaults.into(),
        variables: variables(&parse.root).into(),
        calls: extraction.calls.into(),
        resources: ResourceFacts {
            of_data: extraction.of_data.into(),
            changed: extraction.changed.into(),
        },
        custom_facts: Box::default(),
        is_broken: !parse.problems.is_empty(),
        fingerprint: TextHash::default(),
    };
    code.fingerprint = fingerprint::of(
        &code,
        text,
        (dialect == Dialect::Manifest).then_some(&parse.root),
    );
    code
}

/// The variables that the top scope or a node block sets.
fn variables(root: &Expression) -> Vec<VariableFact> {
    let mut found = Vec::new();
    let mut add = |node: &Expression, in_node_block| {
        node.each_assigned(&mut |name, place| {
            found.push(VariableFact {
                name: Arc::from(name),
                place,
                in_node_block,
            });
        });
    };
    let statements = match &root.kind {
        ExpressionKind::Block(statements) => &statements[..],
        _ => std::slice::from_ref(root),
    };
    for statement in statements {
        let in_node_block = matches!(statement.kind, ExpressionKind::NodeBlock(_));
        statement.each_for_nodes(&mut |node| add(node, in_node_block));
    }
    found
}

struct CodeExtraction<'a> {
    text: &'a str,
    comments: &'a [TextRange],
    definitions: Vec<DefinitionFact>,
    aliases: Vec<AliasFact>,
    nodes: Vec<NodeFact>,
    lookups: Vec<LookupFact>,
    includes: Vec<IncludeFact>,
    defaults: Vec<DefaultClass>,
    calls: Vec<CallFact>,
    of_data: Vec<ResourcesOfData>,
    changed: Vec<Arc<str>>,
    /// The values of variables, by enclosing definition; `None` for unknown ones.
    constants: HashMap<(Within, Box<str>), Option<Constant>>,
    /// The elements passed to the next lambda.
    elements: Option<Constant>,
    within: Within,
    is_conditional: bool,
    /// Whether a statement may leave its enclosing body.
    may_leave: bool,
}

impl CodeExtraction<'_> {
    fn node(&mut self, node: &Expression) {
        let (within, is_conditional) = (self.within, self.is_conditional);
        match &node.kind {
            ExpressionKind::Class(definition) => {
                self.definition(node, DefinitionKind::Class, definition)
            }
            ExpressionKind::Define(definition) => {
                self.definition(node, DefinitionKind::DefinedType, definition);
            }
            ExpressionKind::Function(definition) => {
                self.definition(node, DefinitionKind::Function, definition);
            }
            ExpressionKind::Plan(definition) => {
                self.definition(node, DefinitionKind::Plan, definition)
            }
            ExpressionKind::NodeBlock(block) => {
                self.within = Within::Node(self.nodes.len() as u32);
                self.is_conditional = false;
                self.nodes.push(NodeFact {
                    matches: block.matches.iter().map(node_match).collect(),
                    range: node.own,
                });
            }
            ExpressionKind::TypeAlias(alias) => {
                let start = node.own.start as usize;
                self.aliases.push(AliasFact {
                    name: Arc::from(&*alias.name),
                    place: TextRange::new(start, start + alias.name.len()),
                    expected: alias.place,
                    documentation: self.documentation(self.line_of(start)).text(),
                });
            }
            ExpressionKind::Text(_) | ExpressionKind::Concatenated(_) => self.calls_in_text(node),
            ExpressionKind::Call(call) => {
                let arguments: Vec<&Expression> = call.arguments.iter().collect();
                match &call.function.kind {
                    ExpressionKind::Name(name) => self.call(node, name, &arguments),
                    _ if is_deferred(&call.function) => self.call_by_text(node, &arguments),
                    _ => {}
                }
            }
            ExpressionKind::MethodCall(call) => {
                if let ExpressionKind::NamedAccess(access) = &call.function.kind {
                    if is_deferred(&access.left) {
                        self.call_by_text(node, &call.arguments.iter().collect::<Vec<_>>());
                    }
                    let first = std::iter::once(&access.left);
                    let arguments: Vec<&Expression> = first.chain(&call.arguments).collect();
                    self.call(node, &access.name, &arguments);
                    self.each(call);
                    self.created_each(node.range, call);
                }
            }
            ExpressionKind::Resource(resource) if resource.type_name.literal() == Some("class") => {
                let bodies = || {
                    resource.parts.iter().filter_map(|body| match &body.kind {
                        ExpressionKind::ResourceBody(title, attributes) => {
                            Some((title, attributes))
                        }
                        _ => None,
                    })
                };
                let is_default = |title: &Expression| matches!(title.kind, ExpressionKind::Default);
                let defaults = bodies().filter(|(title, _)| is_default(title));
                let defaults: Vec<&Expression> = defaults.flat_map(|(_, all)| all).collect();
                for (title, attributes) in bodies().filter(|(title, _)| !is_default(title)) {
                    let sets =
                        self.set_parameters(attributes.iter().chain(defaults.iter().copied()));
                    self.include_setting(IncludeKind::Declaration, title, &sets);
                }
            }
            ExpressionKind::ResourceDefaults(resource)
            | ExpressionKind::ResourceOverride(resource) => self.changed(&resource.type_name),
            ExpressionKind::Collect(pair, attributes) if !attributes.is_empty() => {
                self.changed(&pair[0]);
            }
            ExpressionKind::Access(left, keys) => {
                if matches!(&left.kind, ExpressionKind::Reference(name) if &**name == "Class") {
                    keys.iter()
                        .filter(|key| key.literal().is_some())
                        .for_each(|key| self.include(IncludeKind::Reference, key));
                }
            }
            _ => {}
        }
        // Their parts are evaluated only sometimes, or later.
        self.is_conditional |= matches!(
            node.kind,
            ExpressionKind::If(_)
                | ExpressionKind::Unless(_)
                | ExpressionKind::Case(..)
                | ExpressionKind::Selector(..)
                | ExpressionKind::Lambda(_)
                | ExpressionKind::Binary("and" | "or", _)
        );
        let is_block = self.may_leave && matches!(node.kind, ExpressionKind::Block(_));
        if let ExpressionKind::Lambda(lambda) = &node.kind {
            self.lambda(lambda, node);
        } else {
            self.parts(node, is_block);
        }
        if let ExpressionKind::Binary("=", pair) = &node.kind {
            self.set(&pair[0], &pair[1]);
        }
        (self.within, self.is_conditional) = (within, is_conditional);
    }

    fn parts(&mut self, node: &Expression, is_block: bool) {
        node.kind.each(&mut |part| {
            self.node(part);
            // The following statements may not be reached.
            self.is_conditional |= is_block && may_leave(part);
        });
    }

    fn definition(&mut self, node: &Expression, kind: DefinitionKind, definition: &Definition) {
        let documentation = self.documentation(node.own.start as usize);
        let parameters = definition.parameters.iter().filter_map(|parameter| {
            let ExpressionKind::Parameter(fact) = &parameter.kind else {
                return None;
            };
            Some(ParameterFact {
                name: Arc::from(&*fact.name),
                place: parameter.own,
                expected: fact.expected.as_ref().map(|node| node.range),
                default: fact.value.as_ref().map(|node| node.range),
                captures_rest: fact.captures_rest,
                documentation: documentation.parameter(&fact.name),
                fingerprint: TextHash::of(fact.expected.as_ref().map_or(&b""[..], |node| {
                    let text = self.text.as_bytes();
                    text.get(node.range.as_usize()).unwrap_or_default()
                })),
            })
        });
        let parameters = parameters.collect();
        let parent = definition.parent.as_ref().map(|(name, place)| {
            let name = Arc::from(without_colons(name));
            (name, *place)
        });
        self.within = Within::Definition(self.definitions.len() as u32);
        self.is_conditional = false;
        if let Some((name, place)) = &parent {
            let class = Some(Arc::clone(name));
            let included = self.included(IncludeKind::Inherits, class, *place);
            self.includes.push(included);
        }
        self.definitions.push(DefinitionFact {
            kind,
            name: Arc::from(&*definition.name),
            place: definition.place,
            range: node.own,
            parent,
            returns: definition.returns.as_ref().map(|node| node.range),
            parameters,
            documentation: documentation.text(),
        });
    }

    fn documentation(&self, start: usize) -> Documentation {
        Documentation::above(self.text, self.comments, start)
    }

    fn line_of(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    fn call(&mut self, node: &Expression, name: &str, arguments: &[&Expression]) {
        let function = match without_colons(name) {
            "lookup" => LookupFunction::Lookup,
            "hiera" => LookupFunction::Hiera,
            "hiera_array" => LookupFunction::HieraArray,
            "hiera_hash" => LookupFunction::HieraHash,
            "hiera_include" => LookupFunction::HieraInclude,
            "include" => return self.include_all(IncludeKind::Include, arguments),
            "contain" => return self.include_all(IncludeKind::Contain, arguments),
            "require" => return self.include_all(IncludeKind::Require, arguments),
            "create_resources" | "ensure_resource" | "ensure_resources" => {
                if name == "create_resources" {
                    self.created(node.range, arguments);
                }
                return self.declared_by_call(name, arguments);
            }
            "call" => {
                self.call_by_text(node, arguments);
                self.may_declare("call", node);
                return;
            }
            name => {
                self.call_of_other(node, name, arguments);
                self.may_declare(name, node);
                return;
            }
        };
        let Some(&first) = arguments.first() else {
            return;
        };
        let mut options = LookupCallArguments::default();
        // A variable may hold all options, including the name.
        let has_unseen_options = function == LookupFunction::Lookup
            && match arguments {
                [only] => is_opaque(only),
                [_, second] => is_opaque(second),
                _ => false,
            };
        let mut name = Some(first);
        if function != LookupFunction::Lookup {
            options.default = arguments.get(1).copied();
        } else if let ExpressionKind::Hash(entries) = &first.kind {
            name = options.take(entries);
        } else if let [_, hash] = arguments
            && let ExpressionKind::Hash(entries) = &hash.kind
        {
            options.take(entries);
        } else {
            let given = |at: usize| {
                let argument = arguments.get(at).copied();
                argument.filter(|node| !matches!(node.kind, ExpressionKind::Undef))
            };
            options = LookupCallArguments {
                expected: given(1),
                merge: given(2),
                default: given(3),
            };
        }
        let Some(name) = name else {
            return;
        };
        if let (Some(key), Some(default)) = (name.literal(), options.default) {
            self.defaults(key, default, node.range);
        }
        let may_knock_out = has_unseen_options || options.merge.is_some_and(may_set_prefix);
        let may_merge = match function {
            LookupFunction::Hiera => false,
            LookupFunction::Other
            | LookupFunction::HieraArray
            | LookupFunction::HieraHash
            | LookupFunction::HieraInclude => true,
            LookupFunction::Lookup => {
                has_unseen_options || options.merge.is_some_and(|merge| !is_first(merge))
            }
        };
        let keys: &[Expression] = match &name.kind {
            ExpressionKind::List(keys) => keys,
            _ => std::slice::from_ref(name),
        };
        for key in keys {
            self.lookups.push(LookupFact {
                function,
                key: self.key(key),
                place: key.range,
                call: node.range,
                expected: options.expected.map(|node| node.range),
                merge: options.merge.map(|node| node.range),
                may_knock_out,
                may_merge,
                default: options.default.map(|node| node.range),
                within: self.within,
                is_conditional: self.is_conditional,
            });
        }
    }

    /// Records a call of a function that may declare classes.
    fn may_declare(&mut self, name: &str, node: &Expression) {
        if may_declare_classes(name) {
            self.calls.push(CallFact {
                function: Arc::from(name),
                place: node.range,
                within: self.within,
            });
        }
    }

    /// Records the default classes of a call, used if no level has a list of classes.
    fn defaults(&mut self, key: &str, default: &Expression, call: TextRange) {
        let elements = match &default.kind {
            ExpressionKind::List(elements) => &elements[..],
            _ => std::slice::from_ref(default),
        };
        for element in elements {
            if let Some(class) = element.literal() {
                let class = without_colons(class).to_lowercase();
                self.defaults.push(DefaultClass {
                    key: Arc::from(key),
                    class: Arc::from(&*class),
                    place: element.range,
                    call,
                });
            }
        }
    }

    fn key(&self, node: &Expression) -> LookupKey {
        match node.literal() {
            Some(key) => LookupKey::Literal(Arc::from(key)),
            None => LookupKey::of_texts(self.texts(node)),
        }
    }

    fn include_all(&mut self, kind: IncludeKind, arguments: &[&Expression]) {
        for argument in arguments {
            self.include(kind, argument);
        }
    }

    /// The classes that a function declares: those of `create_resources('class', { name => … })`
    /// and `ensure_resource('class', name)`. A computed type may be `class`.
    fn declared_by_call(&mut self, function: &str, arguments: &[&Expression]) {
        let Some((type_name, rest)) = arguments.split_first() else {
            return;
        };
        let literal = type_name.literal().map(without_colons);
        let is_of_classes = literal.is_none_or(|type_name| type_name.eq_ignore_ascii_case("class"));
        let Some(titles) = rest.first().filter(|_| is_of_classes) else {
            return;
        };
        match (&titles.kind, literal) {
            (ExpressionKind::Hash(entries), Some(_)) => {
                for entry in entries {
                    if let ExpressionKind::Entry(pair) = &entry.kind {
                        self.include_setting(
                            IncludeKind::Declaration,
                            &pair[0],
                            &SetParameters::Any,
                        );
                    }
                }
            }
            (_, Some(_)) if function.ends_with("ensure_resource") => {
                self.include_setting(IncludeKind::Declaration, titles, &SetParameters::Any);
            }
            _ => {
                let parameter = self.parameter_of_class(type_name);
                let parameter = parameter.map(|it| Means::Parameter(Arc::from(&*it)));
                self.includes.push(IncludeFact {
                    means: parameter,
                    sets: SetParameters::Any,
                    ..self.included(IncludeKind::Declaration, None, titles.range)
                });
            }
        }
    }

    /// The parameters that the attributes of a declaration set.
    fn set_parameters<'n>(
        &self,
        attributes: impl Iterator<Item = &'n Expression>,
    ) -> SetParameters {
        let mut names = Vec::new();
        for attribute in attributes {
            match &attribute.kind {
                ExpressionKind::Attribute(attribute) => names.push(Arc::from(&*attribute.name)),
                _ => return SetParameters::Any,
            }
        }
        if names.is_empty() {
            SetParameters::Nothing
        } else {
            SetParameters::Parameters(names.into())
        }
    }

    fn include(&mut self, kind: IncludeKind, node: &Expression) {
        self.include_setting(kind, node, &SetParameters::Nothing);
    }

    fn include_setting(&mut self, kind: IncludeKind, node: &Expression, sets: &SetParameters) {
        if let ExpressionKind::List(names) = &node.kind {
            let names = names.iter();
            return names.for_each(|name| self.include_setting(kind, name, sets));
        }
        // `include Class['ntp']` names it as well.
        if let ExpressionKind::Access(left, keys) = &node.kind
            && left.literal() == Some("Class")
        {
            let keys = keys.iter();
            return keys.for_each(|key| self.include_setting(kind, key, sets));
        }
        let class = node.literal().map(|name| {
            let name = without_colons(name).to_lowercase();
            Arc::from(&*name)
        });
        let means = match class {
            Some(_) => None,
            None => self.meaning(node),
        };
        self.includes.push(IncludeFact {
            means,
            sets: sets.clone(),
            ..self.included(kind, class, node.range)
        });
    }
}

#[derive(Default)]
struct LookupCallArguments<'a> {
    expected: Option<&'a Expression>,
    merge: Option<&'a Expression>,
    default: Option<&'a Expression>,
}

impl<'a> LookupCallArguments<'a> {
    /// Reads options given as a hash, which may include the name.
    fn take(&mut self, entries: &'a [Expression]) -> Option<&'a Expression> {
        let mut name = None;
        for entry in entries {
            let ExpressionKind::Entry(pair) = &entry.kind else {
                continue;
            };
            let [key, value] = &**pair;
            match key.literal() {
                Some("name") => name = Some(value),
                Some("value_type") => self.expected = Some(value),
                Some("merge") => self.merge = Some(value),
                Some("default_value") => self.default = Some(value),
                Some(_) | None => {}
            }
        }
        name
    }
}

/// `Deferred`, by which agents call functions.
fn is_deferred(node: &Expression) -> bool {
    matches!(&node.kind, ExpressionKind::Reference(name) if &**name == "Deferred")
}

/// Whether an argument may be a hash of options or something else.
fn is_opaque(node: &Expression) -> bool {
    let is_written = matches!(
        node.kind,
        ExpressionKind::Hash(_)
            | ExpressionKind::List(_)
            | ExpressionKind::Concatenated(_)
            | ExpressionKind::Undef
            | ExpressionKind::Access(..)
            | ExpressionKind::Reference(_)
    );
    !is_written && node.literal().is_none()
}

/// Whether the value of `merge` is the strategy that merges nothing.
fn is_first(merge: &Expression) -> bool {
    merge.literal() == Some("first")
}

/// Whether the value of `merge` may have a `knockout_prefix`.
fn may_set_prefix(merge: &Expression) -> bool {
    let ExpressionKind::Hash(entries) = &merge.kind else {
        return is_opaque(merge);
    };
    let may_be = |entry: &Expression| {
        let key = match &entry.kind {
            ExpressionKind::Entry(pair) => pair[0].literal(),
            _ => None,
        };
        key.is_none_or(|key| key == "knockout_prefix")
    };
    entries.iter().any(may_be)
}

fn node_match(node: &Expression) -> NodeMatch {
    match &node.kind {
        ExpressionKind::Default => NodeMatch::Default,
        ExpressionKind::Regexp(source) => NodeMatch::Pattern(source.clone()),
        _ => NodeMatch::Name(node.literal().unwrap_or_default().into()),
    }
}

#[cfg(test)]
#[path = "extract_code_tests.rs"]
mod tests;
