//! Facts about keys and files from one root, computed once for all files under check.

use std::sync::Arc;

use super::checker::{Checker, RootContext, lock};
use crate::analysis::layers_of;
use crate::datatype::Type;
use crate::hierarchy::Layer;
use crate::lookup::paths_for_functions;
use crate::workspace::Root;

impl Checker<'_> {
    /// The type of the class parameter that a key sets in a root, if it is known, cached.
    pub(super) fn type_of_key(
        &self,
        context: &RootContext<'_>,
        key: &Arc<str>,
    ) -> Option<Arc<Type>> {
        let known = || lock(&context.types);
        if let Some(known) = known().get(key) {
            return known.clone();
        }
        let analysis = self.analysis();
        let parameter = analysis.autoloaded_parameter(context.root, key);
        let found = parameter.and_then(|it| analysis.type_of(context.root, it));
        let found = found.map(Arc::new);
        known().insert(Arc::clone(key), found.clone());
        found
    }

    /// Whether some node looks a key up in levels outside of the workspace. O(levels) once a layer.
    pub(super) fn has_outside(&self, context: &RootContext<'_>, key: &str) -> bool {
        let is_outside = |layer: Layer| {
            let known = lock(&context.outside).get(&layer).copied();
            known.unwrap_or_else(|| {
                let view = self.analysis().at(context.root);
                let found = view.is_outside(&layer);
                lock(&context.outside).insert(layer, found);
                found
            })
        };
        layers_of(key).into_iter().any(is_outside)
    }

    /// Whether a level with a function that is never run may read the file at a path.
    pub(super) fn may_be_read_by_function(&self, at: &str) -> bool {
        let templates = self.read_by_functions.get_or_init(|| {
            let places = self.roots.iter().flat_map(|context| self.places(context));
            let unread = places.filter(|place| place.reading.is_none());
            unread.map(|place| place.template.clone()).collect()
        });
        templates.iter().any(|template| {
            let mut paths = std::iter::once(at).chain(paths_for_functions(at));
            paths.any(|path| template.matches(path))
        })
    }

    /// Whether a manifest may give a class's parameter another value, cached.
    pub(super) fn may_be_given(
        &self,
        root: &Root,
        (class, parameter): (&Arc<str>, &Arc<str>),
    ) -> bool {
        let find = || self.analysis().may_be_given(root, class, parameter);
        let Some(context) = self.root_context(root) else {
            return find();
        };
        let name = (Arc::clone(class), Arc::clone(parameter));
        let known = lock(&context.given).get(&name).copied();
        known.unwrap_or_else(|| {
            let is_given = find();
            lock(&context.given).insert(name, is_given);
            is_given
        })
    }
}
