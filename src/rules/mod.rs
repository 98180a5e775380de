//! One file per diagnostic, and the registry of them.
//!
//! A rule looks at one file as the workspace's hierarchies read it ([`FileContext`]), through hooks
//! that one walk over the file calls. It asks the analysis and the snapshot, never the disk, and
//! declares which facts of other files it depends on ([`Depends`]): from that follows what is
//! checked again after an edit. Files that no hierarchy reads, and files that only custom backends
//! read, are not checked: what they mean is not known.
//!
//! A new rule is one file here, one page in `docs/rules`, whose examples are tests, and its line in
//! [`RULES`]; it is named nowhere else.
//!
//! ```
//! use hiera_ls::rules::check_file;
//! use hiera_ls::workspace::{Change, Workspace};
//!
//! let workspace = Workspace::new();
//! workspace.apply(Change::Folders(vec!["/repo".into()]));
//! let open = |path: &str, text: &str| Change::Open {
//!     path: path.into(),
//!     text: text.into(),
//!     version: 1,
//! };
//! workspace.apply(open("/repo/hiera.yaml", "version: 5\n"));
//! let snapshot = workspace.apply(open("/repo/data/common.yaml", "a: \"%{Lookup('b')}\"\n"));
//! let findings = check_file(&snapshot, "/repo/data/common.yaml");
//! assert_eq!(findings[0].code, "unknown-interpolation-function");
//! ```
#![deny(
    clippy::wildcard_enum_match_arm,
    reason = "a new kind of key, error or trace node must be looked at here"
)]

mod checker;
mod context;
mod finding;
mod recheck;
mod reference_graph;
mod rule;
mod walk;

mod alias_not_whole;
mod bad_merge_option;
mod bad_strategy;
mod data_namespace;
mod dup_key;
mod enc_in_plain_level;
mod hiera_config;
mod interpolation_loop;
mod json_syntax;
mod legacy_config;
mod lookup_options_bare_value;
mod lookup_options_namespace;
mod lookup_options_not_hash;
mod lookup_options_regex_invalid;
mod lookup_options_regex_no_match;
mod lookup_options_regex_unanchored;
mod lookup_options_unknown_option;
mod malformed_call;
mod non_string_map_key;
mod not_a_hash;
mod project_config;
mod ruby_tags;
mod symbol_value;
mod type_mismatch;
mod unclosed_token;
mod unknown_alias;
mod unknown_interpolation_function;
mod unknown_parameter;
mod yaml_date;
mod yaml_portability;
mod yaml_syntax;

pub use checker::{Checker, MOST_FINDINGS, Part, check_file};
pub use context::{FileContext, Reader, Role};
pub use finding::{Finding, Fix, Related, Safety, Severity, Tag};
pub use recheck::{Recheck, recheck};
pub use rule::{Depends, Facts, PAGE_SCHEME, Rule};

// What rules need, so that each imports from one place.
use context::{MappingAt, OptionAt, ScalarAt, TokenAt, entry, shown};
use finding::Findings;
use rule::{ConfigurationAt, Hook};

/// Every rule, ordered by code.
pub static RULES: &[&Rule] = &[
    alias_not_whole::RULE,
    bad_merge_option::RULE,
    bad_strategy::RULE,
    data_namespace::RULE,
    dup_key::RULE,
    enc_in_plain_level::RULE,
    hiera_config::RULE,
    interpolation_loop::RULE,
    json_syntax::RULE,
    legacy_config::RULE,
    lookup_options_bare_value::RULE,
    lookup_options_namespace::RULE,
    lookup_options_not_hash::RULE,
    lookup_options_regex_invalid::RULE,
    lookup_options_regex_no_match::RULE,
    lookup_options_regex_unanchored::RULE,
    lookup_options_unknown_option::RULE,
    malformed_call::RULE,
    non_string_map_key::RULE,
    not_a_hash::RULE,
    project_config::RULE,
    ruby_tags::RULE,
    symbol_value::RULE,
    type_mismatch::RULE,
    unclosed_token::RULE,
    unknown_alias::RULE,
    unknown_interpolation_function::RULE,
    unknown_parameter::RULE,
    yaml_date::RULE,
    yaml_portability::RULE,
    yaml_syntax::RULE,
];

/// The codes of all rules, ordered.
#[must_use]
pub fn codes() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.code).collect()
}

/// The rule of a code.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{FOLDER, Fixture};
    use crate::lookup::PuppetVersion;

    /// The findings of a workspace are those that it marks; gives them.
    fn check(text: &str) -> Vec<Finding> {
        let fixture = Fixture::new("data/common.yaml", text);
        let snapshot = fixture.on_disk();
        let findings = Checker::new(&snapshot, PuppetVersion::V8).all();
        let places = findings.iter().map(|finding| {
            let file = snapshot.file(&finding.path).expect("the file");
            let line = file.lines().line(finding.range.start as usize) + 1;
            let path = &finding.path[FOLDER.len() + 1..];
            format!("{path}:{line} {}", finding.code)
        });
        let mut places: Vec<String> = places.collect();
        places.sort();
        assert_eq!(places, fixture.marks());
        findings
    }

    #[test]
    fn hocon_is_checked_as_yaml_is() {
        let findings = check(
            "#- hiera.yaml\nversion: 5\ndefaults: {data_hash: hocon_data}\n\
             hierarchy: [{name: common, path: common.conf}]\n\
             #- data/common.conf\n\
             a = \"%{Lookup('b')}\" #~ unknown-interpolation-function\n\
             b = [x, \"y %{alias('a')}\"] #~ alias-not-whole\n\
             c { d = \"%{facts.x\" } #~ unclosed-token\n\
             c { d = 1, d = 2 }\n\
             lookup_options {\n\
             \x20 a = deep #~ lookup-options-bare-value\n\
             \x20 b { merg = deep } #~ lookup-options-unknown-option\n\
             }\n",
        );
        let edits = findings.iter().flat_map(|finding| &finding.fixes);
        let edits = edits.flat_map(|fix| &fix.edits);
        let written: Vec<(usize, &str)> = edits
            .map(|edit| (edit.range.len(), &*edit.new_text))
            .collect();
        assert_eq!(written, [(6, "lookup"), (0, "}"), (4, "{merge: deep}")]);
    }

    #[test]
    fn rules_are_ordered_and_their_pages_say_the_same() {
        assert!(RULES.is_sorted_by(|a, b| a.code < b.code));
        for rule in RULES {
            let page: Vec<&str> = rule.page.lines().collect();
            assert_eq!(page[0], format!("# {}", rule.code));
            assert_eq!(page[2], rule.summary, "{}", rule.code);
            for section in [
                "## What it does",
                "## Why is this bad?",
                "## Example",
                "## How to fix",
            ] {
                assert!(page.contains(&section), "{}: no {section:?}", rule.code);
            }
        }
    }
}
