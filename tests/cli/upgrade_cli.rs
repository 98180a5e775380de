//! `upgrade`: what another version of Puppet changes for known nodes.

use expect_test::expect;

use super::reach_cli::{output_of, workspace};

pub(super) const HIERARCHY: &str = "version: 5\nhierarchy:\n- {name: Node, path: 'node/%{trusted.certname}.yaml'}\n\
                         - {name: System, path: 'os/%{osfamily}.yaml'}\n- {name: Common, path: common.yaml}\n";
pub(super) const NODES: &str = r#"{
  "web1": {"facts": {"osfamily": "RedHat", "hostname": "web1", "os": {"family": "RedHat"}}, "variables": {}},
  "db1": {"facts": {"osfamily": "Debian", "hostname": "db1", "os": {"family": "Debian"}}, "variables": {}}
}"#;
const COMMON: &str = "\
family: '%{::osfamily}, %{facts.os.family}'
port: '%{undefined}80'
hash: {a: 1, b: [x, ~]}
text: \"it is %{lookup('hash')}\"
os: 'os: %{facts.os}'
list: \"%{lookup('hash.b')}\"
part: '%{facts.nothing}'
plain: 1
whole: \"%{alias('hash')}\"
";

fn files() -> tempfile::TempDir {
    workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.json", NODES),
        ("data/common.yaml", COMMON),
        ("data/os/RedHat.yaml", "release: 9\nplain: 2\n"),
    ])
}

