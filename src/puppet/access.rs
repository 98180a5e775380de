//! `a[b]` (`pops/evaluator/access_operator.rb`).

use super::evaluator::{Evaluator, not_known};
use super::operators::{Number, number};
use super::stop::{Evaluated, Stop};
use crate::interpolation::Segment;
use crate::syntax::puppet::{Expression, ExpressionKind};
use crate::value::Value;

impl Evaluator<'_> {
    pub(super) fn access(
        &mut self,
        node: &Expression,
        left: &Expression,
        keys: &[Expression],
    ) -> Evaluated {
        if matches!(left.kind, ExpressionKind::Reference(_)) {
            return self.type_value(node);
        }
        let value = match self.path(left, keys)? {
            Some((name, segments)) => {
                let strict = self.host.strict_variables();
                return self.reached(&name, &segments, strict);
            }
            None => self.evaluate(left)?,
        };
        let keys = self.unfolded(keys)?;
        self.part(&value, keys)
    }

    /// The variable and the names after it, if a value is read by names and numbers only: a partly
    /// known variable may contain it.
    fn path(
        &mut self,
        left: &Expression,
        keys: &[Expression],
    ) -> Evaluated<Option<(Box<str>, Vec<Segment>)>> {
        let [key] = keys else { return Ok(None) };
        let (name, mut segments) = match &left.kind {
            ExpressionKind::Variable(name) => (name.clone(), Vec::new()),
            ExpressionKind::Access(inner, keys) => match self.path(inner, keys)? {
                Some(path) => path,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let is_plain = matches!(
            key.kind,
            ExpressionKind::Text(_)
                | ExpressionKind::Name(_)
                | ExpressionKind::Variable(_)
                | ExpressionKind::Integer(_)
        );
        if !is_plain {
            return Ok(None);
        }
        segments.push(match self.evaluate(key)? {
            Value::String(text) => Segment::Name(text),
            Value::Int(number) => Segment::Index(number),
            _ => return Ok(None),
        });
        Ok(Some((name, segments)))
    }

    /// The value at the end of a path.
    fn reached(&mut self, name: &str, segments: &[Segment], strict: bool) -> Evaluated {
        let mut value = self.variables.get(name, segments, strict)?;
        for segment in segments {
            value = self.part(&value, vec![Value::from(segment)])?;
        }
        Ok(value)
    }

    pub(super) fn part(&mut self, value: &Value, keys: Vec<Value>) -> Evaluated {
        match value {
            Value::Hash(hash) => {
                let found = keys
                    .iter()
                    .map(|key| hash.get(key).cloned().unwrap_or_default());
                let mut found: Vec<Value> = found.collect();
                match found.len() {
                    0 => Err(Stop::failed("Hash supports [] with one or more arguments")),
                    1 => Ok(found.pop().unwrap_or_default()),
                    _ => {
                        found.retain(|value| !value.is_undef());
                        Ok(Value::from(found))
                    }
                }
            }
            Value::Array(elements) => match &indices(keys, &|key| self.number(key))?[..] {
                [at] => {
                    let at = position(*at, elements.len());
                    let found = at.and_then(|at| elements.get(at));
                    Ok(found.cloned().unwrap_or_default())
                }
                [from, count] => {
                    let slice = slice(*from, *count, elements.len());
                    let found = slice.and_then(|(from, to)| elements.get(from..to));
                    Ok(Value::array(found.unwrap_or_default().iter().cloned()))
                }
                _ => Err(Stop::failed("Array supports [] with one or two arguments")),
            },
            Value::String(text) => {
                let chars: Vec<char> = text.chars().collect();
                let found = match &indices(keys, &number)?[..] {
                    [at] => position(*at, chars.len()).map(|at| (at, at + 1)),
                    [from, count] => slice(*from, *count, chars.len()),
                    _ => return Err(Stop::failed("String supports [] with one or two arguments")),
                };
                let found = found.and_then(|(from, to)| chars.get(from..to));
                Ok(Value::from(
                    found.unwrap_or_default().iter().collect::<String>(),
                ))
            }
            Value::Rich(_) | Value::Bytes(_) | Value::BigInt(_) => {
                Err(Stop::unknown("the value is not read in parts"))
            }
            Value::Opaque(_) => Err(not_known(value)),
            _ => Err(Stop::failed(
                "Operator '[]' is not applicable to a value that is no collection",
            )),
        }
    }
}

/// Indices from keys, which `number` converts.
fn indices(keys: Vec<Value>, number: &dyn Fn(&Value) -> Evaluated<Number>) -> Evaluated<Vec<i64>> {
    let mut indices = Vec::new();
    for key in keys {
        match &key {
            Value::Array(inner) => indices.extend(self::indices(inner.to_vec(), number)?),
            key => match number(key)? {
                Number::Int(number) => indices.push(number),
                Number::Float(_) => return Err(Stop::failed("an index is an Integer")),
            },
        }
    }
    Ok(indices)
}

/// An index from the start or, if negative, from the end.
pub(super) fn position(at: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if at < 0 { length + at } else { at };
    usize::try_from(at).ok().filter(|_| at < length)
}

/// Start and end of a slice, by Puppet's rules for negative numbers.
fn slice(from: i64, count: i64, length: usize) -> Option<(usize, usize)> {
    let length = i64::try_from(length).ok()?;
    let (mut from, mut count) = (from, count);
    if from < 0 {
        from = length.checked_add(from)?;
    }
    if count < 0 {
        let rest = length.checked_sub(from)?;
        count = rest.checked_add(count)?.checked_add(1)?;
    }
    if from < 0 {
        count = count.checked_add(from)?;
        from = 0;
    }
    if count < 0 || from > length {
        return None;
    }
    let to = from.saturating_add(count).min(length);
    Some((usize::try_from(from).ok()?, usize::try_from(to).ok()?))
}
