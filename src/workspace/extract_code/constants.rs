//! The values of a manifest's variables, as far as the surrounding text shows: texts, and results
//! of calls.

use std::sync::Arc;

use crate::puppet::may_leave;
use crate::syntax::puppet::{Call, Expression, ExpressionKind, Lambda, without_colons};
use crate::text::TextRange;
use crate::workspace::code::{DefinitionKind, IncludeFact, IncludeKind, Means, NamePart, Within};

use super::CodeExtraction;

#[derive(Clone)]
pub(super) enum Constant {
    /// The literal texts of a text, with computed parts between them.
    Texts(Vec<String>),
    /// The result of the lookup at this range.
    Found(TextRange),
    /// The value of a parameter of the enclosing class.
    Parameter(Box<str>),
}

impl Constant {
    fn texts(self) -> Option<Vec<String>> {
        match self {
            Constant::Texts(texts) => Some(texts),
            Constant::Found(_) | Constant::Parameter(_) => None,
        }
    }
}

/// Whether a node is a call that looks up a possible list of classes.
fn is_lookup(node: &Expression) -> bool {
    let name = match &node.kind {
        ExpressionKind::Call(call) => call.function.literal(),
        _ => None,
    };
    matches!(name, Some("lookup" | "hiera" | "hiera_array"))
}

