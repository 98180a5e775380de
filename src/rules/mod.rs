//! One file per diagnostic, and the registry of them.
//!
//! A rule checks one file as the hierarchies read it, through hooks that a single
//! walk over the file calls. It uses the analysis and the snapshot, never the disk, and declares
//! whether it depends on other files: [`recheck`](recheck()) decides which files are checked again
//! after an edit. A file in a data directory that no level is known to read, such as that of a
//! custom backend, is checked with a lower severity, by the rules that need only its text.
//!
//! A new rule is one file here, one page in `docs/rules` with examples that are tests, and one line
//! in the registry below; no other file names it.
//!
//! ```
//! use hiera_ls::rules::check_file;
//! use hiera_ls::workspace::{Change, Workspace};
//!
//! let workspace = Workspace::new();
//! workspace.apply(Change::Folders(vec!["/repo".into()]));
//! let open = |path: &str, text: &str| workspace.apply(Change::open(path, text));
//! open("/repo/hiera.yaml", "version: 5\n");
//! let snapshot = open("/repo/data/common.yaml", "a: \"%{Lookup('b')}\"\n");
//! let findings = check_file(&snapshot, "/repo/data/common.yaml");
//! assert_eq!(findings[0].code, "unknown-interpolation-function");
//! ```
#![deny(
    clippy::wildcard_enum_match_arm,
    reason = "a new kind of key, error or trace node must be looked at here"
)]

mod always_read;
mod checker;
mod config_level;
mod config_text;
mod context;
mod finding;
mod fitting;
mod fixes;
mod fixing;
mod included;
mod kept;
mod keys_in_code;
mod keys_in_roots;
mod knockout;
mod known_nodes;
mod looked_up;
#[cfg(test)]
mod marked;
mod option_list;
mod parameters;
#[cfg(test)]
pub(crate) mod random_edits;
mod recheck;
#[cfg(test)]
mod recheck_counts_tests;
#[cfg(test)]
mod recheck_tests;
mod reference_graph;
#[macro_use]
mod rule;
mod secrets;
mod since;
mod suppression;
mod variables;
mod walk;

pub use checker::{Checker, MAX_FINDINGS, RuleSet, check_file};
pub use finding::{Finding, Fix, NewKey, Related, Rest, Safety, Severity, Tag};
pub use fixes::{FindingIdentity, Made, Removed, fixes_together};
pub use fixing::{AfterFixes, FindingsByFile, Fixing, helpful};
pub use kept::KeptResults;
pub use recheck::{Recheck, recheck};
pub use rule::{PAGE_SCHEME, Rule};
pub use secrets::secret;
pub use since::Since;

// Imports of the rules.
use checker::RootContext;
use context::{
    FileContext, FileRole, MappingAt, OptionAt, Reader, ScalarAt, TokenAt, entry, shown,
};
use finding::Findings;
use rule::{Depends, Hook};

/// Declares the modules of rules and the list of all rules.
macro_rules! rules {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every rule, ordered by code.
        pub static RULES: &[&Rule] = &[$($module::RULE,)*];
    };
}

rules! {
    alias_not_whole,
    backend_options,
    bad_convert_to,
    bad_merge_option,
    bad_strategy,
    convert_to_arguments,
    data_namespace,
    dec_not_encrypted,
    dig_digit_string_key,
    dotted_top_key,
    dup_key,
    enc_in_plain_level,
    eyaml_blob,
    eyaml_without_keys,
    foreign_percent_syntax,
    hiera_config,
    hocon_syntax,
    interp_loses_type,
    interp_missing_key,
    interp_missing_subkey,
    interp_structured_in_string,
    interpolation_loop,
    json_escape,
    json_syntax,
    key_shape,
    knockout_empties_text,
    knockout_hash_key,
    knockout_removes_nothing,
    knockout_resurrected,
    knockout_single_level,
    knockout_without_prefix,
    leading_colons_key,
    legacy_config,
    legacy_fact,
    level_never_matches,
    lookup_options_bare_value,
    lookup_options_namespace,
    lookup_options_no_effect,
    lookup_options_not_hash,
    lookup_options_overridden_level,
    lookup_options_regex_invalid,
    lookup_options_regex_no_match,
    lookup_options_regex_unanchored,
    lookup_options_shadowed,
    lookup_options_subkey,
    lookup_options_unknown_option,
    malformed_call,
    merge_by_place,
    merge_type_clash,
    missing_parameter,
    multi_document,
    nested_not_flat,
    never_looked_up,
    no_location,
    non_string_map_key,
    not_a_hash,
    null_masks,
    options_replaced,
    orphan_file,
    path_var_missing,
    plain_secret,
    project_config,
    puppet_style_token,
    redundant_override,
    ruby_tags,
    shadowed_value,
    single_colon_key,
    subkey_of_scalar,
    symbol_value,
    top_key_interpolated,
    type_mismatch,
    unclosed_token,
    undefined_variable,
    unknown_alias,
    unknown_backend,
    unknown_interpolation_function,
    unknown_parameter,
    unused_suppression,
    wrong_backend_kind,
    yaml_date,
    yaml_number_lossy,
    yaml_portability,
    yaml_syntax,
    yaml11_bool,
    yaml11_octal,
    yaml11_sexagesimal,
}

/// The codes of all rules, sorted.
#[must_use]
pub fn codes() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.code).collect()
}

/// The rule with a code.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}

#[cfg(test)]
mod tests {
    use super::marked::check;
    use super::*;

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
        assert_eq!(
            written,
            [(6, "lookup"), (0, "}"), (4, "{merge: deep}"), (4, "merge")]
        );
    }

    #[test]
    fn files_of_a_custom_level_are_not_checked_as_data() {
        check(
            "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: regex, lookup_key: site::regex, path: \
             regex.yaml}\n  - {name: common, path: common.yaml}\n\
             #- data/regex.yaml\nweb: !ruby/regexp /^web/\n\
             #- data/common.yaml\nweb: !ruby/regexp /^web/ #~ ruby-tags\n",
        );
    }

    #[test]
    fn an_old_configuration_among_data_of_a_module_breaks_nothing() {
        let findings = check(
            "#- hiera.yaml\nversion: 5\nhierarchy: [{name: common, path: common.yaml}]\n\
             #- data/common.yaml\na: 1\n\
             #- modules/ntp/manifests/init.pp\nclass ntp { }\n\
             #- modules/ntp/data/hiera.yaml\n---\n:hierarchy: [common] #~ legacy-config\n",
        );
        assert_eq!(findings[0].severity, Severity::Hint);
    }

    #[test]
    fn rules_are_ordered_and_match_their_pages() {
        assert!(RULES.is_sorted_by(|a, b| a.code < b.code));
        for rule in RULES {
            let page: Vec<&str> = rule.page.lines().collect();
            assert_eq!(page[0], format!("# {}", rule.code));
            let summary = rule.summary();
            assert!(!summary.is_empty() && page[1].is_empty() && page[3].is_empty());
            for section in [
                "## What it does",
                "## Why is this bad?",
                "## Example",
                "## How to fix",
            ] {
                assert!(page.contains(&section), "{}: no {section:?}", rule.code);
            }
            // These rules are about comments and settings of this program.
            if !matches!(rule.code, "project-config" | "unused-suppression") {
                let mentions = |words: &str| rule.page.contains(words);
                let names_both = mentions("Puppet 7") && mentions("Puppet 8");
                assert!(
                    mentions("Puppet 7 and 8") || names_both,
                    "{}: of 7 and 8",
                    rule.code
                );
            }
        }
    }
}
