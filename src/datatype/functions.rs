//! `new`: values made from other values, as the `new_function` of each type in `pops/types`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use num_bigint::BigInt;

use super::infer::infer;
use super::instance::{integer, rich};
use super::interpret::Aliases;
use super::mismatch::describe_mismatch;
use super::model::Type;
use super::signatures::{Function, Signatures, signatures};
use super::{is_instance, ruby_float, ruby_inspect, strings, time, uri};
use crate::value::{HashMap, Opaque, Value};

/// Longest list that counting out a number may give.
const MAX_COUNT: i64 = 1_000_000;

/// Deepest chain of types that lead to one another (`Optional`, `Init`, aliases).
const MAX_DEPTH: usize = 50;

/// Makes an instance of a type from a value, as `new(T, value, args…)`.
///
/// # Errors
/// The message of the error Puppet raises.
pub fn convert(
    target: &Type,
    value: &Value,
    arguments: &[Value],
    aliases: &dyn Aliases,
) -> Result<Value, String> {
    let mut all = Vec::with_capacity(arguments.len() + 1);
    all.push(value.clone());
    all.extend_from_slice(arguments);
    new(target, &all, aliases, 0)
}

/// As [`convert`], for the type as `lookup_options` may give it: a value that is no type is
/// refused as Puppet does.
///
/// # Errors
/// The message of the error Puppet raises.
pub fn convert_to(
    target: &Value,
    value: &Value,
    arguments: &[Value],
    aliases: &dyn Aliases,
) -> Result<Value, String> {
    match super::type_of_value(target) {
        Some(target) => convert(&target, value, arguments, aliases),
        None => {
            let got = super::infer_set(target);
            Err(format!(
                "'new' parameter 'type' expects a Type value, got {}",
                got.name()
            ))
        }
    }
}

fn new(target: &Type, all: &[Value], aliases: &dyn Aliases, depth: usize) -> Result<Value, String> {
    if let [only] = all
        && !matches!(target, Type::Init(..))
        && is_instance(target, only)
        && !matches!(only, Value::Opaque(_))
    {
        return Ok(only.clone());
    }
    let made = call(target, all, aliases, depth)?;
    if is_instance(target, &made) {
        return Ok(made);
    }
    Err(describe_mismatch(
        &format!("Converted value from {target}.new()"),
        target,
        &made,
    ))
}

/// The function of a type.
enum Maker {
    Own(Function),
    Of(Type),
    Init(Type, Arc<[Value]>),
}

fn maker(target: &Type) -> Result<Maker, String> {
    let refused = || format!("Creation of new instance of type '{target}' is not supported");
    Ok(Maker::Own(match target {
        Type::Integer(_) => Function::Integer,
        Type::Float(_) => Function::Float,
        Type::Numeric => Function::Numeric,
        Type::String(_) => Function::String,
        Type::Boolean(_) => Function::Boolean,
        Type::Array(..) | Type::Tuple(..) => Function::Array,
        Type::Hash(..) | Type::Struct(_) => Function::Hash,
        Type::Sensitive(_) => Function::Sensitive,
        Type::Timestamp(_) => Function::Timestamp,
        Type::Timespan(_) => Function::Timespan,
        Type::SemVer(_) => Function::SemVer,
        Type::SemVerRange => Function::SemVerRange,
        Type::Binary => Function::Binary,
        Type::Uri(_) => Function::Uri,
        Type::Regexp(_) => Function::Regexp,
        Type::Type(_) => Function::Type,
        Type::Unit | Type::NotUndef(None) => Function::Unit,
        Type::NotUndef(Some(inner)) | Type::Optional(Some(inner)) => {
            return Ok(Maker::Of(Type::clone(inner)));
        }
        Type::Alias(alias) => return Ok(Maker::Of(alias.resolved())),
        Type::Optional(None) => {
            return Err("undefined method `new_function' for nil:NilClass".to_owned());
        }
        Type::Init(Some(inner), arguments) => {
            let barred = matches!(
                **inner,
                Type::Init(..) | Type::Optional(_) | Type::NotUndef(_)
            );
            if barred || maker(inner).is_err() {
                return Err(format!(
                    "Creation of new instance of type '{inner}' is not supported"
                ));
            }
            return Ok(Maker::Init(Type::clone(inner), arguments.clone()));
        }
        Type::Any
        | Type::Undef
        | Type::Default
        | Type::Scalar
        | Type::ScalarData
        | Type::CatalogEntry
        | Type::TypeSet
        | Type::Enum(_)
        | Type::Pattern(_)
        | Type::Collection(_)
        | Type::Variant(_)
        | Type::Iterable(_)
        | Type::Iterator(_)
        | Type::Init(None, _)
        | Type::Callable(_)
        | Type::Class(_)
        | Type::Resource(_)
        | Type::Runtime(..)
        | Type::Object(_)
        | Type::Reference(_) => return Err(refused()),
    }))
}

