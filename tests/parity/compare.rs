//! Compares two answers: everything counts (value, order of hash keys, error class and text, issue
//! code, position, warnings, explanation) except noise without meaning for users.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use regex::Regex;
use serde_json::{Map, Value};

use crate::case::ROOT;

/// The compared parts of an answer, in the order of reports.
const FIELDS: [&str; 10] = [
    "crash",
    "found",
    "value",
    "error_class",
    "error",
    "issue_code",
    "error_file",
    "error_line",
    "logs",
    "explain",
];

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Found,
    NotFound,
    Failed,
    Unknown,
    Crashed,
}

/// The outcome of an answer.
pub fn outcome(answer: &Value) -> Outcome {
    if answer.get("crash").is_some() || answer.get("oracle_error").is_some() {
        return Outcome::Crashed;
    }
    match (
        answer.get("found").and_then(Value::as_bool),
        answer.get("not_found").and_then(Value::as_bool),
    ) {
        (Some(true), _) => Outcome::Found,
        (Some(false), Some(true)) => Outcome::NotFound,
        (Some(false), _) => Outcome::Failed,
        (None, _) => Outcome::Unknown,
    }
}

/// Counts of outcomes, for the summary line of a run.
#[derive(Default)]
pub struct Outcomes(BTreeMap<Outcome, usize>);

impl Outcomes {
    /// Counts one answer.
    pub fn count(&mut self, answer: &Value) {
        *self.0.entry(outcome(answer)).or_default() += 1;
    }

    /// How many answers had this outcome.
    pub fn of(&self, outcome: Outcome) -> usize {
        self.0.get(&outcome).copied().unwrap_or_default()
    }
}

impl std::fmt::Display for Outcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} found, {} not found, {} failed, {} unknown, {} crashed",
            self.of(Outcome::Found),
            self.of(Outcome::NotFound),
            self.of(Outcome::Failed),
            self.of(Outcome::Unknown),
            self.of(Outcome::Crashed),
        )
    }
}

/// Two answers that differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The compared fields that differ, in the order of [`FIELDS`].
    pub fields: Vec<&'static str>,
    /// A coarse class of the difference: equal for cases with a likely common cause.
    pub class: String,
}

/// The differences between the reference's answer and ours, both normalised. Fields that the
/// reference lacks because they were not requested are not compared: `explain`, the positions of
/// errors if it has `places`, and warnings if it has `logged`.
pub fn difference(puppet: &Value, ours: &Value) -> Option<Difference> {
    let empty = Map::new();
    let (p, o) = (
        puppet.as_object().unwrap_or(&empty),
        ours.as_object().unwrap_or(&empty),
    );
    let mut fields = Vec::new();
    for field in FIELDS {
        let (a, b) = (p.get(field), o.get(field));
        let same = match field {
            "logs" if p.contains_key("logged") => true,
            "explain" => a.is_none() || same_explanation(a, b),
            "error_file" | "error_line" if a.is_none() && p.contains_key("places") => true,
            _ => text_of(a) == text_of(b),
        };
        if !same {
            fields.push(field);
        }
    }
    if p.get("not_found") != o.get("not_found") && !fields.contains(&"found") {
        fields.insert(0, "found");
    }
    if fields.is_empty() {
        return None;
    }
    let class = class_of(&fields, p, o);
    Some(Difference { fields, class })
}

/// `convert_to` puts the parsed type into the options that an explanation prints, where Ruby's dump
/// of an object replaces the text: such a line cannot be compared.
fn same_explanation(puppet: Option<&Value>, ours: Option<&Value>) -> bool {
    let (Some(Value::String(puppet)), Some(Value::String(ours))) = (puppet, ours) else {
        return puppet == ours;
    };
    puppet == ours
        || puppet.contains(TYPE_DUMP)
            && puppet.lines().count() == ours.lines().count()
            && puppet
                .lines()
                .zip(ours.lines())
                .all(|(p, o)| p == o || p.contains(TYPE_DUMP))
}

const TYPE_DUMP: &str = "#<Puppet::Pops::Types::P";

/// Serialised text distinguishes `1` from `1.0` and orders of keys, which `Value`'s equality does
/// not.
pub fn text_of(value: Option<&Value>) -> String {
    value.map(Value::to_string).unwrap_or_default()
}

