//! `hiera-config`: Puppet refuses a 'hiera.yaml'.
//!
//! Puppet stops at the first broken rule. Here each level is checked separately, so that all
//! mistakes are reported where they are, with Puppet's messages.

mod places;

use std::sync::Arc;

use self::places::{DEFAULTS_KEYS, LEVEL_KEYS, TOP_KEYS, place_of_mismatch, place_of_rule};
use super::config_text::{HIERARCHIES, interpolated, version_of};
use super::{ConfigurationAt, FileContext, Findings, Fix, Related, Safety, Severity, entry};
use crate::datatype::{Mismatch, MismatchKind, Step};
use crate::hierarchy::{Config, ConfigError, ConfigRule, Layer};
use crate::interpolation::{TokenKind, tokens};
use crate::lookup::Strict;
use crate::syntax::{NodeId, ScalarMap, Tree};
use crate::text::{TextRange, nearest};
use crate::value::{HashMap, StrKey, Value, symbol_keys_to_strings};

rule!("hiera-config", Error, [Configuration(check)]);

fn check(at: &FileContext<'_>, at_config: &ConfigurationAt<'_>, findings: &mut Findings<'_>) {
    let (layer, dir) = (at_config.layer, at_config.dir);
    let Ok(value) = at.loaded() else { return };
    let Some(version) = version_of(value) else {
        let is_ignored = at.settings().strict != Strict::Error || *layer == Layer::Global;
        let (severity, effect) = if is_ignored {
            (
                Severity::Warning,
                "Puppet falls back to its version 3 default",
            )
        } else {
            (
                Severity::Error,
                "Puppet reads it as version 3, which fails every lookup",
            )
        };
        findings.report_as(
            severity,
            at.first_line(),
            format!("the file does not contain a hash: {effect}; start with 'version: 5'"),
        );
        return;
    };
    if matches!(version, 3 | 4) {
        return;
    }
    let Some(root) = at.tree().root() else { return };
    let Value::Hash(hash) = symbol_keys_to_strings(value.clone()) else {
        return;
    };
    let config = Configuration {
        at,
        layer,
        dir,
        root,
        hash: &hash,
    };
    config.check(findings);
}

struct Configuration<'a> {
    at: &'a FileContext<'a>,
    layer: &'a Layer,
    dir: &'a Arc<str>,
    root: NodeId,
    hash: &'a HashMap,
}

/// The key to suggest for an unknown one.
struct SuggestedKey<'k> {
    name: &'k str,
    /// Safe if only capitals, `_` and `-` differ.
    safety: Safety,
    /// The range of the key; `None` if it is quoted.
    place: Option<TextRange>,
}

fn report_mismatch(
    mismatch: &Mismatch,
    range: TextRange,
    suggestion: Option<SuggestedKey<'_>>,
    findings: &mut Findings<'_>,
) {
    let finding = findings.report(range, format!("{mismatch}: every lookup fails"));
    if let Some(suggestion) = suggestion {
        finding.did_you_mean(suggestion.name);
        let fix = |place| Fix::write(suggestion.safety, place, suggestion.name);
        finding.fixes.extend(suggestion.place.map(fix));
    }
}

struct LevelAt<'a> {
    list: &'static str,
    index: usize,
    value: &'a Value,
    node: NodeId,
}

