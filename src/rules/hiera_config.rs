//! `hiera-config`: Puppet refuses a 'hiera.yaml'.
//!
//! Puppet stops at the first broken rule. Here each level is checked separately, so that all
//! mistakes are reported where they are, with Puppet's messages.

mod places;

use std::sync::Arc;

use self::places::{TOP_KEYS, place_of_mismatch, place_of_rule};
use super::config_text::{ConfigTextAt, HIERARCHIES, version_of};
use super::{FileContext, Finding, Findings, Related, RootContext, Safety, Severity, entry};
use crate::datatype::{Mismatch, MismatchKind, Step};
use crate::hierarchy::{Config, ConfigError, ConfigRule, Layer};
use crate::hierarchy::{DEFAULTS_KEYS, LEVEL_KEYS};
use crate::interpolation::TokenKind;
use crate::lookup::Strict;
use crate::syntax::{NodeId, Tree};
use crate::text::{TextRange, nearest};
use crate::value::{HashMap, StrKey, Value, symbol_keys_to_strings};

rule!(
    "hiera-config",
    Error,
    [Configuration(check), ConfigText(check_tokens)]
);

fn check(at: &FileContext<'_>, context: &RootContext<'_>, findings: &mut Findings<'_>) {
    let layer = &context.layer;
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
        context,
        root,
        hash: &hash,
    };
    config.check(findings);
}

struct Configuration<'a> {
    at: &'a FileContext<'a>,
    context: &'a RootContext<'a>,
    root: NodeId,
    hash: &'a HashMap,
}