fn call(
    target: &Type,
    all: &[Value],
    aliases: &dyn Aliases,
    depth: usize,
) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err("types refer to one another too deeply".to_owned());
    }
    let function = match maker(target)? {
        Maker::Own(function) => function,
        Maker::Of(inner) => return call(&inner, all, aliases, depth + 1),
        Maker::Init(inner, arguments) => {
            let [value] = all else {
                return Err(format!("'new_Init' expects 1 argument, got {}", all.len()));
            };
            let mut all = vec![value.clone()];
            if arguments.is_empty()
                && let Value::Array(elements) = value
                && !accepts_alone(&inner, value)
            {
                all = elements.to_vec();
            }
            all.extend(arguments.iter().cloned());
            return new(&inner, &all, aliases, depth + 1);
        }
    };
    // Nothing is known of a value that cannot be seen; only wrapping it is certain.
    if let Some(Value::Opaque(opaque)) = all.first()
        && function != Function::Sensitive
    {
        return Ok(Value::Opaque(opaque.clone()));
    }
    let known = signatures(function);
    let Some(matched) = known.matching(all) else {
        return Err(mismatch(function, known, all));
    };
    let first = all.first().unwrap_or(&Value::Undef);
    match function {
        Function::Integer | Function::Float | Function::Numeric => number(function, matched, all),
        Function::String => {
            if all.iter().any(holds_opaque) {
                return Ok(unknown("part of the value"));
            }
            let format = all.get(1).and_then(Value::as_str);
            strings::convert(first, format).map(Value::from)
        }
        Function::Boolean => Ok(Value::Bool(match first {
            Value::Float(number) => *number != 0.0,
            Value::Int(number) => *number != 0,
            Value::Bool(truth) => *truth,
            Value::String(text) => !matches!(text.to_lowercase().as_str(), "false" | "no" | "n"),
            _ => true,
        })),
        Function::Array if matched == 1 => Ok(match first {
            Value::Array(_) => first.clone(),
            other => Value::array([other.clone()]),
        }),
        Function::Array => listed(first),
        Function::Hash => hash(matched, all),
        Function::Sensitive => Ok(match first {
            Value::Sensitive(_) => first.clone(),
            other => Value::Sensitive(Arc::new(other.clone())),
        }),
        Function::Timestamp => timestamp(matched, all),
        Function::Timespan => timespan(matched, all),
        Function::SemVer => version(matched, all),
        Function::SemVerRange => match first.as_str() {
            Some(text) => range(text),
            None => Ok(unknown("a range of versions")),
        },
        Function::Binary => binary(matched, all),
        Function::Uri => match first {
            Value::String(text) => {
                uri::check(text)?;
                Ok(super::rich("URI", text.to_string()))
            }
            other => Ok(super::rich("URI", uri_text(other))),
        },
        Function::Regexp => {
            let source = first.as_str().unwrap_or_default();
            let source = if all.get(1) == Some(&Value::Bool(true)) {
                escaped(source)
            } else {
                source.to_owned()
            };
            match crate::regexp::Regexp::lazy(&source) {
                Err(crate::regexp::RegexpError::Invalid { message }) => Err(message),
                Ok(_) | Err(crate::regexp::RegexpError::Unsupported { .. }) => {
                    Ok(super::rich("Regexp", source))
                }
            }
        }
        Function::Type => {
            let text = first.as_str().unwrap_or_default();
            super::parse(text, aliases)
                .map(|t| super::type_value(&t))
                .map_err(|error| error.to_string())
        }
        Function::Unit => Ok(first.clone()),
    }
}

