//! Functions for numbers.

use super::Arguments;
use crate::puppet::evaluator::Evaluator;
use crate::puppet::stop::Evaluated;
use crate::value::Value;

pub(super) fn call(_: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    if call.lambda.is_some() {
        return None;
    }
    let value = match (call.name, call.values) {
        ("abs", [Value::Int(number)]) => number.checked_abs().map(Value::Int),
        ("abs", [Value::Float(number)]) => Some(Value::Float(number.abs())),
        ("floor" | "ceiling" | "round", [number @ Value::Int(_)]) => Some(number.clone()),
        ("floor", [Value::Float(number)]) => whole(number.floor()),
        ("ceiling", [Value::Float(number)]) => whole(number.ceil()),
        ("round", [Value::Float(number)]) => whole(if *number > 0.0 {
            (number + 0.5).trunc()
        } else {
            (number - 0.5).trunc()
        }),
        ("max" | "min", values) => extreme(call.name, values),
        _ => return None,
    };
    Some(value.ok_or_else(|| call.refused()))
}

fn whole(number: f64) -> Option<Value> {
    // Exact within these bounds.
    (number.abs() < 9e15).then(|| Value::Int(number as i64))
}

/// The minimum or maximum of whole numbers.
fn extreme(name: &str, values: &[Value]) -> Option<Value> {
    let values = match values {
        [Value::Array(elements)] => elements,
        values => values,
    };
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    let numbers: Option<Vec<i64>> = values.iter().map(number).collect();
    let numbers = numbers?.into_iter();
    let found = if name == "max" {
        numbers.max()
    } else {
        numbers.min()
    };
    found.map(Value::Int)
}
