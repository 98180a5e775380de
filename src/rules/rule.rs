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
use crate::analysis::Touched;
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
/// more than the file, `WORKSPACE` follows; then, if a difference of keys does not lead to all files
/// that may have other findings, functions that list the rest (see [`Depends`]).
macro_rules! rule {
    ($code:literal, $severity:ident, $hooks:tt $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends::ON_FILE, false);
    };
    ($code:literal, $severity:ident, $hooks:tt, finds_secrets $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends::ON_FILE, true);
    };
    ($code:literal, $severity:ident, $hooks:tt, WORKSPACE $(, $field:ident: $files:path)* $(,)?) => {
        rule!(@ $code, $severity, $hooks, $crate::rules::Depends {
            $($field: $files,)*
            ..$crate::rules::Depends::ON_WORKSPACE
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

/// The paths of files.
type FilePaths = BTreeSet<Arc<str>>;

/// The dependencies of a rule's findings, besides the file itself, the roots and their hierarchies.
///
/// After a change all rules check the files again that set a touched key, look it up or have options
/// for it ([`super::recheck`]). A rule lists further files only if its findings depend on more.
#[derive(Clone, Copy)]
pub(super) struct Depends {
    /// Whether they depend on nothing else.
    pub(super) on_file_only: bool,
    /// Further files that may have other findings, for a difference and the keys that it touches.
    pub(super) files: fn(&Touched<'_>, &BTreeSet<Arc<str>>) -> FilePaths,
    /// The files that may have other findings for other known nodes, or if a level without variables
    /// in its path has or lacks its file now.
    pub(super) files_of_nodes: fn(&Snapshot) -> FilePaths,
}

impl Depends {
    /// No other dependencies.
    pub(super) const ON_FILE: Depends = Depends {
        on_file_only: true,
        files: |_, _| BTreeSet::new(),
        files_of_nodes: |_| BTreeSet::new(),
    };

    /// The rest of the workspace.
    pub(super) const ON_WORKSPACE: Depends = Depends {
        on_file_only: false,
        ..Depends::ON_FILE
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
