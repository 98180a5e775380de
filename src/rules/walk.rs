//! The walk over a file, which calls the hooks of all rules.
//!
//! If a rule panics, its findings in the file are dropped, and it is not called again for the file.

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::checker::RootContext;
use super::config_text::{ConfigTextAt, config_texts};
use super::context::{FileContext, FileRole, MappingAt, OptionAt, ScalarAt, TokenAt};
use super::finding::{Finding, Findings};
use super::rule::{Hook, Rule};
use crate::interpolation::{has_tokens, tokens};
use crate::syntax::{NodeKind, Scalar, Tree, TreeNode};
use crate::workspace::KeyFact;

/// The findings of these rules in a file, unordered.
pub(super) fn walk(at: &FileContext<'_>, rules: &[&'static Rule]) -> Vec<Finding> {
    let hooks = Hooks::of(rules);
    let of_rule = |rule: &&'static Rule| Some(Findings::new(rule, at.file));
    let mut walk = RuleWalk {
        at,
        runs: rules.iter().map(of_rule).collect(),
    };
    match &at.role {
        FileRole::Code => walk.call(&hooks.code, |check, findings| check(at, findings)),
        FileRole::Project => walk.call(&hooks.project, |check, findings| check(at, findings)),
        FileRole::Unread => {
            walk.call(&hooks.unread, |check, findings| check(at, findings));
            walk.data(&hooks);
            walk.call(&hooks.file, |check, findings| check(at, findings));
        }
        FileRole::Config(root) => {
            for (_, node) in at.tree().nodes() {
                walk.call(&hooks.node, |check, findings| check(at, node, findings));
            }
            let texts = if hooks.config_text.is_empty() {
                Vec::new()
            } else {
                config_texts(at)
            };
            for text in texts {
                walk.call(&hooks.config_text, |check, findings| {
                    check(at, &text, findings);
                });
            }
            walk.call(&hooks.configuration, |check, findings| {
                check(at, root, findings);
            });
            walk.call(&hooks.file, |check, findings| check(at, findings));
        }
        FileRole::Data(_) => {
            walk.data(&hooks);
            walk.call(&hooks.file, |check, findings| check(at, findings));
        }
    }
    let runs = walk.runs.into_iter().flatten();
    runs.flat_map(|findings| findings.list).collect()
}

/// Findings of a file in a data directory that no level is known to read: from rules about such
/// files, and, with a lower severity, from rules that need only its text.
pub(super) fn unread_findings(file: &FileContext<'_>, rules: &[&'static Rule]) -> Vec<Finding> {
    let own = rules.iter().copied();
    let own = own.filter(|rule| rule.depends.on_file_only);
    let is_for_unread = |rule: &&Rule| {
        let mut hooks = rule.hooks.iter();
        hooks.any(|hook| matches!(hook, Hook::Unread(_)))
    };
    let (for_unread, of_text): (Vec<&Rule>, Vec<&Rule>) = own.partition(is_for_unread);
    let mut findings = walk(file, &of_text);
    findings.iter_mut().for_each(Finding::weaken);
    findings.extend(walk(file, &for_unread));
    findings
}

/// Hooks of one kind, each with the index of its rule.
type Indexed<H> = Vec<(usize, H)>;

