//! The names of Puppet's own types and aliases. It parses and resolves nothing.

use std::sync::Arc;

use super::model::{EnumCase, EnumType, StringType, TimeRange, Type};

/// The aliases, each with its type expression.
pub(super) const BUILTIN_ALIASES: &[(&str, &str)] = &[
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

/// The resource types of Puppet itself.
pub(super) const RESOURCE_TYPES: &[&str] = &[
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

/// Whether an alias is one of Puppet's own.
pub(super) fn is_builtin_alias(name: &str) -> bool {
    BUILTIN_ALIASES.iter().any(|(known, _)| *known == name)
}

/// Names of types are compared case-insensitively.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Puppet's own types by name, without parameters.
pub(super) fn plain(name: &str) -> Option<Type> {
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
