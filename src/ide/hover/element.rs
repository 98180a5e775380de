//! A list's element under the cursor: whether it is in the effective value, for which nodes, and
//! the reason if it is not. For a knock-out: the elements that it removes.

use std::sync::Arc;

use super::context::Context;
use super::page::{Line, Piece, code, joined, text};
use super::provenance::dig;
use super::yaml;
use crate::analysis::{LevelValue, merge_kind, quoted, request, sources};
use crate::ide::cell::counted;
use crate::ide::target::{KeyTarget, key_value};
use crate::interpolation::has_tokens;
use crate::lookup::{Answer, Reach, StrategyKind};
use crate::syntax::{NodeId, NodeKind, Tree};
use crate::text::TextRange;
use crate::value::Value;

/// Maximum width of a named element, in characters.
const SHORT: usize = 32;

/// Maximum number of different facts about one element.
const MOST_FACTS: usize = 3;

/// An element of the outermost list around a place.
pub(in crate::ide) struct ListElement {
    pub(in crate::ide) root: Arc<str>,
    /// The keys from the value of the root to the list.
    pub(in crate::ide) steps: Vec<Value>,
    index: usize,
    /// The element in the file.
    pub(in crate::ide) range: TextRange,
}

/// The element that contains the last of `nodes`, which lead from the root of a tree inwards.
pub(in crate::ide) fn find(tree: &Tree, nodes: &[NodeId]) -> Option<ListElement> {
    let mut root: Option<Arc<str>> = None;
    let mut steps = Vec::new();
    for pair in nodes.windows(2) {
        let (outer, inner) = (pair[0], pair[1]);
        match &tree.node(outer).kind {
            NodeKind::Mapping(entries) => {
                let mut values = entries.iter();
                let &(key, _) = values.find(|&&(_, value)| value == inner)?;
                let key = tree.node(tree.resolve(key));
                if key.is_merge_key() {
                    return None;
                }
                match root {
                    Some(_) => steps.push(key_value(key)?),
                    None => {
                        let name = &key.as_scalar()?.text;
                        root = Some(Arc::from(name.strip_prefix(':').unwrap_or(name)));
                    }
                }
            }
            NodeKind::Sequence(elements) => {
                return Some(ListElement {
                    root: root?,
                    steps,
                    index: elements.iter().position(|&element| element == inner)?,
                    range: tree.node(inner).full_range(),
                });
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => return None,
        }
    }
    None
}

/// A fact about an element, for some nodes.
#[derive(PartialEq)]
enum Fact {
    /// In the effective value.
    In,
    /// A higher level, or an earlier element of the list, gives the same.
    Same(Piece),
    KnockedOut(Piece),
    /// Another file gives the same; for nodes that do not read this one.
    From(Piece),
    /// Another level overrides this file's.
    Overridden(Piece),
    /// A hash that is merged with the hashes at its index in other levels.
    Merged,
    NotIn,
    /// The knock-out removes an element of the next lower level.
    Removes(Piece),
    /// The knock-out removes an element that a level further down adds again.
    ComesBack(Piece),
    /// No lower level has the element to remove.
    RemovesNothing,
    /// The knock-out itself remains in the value.
    Stays,
}

/// The facts about an element in one line; empty if the page of its key already says it.
pub(super) fn line(context: &Context<'_>, element: &ListElement) -> Line {
    let Some(merge) = Merge::of(context, element) else {
        return Line::new();
    };
    let mut all: Vec<(Fact, usize, &str)> = Vec::new();
    let mut is_merged = false;
    let mut is_known_for_all = true;
    let mut fact_of = |answer: &Answer| -> Option<Fact> {
        let sources = sources(answer, &quoted(&element.root));
        is_merged |= sources.len() > 1 && !merge.is_first_found();
        merge.fact(answer.result.as_ref().ok()?, &sources)
    };
    let view = &context.view;
    let nodes = view.analysis.nodes;
    let readers = context.answered();
    let request = request(&element.root);
    if readers.is_empty() {
        let Some(scope) = context.reaches.first().map(Reach::scope) else {
            return Line::new();
        };
        let answer = view.session().lookup(&scope, &request);
        all.extend(fact_of(&answer).map(|fact| (fact, 0, "")));
    }
    for run in view.runs(&request, &readers) {
        let (count, node) = (run.members.len(), nodes.certname(run.members[0]));
        let Some(fact) = fact_of(&run.answer) else {
            is_known_for_all = false;
            continue;
        };
        match all.iter_mut().find(|(known, ..)| *known == fact) {
            Some((_, known, _)) => *known += count,
            None => all.push((fact, count, node)),
        }
    }
    all.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    let is_plain = all.iter().all(|(fact, ..)| matches!(fact, Fact::In));
    if all.is_empty() || (is_plain && !is_merged) {
        return Line::new();
    }
    let is_one = all.len() == 1 && is_known_for_all;
    let facts = all.into_iter().take(MOST_FACTS).map(|(fact, count, node)| {
        let mut line = merge.words(fact);
        match (is_one, count) {
            (true, _) => {}
            (false, 1) => line.push(text(format!(" on {node}"))),
            (false, count) => line.push(text(format!(" on {}", counted(count)))),
        }
        line
    });
    let mut line = vec![merge.name(), text(": ")];
    line.extend(joined(facts, " · "));
    line
}

/// How an element's list is merged, and the list in its file.
struct Merge<'e> {
    context: &'e Context<'e>,
    element: &'e ListElement,
    kind: Option<StrategyKind>,
    knockout: Option<String>,
    /// Whether hashes in lists are merged by index (`merge_hash_arrays`).
    by_place: bool,
    /// The elements of the list in the file, tokens unevaluated.
    own: Vec<Value>,
    /// Whether the selected node, if any, reads the file.
    is_read: bool,
}

