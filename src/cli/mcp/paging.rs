//! Cuts answers: a part of the main list, the beginnings of all other lists and long texts, with counts and the
//! way to get the rest.

use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum number of bytes of an answer as JSON; only an answer of one element may be longer.
const MAX_ANSWER: usize = 256 << 10;

/// Maximum number of counts of what is left out.
const MAX_CUTS: usize = 50;

/// Which part of an answer is wanted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default)]
pub(super) struct WantedPart {
    /// The first element of the main list.
    offset: usize,
    /// How many of its elements.
    limit: usize,
    /// How many elements of other lists.
    list_limit: usize,
    /// How many characters of texts.
    text_limit: usize,
}

impl Default for WantedPart {
    fn default() -> WantedPart {
        WantedPart {
            offset: 0,
            limit: 50,
            list_limit: 20,
            text_limit: 4_000,
        }
    }
}

/// Where the main list of an answer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MainList {
    /// The answer itself.
    Whole,
    /// A member of the answer.
    Member(&'static str),
    /// The members of that name of each element of the answer, one after the other.
    Inner(&'static str),
}

/// A part of an answer.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) answer: Value,
    /// The length of the main list.
    pub(super) total: usize,
    /// The elements of the main list that are in this part.
    pub(super) shown: std::ops::Range<usize>,
    /// What is cut elsewhere.
    pub(super) left_out: Vec<Value>,
}

impl WantedPart {
    /// The names of all fields, in the input of every tool.
    pub(super) const FIELDS: [&str; 4] = ["offset", "limit", "list_limit", "text_limit"];