impl CodeExtraction<'_> {
    /// The certain value of a computed name.
    pub(super) fn meaning(&self, name: &Expression) -> Option<Means> {
        if is_lookup(name) {
            return Some(Means::List(name.range));
        }
        if let ExpressionKind::Variable(variable) = &name.kind
            && let Some(Constant::Found(call)) = self.constant(variable)
        {
            return Some(Means::List(call));
        }
        let [only] = &self.texts(name)[..] else {
            let parts = self.parts_of_name(name).map(Means::Parts);
            return parts.or_else(|| beginning(name).map(Means::Beginning));
        };
        let class = without_colons(only).to_lowercase();
        Some(Means::Class(Arc::from(&*class)))
    }

    /// The parts of a computed name, if all of them are texts and variables of the node.
    fn parts_of_name(&self, name: &Expression) -> Option<Box<[NamePart]>> {
        let parts = match &name.kind {
            ExpressionKind::Concatenated(parts) => &parts[..],
            _ => std::slice::from_ref(name),
        };
        let parts = parts.iter().map(|part| match &part.kind {
            ExpressionKind::Text(text) => Some(NamePart::Text(Arc::from(&**text))),
            ExpressionKind::Interpolation(inner) => self.variable_of_node(inner),
            _ => self.variable_of_node(part),
        });
        parts.collect()
    }

    /// A variable that is not set in the enclosing code, with the keys after it.
    fn variable_of_node(&self, node: &Expression) -> Option<NamePart> {
        let path = self.path_of(node)?;
        Some(NamePart::Variable(Arc::from(&*path)))
    }

    fn path_of(&self, node: &Expression) -> Option<String> {
        match &node.kind {
            ExpressionKind::Variable(name) => {
                let is_set = |within| self.constants.contains_key(&(within, name.clone()));
                let is_own = match self.within {
                    Within::Top => is_set(Within::Top),
                    Within::Node(_) => is_set(self.within) || is_set(Within::Top),
                    Within::Definition(at) => {
                        let class = self.definitions.get(at as usize)?;
                        let is_class = class.kind == DefinitionKind::Class;
                        let is_builtin = ["name", "title", "module_name"].contains(&&**name);
                        // A parent's variables are unknown.
                        !is_class
                            || is_builtin
                            || class.parent.is_some()
                            || class.parameter(name).is_some()
                            || is_set(self.within)
                    }
                };
                let is_of_class = without_colons(name).contains("::");
                let is_global = name.starts_with("::") || ["facts", "trusted"].contains(&&**name);
                (!is_of_class && (is_global || !is_own)).then(|| name.to_string())
            }
            ExpressionKind::Access(left, keys) => {
                let [key] = &keys[..] else {
                    return None;
                };
                let key = key
                    .literal()
                    .filter(|key| !key.contains(['.', '\'', '"']))?;
                Some(format!("{}.{key}", self.path_of(left)?))
            }
            _ => None,
        }
    }

    /// Records the elements of a list that `each` includes one by one.
    pub(super) fn each(&mut self, call: &Call) {
        let ExpressionKind::NamedAccess(access) = &call.function.kind else {
            return;
        };
        let lambda = call.lambda.as_ref().map(|lambda| &lambda.kind);
        let Some(ExpressionKind::Lambda(lambda)) = lambda.filter(|_| &*access.name == "each")
        else {
            return;
        };
        if let Some(parameter) = self.parameter_of_class(&access.left) {
            self.elements = Some(Constant::Parameter(parameter));
            return;
        }
        let Some(Means::List(list)) = self.meaning(&access.left) else {
            return;
        };
        let [parameter] = &lambda.parameters[..] else {
            return;
        };
        let (ExpressionKind::Parameter(parameter), Some(body)) = (&parameter.kind, &lambda.body)
        else {
            return;
        };
        self.elements = Some(Constant::Found(list));
        let statements = match &body.kind {
            ExpressionKind::Block(statements) => &statements[..],
            _ => std::slice::from_ref(body),
        };
        let is_element = |node: &Expression| {
            matches!(
                &node.kind,
                ExpressionKind::Variable(name) if *name == parameter.name
            )
        };
        let included = statements.iter().find_map(|statement| {
            let ExpressionKind::Call(call) = &statement.kind else {
                return None;
            };
            let kind = match call.function.literal()? {
                "include" => IncludeKind::Include,
                "contain" => IncludeKind::Contain,
                "require" => IncludeKind::Require,
                _ => return None,
            };
            let argument = call.arguments.iter().find(|node| is_element(node))?;
            Some((kind, argument.range))
        });
        if let Some((kind, place)) = included.filter(|_| !may_leave(body)) {
            self.includes.push(IncludeFact {
                means: Some(Means::List(list)),
                ..self.included(kind, None, place)
            });
        }
    }

    /// The parameter of the enclosing class that a variable is, or is an element of.
    pub(super) fn parameter_of_class(&self, node: &Expression) -> Option<Box<str>> {
        let ExpressionKind::Variable(name) = &node.kind else {
            return None;
        };
        let Within::Definition(at) = self.within else {
            return None;
        };
        if let Some(known) = self.constants.get(&(self.within, name.clone())) {
            return match known {
                Some(Constant::Parameter(name)) => Some(name.clone()),
                Some(Constant::Texts(_) | Constant::Found(_)) | None => None,
            };
        }
        let class = self.definitions.get(at as usize)?;
        let is_its = class.kind == DefinitionKind::Class && class.parameter(name).is_some();
        is_its.then(|| name.clone())
    }

    /// A fact about an included class, with its common fields.
    pub(super) fn included(
        &self,
        kind: IncludeKind,
        class: Option<std::sync::Arc<str>>,
        place: TextRange,
    ) -> IncludeFact {
        IncludeFact {
            kind,
            class,
            means: None,
            place,
            within: self.within,
            sets: super::SetParameters::Nothing,
            is_conditional: self.is_conditional,
        }
    }

    /// The literal texts of a computed value: see [`LookupKey::Partly`].
    pub(super) fn texts(&self, node: &Expression) -> Vec<String> {
        let parts = match &node.kind {
            ExpressionKind::Concatenated(parts) => &parts[..],
            _ => std::slice::from_ref(node),
        };
        let mut texts = vec![String::new()];
        for part in parts {
            let known: Option<Vec<String>> = match &part.kind {
                ExpressionKind::Text(text) => Some(vec![text.to_string()]),
                ExpressionKind::Variable(name) => self.constant(name).and_then(Constant::texts),
                ExpressionKind::Interpolation(inner) => match &inner.kind {
                    ExpressionKind::Variable(name) => self.constant(name).and_then(Constant::texts),
                    _ => None,
                },
                _ => None,
            };
            let known = known.unwrap_or_else(|| vec![String::new(); 2]);
            let mut known = known.into_iter();
            if let (Some(last), Some(first)) = (texts.last_mut(), known.next()) {
                last.push_str(&first);
            }
            texts.extend(known);
        }
        texts
    }

    /// The value of a variable, as far as the text shows.
    fn constant(&self, name: &str) -> Option<Constant> {
        let own = |within| self.constants.get(&(within, Box::from(name)));
        let outer = match self.within {
            Within::Node(_) => own(Within::Top),
            Within::Top | Within::Definition(_) => None,
        };
        if let Some(known) = own(self.within).or(outer) {
            return known.clone();
        }
        // A class has the names of itself and of its module as variables.
        let Within::Definition(at) = self.within else {
            return None;
        };
        let class = self.definitions.get(at as usize)?;
        if class.kind != DefinitionKind::Class || class.parameter(name).is_some() {
            return None;
        }
        let value = match name {
            "name" | "title" => &*class.name,
            "module_name" => class.name.split("::").next()?,
            _ => return None,
        };
        Some(Constant::Texts(vec![value.to_owned()]))
    }

    /// Records the value of a variable; one that is set in two places is unknown.
    pub(super) fn set(&mut self, target: &Expression, value: &Expression) {
        if let ExpressionKind::Variable(name) = &target.kind {
            let value = match &value.kind {
                _ if is_lookup(value) => Some(Constant::Found(value.range)),
                ExpressionKind::Concatenated(_) => Some(Constant::Texts(self.texts(value))),
                _ => {
                    let text = value.literal();
                    text.map(|text| Constant::Texts(vec![text.to_owned()]))
                }
            };
            let known = self.constants.entry((self.within, Box::from(&**name)));
            known.and_modify(|it| *it = None).or_insert(value);
        }
    }

    /// Visits a lambda: its variables are its own. The elements of a list are those of its first
    /// parameter.
    pub(super) fn lambda(&mut self, lambda: &Lambda, node: &Expression) {
        let before = self.constants.clone();
        let mut elements = self.elements.take();
        for parameter in &lambda.parameters {
            if let ExpressionKind::Parameter(parameter) = &parameter.kind {
                let name = (self.within, Box::from(&*parameter.name));
                self.constants.insert(name, elements.take());
            }
        }
        node.kind.each(&mut |part| self.node(part));
        self.constants = before;
    }
}

/// The text that a computed name begins with, if it is written.
fn beginning(name: &Expression) -> Option<Arc<str>> {
    let ExpressionKind::Concatenated(parts) = &name.kind else {
        return None;
    };
    let ExpressionKind::Text(text) = &parts.first()?.kind else {
        return None;
    };
    let text = without_colons(text);
    (!text.is_empty()).then(|| Arc::from(text.to_lowercase()))
}
