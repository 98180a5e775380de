//! Many keys for one scope: what their lookups have in common is done once.

use std::collections::HashMap as Map;
use std::sync::Arc;

use super::layer::Providers;
use super::options::CollectedOptions;
use super::passed::KnownFiles;
use super::{Answer, Compilation, LookupError, LookupOptions, Place, Request, Session};
use crate::hierarchy::Layer;
use crate::scope::Scope;
use crate::value::{KeyHashing, Value};

/// Maximum number of modules whose options are kept.
const MAX_MODULES: usize = 10_000;

/// Lookups for one scope, each as in a compilation of its own.
pub struct ScopeLookups<'a> {
    session: Session<'a>,
    scope: Scope,
    cache: ScopeCache,
}

/// What lookups in one scope share, for [`ScopeLookups::resume`].
#[derive(Default)]
pub struct ScopeCache {
    files: KnownFiles,
    /// What lookups of each module's keys share, and of keys without one; `None` where they share nothing.
    collected: Map<Option<Arc<str>>, Option<SharedStart>, KeyHashing>,
}

/// What lookups in one scope find before they search for their key. The levels were located, and their
/// warnings given, while the options were collected.
struct SharedStart {
    options: CollectedOptions,
    located: Providers,
}

impl<'a> ScopeLookups<'a> {
    /// No lookup yet.
    #[must_use]
    pub fn new(session: Session<'a>, scope: Scope) -> ScopeLookups<'a> {
        ScopeLookups::resume(session, scope, ScopeCache::default())
    }

    /// With what earlier lookups in the same scope and session shared.
    #[must_use]
    pub fn resume(session: Session<'a>, scope: Scope, cache: ScopeCache) -> ScopeLookups<'a> {
        ScopeLookups {
            session,
            scope,
            cache,
        }
    }

    /// What the lookups shared.
    #[must_use]
    pub fn into_cache(self) -> ScopeCache {
        self.cache
    }

    /// Like [`Session::lookup_options`], collected once for each module.
    ///
    /// # Errors
    /// Puppet's error, which every lookup then raises.
    pub fn lookup_options(
        &mut self,
        module: Option<&str>,
    ) -> Result<Arc<LookupOptions>, LookupError> {
        self.started(module.map(Arc::from)).lookup_options(module)
    }

    /// Like [`Session::places_in`].
    ///
    /// # Errors
    /// Puppet's error for the configuration; then nothing is read.
    pub fn places(&mut self, layer: &Layer) -> Result<Vec<Place>, LookupError> {
        let module = layer.module_name().map(Arc::from);
        self.started(module).places(layer)
    }

    /// Like [`Session::lookup`]. Locating the levels and collecting the options is most of a lookup's work, and is
    /// done once for each module.
    #[must_use]
    pub fn lookup(&mut self, request: &Request) -> Answer {
        self.compilation_for(request).lookup(request)
    }

    /// The result of [`ScopeLookups::lookup`] alone, which costs less.
    ///
    /// # Errors
    /// Puppet's error.
    pub fn value(&mut self, request: &Request) -> Result<Value, LookupError> {
        self.compilation_for(request).value(request)
    }

    /// A compilation with what its first request shares with others.
    fn compilation_for(&mut self, request: &Request) -> Compilation<'a> {
        match request.module_of_options() {
            Some(module) => self.started(module),
            None => self.compilation(),
        }
    }

    fn compilation(&self) -> Compilation<'a> {
        self.session
            .compilation_with(&self.scope, &self.cache.files)
    }

    /// A compilation with what lookups of a module's keys share.
    fn started(&mut self, module: Option<Arc<str>>) -> Compilation<'a> {
        let mut compilation = self.compilation();
        if let Some(start) = self.start(module) {
            compilation.take(&start.options, &start.located);
        }
        compilation
    }

    /// What lookups of a module's keys share.
    fn start(&mut self, module: Option<Arc<str>>) -> Option<&SharedStart> {
        if !self.cache.collected.contains_key(&module) {
            if self.cache.collected.len() >= MAX_MODULES {
                return None;
            }
            let mut compilation = self.compilation();
            if module.is_some()
                && let Some(outer) = self.start(None)
            {
                compilation.take(&outer.options, &outer.located);
            }
            let options = compilation.collect_options(module.as_deref());
            let found = options.map(|options| SharedStart {
                options,
                located: compilation.located(),
            });
            self.cache.collected.insert(module.clone(), found);
        }
        self.cache.collected.get(&module)?.as_ref()
    }
}
