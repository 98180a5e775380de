//! Tests of what site manifests set, by the answers that follow from it.

use super::*;
use crate::analysis::environment_in;
use crate::fixture::Fixture;
use crate::lookup::{CODEDIR, PuppetVersion, Request};
use crate::scope::{DEFAULT_ENVIRONMENT, read_nodes};
use crate::value::from_json;
use crate::workspace::{Change, Workspace};

/// The value of `k` for the node `n`.
fn k(conf: &str, manifests: &str) -> String {
    k_of("common", conf, manifests)
}

/// The same with a value for nodes without a role.
fn k_of(common: &str, conf: &str, manifests: &str) -> String {
    let text = format!(
        "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: r, path: 'role/%{{role}}.yaml'}}, {{name: c, path: common.yaml}}]\n\
         #- data/common.yaml\nk: {common}\n#- data/role/web.yaml\nk: web\n#- data/role/db.yaml\nk: db\n\
         #- environment.conf\n{conf}\n{manifests}"
    );
    let snapshot = Fixture::new("hiera.yaml", &text).on_disk();
    let root = snapshot.roots().environments().next().unwrap();
    let settings = Settings::for_version(PuppetVersion::V8);
    let json = from_json(r#"{"n": {"facts": {}, "variables": {}}}"#).unwrap();
    let nodes = KnownNodes::new(&read_nodes(&json, "nodes", &HashMap::default()).unwrap());
    let nodes = with_manifest_variables(&nodes, &snapshot, root, &settings).unwrap_or(nodes);
    let configs = ConfigCache::default();
    let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
    let view = analysis.at(root);
    let shown = |session: Session<'_>, scope: &Scope| {
        let answer = session.lookup(scope, &Request::key("k"));
        if answer.is_certain() {
            answer
                .result
                .map_or("fails".to_owned(), |value| value.to_s())
        } else {
            "unknown".to_owned()
        }
    };
    let found = shown(view.session(), &nodes.scope(0));
    // A batch request gets the same from the folder.
    let environment = environment_in(&*snapshot, root.dir.clone(), CODEDIR, DEFAULT_ENVIRONMENT);
    let session = analysis.session_over(&*snapshot, &environment);
    let scope = Node::new("n", &HashMap::default()).scope(DEFAULT_ENVIRONMENT);
    let assigned = assigned_over(session, &scope, "n", Extent::NodeBlocks);
    let scope = scope.with_assigned(Arc::new(assigned));
    assert_eq!(shown(session, &scope), found, "{conf}");
    found
}

#[test]
fn variables_of_a_broken_manifest_are_unknown() {
    assert_eq!(k("", "#- manifests/site.pp\n$role = 'db'\n"), "db");
    for broken in ["$role = 'db", "$role = \"db${", "/* x", "$role = 'db'\n}"] {
        assert_eq!(
            k("", &format!("#- manifests/site.pp\n{broken}\n")),
            "unknown",
            "{broken}"
        );
    }
}

#[test]
fn evaluation_stops_at_a_return_or_failure_with_an_unknown_value() {
    let role = |text: &str| {
        let function = "function environment::f($x) {\n  $list = sprintf('%s', ['a', 'b'])\n";
        let set = "$role = environment::f('n0')";
        k(
            "",
            &format!(
                "#- functions/environment/f.pp\n{function}  {text}\n}}\n#- manifests/site.pp\n{set}\n"
            ),
        )
    };
    assert_eq!(role("'db'"), "db");
    assert_eq!(role("if $x == 'n0' { return($list) }\n  'db'"), "unknown");
    assert_eq!(role("if $x == 'n1' { return($list) }\n  'db'"), "db");
    assert_eq!(role("return(\"${list}\")\n  'db'"), "unknown");
    assert_eq!(role("if $x == 'n0' { fail($list) }\n  'db'"), "unknown");
    let next = "$all = ['a'].map |$y| { if true { next($list) }\n 'db' }\n  $all[0]";
    assert_eq!(role(next), "unknown");
    assert_eq!(role("notice($list)\n  'db'"), "db");
    let each = |text: &str| format!("file($x).split(' ').each |$y| {{ {text} }}\n  'db'");
    assert_eq!(role(&each("return($y)")), "unknown");
    assert_eq!(role(&each("next($y)")), "db");
}