    /// Their schemas.
    pub(super) fn schemas() -> [(&'static str, Value); 4] {
        let number = |least: usize, default: usize, about: &str| json!({"type": "integer", "minimum": least, "default": default, "description": about});
        let all = WantedPart::default();
        [
            (
                "offset",
                number(
                    0,
                    all.offset,
                    "The first element of the main list; 'next_offset' of the last answer has the rest",
                ),
            ),
            (
                "limit",
                number(1, all.limit, "Maximum number of elements of the main list"),
            ),
            (
                "list_limit",
                number(
                    0,
                    all.list_limit,
                    "Maximum number of elements of every other list, such as of nodes; 'left_out' says what is cut",
                ),
            ),
            (
                "text_limit",
                number(1, all.text_limit, "Maximum number of characters of a text"),
            ),
        ]
    }

    /// The wanted part of an answer.
    pub(super) fn part(self, mut answer: Value, list: MainList) -> Part {
        let elements = taken(&mut answer, list);
        let total = elements.len();
        let from = self.offset.min(total);
        let mut left_out = Vec::new();
        let mut kept: Vec<(usize, Value)> = Vec::new();
        self.cut(&mut answer, &mut String::from("/answer"), &mut left_out);
        let mut size = answer.to_string().len();
        let wanted = elements.into_iter().skip(from).take(self.limit.max(1));
        for (of, mut element) in wanted {
            let before = left_out.len();
            let mut at = place(list, of, kept.len());
            self.cut(&mut element, &mut at, &mut left_out);
            size += element.to_string().len();
            if size > MAX_ANSWER && !kept.is_empty() {
                left_out.truncate(before);
                break;
            }
            kept.push((of, element));
        }
        let shown = from..from + kept.len();
        put(&mut answer, list, kept);
        left_out.truncate(MAX_CUTS);
        Part {
            answer,
            total,
            shown,
            left_out,
        }
    }

    /// Cuts lists and texts within a value at a JSON pointer.
    fn cut(self, value: &mut Value, at: &mut String, left_out: &mut Vec<Value>) {
        let mut note = |at: &str, total: usize, shown: usize| {
            left_out.push(json!({"at": at, "total": total, "shown": shown}));
        };
        let length = at.len();
        match value {
            Value::String(text) => {
                if let Some((end, _)) = text.char_indices().nth(self.text_limit) {
                    note(at, text.chars().count(), self.text_limit);
                    text.truncate(end);
                    text.push('…');
                }
            }
            Value::Array(all) => {
                if all.len() > self.list_limit {
                    note(at, all.len(), self.list_limit);
                    all.truncate(self.list_limit);
                }
                for (index, one) in all.iter_mut().enumerate() {
                    at.push_str(&format!("/{index}"));
                    self.cut(one, at, left_out);
                    at.truncate(length);
                }
            }
            Value::Object(members) => {
                for (name, one) in members {
                    at.push('/');
                    at.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    self.cut(one, at, left_out);
                    at.truncate(length);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Takes the elements of the main list out of an answer, with the number of the element that they are in.
fn taken(answer: &mut Value, list: MainList) -> Vec<(usize, Value)> {
    let all = |value: &mut Value| match value {
        Value::Array(all) => std::mem::take(all),
        _ => Vec::new(),
    };
    match list {
        MainList::Whole => all(answer).into_iter().enumerate().collect(),
        MainList::Member(name) => {
            let member = answer.get_mut(name).map(all).unwrap_or_default();
            member.into_iter().map(|one| (0, one)).collect()
        }
        MainList::Inner(name) => {
            let outer = answer.as_array_mut().into_iter().flatten().enumerate();
            let inner = outer.flat_map(|(of, one)| {
                let inner = one.get_mut(name).map(all).unwrap_or_default();
                inner.into_iter().map(move |one| (of, one))
            });
            inner.collect()
        }
    }
}

/// The JSON pointer of an element of the main list.
fn place(list: MainList, of: usize, index: usize) -> String {
    match list {
        MainList::Whole => format!("/answer/{index}"),
        MainList::Member(name) => format!("/answer/{name}/{index}"),
        MainList::Inner(name) => format!("/answer/{of}/{name}/{index}"),
    }
}

/// Puts elements back; elements of the answer that have lost theirs are removed.
fn put(answer: &mut Value, list: MainList, kept: Vec<(usize, Value)>) {
    match list {
        MainList::Whole => {
            if answer.is_array() {
                *answer = kept.into_iter().map(|(_, one)| one).collect();
            }
        }
        MainList::Member(name) => {
            if let Some(member) = answer.get_mut(name) {
                *member = kept.into_iter().map(|(_, one)| one).collect();
            }
        }
        MainList::Inner(name) => {
            let Some(outer) = answer.as_array_mut() else {
                return;
            };
            for (of, element) in kept {
                let inner = outer.get_mut(of).and_then(|one| one.get_mut(name));
                if let Some(inner) = inner.and_then(Value::as_array_mut) {
                    inner.push(element);
                }
            }
            let has_some = |one: &Value| one[name].as_array().is_none_or(|inner| !inner.is_empty());
            outer.retain(has_some);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(offset: usize, limit: usize) -> WantedPart {
        WantedPart {
            offset,
            limit,
            list_limit: 2,
            text_limit: 5,
        }
    }

    #[test]
    fn parts_follow_one_another() {
        let rows = json!([
            {"key": "a", "answers": [{"value": 1}, {"value": 2}]},
            {"key": "b", "answers": [{"value": 3}]},
        ]);
        let mut values = Vec::new();
        let mut offset = 0;
        loop {
            let part = wanted(offset, 1).part(rows.clone(), MainList::Inner("answers"));
            assert_eq!(part.total, 3);
            let row = part.answer[0].clone();
            assert_eq!(part.answer.as_array().unwrap().len(), 1);
            values.push(format!("{} {}", row["key"], row["answers"][0]["value"]));
            offset = part.shown.end;
            if offset == part.total {
                break;
            }
        }
        assert_eq!(values, ["\"a\" 1", "\"a\" 2", "\"b\" 3"]);
        let past = wanted(9, 1).part(json!([1, 2]), MainList::Whole);
        assert_eq!((past.answer, past.shown), (json!([]), 2..2));
    }

    #[test]
    fn what_is_cut_is_counted() {
        let answer = json!({"levels": [{"nodes": ["a", "b", "c"]}], "text": "äbcdefg"});
        let part = wanted(0, 5).part(answer, MainList::Member("levels"));
        let expected = json!({"levels": [{"nodes": ["a", "b"]}], "text": "äbcde…"});
        assert_eq!(part.answer, expected);
        let left_out = [
            json!({"at": "/answer/text", "total": 7, "shown": 5}),
            json!({"at": "/answer/levels/0/nodes", "total": 3, "shown": 2}),
        ];
        assert_eq!(part.left_out, left_out);
    }

    #[test]
    fn an_answer_has_a_maximum_size() {
        let long = "x".repeat(MAX_ANSWER / 3);
        let all = WantedPart {
            limit: 100,
            text_limit: usize::MAX,
            ..WantedPart::default()
        };
        let part = all.part(json!([long, long, long, long]), MainList::Whole);
        assert_eq!((part.total, part.shown), (4, 0..2));
        let longest = json!(["x".repeat(2 * MAX_ANSWER), 1]);
        let part = all.part(longest, MainList::Whole);
        assert_eq!(part.shown, 0..1);
    }
}