fn unknown(because: &str) -> Value {
    Value::Opaque(Arc::new(Opaque::Unknown {
        text: String::new(),
        because: because.to_owned(),
    }))
}

fn holds_opaque(value: &Value) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Opaque(_) => return true,
            Value::Array(elements) => pending.extend(elements.iter()),
            Value::Hash(hash) => pending.extend(hash.iter().flat_map(|(k, v)| [k, v])),
            _ => {}
        }
    }
    false
}

/// Whether `Init[T]` takes a value that is no `T` yet.
pub(super) fn accepts(inner: &Type, arguments: &[Value], value: &Value) -> bool {
    let Ok(Maker::Own(function)) = maker(inner) else {
        return false;
    };
    let mut all = vec![value.clone()];
    all.extend_from_slice(arguments);
    let known = signatures(function);
    known.matching(&all).is_some()
        || arguments.is_empty()
            && value
                .as_array()
                .is_some_and(|elements| known.matching(elements).is_some())
}

/// Whether values of a type can be given to a type's `new` alone.
pub(super) fn takes(inner: &Type, given: &Type) -> bool {
    let Ok(Maker::Own(function)) = maker(inner) else {
        return false;
    };
    signatures(function).list.iter().any(|parameters| {
        parameters.iter().skip(1).all(|p| p.optional)
            && parameters
                .first()
                .is_some_and(|p| super::assignable(&p.expected, given))
    })
}

fn accepts_alone(inner: &Type, value: &Value) -> bool {
    if is_instance(inner, value) {
        return true;
    }
    let Ok(Maker::Own(function)) = maker(inner) else {
        return false;
    };
    let known = signatures(function);
    let alone = known
        .list
        .iter()
        .any(|p| p.len() == 1 && is_instance(&p[0].expected, value));
    let spread = value
        .as_array()
        .is_some_and(|elements| known.matching(elements).is_some());
    alone || !spread && known.matching(std::slice::from_ref(value)).is_some()
}

/// The text where arguments fit no signature: some functions have words of their own.
fn mismatch(function: Function, known: &Signatures, all: &[Value]) -> String {
    let (kind, most) = match function {
        Function::Integer => ("Integer", 3),
        Function::Float => ("Float", 2),
        Function::Numeric => ("Numeric", 2),
        Function::Boolean => ("Boolean", 1),
        Function::Array => ("Array", 2),
        Function::SemVer => match all {
            [Value::String(text)] => {
                return format!(
                    "'new_Version' The string '{text}' cannot be converted to a SemVer"
                );
            }
            _ => return known.refusal(all),
        },
        Function::String
        | Function::Hash
        | Function::Sensitive
        | Function::Timestamp
        | Function::Timespan
        | Function::SemVerRange
        | Function::Binary
        | Function::Uri
        | Function::Regexp
        | Function::Type
        | Function::Unit => return known.refusal(all),
    };
    let rest_fits = match function {
        Function::Integer => {
            all.get(1).is_none_or(|radix| integer(radix).is_some())
                && all.get(2).is_none_or(|abs| matches!(abs, Value::Bool(_)))
        }
        _ => all.get(1).is_none_or(|flag| matches!(flag, Value::Bool(_))),
    };
    if all.len() > most || all.is_empty() || !rest_fits {
        return known.refusal(all);
    }
    let radix = |radix: Option<&Value>| match radix {
        None | Some(Value::Int(2 | 8 | 10 | 16) | Value::Default | Value::Undef) => None,
        Some(other) => Some(format!(
            "Illegal radix: {}, expected 2, 8, 10, 16, or default",
            strings::puppet_string(other)
        )),
    };
    let mut subject = &all[0];
    if function == Function::Integer
        && all.len() == 1
        && let Value::Hash(hash) = subject
    {
        let convertible = &known.list[0][0].expected;
        match subject.get("from") {
            Some(from) if !is_instance(convertible, from) => subject = from,
            _ => {
                if let Some(text) = radix(hash.get(&Value::from("radix"))) {
                    return text;
                }
                return describe_mismatch("Integer.new", &known.list[1][0].expected, subject);
            }
        }
    } else if function == Function::Integer
        && let Some(text) = radix(all.get(1))
    {
        return text;
    }
    let problem = match subject {
        Value::String(text) if function != Function::Array => {
            format!("The string '{text}' cannot be converted to {kind}")
        }
        other => format!(
            "Value of type {} cannot be converted to {kind}",
            infer(other).generalize()
        ),
    };
    format!("'{}' {problem}", known.name)
}

