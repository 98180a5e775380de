//! Parses tagged JSON, as in `hiera-ls lookup --batch` and the case files, into values.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hiera_ls::value::{HashMap, JsonError, Rich, Value, from_json};

/// The value of tagged JSON text. Unknown tags are kept as hashes.
pub(crate) fn from_tagged_json(text: &str) -> Result<Value, JsonError> {
    from_json(text).map(untag)
}

fn untag(value: Value) -> Value {
    match value {
        Value::Array(elements) => elements
            .iter()
            .cloned()
            .map(untag)
            .collect::<Vec<_>>()
            .into(),
        Value::Hash(hash) => {
            let tagged = Value::Hash(hash);
            if let Some(pairs) = tagged.get("__pairs").and_then(Value::as_array) {
                return untag_pairs(pairs);
            }
            if let Some(ptype) = tagged.get("__ptype").and_then(Value::as_str) {
                let inner = tagged.get("value").cloned().unwrap_or_default();
                if let Some(value) = untag_type(ptype, inner) {
                    return value;
                }
            }
            let entries = tagged.as_hash().into_iter().flatten();
            let hash: HashMap = entries
                .map(|(k, v)| (k.clone(), untag(v.clone())))
                .collect();
            Value::from(hash)
        }
        other @ (Value::Undef
        | Value::Bool(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Float(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Symbol(_)
        | Value::Sensitive(_)
        | Value::Default
        | Value::Rich(_)
        | Value::Opaque(_)) => other,
    }
}

fn untag_pairs(pairs: &[Value]) -> Value {
    let mut hash = HashMap::default();
    for pair in pairs {
        if let Some([key, value]) = pair.as_array() {
            hash.insert(untag(key.clone()), untag(value.clone()));
        }
    }
    Value::from(hash)
}

fn untag_type(ptype: &str, inner: Value) -> Option<Value> {
    let text = inner.as_str();
    Some(match ptype {
        "Sensitive" => Value::Sensitive(Arc::new(untag(inner))),
        "Symbol" => Value::Symbol(Arc::from(text?)),
        "Default" => Value::Default,
        "BinaryString" => Value::Bytes(Arc::from(BASE64.decode(text?).ok()?)),
        "Float" => Value::Float(match text? {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return None,
        }),
        "Regexp" => rich("Regexp", text?.to_owned()),
        "Binary" => rich("Binary", text?.to_owned()),
        "Timestamp" => rich("Timestamp", text?.to_owned()),
        "Timespan" => rich("Timespan", text?.to_owned()),
        "SemVer" => rich("SemVer", text?.to_owned()),
        "SemVerRange" => rich("SemVerRange", text?.to_owned()),
        "URI" => rich("URI", text?.to_owned()),
        "Type" => rich("Type", text?.to_owned()),
        _ => return None,
    })
}

fn rich(ptype: &'static str, text: String) -> Value {
    Value::Rich(Arc::new(Rich { ptype, text }))
}
