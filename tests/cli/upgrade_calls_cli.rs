//! `upgrade`: calls in code, new warnings, and what Ruby changes.

use expect_test::expect;

use super::reach_cli::{output_of, workspace};
use super::upgrade_cli::{HIERARCHY, NODES};

const HIERA_CALLS: &str = "\
class m {
  $a = hiera_array('list')
  $b = hiera('plain', 5)
  $c = hiera('merged')
  $d = hiera_hash('hash', {})
  $e = hiera(\"x_${a}\") |$key| { $key }
  $f = hiera('plain', 1, 'level')
  $g = 'plain'.hiera
  $h = hiera($a)
  $i = hiera_include('classes')
}
";

fn files_with_calls() -> tempfile::TempDir {
    workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: OS, path: '%{facts.os.family}.yaml'}\n- {name: Common, path: common.yaml}\n",
        ),
        ("nodes.json", NODES),
        (
            "data/common.yaml",
            "list: ['%{nosuch}']\nhash: {a: 1}\nclasses: [m]\nplain: 1\nmerged: [x]\n\
             lookup_options: {merged: {merge: unique}}\n",
        ),
        ("data/RedHat.yaml", "list: [a]\nmerged: [y]\n"),
        ("manifests/site.pp", "hiera_include('classes')\n"),
        ("modules/m/manifests/init.pp", HIERA_CALLS),
        (
            "modules/m/templates/a.erb",
            "<%= scope.call_function('hiera', ['plain']) %>\n",
        ),
        (
            "modules/m/templates/a.epp",
            "<%= hiera_array('list', []) %>\n",
        ),
    ])
}

