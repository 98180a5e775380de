//! Values that are the same for every node that reads a file. Only the file's own path is used, and
//! only if no unknown level could change the value.

use std::sync::Arc;

use super::RootView;
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
    /// `None` for a file that no level reads, and for a file that is read because of one element of
    /// a list: its path says nothing about the other elements.
    #[must_use]
    pub fn of(view: &'v RootView<'v>, path: &str) -> Option<Certainties<'v>> {
        let reaches = view.reach(path);
        if reaches.is_empty() || reaches.iter().any(|reach| reach.place.mapped.is_some()) {
            return None;
        }
        let scopes = Reach::scopes(&reaches);
        Some(Certainties { view, scopes })
    }

    /// The sources of a top-level key's value, highest priority first, if they are the same for all
    /// nodes.
    #[must_use]
    pub fn sources(&self, key: &str) -> Option<Vec<Source>> {
        let name: Arc<str> = Arc::from(key);
        self.same(|scope| {
            let found = self.view.key_answer(key, scope);
            if found.answer.result.is_err() || !found.is_sure(&self.view.analysis) {
                return None;
            }
            let sources = found.sources.into_iter().map(|source| {
                let key = name.clone();
                source.path.map(|place| Source { place, key })
            });
            sources.collect()
        })
    }

    /// The value of a key (dotted, as written), if it is the same for all nodes.
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

    fn same<T: PartialEq>(&self, read: impl Fn(&Scope) -> Option<T>) -> Option<T> {
        let mut scopes = self.scopes.iter();
        let first = read(scopes.next()?)?;
        scopes
            .all(|scope| read(scope).as_ref() == Some(&first))
            .then_some(first)
    }
}
