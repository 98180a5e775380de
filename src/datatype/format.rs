//! Types as Puppet prints them (`pops/types/type_formatter.rb`).

use std::fmt;

use num_bigint::BigInt;

use super::builtin::is_builtin_alias;
use super::model::{
    Alias, CallableType, Element, EnumCase, EnumType, FloatRange, Presence, Range, StringType, Type,
};
use super::quote::quote;
use crate::regexp::slashed;
use crate::value::float_to_s;

const TYPE_SET: &str = "TypeSet[{pcore_uri => 'http://puppet.com/2016.1/pcore', \
    pcore_version => '1.0.0', name_authority => 'http://puppet.com/2016.1/runtime', \
    name => 'DefaultTypeSet', version => '0.0.0'}]";

/// Maximum nesting of a type that is printed in full.
const MAX_DEPTH: usize = 120;

impl fmt::Display for Type {
    /// The type's text; an alias is expanded once, aliases inside it are printed by name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.printed().out)
    }
}

impl Type {
    fn printed(&self) -> Printer {
        let mut printer = Printer::new(match self {
            Type::Alias(_) | Type::Object(_) => Expansion::Full,
            _ => Expansion::Names,
        });
        printer.print(self);
        printer
    }

    /// Whether the printed type names a type that does not exist.
    #[must_use]
    pub fn has_reference(&self) -> bool {
        self.printed().has_reference
    }

    /// Whether the type, or an alias in it, names a type that does not exist.
    #[must_use]
    pub fn rests_on_reference(&self) -> bool {
        let mut printer = Printer::new(Expansion::Full);
        printer.print(self);
        printer.has_reference
    }

    pub(super) fn expanded(&self) -> String {
        let mut printer = Printer::new(Expansion::Full);
        printer.print(self);
        printer.out
    }

