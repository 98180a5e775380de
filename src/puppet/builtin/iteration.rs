//! Functions that call a block.

use super::Arguments;
use crate::puppet::evaluator::Evaluator;
use crate::puppet::stop::{Evaluated, Stop};
use crate::syntax::puppet::{ExpressionKind, Lambda, Parameter};
use crate::value::{HashMap, Value};

/// Maximum number of iterations of one call.
const MAX_ROUNDS: usize = 10_000;

/// One iteration: the block's arguments, and the element.
struct Round {
    key: Value,
    value: Value,
    is_entry: bool,
}

impl Round {
    /// The arguments of the block: two if it takes two.
    fn arguments(&self, takes_two: bool) -> Vec<Value> {
        match (takes_two, self.is_entry) {
            (true, _) => vec![self.key.clone(), self.value.clone()],
            (false, true) => vec![self.whole()],
            (false, false) => vec![self.value.clone()],
        }
    }

    /// The current element, or an entry as a list of two.
    fn whole(&self) -> Value {
        if self.is_entry {
            Value::array([self.key.clone(), self.value.clone()])
        } else {
            self.value.clone()
        }
    }
}

pub(super) fn call(evaluator: &mut Evaluator<'_>, call: &Arguments<'_>) -> Option<Evaluated> {
    let lambda = call.lambda?;
    Some(match (call.name, call.values) {
        ("with", values) => evaluator.yield_to(lambda, values.to_vec()),
        ("then", [Value::Undef]) => Ok(Value::Undef),
        ("then", [value]) => evaluator.yield_to(lambda, vec![value.clone()]),
        ("lest", [Value::Undef]) => evaluator.yield_to(lambda, Vec::new()),
        ("lest", [value]) => Ok(value.clone()),
        ("reduce", [over]) => reduced(evaluator, call, (lambda, over, None)),
        ("reduce", [over, memo]) => reduced(evaluator, call, (lambda, over, Some(memo))),
        (
            "each" | "map" | "filter" | "any" | "all" | "index" | "partition" | "group_by",
            [over],
        ) => match rounds(over) {
            Some(rounds) => iterated(evaluator, call.name, over, (lambda, rounds)),
            None => Err(call.refused()),
        },
        _ => return None,
    })
}

fn rounds(over: &Value) -> Option<Vec<Round>> {
    let is_entry = over.as_hash().is_some();
    let round = |(key, value): (Value, Value)| Round {
        key,
        value,
        is_entry,
    };
    let rounds: Vec<Round> = match over {
        Value::Array(elements) => {
            let numbered = elements.iter().enumerate();
            let numbered = numbered.map(|(at, each)| (Value::Int(at as i64), each.clone()));
            numbered.map(round).collect()
        }
        Value::Hash(hash) => {
            let entries = hash.iter().map(|(key, value)| (key.clone(), value.clone()));
            entries.map(round).collect()
        }
        _ => return None,
    };
    (rounds.len() <= MAX_ROUNDS).then_some(rounds)
}

/// Whether a block takes a key, or an index, and the value.
fn takes_two(lambda: &Lambda) -> bool {
    let parameters = lambda
        .parameters
        .iter()
        .filter_map(|node| match &node.kind {
            ExpressionKind::Parameter(parameter) => Some(&**parameter),
            _ => None,
        });
    let parameters: Vec<&Parameter> = parameters.collect();
    let rest = parameters.last().is_some_and(|last| last.captures_rest);
    let required = parameters
        .iter()
        .filter(|it| it.value.is_none() && !it.captures_rest);
    (parameters.len() >= 2 || rest) && required.count() <= 2
}

fn iterated(
    evaluator: &mut Evaluator<'_>,
    name: &str,
    over: &Value,
    (lambda, rounds): (&Lambda, Vec<Round>),
) -> Evaluated {
    let takes_two = takes_two(lambda);
    let is_hash = over.as_hash().is_some();
    let mut mapped: Vec<Value> = Vec::new();
    let (mut kept, mut others): (Vec<Round>, Vec<Round>) = (Vec::new(), Vec::new());
    let mut groups: HashMap = HashMap::default();
    for round in rounds {
        let arguments = match (name, takes_two) {
            ("index", false) => vec![round.value.clone()],
            _ => round.arguments(takes_two),
        };
        let result = match evaluator.yield_to(lambda, arguments) {
            Err(Stop::Break) if matches!(name, "each" | "map") => break,
            Err(Stop::Break) => {
                return Err(Stop::unknown(format!(
                    "break() in '{name}' is not evaluated"
                )));
            }
            // The value of the block is not used.
            Err(Stop::Unknown(_)) if name == "each" => continue,
            other => other?,
        };
        let is_true = !result.is_falsey();
        match name {
            "map" => mapped.push(result),
            "any" if is_true => return Ok(Value::Bool(true)),
            "all" if !is_true => return Ok(Value::Bool(false)),
            "index" if is_true => return Ok(round.key),
            "group_by" => {
                let group = groups.entry(result).or_insert_with(|| Value::array([]));
                let mut all = group.as_array().unwrap_or_default().to_vec();
                all.push(round.whole());
                *group = Value::from(all);
            }
            _ if is_true => kept.push(round),
            _ => others.push(round),
        }
    }
    let listed = |rounds: &[Round]| Value::array(rounds.iter().map(Round::whole));
    Ok(match name {
        "each" => over.clone(),
        "map" => Value::from(mapped),
        "any" => Value::Bool(false),
        "all" => Value::Bool(true),
        "index" => Value::Undef,
        "group_by" => Value::from(groups),
        "filter" if is_hash => {
            let entries = kept.into_iter().map(|round| (round.key, round.value));
            Value::from(entries.collect::<HashMap>())
        }
        "filter" => listed(&kept),
        _ => Value::array([listed(&kept), listed(&others)]),
    })
}

fn reduced(
    evaluator: &mut Evaluator<'_>,
    call: &Arguments<'_>,
    (lambda, over, memo): (&Lambda, &Value, Option<&Value>),
) -> Evaluated {
    let rounds = rounds(over).ok_or_else(|| call.refused())?;
    let mut memo = memo.cloned();
    for round in rounds {
        memo = Some(match memo {
            None => round.whole(),
            Some(memo) => match evaluator.yield_to(lambda, vec![memo, round.whole()]) {
                Err(Stop::Break) => return Err(call.refused()),
                other => other?,
            },
        });
    }
    Ok(memo.unwrap_or_default())
}
