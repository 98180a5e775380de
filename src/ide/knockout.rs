//! The elements of lower levels that a knock-out in a list removes.

use std::sync::Arc;

use super::file_place::FilePlace;
use super::hover::{ListElement, element_at};
use crate::analysis::{
    FileView, KeyPositions, LevelValue, dig, merge_kind, quoted, request, sources,
};
use crate::lookup::{Answer, Run, StrategyKind};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::Format;

/// The knock-out under the cursor.
pub(super) struct KnockOut<'v> {
    own: &'v FileView<'v>,
    element: ListElement,
    /// The removed element.
    name: Value,
}

impl<'v> KnockOut<'v> {
    /// `None` if the cursor is on no knock-out. O(depth of the tree) for a parsed file.
    pub(super) fn at(own: &'v FileView<'v>, offset: usize) -> Option<KnockOut<'v>> {
        let snapshot = own.view.analysis.snapshot;
        let file = snapshot.file(own.path)?;
        file.format()?;
        let parse = snapshot.parse_around(file, file.format().unwrap_or(Format::Yaml), offset);
        let tree = &parse.tree;
        let nodes = tree.path_at(offset);
        let text = &tree.node(*nodes.last()?).as_scalar()?.text;
        let element = element_at(tree, &nodes)?;
        let fact = file.facts().key(&element.root)?;
        let mut scoped = own.view.in_scope(&own.scope());
        let entry = scoped.options_entry(&element.root)?;
        let is_merged = match merge_kind(&entry)? {
            StrategyKind::Unique => element.steps.is_empty(),
            StrategyKind::Deep | StrategyKind::UnconstrainedDeep | StrategyKind::ReverseDeep => {
                true
            }
            StrategyKind::First | StrategyKind::Default | StrategyKind::Hash => false,
        };
        let prefix = entry.value.get("merge")?.get("knockout_prefix")?.as_str()?;
        let name = text.strip_prefix(prefix)?;
        let is_one = !prefix.is_empty() && !name.is_empty();
        let is_here = fact.value.contains(element.range) && element.range.touches(offset);
        (is_merged && is_one && is_here).then(|| KnockOut {
            own,
            name: Value::string(name),
            element,
        })
    }

    /// The top-level key of the list.
    pub(super) fn key(&self) -> &str {
        &self.element.root
    }

    /// The range in the file.
    pub(super) fn range(&self) -> TextRange {
        self.element.range
    }

    /// The places of the elements that it removes for some nodes: in the next lower list of each.
    pub(super) fn removed(&self, runs: &[Run]) -> Vec<FilePlace> {
        let mut found: Vec<FilePlace> = Vec::new();
        let mut add = |answer: &Answer| {
            if let Some(place) = self.removed_by(answer)
                && !found.contains(&place)
            {
                found.push(place);
            }
        };
        if runs.is_empty() {
            let session = self.own.view.session();
            add(&session.lookup(&self.own.scope(), &request(self.key())));
        } else {
            runs.iter().for_each(|run| add(&run.answer))
        }
        found
    }

    fn removed_by(&self, answer: &Answer) -> Option<FilePlace> {
        let ListElement { root, steps, .. } = &self.element;
        let sources = sources(answer, &quoted(root));
        let is_own = |source: &LevelValue| source.path.as_deref() == Some(self.own.path);
        let own = sources.iter().position(is_own)?;
        let mut lower = sources[own + 1..].iter();
        let (path, at) = lower.find_map(|source| {
            let list = dig(&source.value, steps)?.as_array()?;
            let at = list.iter().position(|element| *element == self.name);
            Some((source.path.clone(), at))
        })?;
        let path: Arc<str> = path?;
        let mut steps = steps.clone();
        steps.push(Value::Int(i64::try_from(at?).ok()?));
        let snapshot = self.own.view.analysis.snapshot;
        let file = snapshot.file(&path)?;
        let (name, whole) = KeyPositions::new(snapshot).place(file, root, &steps)?;
        Some(FilePlace { path, name, whole })
    }
}