#[derive(Default)]
struct Hooks {
    file: Indexed<fn(&FileContext<'_>, &mut Findings<'_>)>,
    unread: Indexed<fn(&FileContext<'_>, &mut Findings<'_>)>,
    configuration: Indexed<fn(&FileContext<'_>, &RootContext<'_>, &mut Findings<'_>)>,
    config_text: Indexed<fn(&FileContext<'_>, &ConfigTextAt<'_>, &mut Findings<'_>)>,
    project: Indexed<fn(&FileContext<'_>, &mut Findings<'_>)>,
    code: Indexed<fn(&FileContext<'_>, &mut Findings<'_>)>,
    key: Indexed<fn(&FileContext<'_>, &KeyFact, &mut Findings<'_>)>,
    node: Indexed<fn(&FileContext<'_>, &TreeNode, &mut Findings<'_>)>,
    mapping: Indexed<fn(&FileContext<'_>, &MappingAt<'_>, &mut Findings<'_>)>,
    scalar: Indexed<fn(&FileContext<'_>, &ScalarAt<'_>, &mut Findings<'_>)>,
    token: Indexed<fn(&FileContext<'_>, &TokenAt<'_>, &mut Findings<'_>)>,
    option: Indexed<fn(&FileContext<'_>, &OptionAt<'_>, &mut Findings<'_>)>,
}

impl Hooks {
    fn of(rules: &[&'static Rule]) -> Hooks {
        let mut hooks = Hooks::default();
        for (index, rule) in rules.iter().enumerate() {
            for hook in rule.hooks {
                match *hook {
                    Hook::File(check) => hooks.file.push((index, check)),
                    Hook::Unread(check) => hooks.unread.push((index, check)),
                    Hook::Configuration(check) => hooks.configuration.push((index, check)),
                    Hook::ConfigText(check) => hooks.config_text.push((index, check)),
                    Hook::Project(check) => hooks.project.push((index, check)),
                    Hook::Code(check) => hooks.code.push((index, check)),
                    Hook::Key(check) => hooks.key.push((index, check)),
                    Hook::Node(check) => hooks.node.push((index, check)),
                    Hook::Mapping(check) => hooks.mapping.push((index, check)),
                    Hook::Scalar(check) => hooks.scalar.push((index, check)),
                    Hook::Token(check) => hooks.token.push((index, check)),
                    Hook::Option(check) => hooks.option.push((index, check)),
                    // Called after the walk, when the suppressed findings are known.
                    Hook::Suppressions(_) => {}
                }
            }
        }
        hooks
    }
}

struct RuleWalk<'a> {
    at: &'a FileContext<'a>,
    /// The findings of each rule; `None` after a panic.
    runs: Vec<Option<Findings<'a>>>,
}

/// The role of a node in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeRole {
    Value,
    NestedKey,
    TopLevelKey,
}

/// The role of each node of a tree, by its index.
pub(super) fn roles(tree: &Tree) -> Vec<NodeRole> {
    let mut roles = vec![NodeRole::Value; tree.len()];
    for (id, node) in tree.nodes() {
        let role = if tree.root() == Some(id) {
            NodeRole::TopLevelKey
        } else {
            NodeRole::NestedKey
        };
        for &(key, _) in node.as_mapping().unwrap_or_default() {
            roles[key.index()] = role;
        }
    }
    roles
}

impl<'a> RuleWalk<'a> {
    fn call<H: Copy>(&mut self, hooks: &[(usize, H)], call: impl Fn(H, &mut Findings<'a>)) {
        if self.at.checker.is_cancelled() {
            return;
        }
        for &(index, hook) in hooks {
            let Some(findings) = &mut self.runs[index] else {
                continue;
            };
            if catch_unwind(AssertUnwindSafe(|| call(hook, findings))).is_err() {
                let path = self.at.file.path();
                tracing::error!(
                    "the rule '{}' failed on {path} (please report it)",
                    findings.rule.code
                );
                self.runs[index] = None;
            }
        }
    }

    fn data(&mut self, hooks: &Hooks) {
        let at = self.at;
        for key in &at.facts().keys {
            self.call(&hooks.key, |check, findings| check(at, key, findings));
        }
        for option in at.lookup_options() {
            self.call(&hooks.option, |check, findings| {
                check(at, &option, findings)
            });
        }
        let tree = at.tree();
        let may_have_tokens = at.file.text().contains('{');
        let roles = roles(tree);
        for (id, node) in tree.nodes() {
            self.call(&hooks.node, |check, findings| check(at, node, findings));
            match &node.kind {
                NodeKind::Mapping(pairs) => {
                    let is_topmost = tree.root() == Some(id);
                    let mapping = MappingAt { pairs, is_topmost };
                    self.call(&hooks.mapping, |check, findings| {
                        check(at, &mapping, findings)
                    });
                }
                NodeKind::Scalar(scalar) => {
                    let role = roles[id.index()];
                    if role == NodeRole::Value {
                        let scalar = ScalarAt {
                            id,
                            node,
                            scalar,
                            resolved: OnceCell::new(),
                        };
                        self.call(&hooks.scalar, |check, findings| {
                            check(at, &scalar, findings)
                        });
                    }
                    // Top-level keys are not interpolated.
                    if role != NodeRole::TopLevelKey && may_have_tokens {
                        self.tokens(hooks, node, scalar, role == NodeRole::NestedKey);
                    }
                }
                NodeKind::Sequence(_) | NodeKind::Alias { .. } => {}
            }
        }
    }

    fn tokens(&mut self, hooks: &Hooks, node: &TreeNode, scalar: &Scalar, is_key: bool) {
        if !has_tokens(&scalar.text) {
            return;
        }
        let at = self.at;
        let places = at.places(node);
        for token in tokens(&scalar.text) {
            let token = TokenAt {
                text: &scalar.text,
                node,
                is_key,
                range: places.source_range(token.range),
                token,
                held: OnceCell::new(),
            };
            self.call(&hooks.token, |check, findings| check(at, &token, findings));
        }
    }
}