#[test]
fn calls_of_functions_of_hiera_3_are_advice_and_are_looked_up_with_their_merge() {
    let folder = files_with_calls();
    let (code, shown, error) = output_of(folder.path(), &["upgrade", "--to", "8"]);
    assert_eq!((code, error.as_str()), (Some(1), ""));
    expect![[r#"
        from Puppet 7 to Puppet 8: 2 keys fail, on 2 of 2 nodes

        the variable 'nosuch' does not exist, which is an error (from 8 on)
          2 keys fail on 2 nodes: list, list with merge unique
          in data/RedHat.yaml:1, data/common.yaml:1, modules/m/manifests/init.pp:2, modules/m/templates/a.epp:1
          list on db1:
          - [""]
          + error: Undefined variable 'nosuch'
          fix: set the variable for these nodes, or leave the token out

        hiera() is deprecated: all versions return the same, and warn
          3 keys are looked up on 2 nodes: (a computed key), merged, plain
          in modules/m/manifests/init.pp:3, modules/m/manifests/init.pp:4, modules/m/manifests/init.pp:6, modules/m/manifests/init.pp:7, modules/m/manifests/init.pp:8 and 2 more
          fix: use lookup('key'), with {'merge' => 'first'} if lookup_options merge the key: 'hiera-ls upgrade --fix' writes it where it is the same

        hiera_array() is deprecated: all versions return the same, and warn
          1 key is looked up on 2 nodes: list
          in modules/m/manifests/init.pp:2, modules/m/templates/a.epp:1
          fix: use lookup('key', {'merge' => 'unique'}): 'hiera-ls upgrade --fix' writes it where it is the same

        hiera_hash() is deprecated: all versions return the same, and warn
          1 key is looked up on 2 nodes: hash
          in modules/m/manifests/init.pp:5
          fix: use lookup('key', {'merge' => 'hash'}): 'hiera-ls upgrade --fix' writes it where it is the same

        hiera_include() is deprecated: all versions return the same, and warn
          1 key is looked up on 2 nodes: classes
          in manifests/site.pp:1, modules/m/manifests/init.pp:10
          fix: use include(lookup('key', {'merge' => 'unique'})): 'hiera-ls upgrade --fix' writes it where it is the same
    "#]].assert_eq(&shown);
    let (code, shown, _) = output_of(
        folder.path(),
        &["upgrade", "--from", "8", "--format", "json"],
    );
    assert_eq!(code, Some(0), "{shown}");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["causes"].as_array().unwrap().len(), 4);
    assert_eq!(shown["causes"][0]["changes"][0]["effect"], "deprecated");
}

#[test]
fn calls_of_functions_of_hiera_3_are_replaced_where_the_result_is_the_same() {
    let folder = files_with_calls();
    let (_, shown, _) = output_of(folder.path(), &["upgrade", "--to", "8", "--fix"]);
    let (lines, _) = shown.split_once("\n\n").unwrap();
    expect![[r#"
        7 calls of functions of Hiera 3 are replaced in 3 files: in Puppet 7 no value of 2 nodes differs
        hiera() stays in modules/m/templates/a.erb:1: it is called from Ruby: use scope.call_function('lookup', …)
        hiera() stays in modules/m/manifests/init.pp:8: it is written as a method, or its arguments cannot be read
        hiera() stays in modules/m/manifests/init.pp:9: its key is computed
        hiera() stays in modules/m/manifests/init.pp:7: lookup has no argument for a level
        hiera_include() stays in modules/m/manifests/init.pp:10: its result may be used, and include() has another one"#]].assert_eq(lines);
    let read = |at: &str| std::fs::read_to_string(folder.path().join(at)).unwrap();
    expect![[r#"
        include(lookup('classes', {'merge' => 'unique'}))
        class m {
          $a = lookup('list', {'merge' => 'unique'})
          $b = lookup('plain', {'default_value' => 5})
          $c = lookup('merged', {'merge' => 'first'})
          $d = lookup('hash', {'merge' => 'hash', 'default_value' => {}})
          $e = lookup("x_${a}", {'merge' => 'first'}) |$key| { $key }
          $f = hiera('plain', 1, 'level')
          $g = 'plain'.hiera
          $h = hiera($a)
          $i = hiera_include('classes')
        }
        <%= lookup('list', {'merge' => 'unique', 'default_value' => []}) %>
    "#]]
    .assert_eq(
        &(read("manifests/site.pp")
            + &read("modules/m/manifests/init.pp")
            + &read("modules/m/templates/a.epp")),
    );
    // Without a hierarchy the functions ask the global layer only.
    let folder = files_with_calls();
    std::fs::write(folder.path().join("hiera.yaml"), "version: 3\n").unwrap();
    let (_, shown, _) = output_of(folder.path(), &["upgrade", "--to", "8", "--diff"]);
    assert_eq!(shown, "");
}

#[test]
fn a_backslash_in_json_is_an_error_in_9() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: c, data_hash: json_data, path: c.json}]\n",
        ),
        ("nodes.json", NODES),
        (
            "data/c.json",
            "{\n  \"pattern\": \"^\\d+\",\n  \"path\": \"\\/usr\"\n}\n",
        ),
    ]);
    let (code, shown, _) = output_of(folder.path(), &["upgrade"]);
    assert_eq!(code, Some(1));
    let shown = shown.replace(
        &*folder.path().canonicalize().unwrap().to_string_lossy(),
        "",
    );
    expect![[r#"
        from Puppet 7 to OpenVox 9: 2 keys fail, on 2 of 2 nodes

        JSON is refused if a backslash is before another character than JSON knows (from 9 on)
          2 keys fail on 2 nodes: path, pattern
          in data/c.json:2
          path on web1:
          - "/usr"
          + error: Unable to parse (/data/c.json): invalid escape character in string: '\d+",' a…
          fix: write the backslash twice, or leave it out: it is left out today
    "#]]
    .assert_eq(&shown);
}

#[test]
fn new_warnings_are_changes_too() {
    let folder = workspace(&[
        (
            ".hiera-ls.yaml",
            "strict: warning\nstrictVariables: false\n",
        ),
        ("hiera.yaml", HIERARCHY),
        ("nodes.json", NODES),
        (
            "data/common.yaml",
            "plain: 1\ncold: 2\nempty: 'a%{nothing}'\n",
        ),
        ("data/os/RedHat.yaml", "plain: 2\n"),
    ]);
    let (code, shown, _) = output_of(folder.path(), &["upgrade", "--to", "8"]);
    assert_eq!(code, Some(1));
    expect![[r#"
        from Puppet 7 to Puppet 8: 1 key changes, 3 keys bring a warning, on 2 of 2 nodes

        agents do not send the legacy fact 'osfamily' (from 8 on)
          1 key changes on web1: plain
          3 keys bring a warning on 2 nodes: cold, empty, plain
          in hiera.yaml:4
          plain on web1:
          - 2
          + 1
          fix: use facts.os.family: 'hiera-ls upgrade --fix' writes it where no value changes
    "#]]
    .assert_eq(&shown);
}

#[test]
fn calls_within_calls_and_legacy_facts_in_them_are_fixed_together() {
    let node = r#"{"a.example.com": {"facts": {"hostname": "a", "os": {"family": "Debian"}, "networking": {"hostname": "a"}}, "variables": {}}}"#;
    let class = "class m {\n  $a = hiera('k', $::hostname)\n  $b = hiera('k', hiera('j'))\n  $c = hiera_array('l', [$::hostname])\n}\n";
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n",
        ),
        ("nodes.json", node),
        ("data/common.yaml", "k: 1\nj: 2\nl: [3]\n"),
        ("manifests/site.pp", "include m\n"),
        ("modules/m/manifests/init.pp", class),
    ]);
    let (_, shown, error) = output_of(folder.path(), &["upgrade", "--to", "8", "--fix"]);
    assert!(!error.contains("cannot be changed"), "{shown}{error}");
    let fixed = std::fs::read_to_string(folder.path().join("modules/m/manifests/init.pp"));
    assert_eq!(
        fixed.unwrap(),
        "class m {\n  $a = lookup('k', {'default_value' => $facts['networking']['hostname']})\n  \
         $b = lookup('k', {'default_value' => lookup('j')})\n  \
         $c = lookup('l', {'merge' => 'unique', 'default_value' => [$facts['networking']['hostname']]})\n}\n",
        "{shown}{error}"
    );
}
