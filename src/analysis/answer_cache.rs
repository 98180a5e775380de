//! Answers over known nodes that requests of one snapshot share: hovers on the elements of a hash,
//! its hints and its definition.
//!
//! Without the cache each hover on an element of a large hash costs up to 64 lookups of the whole
//! hash.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{RootView, left_out};
use crate::hierarchy::Layer;
use crate::lookup::{Environment, Request, Run, Settings};

/// Maximum number of kept answers; a question has at most 64.
const MAX_KEPT: usize = 160;

/// Answers that were computed before, of one snapshot.
#[derive(Debug, Default)]
pub struct AnswerCache(Mutex<VecDeque<Answered>>);

#[derive(Debug)]
struct Answered {
    question: AskedOfNodes,
    runs: Arc<[Run]>,
    /// Whether each node has an answer: then these are the answers for any limit that allows as many.
    is_complete: bool,
}

impl Answered {
    fn holds_within(&self, limits: (usize, usize)) -> bool {
        self.question.limits == limits || self.is_complete && self.runs.len() <= limits.0
    }
}

/// Everything that answers over known nodes depend on.
#[derive(Debug)]
struct AskedOfNodes {
    snapshot: u64,
    nodes: u64,
    /// The folder of the root, the path of its configuration, its layer.
    root: (Arc<str>, Option<Arc<str>>, Layer),
    environment: Environment,
    settings: Settings,
    request: Request,
    members: Box<[usize]>,
    /// The limits of lookups.
    limits: (usize, usize),
}

impl AnswerCache {
    /// The answers to a request for some of the view's nodes, computed unless they are kept. Those of
    /// a cancelled request are not kept.
    pub(super) fn runs(
        &self,
        view: &RootView<'_>,
        limits: (usize, usize),
        (request, members): (&Request, &[usize]),
        compute: impl FnOnce() -> Vec<Run>,
    ) -> Arc<[Run]> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |it: &&Answered| it.holds_within(limits) && it.question.is_of(view, request, members);
        if let Some(known) = kept().iter().find(is_it) {
            return Arc::clone(&known.runs);
        }
        let runs: Arc<[Run]> = compute().into();
        if (view.analysis.is_cancelled)() || runs.len() > MAX_KEPT {
            return runs;
        }
        let question = AskedOfNodes::of(view, limits, request, members);
        let mut kept = kept();
        // Older snapshots are hardly asked again.
        kept.retain(|it| it.question.snapshot == question.snapshot);
        kept.push_back(Answered {
            question,
            is_complete: left_out(&runs, members) == 0,
            runs: Arc::clone(&runs),
        });
        let mut count: usize = kept.iter().map(|it| it.runs.len()).sum();
        while count > MAX_KEPT
            && let Some(oldest) = kept.pop_front()
        {
            count -= oldest.runs.len();
        }
        runs
    }
}

impl AskedOfNodes {
    fn of(
        view: &RootView<'_>,
        limits: (usize, usize),
        request: &Request,
        members: &[usize],
    ) -> AskedOfNodes {
        let root = view.root;
        AskedOfNodes {
            snapshot: view.analysis.snapshot.stamp(),
            nodes: view.analysis.nodes.id(),
            root: (
                Arc::clone(&root.dir),
                root.hiera_yaml.clone(),
                view.layer.clone(),
            ),
            environment: view.environment.clone(),
            settings: view.analysis.settings.clone(),
            request: request.clone(),
            members: members.into(),
            limits,
        }
    }

