//! Roots on synthetic layouts and on real repositories.

use super::super::{Change, ChosenRoot, FileKind, FileSettings, Files, Snapshot, Workspace};
use super::*;

/// A workspace of folders with these files; a text follows ` = `, empty otherwise.
fn snapshot(folders: &[&str], files: &[&str], settings: FileSettings) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    let mut changes = vec![
        Change::Folders(folders.iter().map(|&at| Arc::from(at)).collect()),
        Change::Settings(settings),
    ];
    for file in files {
        let (at, text) = file.split_once(" = ").unwrap_or((file, ""));
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

fn check(files: &[&str], expected: expect_test::Expect) {
    expected.assert_eq(&show(&snapshot(&["/w"], files, FileSettings::default())));
}

#[test]
fn modules_of_a_control_repository_that_lies_among_tests_are_modules() {
    let config = "version: 5\nhierarchy:\n- {name: Common, path: common.yaml}\n";
    let files = [
        &format!("/w/fixtures/acme/hiera.yaml = {config}"),
        "/w/fixtures/acme/environment.conf",
        "/w/fixtures/acme/data/common.yaml",
        &format!("/w/fixtures/acme/modules/ntp/hiera.yaml = {config}"),
        "/w/fixtures/acme/modules/ntp/data/common.yaml",
    ];
    check(
        &files,
        expect_test::expect![[r#"
            environment /w/fixtures/acme hiera.yaml ntp=modules/ntp
            module ntp /w/fixtures/acme/modules/ntp hiera.yaml
        "#]],
    );
}

#[test]
fn a_control_repository_with_modules_in_two_folders() {
    check(
        &[
            "/w/hiera.yaml",
            "/w/metadata.json = {\"name\": \"us-control\"}",
            "/w/environment.conf = modulepath = site:modules:$basemodulepath",
            "/w/data/common.yaml",
            "/w/modules/ntp/hiera.yaml",
            "/w/modules/ntp/metadata.json = {\"name\": \"them-ntp\"}",
            "/w/modules/profile/manifests/init.pp",
            "/w/modules/Not-A-Module/hiera.yaml",
            "/w/site/profile/hiera.yaml",
            "/w/spec/fixtures/hiera.yaml",
        ],
        expect_test::expect![[r#"
            environment /w hiera.yaml ntp=modules/ntp profile=site/profile
            module Not-A-Module /w/modules/Not-A-Module hiera.yaml
            module ntp /w/modules/ntp hiera.yaml
            module profile /w/site/profile hiera.yaml
        "#]],
    );
}

#[test]
fn a_repository_that_is_a_module() {
    check(
        &[
            "/w/hiera.yaml",
            "/w/metadata.json = {\"name\": \"puppet/systemd\"}",
            "/w/data/common.yaml",
            "/w/spec/fixtures/hiera.yaml",
        ],
        expect_test::expect![[r#"
            module systemd /w hiera.yaml
        "#]],
    );
}

#[test]
fn many_environments_side_by_side_under_a_global_layer() {
    check(
        &[
            "/w/hiera.yaml",
            "/w/environments/production/hiera.yaml",
            "/w/environments/production/modules/a/hiera.yaml",
            "/w/environments/test/environment.conf = modulepath = ../../shared",
            "/w/shared/b/hiera.yaml",
        ],
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
    check(
        &["/w/spec/fixtures/hiera.yaml", "/w/data/common.yaml"],
        expect_test::expect![[r#"
            environment /w/spec/fixtures hiera.yaml
        "#]],
    );
    check(
        &["/w/spec/fixtures/hiera.yaml", "/w/spec/b/hiera.yaml"],
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
    let files = [
        "/w/hiera.yaml",
        "/w/spec/fixtures/hiera-prod.yaml",
        "/etc/puppet/hiera.yaml",
        "/opt/modules/c/hiera.yaml",
    ];
    let snapshot = snapshot(&["/w"], &files, settings);
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
    check(
        &[
            "/w/environment.conf = modulepath = teams/*/modules",
            "/w/teams/a/modules/x/hiera.yaml",
            "/w/teams/b/modules/x/hiera.yaml",
            "/w/teams/b/modules/y/manifests/init.pp",
        ],
        expect_test::expect![[r#"
            environment /w - x=teams/a/modules/x y=teams/b/modules/y
            module x /w/teams/a/modules/x hiera.yaml
            module x /w/teams/b/modules/x hiera.yaml
        "#]],
    );
}

#[test]
fn deployed_paths_lie_in_the_workspace() {
    let settings = FileSettings {
        path_map: vec![(Arc::from("/srv/private"), Arc::from("/home/me/private"))],
        ..FileSettings::default()
    };
    let files = [
        "/w/hiera.yaml",
        "/w/hieradata/common.yaml = a: 1",
        "/home/me/private/x.yaml = b: 2",
    ];
    let snapshot = snapshot(&["/w"], &files, settings);
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
    let files = [
        "/w/environments/production/hiera.yaml",
        "/w/environments/production/data/common.yaml",
        "/w/environments/test/hiera.yaml",
        "/w/environments/test/data/common.yaml",
    ];
    let snapshot = snapshot(&["/w"], &files, FileSettings::default());
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
