//! Classes with typed parameters, modules with data of their own, and known nodes with facts and
//! variables: what a repository has besides its data.

use std::fmt::Write as _;

use serde_json::json;

use super::{ControlRepo, PARAMETERS, PROFILES_OF_A_ROLE, SYSTEMS, value};

/// Number of modules, each with a class, a hierarchy and two data files.
const MODULES: usize = 20;

/// Number of services, each with a file that the nodes with this service read.
const SERVICES: usize = 40;

/// Number of services of one node.
const SERVICES_OF_A_NODE: usize = 3;

/// Values of the variable that a classifier sets.
const TIERS: [&str; 3] = ["bronze", "gold", "silver"];

/// Levels for lists of services and for the classifier's variable, below the sites.
const LEVELS: &str = r#"  - name: "Services of the node"
    mapped_paths: [facts.services, service, "services/%{service}.yaml"]
  - name: "Tier"
    path: "tiers/%{tier}.yaml"
  - name: "Operating system"
"#;

const MODULE_HIERARCHY: &str = r#"---
version: 5
hierarchy:
  - name: "Family"
    path: "os/%{facts.os.family}.yaml"
  - name: "Defaults"
    path: "common.yaml"
"#;

/// The hierarchy with more levels.
pub(super) fn hierarchy(plain: &str) -> String {
    plain.replacen("  - name: \"Operating system\"\n", LEVELS, 1)
}

impl ControlRepo {
    /// Every file besides the data of [`ControlRepo::of`].
    pub(super) fn each_file_of_code(&self, visit: &mut dyn FnMut(&str, &str)) {
        visit("environment.conf", "modulepath = site:modules\n");
        visit(
            "manifests/site.pp",
            "node default {\n  $role = $facts['role']\n  include \"role::${role}\"\n  \
             lookup('classes', {'merge' => 'unique', 'default_value' => []}).include\n}\n",
        );
        visit(
            "site/profile/types/port.pp",
            "# A port of a service.\ntype Profile::Port = Integer[1, 65535]\n",
        );
        for profile in 0..self.profiles {
            let path = format!("site/profile/manifests/p{profile:02}.pp");
            visit(&path, &profile_class(profile));
        }
        for role in 0..self.roles() {
            let mut text = format!("# Role {role}.\nclass role::role{role:03} {{\n");
            for at in 0..PROFILES_OF_A_ROLE {
                let _ = writeln!(text, "  include profile::p{:02}", self.profile_of(role, at));
            }
            text.push_str("}\n");
            visit(&format!("site/role/manifests/role{role:03}.pp"), &text);
        }
        for module in 0..MODULES {
            each_file_of_a_module(module, visit);
        }
        for service in 0..SERVICES {
            let profile = service % self.profiles;
            let mut text = format!("---\n# service {service}\n");
            let mut dice = self.dice(&format!("service {service}"));
            for parameter in 0..value::kinds() {
                value::entry(&mut text, &mut dice, profile, parameter, value::Place::Site);
            }
            let _ = writeln!(
                text,
                "service{:02}::workers: {}",
                service % MODULES,
                service + 1
            );
            visit(&format!("data/services/service{service:02}.yaml"), &text);
        }
        for (at, tier) in TIERS.into_iter().enumerate() {
            let mut text = format!("---\n# tier {tier}\nclasses:\n");
            for module in (at..MODULES).step_by(3) {
                let _ = writeln!(text, "  - service{module:02}");
            }
            let mut dice = self.dice(&format!("tier {tier}"));
            for profile in (0..self.profiles).step_by(2) {
                value::entry(&mut text, &mut dice, profile, 1, value::Place::Site);
            }
            visit(&format!("data/tiers/{tier}.yaml"), &text);
        }
        visit("nodes.json", &self.nodes_file());
    }

    /// Every node with its facts and the classifier's variable.
    fn nodes_file(&self) -> String {
        let mut text = String::from("{");
        for number in 0..self.nodes {
            let machine = self.machine(number);
            let mut facts = machine.facts();
            let services = (0..SERVICES_OF_A_NODE).map(|at| (machine.role * 5 + at * 7) % SERVICES);
            let services = services.map(|service| format!("service{service:02}"));
            facts["services"] = services.collect::<Vec<_>>().into();
            let node = json!({
                "facts": facts,
                "variables": { "tier": TIERS[machine.site % TIERS.len()] },
            });
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n\"{}\": {node}", machine.certname);
        }
        text.push_str("\n}\n");
        text
    }
}

/// The class of a profile: a typed parameter for each key.
fn profile_class(profile: usize) -> String {
    let mut text = format!("# Profile {profile}.\nclass profile::p{profile:02} (\n");
    for parameter in 0..PARAMETERS {
        let key = value::key(profile, parameter);
        let name = key.rsplit("::").next().expect("a name has a last part");
        let _ = writeln!(text, "  {} ${name},", type_of(value::kind(parameter)));
    }
    let modules = [profile % MODULES, (profile + 7) % MODULES];
    let _ = write!(
        text,
        ") {{\n  include service{:02}\n  include service{:02}\n  notify {{ \"profile {profile} on ${{listen}}\": }}\n}}\n",
        modules[0], modules[1]
    );
    text
}

/// A type that the values of a kind have.
fn type_of(kind: &str) -> &'static str {
    match kind {
        "ensure" => "Enum['present', 'absent']",
        "port" => "Profile::Port",
        "enabled" => "Boolean",
        "packages" | "backup" => "Array[String[1]]",
        "settings" => "Hash[String[1], Hash[String[1], Data]]",
        "weight" => "Variant[Float, Integer]",
        "users" => "Hash[String[1], Struct[{uid => Integer, shell => String[1]}]]",
        "limits" => "Hash[String[1], Variant[Integer, Hash[String[1], Integer]]]",
        "listen" | "url" | "motd" => "String[1]",
        other => unreachable!("no such kind: {other}"),
    }
}

/// A module that reads data of its own, with options of its own.
fn each_file_of_a_module(module: usize, visit: &mut dyn FnMut(&str, &str)) {
    let name = format!("service{module:02}");
    let folder = format!("modules/{name}");
    visit(&format!("{folder}/hiera.yaml"), MODULE_HIERARCHY);
    visit(
        &format!("{folder}/manifests/init.pp"),
        &format!(
            "# Module {module}.\nclass {name} (\n  Integer[1] $workers,\n  String[1] $package,\n  \
             Hash[String[1], Data] $options,\n  Boolean $manage = true,\n) {{\n  \
             $more = lookup('{name}::extra', Array[String], 'unique', [])\n  \
             notify {{ \"${{package}} with ${{workers}}\": }}\n}}\n"
        ),
    );
    visit(
        &format!("{folder}/data/common.yaml"),
        &format!(
            "---\nlookup_options:\n  {name}::options: {{merge: deep}}\n{name}::workers: {}\n\
             {name}::package: {name}\n{name}::options:\n  log: /var/log/{name}\n  level: info\n\
             {name}::extra: [base]\n",
            1 + module
        ),
    );
    let mut families: Vec<&str> = SYSTEMS.iter().map(|system| system.2).collect();
    families.dedup();
    for family in families {
        let lower = family.to_lowercase();
        visit(
            &format!("{folder}/data/os/{family}.yaml"),
            &format!(
                "---\n{name}::package: {name}-{lower}\n{name}::options:\n  family: {lower}\n\
                 {name}::extra: [{lower}]\n"
            ),
        );
    }
}
