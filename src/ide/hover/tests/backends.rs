//! Hovers for levels with custom backends and data outside of the workspace.

use expect_test::expect;

use super::*;
use crate::ide::fixture_tests::changed;

/// A function that builds a path from the key's segments, above an ordinary level.
const EXPANDING: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: Expand, lookup_key: lib::expand, path: common}
  - {name: Common, path: common.yaml}
#- modules/lib/lib/puppet/functions/lib/expand.rb
Puppet::Functions.create_function(:'lib::expand') do
  def expand(key, options, context)
    parts = key.split('::')
    parts.pop
    file = ([options['path']] + parts).join('/') + '.yaml'
    data = YAML.load_file(file)
    context.not_found unless data.key?(key)
    data[key]
  end
end
#- data/common/profile/web.yaml
profile::web::port: 443
#- data/common.yaml
a: 1
profile::web::port: 80
";

#[test]
fn declarations_are_offered_by_the_code_of_a_backend() {
    check_all(
        |change| changed(EXPANDING, change),
        |at| plain(at, "{}"),
        expect![[r#"
            $ a: 1 → a$0: 1
            a — first found, for every node that reads this file (may differ)
              1
            set in common.yaml:1
            may differ: lib::expand (not run)
            by its code lib::expand may read like yaml_data: hiera-ls doctor shows how to declare it
            ## a file that an offered backend would read says so
            $ port: 443 → po$0rt: 443
            profile::web::port — only a function that is not run here may read this file
            by its code lib::expand may read like yaml_data; if that is right, declare it below 'backends' in
              .hiera-ls.yaml: lib::expand: {like: yaml_data, path: "{path}/{key_path}.yaml"}
              443
        "#]],
    );
}

#[test]
fn answers_for_several_nodes_name_their_conditions() {
    check(
        "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: Vault, lookup_key: vault_lookup, uri: https://vault}
  - {name: Role, path: \"role/%{role}.yaml\"}
  - {name: Common, path: common.yaml}
#- data/role/web.yaml
a: 2
#- data/common.yaml
a$0: 1
",
        |at| {
            plain(
                at,
                "{a: {variables: {role: web}}, b: {variables: {role: db}}, c: {variables: {role: db}}}",
            )
        },
        expect![[r#"
            a — first found, 2 different values on 3 nodes
              1  # b and 1 more · common.yaml:1 (may differ)
            2 on a (role = web) · role/web.yaml:1 (may differ)
            may differ: vault_lookup (not run)"#]],
    );
}

#[test]
fn a_declared_backend_is_read_and_named() {
    let declared = format!(
        "{EXPANDING}#- .hiera-ls.yaml\nbackends:\n  lib::expand: {{like: yaml_data, path: \"{{path}}/{{key_path}}.yaml\"}}\n"
    );
    let workspace = |change: &str| changed(&declared, change);
    check_all(
        workspace,
        |at| plain(at, "{}"),
        expect![[r#"
            $ port: 443 → po$0rt: 443
            profile::web::port — first found, for every node that reads this file
              443
            set in common/profile/web.yaml:1 · overrides common.yaml:2
            lib::expand is declared to read like yaml_data (not run)
            $ port: 80 → po$0rt: 80
            profile::web::port — first found, for every node that reads this file
              443
            set in common/profile/web.yaml:1 · overrides common.yaml:2
            lib::expand is declared to read like yaml_data (not run)
            $ lookup_key: lib::expand → lookup_key: lib::ex$0pand
            lib::expand — a custom backend: it is never run here, and is declared to read like yaml_data
            defined in modules/lib/lib/puppet/functions/lib/expand.rb:1
        "#]],
    );
    check(
        &workspace("port: 443 → po$0rt: 443"),
        |at| plain(at, "{a: {}, b: {}}"),
        expect![[r#"
            profile::web::port — first found, for both nodes that read this file
              443
            set in common/profile/web.yaml:1 · overrides common.yaml:2
            lib::expand is declared to read like yaml_data (not run)
            nodes known only by name, without facts"#]],
    );
}

#[test]
fn a_file_that_no_level_reads_is_marked() {
    check(
        &with_hierarchy("#- data/orphan.yaml\na$0: 1\n"),
        |at| plain(at, "{}"),
        expect![[r#"
            a — no level of the hierarchy reads this file
              1
            hierarchies: hiera.yaml (in use)"#]],
    );
}
