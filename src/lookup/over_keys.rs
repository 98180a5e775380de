//! Many keys for one scope: what their lookups have in common is done once.

use std::collections::HashMap as Map;
use std::sync::Arc;

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
    /// The options for keys of each module, and for keys without one; `None` where they cannot be shared.
    collected: Map<Option<Arc<str>>, Option<CollectedOptions>, KeyHashing>,
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

    /// Like [`Session::lookup`]. Collecting the options is most of a lookup's work, and is done once for each module.
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
            && let Some(options) = self.options(module)
        {
            compilation.take_options(options);
        }
        compilation.lookup(request)
    }

    /// The options for keys of a module.
    fn options(&mut self, module: Option<Arc<str>>) -> Option<&CollectedOptions> {
        if !self.collected.contains_key(&module) {
            if self.collected.len() >= MAX_MODULES {
                return None;
            }
            let mut compilation = self.session.compilation_with(&self.scope, &self.globs);
            if module.is_some()
                && let Some(outer) = self.options(None)
            {
                compilation.take_options(outer);
            }
            let found = compilation.collect_options(module.as_deref());
            self.collected.insert(module.clone(), found);
        }
        self.collected.get(&module)?.as_ref()
    }
}
