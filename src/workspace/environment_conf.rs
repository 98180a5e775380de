//! `environment.conf`: the few settings of an environment that affect lookups.
//!
//! Lines are parsed like in puppet/settings/ini_file.rb; settings in sections are ignored
//! (puppet/settings/environment_conf.rb reads the `main` section).

/// The settings of an `environment.conf` about data and modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentConf {
    /// The entries of `modulepath`, as written; `None` if the setting is not there.
    pub modulepath: Option<Vec<String>>,
    /// `environment_data_provider`, deprecated: `none`, `hiera` or `function`.
    pub environment_data_provider: Option<String>,
    /// `manifest`, the file or folder that is run for every node, as written.
    pub manifest: Option<String>,
}

/// Parses the file's text. Invalid lines are skipped, as in Puppet.
#[must_use]
pub fn parse(text: &str) -> EnvironmentConf {
    let mut conf = EnvironmentConf::default();
    let mut main = true;
    for line in text.lines() {
        let line = line.trim();
        if let Some(section) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            main = section == "main";
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if !main || name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        match name {
            // The first setting of a name is used.
            "modulepath" if conf.modulepath.is_none() => {
                let entries = unquoted(value).split(':').map(str::trim);
                let entries = entries.filter(|entry| !entry.is_empty());
                conf.modulepath = Some(entries.map(str::to_owned).collect());
            }
            "environment_data_provider" if conf.environment_data_provider.is_none() => {
                conf.environment_data_provider = Some(unquoted(value).to_owned());
            }
            "manifest" if conf.manifest.is_none() => {
                conf.manifest = Some(unquoted(value).to_owned());
            }
            _ => {}
        }
    }
    conf
}

/// A value without a quote at either end (puppet/settings/value_translator.rb).
fn unquoted(value: &str) -> &str {
    let value = value.strip_prefix(['\'', '"']).unwrap_or(value);
    value.strip_suffix(['\'', '"']).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_file() {
        let conf = parse(
            "# where code is\nmodulepath = site:modules:$basemodulepath\n\
             environment_data_provider=hiera\n[other]\nmodulepath = elsewhere\n",
        );
        let expected = ["site", "modules", "$basemodulepath"].map(str::to_owned);
        assert_eq!(conf.modulepath, Some(expected.to_vec()));
        assert_eq!(conf.environment_data_provider.as_deref(), Some("hiera"));
    }

    #[test]
    fn no_setting_no_value() {
        assert_eq!(
            parse("modulepath\n#modulepath = x\n"),
            EnvironmentConf::default()
        );
        assert_eq!(parse("modulepath =").modulepath, Some(Vec::new()));
        let twice = parse("modulepath = 'a'\nmodulepath = b\n");
        assert_eq!(
            twice.modulepath,
            Some(vec!["a".to_owned()]),
            "the first counts"
        );
    }
}
