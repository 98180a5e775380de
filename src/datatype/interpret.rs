//! Turns expressions into types, like `pops/types/type_parser.rb` and `type_factory.rb`.

use std::sync::{Arc, LazyLock, Weak};

use super::ParseError;
use super::access::{only, parameterized, unparameterized};
use super::builtin::{BUILTIN_ALIASES, RESOURCE_TYPES, is_builtin_alias, plain, same_name};
use super::model::{Alias, AliasBody, ObjectType, Range, ResourceType, Type};
use super::parameters::Param;
use crate::syntax::puppet::{self, Expression, ExpressionKind, Prefix, without_colons};

const MAX_ALIAS_DEPTH: usize = 40;

/// Maximum length of an expression in bytes.
const MAX_LENGTH: usize = 256 * 1024;

/// Maximum number of parts of a type with its aliases expanded.
const MAX_PARTS: usize = 20_000;

/// Provides the type aliases of modules.
pub trait Aliases {
    /// The text of the file that defines the alias of this name (`Stdlib::Host`), if it exists:
    /// `type Stdlib::Host = Variant[…]`, with its comments.
    fn source(&self, name: &str) -> Option<String>;

    /// Whether the types that Puppet loads from its own files are visible.
    fn has_system_types(&self) -> bool {
        true
    }
}

/// No aliases but Puppet's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAliases;

impl Aliases for NoAliases {
    fn source(&self, _name: &str) -> Option<String> {
        None
    }

    fn has_system_types(&self) -> bool {
        false
    }
}

pub(super) static DATA: LazyLock<Type> = LazyLock::new(|| super::parse_known("Data"));

pub(super) static RICH_DATA: LazyLock<Type> = LazyLock::new(|| super::parse_known("RichData"));

pub(super) fn parse(text: &str, aliases: &dyn Aliases) -> Result<Type, ParseError> {
    // Puppet's table of common types has this text, which its parser would refuse.
    if text == "Array[1]" {
        return Ok(Type::array(Type::Any, Some(Range::at_least(1))));
    }
    let expression = expression(text)?;
    Interpreter::new(aliases).whole(&expression, text)
}

fn expression(text: &str) -> Result<Expression, ParseError> {
    check_length(text)?;
    puppet::parse_strictly(text).map_err(|problem| ParseError::of(&problem, text))
}

/// The name and the type of `type Name = expression`, the form of a module's `types/*.pp`.
fn definition(text: &str) -> Result<(Box<str>, Expression), ParseError> {
    check_length(text)?;
    let alias = puppet::parse_alias(text).map_err(|problem| ParseError::of(&problem, text))?;
    match alias.kind {
        ExpressionKind::TypeAlias(alias) => Ok((alias.name, alias.body)),
        _ => Err(ParseError::new("not a type alias")),
    }
}

fn check_length(text: &str) -> Result<(), ParseError> {
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new("type expression is too long"));
    }
    Ok(())
}

struct Interpreter<'a> {
    aliases: &'a dyn Aliases,
    /// Aliases being resolved, outermost first.
    open: Vec<(String, Arc<AliasBody>)>,
    done: Vec<(String, Arc<AliasBody>)>,
    parts: usize,
}

pub(super) type Interpreted<T> = Result<T, ParseError>;

