//! The steps of an upgrade, one for each thing that changes.

use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::scope::KnownNodes;
use crate::value::RubyChange;

/// A step of the upgrade: Puppet as it is behind it.
pub(super) struct UpgradeStep {
    /// What changes with it.
    pub(super) kind: StepKind,
    pub(super) settings: Settings,
    pub(super) configs: ConfigCache,
    pub(super) nodes: KnownNodes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StepKind {
    Start,
    LegacyFacts,
    Version,
    Ruby(RubyChange),
}

impl StepKind {
    /// Whether nodes have no legacy facts behind the step of an upgrade that drops them or not.
    pub(super) fn lacks_facts(self, drops_facts: bool) -> bool {
        drops_facts && self != StepKind::Start
    }
}

/// The steps from one version to another, with the settings behind each; the first is the old
/// version. `settings` gives those of a version.
pub(super) fn steps(
    settings: &dyn Fn(PuppetVersion) -> Settings,
    (from, to): (PuppetVersion, PuppetVersion),
) -> Vec<(StepKind, Settings)> {
    let mut steps = vec![(StepKind::Start, settings(from))];
    if from < PuppetVersion::V8 && to >= PuppetVersion::V8 {
        steps.push((StepKind::LegacyFacts, settings(from)));
    }
    let mut ruby = settings(from).ruby;
    for version in PuppetVersion::ALL {
        if version <= from || version > to {
            continue;
        }
        let new = settings(version);
        let of = |kind, ruby| {
            (
                kind,
                Settings {
                    ruby,
                    ..new.clone()
                },
            )
        };
        steps.push(of(StepKind::Version, ruby));
        for change in RubyChange::ALL {
            if new.ruby.has(change) && !ruby.has(change) {
                ruby = ruby.with(change);
                steps.push(of(StepKind::Ruby(change), ruby));
            }
        }
    }
    steps
}
