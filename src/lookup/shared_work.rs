//! What lookups for many nodes share: what is known of files, and the options that apply to nodes. Kept between
//! requests for one state of the files.
//!
//! Collecting the options is about half of a lookup. Without the cache the hints of fifty lines of `common.yaml` collect
//! the same options fifty times.

use std::cell::RefCell;
use std::collections::HashMap as Map;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::context::{Environment, Settings};
use super::location::{KnownPlaces, PlacesByPath};
use super::options::CollectedOptions;
use super::passed::{KnownFiles, MatteringFiles};
use super::request::{Answer, Request};
use super::session::Session;
use super::shared_results::SharedResults;
use crate::scope::KnownNodes;

/// Maximum number of collected sets of options for the keys of one module: more are not shared.
const MAX_OF_MODULE: usize = 64;

/// Maximum number of all sets of options: then it begins anew. Each module has 4 bytes for each node.
const MAX_OPTIONS: usize = 256;

/// Maximum number of kept states: manifests look data up while a lookup runs, and files are checked in parallel.
const MAX_KEPT: usize = 4;

/// The states that no request uses, the last one last.
#[derive(Debug, Default)]
pub(super) struct SharedWorkCache(Mutex<Vec<WorkOfState>>);

#[derive(Debug)]
struct WorkOfState {
    of: WorkOf,
    places: PlacesByPath,
    mattering: MatteringFiles,
    options: OptionsOfNodes,
}

/// Everything that it depends on.
#[derive(Debug)]
struct WorkOf {
    /// See [`crate::workspace::Files::stamp`].
    stamp: u64,
    environment: Environment,
    settings: Settings,
}

impl WorkOf {
    fn is_of(&self, session: &Session<'_>, stamp: u64) -> bool {
        self.stamp == stamp
            && self.environment == *session.environment
            && self.settings.answers_alike(session.settings)
    }
}

/// What lookups for many nodes share.
#[derive(Default)]
pub(super) struct SharedWork {
    pub(super) files: KnownFiles,
    options: OptionsOfNodes,
}

/// The options that apply to the nodes of one set, by the module of the keys.
#[derive(Debug, Default)]
struct OptionsOfNodes {
    /// The id of the nodes.
    nodes: u64,
    by_module: Map<Option<Arc<str>>, SharedResults<Arc<CollectedOptions>>>,
    /// The number of sets of options.
    count: usize,
}

impl Session<'_> {
    /// Makes lookups with what others have found out in the same state of the files, and keeps what they add. Those of
    /// several threads share what was known before they began.
    pub(super) fn with_shared_work<R>(&self, lookups: impl FnOnce(&mut SharedWork) -> R) -> R {
        let Some(stamp) = self.files.stamp() else {
            return lookups(&mut SharedWork::default());
        };
        // What is lent is lost after a panic, and nothing else.
        let lock = || {
            let kept = &self.configs.shared_work().0;
            kept.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let kept = {
            let mut kept = lock();
            let known = kept.iter().rposition(|it| it.of.is_of(self, stamp));
            known.map(|at| kept.remove(at))
        };
        let (of, mut work) = match kept {
            Some(kept) => {
                let files = KnownFiles {
                    places: KnownPlaces::of(kept.places),
                    mattering: Rc::new(RefCell::new(kept.mattering)),
                };
                let options = kept.options;
                (Some(kept.of), SharedWork { files, options })
            }
            None => (None, SharedWork::default()),
        };
        let result = lookups(&mut work);
        let SharedWork { files, options } = work;
        let KnownFiles { places, mattering } = files;
        if let Some((places, mattering)) = places.into_known().zip(Rc::into_inner(mattering)) {
            let of = of.unwrap_or_else(|| WorkOf {
                stamp,
                environment: self.environment.clone(),
                settings: self.settings.clone(),
            });
            let mut kept = lock();
            if kept.len() >= MAX_KEPT {
                kept.remove(0);
            }
            kept.push(WorkOfState {
                of,
                places,
                mattering: mattering.into_inner(),
                options,
            });
        }
        result
    }
}

impl SharedWork {
    /// Answers a request for a node, by number. `nodes` are the same in all requests, or the options are collected anew.
    pub(super) fn lookup(
        &mut self,
        session: &Session<'_>,
        nodes: &KnownNodes,
        request: &Request,
        member: usize,
    ) -> Answer {
        let scope = &nodes.scope(member);
        let mut compilation = session.compilation_with(scope, &self.files);
        let Some(module) = request.module_of_options() else {
            return compilation.lookup(request);
        };
        if self.options.nodes != nodes.id() {
            self.options = OptionsOfNodes {
                nodes: nodes.id(),
                ..OptionsOfNodes::default()
            };
        }
        if self.options.count >= MAX_OPTIONS {
            self.options.by_module.clear();
            self.options.count = 0;
        }
        let shared = self.options.by_module.entry(module.clone()).or_default();
        if let Some(known) = shared.find(session, nodes, member) {
            compilation.take_options(&known);
            return compilation.lookup(request);
        }
        if shared.count() >= MAX_OF_MODULE {
            return compilation.lookup(request);
        }
        match compilation.collect_options(module.as_deref()) {
            Some(collected) => {
                self.options.count += 1;
                let reads = collected.reads();
                shared.add(session, nodes, (member, reads, Arc::new(collected)));
                compilation.lookup(request)
            }
            None => session.compilation_with(scope, &self.files).lookup(request),
        }
    }
}