impl<'a> Interpreter<'a> {
    fn new(aliases: &'a dyn Aliases) -> Interpreter<'a> {
        Interpreter {
            aliases,
            open: Vec::new(),
            done: Vec::new(),
            parts: 0,
        }
    }

    fn whole(&mut self, expression: &Expression, text: &str) -> Interpreted<Type> {
        match self.param(expression, text)? {
            Param::Type(t) => Ok(t),
            _ => Err(invalid(expression, text)),
        }
    }

    fn param(&mut self, expression: &Expression, text: &str) -> Interpreted<Param> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(ParseError::new("type expression is too large"));
        }
        Ok(match &expression.kind {
            ExpressionKind::Reference(name) => Param::Type(self.reference(name)?),
            ExpressionKind::Access(left, keys) => {
                let params = keys
                    .iter()
                    .map(|key| self.param(key, text))
                    .collect::<Interpreted<Vec<Param>>>()?;
                let ExpressionKind::Reference(name) = &left.kind else {
                    return Err(invalid(expression, text));
                };
                Param::Type(self.access(expression, name, params, text)?)
            }
            ExpressionKind::Name(name) | ExpressionKind::Text(name) => {
                Param::Text(name.to_string())
            }
            ExpressionKind::Regexp(source) => Param::Regexp(source.to_string()),
            ExpressionKind::Integer(written) => {
                Param::Integer(puppet::integer(written).ok_or_else(|| invalid(expression, text))?)
            }
            ExpressionKind::Float(number) => Param::Float(*number),
            ExpressionKind::Boolean(truth) => Param::Boolean(*truth),
            ExpressionKind::Default => Param::Default,
            ExpressionKind::Undef => Param::Undef,
            ExpressionKind::List(elements) => Param::List(
                elements
                    .iter()
                    .map(|e| self.param(e, text))
                    .collect::<Interpreted<_>>()?,
            ),
            ExpressionKind::Hash(entries) => {
                let mut all: Vec<(Param, Param)> = Vec::with_capacity(entries.len());
                for entry in entries {
                    let ExpressionKind::Entry(pair) = &entry.kind else {
                        continue;
                    };
                    let key = self.param(&pair[0], text)?;
                    let value = self.param(&pair[1], text)?;
                    // Of equal keys the last one's value is used, in the first one's position.
                    let is_same = |known: &Param| match (known, &key) {
                        (Param::Text(known), Param::Text(key)) => known == key,
                        (Param::Type(known), Param::Type(key)) => known == key,
                        _ => false,
                    };
                    match all.iter_mut().find(|(known, _)| is_same(known)) {
                        Some((_, known)) => *known = value,
                        None => all.push((key, value)),
                    }
                }
                Param::Hash(all)
            }
            ExpressionKind::Unary(Prefix::Minus, inner) => self.param(inner, text)?.negated()?,
            ExpressionKind::Heredoc(heredoc) => self.param(&heredoc.text, text)?,
            ExpressionKind::TypeAlias(alias) => {
                // Its name is not in scope, not even in its own body.
                let resolved = super::normalize(&self.whole(&alias.body, text)?);
                let body = Arc::new(AliasBody::default());
                let _ = body.resolved.set(resolved);
                Param::Type(strong(&alias.name, &body))
            }
            _ => return Err(invalid(expression, text)),
        })
    }

    fn reference(&mut self, name: &str) -> Interpreted<Type> {
        let relative = without_colons(name);
        if let Some(t) = plain(relative) {
            return Ok(t);
        }
        self.named(relative, || Arc::from(name))
    }

    /// The type of a name that is not one of Puppet's types; `text` is printed if it does not
    /// exist.
    fn named(&mut self, name: &str, text: impl Fn() -> Arc<str>) -> Interpreted<Type> {
        if let Some((known, body)) = self.open.iter().find(|(open, _)| same_name(open, name)) {
            return Ok(Type::Alias(Alias {
                name: known.as_str().into(),
                strong: None,
                weak: Arc::downgrade(body),
            }));
        }
        if let Some((known, body)) = self.done.iter().find(|(done, _)| same_name(done, name)) {
            return Ok(strong(known, body));
        }
        if let Some((known, source)) = BUILTIN_ALIASES
            .iter()
            .find(|(known, _)| same_name(known, name))
        {
            let expression = expression(source)?;
            return self.define(known, &expression, source);
        }
        if let Some(resource) = RESOURCE_TYPES.iter().find(|r| same_name(r, name)) {
            return Ok(Type::Resource(Some(Arc::new(ResourceType {
                name: (*resource).into(),
                title: None,
            }))));
        }
        let objects = ObjectType::ALL.into_iter();
        let mut objects = objects.filter(|o| !o.is_of_file() || self.aliases.has_system_types());
        if let Some(object) = objects.find(|o| same_name(o.name(), name)) {
            return Ok(Type::Object(Some(object)));
        }
        let Some(source) = self.aliases.source(name) else {
            return Ok(Type::Reference(text()));
        };
        if self.open.len() >= MAX_ALIAS_DEPTH {
            return Err(ParseError::new("type aliases are nested too deeply"));
        }
        let (defined, expression) = definition(&source)?;
        self.define(&defined, &expression, &source)
    }

    fn define(&mut self, name: &str, expression: &Expression, text: &str) -> Interpreted<Type> {
        let body = Arc::new(AliasBody::default());
        self.open.push((name.to_owned(), body.clone()));
        let resolved = self.whole(expression, text);
        self.open.pop();
        // Puppet's own aliases are resolved from references, which are not normalized.
        let resolved = if is_builtin_alias(name) {
            resolved?
        } else {
            without_itself(name, super::normalize(&resolved?))
        };
        let real = match &resolved {
            Type::Variant(types) => !types.is_empty(),
            Type::Alias(alias) => *alias.name != *name,
            _ => true,
        };
        if !real {
            return Err(ParseError::new(&format!(
                "Type alias '{name}' cannot be resolved to a real type"
            )));
        }
        // The body is not shared yet, so it is always empty here.
        let _ = body.resolved.set(resolved);
        self.done.push((name.to_owned(), body.clone()));
        Ok(strong(name, &body))
    }

    fn access(
        &mut self,
        expression: &Expression,
        name: &str,
        mut params: Vec<Param>,
        text: &str,
    ) -> Interpreted<Type> {
        let refuse = || invalid(expression, text);
        if let Some(t) = parameterized(name, &mut params, &refuse)? {
            return Ok(t);
        }
        let source = expression.source(text);
        match self.named(without_colons(name), || Arc::from(&*source))? {
            Type::Resource(Some(resource)) => match only(name, "1", &mut params)? {
                Param::Text(title) => Ok(Type::Resource(Some(Arc::new(ResourceType {
                    name: resource.name.clone(),
                    title: Some(title.into()),
                })))),
                _ => Err(refuse()),
            },
            reference @ Type::Reference(_) => Ok(reference),
            // An error type with type parameters.
            Type::Object(Some(ObjectType::Error)) => Ok(Type::Reference(Arc::from(&*source))),
            Type::Object(Some(ObjectType::Deferred)) => Err(ParseError::new(
                "The Deferred-Type cannot be parameterized using []",
            )),
            _ => Err(unparameterized(name)),
        }
    }
}

fn strong(name: &str, body: &Arc<AliasBody>) -> Type {
    let weak: Weak<AliasBody> = Arc::downgrade(body);
    Type::Alias(Alias {
        name: name.into(),
        strong: Some(body.clone()),
        weak,
    })
}

/// Removes the alias from the variant that defines it.
fn without_itself(name: &str, resolved: Type) -> Type {
    let Type::Variant(types) = &resolved else {
        return resolved;
    };
    let itself = |t: &Type| matches!(t, Type::Alias(alias) if *alias.name == *name);
    if !types.iter().any(itself) {
        return resolved;
    }
    Type::variant(types.iter().filter(|t| !itself(t)).cloned())
}

fn invalid(expression: &Expression, text: &str) -> ParseError {
    ParseError::new(&format!(
        "The expression <{}> is not a valid type specification.",
        expression.source(text)
    ))
}
