//! Resolves references (the gem's `resolve_context.rb`, `resolve_source.rb`, `config_reference.rb`
//! and `config_delayed_merge.rb`).
//!
//! A reference looks its path up in the surrounding version of the file. While a merge is resolved,
//! its newer parts see the file with only the older ones in the merge's place, so that `path =
//! ${path}":/opt"` finds the earlier value.

use std::collections::HashMap as StdHashMap;
use std::rc::Rc;

use indexmap::IndexMap;

use super::super::{LoadErrorKind, Value};
use super::merge::{
    NOT_RESOLVED, Unresolved, UnresolvedKind, UnresolvedRef, consolidate, describe, expression,
    with_fallback,
};

/// Maximum number of values resolved in one file: references can make work grow without end.
const MAX_STEPS: usize = 300_000;

/// Maximum length of a chain of values that wait for one another.
const MAX_WAITING: usize = 400;

pub(super) fn resolve(root: &UnresolvedRef) -> Result<UnresolvedRef, (LoadErrorKind, String)> {
    let mut resolver = Resolver {
        waiting: Vec::new(),
        looking_up: Vec::new(),
        steps: 0,
    };
    let source = FileVersion {
        root: root.clone(),
        parents: None,
    };
    match resolver.part(root, None, &source) {
        Ok(Some(resolved)) => Ok(resolved),
        Ok(None) => Ok(Unresolved::object(IndexMap::new(), root.lines)),
        Err(Unresolvable::Message(message)) => Err((LoadErrorKind::Hocon, message)),
        Err(Unresolvable::Environment(message)) => Err((LoadErrorKind::HoconOutside, message)),
        Err(Unresolvable::Cycle(trace)) => {
            let message = format!("cycle of substitutions {trace}");
            Err((LoadErrorKind::Hocon, message))
        }
    }
}

/// The value of a resolved part. A part that occurs twice becomes one shared value.
pub(super) fn to_value(part: &UnresolvedRef) -> Value {
    fn convert(part: &UnresolvedRef, done: &mut StdHashMap<*const Unresolved, Value>) -> Value {
        if let Some(value) = done.get(&Rc::as_ptr(part)) {
            return value.clone();
        }
        let value = match &part.kind {
            UnresolvedKind::Bool(truth) => Value::Bool(*truth),
            UnresolvedKind::Number { value, .. } => value.clone(),
            UnresolvedKind::Text { text, .. } => Value::string(text),
            UnresolvedKind::List(elements) => {
                let elements = elements.iter().map(|element| convert(element, done));
                elements.collect::<Vec<_>>().into()
            }
            UnresolvedKind::Object { entries, .. } => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (Value::string(key), convert(value, done)));
                Value::from(entries.collect::<super::super::HashMap>())
            }
            _ => Value::Undef,
        };
        done.insert(Rc::as_ptr(part), value.clone());
        value
    }
    convert(part, &mut StdHashMap::new())
}

enum Unresolvable {
    /// The message of Ruby's exception.
    Message(String),
    /// The same, unless the environment of Puppet's process has a variable of that name.
    Environment(String),
    /// A value waits for itself; the references of the cycle.
    Cycle(String),
}

impl From<String> for Unresolvable {
    fn from(message: String) -> Unresolvable {
        Unresolvable::Message(message)
    }
}

/// Where references are looked up: a version of the file, and the containers from the value being
/// resolved up to the file's root.
#[derive(Clone)]
struct FileVersion {
    root: UnresolvedRef,
    parents: Option<Rc<Parent>>,
}

/// A container and what contains it.
struct Parent {
    part: UnresolvedRef,
    above: Option<Rc<Parent>>,
}

struct Resolver {
    /// The values being resolved, the outermost first.
    waiting: Vec<UnresolvedRef>,
    /// The references whose target is being looked up.
    looking_up: Vec<*const Unresolved>,
    steps: usize,
}

