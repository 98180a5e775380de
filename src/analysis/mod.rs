//! Queries about a workspace for features, rules and commands: one value with the snapshot, Puppet's
//! settings, the known nodes and cached configurations.
//!
//! It must not know editor features, rules or the disk. Rooms above do not build a lookup [`Session`]
//! by hand: [`Analysis::at`] returns one for a root, and [`Analysis::session_over`] for files that
//! are read on demand.
//!
//! ```
//! use hiera_ls::analysis::Analysis;
//! use hiera_ls::lookup::{ConfigCache, PuppetVersion, Request, Settings};
//! use hiera_ls::scope::{KnownNodes, Scope};
//! use hiera_ls::workspace::{Change, Workspace};
//!
//! let workspace = Workspace::new();
//! workspace.apply(Change::Folders(vec!["/repo".into()]));
//! let open = |path: &str, text: &str| workspace.apply(Change::open(path, text));
//! open("/repo/hiera.yaml", "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n");
//! let snapshot = open("/repo/data/common.yaml", "ntp::servers: [a, b]\n");
//! let settings = Settings::for_version(PuppetVersion::V8).for_editor();
//! let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
//! let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
//! let root = analysis.governing("/repo/data/common.yaml").unwrap();
//! let answer = root.session().lookup(&Scope::open(), &Request::key("ntp::servers"));
//! assert_eq!(answer.result.unwrap().inspect(), r#"["a", "b"]"#);
//! ```

mod advice;
mod answer_cache;
mod bodies;
mod certain;
mod changed_code;
mod condition;
mod custom_facts;
mod declarations;
mod difference;
mod doctor;
mod environment;
mod evaluation_order;
mod expand;
mod expectations;
mod extent;
mod governing;
mod inclusions;
mod key_answer;
mod manifests;
mod members;
mod named_nodes;
mod needed;
mod node_file;
mod node_meaning;
mod node_sources;
mod nodes;
mod offer;
mod position;
mod project;
mod readable;
mod readers;
mod refused;
mod root_entry;
mod roots;
mod scope_view;
mod site;
mod site_cache;
mod site_files;
mod site_runs;
mod source;
mod survey;
#[cfg(test)]
mod survey_tests;
mod untold;
mod used_variables;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

pub use advice::{MAX_ADVICE, RECIPES, Recipe};
pub use answer_cache::AnswerCache;
pub use certain::Certainties;
pub use condition::{Condition, MAX_VALUES};
pub use custom_facts::{custom_fact_places, fact_of, is_custom_fact};
pub use declarations::declares_from;
pub use difference::{Touched, TouchedKeys, difference, last_difference};
pub use doctor::{
    Advice, BackendUse, FileAndWhy, FilesReport, Hierarchy, LevelReport, MAX_FILES, NodesReport,
    Report, VariableReport,
};
pub use environment::{environment_in, environments_below, is_deployed, root_for};
pub use evaluation_order::EvaluationOrder;
pub use expand::{
    MAX_EXPANDED, datadir_of, may_find_levels_otherwise, places_of, with_known_names,
};
pub use expectations::{Expectation, ExpectationMistake, WhichNodes};
pub use extent::ChangeExtent;
pub use governing::{
    Environments, FileReading, FileView, Governing, HieraFiles, OffModulepath, governing,
};
pub use inclusions::{
    Affected, CertainInclusions, FileRange, LackingCache, MissingValue, NodesOfSite,
    PossibleInclusions, WrongDefaultValue,
};
pub use key_answer::KeyAnswer;
pub use manifests::{ClassParameter, Defined, NoParameter, split_key};
pub use named_nodes::may_matter_to_nodes;
pub use needed::Needed;
pub use node_file::{NodeFile, has_nodes_extension};
pub use node_meaning::{Meaning, NodeMeaning, name_rules};
pub use node_sources::DescribedBy;
pub use nodes::{
    NodeCache, NodeChoice, NodeInputs, NodeSet, NodesOrigin, describes_nodes, large_nodes_files,
};
pub use offer::Offer;
pub use position::KeyPositions;
pub use project::{
    Diagnostics, InsidePath, Mistake, PROJECT_FILE, Project, ProjectError, ProjectSeverity,
    SeverityByPath, Spoils, schema as project_schema, severity_at,
};
pub use readable::{Readable, all_keys, keys_of_all, written};
pub use readers::{ReadFiles, is_wildcard};
pub use refused::RefusedFile;
pub use root_entry::{RootEntry, Serving, chosen_root};
pub use roots::{ReadBy, RefusedConfig, Unread};
pub use scope_view::{DecidingOptions, KnownOfScope, ScopeView, layers_of, option_fact};
pub use site::{
    Extent, RefusedManifest, SiteManifests, assigned_over, included_lists, with_manifest_variables,
};
pub use site_cache::{
    RootName, SiteCache, SiteClasses, SiteNodes, Sites, changes_code, changes_inputs,
    concerns_hierarchies, concerns_manifests, decides_hierarchies, has_conditions,
};
pub use site_files::is_site_manifest;
pub use source::{LevelValue, dig, kind_of, merge_kind, quoted, request, sources, strategy};
pub use survey::{
    MAX_LOOKUPS, SameAnswer, Status, Survey, SurveyLevel, grouped_by_answer, left_out,
};
pub use used_variables::{Effect, UsedVariable, ValueCounts};

