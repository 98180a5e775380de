//! The level that each part of a merged value comes from.

use super::Context;
use crate::analysis::{LevelValue, dig};
use crate::ide::target::KeyTarget;
use crate::lookup::{Strategy, StrategyKind};
use crate::page::yaml::{Notes, masked};
use crate::page::{Line, joined, plain_words, text};
use crate::value::Value;

/// Maximum number of a value's parts with remarks.
const MAX_PARTS: usize = 5_000;

/// Remarks about a value.
#[derive(Default)]
pub(super) struct Remarks {
    /// About its parts.
    pub(super) parts: Notes,
    /// About all of it: removed elements.
    pub(super) whole: Vec<String>,
}

impl Remarks {
    /// The remarks about all of the value, as one line.
    pub(super) fn of_whole(&self) -> Line {
        let remarks = self.whole.iter();
        joined(remarks.map(|remark| vec![text(remark)]), " · ")
    }
}

/// Remarks about the parts of `value`, which is merged from `sources` (the highest first).
pub(super) fn notes(
    context: &Context<'_>,
    target: &KeyTarget,
    value: &Value,
    sources: &[LevelValue],
    strategy: &Strategy,
) -> Remarks {
    let knockout = strategy
        .options
        .get(&crate::value::StrKey("knockout_prefix"));
    let mut noter = Noter {
        context,
        key: &target.root,
        sources,
        is_deep: strategy.kind.is_deep(),
        lower_wins: strategy.kind == StrategyKind::ReverseDeep,
        knockout: knockout
            .and_then(Value::as_str)
            .filter(|prefix| !prefix.is_empty()),
        notes: Remarks::default(),
        parts: 0,
    };
    let steps = &target.steps;
    let givers: Vec<(usize, &Value)> = sources
        .iter()
        .enumerate()
        .filter_map(|(at, source)| Some((at, dig(&source.value, steps)?)))
        .collect();
    if sources.len() > 1 {
        noter.note(value, &givers, &mut Vec::new(), &mut steps.to_vec());
    }
    noter.notes
}

struct Noter<'a> {
    context: &'a Context<'a>,
    key: &'a str,
    sources: &'a [LevelValue],
    is_deep: bool,
    lower_wins: bool,
    knockout: Option<&'a str>,
    notes: Remarks,
    parts: usize,
}

