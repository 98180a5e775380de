//! What is the same for every node that reads a file: as far as the file's own path says, and only
//! where no unknown level could change it.

use std::sync::Arc;

use super::{RootView, Survey};
use crate::interpolation::Key;
use crate::lookup::{Reach, Request, Source};
use crate::scope::Scope;
use crate::value::Value;

/// Answers that hold for every node that reads one file.
pub struct Certainties<'v> {
    view: &'v RootView<'v>,
    scopes: Vec<Scope>,
}

impl<'v> Certainties<'v> {
    /// None for a file that no level reads, and where a node reads the file because of one element
    /// of a list: of the other elements the path says nothing.
    #[must_use]
    pub fn of(view: &'v RootView<'v>, path: &str) -> Option<Certainties<'v>> {
        let reaches = view.reach(path);
        if reaches.is_empty() || reaches.iter().any(|reach| reach.place.mapped.is_some()) {
            return None;
        }
        let mut scopes: Vec<Scope> = Vec::new();
        for scope in reaches.iter().map(Reach::scope) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Some(Certainties { view, scopes })
    }

    /// The sources that give a top-level key's value, the highest first, if they are the same for all
    /// nodes.
    #[must_use]
    pub fn sources(&self, key: &str) -> Option<Vec<Source>> {
        let name: Arc<str> = Arc::from(key);
        self.same(|scope| {
            let survey: Survey = self.view.survey(key, scope);
            if survey.answer.result.is_err() || !survey.is_sure(&self.view.analysis) {
                return None;
            }
            let sources = survey.sources.into_iter().map(|source| {
                let key = name.clone();
                source.path.map(|place| Source { place, key })
            });
            sources.collect()
        })
    }

    /// The value that a lookup of a key (with dots, as it is written) gives, if it is the same for all
    /// nodes.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<Value> {
        let parsed = Key::parse(key).ok()?;
        self.sources(parsed.root.as_name()?)?;
        self.same(|scope| {
            let answer = self.view.session().lookup(scope, &Request::key(key));
            let value = answer.result.ok()?;
            (answer.unknown.is_empty() && !value.has_opaque()).then_some(value)
        })
    }

    fn same<T: PartialEq>(&self, of: impl Fn(&Scope) -> Option<T>) -> Option<T> {
        let mut scopes = self.scopes.iter();
        let first = of(scopes.next()?)?;
        scopes
            .all(|scope| of(scope).as_ref() == Some(&first))
            .then_some(first)
    }
}