    pub(super) fn simple_name(&self) -> &'static str {
        match self {
            Type::Any => "Any",
            Type::Unit => "Unit",
            Type::Undef => "Undef",
            Type::Default => "Default",
            Type::Scalar => "Scalar",
            Type::ScalarData => "ScalarData",
            Type::Numeric => "Numeric",
            Type::Binary => "Binary",
            Type::CatalogEntry => "CatalogEntry",
            Type::SemVerRange => "SemVerRange",
            Type::TypeSet => "TypeSet",
            Type::Integer(_) => "Integer",
            Type::Float(_) => "Float",
            Type::String(_) => "String",
            Type::Enum(_) => "Enum",
            Type::Pattern(_) => "Pattern",
            Type::Regexp(_) => "Regexp",
            Type::Boolean(_) => "Boolean",
            Type::Timestamp(_) => "Timestamp",
            Type::Timespan(_) => "Timespan",
            Type::SemVer(_) => "SemVer",
            Type::Uri(_) => "URI",
            Type::Collection(_) => "Collection",
            Type::Array(..) => "Array",
            Type::Hash(..) => "Hash",
            Type::Tuple(..) => "Tuple",
            Type::Struct(_) => "Struct",
            Type::Variant(_) => "Variant",
            Type::Optional(_) => "Optional",
            Type::NotUndef(_) => "NotUndef",
            Type::Type(_) => "Type",
            Type::Sensitive(_) => "Sensitive",
            Type::Iterable(_) => "Iterable",
            Type::Iterator(_) => "Iterator",
            Type::Init(..) => "Init",
            Type::Callable(_) => "Callable",
            Type::Class(_) => "Class",
            Type::Resource(_) => "Resource",
            Type::Runtime(..) => "Runtime",
            Type::Object(_) => "Object",
            Type::Reference(_) => "TypeReference",
            Type::Alias(_) => "TypeAlias",
        }
    }

    /// The name; aliases and object types have their own.
    pub(super) fn name(&self) -> String {
        match self {
            Type::Alias(alias) => alias.name.to_string(),
            Type::Object(Some(object)) => object.name().to_owned(),
            _ => self.simple_name().to_owned(),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Expansion {
    Names,
    Full,
}

struct Printer {
    out: String,
    expansion: Expansion,
    open: Vec<String>,
    depth: usize,
    /// Whether a [`Type::Reference`] was printed.
    has_reference: bool,
}

impl Printer {
    fn new(expansion: Expansion) -> Printer {
        Printer {
            out: String::new(),
            expansion,
            open: Vec::new(),
            depth: 0,
            has_reference: false,
        }
    }

    fn print(&mut self, t: &Type) {
        if self.depth > MAX_DEPTH {
            self.out.push('…');
            return;
        }
        self.depth += 1;
        let text = self.parameters(t);
        self.depth -= 1;
        self.out.push_str(&text);
    }

    fn text(&mut self, t: &Type) -> String {
        let outer = std::mem::take(&mut self.out);
        self.print(t);
        std::mem::replace(&mut self.out, outer)
    }

    /// The whole text of a type.
    fn parameters(&mut self, t: &Type) -> String {
        let name = t.simple_name();
        let listed = |parts: Vec<String>| {
            if parts.is_empty() {
                name.to_owned()
            } else {
                format!("{name}[{}]", parts.join(", "))
            }
        };
        match t {
            Type::Any
            | Type::Unit
            | Type::Undef
            | Type::Default
            | Type::Scalar
            | Type::ScalarData
            | Type::Numeric
            | Type::Binary
            | Type::CatalogEntry
            | Type::SemVerRange => name.to_owned(),
            Type::TypeSet => TYPE_SET.to_owned(),
            Type::Integer(range) => listed(bounds(Some(range))),
            Type::Float(range) => listed(float_bounds(*range)),
            Type::String(StringType::Size(range)) => listed(bounds(Some(range))),
            Type::String(StringType::Any | StringType::Value(_)) => name.to_owned(),
            Type::Enum(allowed) => listed(enum_parts(allowed)),
            Type::Pattern(patterns) => {
                listed(patterns.iter().map(|p| slashed(&p.source)).collect())
            }
            Type::Regexp(pattern) => listed(pattern.iter().map(|p| slashed(p)).collect()),
            Type::Boolean(value) => listed(value.iter().map(bool::to_string).collect()),
            Type::Timestamp(range) => listed(times(range.stamps())),
            Type::Timespan(range) => listed(times(range.spans())),
            Type::SemVer(ranges) => listed(ranges.iter().map(|r| format!("'{r}'")).collect()),
            Type::Uri(parameters) => listed(parameters.iter().map(ToString::to_string).collect()),
            Type::Collection(size) => listed(bounds(size.as_ref())),
            Type::Array(element, size) => {
                if **element == Type::Any && size.is_none() {
                    return name.to_owned();
                }
                listed(self.collection(&[element.as_ref()], size.as_ref()))
            }
            Type::Hash(pair, size) => {
                if **pair == (Type::Any, Type::Any) && size.is_none() {
                    return name.to_owned();
                }
                listed(self.collection(&[&pair.0, &pair.1], size.as_ref()))
            }
            Type::Tuple(types, _) if types.is_empty() => name.to_owned(),
            Type::Tuple(types, size) => {
                let mut parts: Vec<String> = types.iter().map(|t| self.text(t)).collect();
                parts.extend(bounds(size.as_ref()));
                listed(parts)
            }
            Type::Struct(elements) if elements.is_empty() => name.to_owned(),
            Type::Struct(elements) => {
                let entries: Vec<String> = elements.iter().map(|e| self.element(e)).collect();
                format!("Struct[{{{}}}]", entries.join(", "))
            }
            Type::Variant(types) => listed(types.iter().map(|t| self.text(t)).collect()),
            Type::Optional(inner) | Type::NotUndef(inner) => {
                if let Some(Type::String(StringType::Value(text))) = inner.as_deref() {
                    return format!("{name}[{}]", quote(text));
                }
                listed(inner.iter().map(|t| self.text(t)).collect())
            }
            Type::Type(inner) | Type::Iterable(inner) | Type::Iterator(inner) => {
                listed(inner.iter().map(|t| self.text(t)).collect())
            }
            Type::Sensitive(inner) if **inner == Type::Any => name.to_owned(),
            Type::Sensitive(inner) => listed(vec![self.text(inner)]),
            Type::Init(inner, arguments) => {
                let mut parts: Vec<String> = inner.iter().map(|t| self.text(t)).collect();
                parts.extend(arguments.iter().map(super::strings::programmatic));
                listed(parts)
            }
            Type::Callable(None) => name.to_owned(),
            Type::Callable(Some(callable)) => self.callable(callable),
            Type::Class(class) => listed(class.iter().map(ToString::to_string).collect()),
            Type::Resource(None) => name.to_owned(),
            Type::Resource(Some(resource)) => match &resource.title {
                None => resource.name.to_string(),
                Some(title) => format!("{}[{}]", resource.name, quote(title)),
            },
            Type::Runtime(None, None) => name.to_owned(),
            Type::Runtime(runtime, class) => listed(vec![
                runtime.as_deref().unwrap_or("undef").to_owned(),
                class.as_deref().map_or("undef".to_owned(), quote),
            ]),
            Type::Object(None) if self.depth > 1 => "Object".to_owned(),
            Type::Object(None) => "Object[{}]".to_owned(),
            Type::Object(Some(object)) => match self.expansion {
                Expansion::Full => object.definition().to_owned(),
                Expansion::Names => object.name().to_owned(),
            },
            Type::Reference(text) => {
                self.has_reference = true;
                format!("TypeReference[{}]", quote(text))
            }
            Type::Alias(alias) => self.alias(alias),
        }
    }

    /// The parameters of an `Array` or a `Hash`: the types of its content, and its size.
    fn collection(&mut self, types: &[&Type], size: Option<&Range>) -> Vec<String> {
        if size.is_some_and(Range::is_empty_size) {
            return vec!["0".to_owned(), "0".to_owned()];
        }
        let mut parts: Vec<String> = types.iter().map(|t| self.text(t)).collect();
        parts.extend(bounds(size));
        parts
    }

    fn callable(&mut self, callable: &CallableType) -> String {
        let mut parts: Vec<String> = callable
            .parameters
            .iter()
            .filter(|t| **t != Type::Unit)
            .map(|t| self.text(t))
            .collect();
        if callable.parameters.is_empty() {
            parts.extend(["0".to_owned(), "0".to_owned()]);
        } else {
            parts.extend(bounds(callable.size.as_ref()));
        }
        parts.extend(callable.block.iter().map(|t| self.text(t)));
        let parts = parts.join(", ");
        match &callable.returns {
            Some(returns) => format!("Callable[[{parts}], {}]", self.text(returns)),
            None if parts.is_empty() => "Callable".to_owned(),
            None => format!("Callable[{parts}]"),
        }
    }

    fn alias(&mut self, alias: &Alias) -> String {
        let name = alias.name.to_string();
        let expand = self.expansion == Expansion::Full
            && !is_builtin_alias(&name)
            && !self.open.contains(&name);
        if !expand {
            return name;
        }
        self.open.push(name.clone());
        let body = self.text(&alias.resolved());
        self.open.pop();
        format!("{name} = {body}")
    }

    fn element(&mut self, element: &Element) -> String {
        let value_optional = super::assignable(&element.value, &Type::Undef);
        let name = quote(&element.name);
        let key = match (element.presence, value_optional) {
            (Presence::Optional, true) | (Presence::Required, false) => name,
            (Presence::Optional, false) => format!("Optional[{name}]"),
            (Presence::Required, true) => format!("NotUndef[{name}]"),
        };
        format!("{key} => {}", self.text(&element.value))
    }
}

fn enum_parts(allowed: &EnumType) -> Vec<String> {
    let mut parts: Vec<String> = allowed.values.iter().map(|v| quote(v)).collect();
    if !parts.is_empty() && allowed.case == EnumCase::Insensitive {
        parts.push("true".to_owned());
    }
    parts
}

fn float_bounds(range: FloatRange) -> Vec<String> {
    if range.is_unbounded() {
        return Vec::new();
    }
    // An infinite bound on its own side is no bound.
    let from = range.from.filter(|&from| from != f64::NEG_INFINITY);
    let from = from.map_or("default".to_owned(), float_to_s);
    let to = range.to.filter(|&to| to != f64::INFINITY).map(float_to_s);
    std::iter::once(from).chain(to).collect()
}

fn bounds(range: Option<&Range>) -> Vec<String> {
    let Some(range) = range.filter(|range| !range.is_unbounded()) else {
        return Vec::new();
    };
    let from = range
        .from
        .as_ref()
        .map_or("default".to_owned(), BigInt::to_string);
    std::iter::once(from)
        .chain(range.to.as_ref().map(BigInt::to_string))
        .collect()
}

fn times((from, to): (Option<String>, Option<String>)) -> Vec<String> {
    if from.is_none() && to.is_none() {
        return Vec::new();
    }
    let quoted = |time: &String| format!("'{time}'");
    let mut parts = vec![from.as_ref().map_or("default".to_owned(), quoted)];
    if to != from {
        parts.extend(to.as_ref().map(quoted));
    }
    parts
}
