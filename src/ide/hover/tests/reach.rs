//! Which hierarchy answers for a file, and hovers in files without one.

use expect_test::expect;

use super::{hover_at, plain};
use crate::ide::fixture_tests::{at_cursor, check, check_all, nodes};
use crate::ide::hover::HoverOptions;

#[test]
fn files_and_their_hierarchies() {
    check_all(
        str::to_owned,
        |at| plain(at, "{}"),
        expect![[r#"
            ## a file that no hierarchy reads says what was looked for
            $ $0port: 1\n
            port — no hierarchy reads this file
            looked for: hiera.yaml, its copies and its templates, in /repo
            choose one with the setting hiera-ls.roots, or on the command line with --hiera-yaml FILE
            $ #- puppet/hiera.yaml\nversion: 5\n#- puppet/data/common.yaml\na: 1\n#- other/x.yaml\n$0port: 1\n
            port — no hierarchy reads this file
            hierarchies: puppet/hiera.yaml (in use)
            $ #- .ci/jobs.yaml\n$0port: 1\n
            nothing
            $ #- data/x.yaml\nport:\n  $0nested: 1\n
            nothing
            ## a data directory beside the configuration's folder
            $ #- conf/hiera.yaml\nversion: 5\ndefaults: {datadir: ../data, data_hash: yaml_data}\nhierarchy:\n- {name: c, path: common.yaml}\n#- data/common.yaml\n$0port: 80\n
            port — first found, for every node that reads this file
              80
            set in common.yaml:1
            ## files of a pattern are named below their data directory
            $ #- hiera.yaml\nversion: 5\nhierarchy:\n- {name: users, glob: 'users.d/*.yaml'}\n- {name: all, path: common.yaml}\n#- data/common.yaml\na: 1\n#- data/users.d/10.yaml\n$0a: 2\n
            a — first found, for every node that reads this file
              2
            set in users.d/10.yaml:1 · overrides common.yaml:1
        "#]],
    );
}

#[test]
fn a_hierarchy_is_chosen_by_a_link_where_the_client_runs_commands() {
    let options = HoverOptions {
        choose: Some("command:choose"),
        ..HoverOptions::default()
    };
    let found = at_cursor("po$0rt: 1\n", None, |at| {
        hover_at(&at, &nodes("{}"), &options)
    });
    let found = found.expect("a hover");
    expect![[r#"
        **`port`** — no hierarchy reads this file  
        looked for: `hiera.yaml`, its copies and its templates, in `/repo`  
        [choose hiera.yaml…](command:choose)"#]]
    .assert_eq(&found.markdown);
    expect![[r#"
        port — no hierarchy reads this file
        looked for: hiera.yaml, its copies and its templates, in /repo
        choose one with the setting hiera-ls.roots, or on the command line with --hiera-yaml FILE"#]]
    .assert_eq(&found.plain);
}

#[test]
fn a_hierarchy_in_another_place_is_named_with_its_variants() {
    check(
        "#- modules/puppet/files/hiera/production.yaml\n\
         version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\n\
         hierarchy:\n- {name: role, path: 'role/%{role}.yaml'}\n- {name: c, path: common.yaml}\n\
         #- modules/puppet/files/hiera/lab.yaml\n\
         version: 5\ndefaults: {datadir: /etc/puppet/hieradata, data_hash: yaml_data}\n\
         hierarchy:\n- {name: c, path: common.yaml}\n\
         #- hieradata/role/web.yaml\nport: 443\n\
         #- hieradata/common.yaml\n$0port: 80\n",
        |at| plain(at, "{}"),
        expect![[r#"
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: role = web
            hierarchy: modules/puppet/files/hiera/production.yaml · not used:
              modules/puppet/files/hiera/lab.yaml"#]],
    );
}

#[test]
fn a_path_without_variables_owns_its_file() {
    const FILES: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: env, path: \"%{environment}.yaml\"}
  - {name: role, path: \"role/%{role}.yaml\"}
  - {name: common, path: common.yaml}
#- data/role/web.yaml
";
    check_all(
        |files| format!("{FILES}{files}"),
        |at| plain(at, "{}"),
        expect![[r#"
            $ port: 443\n#- data/common.yaml\n$0port: 80\n
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: role = web
            $ $0port: 443\n#- data/common.yaml\nport: 80\n
            port — first found, for every node that reads this file
              443
            set in role/web.yaml:1 · overrides common.yaml:1
        "#]],
    );
}

#[test]
fn a_role_with_folders_in_its_name_is_one_that_nodes_may_have() {
    const FILES: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: site, path: \"%{site}.yaml\"}
  - {name: team, path: \"team/%{team}/%{tier}.yaml\"}
  - {name: role, path: \"role/%{::_role}.yaml\"}
  - {name: common, path: common.yaml}
#- data/role/web.yaml
other: 1
#- data/team/web/front.yaml
port: 8443
";
    check_all(
        |files| format!("{FILES}{files}"),
        |at| plain(at, "{}"),
        expect![[r#"
            $ #- data/role/env/dev.yaml\nport: 443\n#- data/common.yaml\n$0port: 80\n
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: team = web and tier = front · ::_role = env/dev
            $ #- data/common.yaml\nport: 80\n#- data/role/env/dev.yaml\n$0port: 443\n
            port — first found, for every node that reads this file (may differ)
              443
            set in role/env/dev.yaml:1 · overrides common.yaml:1
            may differ: team = web and tier = front
        "#]],
    );
}

#[test]
fn a_role_with_folders_in_its_name_is_read_next_to_a_function_that_is_not_run() {
    const FILES: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: role, path: \"role/%{site}/%{_role}.yaml\"}
  - {name: site, path: \"%{site}\", lookup_key: lib::expand}
#- data/lon/profile/web.yaml
a: 2
#- data/role/lon/web/front.yaml
a: 1
";
    check_all(
        |key| FILES.replace(&key.replace("$0", ""), key),
        |at| plain(at, "{}"),
        expect![[r#"
            $ $0a: 1
            a — first found, for every node that reads this file (may differ)
              1
            set in role/lon/web/front.yaml:1
            may differ: lib::expand (its lookup_options are unknown)
            $ $0a: 2
            a — only a function that is not run here may read this file
              2
            the function lib::expand could read it: declare what it does with the setting hiera-ls.backends
        "#]],
    );
}
