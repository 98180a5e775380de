//! The engine of a page: opened once with the data of a report, then asked by name. Questions and answers are JSON.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::answers;
use super::data::{DATA_VERSION, ReportData, ReportFile};
use super::told::{ToldManifests, ToldVariables};
use crate::analysis::{
    Analysis, NodeCache, NodeChoice, NodeInputs, NodeSet, Project, RootView, name_rules, root_for,
    with_manifest_variables,
};
use crate::lookup::{ConfigCache, Settings};
use crate::scope::{KnownNodes, NameRule};
use crate::value::{LoadError, LoadErrorKind};
use crate::workspace::{Change, Content, DiskEntry, HIERA_YAML, Linked, Snapshot, Workspace, path};

/// A workspace in memory that answers questions.
pub struct ReportEngine {
    pub(super) data: ReportData,
    pub(super) snapshot: Arc<Snapshot>,
    /// The other side of the comparison.
    pub(super) before: Option<Arc<Snapshot>>,
    settings: Settings,
    configs: ConfigCache,
    cache: NodeCache,
    rules: Vec<NameRule>,
    outside: BTreeMap<Arc<str>, Arc<str>>,
    /// The nodes as they are and with the facts of the last what-if, once they are asked for.
    asked: Mutex<Vec<(OverriddenFacts, Arc<AskedNodes>)>>,
}

/// The facts of a what-if, by their dotted paths.
pub(super) type OverriddenFacts = BTreeMap<String, Value>;

/// The nodes that a question is about.
pub(super) struct AskedNodes {
    pub(super) set: Arc<NodeSet>,
    given: KnownNodes,
    /// With the variables that manifests set.
    pub(super) known: KnownNodes,
    /// The facts that a question overrides, in words.
    pub(super) what_if: String,
}

impl ReportEngine {
    /// Opens the data of a report, [`ReportData`] as JSON. O(bytes).
    ///
    /// # Errors
    /// It is no such data, or of another version.
    pub fn open(data: &str) -> Result<ReportEngine, String> {
        let data: ReportData = serde_json::from_str(data).map_err(|error| error.to_string())?;
        if data.version != DATA_VERSION {
            let version = data.version;
            return Err(format!(
                "the report is of version {version}, and its engine of version {DATA_VERSION}"
            ));
        }
        let project: Project = serde_json::from_value(data.settings.project.clone())
            .map_err(|error| error.to_string())?;
        let mut settings = Settings::for_version(project.puppet_version.unwrap_or_default());
        settings.strict = project.strict.unwrap_or(settings.strict);
        settings.strict_variables = project
            .strict_variables
            .unwrap_or(settings.strict_variables);
        settings.backends = Arc::new(project.backends.clone());
        settings.modules_may_be_missing = true;
        let workspace = Workspace::new();
        let mut changes = vec![
            Change::Folders(vec![Arc::from(data.folder.as_str())]),
            Change::Settings(data.settings.files()),
        ];
        changes.extend(data.files.iter().map(changed));
        let snapshot = workspace.apply(Change::Batch(changes));
        let before = data.against.as_ref().map(|against| {
            let changes = against.files.iter().map(changed).collect();
            Arc::new(snapshot.with(Change::Batch(changes)))
        });
        let outside = data.node_files.iter();
        let outside = outside.filter_map(|file| Some((file.path.clone(), file.text.clone()?)));
        Ok(ReportEngine {
            rules: name_rules(&project.nodes),
            outside: outside.collect(),
            configs: ConfigCache::default(),
            cache: NodeCache::default(),
            asked: Mutex::default(),
            snapshot,
            before,
            settings,
            data,
        })
    }

    /// Gives a file another text: later answers are for it. The other side of a comparison and the findings stay.
    ///
    /// # Errors
    /// The report has no such file.
    pub fn edit(&mut self, path: &str, text: &str) -> Result<(), String> {
        let Some(file) = self.data.files.iter_mut().find(|file| *file.path == *path) else {
            return Err(format!("{path} is not in this report"));
        };
        file.text = Some(Arc::from(text));
        self.snapshot = Arc::new(self.snapshot.with(changed(file)));
        self.asked = Mutex::default();
        Ok(())
    }

    /// Answers a question: `{"ok": answer}`, or `{"error": words}`. `docs/report.md` has the names.
    #[must_use]
    pub fn call(&self, name: &str, question: &str) -> String {
        let question: Value = serde_json::from_str(question).unwrap_or_default();
        match answers::answer(self, name, &question) {
            Ok(answer) => format!("{{\"ok\":{answer}}}"),
            Err(words) => json!({ "error": words }).to_string(),
        }
    }

