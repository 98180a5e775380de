//! A rule: its code, page, hooks and dependencies.
//!
//! Rules are independent of each other, of editors and of the command line.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checker::RootContext;
use super::config_text::ConfigTextAt;
use super::context::{FileContext, MappingAt, OptionAt, ScalarAt, TokenAt};
use super::finding::Findings;
use super::finding::Severity;
use super::suppression::Suppression;
use crate::syntax::TreeNode;
use crate::workspace::{KeyFact, Snapshot};

/// One diagnostic.
pub struct Rule {
    /// The stable code, used in settings.
    pub code: &'static str,
    /// The default severity; a finding may have another one.
    pub severity: Severity,
    /// The rule's page in Markdown: `docs/rules/CODE.md`.
    pub page: &'static str,
    /// What its findings depend on.
    pub(super) depends: Depends,
    /// Whether its findings are on secrets, which reports must not repeat.
    pub(super) finds_secrets: bool,
    pub(super) hooks: &'static [Hook],
}

/// Declares the rule of a file as `RULE`: its code, severity and hooks. If its findings depend on
/// more than the file, the facts follow, and a function that lists the files which can have
/// findings; last such a function for changes of the known nodes (see [`Depends`]).
macro_rules! rule {
    ($code:literal, $severity:ident, $hooks:tt $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends::OWN_FILE, false);
    };
    ($code:literal, $severity:ident, $hooks:tt, finds_secrets $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends::OWN_FILE, true);
    };
    ($code:literal, $severity:ident, $hooks:tt, FILES $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends::ON_FILES, false);
    };
    ($code:literal, $severity:ident, $hooks:tt, $($fact:ident)|+, $files:expr $(,)?) => {
        rule!($code, $severity, $hooks, $($fact)|+, $files, nodes: |_| Default::default());
    };
    ($code:literal, $severity:ident, $hooks:tt, $($fact:ident)|+, $files:expr, nodes: $nodes:expr $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends {
            on: $crate::rules::FactKinds::NONE$(.and($crate::rules::FactKinds::$fact))+,
            files: $files,
            files_of_nodes: $nodes,
        }, false);
    };
    (@ $code:literal, $severity:ident, [$($hook:ident($check:path)),*], $depends:expr, $secrets:literal) => {
        pub(super) const RULE: &$crate::rules::Rule = &$crate::rules::Rule {
            code: $code,
            severity: $crate::rules::Severity::$severity,
            page: include_str!(concat!("../../docs/rules/", $code, ".md")),
            depends: $depends,
            finds_secrets: $secrets,
            hooks: &[$($crate::rules::Hook::$hook($check)),*],
        };
    };
}

/// The parts of a file for which the walk over it calls a rule. [`Hook::Key`], [`Hook::Mapping`],
/// [`Hook::Scalar`], [`Hook::Token`] and [`Hook::Option`] are only for data files.
pub(super) enum Hook {
    /// The file as a whole, after its parts: data or configuration.
    File(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A file in a data directory that no hierarchy reads.
    Unread(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// The configuration of a hierarchy.
    Configuration(fn(&FileContext<'_>, &RootContext<'_>, &mut Findings<'_>)),
    /// A string that Puppet interpolates in a configuration: a location, a data directory or a
    /// string in options. Not for versions 3 and 4.
    ConfigText(fn(&FileContext<'_>, &ConfigTextAt<'_>, &mut Findings<'_>)),
    /// This program's own configuration of a workspace; nothing else is called for it.
    Project(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A manifest; nothing else is called for it.
    Code(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A top-level key, also one from a merge key.
    Key(fn(&FileContext<'_>, &KeyFact, &mut Findings<'_>)),
    /// A node of data or of a configuration.
    Node(fn(&FileContext<'_>, &TreeNode, &mut Findings<'_>)),
    /// A mapping at any depth.
    Mapping(fn(&FileContext<'_>, &MappingAt<'_>, &mut Findings<'_>)),
    /// A scalar that is a value or an element, not a key.
    Scalar(fn(&FileContext<'_>, &ScalarAt<'_>, &mut Findings<'_>)),
    /// A token in a string that Puppet interpolates in data.
    Token(fn(&FileContext<'_>, &TokenAt<'_>, &mut Findings<'_>)),
    /// An entry of `lookup_options`.
    Option(fn(&FileContext<'_>, &OptionAt<'_>, &mut Findings<'_>)),
    /// The comments that suppress findings, in files of any kind, after all other hooks.
    Suppressions(fn(&FileContext<'_>, &[Suppression], &mut Findings<'_>)),
}

/// Kinds of facts about the workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FactKinds(u8);

impl FactKinds {
    /// No facts.
    pub(super) const NONE: FactKinds = FactKinds(0);
    /// The names of top-level keys.
    pub(super) const KEYS: FactKinds = FactKinds(1);
    /// The values of keys, the lookups in them, and their positions.
    pub(super) const VALUES: FactKinds = FactKinds(1 << 1);
    /// The entries of `lookup_options`, with the lookups in them.
    pub(super) const OPTIONS: FactKinds = FactKinds(1 << 2);
    /// The existence of files. If it changes, all files are checked again; a rule that depends on
    /// it waits until the workspace is read.
    pub(super) const FILES: FactKinds = FactKinds(1 << 3);
    /// Puppet code.
    pub(super) const MANIFESTS: FactKinds = FactKinds(1 << 4);

    /// The facts of both.
    pub(super) const fn and(self, others: FactKinds) -> FactKinds {
        FactKinds(self.0 | others.0)
    }

    /// Whether both have a fact in common.
    pub(super) const fn intersects(self, others: FactKinds) -> bool {
        self.0 & others.0 != 0
    }
}

/// The dependencies of a rule's findings, besides the file itself, the roots and their hierarchies.
#[derive(Clone, Copy)]
pub(super) struct Depends {
    /// Facts about the rest of the workspace.
    pub(super) on: FactKinds,
    /// The files that can have findings, or could before the snapshot's last change: they are
    /// checked again if such facts change.
    pub(super) files: fn(&Snapshot) -> BTreeSet<Arc<str>>,
    /// The same for a rule that depends on the known nodes: checked again if a file that describes
    /// nodes changes. Other rules list no files.
    pub(super) files_of_nodes: fn(&Snapshot) -> BTreeSet<Arc<str>>,
}

impl Depends {
    /// No other dependencies.
    pub(super) const OWN_FILE: Depends = Depends {
        on: FactKinds::NONE,
        files: |_| BTreeSet::new(),
        files_of_nodes: |_| BTreeSet::new(),
    };

    /// The existence of files.
    pub(super) const ON_FILES: Depends = Depends {
        on: FactKinds::FILES,
        ..Depends::OWN_FILE
    };
}

/// The scheme for the pages inside this program, which have no address on the web.
pub const PAGE_SCHEME: &str = "hiera-ls:";

impl Rule {
    /// The summary for lists: the first line below the page's title.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.page.lines().nth(2).unwrap_or_default()
    }

    /// The address of the rule's page in the package's public repository, for this version. Without
    /// such a repository it is the address of the page inside this program, which only its editor
    /// extension can open.
    #[must_use]
    pub fn address(&self) -> String {
        let code = self.code;
        match env!("CARGO_PKG_REPOSITORY") {
            "" => format!("{PAGE_SCHEME}/rules/{code}.md"),
            repository => {
                let version = env!("CARGO_PKG_VERSION");
                format!("{repository}/blob/v{version}/docs/rules/{code}.md")
            }
        }
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule")
            .field("code", &self.code)
            .field("severity", &self.severity)
            .finish_non_exhaustive()
    }
}