fn number(function: Function, matched: usize, all: &[Value]) -> Result<Value, String> {
    let named;
    let (from, radix, absolute) = if matched == 1 {
        named = all[0].clone();
        let undef = &Value::Undef;
        (
            named.get("from").unwrap_or(undef),
            named.get("radix").filter(|v| !v.is_falsey()),
            named.get("abs"),
        )
    } else if function == Function::Integer {
        (&all[0], all.get(1), all.get(2))
    } else {
        (&all[0], None, all.get(1))
    };
    let radix = radix.and_then(|radix| match radix {
        Value::Int(radix) => u32::try_from(*radix).ok(),
        _ => None,
    });
    let made = match function {
        Function::Integer => to_integer(from, radix)?,
        Function::Float => to_float(from)?,
        _ => to_number(from)?,
    };
    if absolute != Some(&Value::Bool(true)) {
        return Ok(made);
    }
    Ok(match made {
        Value::Float(number) => Value::Float(number.abs()),
        other => match integer(&other) {
            Some(number) => int(BigInt::from(number.magnitude().clone())),
            None => other,
        },
    })
}

pub(super) fn int(number: BigInt) -> Value {
    match i64::try_from(&number) {
        Ok(small) => Value::Int(small),
        Err(_) => Value::BigInt(Arc::new(number)),
    }
}

/// A float cut to an integer, as Ruby's `to_i`.
pub(super) fn truncate(number: f64) -> Result<BigInt, String> {
    if !number.is_finite() {
        return Err(ruby_float(number));
    }
    let text = format!("{:.0}", number.trunc());
    text.parse().map_err(|_| ruby_float(number))
}

fn seconds(value: &Value) -> Option<i128> {
    rich(value, "Timespan")
        .and_then(time::timespan_of_text)
        .or_else(|| rich(value, "Timestamp").and_then(time::timestamp_of_text))
}

#[allow(clippy::cast_precision_loss, reason = "Ruby loses it too")]
fn float_of_time(nanoseconds: i128) -> f64 {
    nanoseconds as f64 / 1e9
}

fn to_integer(from: &Value, radix: Option<u32>) -> Result<Value, String> {
    match from {
        Value::Float(number) => truncate(*number).map(int),
        Value::Bool(truth) => Ok(Value::Int(i64::from(*truth))),
        Value::String(text) => ruby_integer(text, radix)
            .or_else(|| ruby_integer(&without_gap(text)?, radix))
            .map(int)
            .ok_or_else(|| format!("invalid value for Integer(): {}", ruby_inspect(text))),
        other => match seconds(other) {
            Some(nanoseconds) => Ok(int(nanoseconds.div_euclid(time::SECOND).into())),
            None => Ok(other.clone()),
        },
    }
}

fn to_float(from: &Value) -> Result<Value, String> {
    match from {
        Value::Bool(truth) => Ok(Value::Float(f64::from(u8::from(*truth)))),
        Value::Int(_) | Value::BigInt(_) => {
            let digits = integer(from).unwrap_or_default().to_string();
            Ok(Value::Float(digits.parse().unwrap_or(f64::INFINITY)))
        }
        Value::String(text) => {
            if **text == *"0" {
                return Err("undefined method `casecmp' for nil:NilClass".to_owned());
            }
            ruby_float_of(text)
                .or_else(|| ruby_float_of(&without_gap(text)?))
                .map(Value::Float)
                .ok_or_else(|| format!("invalid value for Float(): {}", ruby_inspect(text)))
        }
        other => Ok(seconds(other).map_or_else(
            || other.clone(),
            |nanoseconds| Value::Float(float_of_time(nanoseconds)),
        )),
    }
}