    /// The nodes, with some facts instead of their own.
    ///
    /// # Errors
    /// A file that describes them cannot be read.
    pub(super) fn nodes(&self, facts: &OverriddenFacts) -> Result<Arc<AskedNodes>, String> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, nodes)) = asked.iter().find(|(known, _)| known == facts) {
            return Ok(nodes.clone());
        }
        let choice = NodeChoice {
            node: None,
            facts: facts.clone(),
        };
        let inputs = NodeInputs {
            nodes_files: &self.data.settings.nodes_files,
            are_all: self.data.settings.are_all,
            facts_file: self.data.settings.facts_file.as_deref(),
            rules: &self.rules,
            choice: Some(&choice),
            outside: &|at| self.outside.get(at).cloned(),
            environment: &self.data.environment,
            settings: &self.settings,
            configs: &self.configs,
        };
        let root = root_for(&self.snapshot, &self.data.folder, &self.data.environment);
        let dir = root.map_or(self.data.folder.as_str(), |root| &root.dir);
        let place = path::join(dir, HIERA_YAML);
        let set = self.cache.described(&self.snapshot, &place, &inputs);
        if let Some(problem) = set.problems.first() {
            return Err(problem.clone());
        }
        let given = KnownNodes::in_environment(&set.nodes, &self.data.environment);
        let known = if !self.data.only_shapes {
            self.with_manifests(&given, &self.snapshot)
        } else if facts.is_empty() {
            told(&given, &self.data.variables)
        } else {
            // What manifests would set by these facts is not known.
            given.as_given()
        };
        let words = facts.iter().map(|(path, value)| match value.as_str() {
            Some(text) => format!("{path} = {text}"),
            None => format!("{path} = {value}"),
        });
        let nodes = Arc::new(AskedNodes {
            what_if: words.collect::<Vec<_>>().join(", "),
            known,
            given,
            set,
        });
        if !facts.is_empty() {
            asked.retain(|(known, _)| known.is_empty());
        }
        asked.push((facts.clone(), nodes.clone()));
        Ok(nodes)
    }

    /// The same nodes with what the manifests of the other side set.
    pub(super) fn nodes_before(&self, now: &AskedNodes, before: &Snapshot) -> AskedNodes {
        AskedNodes {
            set: now.set.clone(),
            given: now.given.as_given(),
            known: match &self.data.against {
                Some(against) if self.data.only_shapes => told(&now.given, &against.variables),
                Some(_) | None => self.with_manifests(&now.given, before),
            },
            what_if: String::new(),
        }
    }

    fn with_manifests(&self, given: &KnownNodes, snapshot: &Snapshot) -> KnownNodes {
        let root = root_for(snapshot, &self.data.folder, &self.data.environment);
        let known =
            root.and_then(|root| with_manifest_variables(given, snapshot, root, &self.settings));
        known.unwrap_or_else(|| given.as_given())
    }

    /// The hierarchy that answers on a side.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn view<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        nodes: &'a AskedNodes,
    ) -> Result<RootView<'a>, String> {
        let environment = &self.data.environment;
        let Some(root) = root_for(snapshot, &self.data.folder, environment) else {
            return Err("there is no hierarchy in this report".to_owned());
        };
        let analysis = Analysis {
            what_if: &nodes.what_if,
            ..Analysis::new(snapshot, &self.settings, &self.configs, &nodes.known)
        };
        Ok(analysis.with_environment(environment).at(root))
    }
}

/// Nodes with the variables that are told of their manifests.
fn told(given: &KnownNodes, variables: &ToldVariables) -> KnownNodes {
    given.with_manifests(Arc::new(ToldManifests::new(variables)))
}

fn of_content(content: Content) -> DiskEntry {
    DiskEntry::File {
        content,
        linked: Linked::No,
    }
}

/// A file of the data as a change.
fn changed(file: &ReportFile) -> Change {
    Change::Disk {
        path: file.path.clone(),
        entry: match (&file.text, &file.left_out) {
            (Some(text), _) => of_content(Content::Text(text.clone())),
            (None, Some(why)) => {
                let error = LoadError::new(LoadErrorKind::LeftOut, why.to_string(), None);
                of_content(Content::Refused(Arc::new(error)))
            }
            (None, None) => DiskEntry::Absent,
        },
    }
}