fn report_mismatch<'f>(
    mismatch: &Mismatch,
    range: TextRange,
    findings: &'f mut Findings<'_>,
) -> &'f mut Finding {
    findings.report(range, format!("{mismatch}: every lookup fails"))
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
        let is_whole = self.read(rest, self.root, None, findings);
        let defaults = self.hash.get(&StrKey("defaults")).filter(|_| is_whole);
        for name in HIERARCHIES {
            let Some(levels) = self.hash.get(&StrKey(name)).and_then(Value::as_array) else {
                continue;
            };
            let Some((key, list)) = entry(self.tree(), self.root, name) else {
                continue;
            };
            if name == "default_hierarchy" && self.context.layer.module_name().is_none() {
                let range = self.tree().node(key).range;
                findings.report(
                    range,
                    "'default_hierarchy' is only allowed in the module layer: every lookup fails",
                );
                continue;
            }
            let nodes = self.tree().node(self.tree().resolve(list)).as_sequence();
            let nodes = nodes.unwrap_or_default();
            for (index, (level, &node)) in levels.iter().zip(nodes).enumerate() {
                let mut alone = HashMap::default();
                alone.insert("version".into(), Value::Int(5));
                if let Some(defaults) = defaults {
                    alone.insert("defaults".into(), defaults.clone());
                }
                alone.insert("hierarchy".into(), Value::array([]));
                alone.insert(Value::string(name), Value::array([level.clone()]));
                self.read(alone, node, Some((name, index)), findings);
            }
            self.check_names(nodes, findings);
        }
    }

    fn tree(&self) -> &Tree {
        self.at.tree()
    }

    /// Checks a part of the configuration: everything but the levels, or one level, given its list
    /// and its index. Reports its mistakes, and returns whether there are none.
    fn read(
        &self,
        part: HashMap,
        node: NodeId,
        level: Option<(&str, usize)>,
        findings: &mut Findings<'_>,
    ) -> bool {
        let tree = self.tree();
        let mismatches = match self.config(part) {
            Ok(_) => return true,
            Err(ConfigError::Structure { mismatches, .. }) => mismatches,
            Err(ConfigError::Rule { mut rule, .. }) => {
                rule.use_words_of(self.at.settings().puppet_version.product());
                let key = if matches!(rule, ConfigRule::Version(_)) {
                    "version"
                } else {
                    "defaults"
                };
                let part = || entry(tree, node, key).map(|(_, value)| tree.node(value).range);
                let range = match level {
                    Some(_) => place_of_rule(tree, node, &rule),
                    None => part().unwrap_or_else(|| self.at.first_line()),
                };
                findings.report(range, format!("{rule}: every lookup fails"));
                return false;
            }
            Err(ConfigError::Crash(message)) => {
                let range = level.map(|_| tree.node(node).range);
                findings.report(range.unwrap_or_else(|| self.at.first_line()), message);
                return false;
            }
        };
        for mismatch in &mismatches {
            let mut mismatch = mismatch.clone();
            let inside = match (level, mismatch.path.as_mut_slice()) {
                (None, path) => Some(&*path),
                (Some((list, index)), [Step::Entry(name), Step::Index(at), inside @ ..])
                    if name == list =>
                {
                    *at = index;
                    Some(&*inside)
                }
                (Some(_), _) => None,
            };
            let range = inside.map_or(tree.node(node).range, |path| {
                place_of_mismatch(tree, node, path, &mismatch.kind)
            });
            let (mapping, known): (_, &[&str]) = match (level, inside) {
                (Some(_), Some([])) => (Some(node), &LEVEL_KEYS),
                (None, Some([])) => (Some(node), &TOP_KEYS),
                (None, Some([Step::Entry(name)])) if name == "defaults" => (
                    entry(tree, node, name).map(|(_, mapping)| mapping),
                    &DEFAULTS_KEYS,
                ),
                (_, _) => (None, &[]),
            };
            let finding = report_mismatch(&mismatch, range, findings);
            if let (MismatchKind::UnknownKey(written), Some(mapping)) = (&mismatch.kind, mapping) {
                self.suggest_key(mapping, written, known, finding);
            }
        }
        false
    }

    /// Suggests a known key for an unknown one of a mapping, if the mapping lacks it: safely if only
    /// capitals, `_` and `-` differ.
    fn suggest_key(&self, mapping: NodeId, written: &str, known: &[&str], finding: &mut Finding) {
        let tree = self.tree();
        let is_lacking = |name: &&str| entry(tree, mapping, name).is_none();
        let mut lacking = known.iter().copied().filter(is_lacking);
        let letters = |text: &str| text.replace(['_', '-'], "").to_lowercase();
        let mut spelt = lacking.clone();
        let spelt = spelt.find(|name| letters(name) == letters(written));
        let safety = spelt.map_or(Safety::Unsafe, |_| Safety::Safe);
        if let Some(name) = spelt.or_else(|| nearest(written, &mut lacking))
            && let Some((key, _)) = entry(tree, mapping, written)
        {
            let key = tree.node(key).range;
            let is_bare = key.slice(self.at.file.text()) == written;
            finding.suggest(safety, is_bare.then_some(key), name);
        }
    }

    fn config(&self, part: HashMap) -> Result<Config, ConfigError> {
        let path = self.at.file.path();
        let text = self.at.file.text().clone();
        let (dir, layer) = (&self.context.root.dir, &self.context.layer);
        Config::read(path, dir, text, &Value::from(part), layer)
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
}

/// Reports calls and syntax errors in a path, a data directory or an option, which Puppet refuses.
fn check_tokens(_: &FileContext<'_>, at: &ConfigTextAt<'_>, findings: &mut Findings<'_>) {
    for token in &at.tokens {
        let message = match token.kind {
            TokenKind::Call { .. } | TokenKind::UnknownMethod { .. } => {
                "interpolation using method syntax is not allowed in this context".to_owned()
            }
            TokenKind::Malformed => format!("syntax error in string: {}", at.text),
            TokenKind::Empty | TokenKind::Variable { .. } | TokenKind::Unclosed => continue,
        };
        findings.report(
            at.places.source_range(token.range),
            format!("{message}: every lookup fails"),
        );
    }
}
