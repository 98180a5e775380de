//! `legacy-config`: a 'hiera.yaml' has a version before 5.

use super::config_text::version_of;
use super::{FileContext, Findings, RootContext, Severity, Tag};
use crate::hierarchy::Layer;
use crate::lookup::Strict;
use crate::workspace::ConfigOrigin;

rule!("legacy-config", Warning, [Configuration(check)]);

fn check(at: &FileContext<'_>, config: &RootContext<'_>, findings: &mut Findings<'_>) {
    let layer = &config.layer;
    let Some(version) = at.loaded().ok().and_then(version_of) else {
        return;
    };
    // The environment that it lies in says more.
    if matches!(layer, Layer::Global) && is_of_environment(at) {
        return;
    }
    let tree = at.tree();
    let written = at.top_level("version").or_else(|| at.top_level(":version"));
    let range = written.or_else(|| tree.entries().next()).map_or_else(
        || at.first_line(),
        |(key, value)| match written {
            Some(_) => tree.node(key).range.cover(tree.node(value).range),
            None => tree.node(key).range,
        },
    );
    let a_place = match layer {
        Layer::Module(_) => "a module",
        Layer::Environment | Layer::Global => "an environment",
    };
    let (severity, message) = match (version, layer) {
        (4, Layer::Global) => (
            Severity::Error,
            "hiera.yaml version 4 cannot be used in the global layer: every lookup fails; convert \
             it to version 5"
                .to_owned(),
        ),
        (4, _) => (
            Severity::Warning,
            "hiera.yaml version 4 is deprecated; convert it to version 5".to_owned(),
        ),
        (3, Layer::Global) if !is_elsewhere(at) => (
            Severity::Warning,
            "hiera.yaml version 3 is deprecated; convert it to version 5".to_owned(),
        ),
        (3, _) if is_elsewhere(at) => (
            Severity::Hint,
            "Puppet reads hiera.yaml version 3 in the global layer only, and nothing from here; convert \
             it to version 5, or remove it"
                .to_owned(),
        ),
        (3, _) if at.settings().strict == Strict::Error => (
            Severity::Error,
            format!(
                "hiera.yaml version 3 cannot be used in {a_place}: every lookup fails; convert it \
                 to version 5, which starts with 'version: 5'"
            ),
        ),
        (3, _) => (
            Severity::Warning,
            format!(
                "hiera.yaml version 3 cannot be used in {a_place}: Puppet ignores the file; convert \
                 it to version 5, which starts with 'version: 5'"
            ),
        ),
        _ => return,
    };
    let finding = findings.report_as(severity, range, message);
    let is_global = matches!(layer, Layer::Global);
    if version == 3 && !is_global && !is_elsewhere(at) {
        finding.matters_later();
    }
    finding.tags.push(Tag::Deprecated);
}

/// Whether an environment reads the file, too.
fn is_of_environment(at: &FileContext<'_>) -> bool {
    let path = at.file.path();
    let mut roots = at.snapshot().roots().environments();
    roots.any(|root| root.hiera_yaml.as_ref() == Some(path))
}

/// Whether Puppet does not look for a configuration there, such as in the data of a module that was
/// written for the module 'module_data'.
fn is_elsewhere(at: &FileContext<'_>) -> bool {
    let path = at.file.path();
    let roots = at.snapshot().roots();
    let mut found = roots.found().iter().filter(|found| found.path == *path);
    path.contains("/modules/") && found.any(|found| found.origin == ConfigOrigin::Content)
}
