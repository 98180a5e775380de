//! Parts of a key's value by dotted name: access and replacement.

use std::sync::Arc;

use crate::interpolation::Key;
use crate::value::Value;
use crate::workspace::LOOKUP_OPTIONS;

/// Splits a dotted name into the top-level key and the steps from its value to the part.
///
/// # Errors
/// Why the name is no key, for people.
pub fn parse(name: &str) -> Result<(Arc<str>, Vec<Value>), String> {
    if name == LOOKUP_OPTIONS {
        return Err("lookup_options says how keys are looked up: nodes get no value for it".into());
    }
    let parsed = Key::parse(name)
        .map_err(|_| format!("'{name}' is not a key: it lacks a quote or a name"))?;
    let root = parsed.root.as_name();
    let root = root.ok_or_else(|| format!("'{name}' is not a top-level key"))?;
    Ok((Arc::from(root), parsed.steps()))
}

/// Replaces a part of a value; `None` if a step leads into something other than a suitable hash or list.
#[must_use]
pub fn with_part(whole: Option<&Value>, steps: &[Value], part: &Value) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(part.clone());
    };
    match (whole, step) {
        (None, Value::String(_)) => {
            let inner = with_part(None, rest, part)?;
            Some(Value::hash([(step.as_str()?, inner)]))
        }
        (Some(Value::Hash(hash)), _) => {
            let inner = with_part(hash.get(step), rest, part)?;
            let mut hash = (**hash).clone();
            hash.insert(step.clone(), inner);
            Some(Value::from(hash))
        }
        (Some(Value::Array(elements)), Value::Int(number)) => {
            let at = usize::try_from(*number).ok()?;
            let inner = with_part(Some(elements.get(at)?), rest, part)?;
            let mut elements = elements.to_vec();
            elements[at] = inner;
            Some(Value::from(elements))
        }
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::load_yaml_value;

    fn value(text: &str) -> Value {
        load_yaml_value(text.as_bytes()).unwrap().unwrap()
    }

    fn check(whole: Option<&str>, name: &str, expected: Option<&str>) {
        let (_, steps) = parse(name).unwrap();
        let whole = whole.map(value);
        let found = with_part(whole.as_ref(), &steps, &value("9"));
        assert_eq!(found, expected.map(value), "{name}");
    }

    #[test]
    fn a_part_is_put_where_its_name_leads() {
        check(
            Some("{b: {c: 1, d: 2}}"),
            "a.b.c",
            Some("{b: {c: 9, d: 2}}"),
        );
        check(Some("{x: 1}"), "a.b.c", Some("{x: 1, b: {c: 9}}"));
        check(Some("[1, {c: 2}]"), "a.1.c", Some("[1, {c: 9}]"));
        check(Some("{b.c: 1}"), "a.'b.c'", Some("{b.c: 9}"));
        check(None, "a.b.c", Some("{b: {c: 9}}"));
        check(Some("text"), "a.b", None);
        check(Some("[1]"), "a.1", None);
        check(Some("{b: text}"), "a.b.c", None);
    }
}
