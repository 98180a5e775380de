//! The classes that code may include which was passed over: by name, or any.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::builtin;
use super::catalog::literal_classes;
use super::evaluator::Evaluator;
use super::host::{Callee, Defines, DefinitionSource};
use super::resources::is_plain_type;
use crate::syntax::puppet::{Expression, ExpressionKind, Resource, without_colons};

/// Maximum number of definitions that are followed.
const MAX_FOLLOWED: usize = 500;

/// Classes that may have been evaluated.
pub(super) enum Perhaps {
    /// Any.
    All,
    /// These; other definitions that were followed are among the names.
    Names(BTreeSet<Followed>),
}

/// A definition that may be evaluated.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Followed {
    Class(Arc<str>),
    Type(Arc<str>),
    Function(Arc<str>),
}

impl Default for Perhaps {
    fn default() -> Perhaps {
        Perhaps::Names(BTreeSet::new())
    }
}

impl Perhaps {
    pub(super) fn contains(&self, class: &Arc<str>) -> bool {
        match self {
            Perhaps::All => true,
            Perhaps::Names(names) => names.contains(&Followed::Class(Arc::clone(class))),
        }
    }
}

/// Classes so far, and the definitions that are still to be read.
struct PerhapsWalk {
    found: Perhaps,
    pending: Vec<Followed>,
}

impl PerhapsWalk {
    fn add(&mut self, followed: Followed) {
        let Perhaps::Names(names) = &mut self.found else {
            return;
        };
        if names.len() >= MAX_FOLLOWED {
            self.found = Perhaps::All;
        } else if names.insert(followed.clone()) {
            self.pending.push(followed);
        }
    }

    fn add_classes(&mut self, nodes: &[Expression]) {
        match literal_classes(nodes) {
            Some(names) => names
                .into_iter()
                .for_each(|name| self.add(Followed::Class(name))),
            None => self.found = Perhaps::All,
        }
    }
}

impl Evaluator<'_> {
    /// The classes so far, and those that code may include, also through definitions.
    pub(super) fn perhaps(&self, node: &Expression, found: Perhaps) -> Perhaps {
        let mut walk = PerhapsWalk {
            found,
            pending: Vec::new(),
        };
        self.look(node, &mut walk);
        while let Some(next) = walk.pending.pop() {
            match next {
                Followed::Class(name) => self.look_into(Defines::Class, &name, &mut walk),
                Followed::Type(name) => self.look_into(Defines::Type, &name, &mut walk),
                Followed::Function(name) => {
                    if let Callee::Puppet(source) = self.callee(&name)
                        && let Some(function) = source.function(&name)
                    {
                        function
                            .body
                            .iter()
                            .for_each(|body| self.look(body, &mut walk));
                    }
                }
            }
        }
        walk.found
    }

    fn look(&self, node: &Expression, walk: &mut PerhapsWalk) {
        match &node.kind {
            kind if kind.is_definition() => return,
            ExpressionKind::Call(call) => match call.function.literal() {
                Some("include" | "contain" | "require") => walk.add_classes(&call.arguments),
                Some(name) => self.look_at_call(name, walk),
                None => {}
            },
            ExpressionKind::NamedAccess(access) => self.look_at_call(&access.name, walk),
            ExpressionKind::Resource(resource) => look_at_resource(resource, walk),
            ExpressionKind::Collect(..) => walk.found = Perhaps::All,
            _ => {}
        }
        node.kind.each(&mut |part| self.look(part, walk));
    }

    fn look_at_call(&self, name: &str, walk: &mut PerhapsWalk) {
        let name = without_colons(name);
        if builtin::declares(name) {
            walk.found = Perhaps::All;
            return;
        }
        if builtin::is_of_puppet(name) {
            return;
        }
        match self.callee(name) {
            Callee::Puppet(_) => walk.add(Followed::Function(Arc::from(name))),
            Callee::Ruby | Callee::Library | Callee::Lacking | Callee::Missing => {
                if builtin::may_declare_classes(name) {
                    walk.found = Perhaps::All;
                }
            }
        }
    }

    fn look_into(&self, kind: Defines, name: &Arc<str>, walk: &mut PerhapsWalk) {
        match self.definition(kind, name) {
            DefinitionSource::Here(source, _) => {
                let Some(definition) = source.definition(kind, name) else {
                    return;
                };
                if let Some((parent, _)) = &definition.parent {
                    let parent = without_colons(parent).to_lowercase();
                    walk.add(Followed::Class(Arc::from(parent)));
                }
                let parts = definition.parameters.iter().chain(&definition.body);
                parts.for_each(|part| self.look(part, walk));
            }
            // Puppet fails, or it is in Ruby and includes none.
            DefinitionSource::Missing | DefinitionSource::Ruby => {}
            DefinitionSource::Unseen => walk.found = Perhaps::All,
        }
    }
}

fn look_at_resource(resource: &Resource, walk: &mut PerhapsWalk) {
    match resource.type_name.literal() {
        Some(name) if is_plain_type(name) => {}
        Some("class") => resource.parts.iter().for_each(|part| {
            if let ExpressionKind::ResourceBody(title, _) = &part.kind {
                walk.add_classes(std::slice::from_ref(title));
            }
        }),
        Some(name) => {
            let name = without_colons(name).to_lowercase();
            walk.add(Followed::Type(Arc::from(name)));
        }
        None => walk.found = Perhaps::All,
    }
}
