//! `no-location`: a level of data files has no path.

use super::config_level::levels;
use super::context::entry;
use super::{FileContext, Findings, RootContext};

/// The keys that name files.
const LOCATIONS: [&str; 5] = ["path", "paths", "glob", "globs", "mapped_paths"];

rule!("no-location", Error, [Configuration(check)]);

fn check(file: &FileContext<'_>, _: &RootContext<'_>, findings: &mut Findings<'_>) {
    let tree = file.tree();
    for level in levels(file) {
        let Some(function) = &level.function else {
            continue;
        };
        let reads_files = function.built_in() == Some(function.kind);
        let has_files = LOCATIONS
            .iter()
            .any(|name| entry(tree, level.node, name).is_some());
        // Puppet refuses a level without a name anyway.
        let Some(name) = level.spans.name else {
            continue;
        };
        if reads_files && !has_files {
            findings.report(
                name,
                format!(
                    "'{}' needs a 'path', 'paths', 'glob', 'globs' or 'mapped_paths': every lookup \
                     that reaches this level fails",
                    function.name
                ),
            );
        }
    }
}