impl Noter<'_> {
    fn note(
        &mut self,
        value: &Value,
        givers: &[(usize, &Value)],
        at: &mut Vec<usize>,
        steps: &mut Vec<Value>,
    ) {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return;
        }
        let merges_here = self.is_deep || at.is_empty();
        let all_hashes = givers.iter().all(|(_, given)| given.as_hash().is_some());
        let all_arrays = givers.iter().all(|(_, given)| given.as_array().is_some());
        match (value, givers) {
            (_, []) => {}
            (_, [(only, _)]) => self.put(at, *only, steps),
            (Value::Hash(hash), givers) if merges_here && all_hashes => {
                for (position, (key, part)) in hash.iter().enumerate() {
                    let below: Vec<(usize, &Value)> = givers
                        .iter()
                        .filter_map(|(source, given)| Some((*source, given.as_hash()?.get(key)?)))
                        .collect();
                    let winner = self.winner(&below);
                    let below = match (self.is_deep, winner) {
                        (true, _) | (false, None) => below,
                        (false, Some(winner)) => vec![winner],
                    };
                    at.push(position);
                    steps.push(key.clone());
                    self.note(part, &below, at, steps);
                    steps.pop();
                    at.pop();
                }
            }
            (Value::Array(elements), givers) if merges_here && (all_arrays || !self.is_deep) => {
                self.elements(elements, givers, at, steps);
            }
            (value, givers) => {
                let same: Vec<(usize, &Value)> = givers
                    .iter()
                    .copied()
                    .filter(|(_, given)| *given == value)
                    .collect();
                if let Some((source, _)) = self.winner(&same).or(self.winner(givers)) {
                    self.put(at, source, steps);
                }
            }
        }
    }

    fn winner<'v>(&self, givers: &[(usize, &'v Value)]) -> Option<(usize, &'v Value)> {
        if self.lower_wins {
            givers.last().copied()
        } else {
            givers.first().copied()
        }
    }

    fn elements(
        &mut self,
        elements: &[Value],
        givers: &[(usize, &Value)],
        at: &mut Vec<usize>,
        steps: &[Value],
    ) {
        // Merging removes the prefixed elements from the lists in the trace, so they are read from the files.
        let written: Vec<(usize, Value)> = match self.knockout {
            Some(_) => {
                let givers = givers.iter();
                let written = givers.map(|(at, given)| (*at, self.written(*at, steps, given)));
                written.collect()
            }
            None => Vec::new(),
        };
        // A knock-out only affects the next list.
        let is_removed = |giver: usize, element: &Value| {
            let above = giver.checked_sub(1).and_then(|above| written.get(above));
            let above = above.and_then(|(_, written)| written.as_array());
            let text = element.as_str().zip(self.knockout);
            text.zip(above).is_some_and(|((text, prefix), above)| {
                let mut names = above.iter().filter_map(Value::as_str);
                names.any(|name| name.strip_prefix(prefix) == Some(text))
            })
        };
        // The source of each element, and its index there.
        let origin: Vec<Option<(usize, Option<usize>)>> = elements
            .iter()
            .map(|element| {
                let givers = givers.iter().enumerate();
                givers
                    .filter(|(giver, _)| !is_removed(*giver, element))
                    .find_map(|(_, (source, given))| match given.as_array() {
                        Some(given) => {
                            let index = given.iter().position(|other| other == element)?;
                            Some((*source, Some(index)))
                        }
                        None => (*given == element).then_some((*source, None)),
                    })
            })
            .collect();
        let only = origin.first().copied().flatten().map(|(source, _)| source);
        let of_one =
            |origin: &Option<(usize, Option<usize>)>| origin.map(|(source, _)| source) == only;
        match only {
            Some(only) if origin.iter().all(of_one) => self.put(at, only, steps),
            _ => {
                for (position, origin) in origin.iter().enumerate() {
                    let Some((source, index)) = *origin else {
                        continue;
                    };
                    let mut steps = steps.to_vec();
                    steps.extend(index.map(|index| Value::Int(index as i64)));
                    at.push(position);
                    self.put(at, source, &steps);
                    at.pop();
                }
            }
        }
        self.knocked_out(elements, &written, at, steps);
    }

    /// Adds the elements of lower levels that were knocked out by a higher level.
    fn knocked_out(
        &mut self,
        elements: &[Value],
        written: &[(usize, Value)],
        at: &[usize],
        steps: &[Value],
    ) {
        let Some(prefix) = self.knockout else { return };
        for (position, (source, given)) in written.iter().enumerate() {
            for element in given.as_array().into_iter().flatten() {
                let name = element.as_str().and_then(|text| text.strip_prefix(prefix));
                let Some(name) = name else { continue };
                let was = Value::string(name);
                let below = written[position + 1..]
                    .iter()
                    .any(|(_, lower)| lower.as_array().is_some_and(|all| all.contains(&was)));
                if below && !elements.contains(&was) {
                    let name = masked(name);
                    let note = format!("\"{name}\" knocked out by {}", self.place(*source, steps));
                    match at {
                        [] => self.notes.whole.push(note),
                        at => self.add(at, note),
                    }
                }
            }
        }
    }

    /// A part of the value in a source's file, tokens unevaluated.
    fn written(&self, source: usize, steps: &[Value], given: &Value) -> Value {
        let path = self.sources[source].path.as_deref();
        let value = path
            .and_then(|path| self.context.view.analysis.own_value(path, self.key))
            .and_then(|value| dig(&value, steps).cloned());
        value.unwrap_or_else(|| given.clone())
    }

    fn put(&mut self, at: &[usize], source: usize, steps: &[Value]) {
        let place = self.place(source, steps);
        self.add(at, place);
    }

    fn add(&mut self, at: &[usize], note: String) {
        match self.notes.parts.get_mut(at) {
            Some(known) => *known = format!("{known}; {note}"),
            None => {
                self.notes.parts.insert(at.to_vec(), note);
            }
        }
    }

    fn place(&self, source: usize, steps: &[Value]) -> String {
        let source = &self.sources[source];
        match source.path {
            Some(_) => plain_words(&vec![self.context.source(source, self.key, steps)]),
            None => source.level.to_string(),
        }
    }
}