#[test]
fn a_node_without_a_catalog_has_no_values() {
    let site = |text: &str| k("", &format!("#- manifests/site.pp\n{text}\n"));
    for failing in [
        "fail('no')",
        "if $trusted['certname'] == 'n' { fail('no') }",
        "node default { fail('no') }",
        "node 'n' { }\nnode 'N' { }",
        "node 'other' { }",
        "$h = 1\n$h = 2",
        "$x = lookup('k', Integer)",
        "$x = lookup('nothing')",
        "$x = 'a' + 1",
        "$x = '10' + 1",
        "$x = -'10'",
        "$x = '0x1F' + 1",
        "$x = [1, 2]['1']",
        "notice('a' ? { 'b' => 1 })",
        "include base\n$x = Integer('x')",
    ] {
        assert_eq!(site(failing), "unknown", "{failing}");
    }
    for fine in [
        "node default { }",
        "node 'n' { }\nnode 'other' { fail('no') }",
        "unless $trusted['certname'] == 'n' { fail('no') }",
        "$x = lookup('k', String)",
        "$x = 'text'['1']",
        "include base",
        // A fact that is not known may exist.
        "$x = $facts['nope']['x']",
        "unless $facts['site'] { fail('no site') }",
        "$x = $nope",
    ] {
        assert_eq!(site(fine), "common", "{fine}");
    }
}

#[test]
fn variables_of_classes_are_those_of_the_classes_that_manifests_declare() {
    let of = |site: &str| {
        k_of(
            "\"<%{base::env}>\"",
            "",
            &format!(
                "#- manifests/site.pp\n{site}\n\
                 #- modules/base/manifests/init.pp\nclass base($env = 'prod') {{ }}\n"
            ),
        )
    };
    for (declaring, expected) in [
        ("include base", "<prod>"),
        ("node default { include base }", "<prod>"),
        ("contain base", "<prod>"),
        ("require base", "<prod>"),
        ("class { 'base': env => 'test' }", "<test>"),
        ("create_resources('class', {base => {}})", "<prod>"),
        (
            "lookup('classes', {default_value => ['base']}).each |$it| { include $it }",
            "<prod>",
        ),
        ("lookup('classes', {default_value => []}).include", "fails"),
        ("$x = 1\nnotify { 'x': }", "fails"),
        // Puppet fails, as no level has such a list.
        ("hiera_include('classes')", "unknown"),
        ("node default { profile::web { 'x': } }", "unknown"),
        ("ruby_function('base')", "unknown"),
        ("if ruby_function() { include base }", "unknown"),
    ] {
        assert_eq!(of(declaring), expected, "{declaring}");
    }
}

