//! Data functions in the Puppet language, evaluated if they are pure
//! (`pops/lookup/function_provider.rb`). Other results stay unknown.

use std::cell::RefCell;
use std::sync::Arc;

use super::backend::ValueOrigin;
use super::engine::Engine;
use super::foreign::arguments;
use super::function::{FunctionSource, find_function};
use super::language::{Data, SessionHost};
use super::trace::Remark;
use crate::interpolation::Segment;
use crate::puppet::{Memory, Stop, call_function, lookup_context};
use crate::value::{HashMap, Value};

/// Maximum index of a list element that a key digs for.
const MAX_BEFORE: usize = 10_000;

pub(super) enum PureResult {
    Value(Value),
    NotFound,
    /// Only running the function would show the result.
    Unknown,
}

/// The cache of a level's function, by location (`FunctionContext`).
#[derive(Default)]
pub(super) struct Cached(RefCell<Vec<(usize, Memory)>>);

impl Cached {
    fn take(&self, at: usize) -> Memory {
        let mut all = self.0.borrow_mut();
        let known = all.iter_mut().find(|(place, _)| *place == at);
        known.map_or_else(Memory::default, |(_, cached)| std::mem::take(cached))
    }

    fn keep(&self, at: usize, memory: Memory) {
        let mut all = self.0.borrow_mut();
        all.retain(|(place, _)| *place != at);
        if !memory.cached.is_empty() || memory.unknown.is_some() {
            all.push((at, memory));
        }
    }
}

impl Engine<'_> {
    /// Evaluates a level's function in the Puppet language; `key` is the argument before the
    /// options, for functions that have one.
    pub(super) fn ask_pure(&mut self, origin: &ValueOrigin<'_>, key: Option<Value>) -> PureResult {
        let session = self.session;
        let name = &origin.level.function.name;
        let found = find_function(session.files, session.environment, name);
        let FunctionSource::Puppet(path) = found else {
            return PureResult::Unknown;
        };
        let Ok(text) = session.files.text(&path) else {
            return PureResult::Unknown;
        };
        let source = session.configs.source(&path, &text);
        let mut arguments = arguments(origin, key);
        if let Some(context) = arguments.last_mut() {
            *context = lookup_context();
        }
        // What the code does may depend on anything.
        self.note_version();
        let language = SessionHost::new(session, Data::Unknown);
        let memory = Memory {
            explained: self.tracer.is_some().then(Vec::new),
            ..origin.level.cached.take(origin.at)
        };
        let scope = self.scope.at_top();
        let called = call_function(&language, &scope, (&source, name), arguments, memory);
        let mut memory = called.memory;
        let explained = memory.explained.take();
        origin.level.cached.keep(origin.at, memory);
        for text in explained.into_iter().flatten() {
            self.remark(|| Remark::Explained(text.clone()));
        }
        for variable in &called.variables {
            self.reads.variables.add(variable);
        }
        match called.value {
            Ok(value) => PureResult::Value(value),
            Err(Stop::NotFound) => PureResult::NotFound,
            // The messages of Puppet's errors inside it are unknown.
            Err(_) => PureResult::Unknown,
        }
    }
}

/// Wraps a value at the end of the path that a key digs (`LookupKey#undig`).
pub(super) fn undig(segments: &[Segment], value: Value) -> Option<Value> {
    segments
        .iter()
        .rev()
        .try_fold(value, |inner, segment| match segment {
            Segment::Name(name) => {
                let mut hash = HashMap::default();
                hash.insert(Value::String(Arc::clone(name)), inner);
                Some(Value::from(hash))
            }
            Segment::Index(index) => {
                let before = usize::try_from(*index).ok().filter(|at| *at < MAX_BEFORE)?;
                let holes = std::iter::repeat_n(Value::Undef, before);
                Some(Value::array(holes.chain([inner])))
            }
        })
}
