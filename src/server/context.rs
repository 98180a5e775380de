//! The inputs of answers besides the workspace's files: settings, files outside that settings name,
//! and the user's choices (a node, facts of a what-if).
//!
//! A [`ServerContext`] is immutable, like a snapshot: an answer is a function of both.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::analysis::{AnswerCache, NodeCache, NodeChoice, NodeInputs, NodeSet, name_rules};
use crate::eyaml::Keys;
use crate::ide::hover::HoverForm;
use crate::ide::upgrade::kept::KeptPreviews;
use crate::ide::upgrade::preview::Preview;
use crate::lookup::{self, ConfigCache, PuppetVersion};
use crate::rules::KeptResults;
use crate::scope::DEFAULT_ENVIRONMENT;
use crate::text::PositionEncoding;
use crate::workspace::{Snapshot, path};

use super::diagnostics::FindingsCache;
use super::requests::semantic_tokens::LastTokens;
use super::settings::UserSettings;

#[derive(Clone, Debug, Default)]
pub(crate) struct ServerContext {
    pub(crate) settings: Arc<UserSettings>,
    pub(crate) outside: Arc<Outside>,
    pub(crate) choices: Arc<Choices>,
    /// Whether the client runs commands from links in hovers.
    pub(crate) command_links: bool,
    pub(crate) hover_form: HoverForm,
    pub(crate) encoding: PositionEncoding,
}

#[derive(Default)]
pub(crate) struct Caches {
    pub(crate) configs: Arc<ConfigCache>,
    pub(crate) nodes: NodeCache,
    pub(crate) kept: Arc<KeptResults>,
    pub(crate) findings: FindingsCache,
    pub(crate) answers: AnswerCache,
    pub(crate) previews: KeptPreviews,
    /// The semantic tokens last sent to the client.
    pub(crate) tokens: LastTokens,
}

/// The content of files that settings name, wherever they lie.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// Nodes files and facts files by path, without unreadable ones.
    pub(crate) texts: BTreeMap<Arc<str>, Arc<str>>,
    /// The keys for encrypted values, if configured and readable.
    pub(crate) keys: Option<Arc<Keys>>,
}

/// The old version of an upgrade, if it is not the configured one, and the new one.
pub(crate) type PreviewedVersions = (Option<PuppetVersion>, PuppetVersion);

/// The user's choices by workspace folder, for the duration of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Choices {
    by_folder: BTreeMap<Arc<str>, NodeChoice>,
    /// The versions of Puppet whose changes hovers show.
    previews: BTreeMap<Arc<str>, PreviewedVersions>,
}

impl Choices {
    /// The choices for a file: those of the innermost folder around it.
    pub(crate) fn of(&self, file: &str) -> Option<&NodeChoice> {
        let around = self
            .by_folder
            .iter()
            .filter(|(folder, _)| path::within(file, folder).is_some());
        around
            .max_by_key(|(folder, _)| folder.len())
            .map(|(_, choice)| choice)
    }

    /// The version whose changes hovers on a file show.
    pub(crate) fn preview(&self, file: &str) -> Option<PreviewedVersions> {
        let around = self.previews.iter();
        let around = around.filter(|(folder, _)| path::within(file, folder).is_some());
        let innermost = around.max_by_key(|(folder, _)| folder.len());
        innermost.map(|(_, versions)| *versions)
    }

    /// Turns the preview of a version on, or off.
    pub(crate) fn set_preview(&mut self, folder: &str, versions: Option<PreviewedVersions>) {
        match versions {
            Some(versions) => self.previews.insert(Arc::from(folder), versions),
            None => self.previews.remove(folder),
        };
    }

    /// The choices of exactly this folder.
    pub(crate) fn within(&self, folder: &str) -> Option<&NodeChoice> {
        self.by_folder.get(folder)
    }

    pub(crate) fn without_facts(&self) -> Choices {
        let mut choices = self.clone();
        for choice in choices.by_folder.values_mut() {
            choice.facts.clear();
        }
        choices
    }

    pub(crate) fn entry(&mut self, folder: &str) -> &mut NodeChoice {
        self.by_folder.entry(Arc::from(folder)).or_default()
    }
}

