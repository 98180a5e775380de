//! What a rule is: its names, the hooks it is called by, and what its findings depend on.
//!
//! A rule knows nothing of other rules, editors or the command line.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::context::{FileContext, MappingAt, OptionAt, ScalarAt, TokenAt};
use super::finding::Findings;
use super::finding::Severity;
use crate::hierarchy::Layer;
use crate::workspace::{File, KeyFact, LOOKUP_OPTIONS, Snapshot};

/// One diagnostic.
pub struct Rule {
    /// The stable code, which people write in settings.
    pub code: &'static str,
    /// The severity as a rule; a finding may have another one.
    pub severity: Severity,
    /// One line for lists.
    pub summary: &'static str,
    /// The rule's page in Markdown.
    pub page: &'static str,
    /// What its findings depend on.
    pub depends: Depends,
    /// What it looks at.
    pub(super) hooks: &'static [Hook],
}

/// What a rule looks at: the walk over a file calls it there. All hooks but [`Hook::File`],
/// [`Hook::Configuration`], [`Hook::Project`], [`Hook::Code`] and [`Hook::Unread`] are for data files
/// alone.
pub(super) enum Hook {
    /// The file as a whole: data or configuration.
    File(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A file among data that no hierarchy reads. No other hook is called for it.
    Unread(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// The configuration of a hierarchy.
    Configuration(fn(&FileContext<'_>, &ConfigurationAt<'_>, &mut Findings<'_>)),
    /// This program's own configuration of a workspace; nothing else is called for it.
    Project(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A manifest; nothing else is called for it.
    Code(fn(&FileContext<'_>, &mut Findings<'_>)),
    /// A top-level key, also one that a merge key brings.
    Key(fn(&FileContext<'_>, &KeyFact, &mut Findings<'_>)),
    /// A mapping at any depth.
    Mapping(fn(&FileContext<'_>, &MappingAt<'_>, &mut Findings<'_>)),
    /// A scalar that is a value or an element, not a key.
    Scalar(fn(&FileContext<'_>, &ScalarAt<'_>, &mut Findings<'_>)),
    /// A token in a string that Puppet interpolates.
    Token(fn(&FileContext<'_>, &TokenAt<'_>, &mut Findings<'_>)),
    /// An entry of `lookup_options`.
    Option(fn(&FileContext<'_>, &OptionAt<'_>, &mut Findings<'_>)),
}

/// The configuration under check.
pub(super) struct ConfigurationAt<'a> {
    /// The layer of its root.
    pub(super) layer: &'a Layer,
    /// The folder of its root.
    pub(super) dir: &'a Arc<str>,
}

/// Kinds of facts about the workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts(u8);

impl Facts {
    /// None.
    pub const NONE: Facts = Facts(0);
    /// Which top-level keys there are.
    pub const KEYS: Facts = Facts(1);
    /// What keys are set to, what values look up, and where that stands.
    pub const VALUES: Facts = Facts(1 << 1);
    /// Which `lookup_options` there are, with what they look up.
    pub const OPTIONS: Facts = Facts(1 << 2);
    /// Which files there are.
    pub const FILES: Facts = Facts(1 << 3);
    /// Which nodes are known, and their facts.
    pub const NODES: Facts = Facts(1 << 4);
    /// Puppet code.
    pub const MANIFESTS: Facts = Facts(1 << 5);

    /// These facts and others.
    #[must_use]
    pub const fn and(self, others: Facts) -> Facts {
        Facts(self.0 | others.0)
    }

    /// Whether some facts are among both.
    #[must_use]
    pub const fn meet(self, others: Facts) -> bool {
        self.0 & others.0 != 0
    }
}

/// What a rule's findings depend on, besides the file itself, the roots and their hierarchies.
#[derive(Clone, Copy)]
pub struct Depends {
    /// Facts of the rest of the workspace.
    pub on: Facts,
    /// The files that can have findings, or had some before the snapshot's last change: those are
    /// checked again where such facts change.
    pub files: fn(&Snapshot) -> BTreeSet<Arc<str>>,
}

impl Depends {
    /// On nothing else.
    pub const OWN_FILE: Depends = Depends {
        on: Facts::NONE,
        files: |_| BTreeSet::new(),
    };

    /// The files with entries of `lookup_options`. O(files that have any).
    #[must_use]
    pub fn files_with_options(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
        snapshot
            .iter_files_with(LOOKUP_OPTIONS)
            .map(|file| Arc::clone(file.path()))
            .collect()
    }

    /// The files with a key whose values, or options, a change touched, if what such a key is set
    /// to has a sign of a knock-out in it. O(files with these keys).
    #[must_use]
    pub fn files_with_prefixes(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
        let mut files = BTreeSet::new();
        for changed in &snapshot.delta().files {
            let keys = changed.keys();
            for name in keys.touched() {
                let holders = snapshot.iter_files_with(name);
                files.extend(
                    holders
                        .filter(|file| may_knock_out(file, name))
                        .map(path_of),
                );
            }
            if !keys.lookup_options.is_empty() {
                files.extend(Depends::all_files_with_prefixes(snapshot));
            }
        }
        files
    }

    /// The files with a value that has a sign of a knock-out in it. O(keys).
    #[must_use]
    pub fn all_files_with_prefixes(snapshot: &Snapshot) -> BTreeSet<Arc<str>> {
        let knocking = snapshot.files().filter(|file| {
            let mut keys = file.facts().keys.iter();
            keys.any(|key| may_knock_out(file, &key.name))
        });
        knocking.map(path_of).collect()
    }
}

fn path_of(file: &Arc<File>) -> Arc<str> {
    Arc::clone(file.path())
}

/// Whether a value has a text in it that could be a knock-out.
fn may_knock_out(file: &File, key: &str) -> bool {
    let key = file.facts().key(key);
    // Prefixes other than the usual one are not letters.
    let is_sign = |byte: u8| matches!(byte, b'-' | b'~' | b'!' | b'+' | b'_' | b'=' | b'^');
    key.is_some_and(|key| key.value.slice(file.text()).bytes().any(is_sign))
}

/// The scheme of pages that have no address on the web: those that this program carries.
pub const PAGE_SCHEME: &str = "hiera-ls:";

impl Rule {
    /// The address of the rule's page: in the package's repository, of this version. A package
    /// without a public repository has none there; the address then names the page that this
    /// program carries, which only an editor's extension for it can open.
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