impl<'e> Merge<'e> {
    /// `None` if the cursor is not in the effective entry of the key, as for a duplicate key.
    fn of(context: &'e Context<'e>, element: &'e ListElement) -> Option<Merge<'e>> {
        let fact = context.file.facts().key(&element.root)?;
        if !fact.value.contains(element.range) {
            return None;
        }
        let own = own_list(context, context.path(), element)?;
        own.get(element.index)?;
        let mut scoped = context.view.in_scope(&context.scope());
        let entry = scoped.options_entry(&element.root);
        let merge = entry.as_ref().and_then(|entry| entry.value.get("merge"));
        let prefix = merge.and_then(|merge| merge.get("knockout_prefix"));
        let prefix = prefix.and_then(Value::as_str).filter(|it| !it.is_empty());
        let selected = context.selected();
        Some(Merge {
            is_read: selected.is_none_or(|(_, member)| context.readers().contains(&member)),
            context,
            element,
            kind: entry.as_ref().and_then(merge_kind),
            knockout: prefix.map(str::to_owned),
            by_place: merge.and_then(|merge| merge.get("merge_hash_arrays"))
                == Some(&Value::Bool(true)),
            own,
        })
    }

    fn is_first_found(&self) -> bool {
        matches!(
            self.kind,
            None | Some(StrategyKind::First | StrategyKind::Default)
        )
    }

    fn written(&self) -> &Value {
        &self.own[self.element.index]
    }

    /// The element that a knock-out removes; `None` if the element is no knock-out.
    fn knocks_out(&self) -> Option<Value> {
        let name = self
            .written()
            .as_str()?
            .strip_prefix(self.knockout.as_ref()?)?;
        (!name.is_empty()).then(|| Value::string(name))
    }

    /// The fact for a lookup with this value and sources; `None` if unknown.
    fn fact(&self, value: &Value, sources: &[LevelValue]) -> Option<Fact> {
        if !self.is_read {
            return self.elsewhere(value, sources);
        }
        let steps = self.element.steps.as_slice();
        let path = self.context.path();
        let own = sources
            .iter()
            .position(|source| source.path.as_deref() == Some(path));
        let overridden = |by: Option<&LevelValue>| {
            let by = by.filter(|by| by.path.as_deref() != Some(path))?;
            Some(Fact::Overridden(self.place(by, None)))
        };
        match self.kind {
            None | Some(StrategyKind::First | StrategyKind::Default) => {
                return match own {
                    Some(_) => Some(Fact::In),
                    None => overridden(sources.first()),
                };
            }
            Some(StrategyKind::Hash) => {
                let top = steps.get(..1)?;
                let mut having = sources.iter();
                let winner = having.find(|source| dig(&source.value, top).is_some());
                return overridden(winner).or(own.map(|_| Fact::In));
            }
            Some(StrategyKind::Unique) if !steps.is_empty() => return None,
            Some(
                StrategyKind::Unique
                | StrategyKind::Deep
                | StrategyKind::UnconstrainedDeep
                | StrategyKind::ReverseDeep,
            ) => {}
        }
        let own = own?;
        let merged = dig(value, steps)?.as_array()?;
        if let Some(name) = self.knocks_out() {
            return self.knock_out(&name, merged, &sources[own + 1..]);
        }
        let element = self.evaluated(&sources[own])?;
        if element.as_array().is_some() {
            return None;
        }
        if !merged.contains(element) {
            return match self.knocked_out(element, &sources[..own]) {
                Some(by) => Some(Fact::KnockedOut(by)),
                None if element.as_hash().is_some() => self.merged_by_place(element, merged),
                None => Some(Fact::NotIn),
            };
        }
        let above = &self.own[..self.element.index];
        if let Some(first) = above.iter().position(|other| other == self.written()) {
            return Some(Fact::Same(self.place(&sources[own], Some(first))));
        }
        if self.kind == Some(StrategyKind::ReverseDeep) {
            return Some(Fact::In);
        }
        let same = sources[..own].iter().find_map(|source| {
            let given = dig(&source.value, steps)?;
            match given.as_array() {
                Some(given) => {
                    let at = given.iter().position(|other| other == element)?;
                    Some(self.place(source, Some(at)))
                }
                None => (given == element).then(|| self.place(source, None)),
            }
        });
        Some(same.map_or(Fact::In, Fact::Same))
    }

    /// The same for nodes that do not read the file.
    fn elsewhere(&self, value: &Value, sources: &[LevelValue]) -> Option<Fact> {
        let written = self.written();
        if written.as_str().is_some_and(has_tokens) || self.knocks_out().is_some() {
            return None;
        }
        let list = dig(value, &self.element.steps).and_then(Value::as_array);
        if !list.is_some_and(|list| list.contains(written)) {
            return Some(Fact::NotIn);
        }
        sources.iter().find_map(|source| {
            let given = dig(&source.value, &self.element.steps)?.as_array()?;
            let at = given.iter().position(|other| other == written)?;
            Some(Fact::From(self.place(source, Some(at))))
        })
    }

    /// [`Fact::Merged`] if the hash is merged by index into a hash of the value.
    fn merged_by_place(&self, element: &Value, merged: &[Value]) -> Option<Fact> {
        let there = merged.get(self.element.index)?.as_hash()?;
        let has_all = element
            .as_hash()?
            .iter()
            .all(|(key, _)| there.get(key).is_some());
        (self.by_place && has_all).then_some(Fact::Merged)
    }

    /// The element with its tokens evaluated; `None` if the source's list does not match the file's.
    fn evaluated<'v>(&'v self, own: &'v LevelValue) -> Option<&'v Value> {
        let given = dig(&own.value, &self.element.steps).and_then(Value::as_array);
        match given.filter(|given| given.len() == self.own.len()) {
            Some(given) => given.get(self.element.index),
            None => Some(self.written()).filter(|it| it.as_str().is_some_and(|it| !has_tokens(it))),
        }
    }

    /// The effect of a knock-out, which only reaches the next list of a lower level. `None` if the
    /// value does not match the files.
    fn knock_out(&self, name: &Value, merged: &[Value], lower: &[LevelValue]) -> Option<Fact> {
        let lists = lower.iter().filter_map(|source| {
            let given = dig(&source.value, &self.element.steps)?.as_array()?;
            let at = given.iter().position(|other| other == name);
            Some(at.map(|at| self.place(source, Some(at))))
        });
        let lists: Vec<Option<Piece>> = lists.collect();
        let Some((next, further)) = lists.split_first() else {
            return merged.contains(self.written()).then_some(Fact::Stays);
        };
        match merged.contains(name) {
            true => further
                .iter()
                .flatten()
                .next()
                .cloned()
                .map(Fact::ComesBack),
            false => Some(next.clone().map_or(Fact::RemovesNothing, Fact::Removes)),
        }
    }

    /// The knock-out of a higher level that removes an element.
    fn knocked_out(&self, element: &Value, higher: &[LevelValue]) -> Option<Piece> {
        let knocking = format!("{}{}", self.knockout.as_ref()?, element.as_str()?);
        higher.iter().find_map(|source| {
            let given = own_list(self.context, source.path.as_deref()?, self.element)?;
            let at = given
                .iter()
                .position(|other| other.as_str() == Some(&knocking))?;
            Some(self.place(source, Some(at)))
        })
    }

    /// Links to the list in a level's file, or to an element of it.
    fn place(&self, source: &LevelValue, index: Option<usize>) -> Piece {
        let Some(path) = &source.path else {
            return text(format!("level '{}'", source.level));
        };
        let Some(file) = self.context.view.analysis.snapshot.file(path) else {
            return text(self.context.label(path));
        };
        let mut steps = self.element.steps.clone();
        steps.extend(index.and_then(|index| Some(Value::Int(i64::try_from(index).ok()?))));
        let line = self.context.line_of(file, &self.element.root, &steps);
        self.context.link(path, line)
    }

    /// The element's key in lookups: `mounts.0`.
    fn as_looked_up(&self) -> String {
        let mut steps = self.element.steps.clone();
        steps.extend(i64::try_from(self.element.index).map(Value::Int));
        let key = KeyTarget {
            root: self.element.root.clone(),
            steps,
            range: self.element.range,
            before_list: None,
        };
        key.shown()
    }

    fn name(&self) -> Piece {
        let written = self.written();
        match written.as_hash().is_some() || written.as_array().is_some() {
            true => text("this element"),
            false => code(yaml::inline(written, SHORT)),
        }
    }

    fn words(&self, fact: Fact) -> Line {
        let name = self.knocks_out().unwrap_or(Value::Undef);
        let name = code(yaml::inline(&name, SHORT));
        match fact {
            Fact::In => vec![text("in the effective value")],
            Fact::Same(place) => vec![text("already in the effective value from "), place],
            Fact::KnockedOut(by) => vec![text("removed by the knock-out in "), by],
            Fact::Overridden(by) => vec![text("overridden by "), by],
            Fact::Merged => vec![
                text("merged into "),
                code(self.as_looked_up()),
                text(" of the effective value"),
            ],
            Fact::From(place) => vec![text("in the effective value from "), place],
            Fact::NotIn => vec![text("not in the effective value")],
            Fact::Removes(place) => vec![text("removes "), name, text(" of "), place],
            Fact::ComesBack(place) => vec![
                text("only reaches the next lower level, "),
                name,
                text(" is in the value from "),
                place,
            ],
            Fact::RemovesNothing => {
                vec![text("removes nothing: no lower level has "), name]
            }
            Fact::Stays => vec![text(
                "removes nothing and stays in the value: no lower level sets this list",
            )],
        }
    }
}

/// The list in a file, tokens unevaluated.
fn own_list(context: &Context<'_>, path: &str, element: &ListElement) -> Option<Vec<Value>> {
    let value = context.view.analysis.own_value(path, &element.root)?;
    Some(dig(&value, &element.steps)?.as_array()?.to_vec())
}
