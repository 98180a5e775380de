//! The parameters of each type's `new` function, and Puppet's messages for arguments that match no
//! signature (`describe_signatures` of `type_mismatch_describer.rb`).

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::infer::infer_set;
use super::interpret::{self, Aliases};
use super::mismatch::{self, Mismatch, NumericMerge, Step};
use super::model::{Range, Type};
use super::{assignable, is_instance};
use crate::value::Value;

const INTEGER: &str = r"\A[+-]?\s*(?:(?:\d+)|(?:0[xX][0-9A-Fa-f]+)|(?:0[bB][01]+))\z";
const FLOAT: &str = r"\A[+-]?\s*(?:(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE]-?\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\z";
/// `%<flags><width>.<precision><letter>`
pub(super) const FORMAT: &str = r"^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$";
const SEMVER: &str = r"\A(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?\Z";

/// A function that makes values: its name in messages, the local type names and the signatures,
/// with each parameter as (type, name), and `?` before the type if it is optional.
struct ConstructorDefinition {
    id: Constructor,
    name: &'static str,
    locals: &'static [(&'static str, &'static str)],
    signatures: &'static [&'static [(&'static str, &'static str)]],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Constructor {
    Integer,
    Float,
    Numeric,
    String,
    Boolean,
    Array,
    Hash,
    Sensitive,
    Timestamp,
    Timespan,
    SemVer,
    SemVerRange,
    Deferred,
    Error,
    Binary,
    Uri,
    Regexp,
    Type,
    Unit,
}

/// The arguments of `Float` and `Numeric`.
const NAMED_ARGS: (&str, &str) = (
    "NamedArgs",
    "Struct[{from => Convertible, Optional[abs] => Boolean}]",
);
const FLOAT_SIGNATURES: &[&[(&str, &str)]] = &[
    &[("Convertible", "from"), ("?Boolean", "abs")],
    &[("NamedArgs", "hash_args")],
];

