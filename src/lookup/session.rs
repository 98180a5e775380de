//! Where lookups happen, and the compilations that callers ask.

use std::sync::Arc;

use super::context::{ConfigCache, Environment, Settings};
use super::engine::{Engine, Invocation};
use super::error::{Failure, LookupError};
use super::options::CompiledOptions;
use super::reach::Place;
use super::request::{Answer, Reads, Request};
use crate::hierarchy::{Function, Layer};
use crate::scope::Scope;
use crate::workspace::Files;

/// Where lookups happen; many compilations share it.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The files that can be seen.
    pub files: &'a dyn Files,
    /// The environment's folders.
    pub environment: &'a Environment,
    /// Puppet's settings.
    pub settings: &'a Settings,
    /// Configurations read before.
    pub configs: &'a ConfigCache,
}

impl<'a> Session<'a> {
    /// Answers one request in a compilation of its own.
    #[must_use]
    pub fn lookup(&self, scope: &Scope, request: &Request) -> Answer {
        self.compilation(scope).lookup(request)
    }

    /// Answers many requests for one scope, which then share what was read. `tell` gets each answer
    /// as soon as it is there: what a compilation of its own would give, except warnings that came
    /// with an earlier one, and without [`Answer::reads`]. Returns what all answers together read.
    pub fn lookup_each<'r>(
        &self,
        scope: &Scope,
        requests: impl IntoIterator<Item = &'r Request>,
        mut tell: impl FnMut(Answer),
    ) -> Reads {
        let mut engine = Engine::new(*self, scope.clone());
        for request in requests {
            tell(engine.run(request));
        }
        engine.reads.list()
    }

    /// A compilation that is kept, for questions that share what was read.
    #[must_use]
    pub fn compilation(&self, scope: &Scope) -> Compilation<'a> {
        Compilation {
            engine: Engine::new(*self, scope.clone()),
        }
    }

    /// The functions of a layer's levels, in their order; none where Puppet refuses its configuration.
    #[must_use]
    pub fn functions(&self, layer: &Layer) -> Vec<Function> {
        let functions = Engine::new(*self, Scope::open()).functions(layer);
        functions.unwrap_or_default()
    }

    /// All lookup options that apply to keys of `module` (or to keys without one) in this scope,
    /// with what could not be known of them.
    ///
    /// # Errors
    /// What Puppet raises for every lookup then.
    pub fn lookup_options(
        &self,
        scope: &Scope,
        module: Option<&str>,
    ) -> Result<Arc<CompiledOptions>, LookupError> {
        self.compilation(scope).lookup_options(module)
    }
}

/// One compilation: its answers are those of [`Session`]'s methods of the same name for its scope,
/// as long as no request ended with an error.
pub struct Compilation<'a> {
    engine: Engine<'a>,
}

impl Compilation<'_> {
    /// As [`Session::lookup`]; the answer repeats what was unknown to earlier requests.
    #[must_use]
    pub fn lookup(&mut self, request: &Request) -> Answer {
        let answer = self.engine.run(request);
        Answer {
            reads: Arc::new(self.engine.reads.list()),
            ..answer
        }
    }

    /// As [`Session::lookup_options`]: at no cost behind a lookup of a key of that module.
    ///
    /// # Errors
    /// What Puppet raises for every lookup then.
    pub fn lookup_options(
        &mut self,
        module: Option<&str>,
    ) -> Result<Arc<CompiledOptions>, LookupError> {
        let module: Option<Arc<str>> = module.map(Arc::from);
        let invocation = Invocation {
            module_name: module.clone(),
            ..Invocation::default()
        };
        match self.engine.retrieve_options(module, &invocation) {
            Ok(options) => Ok(options),
            Err(Failure::NotFound) => Ok(Arc::default()),
            Err(Failure::Error(error)) => Err(*error),
        }
    }

    /// As [`Session::places_in`].
    ///
    /// # Errors
    /// What Puppet raises for the configuration; nothing is read then.
    pub fn places(&mut self, layer: &Layer) -> Result<Vec<Place>, LookupError> {
        match self.engine.places(layer, &Invocation::default()) {
            Ok(places) => Ok(places),
            Err(Failure::NotFound) => Ok(Vec::new()),
            Err(Failure::Error(error)) => Err(*error),
        }
    }
}
