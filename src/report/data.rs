//! The data of a report, as JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::told::ToldVariables;
use crate::workspace::{ChosenRoot, FileSettings};

/// The version of the data and of the calls of [`ReportEngine`](super::ReportEngine). Members may be added within a version.
pub const DATA_VERSION: u32 = 1;

/// Maximum size of all texts of a report, in bytes.
pub const MAX_DATA: usize = 64 << 20;

/// A workspace with its nodes and findings. Paths begin with [`ReportData::folder`] instead of the folder on the
/// machine that made the report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReportData {
    /// [`DATA_VERSION`].
    pub version: u32,
    /// The name of the workspace's folder.
    pub title: String,
    /// The version of the program that made the report.
    pub made_by: String,
    /// The folder of the workspace: `/` and its name.
    pub folder: String,
    /// The environment that answers are for.
    pub environment: String,
    /// All files that were read.
    pub files: Vec<ReportFile>,
    /// Files that describe nodes and are no files of the workspace.
    pub node_files: Vec<ReportFile>,
    /// What the data was read with.
    pub settings: ReportSettings,
    /// The findings, as `hiera-ls check --format json` prints them.
    pub findings: Value,
    /// The other side, if the report compares.
    pub against: Option<ReportAgainst>,
    /// What is not in the report, in words.
    pub left_out: Vec<String>,
    /// Whether values were replaced by their shapes.
    pub only_shapes: bool,
    /// Without manifests, the variables that they set and that the hierarchy uses.
    #[serde(default)]
    pub(super) variables: ToldVariables,
}

/// A file with its text; without one if it is left out, or, on the other side of a comparison, if it is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFile {
    /// The path.
    pub path: Arc<str>,
    /// The text.
    pub text: Option<Arc<str>>,
    /// Why the text is not in the report: what needs it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Arc<str>>,
}

/// The other side of a comparison.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReportAgainst {
    /// What it is called: a revision, or a folder.
    pub name: String,
    /// The files that differ, as they are there.
    pub files: Vec<ReportFile>,
    /// See [`ReportData::variables`].
    #[serde(default)]
    pub(super) variables: ToldVariables,
}

/// The settings that answers depend on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReportSettings {
    /// The workspace's configuration, which has the Puppet that is used.
    pub project: Value,
    /// See [`FileSettings::global_hiera_yaml`].
    pub global_hiera_yaml: Option<Arc<str>>,
    /// See [`FileSettings::chosen`].
    pub chosen: Vec<(Arc<str>, Option<Arc<str>>)>,
    /// See [`FileSettings::folders`].
    pub folders: Vec<Arc<str>>,
    /// See [`FileSettings::base_modulepath`].
    pub base_modulepath: Vec<Arc<str>>,
    /// See [`FileSettings::path_map`].
    pub path_map: Vec<(Arc<str>, Arc<str>)>,
    /// Files that describe nodes; later ones take precedence.
    pub nodes_files: Vec<String>,
    /// Whether they describe all nodes.
    pub are_all: bool,
    /// The file of facts below every node's own.
    pub facts_file: Option<String>,
}

impl ReportSettings {
    /// The settings about files, with paths as they are in the report.
    pub(super) fn of_files(
        files: &FileSettings,
        moved: &dyn Fn(&str) -> Arc<str>,
    ) -> ReportSettings {
        let all = |paths: &[Arc<str>]| paths.iter().map(|path| moved(path)).collect();
        let chosen = files.chosen.iter();
        let pairs = files.path_map.iter();
        ReportSettings {
            global_hiera_yaml: files.global_hiera_yaml.as_deref().map(moved),
            chosen: chosen
                .map(|root| (moved(&root.hiera_yaml), root.dir.as_deref().map(moved)))
                .collect(),
            folders: all(&files.folders),
            base_modulepath: all(&files.base_modulepath),
            path_map: pairs
                .map(|(deployed, here)| (deployed.clone(), moved(here)))
                .collect(),
            ..ReportSettings::default()
        }
    }

    /// The settings about files, as the model's type.
    pub(super) fn files(&self) -> FileSettings {
        let chosen = self.chosen.iter().map(|(hiera_yaml, dir)| ChosenRoot {
            hiera_yaml: hiera_yaml.clone(),
            dir: dir.clone(),
        });
        FileSettings {
            global_hiera_yaml: self.global_hiera_yaml.clone(),
            chosen: chosen.collect(),
            folders: self.folders.clone(),
            base_modulepath: self.base_modulepath.clone(),
            path_map: self.path_map.clone(),
        }
    }
}
