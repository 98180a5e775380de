//! The context of lookups, and compilations in it.

use std::sync::Arc;

use super::context::{ConfigCache, Environment, Settings};
use super::engine::{Engine, Invocation};
use super::error::{Failure, LookupError};
use super::layer::Providers;
use super::options::{CollectedOptions, LookupOptions};
use super::passed::KnownFiles;
use super::reach::Place;
use super::request::{Answer, Reads, Request, UnknownCause};
use crate::hierarchy::{Function, Layer};
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::{Files, LOOKUP_OPTIONS};

/// The context of lookups, shared by many compilations.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The visible files.
    pub files: &'a dyn Files,
    /// The environment's folders.
    pub environment: &'a Environment,
    /// Puppet's settings.
    pub settings: &'a Settings,
    /// Cached configurations.
    pub configs: &'a ConfigCache,
}

impl<'a> Session<'a> {
    /// Answers one request in a new compilation.
    #[must_use]
    pub fn lookup(&self, scope: &Scope, request: &Request) -> Answer {
        self.compilation(scope).lookup(request)
    }

    /// Answers many requests for one scope, which share a compilation. `visit` is called with each
    /// answer as soon as it is ready. Each answer is that of a separate compilation, except for
    /// warnings that came with an earlier one, and without [`Answer::reads`]. Returns the reads of
    /// all answers together.
    pub fn lookup_each<'r>(
        &self,
        scope: &Scope,
        requests: impl IntoIterator<Item = &'r Request>,
        mut visit: impl FnMut(Answer),
    ) -> Reads {
        let mut engine = Engine::new(*self, scope.clone());
        for request in requests {
            visit(engine.run(request));
        }
        engine.reads.list()
    }

    /// A compilation for several requests that share its caches.
    #[must_use]
    pub fn compilation(&self, scope: &Scope) -> Compilation<'a> {
        Compilation {
            engine: Engine::new(*self, scope.clone()),
        }
    }

    /// Like [`Session::compilation`], with what is shared with other compilations.
    pub(super) fn compilation_with(&self, scope: &Scope, files: &KnownFiles) -> Compilation<'a> {
        let mut engine = Engine::new(*self, scope.clone());
        engine.places = files.places.clone();
        engine.mattering = Some(files.mattering.clone());
        Compilation { engine }
    }

    /// The functions of a layer's levels, in order; empty if Puppet refuses its configuration.
    #[must_use]
    pub fn functions(&self, layer: &Layer) -> Vec<Function> {
        let functions = Engine::new(*self, Scope::open()).functions(layer);
        functions.unwrap_or_default()
    }

    /// Whether a lookup of a key in this scope asks a function whose results are unknown.
    #[must_use]
    pub fn asks_unknown_function(&self, scope: &Scope, request: &Request) -> bool {
        let answer = Engine::new(*self, scope.clone()).run(request);
        let mut unknown = answer.unknown.iter();
        unknown.any(|unknown| matches!(unknown.cause, UnknownCause::Function { .. }))
    }

    /// All lookup options that apply to keys of `module` (or to keys without one) in this scope,
    /// with their unknown parts.
    ///
    /// # Errors
    /// Puppet's error, which every lookup then raises.
    pub fn lookup_options(
        &self,
        scope: &Scope,
        module: Option<&str>,
    ) -> Result<Arc<LookupOptions>, LookupError> {
        self.compilation(scope).lookup_options(module)
    }
}

/// One compilation: its answers are those of [`Session`]'s methods of the same name for its scope,
/// until a request ends with an error.
pub struct Compilation<'a> {
    engine: Engine<'a>,
}

impl Compilation<'_> {
    /// Like [`Session::lookup`]; the answer repeats the unknowns of earlier requests.
    #[must_use]
    pub fn lookup(&mut self, request: &Request) -> Answer {
        let mut answer = self.engine.run(request);
        let reads = Arc::new(self.engine.reads.list());
        let asks_for_options = request.names.iter().any(|name| **name == *LOOKUP_OPTIONS);
        answer.unknown.retain_mut(|unknown| {
            if let UnknownCause::Path(possible) = &mut unknown.cause
                && possible.is_of_options()
                && !possible.files.is_empty()
                && !asks_for_options
            {
                let (session, module) = (&self.engine.session, unknown.layer.module_name());
                let known = session.configs.deciding();
                possible.files = known.among(session, &possible.files, module, &reads);
                return !possible.files.is_empty();
            }
            true
        });
        Answer { reads, ..answer }
    }

    /// The value of a request alone. Costs less than [`Compilation::lookup`] where many requests
    /// share a compilation.
    ///
    /// # Errors
    /// Puppet's error.
    pub fn value(&mut self, request: &Request) -> Result<Value, LookupError> {
        self.engine.run(request).result
    }

    /// Like [`Session::lookup_options`]; free after a lookup of a key of that module.
    ///
    /// # Errors
    /// Puppet's error, which every lookup then raises.
    pub fn lookup_options(
        &mut self,
        module: Option<&str>,
    ) -> Result<Arc<LookupOptions>, LookupError> {
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

    /// Adopts options that were collected for another scope.
    pub(super) fn take_options(&mut self, collected: &CollectedOptions) {
        self.engine.take_options(collected);
    }

    /// Adopts what another compilation in the same scope has found before its first request: the
    /// options, and the providers with their located levels.
    pub(super) fn take(&mut self, options: &CollectedOptions, located: &Providers) {
        self.engine.take_options(options);
        self.engine.providers = located.anew();
    }

    /// The providers, for compilations in the same scope.
    pub(super) fn located(self) -> Providers {
        self.engine.providers
    }

    /// Collects the options for keys of `module`, as a lookup would, for use in other scopes too.
    /// `None` if they depend on more than files and variables, or if Puppet refuses them; then this
    /// compilation must be dropped.
    pub(super) fn collect_options(&mut self, module: Option<&str>) -> Option<CollectedOptions> {
        self.lookup_options(module).ok()?;
        self.engine.collected_options()
    }

    /// Like [`Session::places_in`].
    ///
    /// # Errors
    /// Puppet's error for the configuration; then nothing is read.
    pub fn places(&mut self, layer: &Layer) -> Result<Vec<Place>, LookupError> {
        match self.engine.places(layer, &Invocation::default()) {
            Ok(places) => Ok(places),
            Err(Failure::NotFound) => Ok(Vec::new()),
            Err(Failure::Error(error)) => Err(*error),
        }
    }
}
