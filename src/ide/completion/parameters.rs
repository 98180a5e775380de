//! Class parameters that a file does not set yet, and names of classes.

use std::sync::Arc;

use super::cursor::{Cursor, Step};
use super::keys::key_item;
use super::{Item, ItemKind, MOST_ITEMS, Question, fit};
use crate::analysis::ClassParameter;
use crate::datatype::Expected;
use crate::ide::code_names::is_class;
use crate::ide::hover::Described;

/// Widest type or default beside a name, in characters.
const WIDEST: usize = 60;

/// Parameters of classes as keys, those that must be given first.
pub(super) fn items(
    question: &Question<'_>,
    cursor: &Cursor,
    is_here: &dyn Fn(&str) -> bool,
) -> Vec<Item> {
    let typed = &cursor.typed;
    // Classes whose name starts with what is typed, and the one that is typed already.
    let around = typed.rsplit_once("::").map(|(class, _)| class);
    let snapshot = question.analysis.snapshot;
    let names = snapshot.defined_names(typed).chain(
        around
            .into_iter()
            .flat_map(|class| snapshot.defined_names(class)),
    );
    let mut found: Vec<(bool, Item)> = Vec::new();
    let mut seen: Vec<&Arc<str>> = Vec::new();
    for name in names {
        if found.len() > MOST_ITEMS || (question.analysis.is_cancelled)() {
            break;
        }
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let root = snapshot.root_of(question.file.path());
        let Some(class) = question.analysis.class(root, name) else {
            continue;
        };
        for parameter in &class.definition.parameters {
            let key = format!("{name}::{}", parameter.name);
            if is_here(&key) || fit(&key, typed).is_none() {
                continue;
            }
            let one = ClassParameter { class, parameter };
            let item = Item {
                detail: Some(said(one)),
                documentation: parameter.documentation.as_deref().map(str::to_owned),
                about: Some(Described::Key(Arc::from(key.as_str()))),
                ..key_item(question, cursor, &key)
            };
            found.push((parameter.default.is_some(), item));
        }
    }
    found.sort_by_key(|(has_default, _)| *has_default);
    found.into_iter().map(|(_, item)| item).collect()
}

/// "Integer[1] = 80"
fn said(parameter: ClassParameter<'_>) -> String {
    let expected = parameter.expected().unwrap_or("Any");
    let said = match parameter.default() {
        Some(default) => format!("{expected} = {default}"),
        None => format!("{expected}, required"),
    };
    shortened(&said)
}

/// A text on one line, as much as fits beside a name.
pub(super) fn shortened(said: &str) -> String {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// What the parameter that a key is for expects at some steps of its value; nothing where it is for none.
pub(super) fn expected(question: &Question<'_>, root: &str, steps: &[Step]) -> Expected {
    let analysis = question.analysis;
    let environment = analysis.snapshot.root_of(question.file.path());
    let known = analysis
        .class_parameter(environment, root)
        .and_then(|parameter| analysis.likely_type_of(environment, parameter));
    let whole = known.map_or_else(Expected::default, |known| Expected::of(&known));
    steps.iter().fold(whole, |outer, step| match step {
        Step::Key(key) => outer.under(key),
        Step::Element => outer.element(),
    })
}

/// Names of classes, for lists of them.
pub(super) fn classes(question: &Question<'_>, typed: &str) -> Vec<Item> {
    let snapshot = question.analysis.snapshot;
    let colons = if typed.starts_with("::") { "::" } else { "" };
    let names = snapshot.defined_names(typed.trim_start_matches("::"));
    let is_class = |name: &&Arc<str>| is_class(snapshot, name);
    let names = names.filter(is_class).take(MOST_ITEMS);
    let items = names.map(|name| Item {
        detail: Some("class".to_owned()),
        ..Item::new(format!("{colons}{name}"), ItemKind::Value)
    });
    items.collect()
}