impl Resolver {
    /// Resolves a part; `along` restricts the work to the lookup of a path in it.
    fn part(
        &mut self,
        part: &UnresolvedRef,
        along: Option<&[String]>,
        source: &FileVersion,
    ) -> Result<Option<UnresolvedRef>, Unresolvable> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.waiting.len() > MAX_WAITING {
            return Err("resolve getting too deep".to_owned().into());
        }
        self.waiting.push(part.clone());
        if self.looking_up.contains(&Rc::as_ptr(part)) {
            return Err(Unresolvable::Cycle(self.trace()));
        }
        let resolved = match &part.kind {
            UnresolvedKind::Null
            | UnresolvedKind::Bool(_)
            | UnresolvedKind::Number { .. }
            | UnresolvedKind::Text { .. } => Some(part.clone()),
            UnresolvedKind::Object { .. } | UnresolvedKind::List(_) if part.resolved => {
                Some(part.clone())
            }
            UnresolvedKind::Object { entries, .. } => {
                Some(self.object(part, entries, along, source)?)
            }
            UnresolvedKind::List(elements) => Some(self.list(part, elements, along, source)?),
            UnresolvedKind::Reference { path, optional } => {
                self.reference(part, (path, *optional), along, source)?
            }
            UnresolvedKind::Concatenation(pieces) => self.concatenation(pieces, source)?,
            UnresolvedKind::Delayed(stack) => self.merge(part, stack, along, source)?,
            UnresolvedKind::DelayedObject(stack) => {
                let merged = self.merge(part, stack, along, source)?;
                if !merged.as_ref().is_some_and(|merged| merged.is_object()) {
                    let shown = merged.map(|merged| describe(&merged)).unwrap_or_default();
                    return Err(format!(
                        "Expecting a resolve result to be an object, but it was {shown}"
                    )
                    .into());
                }
                merged
            }
        };
        if along.is_none() && resolved.as_ref().is_some_and(|part| !part.resolved) {
            let message = "resolve_substitutions did not give us a resolved object";
            return Err(message.to_owned().into());
        }
        self.waiting.pop();
        Ok(resolved)
    }

    fn trace(&self) -> String {
        let references = self.waiting.iter().filter_map(|part| match &part.kind {
            UnresolvedKind::Reference { path, optional } => Some(expression(path, *optional)),
            _ => None,
        });
        references.collect::<Vec<_>>().join(", ")
    }

    fn object(
        &mut self,
        part: &UnresolvedRef,
        entries: &IndexMap<String, UnresolvedRef>,
        along: Option<&[String]>,
        source: &FileVersion,
    ) -> Result<UnresolvedRef, Unresolvable> {
        let source = source.inside(part);
        let mut resolved: IndexMap<String, UnresolvedRef> = IndexMap::with_capacity(entries.len());
        let mut changed = false;
        for (key, value) in entries {
            let new = match along {
                None => self.part(value, None, &source)?,
                Some([first, rest @ ..]) if first == key && !rest.is_empty() => {
                    self.part(value, Some(rest), &source)?
                }
                Some(_) => Some(value.clone()),
            };
            changed |= !new.as_ref().is_some_and(|new| Rc::ptr_eq(new, value));
            if let Some(new) = new {
                resolved.insert(key.clone(), new);
            }
        }
        if !changed {
            return Ok(part.clone());
        }
        let ignores_fallbacks = part.ignores_fallbacks();
        Ok(Unresolved::object_with(
            resolved,
            ignores_fallbacks,
            part.lines,
        ))
    }

    fn list(
        &mut self,
        part: &UnresolvedRef,
        elements: &[UnresolvedRef],
        along: Option<&[String]>,
        source: &FileVersion,
    ) -> Result<UnresolvedRef, Unresolvable> {
        if along.is_some() {
            return Ok(part.clone());
        }
        let source = source.inside(part);
        let mut resolved = Vec::with_capacity(elements.len());
        for element in elements {
            match self.part(element, None, &source) {
                Ok(new) => resolved.extend(new),
                Err(Unresolvable::Cycle(trace)) => return Err(Unresolvable::Cycle(trace)),
                // In lists the gem loses the error.
                Err(failure @ Unresolvable::Environment(_)) => return Err(failure),
                Err(Unresolvable::Message(_)) => {
                    return Err("unexpected exception".to_owned().into());
                }
            }
        }
        Ok(Unresolved::new(UnresolvedKind::List(resolved), part.lines))
    }

    fn concatenation(
        &mut self,
        pieces: &[UnresolvedRef],
        source: &FileVersion,
    ) -> Result<Option<UnresolvedRef>, Unresolvable> {
        let mut resolved = Vec::with_capacity(pieces.len());
        for piece in pieces {
            resolved.extend(self.part(piece, None, source)?);
        }
        let mut joined = consolidate(&resolved)?;
        if joined.len() > 1 {
            let shown: Vec<String> = joined.iter().map(|part| describe(part)).collect();
            return Err(format!(
                "Bug in the library; resolved list was joined to too many values: [{}]",
                shown.join(", ")
            )
            .into());
        }
        Ok(joined.pop())
    }

    fn reference(
        &mut self,
        part: &UnresolvedRef,
        (path, optional): (&[String], bool),
        along: Option<&[String]>,
        source: &FileVersion,
    ) -> Result<Option<UnresolvedRef>, Unresolvable> {
        let (waiting, looking_up) = (self.waiting.len(), self.looking_up.len());
        self.looking_up.push(Rc::as_ptr(part));
        let outcome = self.target(path, along, source);
        self.looking_up.truncate(looking_up);
        let unresolved = |what: String| {
            let message = "Could not resolve substitution to a value";
            format!("{}: {message}: {what}", part.lines)
        };
        let expression = || expression(path, optional);
        match outcome {
            Ok(None) if names_environment(path) && optional => {
                let name = &path[0];
                Err(Unresolvable::Environment(format!(
                    "{}: whether '{name}' is in the environment of Puppet is not known",
                    part.lines
                )))
            }
            Ok(None) if names_environment(path) => {
                Err(Unresolvable::Environment(unresolved(expression())))
            }
            Ok(None) if !optional => Err(unresolved(expression()).into()),
            Ok(value) => Ok(value),
            Err(Unresolvable::Cycle(_)) if optional => {
                self.waiting.truncate(waiting);
                Ok(None)
            }
            Err(Unresolvable::Cycle(trace)) => Err(unresolved(format!(
                "{} was part of a cycle of substitutions involving {trace}",
                expression()
            ))
            .into()),
            Err(failure @ (Unresolvable::Message(_) | Unresolvable::Environment(_))) => {
                Err(failure)
            }
        }
    }

    /// Looks a path up in the file and resolves its target.
    fn target(
        &mut self,
        path: &[String],
        along: Option<&[String]>,
        source: &FileVersion,
    ) -> Result<Option<UnresolvedRef>, Unresolvable> {
        let root = &source.root;
        let from_root = FileVersion {
            root: root.clone(),
            parents: None,
        };
        let Some(mut at) = self.part(root, Some(path), &from_root)? else {
            return Ok(None);
        };
        let mut parents: Option<Rc<Parent>> = None;
        let new_root = at.clone();
        for (index, key) in path.iter().enumerate() {
            let value = peek(&at, key, path)?;
            parents = Some(Rc::new(Parent {
                part: at,
                above: parents,
            }));
            match value {
                Some(value) if index + 1 == path.len() => {
                    let root = new_root;
                    return self.part(&value, along, &FileVersion { root, parents });
                }
                Some(value) if value.is_object() => at = value,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn merge(
        &mut self,
        part: &UnresolvedRef,
        stack: &[UnresolvedRef],
        along: Option<&[String]>,
        source: &FileVersion,
    ) -> Result<Option<UnresolvedRef>, Unresolvable> {
        let mut merged: Option<UnresolvedRef> = None;
        for (index, item) in stack.iter().enumerate() {
            let source = if item.is_unmergeable() {
                let mut older: Option<UnresolvedRef> = None;
                for below in &stack[index + 1..] {
                    older = Some(match older {
                        Some(newer) => with_fallback(&newer, below)?,
                        None => below.clone(),
                    });
                }
                source.with_replaced(part, older)?
            } else {
                source.inside(part)
            };
            if let Some(resolved) = self.part(item, along, &source)? {
                merged = Some(match merged {
                    Some(newer) => with_fallback(&newer, &resolved)?,
                    None => resolved,
                });
            }
        }
        Ok(merged)
    }
}

/// Whether a path may be the name of an environment variable: `HOME`.
fn names_environment(path: &[String]) -> bool {
    let [name] = path else {
        return false;
    };
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && name.chars().all(is_part)
}

/// The value of a key, if it can be determined while references are open.
fn peek(
    part: &Unresolved,
    key: &str,
    path: &[String],
) -> Result<Option<UnresolvedRef>, Unresolvable> {
    let unresolved = || {
        let path = crate::syntax::hocon::render_path(path);
        let advice = "you need to call Config#resolve, see API docs for Config#resolve";
        Unresolvable::Message(format!("{path} has not been resolved, {advice}"))
    };
    match &part.kind {
        UnresolvedKind::Object { entries, .. } => Ok(entries.get(key).cloned()),
        UnresolvedKind::DelayedObject(stack) => {
            for layer in stack {
                let UnresolvedKind::Object { entries, .. } = &layer.kind else {
                    return Err(unresolved());
                };
                if let Some(value) = entries.get(key).filter(|value| value.ignores_fallbacks()) {
                    return Ok(Some(value.clone()));
                }
            }
            Err(unresolved())
        }
        _ => Err(NOT_RESOLVED.to_owned().into()),
    }
}

impl FileVersion {
    /// The same file, seen from inside a container.
    fn inside(&self, part: &UnresolvedRef) -> FileVersion {
        // Parents don't matter off the way from the root.
        let is_on_way = self.parents.is_some() || Rc::ptr_eq(part, &self.root);
        let parent = || Parent {
            part: part.clone(),
            above: self.parents.clone(),
        };
        FileVersion {
            root: self.root.clone(),
            parents: is_on_way.then(|| Rc::new(parent())),
        }
    }

    /// The file with a child of the innermost container replaced or removed.
    fn with_replaced(
        &self,
        old: &UnresolvedRef,
        new: Option<UnresolvedRef>,
    ) -> Result<FileVersion, Unresolvable> {
        let Some(parents) = &self.parents else {
            let shown = new.map(|new| describe(&new)).unwrap_or_default();
            let message = format!(
                "replace in parent not possible {} with {shown}",
                describe(old)
            );
            return Err(message.into());
        };
        let mut container = parents.clone();
        let mut replacement = replace_child(&container.part, old, new)?;
        while let Some(above) = container.above.clone() {
            let new = replacement.filter(|part| part.is_container());
            replacement = replace_child(&above.part, &container.part, new)?;
            container = above;
        }
        let root = replacement.filter(|root| root.is_object());
        Ok(FileVersion {
            root: root.unwrap_or_else(|| Unresolved::object(IndexMap::new(), self.root.lines)),
            parents: None,
        })
    }
}

/// A container with one child replaced or removed.
fn replace_child(
    container: &UnresolvedRef,
    old: &UnresolvedRef,
    new: Option<UnresolvedRef>,
) -> Result<Option<UnresolvedRef>, Unresolvable> {
    match &container.kind {
        UnresolvedKind::Object {
            entries,
            ignores_fallbacks,
        } => {
            let mut entries = entries.clone();
            let Some(index) = entries.values().position(|value| Rc::ptr_eq(value, old)) else {
                let (child, parent) = (describe(old), describe(container));
                let message = "SimpleConfigObject.replaceChild did not find";
                return Err(format!("{message} {child} in {parent}").into());
            };
            match new {
                Some(new) => entries[index] = new,
                None => _ = entries.shift_remove_index(index),
            }
            let lines = container.lines;
            let new = Unresolved::object_with(entries, *ignores_fallbacks, lines);
            Ok(Some(new))
        }
        UnresolvedKind::DelayedObject(stack) => {
            let replaced = stack.iter().map(|item| match &new {
                Some(new) if Rc::ptr_eq(item, old) => new.clone(),
                _ => item.clone(),
            });
            let kind = UnresolvedKind::DelayedObject(replaced.collect());
            Ok(Some(Unresolved::new(kind, container.lines)))
        }
        // The gem calls a method that does not exist.
        _ => {
            let shown = describe(container);
            Err(format!("undefined method `replace_child_in_list' for {shown}").into())
        }
    }
}