#[test]
fn each_change_has_its_cause_its_places_and_its_fix() {
    let folder = files();
    let (code, shown, error) = output_of(folder.path(), &["upgrade"]);
    assert_eq!((code, error.as_str()), (Some(1), ""));
    expect![[r#"
        from Puppet 7 to OpenVox 9: 2 keys fail, 1 key loses its value, 3 keys change, on 2 of 2 nodes

        agents do not send the legacy fact 'osfamily' (from 8 on)
          1 key fails on 2 nodes: family
          1 key loses its value on web1: release
          1 key changes on web1: plain
          in data/common.yaml:1, hiera.yaml:4
          family on web1:
          - "RedHat, RedHat"
          + error: Undefined variable '::osfamily'
          fix: use facts.os.family: 'hiera-ls upgrade --fix' writes it where no value changes

        the variable 'undefined' does not exist, which is an error (from 8 on)
          1 key fails on 2 nodes: port
          in data/common.yaml:2
          port on web1:
          - "80"
          + error: Undefined variable 'undefined'
          fix: set the variable for these nodes, or leave the token out

        hashes have another text in strings (from 9 on)
          2 keys change on 2 nodes: os, text
          in data/common.yaml:4, data/common.yaml:5
          os on web1:
          - "os: {\"family\"=>\"RedHat\"}"
          + "os: {\"family\" => \"RedHat\"}"
          fix: look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}
    "#]].assert_eq(&shown);
    // Without the causes of version 8.
    let (code, shown, _) = output_of(folder.path(), &["upgrade", "--from", "8"]);
    assert_eq!(code, Some(1));
    expect![[r#"
        from Puppet 8 to OpenVox 9: 2 keys change, on 2 of 2 nodes

        hashes have another text in strings (from 9 on)
          2 keys change on 2 nodes: os, text
          in data/common.yaml:4, data/common.yaml:5
          os on web1:
          - "os: {\"family\"=>\"RedHat\"}"
          + "os: {\"family\" => \"RedHat\"}"
          fix: look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}
    "#]].assert_eq(&shown);
}

#[test]
fn values_stay_out_of_public_logs() {
    let folder = files();
    let arguments = [
        "upgrade",
        "--no-values",
        "--key",
        "text",
        "--format",
        "markdown",
    ];
    let (code, shown, _) = output_of(folder.path(), &arguments);
    assert_eq!(code, Some(1));
    expect![[r#"
        ## from Puppet 7 to OpenVox 9: 1 key changes, on 2 of 2 nodes

        ### hashes have another text in strings (from 9 on)

        - 1 key changes on 2 nodes: text
        - in data/common.yaml:4
        - text on web1:

        ```diff
        - (a value)
        + (a value)
        ```

        Fix: look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}
    "#]].assert_eq(&shown);
}

#[test]
fn programs_get_every_node_of_every_change() {
    let folder = files();
    let (code, shown, _) = output_of(folder.path(), &["upgrade", "--to", "8", "--format", "json"]);
    assert_eq!(code, Some(1));
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let causes = shown["causes"].as_array().unwrap().iter();
    let changes = causes.flat_map(|cause| {
        let changes = cause["changes"].as_array().unwrap().iter();
        changes.map(move |change| {
            let nodes = change["nodes"].as_array().unwrap().len();
            format!(
                "{} {}: {} {} on {nodes}",
                cause["cause"], cause["subject"], change["key"], change["effect"]
            )
        })
    });
    expect![[r#"
        "legacy-fact" "osfamily": "family" "fails" on 2
        "legacy-fact" "osfamily": "release" "lost" on 1
        "legacy-fact" "osfamily": "plain" "changes" on 1
        "undefined-variable" "undefined": "port" "fails" on 2"#]]
    .assert_eq(&changes.collect::<Vec<_>>().join("\n"));
}

#[test]
fn code_scanning_gets_a_result_for_each_line() {
    let folder = files();
    let (code, shown, _) = output_of(folder.path(), &["upgrade", "--format", "sarif"]);
    assert_eq!(code, Some(1));
    let log: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap().iter();
    let mut known = std::collections::BTreeSet::new();
    let results = results.map(|result| {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(rule["properties"]["since"], result["properties"]["since"]);
        let fingerprint = &result["partialFingerprints"]["hieraLs/v1"];
        assert!(known.insert(fingerprint.as_str().unwrap().to_owned()));
        let place = &result["locations"][0]["physicalLocation"];
        format!(
            "{} {} {}:{} {}",
            result["level"].as_str().unwrap(),
            rule["id"].as_str().unwrap(),
            place["artifactLocation"]["uri"].as_str().unwrap(),
            place["region"]["startLine"],
            result["message"]["text"].as_str().unwrap()
        )
    });
    expect![[r#"
        error upgrade/legacy-fact data/common.yaml:1 agents do not send the legacy fact 'osfamily' (from 8 on): 1 key fails on 2 nodes: family; 1 key loses its value on web1: release; 1 key changes on web1: plain; fix: use facts.os.family: 'hiera-ls upgrade --fix' writes it where no value changes
        error upgrade/legacy-fact hiera.yaml:4 agents do not send the legacy fact 'osfamily' (from 8 on): 1 key fails on 2 nodes: family; 1 key loses its value on web1: release; 1 key changes on web1: plain; fix: use facts.os.family: 'hiera-ls upgrade --fix' writes it where no value changes
        error upgrade/undefined-variable data/common.yaml:2 the variable 'undefined' does not exist, which is an error (from 8 on): 1 key fails on 2 nodes: port; fix: set the variable for these nodes, or leave the token out
        warning upgrade/hash-text data/common.yaml:4 hashes have another text in strings (from 9 on): 2 keys change on 2 nodes: os, text; fix: look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}
        warning upgrade/hash-text data/common.yaml:5 hashes have another text in strings (from 9 on): 2 keys change on 2 nodes: os, text; fix: look up parts of the hash, as in %{lookup('key.part')}, or the whole with %{alias('key')}"#]].assert_eq(&results.collect::<Vec<_>>().join("\n"));
    // Values stay out of it.
    assert!(!shown.contains("RedHat"), "{shown}");
}

#[test]
fn nothing_is_claimed_where_facts_are_unknown() {
    let folder = workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.yaml", "web1: {}\n"),
        ("data/common.yaml", "plain: 1\n"),
        ("data/os/RedHat.yaml", "plain: 2\n"),
    ]);
    std::fs::write(
        folder.path().join("nodes.json"),
        r#"[{"certname": "web1", "facts.os.family": "RedHat"}]"#,
    )
    .unwrap();
    let (code, shown, error) = output_of(folder.path(), &["upgrade", "--nodes", "nodes.json"]);
    assert_eq!(code, Some(3), "{shown}{error}");
    expect![[r#"
        from Puppet 7 to OpenVox 9 no lookup is known to change for the known node
        unknown: what changes where osfamily is read, such as in hiera.yaml:4: no file tells whether nodes have it
    "#]].assert_eq(&format!("{shown}{error}"));
}

#[test]
fn an_environment_data_provider_is_gone_in_9() {
    let folder = workspace(&[
        ("environment.conf", "environment_data_provider = none\n"),
        (
            "hiera.yaml",
            "version: 4\ndatadir: data\nhierarchy: [{name: common, backend: yaml}]\n",
        ),
        ("data/common.yaml", "plain: 1\n"),
        ("nodes.yaml", "web1: {facts: {a: b}}\n"),
    ]);
    let arguments = ["upgrade", "--from", "8", "--key", "plain"];
    let (code, shown, error) = output_of(folder.path(), &arguments);
    assert_eq!(code, Some(1), "{shown}{error}");
    expect![[r#"
        from Puppet 8 to OpenVox 9: 1 key changes, on 1 of 1 node

        environment_data_provider in environment.conf is ignored (from 9 on)
          1 key changes on web1: plain
          in data/common.yaml:1
          plain on web1:
          - (not set)
          + 1
          fix: give the environment a hiera.yaml of version 5
    "#]]
    .assert_eq(&shown);
}

/// Puppet's default hierarchy, or a function, gives such an environment its data.
#[test]
fn an_environment_without_a_configuration_loses_its_data_in_9() {
    for provider in ["hiera", "function"] {
        let conf = format!("environment_data_provider = {provider}\n");
        let folder = workspace(&[
            ("environment.conf", &conf),
            ("data/common.yaml", "plain: 1\n"),
            (
                "functions/environment/data.pp",
                "function environment::data() { { 'plain' => 1 } }\n",
            ),
            ("manifests/site.pp", "notice(lookup('plain'))\n"),
            ("nodes.yaml", "web1: {facts: {a: b}}\n"),
        ]);
        let run = |arguments: &[&str]| output_of(folder.path(), arguments);
        let lookup = ["lookup", "plain", "--node", "web1", "--puppet-version"];
        let (code, shown, error) = run(&[&lookup[..], &["8"]].concat());
        assert_eq!((code, &*shown), (Some(0), "--- 1\n"), "{error}");
        let (code, shown, error) = run(&[&lookup[..], &["9"]].concat());
        assert_eq!((code, &*shown), (Some(1), ""), "{error}");
        let (code, shown, error) = run(&["upgrade", "--from", "8"]);
        assert_eq!(code, Some(1), "{shown}{error}");
        let cause = "environment_data_provider in environment.conf is ignored (from 9 on)\n  \
                     1 key fails on web1: plain\n";
        assert!(shown.contains(cause), "{shown}");
        let (code, shown, error) = run(&["check"]);
        assert_eq!(code, Some(0), "{shown}{error}");
    }
    let folder = workspace(&[
        ("environment.conf", "environment_data_provider = none\n"),
        ("data/common.yaml", "plain: 1\n"),
    ]);
    let (code, _, error) = output_of(folder.path(), &["lookup", "plain", "--node", "web1"]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("no hierarchy at or below"), "{error}");
}

#[test]
fn a_downgrade_is_refused() {
    let folder = files();
    let (code, shown, error) = output_of(folder.path(), &["upgrade", "--from", "9", "--to", "8"]);
    assert_eq!((code, shown.as_str()), (Some(2), ""));
    let message = "9 to 8 is no upgrade: name the versions with --from and --to";
    assert!(error.contains(message), "{error}");
}

/// A workspace with a manifest, in which one node has another value in a structured fact.
fn files_to_fix() -> tempfile::TempDir {
    let nodes = r#"{
      "web1": {"facts": {"osfamily": "RedHat", "fqdn": "web1.x", "os": {"family": "RedHat"}, "networking": {"fqdn": "web1.x", "mtu": 1500}, "mtu_eth0": 1500, "hostname": "web1"}, "variables": {}},
      "db1": {"facts": {"osfamily": "Debian", "fqdn": "db1.x", "os": {"family": "Debian"}, "networking": {"fqdn": "db1.other", "mtu": 1500}, "mtu_eth0": 1500, "hostname": "db1"}, "variables": {}}
    }"#;
    let site = "if $::osfamily == 'RedHat' { $tier = 'red' } else { $tier = \"not-${facts['osfamily']}\" }\n";
    workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("nodes.json", nodes),
        (
            "data/common.yaml",
            "family: '%{::osfamily}'\nname: '%{fqdn} %{::osfamily}'\ntier: '%{tier}'\nmtu: '%{mtu_eth0}'\n",
        ),
        ("data/os/RedHat.yaml", "release: 9\n"),
        ("manifests/site.pp", site),
        (
            "modules/m/manifests/init.pp",
            "class m { notice(\"$::fqdn $::osfamily $::hostname\") }\n",
        ),
    ])
}

#[test]
fn legacy_facts_are_replaced_where_no_value_changes() {
    let folder = files_to_fix();
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
    let before = read("hiera.yaml");
    let (code, shown, error) = output_of(folder.path(), &["upgrade", "--to", "8", "--diff"]);
    assert_eq!(code, Some(1), "{error}");
    expect![[r#"
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,4 +1,4 @@
        -family: '%{::osfamily}'
        -name: '%{fqdn} %{::osfamily}'
        +family: '%{facts.os.family}'
        +name: '%{fqdn} %{facts.os.family}'
         tier: '%{tier}'
         mtu: '%{mtu_eth0}'
        --- hiera.yaml
        +++ hiera.yaml
        @@ -1,5 +1,5 @@
         version: 5
         hierarchy:
         - {name: Node, path: 'node/%{trusted.certname}.yaml'}
        -- {name: System, path: 'os/%{osfamily}.yaml'}
        +- {name: System, path: 'os/%{facts.os.family}.yaml'}
         - {name: Common, path: common.yaml}
        --- manifests/site.pp
        +++ manifests/site.pp
        @@ -1 +1 @@
        -if $::osfamily == 'RedHat' { $tier = 'red' } else { $tier = "not-${facts['osfamily']}" }
        +if $facts['os']['family'] == 'RedHat' { $tier = 'red' } else { $tier = "not-${facts['os']['family']}" }
        --- modules/m/manifests/init.pp
        +++ modules/m/manifests/init.pp
        @@ -1 +1 @@
        -class m { notice("$::fqdn $::osfamily $::hostname") }
        +class m { notice("$::fqdn ${facts['os']['family']} $::hostname") }
        6 references to legacy facts can be replaced in 4 files: in Puppet 7 no value of 2 nodes differs (5 keys looked up before and after)
        that mends 6 of 10 lookups that fail or change: 3 keys on 2 nodes; 4 lookups are left
        'fqdn' stays in data/common.yaml:2: in Puppet 7 the value of 'name' on db1 would change from "db1.x Debian" to "db1.other Debian"
        'fqdn' stays in modules/m/manifests/init.pp:1: on db1 the structured fact is "db1.other", not "db1.x"
        'hostname' stays in modules/m/manifests/init.pp:1: no file tells whether web1 has facts.networking.hostname
        'mtu_eth0' stays in data/common.yaml:4: no structured fact has its value
    "#]].assert_eq(&format!("{shown}{error}"));
    assert_eq!(read("hiera.yaml"), before);
    let (code, shown, error) = output_of(folder.path(), &["upgrade", "--to", "8", "--fix"]);
    assert_eq!(code, Some(1), "{error}");
    expect![[r#"
        6 references to legacy facts are replaced in 4 files: in Puppet 7 no value of 2 nodes differs (5 keys looked up before and after)
        that mends 6 of 10 lookups that fail or change: 3 keys on 2 nodes; 4 lookups are left
        'fqdn' stays in data/common.yaml:2: in Puppet 7 the value of 'name' on db1 would change from "db1.x Debian" to "db1.other Debian"
        'fqdn' stays in modules/m/manifests/init.pp:1: on db1 the structured fact is "db1.other", not "db1.x"
        'hostname' stays in modules/m/manifests/init.pp:1: no file tells whether web1 has facts.networking.hostname
        'mtu_eth0' stays in data/common.yaml:4: no structured fact has its value

        from Puppet 7 to Puppet 8: 2 keys fail, on 2 of 2 nodes

        agents do not send the legacy fact 'fqdn' (from 8 on)
          1 key fails on 2 nodes: name
          in data/common.yaml:2
          name on web1:
          - "web1.x RedHat"
          + error: Undefined variable 'fqdn'
          fix: use facts.networking.fqdn: 'hiera-ls upgrade --fix' writes it where no value changes

        agents do not send the legacy fact 'mtu_eth0' (from 8 on)
          1 key fails on 2 nodes: mtu
          in data/common.yaml:4
          mtu on web1:
          - "1500"
          + error: Undefined variable 'mtu_eth0'
          fix: use a structured fact instead of 'mtu_eth0'
    "#]].assert_eq(&format!("{shown}{error}"));
    expect![[r#"
        version: 5
        hierarchy:
        - {name: Node, path: 'node/%{trusted.certname}.yaml'}
        - {name: System, path: 'os/%{facts.os.family}.yaml'}
        - {name: Common, path: common.yaml}
        ---
        family: '%{facts.os.family}'
        name: '%{fqdn} %{facts.os.family}'
        tier: '%{tier}'
        mtu: '%{mtu_eth0}'
        ---
        if $facts['os']['family'] == 'RedHat' { $tier = 'red' } else { $tier = "not-${facts['os']['family']}" }
        ---
        class m { notice("$::fqdn ${facts['os']['family']} $::hostname") }
    "#]].assert_eq(
        &[
            "hiera.yaml",
            "data/common.yaml",
            "manifests/site.pp",
            "modules/m/manifests/init.pp",
        ]
        .map(read)
        .join("---\n"),
    );
    // A second time there is nothing to do.
    let (code, shown, _) = output_of(folder.path(), &["upgrade", "--to", "8", "--diff"]);
    assert_eq!((code, shown.as_str()), (Some(0), ""));
}

#[test]
fn programs_get_what_is_replaced_and_what_is_not() {
    let folder = files_to_fix();
    let arguments = ["upgrade", "--fix", "--no-values", "--format", "json"];
    let (code, shown, error) = output_of(folder.path(), &arguments);
    assert_eq!(code, Some(1), "{error}");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let fixes = serde_json::to_string_pretty(&shown["fixes"]).unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let folder = format!("{}/", folder.display());
    expect![[r#"
        {
          "edits": 6,
          "files": [
            "data/common.yaml",
            "hiera.yaml",
            "manifests/site.pp",
            "modules/m/manifests/init.pp"
          ],
          "provedKeys": 5,
          "mendedNodes": [
            "db1",
            "web1"
          ],
          "mendedKeys": [
            "family",
            "release",
            "tier"
          ],
          "refused": [
            {
              "fact": "fqdn",
              "file": "data/common.yaml",
              "line": 2,
              "reason": "in Puppet 7 the value of 'name' on db1 would change"
            },
            {
              "fact": "mtu_eth0",
              "file": "data/common.yaml",
              "line": 4,
              "reason": "no structured fact has its value"
            },
            {
              "fact": "fqdn",
              "file": "modules/m/manifests/init.pp",
              "line": 1,
              "reason": "on db1 the structured fact has another value"
            },
            {
              "fact": "hostname",
              "file": "modules/m/manifests/init.pp",
              "line": 1,
              "reason": "no file tells whether web1 has facts.networking.hostname"
            }
          ]
        }"#]]
    .assert_eq(&fixes.replace(&folder, ""));
}

#[test]
fn nothing_is_replaced_without_a_proof() {
    let folder = workspace(&[
        ("hiera.yaml", HIERARCHY),
        ("data/common.yaml", "family: '%{::osfamily}'\n"),
    ]);
    let (code, shown, error) = output_of(folder.path(), &["upgrade", "--fix"]);
    assert_eq!((code, shown.as_str()), (Some(2), ""));
    assert!(
        error.contains("no nodes are known for which an edit could be proved"),
        "{error}"
    );
    let nodes = r#"[{"certname": "web1", "facts.os.family": "RedHat"}]"#;
    std::fs::write(folder.path().join("nodes.json"), nodes).unwrap();
    let (code, shown, error) = output_of(
        folder.path(),
        &["upgrade", "--fix", "--nodes", "nodes.json"],
    );
    assert_eq!(code, Some(3), "{error}");
    expect![[r#"
        no legacy fact and no call can be replaced
        'osfamily' stays in data/common.yaml:1, hiera.yaml:4: no file tells whether web1 has osfamily

        from Puppet 7 to OpenVox 9 no lookup is known to change for the known node
    "#]].assert_eq(&shown);
    let data = std::fs::read_to_string(folder.path().join("data/common.yaml")).unwrap();
    assert_eq!(data, "family: '%{::osfamily}'\n");
}

#[test]
fn another_hierarchy_of_the_workspace_is_not_edited() {
    let folder = files_to_fix();
    let other = folder.path().join("lab/hiera.yaml");
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    std::fs::write(&other, HIERARCHY).unwrap();
    let (code, _, error) = output_of(folder.path(), &["upgrade", "--to", "8", "--fix"]);
    assert_eq!(code, Some(1), "{error}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), HIERARCHY);
    let own = std::fs::read_to_string(folder.path().join("hiera.yaml")).unwrap();
    assert!(own.contains("%{facts.os.family}"), "{own}");
}

#[test]
fn a_legacy_fact_in_a_site_manifest_costs_the_catalog() {
    let mut files = vec![
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: c, path: common.yaml}\n",
        ),
        ("environment.conf", ""),
        ("nodes.json", NODES),
        ("data/common.yaml", "k: v\n"),
        (
            "manifests/site.pp",
            "if $::osfamily == 'windows' { File { source_permissions => ignore } }\n",
        ),
    ];
    let upgrade = ["upgrade", "--from", "7", "--to", "8"];
    let (code, shown, error) = output_of(workspace(&files).path(), &upgrade);
    assert_eq!((code, error.as_str()), (Some(1), ""));
    expect![[r#"
        from Puppet 7 to Puppet 8: 1 key fails, on 2 of 2 nodes

        manifests: Puppet compiles no catalog: Unknown variable: '::osfamily'. (from 8 on)
          1 key fails on 2 nodes: k
          in data/common.yaml:1
          k on web1:
          - "v"
          + unknown: Puppet compiles no catalog: Unknown variable: '::osfamily'.
    "#]]
    .assert_eq(&shown);
    // A fact of that name that a module adds is sent.
    files.push((
        "modules/m/lib/facter/osfamily.rb",
        "Facter.add(:osfamily) { setcode { 'x' } }\n",
    ));
    let (code, shown, _) = output_of(workspace(&files).path(), &upgrade);
    assert_eq!(code, Some(0), "{shown}");
}
