//! What is the same for every node that reads a file, whoever that is: as far as the file's own path
//! tells, and only where no level that nobody can see could say otherwise.

use std::sync::Arc;

use super::ground::Ground;
use super::key::{View, quoted, request};
use super::levels;
use super::page::Line;
use super::{HoverOptions, Target};
use crate::lookup::{Request, Source};
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::Snapshot;

/// Asks what is certain for the nodes that read one file.
pub struct Certainties<'a> {
    ground: Ground<'a>,
    scopes: Vec<Scope>,
}

impl<'a> Certainties<'a> {
    /// Nothing for a file that no level reads, and where a node reads the file because of one element
    /// of a list: of the others the path says nothing.
    #[must_use]
    pub fn of(
        snapshot: &'a Snapshot,
        path: &'a str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Certainties<'a>> {
        let ground = Ground::of(snapshot, path, options)?;
        let reaches = ground.reach(path);
        let is_mapped =
            |reach: &crate::lookup::Reach| ground.mapped_variable(&reach.place).is_some();
        if reaches.is_empty() || reaches.iter().any(is_mapped) {
            return None;
        }
        let mut scopes: Vec<Scope> = Vec::new();
        for scope in reaches.iter().map(crate::lookup::Reach::scope) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Some(Certainties { ground, scopes })
    }

    /// The sources that give a top-level key's value, the highest first, if they are the same for all
    /// nodes.
    #[must_use]
    pub fn sources(&self, key: &str) -> Option<Vec<Source>> {
        let target = Target::of_root(key);
        let name: Arc<str> = Arc::from(key);
        let of = |scope: &Scope| -> Option<Vec<Source>> {
            let answer = self.ground.session().lookup(scope, &request(key).traced());
            let view = View::new(&self.ground, &target, &answer, scope.clone(), Line::new());
            if !view.is_sure || answer.result.is_err() {
                return None;
            }
            let found = levels::sources(&answer, &quoted(key)).into_iter();
            let found = found.map(|source| {
                let key = name.clone();
                source.path.map(|place| Source { place, key })
            });
            found.collect()
        };
        self.same(of)
    }

    /// The value that a lookup of a key (with dots, as it is written) gives, if it is the same for all
    /// nodes.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<Value> {
        let target = Target::named(key)?;
        self.sources(&target.root)?;
        let of = |scope: &Scope| -> Option<Value> {
            let answer = self.ground.session().lookup(scope, &Request::key(key));
            let value = answer.result.ok()?;
            (answer.unknown.is_empty() && !value.has_opaque()).then_some(value)
        };
        self.same(of)
    }

    fn same<T: PartialEq>(&self, of: impl Fn(&Scope) -> Option<T>) -> Option<T> {
        let mut scopes = self.scopes.iter();
        let first = of(scopes.next()?)?;
        scopes
            .all(|scope| of(scope).as_ref() == Some(&first))
            .then_some(first)
    }
}
