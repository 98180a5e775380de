//! `bolt-project.yaml`: the few settings of a project of Bolt that affect lookups
//! (lib/bolt/config.rb and lib/bolt/project.rb of Bolt and OpenBolt).

use crate::value::{Value, load_yaml};

/// The settings of a `bolt-project.yaml` about data and modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BoltProject {
    /// `hiera-config`, as written; `hiera.yaml` if the setting is not there.
    pub(super) hiera_config: Option<String>,
    /// The folders of modules, as written. Bolt adds the folder of the modules that it installs.
    pub(super) modulepath: Vec<String>,
}

/// The folder of modules if the project names none, and the folder of those that Bolt installs.
const MODULES: [&str; 2] = ["modules", ".modules"];

/// Reads the file's text. What is no setting of Bolt is as if it were not there: Bolt refuses the file.
pub(super) fn parse(text: &str) -> BoltProject {
    let settings = load_yaml(text.as_bytes()).unwrap_or_default();
    let [own, installed] = MODULES.map(str::to_owned);
    let mut modulepath = match settings.get("modulepath") {
        Some(Value::String(folders)) => folders.split(':').map(str::to_owned).collect(),
        Some(Value::Array(folders)) => {
            let folders = folders.iter().filter_map(Value::as_str);
            folders.map(str::to_owned).collect()
        }
        _ => vec![own],
    };
    modulepath.push(installed);
    BoltProject {
        hiera_config: settings
            .get("hiera-config")
            .and_then(Value::as_str)
            .map(str::to_owned),
        modulepath,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_without_settings_has_folders_for_modules() {
        for text in ["", "name: p\n", "modulepath: 1\n", "- a\n", "{"] {
            let project = parse(text);
            assert_eq!(project.hiera_config, None);
            assert_eq!(project.modulepath, ["modules", ".modules"], "{text}");
        }
    }

    #[test]
    fn settings_may_have_two_forms() {
        let project = parse("hiera-config: bolt/hiera.yaml\nmodulepath: [site, /srv/modules]\n");
        assert_eq!(project.hiera_config.as_deref(), Some("bolt/hiera.yaml"));
        assert_eq!(project.modulepath, ["site", "/srv/modules", ".modules"]);
        let project = parse("modulepath: site:modules\n");
        assert_eq!(project.modulepath, ["site", "modules", ".modules"]);
    }
}
