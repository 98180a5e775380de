//! `if`, `unless`, `case` and selectors, and the matching of values
//! (`pops/evaluator/evaluator_impl.rb`, `compare_operator.rb`).

use std::cmp::Ordering;

use super::evaluator::{Evaluator, body, is_type, not_known, without_parentheses};
use super::stop::{Evaluated, Stop};
use crate::datatype;
use crate::regexp::Regexp;
use crate::syntax::puppet::{Conditional, Expression, ExpressionKind, Prefix};
use crate::value::{HashMap, Value, compare_numbers};

impl Evaluator<'_> {
    /// `if` for `wanted` true, `unless` for false.
    pub(super) fn condition(&mut self, condition: &Conditional, wanted: bool) -> Evaluated {
        self.guarded(|evaluator| match evaluator.evaluate(&condition.test) {
            Ok(test) if test.is_falsey() != wanted => evaluator.branch(condition.then.as_ref()),
            Ok(_) => evaluator.branch(condition.otherwise.as_ref()),
            Err(Stop::Unknown(because)) => {
                let branches = condition.then.iter().chain(&condition.otherwise);
                Err(evaluator.passed_over(branches, because))
            }
            Err(stop) => Err(stop),
        })
    }

    pub(super) fn case(&mut self, test: &Expression, options: &[Expression]) -> Evaluated {
        self.guarded(|evaluator| match evaluator.choose(test, options) {
            Ok(Some(option)) => match &option.kind {
                ExpressionKind::CaseOption(_, then) => evaluator.branch(then.as_deref()),
                _ => Ok(Value::Undef),
            },
            Ok(None) => Ok(Value::Undef),
            Err(Stop::Unknown(because)) => Err(evaluator.passed_over(options, because)),
            Err(stop) => Err(stop),
        })
    }

    pub(super) fn selector(&mut self, test: &Expression, entries: &[Expression]) -> Evaluated {
        self.guarded(|evaluator| match evaluator.choose(test, entries) {
            Ok(Some(entry)) => match &entry.kind {
                ExpressionKind::SelectorEntry(pair) => evaluator.evaluate(&pair[1]),
                _ => Ok(Value::Undef),
            },
            Ok(None) => Err(Stop::failed(
                "No matching entry for selector parameter with this value",
            )),
            Err(Stop::Unknown(because)) => Err(evaluator.passed_over(entries, because)),
            Err(stop) => Err(stop),
        })
    }

    fn branch(&mut self, node: Option<&Expression>) -> Evaluated {
        self.block(body(node))
    }

    /// Discards the groups of matches afterwards.
    fn guarded(&mut self, inner: impl FnOnce(&mut Self) -> Evaluated) -> Evaluated {
        let guard = self.variables.guard();
        let result = inner(self);
        self.variables.release(guard);
        result
    }

    /// The first option that matches, else the default; unknown if it is not certain which one.
    pub(super) fn choose<'n>(
        &mut self,
        test: &Expression,
        options: &'n [Expression],
    ) -> Evaluated<Option<&'n Expression>> {
        let test = self.evaluate(test)?;
        let mut default = None;
        for option in options {
            let values = match &option.kind {
                ExpressionKind::CaseOption(values, _) => &values[..],
                ExpressionKind::SelectorEntry(pair) => &pair[..1],
                _ => continue,
            };
            for value in values {
                let value = without_parentheses(value);
                if matches!(value.kind, ExpressionKind::Default) {
                    default = Some(option);
                } else if self.matches_option(&test, value)? {
                    return Ok(Some(option));
                }
            }
        }
        Ok(default)
    }

    fn matches_option(&mut self, test: &Value, option: &Expression) -> Evaluated<bool> {
        if is_type(option) {
            let expected = self.written_type(option)?;
            return Ok(datatype::check(&expected, test).is_ok());
        }
        if let ExpressionKind::Unary(Prefix::Splat, _) = &option.kind {
            for one in self.unfolded(std::slice::from_ref(option))? {
                if self.matches(test, &one)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let option = self.evaluate(option)?;
        self.matches(test, &option)
    }

    /// Whether a value matches an option of a `case`.
    pub(super) fn matches(&mut self, value: &Value, option: &Value) -> Evaluated<bool> {
        self.step()?;
        match option {
            Value::Rich(rich) if rich.ptype == "Regexp" => match value.as_str() {
                Some(text) => self.search(rich.pattern().unwrap_or_default(), text),
                None => Ok(false),
            },
            Value::Rich(rich) if rich.ptype == "Type" => {
                let expected = datatype::type_of_value(option);
                let expected = expected.filter(|expected| !expected.has_reference());
                let expected = expected.ok_or_else(|| Stop::unknown("the type is not known"))?;
                Ok(datatype::check(&expected, value).is_ok())
            }
            Value::Rich(_) => Err(Stop::unknown("the comparison is not evaluated")),
            Value::Array(options) => {
                let Some(values) = value.as_array().filter(|all| all.len() == options.len()) else {
                    return Ok(false);
                };
                for (value, option) in values.iter().zip(options.iter()) {
                    if !self.matches(value, option)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Value::Hash(options) => {
                let Some(values) = value.as_hash() else {
                    return Ok(false);
                };
                for (key, option) in options.iter() {
                    let value = values.get(key).cloned().unwrap_or_default();
                    if !self.matches(&value, option)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Value::Default => Ok(true),
            _ => self.equals(value, option),
        }
    }

    /// Matches a value with the right side of `=~`.
    pub(super) fn matches_operand(&mut self, value: &Value, right: &Expression) -> Evaluated<bool> {
        if is_type(right) {
            let expected = self.written_type(right)?;
            return Ok(datatype::check(&expected, value).is_ok());
        }
        let mut pattern = self.evaluate(right)?;
        if let Some(source) = pattern.as_str() {
            pattern = datatype::regexp_value(source);
        }
        match &pattern {
            Value::Rich(rich) if rich.ptype == "Regexp" => {
                let Some(text) = value.as_str() else {
                    return Err(Stop::failed(
                        "Left match operand must result in a String value",
                    ));
                };
                self.search(rich.pattern().unwrap_or_default(), text)
            }
            Value::Rich(rich) if rich.ptype == "Type" => self.matches(value, &pattern),
            Value::Rich(_) => Err(Stop::unknown("the match is not evaluated")),
            _ => Err(Stop::failed(
                "Can not convert right match operand to a regular expression",
            )),
        }
    }

    /// Searches a pattern, and keeps its groups if it matches.
    pub(super) fn search(&mut self, source: &str, text: &str) -> Evaluated<bool> {
        let groups = self.groups(source, text)?;
        let is_found = groups.is_some();
        if let Some(groups) = groups {
            self.variables.matched(groups);
        }
        Ok(is_found)
    }

    pub(super) fn pattern(&self, source: &str) -> Evaluated<Regexp> {
        let pattern = self.host.pattern(source);
        pattern.ok_or_else(|| not_matched(source))
    }

    /// The groups of the first match of a pattern.
    pub(super) fn groups(
        &mut self,
        source: &str,
        text: &str,
    ) -> Evaluated<Option<Vec<Option<String>>>> {
        let pattern = self.pattern(source)?;
        // Most patterns do not match, and finding groups is slower.
        if !pattern.is_match(text).map_err(|_| not_matched(source))? {
            return Ok(None);
        }
        pattern.captures(text).map_err(|_| not_matched(source))
    }

    /// `value in all`
    pub(super) fn includes(&mut self, all: &Value, value: &Value) -> Evaluated<bool> {
        match all {
            Value::String(text) => match value {
                Value::String(part) => Ok(text.to_lowercase().contains(&part.to_lowercase())),
                Value::Rich(rich) if rich.ptype == "Regexp" => {
                    self.search(rich.pattern().unwrap_or_default(), text)
                }
                Value::Rich(_) => Err(Stop::unknown("the comparison is not evaluated")),
                _ => Ok(false),
            },
            Value::Array(elements) => self.is_element(elements, value),
            Value::Hash(hash) => {
                let keys: Vec<Value> = hash.keys().cloned().collect();
                self.is_element(&keys, value)
            }
            Value::Rich(_) => Err(Stop::unknown("the comparison is not evaluated")),
            Value::Opaque(_) => Err(not_known(all)),
            _ => Ok(false),
        }
    }

    fn is_element(&mut self, elements: &[Value], value: &Value) -> Evaluated<bool> {
        for element in elements {
            let is_it = match value {
                Value::Rich(rich) if rich.ptype == "Regexp" => match element.as_str() {
                    Some(text) => self.search(rich.pattern().unwrap_or_default(), text)?,
                    None => false,
                },
                Value::Rich(rich) if rich.ptype == "Type" => self.matches(element, value)?,
                // The element is the pattern here.
                Value::String(_) => self.matches(value, element)?,
                _ => self.equals(element, value)?,
            };
            if is_it {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `==`: strings case-insensitively, numbers by value.
    pub(super) fn equals(&mut self, left: &Value, right: &Value) -> Evaluated<bool> {
        self.step()?;
        Ok(match (left, right) {
            (Value::String(left), Value::String(right)) => left.eq_ignore_ascii_case(right),
            (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
                compare_numbers(left, right) == Some(Ordering::Equal)
            }
            (Value::Array(left), Value::Array(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (left, right) in left.iter().zip(right.iter()) {
                    if !self.equals(left, right)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Hash(left), Value::Hash(right)) => self.equal_hashes(left, right)?,
            (Value::Rich(left), Value::Rich(right)) => match (left.ptype, right.ptype) {
                (one, other) if one != other => false,
                ("Regexp", _) => left == right,
                _ if left == right => true,
                _ => return Err(Stop::unknown("the comparison is not evaluated")),
            },
            (Value::Opaque(_), _) => return Err(not_known(left)),
            (_, Value::Opaque(_)) => return Err(not_known(right)),
            _ => left == right,
        })
    }

    fn equal_hashes(&mut self, left: &HashMap, right: &HashMap) -> Evaluated<bool> {
        if left.len() != right.len() {
            return Ok(false);
        }
        for (key, value) in left {
            let other = right.get(key).cloned().unwrap_or_default();
            if !self.equals(&other, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The stop for a pattern that no engine here can run.
pub(super) fn not_matched(source: &str) -> Stop {
    Stop::unknown(format!("the pattern /{source}/ cannot be matched here"))
}