fn to_number(from: &Value) -> Result<Value, String> {
    match from {
        Value::Bool(truth) => Ok(Value::Int(i64::from(*truth))),
        Value::String(text) => {
            let lower = text.to_lowercase();
            if lower.starts_with("0b") || lower.starts_with("0x") {
                return ruby_integer(text, None)
                    .map(int)
                    .ok_or_else(|| format!("invalid value for Integer(): {}", ruby_inspect(text)));
            }
            let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            if compact.to_lowercase().contains("0x") {
                return Ok(ruby_integer(&compact, None).map_or(Value::Undef, int));
            }
            if compact.contains(['.', 'e', 'E']) {
                return Ok(compact.parse().map_or(Value::Undef, Value::Float));
            }
            Ok(ruby_integer(&compact, None).map_or(Value::Undef, int))
        }
        other => Ok(seconds(other).map_or_else(
            || other.clone(),
            |nanoseconds| Value::Float(float_of_time(nanoseconds)),
        )),
    }
}

/// The text without the spaces between its sign and its digits, if it has such.
fn without_gap(text: &str) -> Option<String> {
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-'))?;
    let rest = &text[1..];
    rest.starts_with([' ', '\t'])
        .then(|| format!("{sign}{}", rest.trim_start()))
}

/// Ruby's `Integer()` for the texts Puppet lets through.
fn ruby_integer(text: &str, radix: Option<u32>) -> Option<BigInt> {
    let trimmed = text.trim();
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let lower = digits.to_lowercase();
    let prefixed = [("0x", 16), ("0b", 2), ("0o", 8), ("0d", 10)]
        .into_iter()
        .find_map(|(prefix, base)| Some((lower.strip_prefix(prefix)?, base)));
    let (digits, base) = match (prefixed, radix) {
        (Some((rest, base)), None) => (rest, base),
        (Some((rest, base)), Some(radix)) if radix == base => (rest, base),
        (_, Some(radix)) => (lower.as_str(), radix),
        (None, None) if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        (None, None) => (lower.as_str(), 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let number = BigInt::parse_bytes(digits.as_bytes(), base)?;
    Some(if negative { -number } else { number })
}

/// Ruby's `Float()` for the texts Puppet lets through.
fn ruby_float_of(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let lower = trimmed.to_lowercase();
    if lower.contains("0x") || lower.starts_with("0b") {
        let number = ruby_integer(trimmed, None)?;
        return number.to_string().parse().ok();
    }
    if trimmed.contains("  ") || trimmed.starts_with("- ") || trimmed.starts_with("+ ") {
        return None;
    }
    trimmed.parse().ok()
}

fn listed(from: &Value) -> Result<Value, String> {
    Ok(match from {
        Value::Hash(hash) => Value::array(
            hash.iter()
                .map(|(k, v)| Value::array([k.clone(), v.clone()])),
        ),
        Value::String(text) => Value::array(text.chars().map(|c| Value::from(c.to_string()))),
        Value::Int(count) => {
            if *count > MAX_COUNT {
                return Err(format!("counting to {count} gives too long a list"));
            }
            Value::array((0..*count).map(Value::Int))
        }
        other => match rich(other, "Binary") {
            Some(text) => {
                let bytes = STANDARD.decode(text).unwrap_or_default();
                Value::array(bytes.into_iter().map(|b| Value::Int(b.into())))
            }
            None => other.clone(),
        },
    })
}

fn pairs(elements: &[Value]) -> Value {
    let mut hash = HashMap::new();
    for element in elements {
        if let Some([key, value]) = element.as_array() {
            hash.insert(key.clone(), value.clone());
        }
    }
    Value::from(hash)
}

fn hash(matched: usize, all: &[Value]) -> Result<Value, String> {
    let from = &all[0];
    let elements = from.as_array().unwrap_or_default();
    if let (0, Some(option)) = (matched, all.get(1)) {
        return tree(elements, option.as_str() == Some("hash_tree"));
    }
    if matched < 2 {
        return Ok(pairs(elements));
    }
    let list = match from {
        Value::Hash(_) => return Ok(from.clone()),
        Value::Array(elements) => {
            if elements.len() % 2 != 0 {
                return Err("odd number of arguments for Hash".to_owned());
            }
            elements.to_vec()
        }
        Value::String(_) | Value::Int(0..) => match listed(from)? {
            Value::Array(elements) => {
                if elements.len() % 2 != 0 {
                    return Err("odd number of arguments for Hash".to_owned());
                }
                elements.to_vec()
            }
            other => vec![other],
        },
        other => {
            return Err(format!(
                "Value of type {} cannot be converted to Hash",
                infer(other).generalize()
            ));
        }
    };
    let mut hash = HashMap::new();
    for pair in list.chunks_exact(2) {
        hash.insert(pair[0].clone(), pair[1].clone());
    }
    Ok(Value::from(hash))
}

/// Arrays as hashes from index to element, all the way down.
fn as_hash(value: &Value, depth: usize) -> Value {
    let Value::Array(elements) = value else {
        return value.clone();
    };
    if depth > MAX_DEPTH {
        return value.clone();
    }
    let mut hash = HashMap::new();
    for (key, element) in (0i64..).zip(elements.iter()) {
        hash.insert(Value::Int(key), as_hash(element, depth + 1));
    }
    Value::from(hash)
}

fn tree(entries: &[Value], all_hashes: bool) -> Result<Value, String> {
    let mut root = Value::from(HashMap::new());
    for entry in entries {
        let Some([Value::Array(path), value]) = entry.as_array() else {
            continue;
        };
        let Some((last, way)) = path.split_last() else {
            if let Value::Hash(root) = &mut root {
                let root = Arc::make_mut(root);
                match value {
                    Value::Array(elements) => {
                        for (key, element) in (0i64..).zip(elements.iter()) {
                            root.insert(Value::Int(key), element.clone());
                        }
                    }
                    Value::Hash(hash) => {
                        root.extend(hash.iter().map(|(k, v)| (k.clone(), v.clone())));
                    }
                    other => {
                        return Err(format!(
                            "no implicit conversion of {} into Hash",
                            ruby_class(other)
                        ));
                    }
                }
            }
            continue;
        };
        let value = if all_hashes {
            as_hash(value, 0)
        } else {
            value.clone()
        };
        place(&mut root, way, last, value)?;
    }
    Ok(root)
}

fn ruby_class(value: &Value) -> &'static str {
    match value {
        Value::Undef => "nil",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Int(_) | Value::BigInt(_) => "Integer",
        Value::Float(_) => "Float",
        Value::String(_) | Value::Bytes(_) => "String",
        Value::Symbol(_) | Value::Default => "Symbol",
        Value::Array(_) => "Array",
        Value::Hash(_) => "Hash",
        Value::Sensitive(_) | Value::Rich(_) | Value::Opaque(_) => "Object",
    }
}

fn place(root: &mut Value, way: &[Value], last: &Value, value: Value) -> Result<(), String> {
    let mut here = root;
    for step in way {
        here = match here {
            Value::Hash(hash) => Arc::make_mut(hash)
                .entry(step.clone())
                .or_insert_with(|| Value::from(HashMap::new())),
            Value::Array(elements) => {
                let index = match step {
                    Value::Int(index) => usize::try_from(*index).ok(),
                    _ => None,
                };
                let Some(found) = index.and_then(|i| Arc::make_mut(elements).get_mut(i)) else {
                    return Err("undefined method `[]=' for nil:NilClass".to_owned());
                };
                found
            }
            other => {
                return Err(format!(
                    "undefined method `has_key?' for {}",
                    receiver(other)
                ));
            }
        };
    }
    match here {
        Value::Hash(hash) => {
            Arc::make_mut(hash).insert(last.clone(), value);
        }
        Value::Array(elements) => {
            let Value::Int(index) = last else {
                return Err(format!(
                    "no implicit conversion of {} into Integer",
                    ruby_class(last)
                ));
            };
            let Ok(index) = usize::try_from(*index) else {
                return Err(format!("index {index} too small for array"));
            };
            if i64::try_from(index).map_or(true, |i| i > MAX_COUNT) {
                return Err(format!("index {index} too big"));
            }
            let elements = Arc::make_mut(elements);
            while elements.len() <= index {
                elements.push(Value::Undef);
            }
            elements[index] = value;
        }
        other => {
            return Err(format!("undefined method `[]=' for {}", receiver(other)));
        }
    }
    Ok(())
}

fn receiver(value: &Value) -> String {
    match value {
        Value::Undef | Value::Bool(_) => {
            let class = match value {
                Value::Bool(true) => "TrueClass",
                Value::Bool(false) => "FalseClass",
                _ => "NilClass",
            };
            format!("{}:{class}", ruby_class(value))
        }
        Value::String(text) => format!("{}:String", ruby_inspect(text)),
        other => format!("{}:{}", strings::programmatic(other), ruby_class(other)),
    }
}

/// The formats given with a text: one, or several to try.
fn formats(value: Option<&Value>) -> Option<(Vec<&str>, bool)> {
    match value? {
        Value::String(text) => Some((vec![text], false)),
        Value::Array(elements) => Some((elements.iter().filter_map(Value::as_str).collect(), true)),
        _ => None,
    }
}

fn timestamp(matched: usize, all: &[Value]) -> Result<Value, String> {
    let made = |nanoseconds| super::rich("Timestamp", time::timestamp_text(nanoseconds));
    let (text, format, zone) = match matched {
        0 => return Ok(unknown("the current time")),
        1 => return Ok(made(nanoseconds(&all[0]))),
        2 => (all[0].as_str(), all.get(1), all.get(2)),
        _ => (
            all[0].get("string").and_then(Value::as_str),
            all[0].get("format"),
            all[0].get("timezone"),
        ),
    };
    let text = text.unwrap_or_default();
    let zone = zone.and_then(Value::as_str);
    match formats(format) {
        None => time::parse_timestamp(text, None, zone),
        Some((formats, true)) => time::parse_timestamp(text, Some(&formats), zone),
        Some((formats, false)) => {
            time::parse_timestamp_as(text, formats.first().unwrap_or(&""), zone)
        }
    }
    .map(made)
}

fn nanoseconds(value: &Value) -> i128 {
    match value {
        Value::Float(seconds) => time::from_seconds(*seconds),
        other => integer(other)
            .and_then(|n| i128::try_from(n).ok())
            .and_then(|n| n.checked_mul(time::SECOND))
            .unwrap_or_default(),
    }
}

fn timespan(matched: usize, all: &[Value]) -> Result<Value, String> {
    let made = |nanoseconds| super::rich("Timespan", time::timespan_text(nanoseconds));
    const UNITS: [(&str, i128); 7] = [
        ("days", 86_400 * time::SECOND),
        ("hours", 3600 * time::SECOND),
        ("minutes", 60 * time::SECOND),
        ("seconds", time::SECOND),
        ("milliseconds", 1_000_000),
        ("microseconds", 1000),
        ("nanoseconds", 1),
    ];
    let part = |value: &Value, unit: i128| match value {
        Value::Int(number) => i128::from(*number).saturating_mul(unit),
        _ => 0,
    };
    let (text, format) = match matched {
        0 => return Ok(made(nanoseconds(&all[0]))),
        1 => (all[0].as_str(), all.get(1)),
        2 => {
            let sum = all.iter().zip(UNITS).map(|(v, (_, unit))| part(v, unit));
            return Ok(made(sum.fold(0, i128::saturating_add)));
        }
        3 => (
            all[0].get("string").and_then(Value::as_str),
            all[0].get("format"),
        ),
        _ => {
            let sum = UNITS
                .iter()
                .filter_map(|(name, unit)| Some(part(all[0].get(name)?, *unit)))
                .fold(0, i128::saturating_add);
            let negative = all[0].get("negative") == Some(&Value::Bool(true));
            return Ok(made(if negative { -sum } else { sum }));
        }
    };
    let text = text.unwrap_or_default();
    match formats(format) {
        None => time::parse_timespan(text, time::TIMESPAN_FORMATS),
        Some((formats, true)) => time::parse_timespan(text, &formats),
        Some((formats, false)) => time::parse_timespan_as(text, formats.first().unwrap_or(&"")),
    }
    .map(made)
}

fn version(matched: usize, all: &[Value]) -> Result<Value, String> {
    let field = |index: usize, name: &str| match matched {
        1 => all.get(index).cloned(),
        _ => all[0].get(name).cloned(),
    };
    let text = if matched == 0 {
        all[0].as_str().unwrap_or_default().trim_end().to_owned()
    } else {
        let mut text = ["major", "minor", "patch"]
            .iter()
            .enumerate()
            .map(|(i, name)| strings::puppet_string(&field(i, name).unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(".");
        for (index, name, sign) in [(3, "prerelease", '-'), (4, "build", '+')] {
            if let Some(Value::String(part)) = field(index, name) {
                text.push(sign);
                text.push_str(&part);
            }
        }
        text
    };
    let prerelease = text.split('+').next().and_then(|t| t.split_once('-'));
    if let Some((_, prerelease)) = prerelease
        && matched == 0
        && prerelease
            .split('.')
            .any(|p| p.len() > 1 && p.starts_with('0') && p.bytes().all(|b| b.is_ascii_digit()))
    {
        return Err("Numeric pre-release identifiers MUST NOT contain leading zeroes".to_owned());
    }
    Ok(super::rich("SemVer", text))
}

/// A range of versions; only its form is checked, the text stays as written.
fn range(text: &str) -> Result<Value, String> {
    let fits = text.split_whitespace().all(|part| {
        let bound = part.trim_start_matches(['<', '>', '=', '~', '^']);
        bound.is_empty()
            || bound == "-"
            || bound == "*"
            || bound.starts_with(|c: char| c.is_ascii_digit() || c == 'v')
    });
    if !fits {
        return Err(format!("Unparsable version range: {}", ruby_inspect(text)));
    }
    Ok(super::rich("SemVerRange", text.to_owned()))
}

fn binary(matched: usize, all: &[Value]) -> Result<Value, String> {
    let encoded = |bytes: &[u8]| super::rich("Binary", STANDARD.encode(bytes));
    let bytes = |elements: &[Value]| -> Vec<u8> {
        let byte = |v: &Value| match v {
            Value::Int(number) => u8::try_from(*number).ok(),
            _ => None,
        };
        elements.iter().filter_map(byte).collect()
    };
    let (text, format) = match matched {
        0 => (all[0].as_str(), all.get(1)),
        1 => return Ok(encoded(&bytes(all[0].as_array().unwrap_or_default()))),
        _ => match all[0].get("value") {
            Some(Value::Array(elements)) => return Ok(encoded(&bytes(elements))),
            other => (other.and_then(Value::as_str), all[0].get("format")),
        },
    };
    let text = text.unwrap_or_default();
    let invalid = || "invalid base64".to_owned();
    let lenient = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    match format.and_then(Value::as_str).unwrap_or("%B") {
        "%s" | "%r" => Ok(encoded(text.as_bytes())),
        "%b" => {
            let kept: String = text
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/'))
                .collect();
            let whole = kept.len() - usize::from(kept.len() % 4 == 1);
            lenient
                .decode(&kept[..whole])
                .map(|b| encoded(&b))
                .map_err(|_| invalid())
        }
        "%u" => {
            let standard = text.replace('-', "+").replace('_', "/");
            lenient
                .decode(standard)
                .map(|b| encoded(&b))
                .map_err(|_| invalid())
        }
        _ => STANDARD
            .decode(text)
            .map(|b| encoded(&b))
            .map_err(|_| invalid()),
    }
}

fn uri_text(parts: &Value) -> String {
    let part = |name: &str| {
        parts
            .get(name)
            .map(strings::puppet_string)
            .filter(|text| !text.is_empty())
    };
    let mut out = String::new();
    if let Some(scheme) = part("scheme") {
        out.push_str(&scheme);
        out.push(':');
    }
    if let Some(opaque) = part("opaque") {
        out.push_str(&opaque);
        return out;
    }
    if let Some(host) = part("host") {
        out.push_str("//");
        if let Some(userinfo) = part("userinfo") {
            out.push_str(&userinfo);
            out.push('@');
        }
        out.push_str(&host);
        if let Some(port) = part("port") {
            out.push(':');
            out.push_str(&port);
        }
    }
    out.push_str(&part("path").unwrap_or_default());
    for (name, sign) in [("query", '?'), ("fragment", '#')] {
        if let Some(text) = part(name) {
            out.push(sign);
            out.push_str(&text);
        }
    }
    out
}

/// Ruby's `Regexp.escape`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if "[]{}()|-*.\\?+^$# ".contains(c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
