//! The levels that prevent a value for a node.

use std::sync::Arc;

use super::{is_encrypted, is_value};
use crate::analysis::{RootView, Status, SurveyLevel, datadir_of, quoted};
use crate::hierarchy::TemplatePart;
use crate::ide::matrix::{Cell, bare_row_of};
use crate::lookup::Place;
use crate::page::yaml::inline;
use crate::scope::Knowledge;
use crate::value::Value;
use crate::workspace::path;

/// Maximum width of a value in a line, in characters.
pub(super) const WIDEST: usize = 48;

/// The current value of a node, and why it is not the wanted one.
#[derive(Clone, Debug)]
pub struct WhyNot {
    /// The wanted value.
    pub wanted: Value,
    /// The current answer.
    pub gets: Cell,
    /// Whether the answer is the wanted value.
    pub has_it: bool,
    /// Whether the facts of the node are known.
    pub has_facts: bool,
    /// The merge strategy; `None` without merging.
    pub merged: Option<String>,
    /// The levels, the highest first.
    pub levels: Vec<InTheWay>,
}

/// A level that is relevant for a node's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InTheWay {
    /// Its name.
    pub level: Arc<str>,
    /// The file that it reads for the node, if known.
    pub file: Option<Arc<str>>,
    /// The path with its variables, if the file is unknown.
    pub path: Option<String>,
    /// The line of the key, from 1.
    pub line: Option<u32>,
    /// Its effect, in words.
    pub what: String,
    /// Whether it prevents the value.
    pub is_in_the_way: bool,
}

/// Why a known node does not get a value of a top-level key.
///
/// # Errors
/// Why the key cannot be looked up, for people.
pub fn why_not(
    view: &RootView<'_>,
    key: &str,
    value: &Value,
    member: usize,
) -> Result<WhyNot, String> {
    let key = &*super::top_level(key)?;
    let nodes = view.analysis.nodes;
    let row = bare_row_of(view, &quoted(key), &[member]);
    let gets = row.answers.into_iter().next();
    let gets = gets.ok_or_else(|| format!("{} cannot be looked up", nodes.certname(member)))?;
    let scope = nodes.scope(member);
    let survey = view.survey(key, &scope);
    let is_merged = !survey.found.strategy.is_first_found();
    let error = survey.found.answer.result.as_ref().err();
    let is_error = error.is_some_and(|error| !error.is_not_found());
    let mut fails = is_error;
    let mut levels = Vec::new();
    let own_value = |level: &SurveyLevel| view.analysis.own_value(level.file.as_ref()?, key);
    // All levels above a level with the value would have to go.
    let is_below = |at: usize| {
        survey.levels[at..].iter().any(|level| {
            matches!(level.status, Status::Overridden) && own_value(level).as_ref() == Some(value)
        })
    };
    for (at, level) in survey.levels.iter().enumerate() {
        let own = own_value(level);
        let own = own.as_ref();
        let is_it = own.is_some_and(|own| own == value);
        let shown = match own {
            Some(own) if is_encrypted(own) => "an encrypted value".to_owned(),
            Some(own) => inline(own, WIDEST),
            None => String::new(),
        };
        let set = if is_it { "this" } else { &*shown };
        let (what, is_in_the_way) = match &level.status {
            Status::Sets if is_it => ("sets it to this".to_owned(), false),
            Status::Sets => (format!("sets it to {shown}, which is used"), true),
            Status::Merged => (
                format!("gives {shown}, which is merged"),
                own.is_none_or(|own| !is_part(own, value)),
            ),
            // An error ends the lookup, so no level overrides another.
            Status::Overridden if fails => {
                fails = false;
                (format!("sets it to {set}, but the lookup fails"), true)
            }
            Status::Overridden if is_error => (format!("sets it to {set}"), false),
            Status::Overridden => (
                format!("sets it to {set}, overridden by a higher level"),
                !is_it && is_below(at),
            ),
            Status::Unknown(_) => (
                "may set it: which file is read is not known".to_owned(),
                true,
            ),
            Status::Outside { decides: true } => {
                ("may set it, outside the workspace".to_owned(), true)
            }
            Status::ForSomeNodes(_) | Status::NotSet | Status::Outside { decides: false } => {
                continue;
            }
        };
        levels.push(InTheWay {
            level: level.place.level.clone(),
            file: level.file.clone(),
            path: path_of(&level.place),
            line: level.key.map(|(line, _)| line + 1),
            what,
            is_in_the_way,
        });
    }
    Ok(WhyNot {
        has_it: is_value(&gets, value),
        has_facts: nodes.knowledge(member) == Knowledge::All,
        wanted: value.clone(),
        gets,
        merged: is_merged.then(|| survey.found.strategy.kind.name().to_owned()),
        levels,
    })
}

/// Whether a value can result from merging a part with others: the part adds nothing else.
fn is_part(part: &Value, value: &Value) -> bool {
    match (part, value) {
        (Value::Array(part), Value::Array(value)) => {
            part.iter().all(|element| value.contains(element))
        }
        (Value::Hash(part), Value::Hash(value)) => part
            .iter()
            .all(|(key, part)| value.get(key).is_some_and(|value| is_part(part, value))),
        (_, Value::Array(value)) => value.contains(part),
        (_, _) => part == value,
    }
}

/// The path of a level's files as in its configuration, below the data directory; the file itself
/// if there are no variables.
fn path_of(place: &Place) -> Option<String> {
    if let [TemplatePart::Text(whole)] = place.template.parts.as_slice() {
        return Some(whole.clone());
    }
    let original = Some(&*place.original).filter(|original| !original.is_empty())?;
    Some(match datadir_of(place) {
        Some(folder) => path::join(&folder, original),
        None => original.to_owned(),
    })
}