fn class_of(fields: &[&'static str], p: &Map<String, Value>, o: &Map<String, Value>) -> String {
    if let Some(crash) = o.get("crash").and_then(Value::as_str) {
        return format!("crash: {}", gist(crash));
    }
    if let Some(unknown) = o.get("unknown").and_then(Value::as_str) {
        return format!("unknown: {}", gist(unknown));
    }
    let of = |m: &Map<String, Value>, k: &str| {
        m.get(k).and_then(Value::as_str).unwrap_or("").to_string()
    };
    let ending = |m: &Map<String, Value>| match outcome(&Value::Object(m.clone())) {
        Outcome::Found => "found".to_string(),
        Outcome::NotFound => "not found".to_string(),
        Outcome::Failed | Outcome::Unknown | Outcome::Crashed => {
            format!("[{}] {}", of(m, "error_class"), gist(&of(m, "error")))
        }
    };
    match fields[0] {
        "found" | "error_class" | "error" => format!("puppet: {} | ours: {}", ending(p), ending(o)),
        "value" => format!(
            "value: puppet {} | ours {}",
            shape(p.get("value")),
            shape(o.get("value"))
        ),
        "explain" => {
            let (a, b) = first_differing_lines(&of(p, "explain"), &of(o, "explain"));
            format!("explain: puppet {} | ours {}", gist(&a), gist(&b))
        }
        "logs" => {
            let (a, b) = (messages(p.get("logs")), messages(o.get("logs")));
            let (a, b) = first_differing_lines(&a, &b);
            format!("logs: puppet {} | ours {}", gist(&a), gist(&b))
        }
        other => format!(
            "{other}: puppet {} | ours {}",
            text_of(p.get(other)),
            text_of(o.get(other))
        ),
    }
}

fn messages(logs: Option<&Value>) -> String {
    let list = logs
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    list.iter()
        .map(|l| l["message"].as_str().unwrap_or("").replace('\n', "\\n"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn first_differing_lines(a: &str, b: &str) -> (String, String) {
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return ("(same lines)".into(), "(same lines)".into()),
            (x, y) if x == y => {}
            (Some(x), Some(_)) if x.contains(TYPE_DUMP) => {}
            (x, y) => {
                return (
                    x.unwrap_or("(end)").trim().into(),
                    y.unwrap_or("(end)").trim().into(),
                );
            }
        }
    }
}

/// A coarse name for the error of an answer, if it has one.
pub fn error_kind(answer: &Value) -> Option<String> {
    Some(gist(answer.get("error")?.as_str()?))
}

/// A message without the names, paths and numbers in it.
pub fn gist(text: &str) -> String {
    thread_local! {
        static NAMES: Regex = Regex::new(r#"'[^']*'|"[^"]*"|\[[^\]]*\]|@@ROOT@@[^\s):,]*|-?\d+(\.\d+)?"#).expect("valid");
    }
    let short: String = text.chars().take(300).collect();
    NAMES
        .with(|names| names.replace_all(&short, "…"))
        .replace('\n', "⏎")
}

fn shape(value: Option<&Value>) -> &'static str {
    match value {
        None => "none",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(n)) if n.is_f64() => "float",
        Some(Value::Number(_)) => "integer",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(map)) if map.contains_key("__ptype") => "tagged",
        Some(Value::Object(map)) if map.contains_key("__pairs") => "pairs",
        Some(Value::Object(_)) => "hash",
    }
}

/// An answer without its noise: the case's folder becomes `@@ROOT@@`; object addresses, trailing
/// `(line: N, column: N)` and the id are removed.
pub fn normalised(answer: &Value, root: &Path) -> Value {
    thread_local! {
        static ADDRESS: Regex = Regex::new("0x[0-9a-f]{8,}").expect("valid");
        static PLACE: Regex = Regex::new(r" \(line: \d+, column: \d+\)").expect("valid");
    }
    let place = root.to_str().expect("UTF-8");
    fn walk(value: &Value, place: &str) -> Value {
        match value {
            Value::String(text) => Value::String(quiet(text, place)),
            Value::Array(list) => list.iter().map(|v| walk(v, place)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(k, v)| (quiet(k, place), walk(v, place)))
                .collect::<Map<_, _>>()
                .into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
    fn quiet(text: &str, place: &str) -> String {
        let text = text.replace(place, ROOT);
        let text = ADDRESS.with(|r| r.replace_all(&text, "0x…").into_owned());
        PLACE.with(|r| r.replace_all(&text, "").into_owned())
    }
    match walk(answer, place) {
        Value::Object(mut map) => {
            map.shift_remove("id");
            Value::Object(map)
        }
        other => other,
    }
}

/// Both answers with their differences, for a report.
pub fn side_by_side(fields: &[&str], puppet: &Value, ours: &Value) -> String {
    let mut out = String::new();
    for field in fields {
        let text = |v: &Value| match v.get(field) {
            None => "(absent)".to_string(),
            Some(Value::String(s)) => s.clone(),
            Some(other) => other.to_string(),
        };
        let (a, b) = (text(puppet), text(ours));
        if *field == "explain" {
            let _ = writeln!(out, "  explain, from the first differing line:");
            let same = a.lines().zip(b.lines()).take_while(|(x, y)| x == y).count();
            let part = |t: &str| {
                t.lines()
                    .skip(same.saturating_sub(2))
                    .take(10)
                    .map(|l| format!("      {l}\n"))
                    .collect::<String>()
            };
            let _ = write!(out, "    puppet:\n{}    ours:\n{}", part(&a), part(&b));
        } else {
            let _ = writeln!(out, "  {field}:\n    puppet: {a}\n    ours:   {b}");
        }
    }
    out
}
