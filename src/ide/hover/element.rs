//! A list's element under the cursor: whether it is in the effective value, for which nodes, and
//! the reason if it is not. For a knock-out: the elements that it removes.

use std::sync::Arc;

use super::Context;
use crate::analysis::{LevelValue, dig, merge_kind, quoted, request, sources};
use crate::ide::cell::counted;
use crate::ide::target::{KeyTarget, key_value};
use crate::interpolation::has_tokens;
use crate::lookup::{Answer, Reach, StrategyKind};
use crate::page::yaml;
use crate::page::{Line, Piece, code, joined, text};
use crate::syntax::{NodeId, NodeKind, Tree};
use crate::text::TextRange;
use crate::value::Value;

/// Maximum width of a named element, in characters.
const SHORT: usize = 32;

/// Maximum number of different facts about one element.
const MAX_FACTS: usize = 3;

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
            NodeKind::Mapping(_) => {
                let key = tree.key_of(outer, inner)?;
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

/// The fact about an element that is in the effective value.
const IN_VALUE: &str = "in the effective value";

/// The facts about an element in one line; empty if the page of its key already says it.
pub(super) fn line(context: &Context<'_>, element: &ListElement) -> Line {
    let Some(merge) = ListMerge::of(context, element) else {
        return Line::new();
    };
    let mut all: Vec<(Line, usize, &str)> = Vec::new();
    let mut is_merged = false;
    let mut is_known_for_all = true;
    let mut fact_of = |answer: &Answer| -> Option<Line> {
        let sources = sources(answer, &quoted(&element.root));
        is_merged |= sources.len() > 1 && !merge.is_first_found();
        merge.fact(answer.result.as_ref().ok()?, &sources)
    };
    let view = context.view;
    let nodes = view.analysis.nodes;
    let readers = context.answered();
    let request = request(&element.root);
    if readers.is_empty() {
        let Some(scope) = context.own.reaches.first().map(Reach::scope) else {
            return Line::new();
        };
        let answer = view.session().lookup(&scope, &request);
        all.extend(fact_of(&answer).map(|fact| (fact, 0, "")));
    }
    for run in view.runs(&request, &readers).iter() {
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
    let is_plain = all.iter().all(|(fact, ..)| fact.is_empty());
    if all.is_empty() || (is_plain && !is_merged) {
        return Line::new();
    }
    let is_one = all.len() == 1 && is_known_for_all;
    let facts = all.into_iter().take(MAX_FACTS);
    let facts = facts.map(|(mut line, count, node)| {
        if line.is_empty() {
            line.push(text(IN_VALUE));
        }
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
struct ListMerge<'e> {
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

impl<'e> ListMerge<'e> {
    /// `None` if the cursor is not in the effective entry of the key, as for a duplicate key.
    fn of(context: &'e Context<'e>, element: &'e ListElement) -> Option<ListMerge<'e>> {
        let fact = context.file.facts().key(&element.root)?;
        if !fact.value.contains(element.range) {
            return None;
        }
        let own = own_list(context, context.path(), element)?;
        own.get(element.index)?;
        let mut scoped = context.view.in_scope(&context.own.path_scope());
        let entry = scoped.options_entry(&element.root);
        let merge = entry.as_ref().and_then(|entry| entry.value.get("merge"));
        let prefix = merge.and_then(|merge| merge.get("knockout_prefix"));
        let prefix = prefix.and_then(Value::as_str).filter(|it| !it.is_empty());
        let selected = context.selected();
        Some(ListMerge {
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

    /// The fact for the nodes with this value and sources: empty if the element is in the value, with
    /// nothing more to say; `None` if unknown.
    fn fact(&self, value: &Value, sources: &[LevelValue]) -> Option<Line> {
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
            Some(vec![text("overridden by "), self.place(by, None)])
        };
        let in_value = || Some(Line::new());
        if self.is_first_found() {
            return own.map_or_else(|| overridden(sources.first()), |_| in_value());
        }
        if self.kind == Some(StrategyKind::Hash) {
            let top = steps.get(..1)?;
            let mut having = sources.iter();
            let winner = having.find(|source| dig(&source.value, top).is_some());
            return overridden(winner).or_else(|| own.and_then(|_| in_value()));
        }
        if self.kind == Some(StrategyKind::Unique) && !steps.is_empty() {
            return None;
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
                Some(by) => Some(vec![text("removed by the knock-out in "), by]),
                None if element.as_hash().is_some() => self.merged_by_place(element, merged),
                None => Some(not_in_value()),
            };
        }
        let above = &self.own[..self.element.index];
        if let Some(first) = above.iter().position(|other| other == self.written()) {
            return Some(already(self.place(&sources[own], Some(first))));
        }
        if self.kind == Some(StrategyKind::ReverseDeep) {
            return in_value();
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
        same.map(already).or_else(in_value)
    }

    /// The same for nodes that do not read the file.
    fn elsewhere(&self, value: &Value, sources: &[LevelValue]) -> Option<Line> {
        let written = self.written();
        if written.as_str().is_some_and(has_tokens) || self.knocks_out().is_some() {
            return None;
        }
        let list = dig(value, &self.element.steps).and_then(Value::as_array);
        if !list.is_some_and(|list| list.contains(written)) {
            return Some(not_in_value());
        }
        sources.iter().find_map(|source| {
            let given = dig(&source.value, &self.element.steps)?.as_array()?;
            let at = given.iter().position(|other| other == written)?;
            let place = self.place(source, Some(at));
            Some(vec![text(format!("{IN_VALUE} from ")), place])
        })
    }

    /// The fact if the hash is merged by its index with the hashes of other levels.
    fn merged_by_place(&self, element: &Value, merged: &[Value]) -> Option<Line> {
        let there = merged.get(self.element.index)?.as_hash()?;
        let has_all = element
            .as_hash()?
            .iter()
            .all(|(key, _)| there.get(key).is_some());
        (self.by_place && has_all).then(|| {
            let into = code(self.as_looked_up());
            vec![text("merged into "), into, text(" of the effective value")]
        })
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
    fn knock_out(&self, name: &Value, merged: &[Value], lower: &[LevelValue]) -> Option<Line> {
        let lists = lower.iter().filter_map(|source| {
            let given = dig(&source.value, &self.element.steps)?.as_array()?;
            let at = given.iter().position(|other| other == name);
            Some(at.map(|at| self.place(source, Some(at))))
        });
        let lists: Vec<Option<Piece>> = lists.collect();
        let shown = code(yaml::inline(name, SHORT));
        let Some((next, further)) = lists.split_first() else {
            let words = "removes nothing and stays in the value: no lower level sets this list";
            return merged.contains(self.written()).then(|| vec![text(words)]);
        };
        if merged.contains(name) {
            let again = further.iter().flatten().next()?.clone();
            let (only, is_in) = (
                "only reaches the next lower level, ",
                " is in the value from ",
            );
            return Some(vec![text(only), shown, text(is_in), again]);
        }
        Some(match next.clone() {
            Some(place) => vec![text("removes "), shown, text(" of "), place],
            None => vec![text("removes nothing: no lower level has "), shown],
        })
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
        let mut steps = self.element.steps.clone();
        steps.extend(index.and_then(|index| Some(Value::Int(i64::try_from(index).ok()?))));
        self.context.source(source, &self.element.root, &steps)
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
        if written.is_collection() {
            text("this element")
        } else {
            code(yaml::inline(written, SHORT))
        }
    }
}

/// The fact about an element that a higher level, or an earlier element of the list, gives too.
fn already(place: Piece) -> Line {
    vec![text(format!("already {IN_VALUE} from ")), place]
}

fn not_in_value() -> Line {
    vec![text(format!("not {IN_VALUE}"))]
}

/// The list in a file, tokens unevaluated.
fn own_list(context: &Context<'_>, path: &str, element: &ListElement) -> Option<Vec<Value>> {
    let value = context.view.analysis.own_value(path, &element.root)?;
    Some(dig(&value, &element.steps)?.as_array()?.to_vec())
}
