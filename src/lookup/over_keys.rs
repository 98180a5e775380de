//! Many keys for one scope: what their lookups have in common is done once.

use std::collections::HashMap as Map;
use std::sync::Arc;

use super::layer::Providers;
use super::location::KnownGlobs;
use super::options::CollectedOptions;
use super::{Answer, Request, Session, Tracing};
use crate::interpolation::Key;
use crate::scope::Scope;
use crate::value::KeyHashing;
use crate::workspace::LOOKUP_OPTIONS;

/// Maximum number of modules whose options are kept.
const MAX_MODULES: usize = 10_000;

/// Lookups for one scope, each as in a compilation of its own.
pub struct ScopeLookups<'a> {
    session: Session<'a>,
    scope: Scope,
    globs: KnownGlobs,
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
        ScopeLookups {
            session,
            scope,
            globs: KnownGlobs::default(),
            collected: Map::default(),
        }
    }

    /// Like [`Session::lookup`]. Locating the levels and collecting the options is most of a lookup's work, and is
    /// done once for each module.
    #[must_use]
    pub fn lookup(&mut self, request: &Request) -> Answer {
        // Other traces show how the options are found.
        let is_shared = matches!(request.tracing, Tracing::Off | Tracing::Sources);
        let key = request.names.first().and_then(|name| Key::parse(name).ok());
        // Puppet refuses other keys before it reads options.
        let key = key.filter(|key| {
            let root = key.root.as_name();
            is_shared && root.is_some_and(|root| root != LOOKUP_OPTIONS)
        });
        let module: Option<Option<Arc<str>>> = key.map(|key| key.module_name().map(Arc::from));
        let mut compilation = self.session.compilation_with(&self.scope, &self.globs);
        if let Some(module) = module
            && let Some(start) = self.start(module)
        {
            compilation.take(&start.options, &start.located);
        }
        compilation.lookup(request)
    }

    /// What lookups of a module's keys share.
    fn start(&mut self, module: Option<Arc<str>>) -> Option<&SharedStart> {
        if !self.collected.contains_key(&module) {
            if self.collected.len() >= MAX_MODULES {
                return None;
            }
            let mut compilation = self.session.compilation_with(&self.scope, &self.globs);
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
            self.collected.insert(module.clone(), found);
        }
        self.collected.get(&module)?.as_ref()
    }
}
