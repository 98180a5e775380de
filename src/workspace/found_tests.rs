//! Configurations in all the places where people keep them.

use super::super::{Change, ChosenRoot, FileSettings, RootKind, Snapshot, Workspace, path};
use super::*;
use crate::fixture::Fixture;

const PER_NODE: &str = "version: 5\nhierarchy:\n- {name: nodes, path: 'nodes/%{fqdn}.yaml'}\n\
                        - {name: common, path: common.yaml}\n";

/// A configuration of version 5 with these locations in one data directory.
fn five(datadir: &str, paths: &[&str]) -> String {
    let mut text = format!(
        "version: 5\ndefaults: {{datadir: '{datadir}', data_hash: yaml_data}}\nhierarchy:\n"
    );
    for path in paths {
        text += &format!("- {{name: '{path}', path: '{path}'}}\n");
    }
    text
}

/// A workspace in `/w` with the files of a fixture.
fn snapshot(files: &str, settings: FileSettings) -> Arc<Snapshot> {
    let workspace = Workspace::new();
    let mut changes = vec![
        Change::Folders(vec![Arc::from("/w")]),
        Change::Settings(settings),
    ];
    for (at, text) in Fixture::new("", files).files {
        changes.push(Change::file(format!("/w/{at}"), text));
    }
    workspace.apply(Change::Batch(changes))
}

/// The roots, then the configurations with their use.
fn show(snapshot: &Snapshot) -> String {
    let here = |at: &str| match path::within(at, "/w") {
        Some("") => ".".to_owned(),
        Some(rest) => rest.to_owned(),
        None => at.to_owned(),
    };
    let mut lines = String::new();
    for root in snapshot.roots().iter() {
        let kind = root.kind.words();
        let config = root.hiera_yaml.as_deref().map_or("-".to_owned(), here);
        lines += &format!("{kind} {} by {config}\n", here(&root.dir));
    }
    for config in snapshot.roots().found() {
        let verdict = match &config.verdict {
            ConfigUse::Used => "used".to_owned(),
            ConfigUse::Variant(used_config) => format!("variant of {}", here(used_config)),
            ConfigUse::Aside => "aside".to_owned(),
            ConfigUse::ReachesNothing => "reaches nothing".to_owned(),
        };
        lines += &format!(
            "  {} v{} for {}: reaches {}, first for {}, {verdict}",
            here(&config.path),
            config.version,
            here(&config.dir),
            config.reached,
            config.owned
        );
        for missing in config.missing.iter() {
            lines += &format!(", without {missing}");
        }
        lines += "\n";
    }
    lines
}

fn check_found(files: &str, expected: expect_test::Expect) {
    expected.assert_eq(&show(&snapshot(files, FileSettings::default())));
}

const DATA: &str = "\
#- hieradata/common.yaml
a: 1
#- hieradata/nodes/x.yaml
a: 2
#- hieradata/nodes/y.yaml
a: 3
";

/// The data of this module's tests and these files.
fn with_data(files: &str) -> String {
    format!("{DATA}{files}")
}

