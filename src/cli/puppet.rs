//! The flags that choose the Puppet that a command behaves as.

use std::sync::Arc;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::analysis::Project;
use crate::lookup::{PuppetVersion, Settings, Strict};

/// Which Puppet.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct PuppetArguments {
    /// Behave as Puppet 7 or 8, or as OpenVox 9 [default: as .hiera-ls.yaml says, else 8]
    #[arg(long, value_name = "7|8|9", value_parser = puppet_version)]
    pub(super) puppet_version: Option<PuppetVersion>,
    /// Puppet's setting strict [default: the version's own]
    #[arg(long)]
    strict: Option<Strict>,
    /// Puppet's setting strict_variables [default: the version's own]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    strict_variables: Option<bool>,
}

/// A version by its number.
///
/// # Errors
/// For people.
pub(super) fn puppet_version(text: &str) -> Result<PuppetVersion, String> {
    let number = text.parse().ok();
    let version = number.and_then(PuppetVersion::of);
    version.ok_or_else(|| "the versions are 7, 8 and 9".to_owned())
}

impl ValueEnum for Strict {
    fn value_variants<'a>() -> &'a [Strict] {
        &Strict::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl PuppetArguments {
    /// The same flags with another version, if one is given.
    pub(super) fn with_version(&self, version: Option<PuppetVersion>) -> PuppetArguments {
        PuppetArguments {
            puppet_version: version.or(self.puppet_version),
            ..self.clone()
        }
    }

    /// Puppet's settings: from the flags, else from the workspace's configuration.
    pub(super) fn settings(&self, project: &Project) -> Settings {
        let version = self.puppet_version.or(project.puppet_version);
        let mut settings = Settings::for_version(version.unwrap_or_default());
        let strict = self.strict.or(project.strict);
        settings.strict = strict.unwrap_or(settings.strict);
        let variables = self.strict_variables.or(project.strict_variables);
        settings.strict_variables = variables.unwrap_or(settings.strict_variables);
        settings.backends = Arc::new(project.backends.clone());
        // A checkout rarely contains the modules that are installed where it is deployed.
        settings.modules_may_be_missing = true;
        settings
    }
}
