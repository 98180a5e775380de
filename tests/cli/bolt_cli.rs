//! Projects of Bolt: their configuration, and what plans look up outside of apply blocks.

use std::path::Path;
use std::process::Command;

use super::reach_cli::{output_of, workspace};

/// Keys with tokens, and whether a lookup of the key in a plan without variables works.
const KEYS: [(&str, &str, bool); 8] = [
    ("plain", "p", true),
    ("called", "%{lookup('plain')}", true),
    ("module", "%{module_name}", true),
    ("fact", "%{facts.os.family}", false),
    ("trusted", "%{trusted.certname}", false),
    ("server", "%{server_facts.environment}", false),
    ("setting", "%{settings::environment}", false),
    ("environment", "%{environment}", false),
];

/// Looks keys up as Bolt does (lib/bolt/pal.rb), each with a line `KEY true` if that works.
const PLAN: &str = "
require 'puppet'
require 'puppet_pal'
folder, *keys = ARGV
dir = Dir.mktmpdir
Puppet.initialize_settings(Puppet::Settings::REQUIRED_APP_SETTINGS.flat_map { |it| [\"--#{it}\", dir] })
Puppet.settings[:hiera_config] = \"#{folder}/bolt/hiera.yaml\"
Puppet[:tasks] = true
keys.each do |key|
  works = begin
    Puppet::Pal.in_tmp_environment('bolt', modulepath: [], facts: {}) do |pal|
      pal.with_script_compiler(set_local_facts: false) { |it| it.call_function('lookup', key) }
    end
    true
  rescue StandardError
    false
  end
  puts \"#{key} #{works}\"
end
";

fn project() -> tempfile::TempDir {
    let data = KEYS.map(|(key, value, _)| format!("{key}: \"{value}\"\n"));
    workspace(&[
        (
            "bolt-project.yaml",
            "name: p\nhiera-config: bolt/hiera.yaml\nmodulepath: [site]\n",
        ),
        (
            "bolt/hiera.yaml",
            "version: 5\ndefaults: {datadir: ../data, data_hash: yaml_data}\nhierarchy:\n\
             - {name: Family, path: 'os/%{facts.os.family}.yaml'}\n- {name: Common, path: common.yaml}\n\
             plan_hierarchy:\n- {name: Plans, path: plan.yaml}\n",
        ),
        ("data/common.yaml", "m::port: 1\nplain: c\n"),
        ("data/os/Debian.yaml", "m::port: 2\n"),
        (
            "data/plan.yaml",
            &format!("{}m::port: text\nm::nothing: 1\n", data.concat()),
        ),
        ("site/m/manifests/init.pp", "class m(Integer $port) {\n}\n"),
    ])
}

#[test]
fn plans_read_their_own_hierarchy_and_have_no_facts() {
    let folder = project();
    let at = folder.path();
    let arguments = ["check", "--format", "concise", "--select"];
    let check = |rules: &str| output_of(at, &[&arguments[..], &[rules]].concat()).1;
    let found = check("undefined-variable");
    let lines: Vec<&str> = found
        .lines()
        .filter_map(|line| line.strip_prefix("data/"))
        .collect();
    let of_key = |line: usize| {
        let start = format!("plan.yaml:{}:", line + 1);
        lines.iter().any(|found| found.starts_with(&start))
    };
    for (line, (key, _, works)) in KEYS.iter().enumerate() {
        assert_eq!(of_key(line), !works, "{key}: {found}");
    }
    assert_eq!(lines.len(), 5, "{found}");
    // Parameters of classes are looked up in apply blocks only, with the other hierarchy.
    let found = check("type-mismatch,unknown-parameter,orphan-file");
    assert_eq!(found, "4 files checked, no problems\n");
    let (code, shown, _) = output_of(at, &["hover", "data/plan.yaml:1:1"]);
    assert_eq!(code, Some(0));
    assert!(
        shown.starts_with("plain — first found, for plans\n  p\n"),
        "{shown}"
    );
    let (_, shown, _) = output_of(at, &["hover", "data/common.yaml:2:1"]);
    assert!(
        shown.starts_with("plain — first found, for every node"),
        "{shown}"
    );
    let (code, shown, _) = output_of(at, &["lookup", "m::port", "--node", "a"]);
    assert_eq!((code, &*shown), (Some(3), ""), "the family is unknown");
}

#[test]
fn a_hierarchy_for_plans_needs_no_data() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n\
             plan_hierarchy:\n- {name: Static, path: static.yaml}\n",
        ),
        ("data/common.yaml", "a: 1\n"),
    ]);
    let checked = output_of(folder.path(), &["check"]);
    let clean = "2 files checked, no problems\n".to_owned();
    assert_eq!(checked, (Some(0), clean, String::new()));
}

#[test]
fn real_plans_fail_as_they_are_said_to() {
    let folder = project();
    let keys = KEYS.map(|(key, ..)| key);
    let output = Command::new("ruby")
        .args(["-e", PLAN])
        .arg(folder.path())
        .args(keys)
        .output();
    let output = output.ok().filter(|output| output.status.success());
    let Some(output) = output else {
        assert!(
            std::env::var_os("CI").is_none(),
            "no Puppet here, and this is CI"
        );
        eprintln!("SKIPPED: no Puppet here");
        return;
    };
    let expected = KEYS.map(|(key, _, works)| format!("{key} {works}\n"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected.concat());
}

#[test]
fn what_plans_read_is_no_orphan() {
    let folder = workspace(&[
        ("bolt-project.yaml", "name: demo\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n\
             plan_hierarchy: [{name: Plans, path: plan.yaml}]\n",
        ),
        ("data/common.yaml", "k: v\n"),
        ("data/plan.yaml", "p: v\n"),
    ]);
    let at: &Path = folder.path();
    let (code, shown, _) = output_of(at, &["check"]);
    assert_eq!((code, &*shown), (Some(0), "3 files checked, no problems\n"));
    let (_, shown, _) = output_of(at, &["hover", "data/plan.yaml:1:1"]);
    assert_eq!(
        shown,
        "p — first found, for plans\n  v\nset in data/plan.yaml:1\n"
    );
}
