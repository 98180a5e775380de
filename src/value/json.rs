//! JSON as `Puppet::Util::Json.load` reads it.

use std::sync::Arc;

use num_bigint::BigInt;

use super::Value;

/// The value of a JSON number or word that was accepted by the parser.
pub(super) fn literal(text: &str) -> Value {
    match text {
        "null" => Value::Undef,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if text.contains(['.', 'e', 'E']) => Value::Float(text.parse().unwrap_or(f64::NAN)),
        _ => match text.parse::<i64>() {
            Ok(number) => Value::Int(number),
            Err(_) => text
                .parse::<BigInt>()
                .map_or(Value::Undef, |number| Value::BigInt(Arc::new(number))),
        },
    }
}