    fn is_of(&self, view: &RootView<'_>, request: &Request, members: &[usize]) -> bool {
        let AskedOfNodes {
            snapshot,
            nodes,
            root: (dir, config, layer),
            environment,
            settings,
            ..
        } = self;
        let of = &view.analysis;
        *snapshot == of.snapshot.stamp()
            && *nodes == of.nodes.id()
            && self.request == *request
            && *dir == view.root.dir
            && *config == view.root.hiera_yaml
            && *layer == view.layer
            && *environment == view.environment
            && settings.answers_alike(of.settings)
            && *self.members == *members
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{AnswerCache, MAX_KEPT, RootView};
    use crate::analysis::Analysis;
    use crate::lookup::{ConfigCache, PuppetVersion, Request, Run, Settings};
    use crate::scope::{KnownNodes, read_nodes};
    use crate::value::from_json;
    use crate::workspace::{Change, Snapshot, Workspace};

    struct Asking {
        configs: ConfigCache,
        answers: AnswerCache,
    }

    impl Asking {
        fn runs(
            &self,
            snapshot: &Snapshot,
            nodes: &KnownNodes,
            version: PuppetVersion,
            key: &str,
        ) -> Arc<[Run]> {
            let ask = |view: &RootView<'_>| view.runs(&Request::key(key), &[0, 1]);
            self.ask(snapshot, nodes, version, ask)
        }

        fn ask(
            &self,
            snapshot: &Snapshot,
            nodes: &KnownNodes,
            version: PuppetVersion,
            ask: impl FnOnce(&RootView<'_>) -> Arc<[Run]>,
        ) -> Arc<[Run]> {
            let settings = Settings::for_version(version);
            let analysis = Analysis {
                answers: Some(&self.answers),
                ..Analysis::new(snapshot, &settings, &self.configs, nodes)
            };
            ask(&analysis.governing("/w/data/c.yaml").unwrap())
        }
    }

    fn nodes() -> KnownNodes {
        let json = r#"{"a": {"facts": {"role": "x"}}, "b": {"facts": {"role": "y"}}}"#;
        let json = from_json(json).unwrap();
        KnownNodes::new(&read_nodes(&json, "nodes", &Default::default()).unwrap())
    }

    #[test]
    fn answers_are_shared_until_anything_that_they_depend_on_is_another() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![Arc::from("/w")]));
        let config = "version: 5\nhierarchy: [{name: a, paths: ['%{role}.yaml', c.yaml]}]\n";
        workspace.apply(Change::file("/w/hiera.yaml", config));
        let snapshot = workspace.apply(Change::file("/w/data/c.yaml", "k: 1\nl: 2\n"));
        let asking = Asking {
            configs: ConfigCache::default(),
            answers: AnswerCache::default(),
        };
        let (known, same_nodes) = (nodes(), nodes());
        let first = asking.runs(&snapshot, &known, PuppetVersion::V8, "k");
        assert_eq!(first.len(), 1);
        let again = asking.runs(&snapshot, &known, PuppetVersion::V8, "k");
        assert!(Arc::ptr_eq(&first, &again));
        for (what, other) in [
            (
                "key",
                asking.runs(&snapshot, &known, PuppetVersion::V8, "l"),
            ),
            (
                "version",
                asking.runs(&snapshot, &known, PuppetVersion::V7, "k"),
            ),
            (
                "nodes",
                asking.runs(&snapshot, &same_nodes, PuppetVersion::V8, "k"),
            ),
        ] {
            assert!(!Arc::ptr_eq(&first, &other), "{what}");
        }
        let beside = |view: &RootView<'_>| view.runs_beside(&Request::key("k"), &[0, 1]);
        let beside = asking.ask(&snapshot, &known, PuppetVersion::V8, beside);
        assert!(Arc::ptr_eq(&first, &beside), "few answers are all");
        let edited = workspace.apply(Change::file("/w/data/x.yaml", "k: 3\n"));
        let edited = asking.runs(&edited, &known, PuppetVersion::V8, "k");
        assert_eq!(edited.len(), 2);
        let kept = asking.answers.0.lock().unwrap();
        assert_eq!(kept.len(), 1, "answers of older snapshots are dropped");
    }

    #[test]
    fn the_oldest_answers_are_dropped() {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![Arc::from("/w")]));
        let config = "version: 5\nhierarchy: [{name: a, path: c.yaml}]\n";
        workspace.apply(Change::file("/w/hiera.yaml", config));
        let snapshot = workspace.apply(Change::file("/w/data/c.yaml", "k: 1\n"));
        let asking = Asking {
            configs: ConfigCache::default(),
            answers: AnswerCache::default(),
        };
        let known = nodes();
        for at in 0..MAX_KEPT + 10 {
            asking.runs(&snapshot, &known, PuppetVersion::V8, &format!("k{at}"));
        }
        assert_eq!(asking.answers.0.lock().unwrap().len(), MAX_KEPT);
    }
}
