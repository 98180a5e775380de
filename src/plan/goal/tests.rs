//! Goals in small workspaces.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{Goal, Outcome, WhyNot, diff, nodes_of, proposals, value_of, why_not};
use crate::analysis::{Analysis, RootView};
use crate::edit::Plan;
use crate::fixture::{FOLDER, Fixture};
use crate::ide::cell::outcome_text;
use crate::ide::fixture_tests::{analysed, check_cases, nodes, with_hierarchy};
use crate::ide::random_workspace::{FILES, KEYS, file, values, workspace};
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::plan::proof::after;
use crate::scope::KnownNodes;
use crate::text::TextEdit;

/// Four nodes: two roles in two sites.
const NODES: &str = "\
#- nodes.yaml
web1: {facts: {role: web, site: ams}}
web2: {facts: {role: web, site: lon}}
db1: {facts: {role: db, site: ams}}
db2: {facts: {role: db, site: lon}}
";

pub(super) fn at_root<T>(text: &str, body: impl FnOnce(&RootView<'_>) -> T) -> T {
    let text = format!("{NODES}{text}");
    let text = if text.contains("#- hiera.yaml") {
        text
    } else {
        with_hierarchy(&text)
    };
    let fixture = Fixture::new("data/common.yaml", &text);
    let at = format!("{FOLDER}/data/common.yaml");
    analysed(&fixture.on_disk(), &at, |analysis, _| {
        assert_eq!(analysis.nodes.len(), 4);
        body(&analysis.governing(&at).expect("a root"))
    })
}

/// Checks proposals: titles with proofs, and the diff of the first. Each case is written as
/// `key = value for nodes only ← workspace`.
pub(super) fn check_proposals(cases: Expect) {
    check_cases(cases, |case| {
        let (goal, text) = case.split_once(" ← ").expect("a workspace");
        let only = goal.ends_with(" only");
        let goal = goal.trim_end_matches(" only");
        let (goal, nodes) = goal.split_once(" for ").unwrap_or((goal, ""));
        let (key, value) = goal.split_once(" = ").expect("a value");
        at_root(text, |view| {
            let conditions: Vec<String> = nodes.split_whitespace().map(str::to_owned).collect();
            let which = nodes_of(&conditions).expect("nodes");
            let wanted = (Arc::from(key), value_of(value).expect("a value"));
            let goal = Goal::of(view.analysis.nodes, wanted, &which, only).expect("known nodes");
            match proposals(view, &goal, &|_| {}).expect("an outcome") {
                Outcome::Already => "already".to_owned(),
                Outcome::Nothing(reasons) => format!("nothing:\n{}", reasons.join("\n")),
                Outcome::Proposals(all) => {
                    let titles = all
                        .iter()
                        .map(|one| format!("{}: {}\n", one.title, one.words()));
                    let snapshot = view.analysis.snapshot;
                    let name = |at: &str| snapshot.short_name(at).to_owned();
                    let first = diff(&all[0].plan, snapshot, &name).expect("a diff");
                    titles.collect::<String>() + first.trim_end_matches('\n')
                }
            }
        })
    });
}

#[test]
fn a_cancelled_search_tries_no_edit() {
    at_root("#- data/common.yaml\nport: 80\n", |view| {
        let analysis = Analysis {
            is_cancelled: &|| true,
            ..view.analysis
        };
        let wanted = (Arc::from("port"), value_of("81").expect("a value"));
        let which = nodes_of(&[]).expect("nodes");
        let goal = Goal::of(analysis.nodes, wanted, &which, false).expect("known nodes");
        let outcome = proposals(&analysis.at(view.root), &goal, &|step| panic!("{step:?}"));
        assert!(outcome.is_err());
    });
}

#[test]
fn only_manifests_that_look_up_an_edited_key_are_run_again() {
    let has_same_nodes = |site: &str| {
        let text = format!("#- data/common.yaml\nport: 80\n#- manifests/site.pp\n{site}\n");
        at_root(&text, |view| {
            let nodes = view.analysis.nodes;
            assert!(nodes.has_manifests());
            let mut plan = Plan::default();
            let at = Arc::from(format!("{FOLDER}/data/common.yaml"));
            plan.add(&at, TextEdit::insert(0, "a: 1\n"));
            let has_same = |later: &RootView<'_>| later.analysis.nodes.id() == nodes.id();
            after(view, &plan, has_same).expect("a plan that fits")
        })
    };
    assert!(has_same_nodes("$zone = $facts['site']"));
    assert!(has_same_nodes(
        "$zone = lookup('zone', String, 'first', 'x')"
    ));
    assert!(!has_same_nodes("$zone = lookup('a', String, 'first', 'x')"));
}

#[test]
fn values_are_set_where_it_changes_no_other_node() {
    check_proposals(expect![[r#"
        ## the level of the nodes is edited
        $ port = 8080 for role=web only ← #- data/common.yaml\n# Ports.\nport: 80\n#- data/role/web.yaml\n---\nname: 'x'  # why\n
        Set 'port' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'port' in data/common.yaml, and keep the value of other nodes in data/role/db.yaml: changes 2 nodes and no other, because 2 others read data/common.yaml and data/role/db.yaml too, and keep their values
        Set 'port' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1,2 +1,3 @@
         ---
         name: 'x'  # why
        +port: 8080
        ## nodes that have it need no edit
        $ port = 80 for role=web only ← #- data/common.yaml\nport: 80\n
        already
        ## what overrides is changed or removed
        $ port = 80 for role=web only ← #- data/common.yaml\nport: 80\n#- data/role/web.yaml\nport: 81\n#- data/node/web1.yaml\nport: 82\n
        Set 'port' in data/role/web.yaml and remove it from data/node/web1.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/role/web.yaml
        Set 'port' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/node/web1.yaml
        +++ data/node/web1.yaml
        @@ -1 +1 @@
        -port: 82
        +{}
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1 +1 @@
        -port: 81
        +port: 80
        ## other nodes keep what they have
        $ port = 443 for site=ams only ← #- data/common.yaml\nport: 80\n#- data/role/web.yaml\nport: 81\n
        Set 'port' in data/node/db1.yaml and data/node/web1.yaml: changes 2 nodes and no other, because only they read data/node/db1.yaml and data/node/web1.yaml
        Set 'port' in data/role/db.yaml and data/role/web.yaml, and keep the value of other nodes in data/node/db2.yaml and data/node/web2.yaml: changes 2 nodes and no other, because 2 others read these 4 files too, and keep their values
        --- /dev/null
        +++ data/node/db1.yaml
        @@ -0,0 +1,2 @@
        +---
        +port: 443
        --- /dev/null
        +++ data/node/web1.yaml
        @@ -0,0 +1,2 @@
        +---
        +port: 443
        ## what looks the key up is told
        $ port = 81 ← #- data/common.yaml\nport: 80\nurl: "http://x:%{lookup('port')}"\n
        Change 'port' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml; what looks it up changes too: url
        Set 'port' in data/site/ams.yaml and data/site/lon.yaml: changes 4 nodes and no other, because only they read data/site/ams.yaml and data/site/lon.yaml; what looks it up changes too: url
        Set 'port' in data/role/db.yaml and data/role/web.yaml: changes 4 nodes and no other, because only they read data/role/db.yaml and data/role/web.yaml; what looks it up changes too: url
        --- data/common.yaml
        +++ data/common.yaml
        @@ -1,2 +1,2 @@
        -port: 80
        +port: 81
         url: "http://x:%{lookup('port')}"
        ## reasons are given where there is no edit
        $ port = 81 for role=web only ← #- data/common.yaml\nport: 80\n#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: All, path: common.yaml}\n
        nothing:
        Change 'port' in data/common.yaml: db1 and 1 more would get another value too
        Remove 'port' from data/common.yaml: web1 would still get (not set)
        ## null is a value of its own
        $ port = null for role=web only ← #- data/common.yaml\nport: 80\n#- data/role/web.yaml\nport: 81  # Why.\n
        Change 'port' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'port' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1 +1 @@
        -port: 81  # Why.
        +port: null  # Why.
        $ port = ~ for role=web only ← #- data/common.yaml\nport: ~\n
        already
    "#]]);
}

#[test]
fn merged_values_and_other_hierarchies() {
    check_proposals(expect![[r#"
        ## merged lists get what is missing or are merged no longer
        $ pkgs = [c, d, a, b] for role=web only ← #- data/common.yaml\npkgs: [a, b]\nlookup_options:\n  pkgs: {merge: unique}\n#- data/role/web.yaml\npkgs:\n  - c\n
        Set 'pkgs' in data/role/web.yaml: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'pkgs' in data/node/web1.yaml and data/node/web2.yaml: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1,2 +1,3 @@
         pkgs:
           - c
        +  - d
        $ pkgs = [d] for role=web only ← #- data/common.yaml\npkgs: [a, b]\nlookup_options:\n  pkgs: {merge: unique}\n#- data/role/web.yaml\npkgs:\n  - c\n
        Set 'pkgs' in data/role/web.yaml and no longer merge it: changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'pkgs' in data/role/web.yaml with knock-outs, merged by 'deep' with the knockout_prefix '--': changes 2 nodes and no other, because only they read data/role/web.yaml
        Set 'pkgs' in data/node/web1.yaml and data/node/web2.yaml and no longer merge it: changes 2 nodes and no other, because only they read data/node/web1.yaml and data/node/web2.yaml
        --- data/role/web.yaml
        +++ data/role/web.yaml
        @@ -1,2 +1,5 @@
         pkgs:
        -  - c
        +  - d
        +lookup_options:
        +  pkgs:
        +    merge: first
        ## of the files of a glob the one with the keys of the class is edited
        $ profile::ntp::enabled = true ← #- hiera.yaml\nversion: 5\nhierarchy:\n- {name: m, glob: "m/*.yaml"}\n- {name: c, path: common.yaml}\n#- data/m/apache.yaml\napache::port: 80\n#- data/m/profile.yaml\nprofile::ntp::servers: [a]\nprofile::web::port: 80\n#- data/m/zabbix.yaml\nprofile::x: 1\n#- data/common.yaml\na$0: 1\n
        Set 'profile::ntp::enabled' in data/m/profile.yaml: changes 4 nodes and no other, because only they read data/m/profile.yaml
        Set 'profile::ntp::enabled' in data/common.yaml: changes 4 nodes and no other, because only they read data/common.yaml
        --- data/m/profile.yaml
        +++ data/m/profile.yaml
        @@ -1,2 +1,3 @@
        +profile::ntp::enabled: true
         profile::ntp::servers: [a]
         profile::web::port: 80
        ## files of the same folder name are told apart
        $ port = 81 for web1 ← #- hiera.yaml\nversion: 5\nhierarchy:\n- {name: s, path: "site/%{facts.site}/role/%{facts.role}.yaml"}\n- {name: r, path: "role/%{facts.role}.yaml"}\n#- data/role/web.yaml\nport: 80\n#- data/site/ams/role/web.yaml\na$0: 1\n
        Set 'port' in data/site/ams/role/web.yaml: changes 1 node and no other, because no other reads data/site/ams/role/web.yaml
        Change 'port' in data/role/web.yaml: changes 1 node and also web2, because only they read data/role/web.yaml
        --- data/site/ams/role/web.yaml
        +++ data/site/ams/role/web.yaml
        @@ -1 +1,2 @@
         a: 1
        +port: 81
    "#]]);
}

#[test]
fn tokens_and_dotted_keys_are_refused() {
    assert_eq!(
        value_of(" # nothing").expect_err("no value"),
        "the value is missing: write null, or '\"\"' for an empty text"
    );
    assert!(value_of("x%{facts.role}").is_err());
    assert!(nodes_of(&["web1".into(), "role=web".into()]).is_err());
}

/// Why the first node does not get a value.
pub(super) fn why(text: &str, key: &str, value: &str) -> WhyNot {
    let wanted = value_of(value).expect("a value");
    at_root(text, |view| why_not(view, key, &wanted, 0)).expect("an answer")
}

/// The effects of levels, each with whether it prevents the value.
pub(super) fn effects(why: &WhyNot) -> Vec<(&str, bool)> {
    let levels = why.levels.iter();
    levels
        .map(|level| (&*level.what, level.is_in_the_way))
        .collect()
}

#[test]
fn the_levels_in_the_way_are_named() {
    let text = "#- data/common.yaml\nport: 80\n#- data/role/web.yaml\nport: 81\n";
    let why = why(text, "port", "80");
    let levels = why.levels.iter();
    let levels = levels.map(|level| format!("\n{} {}", level.level, level.what));
    let levels: String = levels.collect();
    expect![[r#"
        false 81
        Role sets it to 81, which is used
        Common sets it to this, overridden by a higher level"#]]
    .assert_eq(&format!(
        "{} {}{levels}",
        why.has_it,
        outcome_text(&why.gets)
    ));
}

#[test]
fn all_levels_above_the_one_with_the_value_are_in_the_way() {
    let text = "#- data/common.yaml\nport: 80\n#- data/site/ams.yaml\nport: 81\n#- data/role/web.yaml\nport: 82\n";
    for (value, in_the_way) in [
        ("80", &["Role", "Site"][..]),
        ("81", &["Role"]),
        ("99", &["Role"]),
    ] {
        let why = why(text, "port", value);
        let levels = why.levels.iter().filter(|level| level.is_in_the_way);
        let levels: Vec<&str> = levels.map(|level| &*level.level).collect();
        assert_eq!(levels, in_the_way, "{value}");
    }
}

#[test]
fn merged_levels_with_other_values_are_in_the_way() {
    let text = "#- data/common.yaml\npkgs: [a, b]\nuser: {uid: 1, shell: sh}\nlookup_options: {pkgs: {merge: unique}, user: {merge: deep}}\n\
                #- data/role/web.yaml\npkgs: [c]\nuser: {uid: 2}\nkey: ENC[PKCS7,MIIBeQ==]\n";
    for (key, value, expected) in [
        ("pkgs", "[a, b]", [true, false]),
        ("pkgs", "[c, a]", [false, true]),
        ("user", "{uid: 1, shell: sh}", [true, false]),
    ] {
        let why = why(text, key, value);
        let flags: Vec<bool> = why.levels.iter().map(|level| level.is_in_the_way).collect();
        assert_eq!(flags, expected, "{key} {value}");
    }
    assert_eq!(
        effects(&why(text, "key", "x")),
        [("sets it to an encrypted value, which is used", true)]
    );
}

#[test]
fn a_reason_is_given_once() {
    let all = ["a", "x", "b", "c", "d", "e", "a"].map(|what| {
        let why = if what == "x" { "other" } else { "why" };
        (what.to_owned(), why.to_owned())
    });
    let lines = super::grouped(all.to_vec());
    assert_eq!(lines, ["a; b; c and 2 more: why", "x: other"]);
}

/// Nodes for random workspaces; no file exists for the value `x`.
fn random_nodes() -> KnownNodes {
    let mut text = String::new();
    for role in ["web", "db", "x"] {
        for site in ["ams", "lon", "x"] {
            text.push_str(&format!(
                "{role}-{site}: {{facts: {{role: {role}, site: {site}}}}}\n"
            ));
        }
    }
    nodes(&text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With every proposal the named nodes have the value, and with `only` all others keep theirs;
    /// compared with separate lookups for each node.
    #[test]
    fn every_proposal_has_the_effect_that_it_describes(
        texts in proptest::collection::vec(file(), FILES.len()),
        key in proptest::sample::select(KEYS.to_vec()),
        value in proptest::sample::select(vec!["2", "[x, z]", "{k: 1, n: 2}", "some text", "[x, y, q]"]),
        which in proptest::sample::select(vec!["role=web", "site=ams", "db-x", "role=x", "role=web,db"]),
        only in any::<bool>(),
    ) {
        let before = workspace(&texts);
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let (configs, nodes) = (ConfigCache::default(), random_nodes());
        let analysis = Analysis::new(&before, &settings, &configs, &nodes);
        let view = analysis.governing(&format!("{FOLDER}/data/common.yaml")).expect("a root");
        let which = nodes_of(&[which.to_owned()]).expect("nodes");
        let wanted = (Arc::from(key), value_of(value).expect("a value"));
        let goal = Goal::of(&nodes, wanted, &which, only).expect("known nodes");
        let Ok(Outcome::Proposals(all)) = proposals(&view, &goal, &|_| {}) else {
            return Ok(());
        };
        let wanted = goal.value.inspect();
        let named: Vec<&str> = goal.members.iter().map(|&member| nodes.certname(member)).collect();
        let old = values(&before);
        for proposal in all {
            let after = proposal.plan.after(&before).expect("edits that fit");
            let new = values(&after);
            for (what, value) in new.iter().filter(|(what, _)| what.ends_with(" x")) {
                let parts: Vec<&str> = what.split(' ').collect();
                let node = format!("{}-{}", parts[2], parts[3]);
                // These files are new, and read by the name of the node only.
                if proposal.plan.paths().any(|path| path.contains("/node/")) {
                    continue;
                }
                let is_named = named.contains(&node.as_str());
                if is_named && parts[0] == key {
                    prop_assert_eq!(value, &wanted, "{}: {}\n{:#?}", what, proposal.title, proposal.plan);
                }
                let is_reported = proposal.others.iter().any(|other| **other == *node);
                if !is_named && (only || !is_reported) && (only || parts[0] == key) {
                    prop_assert_eq!(value, &old[what], "{}: {}\n{:#?}", what, proposal.title, proposal.plan);
                }
            }
        }
    }
}
