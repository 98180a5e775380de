//! Makes the data of a report out of a workspace: what its engine needs, without secrets.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::data::{DATA_VERSION, MAX_DATA, ReportAgainst, ReportData, ReportFile, ReportSettings};
use super::mask::SecretMask;
use super::shape::ValueShapes;
use super::told::{ToldVariables, told_variables};
use crate::analysis::{
    Analysis, DescribedBy, NodeFile, NodeSet, Project, root_for, with_manifest_variables,
};
use crate::lookup::{ConfigCache, Settings};
use crate::scope::{KnownNodes, Scope};
use crate::syntax::Parse;
use crate::text::{few, number_of};
use crate::value::StrKey;
use crate::workspace::{File, Format, HIERA_YAML, PROJECT_FILE, Snapshot, format_of, parse, path};

/// Why the values of a file that is left out are unknown.
const NOT_HERE: &str = "its text is not in this report";

/// Maximum number of files that are named where many are left out.
const MAX_NAMED: usize = 5;

/// What a report is about.
pub struct ReportSource<'a> {
    /// The workspace.
    pub snapshot: &'a Snapshot,
    /// Its folder, absolute.
    pub folder: &'a str,
    /// The other side, its name and its folder.
    pub against: Option<(&'a str, &'a Snapshot, &'a str)>,
    /// The name of the environment.
    pub environment: &'a str,
    /// The nodes.
    pub nodes: &'a NodeSet,
    /// Whether files that the user names describe all nodes.
    pub are_all: bool,
    /// The workspace's configuration.
    pub project: &'a Project,
    /// Puppet's settings.
    pub settings: &'a Settings,
    /// The findings, as `check --format json` has them, with absolute paths.
    pub findings: Value,
    /// Whether values are replaced by their shapes.
    pub only_shapes: bool,
    /// The program.
    pub made_by: &'a str,
}

impl ReportSource<'_> {
    /// The path in the report of a file in a folder of one side.
    fn moved(&self, folder: &str, at: &str) -> Arc<str> {
        let name = path::name(self.folder);
        match path::within(at, folder) {
            Some("") => Arc::from(format!("/{name}")),
            Some(below) => Arc::from(format!("/{name}/{below}")),
            None => Arc::from(at),
        }
    }
}

/// The data, and what was done for it.
pub struct Gathered {
    /// The data.
    pub data: ReportData,
    /// How many secrets were replaced.
    pub secrets: usize,
}

/// Gathers the data of a report. O(bytes of the workspace, times secrets).
#[must_use]
pub fn gather(source: &ReportSource<'_>) -> Gathered {
    let configs = ConfigCache::default();
    let mut left_out = Vec::new();
    let mut texts = ReportTexts::new(source, &configs);
    let name = path::name(source.folder);
    let moved = |at: &str| source.moved(source.folder, at);
    let mut files = Vec::new();
    for file in source.snapshot.files() {
        files.extend(texts.of(file, source.snapshot, moved(file.path())));
    }
    let mut against = source.against.map(|side| texts.against(side));
    let mut node_files = Vec::new();
    let known: HashSet<Arc<str>> = files.iter().map(|file| file.path.clone()).collect();
    for file in &source.nodes.files {
        let path = moved(&file.path);
        if !known.contains(&path) {
            node_files.push(ReportFile {
                text: Some(Arc::from(texts.of_nodes(file))),
                path,
                left_out: None,
            });
        }
    }
    files.sort_by(|one: &ReportFile, other| one.path.cmp(&other.path));
    let ReportTexts { mask, refused, .. } = texts;
    let everywhere = mask.everywhere();
    left_out.extend(refused);
    let others = against.iter_mut().flat_map(|against| &mut against.files);
    for file in files.iter_mut().chain(&mut node_files).chain(others) {
        if let Some(text) = &file.text {
            file.text = Some(Arc::from(everywhere.masked(text)));
        }
    }
    let others = against.iter().flat_map(|against| &against.files);
    let others: usize = node_files.iter().chain(others).map(length).sum();
    let dropped = drop_beyond(&mut files, MAX_DATA.saturating_sub(others));
    if !dropped.is_empty() {
        let inside = format!("/{name}/");
        let names: Vec<&str> = dropped
            .iter()
            .map(|path| path.trim_start_matches(&*inside))
            .collect();
        left_out.push(format!(
            "{} with the most text ({}): a report has at most {} MB of data, and answers that need them are unknown",
            number_of(names.len(), "file"),
            few(&names, MAX_NAMED),
            MAX_DATA >> 20
        ));
    }
    if source.only_shapes {
        left_out.push(
            "values, comments and manifests (--no-values): answers say which values differ, not what they are, and \
             of the variables that manifests set only those in paths of the hierarchy are known, not for a what-if"
                .to_owned(),
        );
    }
    let mut findings = source.findings.clone();
    let inside = format!("{}/", source.folder);
    with_texts(&mut findings, &mut |text| {
        everywhere.masked(&text.replace(&inside, ""))
    });
    if source.only_shapes {
        without_messages(&mut findings);
    }
    let variables = |snapshot: &Snapshot, folder: &str| {
        let mut told = told(source, snapshot, folder);
        let texts = told
            .values_mut()
            .flat_map(|variables| variables.values_mut());
        for text in texts.flatten() {
            *text = everywhere.masked(text);
        }
        told
    };
    if let (Some(against), Some((_, there, folder))) = (&mut against, source.against) {
        against.variables = variables(there, folder);
    }
    let data = ReportData {
        variables: variables(source.snapshot, source.folder),
        version: DATA_VERSION,
        title: name.to_owned(),
        made_by: source.made_by.to_owned(),
        folder: format!("/{name}"),
        environment: source.environment.to_owned(),
        files,
        node_files,
        settings: settings(source, &moved),
        findings,
        against,
        left_out,
        only_shapes: source.only_shapes,
    };
    Gathered {
        secrets: mask.len(),
        data,
    }
}

