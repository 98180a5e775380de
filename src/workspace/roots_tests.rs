//! Roots on synthetic layouts and on real repositories.

use super::super::{Change, ChosenRoot, FileKind, FileSettings, Files, Snapshot, Workspace};
use super::*;
use crate::fixture::Fixture;

/// A workspace in `/w` with the files of a fixture; their paths are absolute, because some are
/// outside of the folder.
fn snapshot(files: &str, settings: FileSettings) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    let mut changes = vec![
        Change::Folders(vec![Arc::from("/w")]),
        Change::Settings(settings),
    ];
    for (at, text) in Fixture::new("", files).files {
        changes.push(Change::file(at, text));
    }
    workspace.apply(Change::Batch(changes))
}

/// The roots as lines: kind, folder, configuration, modules.
fn show(snapshot: &Snapshot) -> String {
    let mut lines = String::new();
    for root in snapshot.roots().iter() {
        let kind = root.kind.words();
        let config = root.hiera_yaml.as_deref().map_or("-", path::name);
        lines += &format!("{kind} {} {config}", root.dir);
        for (name, dir) in &root.modules {
            lines += &format!(" {name}={}", path::within(dir, &root.dir).unwrap_or(dir));
        }
        lines += "\n";
    }
    lines
}

fn check_roots(files: &str, expected: expect_test::Expect) {
    expected.assert_eq(&show(&snapshot(files, FileSettings::default())));
}