#[test]
fn a_configuration_among_a_module_s_files_serves_the_workspace() {
    let text = five(
        "/etc/puppetlabs/puppet/hieradata",
        &["nodes/%{fqdn}.yaml", "common.yaml"],
    );
    check_found(
        &with_data(&format!(
            "#- modules/puppetserver/files/hiera.yaml\n{text}\
             #- modules/ntp/hiera.yaml\n{PER_NODE}\
             #- modules/ntp/data/common.yaml\nntp::a: 1\n"
        )),
        expect_test::expect![[r#"
            environment . by modules/puppetserver/files/hiera.yaml
            module ntp modules/ntp by modules/ntp/hiera.yaml
              modules/puppetserver/files/hiera.yaml v5 for .: reaches 3, first for 3, used
        "#]],
    );
}

#[test]
fn relative_data_directories_lead_out_of_the_folder() {
    check_found(
        &with_data(&format!(
            "#- conf/hiera.yaml\n{}",
            five("../hieradata", &["common.yaml"])
        )),
        expect_test::expect![[r#"
            environment conf by conf/hiera.yaml
              conf/hiera.yaml v5 for conf: reaches 1, first for 1, used
        "#]],
    );
    check_found(
        &with_data(&format!(
            "#- files/hiera/production.yaml\n{}",
            five("hieradata", &["common.yaml"])
        )),
        expect_test::expect![[r#"
            environment . by files/hiera/production.yaml
              files/hiera/production.yaml v5 for .: reaches 1, first for 1, used
        "#]],
    );
}

#[test]
fn a_configuration_of_version_3_makes_the_global_layer() {
    let three = ":backends: [yaml]\n:yaml:\n  :datadir: /usr/share/puppet/current/hieradata\n\
                 :hierarchy: ['nodes/%{fqdn}', common]\n";
    check_found(
        &with_data(&format!(
            "#- hiera_aws.yml\n{three}\
             #- modules/a/manifests/init.pp\n"
        )),
        expect_test::expect![[r#"
            environment . by -
            global . by hiera_aws.yml
              hiera_aws.yml v3 for .: reaches 3, first for 3, used
        "#]],
    );
    check_found(
        &with_data(&format!(
            "#- hiera.yaml\n{three}\
             #- environment.conf\n"
        )),
        expect_test::expect![[r#"
            environment . by hiera.yaml
            global . by hiera.yaml
              hiera.yaml v3 for .: reaches 3, first for 3, used
        "#]],
    );
}

#[test]
fn the_paths_of_levels_lead_to_the_checkout_of_an_environment() {
    let three = ":backends: [yaml]\n:yaml:\n  :datadir: /etc/puppet\n\
                 :hierarchy: ['data/%{environment}/common', \
                 'environments/%{environment}/hieradata/nodes/%{fqdn}', \
                 'environments/%{environment}/hieradata/common']\n";
    check_found(
        &with_data(&format!(
            "#- site/server/files/hiera.yaml\n{three}\
             #- site/server/manifests/init.pp\n"
        )),
        expect_test::expect![[r#"
            environment . by -
            global . by site/server/files/hiera.yaml
              site/server/files/hiera.yaml v3 for .: reaches 3, first for 3, used, without /etc/puppet
        "#]],
    );
}

#[test]
fn the_best_of_several_variants_is_used_and_others_for_their_own_files() {
    let production = five(
        "/etc/puppet/hieradata",
        &["nodes/%{fqdn}.yaml", "common.yaml"],
    );
    let lab = five(
        "/etc/puppet/hieradata",
        &["nodes/%{fqdn}.yaml", "lab/%{x}.yaml", "common.yaml"],
    );
    let private = "version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\nhierarchy:\n\
                   - {name: p, path: common.yaml, datadir: /etc/puppet/private/hieradata}\n\
                   - {name: c, path: common.yaml}\n- {name: d, path: x.yaml}\n";
    check_found(
        &with_data(&format!(
            "#- environment.conf\n\
             #- hieradata/lab/a.yaml\na: 4\n\
             #- modules/m/files/hiera/lab.yaml\n{lab}\
             #- modules/m/files/hiera/production.yaml\n{production}\
             #- modules/m/files/hiera/private.yaml\n{private}\
             #- vagrant/hiera.yaml\n{}",
            five("../hieradata", &["nodes/%{fqdn}.yaml", "common.yaml"])
        )),
        expect_test::expect![[r#"
            environment . by modules/m/files/hiera/production.yaml
            environment . by modules/m/files/hiera/lab.yaml
              modules/m/files/hiera/production.yaml v5 for .: reaches 3, first for 3, used
              modules/m/files/hiera/lab.yaml v5 for .: reaches 4, first for 1, used
              modules/m/files/hiera/private.yaml v5 for .: reaches 1, first for 0, variant of modules/m/files/hiera/production.yaml, without /etc/puppet/private/hieradata
              vagrant/hiera.yaml v5 for vagrant: reaches 3, first for 0, variant of modules/m/files/hiera/production.yaml
        "#]],
    );
}

#[test]
fn a_copy_for_a_test_machine_loses_against_the_environment_s_own() {
    check_found(
        &format!(
            "#- puppet/hiera.yaml\n{PER_NODE}\
             #- puppet/data/common.yaml\na: 1\n\
             #- puppet/data/nodes/x.yaml\na: 1\n\
             #- vagrant/hiera.yaml\n{PER_NODE}\
             #- spec/fixtures/hiera.yaml\n{PER_NODE}\
             #- spec/fixtures/data/common.yaml\na: 1\n"
        ),
        expect_test::expect![[r#"
            environment puppet by puppet/hiera.yaml
              puppet/hiera.yaml v5 for puppet: reaches 2, first for 2, used
              vagrant/hiera.yaml v5 for puppet: reaches 2, first for 0, variant of puppet/hiera.yaml
              spec/fixtures/hiera.yaml v5 for spec/fixtures: reaches 1, first for 0, aside
        "#]],
    );
}

#[test]
fn a_test_machine_s_configuration_reads_its_own_file_and_the_other_data() {
    let own = five("data", &["common.yaml"]);
    let copy = five("data", &["vagrant.yaml", "common.yaml"]);
    check_found(
        &format!(
            "#- puppet/hiera.yaml\n{own}\
             #- puppet/environment.conf\n\
             #- puppet/data/common.yaml\na: 1\n\
             #- puppet/data/vagrant.yaml\na: 2\n\
             #- vagrant/hiera.yaml\n{copy}"
        ),
        expect_test::expect![[r#"
            environment puppet by puppet/hiera.yaml
            environment puppet by vagrant/hiera.yaml
              puppet/hiera.yaml v5 for puppet: reaches 1, first for 1, used
              vagrant/hiera.yaml v5 for puppet: reaches 2, first for 1, used
        "#]],
    );
}

#[test]
fn a_template_s_tags_are_filled_in_from_the_workspace() {
    let text = "---\nversion: 5\ndefaults:\n  datadir: <%= $datadir %>\n  data_hash: yaml_data\nhierarchy:\n\
                <% if $x { -%>\n- name: n\n  path: \"nodes/%{fqdn}.yaml\"\n<% } -%>\n";
    let snapshot = snapshot(
        &with_data(&format!("#- modules/m/templates/hiera.yaml.epp\n{text}")),
        FileSettings::default(),
    );
    expect_test::expect![[r#"
        environment . by modules/m/templates/hiera.yaml.epp
          modules/m/templates/hiera.yaml.epp v5 for .: reaches 2, first for 2, used
    "#]]
    .assert_eq(&show(&snapshot));
    let root = snapshot.roots().in_folder("/w").unwrap();
    let text = super::super::Files::text(
        &snapshot.files_for(root),
        "/w/modules/m/templates/hiera.yaml.epp",
    );
    assert!(text.unwrap().contains("datadir: \"/w/hieradata\""));
}

#[test]
fn a_template_tag_may_print_any_path() {
    let text = "---\nversion: 5\ndefaults: {datadir: <%= $d %>, data_hash: yaml_data}\nhierarchy:\n\
                <% $all.each |$n, $p| { -%>\n- name: <%= $n %>\n  path: \"<%= $p %>.yaml\"\n<% } -%>\n\
                - {name: common, path: common.yaml}\n";
    check_found(
        &with_data(&format!("#- modules/m/templates/hiera.yaml.epp\n{text}")),
        expect_test::expect![[r#"
            environment . by modules/m/templates/hiera.yaml.epp
              modules/m/templates/hiera.yaml.epp v5 for .: reaches 3, first for 3, used
        "#]],
    );
}

#[test]
fn data_that_a_control_repository_has_among_its_modules() {
    check_found(
        &format!(
            "#- metadata.json\n{{\"name\": \"me-hieradata\"}}\n\
             #- hiera.yaml\n{}\
             #- data/common.yaml\na: 1\n",
            five("modules/hieradata/data", &["common.yaml"])
        ),
        expect_test::expect![[r#"
            environment . by hiera.yaml
              hiera.yaml v5 for .: reaches 1, first for 1, used
        "#]],
    );
}

#[test]
fn settings_choose_a_variant_and_the_folder_that_it_serves() {
    let files = with_data(&format!(
        "#- files/production.yaml\n{}\
             #- files/lab.yaml\n{}\
             #- hiera.yaml\n{}",
        five("data", &["common.yaml"]),
        five("../hieradata", &["common.yaml"]),
        five("hieradata", &["common.yaml"])
    ));
    let settings = FileSettings {
        chosen: vec![ChosenRoot {
            hiera_yaml: Arc::from("/w/files/lab.yaml"),
            dir: Some(Arc::from("/w/files")),
        }],
        ..FileSettings::default()
    };
    expect_test::expect![[r#"
        environment . by hiera.yaml
        environment files by files/lab.yaml
          files/lab.yaml v5 for files: reaches 1, first for 1, used
          hiera.yaml v5 for .: reaches 1, first for 0, used
          files/production.yaml v5 for files: reaches 0, first for 0, reaches nothing, without data
    "#]]
    .assert_eq(&show(&snapshot(&files, settings)));
}

#[test]
fn no_other_configuration_answers_in_the_place_of_a_broken_one() {
    let other = five("../../hieradata", &["common.yaml"]);
    for broken in ["version: 5\nhierarchy:\n- {nam: x}\n- y\n", "version: [\n"] {
        let files = format!(
            "#- environment.conf\n\
             #- hiera.yaml\n{broken}\
             #- hieradata/common.yaml\na: 1\n\
             #- files/lab/production.yaml\n{other}\
             #- spec/fixtures/hiera.yaml\n{other}"
        );
        let shown = show(&snapshot(&files, FileSettings::default()));
        assert!(
            shown.starts_with("environment . by hiera.yaml\n"),
            "{shown}"
        );
        let mut lines = shown.lines();
        let for_top = |line: &str| line.contains(" for .:") || line.starts_with("environment . ");
        assert_eq!(
            lines.by_ref().filter(|line| for_top(line)).count(),
            1,
            "{shown}"
        );
    }
}

#[test]
fn a_file_of_data_that_comes_or_goes_is_counted() {
    let workspace = Workspace::new();
    let text = five("/etc/puppet/hieradata", &["nodes/%{fqdn}.yaml"]);
    let write = |at: &str, text: &str| workspace.apply(Change::file(format!("/w/{at}"), text));
    workspace.apply(Change::Folders(vec![Arc::from("/w")]));
    write("files/hiera.yaml", &text);
    let before = write("hieradata/nodes/x.yaml", "a: 1");
    assert_eq!(before.roots().found()[0].reached, 1);
    let after = write("hieradata/nodes/y.yaml", "a: 1");
    assert_eq!(after.roots().found()[0].reached, 2);
    let edited = write("hieradata/nodes/y.yaml", "a: 2");
    assert!(
        Arc::ptr_eq(edited.roots(), after.roots()),
        "not judged again"
    );
}

#[test]
fn a_module_among_modules_has_the_name_of_its_folder() {
    let text = "#- modules/profiles/metadata.json\n{\"name\": \"sw-firewall\"}\n\
                #- modules/profiles/hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.yaml}]\n\
                #- modules/profiles/data/common.yaml\nprofiles::a: 1\n\
                #- environments/production/manifests/site.pp\n\n";
    let snapshot = Fixture::new("modules/profiles/hiera.yaml", text).on_disk();
    let names = snapshot.roots().iter().filter_map(|root| match &root.kind {
        RootKind::Module { name } => Some(&**name),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["profiles"]);
}
