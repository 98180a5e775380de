//! Completion of class parameters that a file does not set yet, and of class names.

use std::collections::HashSet;
use std::sync::Arc;

use super::cursor::{Cursor, CursorStep};
use super::keys::key_item;
use super::{Item, ItemKind, MAX_ITEMS, TypingPlace, fit};
use crate::analysis::ClassParameter;
use crate::datatype::Expected;
use crate::ide::code_names::is_class;
use crate::ide::hover::Described;
use crate::syntax::puppet::without_colons;
use crate::text::cut_words;

/// Maximum width of a type or default beside a name, in characters.
const WIDEST: usize = 60;

/// Parameters of classes as keys, the required ones first.
pub(super) fn items(
    typing: &TypingPlace<'_>,
    cursor: &Cursor,
    is_here: &dyn Fn(&str) -> bool,
) -> Vec<Item> {
    let typed = &cursor.typed;
    // Classes with a name that starts with the typed part, and the class that is already typed.
    let around = typed.rsplit_once("::").into_iter();
    let snapshot = typing.analysis.snapshot;
    let around = around.flat_map(|(class, _)| snapshot.defined_names(class));
    let root = snapshot.root_of(typing.file.path());
    let mut found: Vec<(bool, Item)> = Vec::new();
    let mut seen = HashSet::new();
    let names = snapshot.defined_names(typed).chain(around);
    for name in names.filter(|&name| seen.insert(name)) {
        if found.len() > MAX_ITEMS || (typing.analysis.is_cancelled)() {
            break;
        }
        let Some(class) = typing.analysis.class(root, name) else {
            continue;
        };
        for parameter in &class.definition.parameters {
            let key = format!("{name}::{}", parameter.name);
            if is_here(&key) || fit(&key, typed).is_none() {
                continue;
            }
            let one = ClassParameter { class, parameter };
            let item = Item {
                detail: Some(detail_text(one)),
                documentation: parameter.documentation.as_deref().map(str::to_owned),
                about: Some(Described::Key(Arc::from(key.as_str()))),
                ..key_item(typing, cursor, &key)
            };
            found.push((parameter.default.is_some(), item));
        }
    }
    found.sort_by_key(|(has_default, _)| *has_default);
    found.into_iter().map(|(_, item)| item).collect()
}

/// The type and default: `Integer[1] = 80`.
fn detail_text(parameter: ClassParameter<'_>) -> String {
    let expected = parameter.expected().unwrap_or("Any");
    shortened(&match parameter.default() {
        Some(default) => format!("{expected} = {default}"),
        None => format!("{expected}, required"),
    })
}

/// A text on one line, cut if it is long.
pub(super) fn shortened(text: &str) -> String {
    cut_words(text, WIDEST)
}

/// The expected type at some steps of a key's value; the default if the key sets no parameter.
pub(super) fn expected(typing: &TypingPlace<'_>, root: &str, steps: &[CursorStep]) -> Expected {
    let analysis = typing.analysis;
    let environment = analysis.snapshot.root_of(typing.file.path());
    let parameter = analysis.class_parameter(environment, root);
    let known = parameter.and_then(|parameter| analysis.likely_type_of(environment, parameter));
    let whole = known.map_or_else(Expected::default, |known| Expected::of(&known));
    steps.iter().fold(whole, |outer, step| match step {
        CursorStep::Key(key) => outer.under(key),
        CursorStep::Element => outer.element(),
    })
}

/// Names of classes.
pub(super) fn classes(typing: &TypingPlace<'_>, typed: &str) -> Vec<Item> {
    let snapshot = typing.analysis.snapshot;
    let colons = if typed.starts_with("::") { "::" } else { "" };
    let names = snapshot.defined_names(without_colons(typed));
    let is_class = |name: &&Arc<str>| is_class(snapshot, name);
    let names = names.filter(is_class).take(MAX_ITEMS);
    let items = names.map(|name| Item {
        detail: Some("class".to_owned()),
        ..Item::new(format!("{colons}{name}"), ItemKind::Value)
    });
    items.collect()
}
