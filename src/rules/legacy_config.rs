//! `legacy-config`: a 'hiera.yaml' has a version before 5.

use super::config_text::version_of;
use super::{FileContext, Findings, RootContext, Severity, Tag};
use crate::hierarchy::Layer;
use crate::lookup::Strict;
use crate::workspace::{ConfigOrigin, RootKind};

rule!("legacy-config", Warning, [Configuration(check)]);

fn check(at: &FileContext<'_>, config: &RootContext<'_>, findings: &mut Findings<'_>) {
    let layer = &config.layer;
    let Some(version) = at.loaded().ok().and_then(version_of) else {
        return;
    };
    // It is reported as the environment's configuration.
    if matches!(layer, Layer::Global) && is_of(at, &RootKind::Environment) {
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
                 to version 5, which starts with 'version: 5'{}",
                if is_of(at, &RootKind::Global) {
                    ". Puppet 7 ignores it here: for answers from it as the global layer's, set \
                     'puppetVersion' to 7"
                } else {
                    ""
                }
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

/// Whether the file is the configuration of a root of a kind, too.
fn is_of(at: &FileContext<'_>, kind: &RootKind) -> bool {
    let path = at.file.path();
    let mut roots = at.snapshot().roots().iter();
    roots.any(|root| root.kind == *kind && root.hiera_yaml.as_ref() == Some(path))
}

/// Whether Puppet does not look for a configuration there, such as in the data of a module that was
/// written for the module 'module_data'.
fn is_elsewhere(at: &FileContext<'_>) -> bool {
    let path = at.file.path();
    let roots = at.snapshot().roots();
    let mut found = roots.found().iter().filter(|found| found.path == *path);
    path.contains("/modules/") && found.any(|found| found.origin == ConfigOrigin::Content)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::found;

    const THREE: &str =
        ":backends: [yaml]\n:hierarchy: [common]\n:yaml:\n  :datadir: /etc/puppet/hiera\n";

    fn message(others: &str) -> String {
        let text = format!("#- hiera.yaml\n{THREE}{others}");
        let found = found(RULE, "hiera.yaml", &text);
        assert_eq!(found.len(), 1, "{others}");
        found[0].message.clone()
    }

    #[test]
    fn version_3_is_refused_where_puppet_reads_it_as_an_environment_s() {
        let data = "#- hiera/common.yaml\na: 1\n";
        let deployed = "#- environment.conf\n\n";
        let refused = message(&format!("{data}{deployed}"));
        assert!(refused.contains("every lookup fails"), "{refused}");
        assert!(refused.ends_with("set 'puppetVersion' to 7"), "{refused}");
        let without_data = message(deployed);
        assert!(without_data.ends_with("'version: 5'"), "{without_data}");
        for global in [data, "#- hieradata/common.yaml\na: 1\n", ""] {
            let found = message(global);
            assert!(found.contains("version 3 is deprecated"), "{found}");
        }
    }
}