#[test]
fn a_mistake_in_a_class_hides_only_what_depends_on_it() {
    let snapshot = |site: &str| {
        let text = format!(
            "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: r, path: 'role/%{{role}}.yaml'}}, {{name: c, path: common.yaml}}]\n\
             #- data/common.yaml\nk: common\nweb::port: x\nmissing::a: 1\nt: \"%{{web::env}}\"\nf: \"%{{fine::env}}\"\n\
             #- data/role/db.yaml\nk: db\n\
             #- manifests/site.pp\n$role = 'db'\n{site}\n\
             #- modules/web/manifests/init.pp\nclass web(Integer $port) {{\n  $env = 'a'\n}}\n\
             #- modules/web/manifests/typed.pp\ndefine web::typed(Integer $port) {{ }}\n\
             #- modules/fine/manifests/init.pp\nclass fine {{\n  $env = 'b'\n}}\n"
        );
        Fixture::new("hiera.yaml", &text).on_disk()
    };
    let value = |snapshot: &Snapshot, key: &str| {
        let root = snapshot.roots().environments().next().unwrap();
        let settings = Settings::for_version(PuppetVersion::V8);
        let json = from_json(r#"{"n": {"facts": {}, "variables": {}}}"#).unwrap();
        let nodes = KnownNodes::new(&read_nodes(&json, "nodes", &HashMap::default()).unwrap());
        let nodes = with_manifest_variables(&nodes, snapshot, root, &settings).unwrap();
        let configs = ConfigCache::default();
        let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
        let view = analysis.at(root);
        let answer = view.session().lookup(&nodes.scope(0), &Request::key(key));
        if answer.is_certain() {
            answer.result.map_or("fails".to_owned(), |it| it.to_s())
        } else {
            "unknown".to_owned()
        }
    };
    for failing in [
        "include web",
        "class { 'web': }",
        "include nowhere::at_all",
        "web::typed { 'x': port => 'y' }",
        "node 'n' { include web }",
    ] {
        let snapshot = snapshot(&format!("include fine\n{failing}"));
        assert_eq!(value(&snapshot, "k"), "db", "{failing}");
        assert_eq!(value(&snapshot, "f"), "b", "{failing}");
        assert_eq!(value(&snapshot, "t"), "unknown", "{failing}");
    }
    let snapshot = snapshot("include web\nfail('no')");
    assert_eq!(value(&snapshot, "k"), "unknown");
}

#[test]
fn variables_of_manifests_elsewhere_are_unknown() {
    let here = "#- manifests/site.pp\n$role = 'db'\n";
    assert_eq!(k("manifest = manifests", here), "db");
    let deployed = "/etc/puppetlabs/code/environments/production/manifests";
    for named in [
        deployed,
        "$codedir/environments/production/manifests",
        "$environmentpath/production/manifests/site.pp",
    ] {
        assert_eq!(k(&format!("manifest = {named}"), here), "db", "{named}");
    }
    for named in ["init.pp", "other", "/srv/site.pp", "$codedir/site.pp"] {
        assert_eq!(
            k(&format!("manifest = {named}"), here),
            "unknown",
            "{named}"
        );
    }
    assert_eq!(k("", ""), "common");
}

#[test]
fn manifests_are_run_again_if_a_function_of_a_module_appears() {
    for (site, is_kept) in [
        ("$role = pick('a', 'b')\n", false),
        ("$role = sha256('a')\n", true),
    ] {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![Arc::from("/w")]));
        let config = "version: 5\nhierarchy: [{name: a, path: c.yaml}]\n";
        let files = [("hiera.yaml", config), ("manifests/site.pp", site)];
        let files = files.map(|(at, text)| Change::file(format!("/w/{at}"), text));
        let before = workspace.apply(Change::Batch(files.into()));
        let settings = Settings::for_version(PuppetVersion::V8);
        let root = |snapshot: &Snapshot| snapshot.roots().environments().next().unwrap().clone();
        let manifests = SiteManifests::of(&before, &root(&before), &settings);
        let function = "/w/modules/m/lib/puppet/functions/pick.rb";
        let after = workspace.apply(Change::file(function, ""));
        let of = (&root(&after), &KnownNodes::default());
        let holds = manifests.holds_in(&after, of, &settings);
        assert_eq!(holds, is_kept, "{site}");
    }
}

/// Nodes of all kinds: names that patterns match, variables of classifiers, no facts, a label.
const MANY: &str = r#"{
    "web1": {"facts": {"site": "lon", "os": {"family": "Debian"}, "order": {"a": 1, "b": 2}, "  padded ": 1}, "variables": {}},
    "web2": {"facts": {"site": "lon", "os": {"family": "Debian"}, "order": {"b": 2, "a": 1}, "  padded ": 2}, "variables": {"same": "same"}},
    "web3": {"facts": {"site": "par", "os": {"family": "Debian"}}, "variables": {"role": "db"}},
    "db1": {"facts": {"site": "par", "same": "same", "os": {"family": "RedHat"}}, "variables": {"role": "web"}},
    "db2": {"facts": {"site": "par", "os": {"family": "RedHat"}}},
    "db3": {"facts": {"site": "lon"}}
}"#;

