//! Digs into a value with the segments of a dotted key (`SubLookup#sub_lookup`).

use super::engine::Engine;
use super::error::{ErrorClass, Failure, Found, no_method, raise};
use super::trace::{TraceEvent, TraceKind};
use crate::interpolation::Segment;
use crate::value::Value;

impl Engine<'_> {
    /// Digs `segments` out of `value`; `key` is the whole key, for messages.
    pub(super) fn dig(&mut self, key: &str, segments: &[Segment], value: Value) -> Found {
        if segments.is_empty() {
            return Ok(value);
        }
        let title = || {
            let parts: Vec<String> = segments.iter().map(ToString::to_string).collect();
            TraceKind::SubKey(parts.join("."))
        };
        self.with(title, |engine| {
            let mut value = value;
            for segment in segments {
                value = engine.with(
                    || TraceKind::Segment,
                    |engine| {
                        let found = step(key, segment, &value);
                        match &found {
                            Ok(value) => {
                                engine.event(|| {
                                    TraceEvent::Found(segment.to_string(), value.clone())
                                });
                            }
                            Err(Failure::NotFound) => {
                                engine.event(|| TraceEvent::NotFound(segment.to_string()));
                            }
                            Err(Failure::Error(_)) => {}
                        }
                        found
                    },
                )?;
            }
            Ok(value)
        })
    }
}

fn step(key: &str, segment: &Segment, value: &Value) -> Found {
    match (value, segment) {
        (Value::Undef, _) => Err(Failure::NotFound),
        (Value::Array(_), Segment::Index(_)) | (Value::Hash(_), _) => {
            segment.part_of(value).cloned().ok_or(Failure::NotFound)
        }
        (Value::Int(_) | Value::BigInt(_), _) => no_method("include?", value),
        (Value::Opaque(_), _) => Ok(value.clone()),
        _ => raise(
            ErrorClass::Lookup,
            format!(
                "Data Provider type mismatch: Got {} when a hash-like object was expected to \
                 access value using '{segment}' from key '{key}'",
                value.ruby_class()
            ),
        ),
    }
}
