//! Expressions to types, as `pops/types/type_parser.rb` and `type_factory.rb`.

use std::sync::{Arc, OnceLock, Weak};

use super::ParseError;
use super::expression::{self, Expression, Kind};
use super::model::{
    Alias, AliasBody, EnumCase, EnumType, FloatRange, Range, ResourceType, StringType, TimeRange,
    Type,
};
use super::parameters::{
    Param, callable, disordered, element, float_bound, integer_range, patterns, range, resource,
    ruby_class, size_or_type, time_range, trailing_range, type_of, value_of, wrong_count,
};
use super::time;
use crate::value::Value;

/// Most aliases that may be entered from one another while a type is read.
const MAX_ALIAS_DEPTH: usize = 40;

/// Most parts a type may have after its aliases are entered.
const MAX_PARTS: usize = 20_000;

/// Knows the type aliases of modules.
pub trait Aliases {
    /// The text of the file that defines the alias of this name (`Stdlib::Host`), if there is one:
    /// `type Stdlib::Host = Variant[…]`, comments and all.
    fn source(&self, name: &str) -> Option<String>;
}

/// No aliases but Puppet's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAliases;

impl Aliases for NoAliases {
    fn source(&self, _name: &str) -> Option<String> {
        None
    }
}

const BUILTIN_ALIASES: &[(&str, &str)] = &[
    (
        "Data",
        "Variant[ScalarData,Undef,Hash[String,Data],Array[Data]]",
    ),
    ("RichDataKey", "Variant[String,Numeric]"),
    (
        "RichData",
        "Variant[Scalar,SemVerRange,Binary,Sensitive,Type,TypeSet,URI,Object,Undef,Default,\
         Hash[RichDataKey,RichData],Array[RichData]]",
    ),
    ("Puppet::LookupKey", "RichDataKey"),
    ("Puppet::LookupValue", "RichData"),
];

const RESOURCE_TYPES: &[&str] = &[
    "Component",
    "Exec",
    "File",
    "Filebucket",
    "Group",
    "Node",
    "Notify",
    "Package",
    "Resources",
    "Schedule",
    "Service",
    "Stage",
    "Tidy",
    "User",
    "Whit",
];

pub(super) fn is_builtin_alias(name: &str) -> bool {
    BUILTIN_ALIASES.iter().any(|(known, _)| *known == name)
}

/// The built-in `Data` type.
pub(super) fn data() -> &'static Type {
    static DATA: OnceLock<Type> = OnceLock::new();
    DATA.get_or_init(|| builtin("Data"))
}

/// The built-in `RichData` type.
pub(super) fn rich_data() -> &'static Type {
    static RICH_DATA: OnceLock<Type> = OnceLock::new();
    RICH_DATA.get_or_init(|| builtin("RichData"))
}

fn builtin(name: &str) -> Type {
    parse(name, &NoAliases).unwrap_or(Type::Unit)
}

/// Reads a type expression.
pub(super) fn parse(text: &str, aliases: &dyn Aliases) -> Result<Type, ParseError> {
    // The one text that Puppet's table of common types takes and its parser would not.
    if text == "Array[1]" {
        return Ok(Type::array(Type::Any, Some(Range::at_least(1))));
    }
    let expression = expression::parse(text)?;
    Interpreter::new(aliases).whole(&expression, text)
}

/// Reads the definition of an alias: its name and what it stands for.
pub(super) fn parse_definition(
    text: &str,
    aliases: &dyn Aliases,
) -> Result<(String, Type), ParseError> {
    let (name, expression) = expression::parse_definition(text)?;
    let mut interpreter = Interpreter::new(aliases);
    let resolved = interpreter.define(&name, &expression, text)?;
    Ok((name, resolved))
}

struct Interpreter<'a> {
    aliases: &'a dyn Aliases,
    /// Aliases being resolved, outermost first.
    open: Vec<(String, Arc<AliasBody>)>,
    /// Aliases resolved already.
    done: Vec<(String, Arc<AliasBody>)>,
    parts: usize,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

