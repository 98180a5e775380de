//! One file per diagnostic, and the registry of them.
//!
//! A rule looks at one file as the workspace's hierarchies read it ([`FileContext`]), through hooks
//! that one walk over the file calls. It asks the analysis and the snapshot, never the disk, and
//! declares which facts of other files it depends on ([`Depends`]): from that follows what is
//! checked again after an edit. In files of a data directory that no level is known to read, as those
//! of custom backends, the rules that look at one text alone are run, with a lower severity.
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
mod config_level;
mod context;
mod finding;
mod fitting;
mod fixes;
mod fixing;
mod knockout;
mod looked_up;
mod option_list;
mod proof;
mod recheck;
#[cfg(test)]
mod recheck_counts_tests;
#[cfg(test)]
mod recheck_tests;
mod reference_graph;
mod rule;
mod suppression;
mod touched;
mod walk;

mod alias_not_whole;
mod backend_options;
mod bad_convert_to;
mod bad_merge_option;
mod bad_strategy;
mod data_namespace;
mod dec_not_encrypted;
mod dig_digit_string_key;
mod dotted_top_key;
mod dup_key;
mod enc_in_plain_level;
mod entry_edit;
mod eyaml_blob;
mod eyaml_without_keys;
mod foreign_percent_syntax;
mod hiera_config;
mod included;
mod interp_loses_type;
mod interp_missing_key;
mod interp_missing_subkey;
mod interp_structured_in_string;
mod interpolation_loop;
mod json_syntax;
mod key_shape;
mod knockout_hash_key;
mod knockout_removes_nothing;
mod knockout_resurrected;
mod knockout_single_level;
mod knockout_without_prefix;
mod leading_colons_key;
mod legacy_config;
mod legacy_fact;
mod level_never_matches;
mod lookup_options_bare_value;
mod lookup_options_namespace;
mod lookup_options_no_effect;
mod lookup_options_not_hash;
mod lookup_options_overridden_level;
mod lookup_options_regex_invalid;
mod lookup_options_regex_no_match;
mod lookup_options_regex_unanchored;
mod lookup_options_shadowed;
mod lookup_options_subkey;
mod lookup_options_unknown_option;
mod malformed_call;
#[cfg(test)]
mod marked;
mod merge_type_clash;
mod missing_parameter;
mod multi_document;
mod nested_not_flat;
mod no_location;
mod non_string_map_key;
mod not_a_hash;
mod null_masks;
mod options_replaced;
mod orphan_file;
mod path_var_missing;
mod plain_secret;
mod project_config;
mod puppet_style_token;
mod redundant_override;
mod ruby_tags;
mod shadowed_value;
mod single_colon_key;
mod subkey_of_scalar;
mod symbol_value;
mod top_key_interpolated;
mod type_mismatch;
mod unclosed_token;
mod undefined_variable;
mod unknown_alias;
mod unknown_backend;
mod unknown_interpolation_function;
mod unknown_parameter;
mod unused_suppression;
mod wrong_backend_kind;
mod yaml11_bool;
mod yaml11_octal;
mod yaml11_sexagesimal;
mod yaml_date;
mod yaml_number_lossy;
mod yaml_portability;
mod yaml_syntax;

pub use checker::{Checker, MOST_FINDINGS, Part, check_file};
pub use context::{FileContext, Reader, Role};
pub use finding::{Finding, Fix, NewKey, Related, Rest, Safety, Severity, Tag};
pub use fixes::{Known, Made, Removed, fixes_together};
pub use fixing::{AfterFixes, Fixing, Found, helpful};
pub use plain_secret::secret;
pub use recheck::{Recheck, recheck};
pub use rule::{Depends, Facts, PAGE_SCHEME, Rule};

// What rules need, so that each imports from one place.
use context::{MappingAt, OptionAt, ScalarAt, TokenAt, entry, shown};
use finding::Findings;
use rule::{ConfigurationAt, Hook};

/// Every rule, ordered by code.
pub static RULES: &[&Rule] = &[
    alias_not_whole::RULE,
    backend_options::RULE,
    bad_convert_to::RULE,
    bad_merge_option::RULE,
    bad_strategy::RULE,
    data_namespace::RULE,
    dec_not_encrypted::RULE,
    dig_digit_string_key::RULE,
    dotted_top_key::RULE,
    dup_key::RULE,
    enc_in_plain_level::RULE,
    eyaml_blob::RULE,
    eyaml_without_keys::RULE,
    foreign_percent_syntax::RULE,
    hiera_config::RULE,
    interp_loses_type::RULE,
    interp_missing_key::RULE,
    interp_missing_subkey::RULE,
    interp_structured_in_string::RULE,
    interpolation_loop::RULE,
    json_syntax::RULE,
    key_shape::RULE,
    knockout_hash_key::RULE,
    knockout_removes_nothing::RULE,
    knockout_resurrected::RULE,
    knockout_single_level::RULE,
    knockout_without_prefix::RULE,
    leading_colons_key::RULE,
    legacy_config::RULE,
    legacy_fact::RULE,
    level_never_matches::RULE,
    lookup_options_bare_value::RULE,
    lookup_options_namespace::RULE,
    lookup_options_no_effect::RULE,
    lookup_options_not_hash::RULE,
    lookup_options_overridden_level::RULE,
    lookup_options_regex_invalid::RULE,
    lookup_options_regex_no_match::RULE,
    lookup_options_regex_unanchored::RULE,
    lookup_options_shadowed::RULE,
    lookup_options_subkey::RULE,
    lookup_options_unknown_option::RULE,
    malformed_call::RULE,
    merge_type_clash::RULE,
    missing_parameter::RULE,
    multi_document::RULE,
    nested_not_flat::RULE,
    no_location::RULE,
    non_string_map_key::RULE,
    not_a_hash::RULE,
    null_masks::RULE,
    options_replaced::RULE,
    orphan_file::RULE,
    path_var_missing::RULE,
    plain_secret::RULE,
    project_config::RULE,
    puppet_style_token::RULE,
    redundant_override::RULE,
    ruby_tags::RULE,
    shadowed_value::RULE,
    single_colon_key::RULE,
    subkey_of_scalar::RULE,
    symbol_value::RULE,
    top_key_interpolated::RULE,
    type_mismatch::RULE,
    unclosed_token::RULE,
    undefined_variable::RULE,
    unknown_alias::RULE,
    unknown_backend::RULE,
    unknown_interpolation_function::RULE,
    unknown_parameter::RULE,
    unused_suppression::RULE,
    wrong_backend_kind::RULE,
    yaml_date::RULE,
    yaml_number_lossy::RULE,
    yaml_portability::RULE,
    yaml_syntax::RULE,
    yaml11_bool::RULE,
    yaml11_octal::RULE,
    yaml11_sexagesimal::RULE,
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
    fn what_a_custom_level_may_read_is_not_judged_as_data() {
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
            // Those are about comments and settings of this program.
            if !matches!(rule.code, "project-config" | "unused-suppression") {
                let says = |words: &str| rule.page.contains(words);
                let names_both = says("Puppet 7") && says("Puppet 8");
                assert!(
                    says("Puppet 7 and 8") || names_both,
                    "{}: of 7 and 8",
                    rule.code
                );
            }
        }
    }
}