/// What manifests set, for a report that has none.
fn told(source: &ReportSource<'_>, snapshot: &Snapshot, folder: &str) -> ToldVariables {
    let root = root_for(snapshot, folder, source.environment);
    let Some(root) = root.filter(|_| source.only_shapes) else {
        return ToldVariables::new();
    };
    let given = KnownNodes::in_environment(&source.nodes.nodes, source.environment);
    let known = with_manifest_variables(&given, snapshot, root, source.settings);
    let configs = ConfigCache::default();
    known.map_or_else(ToldVariables::new, |known| {
        let analysis = Analysis::new(snapshot, source.settings, &configs, &known);
        told_variables(&analysis.with_environment(source.environment).at(root))
    })
}

fn settings(source: &ReportSource<'_>, moved: &dyn Fn(&str) -> Arc<str>) -> ReportSettings {
    let Settings {
        puppet_version,
        strict,
        strict_variables,
        ..
    } = *source.settings;
    let project = Project {
        puppet_version: Some(puppet_version),
        strict: Some(strict),
        strict_variables: Some(strict_variables),
        ..source.project.clone()
    };
    let mut project = serde_json::to_value(project).unwrap_or_default();
    with_texts(&mut project, &mut |text| moved(text).to_string());
    let facts_file = source.nodes.files.iter().find(|file| {
        let mut origins = source.nodes.origins.iter();
        !origins.any(|origin| origin.path.as_ref() == Some(&file.path))
    });
    let named = source.nodes.files.iter().rev();
    let named = named.filter(|file| facts_file.is_none_or(|facts| facts.path != file.path));
    let are_named = source.are_all || source.nodes.described_by == DescribedBy::NodesFile;
    ReportSettings {
        project,
        nodes_files: if are_named {
            named.map(|file| moved(&file.path).to_string()).collect()
        } else {
            Vec::new()
        },
        are_all: source.are_all,
        facts_file: facts_file.map(|file| moved(&file.path).to_string()),
        ..ReportSettings::of_files(source.snapshot.settings(), moved)
    }
}

/// The texts of a report.
struct ReportTexts<'a> {
    source: &'a ReportSource<'a>,
    mask: SecretMask,
    shapes: ValueShapes,
    nodes: KnownNodes,
    configs: &'a ConfigCache,
    refused: Vec<String>,
}