impl<'a> Interpreter<'a> {
    fn new(aliases: &'a dyn Aliases) -> Interpreter<'a> {
        Interpreter {
            aliases,
            open: Vec::new(),
            done: Vec::new(),
            parts: 0,
        }
    }

    fn whole(&mut self, expression: &Expression, text: &str) -> Parsed<Type> {
        match self.param(expression, text)? {
            Param::Type(t) => Ok(t),
            Param::Integer(_)
            | Param::Float(_)
            | Param::Text(_)
            | Param::Regexp(_)
            | Param::Boolean(_)
            | Param::Default
            | Param::Undef
            | Param::List(_)
            | Param::Hash(_) => Err(invalid(expression, text)),
        }
    }

    fn param(&mut self, expression: &Expression, text: &str) -> Parsed<Param> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(ParseError::new("type expression is too large"));
        }
        Ok(match &expression.kind {
            Kind::Reference(name) => Param::Type(self.reference(name)?),
            Kind::Access(left, keys) => {
                let params = keys
                    .iter()
                    .map(|key| self.param(key, text))
                    .collect::<Parsed<Vec<Param>>>()?;
                let Kind::Reference(name) = &left.kind else {
                    return Err(invalid(expression, text));
                };
                Param::Type(self.access(expression, name, params, text)?)
            }
            Kind::Name(name) | Kind::Text(name) => Param::Text(name.clone()),
            Kind::Regexp(source) => Param::Regexp(source.clone()),
            Kind::Integer(number) => Param::Integer(number.clone()),
            Kind::Float(number) => Param::Float(*number),
            Kind::Boolean(truth) => Param::Boolean(*truth),
            Kind::Default => Param::Default,
            Kind::Undef => Param::Undef,
            Kind::List(elements) => Param::List(
                elements
                    .iter()
                    .map(|e| self.param(e, text))
                    .collect::<Parsed<_>>()?,
            ),
            Kind::Hash(entries) => Param::Hash(
                entries
                    .iter()
                    .map(|(k, v)| Ok((self.param(k, text)?, self.param(v, text)?)))
                    .collect::<Parsed<_>>()?,
            ),
            Kind::Minus(inner) => self.param(inner, text)?.negated()?,
            Kind::Heredoc(inner) => self.param(inner, text)?,
            Kind::Alias(name, body) => {
                // Nothing finds the alias by its name, itself neither.
                let resolved = super::normalize(&self.whole(body, text)?);
                let body = Arc::new(AliasBody::default());
                let _ = body.resolved.set(resolved);
                Param::Type(strong(name, &body))
            }
            Kind::Resource | Kind::Other => return Err(invalid(expression, text)),
        })
    }

    fn reference(&mut self, name: &str) -> Parsed<Type> {
        let relative = name.trim_start_matches("::");
        if let Some(t) = plain(relative) {
            return Ok(t);
        }
        self.named(relative, || Arc::from(name))
    }

    /// A name that is not one of Puppet's types; `text` is what a reference to nothing shows.
    fn named(&mut self, name: &str, text: impl Fn() -> Arc<str>) -> Parsed<Type> {
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
            let expression = expression::parse(source)?;
            return self.define(known, &expression, source);
        }
        if let Some(resource) = RESOURCE_TYPES.iter().find(|r| same_name(r, name)) {
            return Ok(Type::Resource(Some(Arc::new(ResourceType {
                name: (*resource).into(),
                title: None,
            }))));
        }
        if same_name(name, "Deferred") {
            return Ok(Type::Object(Some("Deferred".into())));
        }
        let Some(source) = self.aliases.source(name) else {
            return Ok(Type::Reference(text()));
        };
        if self.open.len() >= MAX_ALIAS_DEPTH {
            return Err(ParseError::new("type aliases are nested too deeply"));
        }
        let (defined, expression) = expression::parse_definition(&source)?;
        self.define(&defined, &expression, &source)
    }

    fn define(&mut self, name: &str, expression: &Expression, text: &str) -> Parsed<Type> {
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
        // The lock is ours alone until now.
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
    ) -> Parsed<Type> {
        let refuse = || invalid(expression, text);
        let count = params.len();
        let lower = name.to_ascii_lowercase();
        let only = |shown: &str, required: &str, params: &mut Vec<Param>| match params.pop() {
            Some(param) if params.is_empty() => Ok(param),
            _ => Err(wrong_count(shown, required, count)),
        };
        let a_type = |param: &Param| match param {
            Param::Type(t) => Ok(t.clone()),
            _ => Err(refuse()),
        };
        Ok(match lower.as_str() {
            "array" => match params.as_slice() {
                [Param::Type(element)] => Type::array(element.clone(), None),
                [_] => return Err(refuse()),
                [Param::Type(element), size] => {
                    Type::array(element.clone(), Some(size_or_type(size, &refuse)?))
                }
                [low, high] => Type::array(Type::Default, Some(range(low, high, &refuse)?)),
                [element, low, high] => {
                    let element = a_type(element)?;
                    Type::array(element, Some(range(low, high, &refuse)?))
                }
                _ => return Err(wrong_count("Array", "1 to 3", count)),
            },
            "hash" => match params.as_slice() {
                [Param::Type(key), Param::Type(value)] => {
                    Type::hash(key.clone(), value.clone(), None)
                }
                [low, high] => Type::hash(
                    Type::Default,
                    Type::Default,
                    Some(range(low, high, &refuse)?),
                ),
                [key, value, size] => {
                    let size = size_or_type(size, &refuse)?;
                    Type::hash(a_type(key)?, a_type(value)?, Some(size))
                }
                [key, value, low, high] => {
                    let size = range(low, high, &refuse)?;
                    Type::hash(a_type(key)?, a_type(value)?, Some(size))
                }
                _ => return Err(wrong_count("Hash", "2 to 4", count)),
            },
            "collection" | "string" => {
                let size = match params.as_slice() {
                    [size] => size_or_type(size, &refuse)?,
                    [low, high] => range(low, high, &refuse)?,
                    _ => {
                        let shown = if lower == "string" {
                            "String"
                        } else {
                            "Collection"
                        };
                        return Err(wrong_count(shown, "1 to 2", count));
                    }
                }
                .to_size();
                if lower == "string" {
                    Type::String(StringType::Size(size))
                } else {
                    Type::Collection(Some(size))
                }
            }
            "integer" => match params.as_slice() {
                [Param::Default] => Type::integer(),
                [low @ Param::Integer(_)] => Type::Integer(range(low, &Param::Default, &refuse)?),
                [_] => return Err(refuse()),
                [low, high] => Type::Integer(integer_range(low, high, &refuse)?),
                _ => return Err(wrong_count("Integer", "1 or 2", count)),
            },
            "float" => match params.as_slice() {
                [Param::Default | Param::Integer(_) | Param::Float(_)] | [_, _] => {
                    let bound = |param: Option<&Param>| param.map_or(Ok(None), float_bound);
                    let from = bound(params.first())?;
                    let to = bound(params.get(1))?;
                    if let (Some(from), Some(to)) = (from, to)
                        && from > to
                    {
                        return Err(disordered(&super::ruby_float(from), &super::ruby_float(to)));
                    }
                    Type::Float(FloatRange { from, to })
                }
                [_] => return Err(refuse()),
                _ => return Err(wrong_count("Float", "1 or 2", count)),
            },
            "boolean" => match only("Boolean", "1", &mut params)? {
                Param::Boolean(truth) => Type::Boolean(Some(truth)),
                _ => return Err(ParseError::new("Boolean parameter must be true or false")),
            },
            "enum" => {
                let mut case = EnumCase::Sensitive;
                if let Some(Param::Boolean(insensitive)) = params.last() {
                    if *insensitive {
                        case = EnumCase::Insensitive;
                    }
                    params.pop();
                }
                if params.is_empty() {
                    return Err(wrong_count("Enum", "1 or more", 0));
                }
                let values = params
                    .into_iter()
                    .map(|param| match param {
                        Param::Text(text) => Ok(Arc::from(text)),
                        _ => Err(ParseError::new(
                            "Enum parameters must be identifiers or strings",
                        )),
                    })
                    .collect::<Parsed<Vec<Arc<str>>>>()?;
                Type::Enum(Arc::new(EnumType::new(values, case)))
            }
            "pattern" => Type::Pattern(patterns(params)?.into()),
            "regexp" => match only("Regexp", "1", &mut params)? {
                Param::Regexp(source) | Param::Text(source) => Type::Regexp(Some(source.into())),
                other => {
                    return Err(ParseError::new(&format!(
                        "no implicit conversion of {} into String",
                        ruby_class(&other)
                    )));
                }
            },
            "variant" => {
                let types = params.iter().map(a_type).collect::<Parsed<Vec<Type>>>()?;
                Type::variant(types)
            }
            "optional" | "notundef" => {
                let shown = if lower == "optional" {
                    "Optional"
                } else {
                    "NotUndef"
                };
                let required = if lower == "optional" { "1" } else { "0 to 1" };
                let inner = match only(shown, required, &mut params)? {
                    Param::Text(text) => Type::String(StringType::Value(text.into())),
                    param => a_type(&param)?,
                };
                if lower == "optional" {
                    Type::Optional(Some(Arc::new(inner)))
                } else {
                    Type::not_undef(inner)
                }
            }
            "type" => Type::Type(Some(Arc::new(a_type(&only("Type", "1", &mut params)?)?))),
            "iterable" => Type::Iterable(Some(Arc::new(a_type(&only(
                "Iterable",
                "1",
                &mut params,
            )?)?))),
            "iterator" => Type::Iterator(Some(Arc::new(a_type(&only(
                "Iterator",
                "1",
                &mut params,
            )?)?))),
            "sensitive" => {
                let inner = a_type(&only("Sensitive", "0 to 1", &mut params)?)?;
                Type::Sensitive(Arc::new(inner.generalize()))
            }
            "init" => {
                let inner = a_type(&params.remove(0))?;
                let arguments: Vec<Value> = params.into_iter().map(value_of).collect();
                Type::Init(Some(Arc::new(inner)), arguments.into())
            }
            "tuple" => {
                let size = trailing_range(&mut params, &refuse)?;
                let types = params.into_iter().map(type_of).collect();
                Type::Tuple(types, size.map(|size| size.to_size()))
            }
            "struct" => match only("Struct", "1", &mut params)? {
                Param::Hash(entries) => Type::Struct(
                    entries
                        .into_iter()
                        .map(|(key, value)| element(key, type_of(value)))
                        .collect::<Parsed<_>>()?,
                ),
                _ => return Err(refuse()),
            },
            "callable" => callable(params, &refuse)?,
            "runtime" => match params.as_slice() {
                [Param::Text(runtime), Param::Text(class)] => {
                    Type::Runtime(Some(runtime.as_str().into()), Some(class.as_str().into()))
                }
                [_, _] => return Err(refuse()),
                _ => return Err(wrong_count("Runtime", "2", count)),
            },
            "timespan" => {
                let span = |text: &str| time::parse_timespan(text, time::TIMESPAN_FORMATS);
                Type::Timespan(time_range("Timespan", &params, span, TimeRange::spans)?)
            }
            "timestamp" => {
                let stamp = |text: &str| time::parse_timestamp(text, None, None);
                Type::Timestamp(time_range("Timestamp", &params, stamp, TimeRange::stamps)?)
            }
            "semver" => {
                let ranges = params
                    .into_iter()
                    .map(|param| match param {
                        Param::Text(text) => Ok(Arc::from(text)),
                        _ => Err(refuse()),
                    })
                    .collect::<Parsed<Vec<Arc<str>>>>()?;
                Type::SemVer(ranges.into())
            }
            "uri" => match only("URI", "1", &mut params)? {
                Param::Text(text) => Type::Uri(Some(super::uri::parameters_text(&text).into())),
                _ => return Err(refuse()),
            },
            "class" => match only("Class", "1", &mut params)? {
                Param::Text(class) => Type::Class(Some(class.trim_start_matches("::").into())),
                _ => return Err(refuse()),
            },
            "resource" => resource(params, count)?,
            "object" | "typeset" => {
                only("Object", "1", &mut params)?;
                Type::Object(None)
            }
            "any" | "data" | "catalogentry" | "scalar" | "undef" | "numeric" | "default"
            | "semverrange" => return Err(unparameterized(name)),
            _ => {
                let source = expression.source(text);
                let relative = name.trim_start_matches("::");
                if plain(relative).is_some() {
                    return Err(unparameterized(name));
                }
                match self.named(relative, || Arc::from(&*source))? {
                    Type::Resource(Some(resource)) => {
                        let title = match only(name, "1", &mut params)? {
                            Param::Text(title) => Some(title.into()),
                            _ => return Err(refuse()),
                        };
                        Type::Resource(Some(Arc::new(ResourceType {
                            name: resource.name.clone(),
                            title,
                        })))
                    }
                    reference @ Type::Reference(_) => reference,
                    _ => return Err(unparameterized(name)),
                }
            }
        })
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

fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// A variant that names the alias it defines says nothing by it.
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

/// Puppet's own types by name, without parameters.
fn plain(name: &str) -> Option<Type> {
    Some(match name.to_ascii_lowercase().as_str() {
        "integer" => Type::integer(),
        "float" => Type::float(),
        "numeric" => Type::Numeric,
        "init" => Type::Init(None, Arc::new([])),
        "iterable" => Type::Iterable(None),
        "iterator" => Type::Iterator(None),
        "string" => Type::String(StringType::Any),
        "binary" => Type::Binary,
        "sensitive" => Type::Sensitive(Arc::new(Type::Any)),
        "enum" => Type::Enum(Arc::new(EnumType::new(Vec::new(), EnumCase::Sensitive))),
        "boolean" => Type::Boolean(None),
        "pattern" => Type::Pattern(Arc::new([])),
        "regexp" => Type::Regexp(None),
        "array" => Type::any_array(),
        "hash" => Type::any_hash(),
        "class" => Type::Class(None),
        "resource" => Type::Resource(None),
        "collection" => Type::Collection(None),
        "scalar" => Type::Scalar,
        "scalardata" => Type::ScalarData,
        "catalogentry" => Type::CatalogEntry,
        "undef" => Type::Undef,
        "notundef" => Type::NotUndef(None),
        "default" => Type::Default,
        "any" => Type::Any,
        "variant" => Type::Variant(Arc::new([])),
        "optional" => Type::Optional(None),
        "runtime" => Type::Runtime(None, None),
        "type" => Type::Type(None),
        "tuple" => Type::Tuple(Arc::new([]), None),
        "struct" => Type::Struct(Arc::new([])),
        "object" => Type::Object(None),
        "typereference" => Type::Reference("UnresolvedReference".into()),
        "typeset" => Type::TypeSet,
        "callable" => Type::Callable(None),
        "semver" => Type::SemVer(Arc::new([])),
        "semverrange" => Type::SemVerRange,
        "timestamp" => Type::Timestamp(TimeRange::default()),
        "timespan" => Type::Timespan(TimeRange::default()),
        "uri" => Type::Uri(None),
        _ => return None,
    })
}

fn invalid(expression: &Expression, text: &str) -> ParseError {
    ParseError::new(&format!(
        "The expression <{}> is not a valid type specification.",
        expression.source(text)
    ))
}

fn unparameterized(name: &str) -> ParseError {
    ParseError::new(&format!("Not a parameterized type <{name}>"))
}