const DEFINITIONS: &[ConstructorDefinition] = &[
    ConstructorDefinition {
        id: Constructor::Integer,
        name: "new",
        locals: &[
            (
                "Radix",
                "Variant[Default, Integer[2,2], Integer[8,8], Integer[10,10], Integer[16,16]]",
            ),
            (
                "Convertible",
                "Variant[Numeric, Boolean, Pattern[/@INTEGER@/], Timespan, Timestamp]",
            ),
            (
                "NamedArgs",
                "Struct[{from => Convertible, Optional[radix] => Radix, Optional[abs] => Boolean}]",
            ),
        ],
        signatures: &[
            &[
                ("Convertible", "from"),
                ("?Radix", "radix"),
                ("?Boolean", "abs"),
            ],
            &[("NamedArgs", "hash_args")],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Float,
        name: "new_float",
        locals: &[
            (
                "Convertible",
                "Variant[Numeric, Boolean, Pattern[/@FLOAT@/], Timespan, Timestamp]",
            ),
            NAMED_ARGS,
        ],
        signatures: FLOAT_SIGNATURES,
    },
    ConstructorDefinition {
        id: Constructor::Numeric,
        name: "new_numeric",
        locals: &[
            (
                "Convertible",
                "Variant[Integer, Float, Boolean, Pattern[/@FLOAT@/], Timespan, Timestamp]",
            ),
            NAMED_ARGS,
        ],
        signatures: FLOAT_SIGNATURES,
    },
    ConstructorDefinition {
        id: Constructor::String,
        name: "new_string",
        locals: &[
            ("Format", "Pattern[/@FORMAT@/]"),
            (
                "ContainerFormat",
                "Struct[{Optional[format] => Format, Optional[separator] => String, Optional[separator2] => String, Optional[string_formats] => Hash[Type, Format]}]",
            ),
            ("TypeMap", "Hash[Type, Variant[Format, ContainerFormat]]"),
            ("Convertible", "Any"),
            ("Formats", "Variant[Default, String[1], TypeMap]"),
        ],
        signatures: &[&[("Convertible", "from"), ("?Formats", "string_formats")]],
    },
    ConstructorDefinition {
        id: Constructor::Boolean,
        name: "new_boolean",
        locals: &[],
        signatures: &[&[(
            "Variant[Integer, Float, Boolean, Enum['false','true','yes','no','y','n',true]]",
            "from",
        )]],
    },
    ConstructorDefinition {
        id: Constructor::Array,
        name: "new_array",
        locals: &[],
        signatures: &[
            &[
                ("Variant[Array,Hash,Binary,Iterable]", "from"),
                ("?Boolean[false]", "wrap"),
            ],
            &[("Any", "from"), ("Boolean[true]", "wrap")],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Hash,
        name: "new_hash",
        locals: &[
            ("KeyValueArray", "Array[Tuple[Any,Any],1]"),
            ("TreeArray", "Array[Tuple[Array,Any],1]"),
            ("NewHashOption", "Enum[tree, hash_tree]"),
        ],
        signatures: &[
            &[("TreeArray", "from"), ("?NewHashOption", "build_option")],
            &[("KeyValueArray", "from")],
            &[("Any", "from")],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Sensitive,
        name: "new_Sensitive",
        locals: &[],
        signatures: &[&[("Sensitive", "value")], &[("Any", "value")]],
    },
    ConstructorDefinition {
        id: Constructor::Timestamp,
        name: "new_timestamp",
        locals: &[("Formats", "Variant[String[2],Array[String[2], 1]]")],
        signatures: &[
            &[],
            &[("Variant[Integer,Float]", "seconds")],
            &[
                ("String[1]", "string"),
                ("?Formats", "format"),
                ("?String[1]", "timezone"),
            ],
            &[(
                "Struct[{string => String[1], Optional[format] => Formats, Optional[timezone] => String[1]}]",
                "hash_arg",
            )],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Timespan,
        name: "new_timespan",
        locals: &[("Formats", "Variant[String[2],Array[String[2], 1]]")],
        signatures: &[
            &[("Variant[Integer,Float]", "seconds")],
            &[("String[1]", "string"), ("?Formats", "format")],
            &[
                ("Integer", "days"),
                ("Integer", "hours"),
                ("Integer", "minutes"),
                ("Integer", "seconds"),
                ("?Integer", "milliseconds"),
                ("?Integer", "microseconds"),
                ("?Integer", "nanoseconds"),
            ],
            &[(
                "Struct[{string => String[1], Optional[format] => Formats}]",
                "hash_arg",
            )],
            &[(
                "Struct[{Optional[negative] => Boolean, Optional[days] => Integer, Optional[hours] => Integer, Optional[minutes] => Integer, Optional[seconds] => Integer, Optional[milliseconds] => Integer, Optional[microseconds] => Integer, Optional[nanoseconds] => Integer}]",
                "hash_arg",
            )],
        ],
    },
    ConstructorDefinition {
        id: Constructor::SemVer,
        name: "new_Version",
        locals: &[
            ("PositiveInteger", "Integer[0,default]"),
            (
                "SemVerQualifier",
                r"Pattern[/\A(?<part>[0-9A-Za-z-]+)(?:\.\g<part>)*\Z/]",
            ),
            ("SemVerPattern", "Pattern[/@SEMVER@/]"),
            (
                "SemVerHash",
                "Struct[{major=>PositiveInteger,minor=>PositiveInteger,patch=>PositiveInteger,Optional[prerelease]=>SemVerQualifier,Optional[build]=>SemVerQualifier}]",
            ),
        ],
        signatures: &[
            &[("SemVerPattern", "str")],
            &[
                ("PositiveInteger", "major"),
                ("PositiveInteger", "minor"),
                ("PositiveInteger", "patch"),
                ("?SemVerQualifier", "prerelease"),
                ("?SemVerQualifier", "build"),
            ],
            &[("SemVerHash", "hash_args")],
        ],
    },
    ConstructorDefinition {
        id: Constructor::SemVerRange,
        name: "new_VersionRange",
        locals: &[
            ("SemVerRangeString", "String[1]"),
            (
                "SemVerRangeHash",
                "Struct[{min=>Variant[Default,SemVer],Optional[max]=>Variant[Default,SemVer],Optional[exclude_max]=>Boolean}]",
            ),
        ],
        signatures: &[
            &[("SemVerRangeString", "str")],
            &[
                ("Variant[Default,SemVer]", "min"),
                ("Variant[Default,SemVer]", "max"),
                ("?Boolean", "exclude_max"),
            ],
            &[("SemVerRangeHash", "hash_args")],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Binary,
        name: "new_Binary",
        locals: &[
            ("ByteInteger", "Integer[0,255]"),
            (
                "Base64Format",
                "Enum[\"%b\", \"%u\", \"%B\", \"%s\", \"%r\"]",
            ),
            (
                "StringHash",
                "Struct[{value => String, \"format\" => Optional[Base64Format]}]",
            ),
            ("ArrayHash", "Struct[{value => Array[ByteInteger]}]"),
            ("BinaryArgsHash", "Variant[StringHash, ArrayHash]"),
        ],
        signatures: &[
            &[("String", "str"), ("?Base64Format", "format")],
            &[("Array[ByteInteger]", "byte_array")],
            &[("BinaryArgsHash", "hash_args")],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Uri,
        name: "new_error",
        locals: &[],
        signatures: &[
            &[("String[1]", "uri")],
            &[(
                "Struct[{Optional[scheme] => String[1], Optional[userinfo] => String[1], Optional[host] => String[1], Optional[port] => Integer[0], Optional[path] => String[1], Optional[query] => String[1], Optional[fragment] => String[1], Optional[opaque] => String[1]}]",
                "hash",
            )],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Regexp,
        name: "new_float",
        locals: &[],
        signatures: &[&[("String", "pattern"), ("?Boolean", "escape")]],
    },
    ConstructorDefinition {
        id: Constructor::Type,
        name: "new_type",
        locals: &[],
        signatures: &[&[("String[1]", "type_string")]],
    },
    ConstructorDefinition {
        id: Constructor::Deferred,
        name: "new_Deferred",
        locals: &[],
        signatures: &[
            &[(
                r"Struct[{'name' => Pattern[/\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z/], Optional['arguments'] => Optional[Array]}]",
                "hash",
            )],
            &[
                (
                    r"Pattern[/\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z/]",
                    "name",
                ),
                ("?Optional[Array]", "arguments"),
            ],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Error,
        name: "new_Error",
        locals: &[],
        signatures: &[
            &[(
                "Struct[{'msg' => String[1], Optional['kind'] => Optional[String[1]], Optional['details'] => Optional[Hash[String[1], Data]], Optional['issue_code'] => Optional[String[1]]}]",
                "hash",
            )],
            &[
                ("String[1]", "msg"),
                ("?Optional[String[1]]", "kind"),
                ("?Optional[Hash[String[1], Data]]", "details"),
                ("?Optional[String[1]]", "issue_code"),
            ],
        ],
    },
    ConstructorDefinition {
        id: Constructor::Unit,
        name: "new_unit",
        locals: &[],
        signatures: &[&[("Any", "from")]],
    },
];

struct Locals(&'static [(&'static str, &'static str)]);

impl Aliases for Locals {
    fn source(&self, name: &str) -> Option<String> {
        let (name, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(format!("type {name} = {}", spelled(text)))
    }
}

fn spelled(text: &str) -> String {
    text.replace("@INTEGER@", INTEGER)
        .replace("@FLOAT@", FLOAT)
        .replace("@FORMAT@", FORMAT)
        .replace("@SEMVER@", SEMVER)
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// Its name in messages.
    pub name: String,
    /// The type of its arguments.
    pub expected: Type,
    /// The number of arguments it takes.
    pub count: Count,
}

/// The number of arguments a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Exactly one.
    One,
    /// One, or none.
    Optional,
    /// Any number; only for the last parameter.
    Any,
    /// One or more; only for the last parameter.
    Some,
}

/// The signatures of a function, tried in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Signatures {
    /// The function's name in messages.
    pub name: String,
    /// The parameters of each signature.
    pub list: Vec<Vec<FunctionParameter>>,
}

/// The signatures of a function, parsed on first use.
pub(super) fn signatures(function: Constructor) -> &'static Signatures {
    static ALL: LazyLock<HashMap<Constructor, Signatures>> = LazyLock::new(|| {
        let definitions = DEFINITIONS.iter();
        definitions.map(|it| (it.id, read(it))).collect()
    });
    &ALL[&function]
}

fn read(definition: &ConstructorDefinition) -> Signatures {
    let parameter = |(text, name): &(&'static str, &'static str)| {
        let bare = text.strip_prefix('?');
        FunctionParameter {
            name: (*name).to_owned(),
            expected: interpret::parse(bare.unwrap_or(text), &Locals(definition.locals))
                .unwrap_or(Type::Unit),
            count: match bare {
                Some(_) => Count::Optional,
                None => Count::One,
            },
        }
    };
    Signatures {
        name: definition.name.to_owned(),
        list: definition
            .signatures
            .iter()
            .map(|parameters| parameters.iter().map(parameter).collect())
            .collect(),
    }
}

fn counts(parameters: &[FunctionParameter]) -> Range {
    let required = parameters
        .iter()
        .filter(|parameter| matches!(parameter.count, Count::One | Count::Some))
        .count();
    match parameters.last().map(|last| last.count) {
        Some(Count::Any | Count::Some) => Range::at_least(required),
        Some(Count::One | Count::Optional) | None => Range::of(required, parameters.len()),
    }
}

/// The parameters in the order of arguments; the last one is repeated.
fn taking(parameters: &[FunctionParameter]) -> impl Iterator<Item = &FunctionParameter> {
    parameters
        .iter()
        .chain(parameters.last().into_iter().cycle())
}

impl Signatures {
    /// The number of the first signature that accepts the arguments.
    #[must_use]
    pub fn matching(&self, arguments: &[Value]) -> Option<usize> {
        self.list.iter().position(|parameters| {
            counts(parameters).contains_size(arguments.len())
                && taking(parameters)
                    .zip(arguments)
                    .all(|(parameter, argument)| is_instance(&parameter.expected, argument))
        })
    }

    /// Why no signature accepts the arguments.
    #[must_use]
    pub fn refusal(&self, arguments: &[Value]) -> Refusal<'_> {
        let types: Vec<Type> = arguments.iter().map(infer_set).collect();
        let each: Vec<Vec<Mismatch>> = self
            .list
            .iter()
            .enumerate()
            .map(|(i, parameters)| problems(parameters, &types, &[Step::Signature(i)]))
            .collect();
        let mut merged = mismatch::merge(0, each.clone(), NumericMerge::Counts);
        let common = if merged.len() == 1 {
            merged.pop()
        } else {
            None
        };
        Refusal {
            signatures: self,
            common,
            each,
        }
    }
}

/// Why a call is refused. `Display` gives Puppet's message.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    signatures: &'a Signatures,
    /// The mismatch that all signatures have in common.
    common: Option<Mismatch>,
    /// The mismatches with each signature.
    each: Vec<Vec<Mismatch>>,
}

impl Refusal<'_> {
    /// Whether the message lists the signatures, and with them the types of all parameters.
    #[must_use]
    pub fn lists_signatures(&self) -> bool {
        self.common.is_none()
    }
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Signatures { name, list } = self.signatures;
        if let Some(common) = &self.common {
            return write!(f, "'{name}' {common}");
        }
        let is_only = list.len() == 1;
        if !is_only {
            write!(
                f,
                "The function '{name}' was called with arguments it does not accept. It expects \
                 one of:"
            )?;
        }
        for (parameters, problems) in list.iter().zip(&self.each) {
            let signature = signature_text(parameters);
            let indent = if is_only {
                write!(f, "'{name}' expects ({signature})")?;
                "  "
            } else {
                write!(f, "\n  ({signature})")?;
                "    "
            };
            for problem in problems {
                let problem = problem.clone().without_step(0);
                write!(f, "\n{indent}rejected: {problem}")?;
            }
        }
        Ok(())
    }
}

fn problems(parameters: &[FunctionParameter], types: &[Type], path: &[Step]) -> Vec<Mismatch> {
    let wanted = counts(parameters);
    if !wanted.contains_size(types.len()) {
        let got = Range::of(types.len(), types.len());
        return vec![Mismatch::of_count(path, wanted, got)];
    }
    for (parameter, t) in taking(parameters).zip(types) {
        if assignable(&parameter.expected, t) {
            continue;
        }
        let mut path = path.to_vec();
        path.push(Step::Parameter(parameter.name.clone()));
        let described = mismatch::describe(&parameter.expected, t, &path);
        if !described.is_empty() {
            return described;
        }
    }
    Vec::new()
}

fn signature_text(parameters: &[FunctionParameter]) -> String {
    let texts: Vec<String> = parameters
        .iter()
        .map(|parameter| {
            let mark = match parameter.count {
                Count::One => "",
                Count::Optional => "?",
                Count::Any => "*",
                Count::Some => "+",
            };
            let expected = match &parameter.expected {
                Type::Optional(Some(inner)) if parameter.count == Count::Optional => inner,
                expected => expected,
            };
            format!("{expected} {}{mark}", parameter.name)
        })
        .collect();
    texts.join(", ")
}