#[test]
fn nodes_that_share_what_manifests_do_get_what_each_gets_alone() {
    let mut runs = BTreeSet::new();
    for site in [
        "lookup('classes', Array, 'unique').include",
        "$role = $facts['site'] ? { 'lon' => 'web', default => 'db' }\n$x = lookup('k')",
        "$x = lookup('of_role')",
        "$x = lookup('of_os')",
        "['web', 'db'].each |$role| { $y = lookup('k') }\n$x = lookup('k')",
        "node /^(\\w+)(\\d)$/ { $x = $2 }\nnode default { $x = 'none' }",
        "node /^(\\w+)(\\d)$/ { $x = \"${1}\" }",
        "node 'web1' { $x = 1 }\nnode 'db1', /^web/ { $x = 2 }",
        "$role = 'own'\n$x = $role",
        "$role = 'db'\n$x = lookup('k')",
        "$sites = ['lon']\n$x = lookup('mapped')",
        "$dd = 'dd'\n$x = lookup('of_folder')",
        "$x = $facts['order'].keys[0]",
        "$x = $facts['  padded ']",
        "$same = 'same'\n$x = lookup('k')",
        "include nowhere::at_all",
        "include shown",
        "if $facts['os'] { $x = $facts['os']['family'] } else { fail(\"no os on ${trusted['certname']}\") }",
        "$x = $osfamily",
        "$x = $facts.dig('os', 'family')",
    ] {
        let text = format!(
            "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: n, path: 'n/%{{trusted.certname}}.yaml'}}, \
             {{name: r, path: '%{{role}}/%{{facts.site}}.yaml'}}, \
             {{name: m, mapped_paths: [sites, s, 'm/%{{facts.os.family}}/%{{s}}.yaml']}}, \
             {{name: d, datadir: '%{{dd}}', path: '%{{facts.os.family}}.yaml'}}, {{name: c, path: common.yaml}}]\n\
             #- data/m/Debian/lon.yaml\nmapped: of Debian\n#- dd/Debian.yaml\nof_folder: of Debian\n\
             #- data/common.yaml\nk: common\nmapped: common\nof_folder: common\nclasses: [shown]\nof_role: \"%{{role}}\"\nof_os: \"%{{facts.os.family}}\"\n\
             used: \"%{{shown::at}}\"\n\
             #- data/n/web2.yaml\nk: own\nclasses: [other]\n#- data/web/lon.yaml\nk: web of lon\n#- data/db/par.yaml\nk: db of par\n\
             #- modules/shown/manifests/init.pp\nclass shown {{ $at = lookup('k') }}\n\
             #- manifests/site.pp\n{site}\n"
        );
        let snapshot = Fixture::new("hiera.yaml", &text).on_disk();
        let root = snapshot.roots().environments().next().unwrap();
        for version in [PuppetVersion::V7, PuppetVersion::V8] {
            let settings = Settings::for_version(version);
            let json = from_json(MANY).unwrap();
            let nodes = KnownNodes::new(&read_nodes(&json, "nodes", &HashMap::default()).unwrap());
            let with = |nodes: &KnownNodes| {
                with_manifest_variables(nodes, &snapshot, root, &settings).unwrap()
            };
            let together = with(&nodes);
            let mut different = BTreeSet::new();
            for member in 0..nodes.len() {
                let shared = together.assigned(member).unwrap();
                let alone = with(&nodes.only(member)).assigned(0).unwrap();
                assert_eq!(*shared, *alone, "{site}: {}", nodes.certname(member));
                different.insert(Arc::as_ptr(&shared));
            }
            runs.insert(different.len());
        }
    }
    assert!(
        runs.first() < Some(&6) && runs.last() == Some(&6),
        "{runs:?}"
    );
}

#[test]
fn a_lookup_may_have_an_alias_of_a_type() {
    let found = k(
        "",
        "#- manifests/site.pp\n$role = lookup('of_type', M::T)\n\
         #- modules/m/types/t.pp\ntype M::T = Enum['db', 'a = b']\n\
         #- data/role/db.yaml\nk: db\n",
    );
    assert_eq!(
        found, "unknown",
        "Puppet finds no such key and compiles no catalog"
    );
    let found = k(
        "",
        "#- manifests/site.pp\n$role = lookup('k', M::T)\n\
         #- modules/m/types/t.pp\ntype M::T = Enum['common', 'a = b']\n\
         #- data/role/common.yaml\nk: typed\n",
    );
    assert_eq!(found, "typed");
}