use crate::hierarchy::{Layer, Template, TemplatePart};
use crate::lookup::{ConfigCache, Environment, Place, Reach, Session, Settings, layer_of, reach};
use crate::scope::{DEFAULT_ENVIRONMENT, KnownNodes};
use crate::value::Value;
use crate::workspace::{Files, Format, Root, RootFiles, RootKind, Snapshot, path};

/// Everything an answer depends on. Cheap to make and to copy: one for each request.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    /// The workspace as of one moment.
    pub snapshot: &'a Snapshot,
    /// Puppet's settings.
    pub settings: &'a Settings,
    /// Cached configurations and what was computed from them, shared by requests.
    pub configs: &'a ConfigCache,
    /// The known nodes; may be empty.
    pub nodes: &'a KnownNodes,
    /// The name of the environment that lookups are in.
    pub environment: &'a str,
    /// Certname of the node that the user has selected; `None` for any node.
    pub selected: Option<&'a str>,
    /// The facts that the user has overridden for now, in words (`site = nyc`); empty if there are
    /// none.
    pub what_if: &'a str,
    /// The known nodes without overridden facts; `None` if no facts are overridden.
    pub without_what_if: Option<&'a KnownNodes>,
    /// Answers that requests share; `None` if each is asked once.
    pub answers: Option<&'a AnswerCache>,
    /// Whether the request was cancelled; called inside long loops.
    pub is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Analysis<'a> {
    /// An analysis in the default environment, without a selected node, that is never cancelled.
    #[must_use]
    pub fn new(
        snapshot: &'a Snapshot,
        settings: &'a Settings,
        configs: &'a ConfigCache,
        nodes: &'a KnownNodes,
    ) -> Analysis<'a> {
        Analysis {
            snapshot,
            settings,
            configs,
            nodes,
            environment: DEFAULT_ENVIRONMENT,
            selected: None,
            what_if: "",
            without_what_if: None,
            answers: None,
            is_cancelled: &|| false,
        }
    }

    /// The same with other settings.
    #[must_use]
    pub fn with_settings(self, settings: &'a Settings) -> Analysis<'a> {
        Analysis { settings, ..self }
    }

    /// The same in an environment of another name.
    #[must_use]
    pub fn with_environment(self, environment: &'a str) -> Analysis<'a> {
        Analysis {
            environment,
            ..self
        }
    }

    /// Whether a template points outside the workspace folders, or behind a symbolic link whose
    /// target is missing.
    #[must_use]
    pub fn is_outside(&self, template: &Template) -> bool {
        let Some(TemplatePart::Text(start)) = template.parts.first() else {
            return false;
        };
        let start = path::normalise(start);
        let areas = self.snapshot.areas();
        !areas
            .iter()
            .any(|area| path::within(&start, area).is_some() || area.starts_with(start.as_str()))
            || self.snapshot.is_behind_lost_link(&start)
    }

    /// A file's own value for a top-level key.
    #[must_use]
    pub fn own_value(&self, at: &str, key: &str) -> Option<Value> {
        let file = self.snapshot.file(at)?;
        let format = file.format().unwrap_or(Format::Yaml);
        self.snapshot.value_of(file, key, format)
    }

    /// Lookups over some files in an environment: those of a snapshot, or one moment of a batch. Uses only the settings and the cached configurations.
    #[must_use]
    pub fn session_over(self, files: &'a dyn Files, environment: &'a Environment) -> Session<'a> {
        Session {
            files,
            environment,
            settings: self.settings,
            configs: self.configs,
        }
    }

    /// The view from one root of the workspace.
    #[must_use]
    pub fn at(self, root: &'a Root) -> RootView<'a> {
        // Plans have no node outside of apply blocks.
        static NO_NODES: LazyLock<KnownNodes> = LazyLock::new(KnownNodes::default);
        let analysis = if root.kind == RootKind::Plans {
            Analysis {
                nodes: &NO_NODES,
                selected: None,
                ..self
            }
        } else {
            self
        };
        RootView {
            analysis,
            root,
            places: RefCell::default(),
            layer: layer_of(root),
            environment: Environment::of_root(self.snapshot, root, self.environment),
            files: self.snapshot.files_for(root),
        }
    }
}

/// The workspace from one root: its layer, its environment, and lookups in it.
pub struct RootView<'a> {
    /// The analysis that the view belongs to.
    pub analysis: Analysis<'a>,
    /// The root.
    pub root: &'a Root,
    /// The layer of the root's own configuration.
    pub layer: Layer,
    /// The environment in which the root's data is read.
    pub environment: Environment,
    files: RootFiles<'a>,
    /// The locations of layers that were asked for. Without them the plans are found again each time,
    /// and a hover takes up to a fifth longer.
    places: RefCell<HashMap<Layer, Arc<[Place]>>>,
}

