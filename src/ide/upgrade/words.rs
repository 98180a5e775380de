//! What is said about the causes of an upgrade's changes.

use super::{UpgradeCause, UpgradeEffect, structured_fact};
use crate::lookup::PuppetVersion;
use crate::text::number_of;
use crate::value::RubyChange;

/// The name of a cause in JSON and SARIF, and what it is about.
#[must_use]
pub fn name_and_subject(cause: &UpgradeCause) -> (&'static str, Option<&str>) {
    match cause {
        UpgradeCause::UndefinedVariable(name) => ("undefined-variable", Some(name)),
        UpgradeCause::Manifests(message) => ("manifests", Some(message)),
        UpgradeCause::Strict(message) => ("strict", Some(message)),
        UpgradeCause::LegacyFact(name) => ("legacy-fact", name.as_deref()),
        UpgradeCause::DataProvider => ("environment-data-provider", None),
        UpgradeCause::Ruby(RubyChange::HashText) => ("hash-text", None),
        UpgradeCause::Ruby(RubyChange::Characters) => ("character-text", None),
        UpgradeCause::Ruby(RubyChange::JsonEscape) => ("json-escape", None),
        UpgradeCause::HieraFunction(name) => ("hiera-function", Some(name)),
        UpgradeCause::Version => ("version", None),
    }
}

/// The version's name for people.
#[must_use]
pub fn version_name(version: PuppetVersion) -> &'static str {
    match version {
        PuppetVersion::V7 => "Puppet 7",
        PuppetVersion::V8 => "Puppet 8",
        PuppetVersion::V9 => "OpenVox 9",
    }
}

pub(super) fn effect_text(effect: UpgradeEffect, count: usize) -> String {
    let [one, many] = match effect {
        UpgradeEffect::Fails => ["fails", "fail"],
        UpgradeEffect::Lost => ["loses its value", "lose their values"],
        UpgradeEffect::Changes => ["changes", "change"],
        UpgradeEffect::Works => ["does not fail any longer", "do not fail any longer"],
        UpgradeEffect::Warns => ["brings a warning", "bring a warning"],
        UpgradeEffect::Unknown => ["is unknown", "are unknown"],
        UpgradeEffect::Deprecated => ["is looked up", "are looked up"],
    };
    let verb = if count == 1 { one } else { many };
    format!("{} {verb}", number_of(count, "key"))
}

/// What Puppet does otherwise with all causes of the same name.
#[must_use]
pub fn summary(cause: &UpgradeCause) -> &'static str {
    match cause {
        UpgradeCause::UndefinedVariable(_) => "a variable that does not exist is an error",
        UpgradeCause::Manifests(_) => "manifests fail, or give nodes other variables",
        UpgradeCause::Strict(_) => "what was a warning is an error",
        UpgradeCause::LegacyFact(_) => "agents do not send legacy facts",
        UpgradeCause::DataProvider => "environment_data_provider in environment.conf is ignored",
        UpgradeCause::Ruby(RubyChange::HashText) => "hashes have another text in strings",
        UpgradeCause::Ruby(RubyChange::Characters) => {
            "lists and hashes show characters in strings that were escaped, or escape others"
        }
        UpgradeCause::Ruby(RubyChange::JsonEscape) => {
            "JSON is refused if a backslash is before another character than JSON knows"
        }
        UpgradeCause::HieraFunction(_) => {
            "a function of Hiera 3 is deprecated: all versions return the same, and warn"
        }
        UpgradeCause::Version => "Puppet behaves otherwise",
    }
}

/// What Puppet does otherwise, and from which version on.
#[must_use]
pub fn headline(cause: &UpgradeCause) -> String {
    let what = match cause {
        UpgradeCause::UndefinedVariable(name) => {
            format!("the variable '{name}' does not exist, which is an error")
        }
        UpgradeCause::Manifests(message) => format!("manifests: {message}"),
        UpgradeCause::Strict(message) => message.to_string(),
        UpgradeCause::LegacyFact(Some(name)) => {
            format!("agents do not send the legacy fact '{name}'")
        }
        UpgradeCause::HieraFunction(name) => {
            return format!("{name}() is deprecated: all versions return the same, and warn");
        }
        UpgradeCause::LegacyFact(None)
        | UpgradeCause::DataProvider
        | UpgradeCause::Ruby(_)
        | UpgradeCause::Version => summary(cause).to_owned(),
    };
    format!("{what} (from {} on)", u8::from(cause.since()))
}

/// The edit that prevents the change.
#[must_use]
pub fn fix(cause: &UpgradeCause) -> Option<String> {
    Some(match cause {
        UpgradeCause::UndefinedVariable(_) => {
            "set the variable for these nodes, or leave the token out".to_owned()
        }
        UpgradeCause::LegacyFact(Some(name)) => match structured_fact(name) {
            Some(structured) => format!(
                "use facts.{structured}: 'hiera-ls upgrade --fix' writes it where no value changes"
            ),
            None => format!("use a structured fact instead of '{name}'"),
        },
        UpgradeCause::LegacyFact(None) => {
            "use structured facts: 'hiera-ls upgrade --fix' writes them where no value changes".to_owned()
        }
        UpgradeCause::DataProvider => "give the environment a hiera.yaml of version 5".to_owned(),
        UpgradeCause::Ruby(RubyChange::Characters) => {
            "look up the elements, as in %{lookup('key.0')}, or the whole with %{alias('key')}"
                .to_owned()
        }
        UpgradeCause::Ruby(RubyChange::JsonEscape) => {
            "write the backslash twice, or leave it out: it is left out today".to_owned()
        }
        UpgradeCause::HieraFunction(name) => {
            let instead = match &**name {
                "hiera_array" => "lookup('key', {'merge' => 'unique'})",
                "hiera_hash" => "lookup('key', {'merge' => 'hash'})",
                "hiera_include" => "include(lookup('key', {'merge' => 'unique'}))",
                _ => "lookup('key'), with {'merge' => 'first'} if lookup_options merge the key",
            };
            format!("use {instead}: 'hiera-ls upgrade --fix' writes it where it is the same")
        }
        UpgradeCause::Ruby(RubyChange::HashText) => {
            "look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}"
                .to_owned()
        }
        UpgradeCause::Manifests(_) | UpgradeCause::Strict(_) | UpgradeCause::Version => return None,
    })
}