#[test]
fn modules_of_a_control_repository_that_lies_among_tests_are_modules() {
    let config = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n";
    let files = format!(
        "#- /w/fixtures/acme/hiera.yaml\n{config}\
         #- /w/fixtures/acme/environment.conf\n\
         #- /w/fixtures/acme/data/common.yaml\n\
         #- /w/fixtures/acme/modules/ntp/hiera.yaml\n{config}\
         #- /w/fixtures/acme/modules/ntp/data/common.yaml\n"
    );
    check_roots(
        &files,
        expect_test::expect![[r#"
            environment /w/fixtures/acme hiera.yaml ntp=modules/ntp
            module ntp /w/fixtures/acme/modules/ntp hiera.yaml
        "#]],
    );
}

#[test]
fn a_project_of_bolt_names_its_configuration_and_modules() {
    let plans = "version: 5\nhierarchy: [{name: c, path: c.yaml, data_hash: yaml_data}]\n\
                 plan_hierarchy: [{name: p, path: p.yaml, data_hash: yaml_data}]\n";
    check_roots(
        &format!(
            "#- /w/own/bolt-project.yaml\n\
             #- /w/own/hiera.yaml\n{plans}\
             #- /w/own/modules/m/manifests/init.pp\n\
             #- /w/own/.modules/installed/manifests/init.pp\n\
             #- /w/named/bolt-project.yaml\nhiera-config: bolt/hiera.yaml\nmodulepath: [site]\n\
             #- /w/named/bolt/hiera.yaml\n{plans}\
             #- /w/named/site/s/manifests/init.pp\n\
             #- /w/named/modules/m/manifests/init.pp\n\
             #- /w/both/bolt-project.yaml\nmodulepath: [site]\nhiera-config: hiera.yaml\n\
             #- /w/both/environment.conf\n\
             #- /w/both/hiera.yaml\n{plans}\
             #- /w/both/modules/m/manifests/init.pp\n\
             #- /w/refused/bolt-project.yaml\nhiera-config: bolt/hiera.yaml\n\
             #- /w/refused/bolt/hiera.yaml\nversion: 5\nhierarchy: 1\nplan_hierarchy: []\n"
        ),
        expect_test::expect![[r#"
            environment /w/both hiera.yaml m=modules/m
            plans /w/both hiera.yaml m=modules/m
            environment /w/named hiera.yaml s=site/s
            plans /w/named hiera.yaml s=site/s
            environment /w/own hiera.yaml installed=.modules/installed m=modules/m
            plans /w/own hiera.yaml installed=.modules/installed m=modules/m
            environment /w/refused hiera.yaml
        "#]],
    );
}

#[test]
fn a_control_repository_with_modules_in_two_folders() {
    check_roots(
        "#- /w/hiera.yaml\n\
         #- /w/metadata.json\n{\"name\": \"us-control\"}\n\
         #- /w/environment.conf\nmodulepath = site:modules:$basemodulepath\n\
         #- /w/data/common.yaml\n\
         #- /w/modules/ntp/hiera.yaml\n\
         #- /w/modules/ntp/metadata.json\n{\"name\": \"them-ntp\", \"source\": \"s\", \"author\": \"a\", \
         \"version\": \"1.0.0\", \"license\": \"MIT\", \"dependencies\": []}\n\
         #- /w/modules/profile/manifests/init.pp\n\
         #- /w/modules/Not-A-Module/hiera.yaml\n\
         #- /w/site/profile/hiera.yaml\n\
         #- /w/spec/fixtures/hiera.yaml\n",
        expect_test::expect![[r#"
            environment /w hiera.yaml ntp=modules/ntp profile=site/profile
            module Not-A-Module /w/modules/Not-A-Module hiera.yaml
            module ntp /w/modules/ntp hiera.yaml
            module profile /w/site/profile hiera.yaml
        "#]],
    );
}

#[test]
fn a_module_with_incomplete_metadata_is_left_out_and_hides_others() {
    check_roots(
        "#- /w/hiera.yaml\n\
         #- /w/environment.conf\nmodulepath = site:modules\n\
         #- /w/site/ntp/metadata.json\n{\"name\": \"us-ntp\", \"version\": \"1.0.0\"}\n\
         #- /w/site/web/metadata.json\n{}\n\
         #- /w/site/dns/metadata.json\n{\"source\": \n\
         #- /w/site/db/metadata.json\n{\"name\": \"us-db\", \"source\": \"s\", \"author\": \"a\", \
         \"version\": \"1.0.0\", \"license\": \"MIT\", \"dependencies\": {}}\n\
         #- /w/modules/ntp/manifests/init.pp\n",
        expect_test::expect![[r#"
            environment /w hiera.yaml dns=site/dns web=site/web
        "#]],
    );
}

#[test]
fn a_repository_that_is_a_module() {
    check_roots(
        "#- /w/hiera.yaml\n\
         #- /w/metadata.json\n{\"name\": \"puppet/systemd\"}\n\
         #- /w/data/common.yaml\n\
         #- /w/spec/fixtures/hiera.yaml\n",
        expect_test::expect![[r#"
            module systemd /w hiera.yaml
        "#]],
    );
}

#[test]
fn many_environments_side_by_side_under_a_global_layer() {
    check_roots(
        "#- /w/hiera.yaml\n\
         #- /w/environments/production/hiera.yaml\n\
         #- /w/environments/production/modules/a/hiera.yaml\n\
         #- /w/environments/test/environment.conf\nmodulepath = ../../shared\n\
         #- /w/shared/b/hiera.yaml\n",
        expect_test::expect![[r#"
            global /w hiera.yaml
            environment /w/environments/production hiera.yaml a=modules/a
            module a /w/environments/production/modules/a hiera.yaml
            environment /w/environments/test - b=/w/shared/b
            module b /w/shared/b hiera.yaml
        "#]],
    );
}

#[test]
fn a_hierarchy_of_tests_is_used_only_if_it_is_the_only_one() {
    check_roots(
        "#- /w/spec/fixtures/hiera.yaml\n\
         #- /w/data/common.yaml\n",
        expect_test::expect![[r#"
            environment /w/spec/fixtures hiera.yaml
        "#]],
    );
    check_roots(
        "#- /w/spec/fixtures/hiera.yaml\n\
         #- /w/spec/b/hiera.yaml\n",
        expect_test::expect![""],
    );
}

#[test]
fn settings_name_roots_and_the_global_layer() {
    let settings = FileSettings {
        global_hiera_yaml: Some(Arc::from("/etc/puppet/hiera.yaml")),
        chosen: vec![ChosenRoot {
            hiera_yaml: Arc::from("/w/spec/fixtures/hiera-prod.yaml"),
            dir: None,
        }],
        base_modulepath: vec![Arc::from("/opt/modules")],
        ..FileSettings::default()
    };
    let files = "#- /w/hiera.yaml\n\
         #- /w/spec/fixtures/hiera-prod.yaml\n\
         #- /etc/puppet/hiera.yaml\n\
         #- /opt/modules/c/hiera.yaml\n";
    let snapshot = snapshot(files, settings);
    expect_test::expect![[r#"
        global /etc/puppet hiera.yaml
        module c /opt/modules/c hiera.yaml
        environment /w hiera.yaml c=/opt/modules/c
        environment /w/spec/fixtures hiera-prod.yaml c=/opt/modules/c
    "#]]
    .assert_eq(&show(&snapshot));
    let module = snapshot.root_of("/opt/modules/c/data/x.yaml");
    assert_eq!(module.map(|root| &*root.dir), Some("/opt/modules/c"));
    let root = module.expect("the module is a root");
    assert_eq!(snapshot.roots().environments_of(root).count(), 2);
}

#[test]
fn modules_by_a_glob_in_the_modulepath() {
    check_roots(
        "#- /w/environment.conf\nmodulepath = teams/*/modules\n\
         #- /w/teams/a/modules/x/hiera.yaml\n\
         #- /w/teams/b/modules/x/hiera.yaml\n\
         #- /w/teams/b/modules/y/manifests/init.pp\n",
        expect_test::expect![[r#"
            environment /w - x=teams/a/modules/x y=teams/b/modules/y
            module x /w/teams/a/modules/x hiera.yaml
            module x /w/teams/b/modules/x hiera.yaml
        "#]],
    );
}

#[test]
fn only_entries_of_the_modulepath_are_globs_not_the_folder_of_the_environment() {
    check_roots(
        "#- /w/[x]/environment.conf\nmodulepath = [a-c]*/modules:site-?\n\
         #- /w/[x]/base/modules/m/manifests/init.pp\n\
         #- /w/[x]/zone/modules/n/manifests/init.pp\n\
         #- /w/[x]/site-1/o/manifests/init.pp\n",
        expect_test::expect![[r#"
            environment /w/[x] - m=base/modules/m o=site-1/o
        "#]],
    );
}

#[test]
fn deployed_paths_lie_in_the_workspace() {
    let settings = FileSettings {
        path_map: vec![(Arc::from("/srv/private"), Arc::from("/home/me/private"))],
        ..FileSettings::default()
    };
    let files = "#- /w/hiera.yaml\n\
         #- /w/hieradata/common.yaml\na: 1\n\
         #- /home/me/private/x.yaml\nb: 2\n";
    let snapshot = snapshot(files, settings);
    let map = |at: &str| snapshot.map_deployed_for(None, at).into_owned();
    let deployed = "/etc/puppetlabs/code/environments/production";
    assert_eq!(
        map(&format!("{deployed}/hieradata/nodes/x.yaml")),
        "/w/hieradata/nodes/x.yaml"
    );
    assert_eq!(
        map(&format!("{deployed}/other/x.yaml")),
        format!("{deployed}/other/x.yaml")
    );
    assert_eq!(map("/srv/private/x.yaml"), "/home/me/private/x.yaml");
    assert_eq!(
        map("/etc/puppetlabs/code/hieradata/x"),
        "/etc/puppetlabs/code/hieradata/x"
    );
    let kind = snapshot.kind(&format!("{deployed}/hieradata/common.yaml"));
    assert_eq!(kind, Some(FileKind::File));
    assert!(snapshot.text("/srv/private/x.yaml").is_ok());
}

#[test]
fn an_environment_s_own_name_wins_and_a_lookup_s_root_before_it() {
    let files = "#- /w/environments/production/hiera.yaml\n\
         #- /w/environments/production/data/common.yaml\n\
         #- /w/environments/test/hiera.yaml\n\
         #- /w/environments/test/data/common.yaml\n";
    let snapshot = snapshot(files, FileSettings::default());
    let at = "/etc/puppetlabs/code/environments/test/data/common.yaml";
    assert_eq!(
        snapshot.map_deployed_for(None, at),
        "/w/environments/test/data/common.yaml"
    );
    let production = snapshot.roots().in_folder("/w/environments/production");
    assert_eq!(
        snapshot.map_deployed_for(production, at),
        "/w/environments/production/data/common.yaml"
    );
}