impl<'a> RootView<'a> {
    /// The files as lookups in this root see them.
    #[must_use]
    pub fn files(&self) -> &RootFiles<'a> {
        &self.files
    }

    /// Whether the lookups are those of plans of Bolt outside of apply blocks.
    #[must_use]
    pub fn is_of_plans(&self) -> bool {
        self.root.kind == RootKind::Plans
    }

    /// Lookups in this root.
    #[must_use]
    pub fn session(&self) -> Session<'_> {
        self.analysis.session_over(&self.files, &self.environment)
    }

    /// All locations of a layer's hierarchy, for any node; empty if Puppet refuses its
    /// configuration.
    #[must_use]
    pub fn places(&self, layer: &Layer) -> Arc<[Place]> {
        if let Some(places) = self.places.borrow().get(layer) {
            return places.clone();
        }
        let places = self.session().known_places(layer);
        let places = with_known_names(places, self.analysis.nodes);
        let mut known = self.places.borrow_mut();
        known.insert(layer.clone(), places.clone());
        places
    }

    /// The same root in another state of the workspace; `None` if it does not exist there.
    #[must_use]
    pub fn within<'s>(&self, snapshot: &'s Snapshot, nodes: &'s KnownNodes) -> Option<RootView<'s>>
    where
        'a: 's,
    {
        let analysis = Analysis {
            snapshot,
            nodes,
            ..self.analysis
        };
        // Several configurations may serve one folder.
        let roots = snapshot.roots();
        let mut same = roots.iter().filter(|root| {
            root.dir == self.root.dir
                && root.kind == self.root.kind
                && root.hiera_yaml == self.root.hiera_yaml
        });
        let root = same.next().or_else(|| roots.in_folder(&self.root.dir))?;
        Some(analysis.at(root))
    }

    /// The layers that the root's nodes read: the global one, the environment's, and its own.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        let mut layers = vec![Layer::Global, Layer::Environment];
        if !layers.contains(&self.layer) {
            layers.push(self.layer.clone());
        }
        layers
    }

    /// The locations of the root's own hierarchy that read a file, highest priority first.
    #[must_use]
    pub fn reach(&self, path: &str) -> Vec<Reach> {
        reach(&self.places(&self.layer), path, &self.files)
    }
}

/// Settings for what is shown, without keys: encrypted values stay encrypted.
#[must_use]
pub fn without_keys(settings: &Settings) -> Cow<'_, Settings> {
    match settings.keys {
        None => Cow::Borrowed(settings),
        Some(_) => Cow::Owned(Settings {
            keys: None,
            ..settings.clone()
        }),
    }
}

/// Calls `body` with the analysis of a snapshot in an editor, without known nodes.
#[cfg(test)]
fn with_analysis<T>(snapshot: &Snapshot, body: impl FnOnce(Analysis<'_>) -> T) -> T {
    let settings = Settings::for_version(crate::lookup::PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    body(Analysis::new(snapshot, &settings, &configs, &nodes))
}