impl Configuration<'_> {
    fn check(&self, findings: &mut Findings<'_>) {
        // First everything but the levels, then each level separately.
        let mut rest = self.hash.clone();
        for name in HIERARCHIES {
            let is_list = rest
                .get(&StrKey(name))
                .is_some_and(|levels| levels.as_array().is_some());
            if is_list && name == "hierarchy" {
                rest.insert(Value::string(name), Value::array([]));
            } else if is_list {
                rest.shift_remove(&StrKey(name));
            }
        }
        let is_whole = self.read(rest, self.root, findings);
        let defaults = self.hash.get(&StrKey("defaults")).filter(|_| is_whole);
        for name in HIERARCHIES {
            let Some(levels) = self.hash.get(&StrKey(name)).and_then(Value::as_array) else {
                continue;
            };
            let Some((key, list)) = entry(self.tree(), self.root, name) else {
                continue;
            };
            if name == "default_hierarchy" && self.layer.module_name().is_none() {
                let range = self.tree().node(key).range;
                findings.report(
                    range,
                    "'default_hierarchy' is only allowed in the module layer: every lookup fails",
                );
                continue;
            }
            let nodes = self.tree().node(self.tree().resolve(list)).as_sequence();
            for (index, (level, &node)) in levels.iter().zip(nodes.unwrap_or_default()).enumerate()
            {
                let level = LevelAt {
                    list: name,
                    index,
                    value: level,
                    node,
                };
                self.check_level(&level, defaults, findings);
            }
            self.check_names(nodes.unwrap_or_default(), findings);
        }
        self.check_tokens(findings);
    }

    fn tree(&self) -> &Tree {
        self.at.tree()
    }

    /// Checks one level separately.
    fn check_level(
        &self,
        level: &LevelAt<'_>,
        defaults: Option<&Value>,
        findings: &mut Findings<'_>,
    ) {
        let mut alone = HashMap::default();
        alone.insert("version".into(), Value::Int(5));
        if let Some(defaults) = defaults {
            alone.insert("defaults".into(), defaults.clone());
        }
        if level.list != "hierarchy" {
            alone.insert("hierarchy".into(), Value::array([]));
        }
        alone.insert(
            Value::string(level.list),
            Value::array([level.value.clone()]),
        );
        match self.config(alone) {
            Ok(_) => {}
            Err(ConfigError::Structure { mismatches, .. }) => {
                for mismatch in &mismatches {
                    let mut mismatch = mismatch.clone();
                    let mut known: &[&str] = &[];
                    let range = match mismatch.path.as_mut_slice() {
                        [Step::Entry(list), Step::Index(at), inside @ ..] if list == level.list => {
                            *at = level.index;
                            if inside.is_empty() {
                                known = &LEVEL_KEYS;
                            }
                            place_of_mismatch(self.tree(), level.node, inside, &mismatch.kind)
                        }
                        _ => self.tree().node(level.node).range,
                    };
                    let suggestion = self.suggested_key(level.node, &mismatch.kind, known);
                    report_mismatch(&mismatch, range, suggestion, findings);
                }
            }
            Err(ConfigError::Rule { rule, .. }) => {
                let range = place_of_rule(self.tree(), level.node, &rule);
                findings.report(range, format!("{rule}: every lookup fails"));
            }
            Err(ConfigError::Crash(message)) => {
                findings.report(self.tree().node(level.node).range, message);
            }
        }
    }

    /// Checks a part of the configuration and reports its mistakes; returns whether there are none.
    fn read(&self, part: HashMap, node: NodeId, findings: &mut Findings<'_>) -> bool {
        let tree = self.tree();
        match self.config(part) {
            Ok(_) => return true,
            Err(ConfigError::Structure { mismatches, .. }) => {
                for mismatch in &mismatches {
                    let range = place_of_mismatch(tree, node, &mismatch.path, &mismatch.kind);
                    let (mapping, known): (_, &[&str]) = match mismatch.path.as_slice() {
                        [] => (Some(node), &TOP_KEYS),
                        [Step::Entry(name)] if name == "defaults" => (
                            entry(tree, node, name).map(|(_, mapping)| mapping),
                            &DEFAULTS_KEYS,
                        ),
                        _ => (None, &[]),
                    };
                    let suggestion = mapping
                        .and_then(|mapping| self.suggested_key(mapping, &mismatch.kind, known));
                    report_mismatch(mismatch, range, suggestion, findings);
                }
            }
            Err(ConfigError::Rule { rule, .. }) => {
                let at = match rule {
                    ConfigRule::Version(_) => "version",
                    ConfigRule::FunctionsInDefaults
                    | ConfigRule::ReservedOptionInDefaults(_)
                    | ConfigRule::DefaultHierarchyOutsideModule
                    | ConfigRule::NoFunction { .. }
                    | ConfigRule::Functions { .. }
                    | ConfigRule::Locations { .. }
                    | ConfigRule::ReservedOption { .. }
                    | ConfigRule::BackendOutsideGlobal
                    | ConfigRule::BackendOfDataHash(_) => "defaults",
                };
                let range = entry(tree, node, at)
                    .map_or_else(|| self.at.first_line(), |(_, value)| tree.node(value).range);
                findings.report(range, format!("{rule}: every lookup fails"));
            }
            Err(ConfigError::Crash(message)) => {
                findings.report(self.at.first_line(), message);
            }
        }
        false
    }

    /// The key to suggest for an unknown key of a mapping, if the mapping lacks it.
    fn suggested_key<'k>(
        &self,
        mapping: NodeId,
        kind: &MismatchKind,
        known: &[&'k str],
    ) -> Option<SuggestedKey<'k>> {
        let MismatchKind::UnknownKey(written) = kind else {
            return None;
        };
        let tree = self.tree();
        let is_lacking = |name: &&str| entry(tree, mapping, name).is_none();
        let mut lacking = known.iter().copied().filter(is_lacking);
        let letters = |text: &str| text.replace(['_', '-'], "").to_lowercase();
        let same_letters = lacking
            .clone()
            .find(|name| letters(name) == letters(written));
        let is_spelt = same_letters.is_some();
        let name = same_letters.or_else(|| nearest(written, &mut lacking))?;
        let (key, _) = entry(tree, mapping, written)?;
        let key = tree.node(key);
        let is_bare = key.range.slice(self.at.file.text()) == written;
        Some(SuggestedKey {
            name,
            safety: match is_spelt {
                true => Safety::Safe,
                false => Safety::Unsafe,
            },
            place: is_bare.then_some(key.range),
        })
    }

    fn config(&self, part: HashMap) -> Result<Config, ConfigError> {
        let path = self.at.file.path();
        let text = self.at.file.text().clone();
        Config::read(path, self.dir, text, &Value::from(part), self.layer)
    }

    /// Reports duplicate names of levels.
    fn check_names(&self, levels: &[NodeId], findings: &mut Findings<'_>) {
        let tree = self.tree();
        let mut seen: Vec<(&Arc<str>, TextRange)> = Vec::new();
        for &level in levels {
            let Some((_, value)) = entry(tree, level, "name") else {
                continue;
            };
            let Some(name) = tree.scalar_text(value) else {
                continue;
            };
            let range = tree.node(value).range;
            match seen.iter().find(|(known, _)| *known == name) {
                Some(&(_, first)) => {
                    let message = format!(
                        "Hierarchy name '{name}' defined more than once: every lookup fails"
                    );
                    findings.report(range, message).related = vec![Related {
                        path: self.at.file.path().clone(),
                        range: first,
                        message: "first defined here".to_owned(),
                    }];
                }
                None => seen.push((name, range)),
            }
        }
    }

    /// Reports calls and syntax errors in paths, data directories and options, which Puppet refuses.
    fn check_tokens(&self, findings: &mut Findings<'_>) {
        let tree = self.tree();
        for id in interpolated(tree, self.root) {
            let node = tree.node(id);
            let Some(scalar) = node.as_scalar() else {
                continue;
            };
            for token in tokens(&scalar.text) {
                let message = match token.kind {
                    TokenKind::Call { .. } | TokenKind::UnknownMethod { .. } => {
                        "interpolation using method syntax is not allowed in this context"
                            .to_owned()
                    }
                    TokenKind::Malformed => format!("syntax error in string: {}", scalar.text),
                    TokenKind::Empty | TokenKind::Variable { .. } | TokenKind::Unclosed => continue,
                };
                let map = ScalarMap::new(self.at.file.text(), node);
                findings.report(
                    map.source_range(token.range.as_usize()),
                    format!("{message}: every lookup fails"),
                );
            }
        }
    }
}
