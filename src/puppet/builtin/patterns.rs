//! Functions with patterns: `split`, `regsubst`, `match`.

use super::Arguments;
use crate::puppet::conditions::not_matched;
use crate::puppet::evaluator::Evaluator;
use crate::puppet::stop::{Evaluated, Stop};
use crate::regexp::{Groups, Regexp};
use crate::value::Value;

pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    Some(match (call.name, call.values) {
        ("split" | "match", [Value::String(text), pattern]) => match source_of(pattern) {
            Some(source) if call.name == "split" => split(evaluator, text, &source),
            Some(source) => matched(evaluator, text, &source),
            None => Err(call.refused()),
        },
        ("regsubst", [target, pattern, Value::String(by), flags @ ..]) => {
            let flags: &str = match flags {
                [] | [Value::Undef] => "",
                [Value::String(flags)] => flags,
                _ => return None,
            };
            replaced(evaluator, call, target, (pattern, by, flags))
        }
        _ => return None,
    })
}

/// The source of a pattern, or of a text used as one.
fn source_of(pattern: &Value) -> Option<String> {
    match pattern {
        Value::String(source) => Some(source.to_string()),
        Value::Rich(rich) => rich.pattern().map(str::to_owned),
        _ => None,
    }
}

fn find(pattern: &Regexp, text: &str, from: usize) -> Evaluated<Option<Groups>> {
    let found = pattern.captures_at(text, from);
    found.map_err(|_| not_matched(pattern.source()))
}

fn matched(evaluator: &mut Evaluator<'_>, text: &str, source: &str) -> Evaluated {
    let groups = evaluator.groups(source, text)?;
    let value = |group: Option<String>| group.map(Value::from).unwrap_or_default();
    Ok(groups.map_or(Value::Undef, |groups| {
        Value::array(groups.into_iter().map(value))
    }))
}

/// The length in bytes of the character at an offset.
fn step(text: &str, at: usize) -> usize {
    text.get(at..)
        .and_then(|rest| rest.chars().next())
        .map_or(1, char::len_utf8)
}

/// Ruby's `String#split` by a pattern.
fn split(evaluator: &mut Evaluator<'_>, text: &str, source: &str) -> Evaluated {
    let pattern = evaluator.pattern(source)?;
    let mut parts: Vec<Value> = Vec::new();
    let (mut from, mut start, mut was_empty) = (0, 0, false);
    while start <= text.len() {
        evaluator.step()?;
        let Some(groups) = find(&pattern, text, start)? else {
            break;
        };
        let Some(whole) = groups[0].clone() else {
            break;
        };
        if whole.start == start && whole.is_empty() {
            if text.is_empty() {
                parts.push(Value::from(""));
                break;
            }
            if !was_empty {
                start += step(text, start);
                was_empty = true;
                continue;
            }
            let end = (from + step(text, from)).min(text.len());
            parts.push(Value::from(&text[from..end]));
            from = start;
        } else {
            parts.push(Value::from(&text[from..whole.start]));
            from = whole.end;
            start = whole.end;
        }
        was_empty = false;
        let groups = groups.into_iter().skip(1).flatten();
        parts.extend(groups.map(|group| Value::from(&text[group])));
    }
    if !text.is_empty() && text.len() > from {
        parts.push(Value::from(&text[from..]));
    }
    while parts.last().is_some_and(|last| last.as_str() == Some("")) {
        parts.pop();
    }
    Ok(Value::from(parts))
}

fn replaced(
    evaluator: &mut Evaluator<'_>,
    call: &Arguments<'_>,
    target: &Value,
    (pattern, by, flags): (&Value, &str, &str),
) -> Evaluated {
    let mut source = source_of(pattern).ok_or_else(|| call.refused())?;
    let options: String = flags.chars().filter(|flag| *flag != 'G').collect();
    let options = options.to_lowercase().replace('e', "x");
    if !options.is_empty() {
        let known = options.chars().all(|option| "xim".contains(option));
        if !known || pattern.as_str().is_none() {
            return Err(call.refused());
        }
        source = format!("(?{options}:{source})");
    }
    let pattern = evaluator.pattern(&source)?;
    let everywhere = flags.contains('G');
    let mut one = |text: &str| substituted(evaluator, &pattern, text, (by, everywhere));
    match target {
        Value::String(text) => one(text),
        Value::Array(texts) => {
            let mut all = Vec::with_capacity(texts.len());
            for text in texts.iter() {
                all.push(one(text.as_str().ok_or_else(|| call.refused())?)?);
            }
            Ok(Value::from(all))
        }
        _ => Err(call.refused()),
    }
}

/// Ruby's `sub` and `gsub`.
fn substituted(
    evaluator: &mut Evaluator<'_>,
    pattern: &Regexp,
    text: &str,
    (by, everywhere): (&str, bool),
) -> Evaluated {
    let mut out = String::new();
    let (mut copied, mut start) = (0, 0);
    while start <= text.len() {
        evaluator.step()?;
        let Some(groups) = find(pattern, text, start)? else {
            break;
        };
        let Some(whole) = groups[0].clone() else {
            break;
        };
        out.push_str(&text[copied..whole.start]);
        replacement(by, (pattern, text), &groups, &mut out)?;
        copied = whole.end;
        start = if whole.is_empty() {
            whole.end + step(text, whole.end)
        } else {
            whole.end
        };
        if !everywhere {
            break;
        }
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    evaluator.sized(Value::from(out))
}

/// Appends a replacement, with its references to groups and to the text around the match (Ruby's `rb_reg_regsub`).
///
/// # Errors
/// A name that no group has, or without its end.
fn replacement(
    by: &str,
    (pattern, text): (&Regexp, &str),
    groups: &Groups,
    out: &mut String,
) -> Evaluated<()> {
    let group = |at: usize| {
        let range = groups.get(at).cloned().flatten();
        range.and_then(|range| text.get(range)).unwrap_or_default()
    };
    let whole = groups.first().cloned().flatten().unwrap_or_default();
    // Ruby numbers no groups if some have names.
    let are_named = pattern.names().next().is_some();
    let mut rest = by;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let sign = behind.chars().next();
        rest = sign.map_or(behind, |sign| &behind[sign.len_utf8()..]);
        match sign {
            Some('0' | '&') => out.push_str(group(0)),
            Some(number @ '1'..='9') if !are_named => {
                out.push_str(group(number.to_digit(10).unwrap_or(0) as usize));
            }
            Some('1'..='9') => {}
            Some('k') => match rest.strip_prefix('<').map(|name| name.split_once('>')) {
                Some(None) => return Err(Stop::failed("invalid group name reference format")),
                Some(Some((name, behind))) => {
                    let mut of_name = pattern.groups_named(name).peekable();
                    if of_name.peek().is_none() {
                        let message = format!("undefined group name reference: {name}");
                        return Err(Stop::failed(message));
                    }
                    let taken = of_name.filter(|at| groups.get(*at).is_some_and(Option::is_some));
                    out.push_str(taken.last().map(group).unwrap_or_default());
                    rest = behind;
                }
                None => out.push_str("\\k"),
            },
            Some('`') => out.push_str(&text[..whole.start]),
            Some('\'') => out.push_str(&text[whole.end..]),
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    Ok(())
}
