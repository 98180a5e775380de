//! What levels outside of the workspace could change of an answer, for those who show many answers
//! at once.

use std::sync::Arc;

use super::HoverOptions;
use super::ground::Ground;
use super::key::strategy;
use super::levels::{self, Source};
use super::lookup_options::options_place;
use super::page::words;
use crate::analysis::RootView;
use crate::ide::call_hierarchy::root_of;
use crate::ide::matrix::Cell;
use crate::lookup::Request;
use crate::scope::Scope;
use crate::value::Value;
use crate::workspace::path;

/// Adds to each answer of a key (as it is looked up) what would change it, in the words of a hover:
/// `level 'private' (not in this workspace) sets it`. Nothing where all levels can be seen; a lookup
/// for each answer where some cannot.
pub fn add_unless(view: &RootView<'_>, key: &str, answers: &mut [Cell]) {
    let options = HoverOptions::new(
        view.analysis.settings,
        view.analysis.configs,
        view.analysis.nodes,
    );
    let config = path::join(&view.root.dir, "hiera.yaml");
    let ground = Ground::at(view.analysis.snapshot, view.root, &config, &options);
    let root = root_of(&key.into());
    let mut layers = ground.layers_of(&root).into_iter();
    let has_unseen = layers.any(|layer| {
        let places = ground.places(&layer);
        places
            .iter()
            .any(|place| ground.is_outside(&place.template))
    });
    if has_unseen {
        for cell in answers {
            cell.unless = unless(&ground, view, key, &root, cell);
        }
    }
}

fn unless(
    ground: &Ground<'_>,
    view: &RootView<'_>,
    key: &str,
    root: &Arc<str>,
    cell: &Cell,
) -> Option<String> {
    let member = cell
        .nodes
        .first()
        .and_then(|name| view.analysis.nodes.find(name));
    let scope = member.map_or_else(Scope::open, |member| view.analysis.nodes.scope(member));
    let answer = ground.session().lookup(&scope, &Request::key(key).traced());
    let place = options_place(ground, root, &scope);
    let strategy = strategy(&answer, root, place.as_ref());
    let mut sources: Vec<Source> = match member {
        Some(_) => levels::sources(&answer, key),
        None => Vec::new(),
    };
    sources.extend(cell.sources.iter().map(|source| Source {
        path: Some(source.file.clone()),
        level: "".into(),
        value: Value::Undef,
    }));
    levels::unseen(ground, root, &scope, &sources, &strategy).map(|line| words(&line))
}