impl<'a> ReportTexts<'a> {
    fn new(source: &'a ReportSource<'a>, configs: &'a ConfigCache) -> ReportTexts<'a> {
        ReportTexts {
            source,
            mask: SecretMask::default(),
            shapes: ValueShapes::default(),
            nodes: KnownNodes::default(),
            configs,
            refused: Vec::new(),
        }
    }

    /// The other side: the files that differ, as they are there.
    fn against(&mut self, (name, there, folder): (&str, &Snapshot, &str)) -> ReportAgainst {
        let source = self.source;
        let is_folder = name.starts_with(['.', '/']);
        let mut changed: BTreeMap<Arc<str>, ReportFile> = BTreeMap::new();
        for file in there.files() {
            let at = source.moved(folder, file.path());
            let here = path::within(file.path(), folder)
                .map(|below| path::join(source.folder, below))
                .and_then(|here| source.snapshot.file(&here));
            if here.is_some_and(|here| here.text() == file.text()) {
                continue;
            }
            if let Some(file) = self.of(file, there, at.clone()) {
                changed.insert(at, file);
            }
        }
        for file in source.snapshot.files() {
            let there_at = path::within(file.path(), source.folder).map_or_else(
                || file.path().to_string(),
                |below| path::join(folder, below),
            );
            if there.file(&there_at).is_none() {
                let path = source.moved(source.folder, file.path());
                let absent = ReportFile {
                    path: path.clone(),
                    text: None,
                    left_out: None,
                };
                changed.insert(path, absent);
            }
        }
        ReportAgainst {
            variables: ToldVariables::new(),
            // Not where another checkout lies on this machine.
            name: if is_folder {
                path::name(folder).to_owned()
            } else {
                name.to_owned()
            },
            files: changed.into_values().collect(),
        }
    }

    /// A file without secrets, at its path in the report; `None` if it is not in the report.
    fn of(&mut self, file: &File, snapshot: &Snapshot, path: Arc<str>) -> Option<ReportFile> {
        if let Some(refused) = file.refused()
            && file.text().is_empty()
        {
            let name = snapshot.short_name(file.path());
            self.refused.push(refused.message_beside(name));
            return Some(ReportFile {
                path,
                text: None,
                left_out: Some(Arc::from(NOT_HERE)),
            });
        }
        let is_code = path::extension(file.path()) == Some("pp");
        if self.source.only_shapes && is_code {
            return None;
        }
        if file.text().is_empty() {
            return Some(ReportFile {
                path,
                text: Some(Arc::from("")),
                left_out: None,
            });
        }
        let is_configuration = [HIERA_YAML, PROJECT_FILE].contains(&path::name(file.path()));
        let format = format_of(file.path()).or(is_configuration.then_some(Format::Yaml));
        let parse = format.map(|format| snapshot.parse_once(file, format));
        let tree = parse.as_ref().map(|parse| &parse.tree);
        let text = {
            let known: RefCell<HashMap<String, bool>> = RefCell::default();
            let (settings, configs) = (self.source.settings, self.configs);
            let analysis = Analysis::new(snapshot, settings, configs, &self.nodes);
            let root = analysis.governing(file.path());
            let environment = self.source.environment;
            let root = root.or_else(|| {
                Some(analysis.at(root_for(snapshot, self.source.folder, environment)?))
            });
            let is_sensitive = |key: &str| {
                let Some(view) = root.as_ref().filter(|_| format.is_some()) else {
                    return false;
                };
                *known.borrow_mut().entry(key.to_owned()).or_insert_with(|| {
                    let mut view = view.in_scope(&Scope::open());
                    let entry = view.options_entry(key);
                    let convert = entry.as_ref().and_then(|entry| {
                        let hash = entry.value.as_hash()?;
                        hash.get(&StrKey("convert_to"))
                    });
                    convert.is_some_and(|convert| convert.inspect().contains("Sensitive"))
                })
            };
            self.mask.masked(file.text(), tree, &is_sensitive)
        };
        let format = format.filter(|_| !is_configuration);
        Some(ReportFile {
            path,
            text: Some(self.shaped(text, format, file.path())),
            left_out: None,
        })
    }

    /// The text of a file that describes nodes.
    fn of_nodes(&mut self, file: &NodeFile) -> String {
        let format = match path::extension(&file.path) {
            Some("json") => Format::Json,
            _ => Format::Yaml,
        };
        let parse = parse(&file.text, format);
        self.mask.masked(&file.text, Some(&parse.tree), &|_| false)
    }

    fn shaped(&mut self, text: String, format: Option<Format>, at: &str) -> Arc<str> {
        let describes_nodes = self.source.nodes.files.iter().any(|file| *file.path == *at);
        match format.filter(|_| self.source.only_shapes && !describes_nodes) {
            None => Arc::from(text),
            Some(format) => {
                let Parse { tree, .. } = parse(&text, format);
                Arc::from(self.shapes.shaped(&text, &tree))
            }
        }
    }
}

fn length(file: &ReportFile) -> usize {
    file.text.as_ref().map_or(0, |text| text.len())
}

/// Drops the longest texts until the rest has at most so many bytes; returns their paths.
pub(super) fn drop_beyond(files: &mut [ReportFile], most: usize) -> Vec<Arc<str>> {
    let mut total: usize = files.iter().map(length).sum();
    let mut by_length: Vec<usize> = (0..files.len()).collect();
    by_length.sort_by_key(|&at| std::cmp::Reverse(length(&files[at])));
    let mut dropped = Vec::new();
    for at in by_length {
        if total <= most {
            break;
        }
        let file = &mut files[at];
        total -= length(file);
        file.text = None;
        file.left_out = Some(Arc::from(NOT_HERE));
        dropped.push(file.path.clone());
    }
    dropped
}

/// Changes all texts of a JSON value, names of members too.
fn with_texts(value: &mut Value, change: &mut dyn FnMut(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(all) => all.iter_mut().for_each(|one| with_texts(one, change)),
        Value::Object(members) => {
            let old = std::mem::take(members).into_iter();
            *members = old
                .map(|(name, mut member)| {
                    with_texts(&mut member, change);
                    (change(&name), member)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces messages of findings, which may have values in them, by what their rule reports.
fn without_messages(findings: &mut Value) {
    for finding in findings.as_array_mut().into_iter().flatten() {
        let rule = finding["code"].as_str().and_then(crate::rules::rule);
        finding["message"] = rule.map(|rule| rule.summary()).into();
        finding["related"] = Value::Array(Vec::new());
    }
}