impl ServerContext {
    /// Puppet's settings from the user's settings, with files read as in an editor. They hold no
    /// keys: encrypted values stay encrypted in every lookup.
    pub(crate) fn puppet(&self) -> lookup::Settings {
        self.puppet_of(self.settings.puppet_version)
    }

    /// The upgrade to a version, by default from the configured one.
    pub(crate) fn upgrade(&self, from: Option<PuppetVersion>, to: PuppetVersion) -> Preview {
        let from = from.unwrap_or(self.settings.puppet_version);
        Preview {
            versions: (from, to),
            settings: PuppetVersion::ALL.map(|version| self.puppet_of(version)),
        }
    }

    fn puppet_of(&self, version: PuppetVersion) -> lookup::Settings {
        let mut puppet = lookup::Settings::for_version(version).for_editor();
        let (strict, variables) = (self.settings.strict, self.settings.strict_variables);
        puppet.strict = strict.unwrap_or(puppet.strict);
        puppet.strict_variables = variables.unwrap_or(puppet.strict_variables);
        puppet.backends = Arc::clone(&self.settings.backends);
        puppet
    }

    /// The overridden facts for a file, in words: `site = nyc, os.family = Debian`.
    pub(crate) fn what_if(&self, file: &str) -> String {
        let choice = self.choices.of(file);
        let facts = choice.iter().flat_map(|choice| &choice.facts);
        let facts = facts.map(|(path, value)| match value.as_str() {
            Some(text) => format!("{path} = {text}"),
            None => format!("{path} = {value}"),
        });
        facts.collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn nodes(&self, caches: &Caches, snapshot: &Snapshot, file: &str) -> Arc<NodeSet> {
        self.nodes_chosen(caches, snapshot, file, self.choices.of(file))
    }

    /// The known nodes for a file, with the user's `choice` or without.
    pub(crate) fn nodes_chosen(
        &self,
        caches: &Caches,
        snapshot: &Snapshot,
        file: &str,
        choice: Option<&NodeChoice>,
    ) -> Arc<NodeSet> {
        let inputs = NodeInputs {
            settings: &self.puppet(),
            configs: &caches.configs,
            rules: &name_rules(&self.settings.nodes),
            nodes_files: &self.settings.nodes_files,
            are_all: false,
            facts_file: self.settings.facts_file.as_deref(),
            choice,
            environment: DEFAULT_ENVIRONMENT,
            outside: &|at| self.outside.texts.get(at).cloned(),
        };
        caches.nodes.nodes(snapshot, file, &inputs)
    }

    /// The keys that decrypt a single value on request; `None` if the user has not turned
    /// decryption on, or if they could not be read.
    pub(crate) fn keys(&self) -> Option<&Keys> {
        let keys = self.outside.keys.as_deref();
        keys.filter(|_| self.settings.decrypt)
    }
}

/// Every file outside the model that settings name: nodes files and the facts file.
pub(super) fn named_files(settings: &UserSettings) -> Vec<Arc<str>> {
    let named = settings.nodes_files.iter().chain(&settings.facts_file);
    named.map(|at| Arc::from(at.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_folder_decides() {
        let mut choices = Choices::default();
        choices.entry("/w").node = Some("a".into());
        choices.entry("/w/inner").node = Some("b".into());
        let node = |file| choices.of(file).and_then(|choice| choice.node.as_deref());
        assert_eq!(node("/w/data/x.yaml"), Some("a"));
        assert_eq!(node("/w/inner/x.yaml"), Some("b"));
        assert_eq!(node("/w/innermost.yaml"), Some("a"));
        assert_eq!(node("/elsewhere/x.yaml"), None);
    }

    #[test]
    fn settings_become_puppets() {
        let mut context = ServerContext::default();
        assert!(context.puppet().strict_variables);
        assert!(context.puppet().recover_broken_files);
        context.settings = Arc::new(UserSettings {
            puppet_version: lookup::PuppetVersion::V7,
            strict: Some(lookup::Strict::Error),
            ..UserSettings::default()
        });
        assert!(!context.puppet().strict_variables);
        assert_eq!(context.puppet().strict, lookup::Strict::Error);
    }
}
