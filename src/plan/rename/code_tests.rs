//! Renames of parameters and keys in Puppet code.

use expect_test::expect;

use super::rename;
use super::tests::{check_named, prepared, renamed, renamed_to};
use crate::ide::code_tests::{in_code, in_common};
use crate::ide::fixture_tests::{AtCursor, check, check_all, with_hierarchy};

/// A class with the parameter `$port`, a class that inherits it, and code that sets it.
const CODE: &str = "\
#- modules/web/manifests/init.pp
# A server.
#
# @param port Where it listens.
# @param [String] host Its name.
class web(
  Integer $port = 80,
  String $host = \"x:${port}\",
) {
  file { '/x': content => \"port=$port ${port[0]} \\$port\\n\" }
  [1].each |$port| { notice($port) }
  [1].each |$it| { notice($web::port, $::web::port, $other::port) }
}
#- modules/web/manifests/child.pp
class web::child inherits web { notice($port) }
class web::own($port) inherits web { notice($port) }
define web::thing($port) { notice($port, $web::port) }
#- manifests/site.pp
class { 'web': port => 81, host => 'y' }
class { ['::web', other]: port => 81 }
Class['web'] { port => 82 }
other { 'web': port => 1 }
#- modules/web/templates/x.epp
<%= $web::port %> port
";

#[test]
fn the_parameter_of_a_class_is_renamed_with_its_key() {
    let changed = expect![[r#"
        asks: renames the parameter $port of the class web in Puppet code too; ERB templates, and code that computes the name, stay as they are
        data/common.yaml:1 web::listen: 80
        data/common.yaml:2 x: "%{lookup('web::listen')}"
        manifests/site.pp:1 class { 'web': listen => 81, host => 'y' }
        manifests/site.pp:2 class { ['::web', other]: listen => 81 }
        manifests/site.pp:3 Class['web'] { listen => 82 }
        modules/web/manifests/child.pp:1 class web::child inherits web { notice($listen) }
        modules/web/manifests/child.pp:3 define web::thing($port) { notice($port, $web::listen) }
        modules/web/manifests/init.pp:3 # @param listen Where it listens.
        modules/web/manifests/init.pp:6   Integer $listen = 80,
        modules/web/manifests/init.pp:7   String $host = "x:${listen}",
        modules/web/manifests/init.pp:9   file { '/x': content => "port=$listen ${listen[0]} \$port\n" }
        modules/web/manifests/init.pp:11   [1].each |$it| { notice($web::listen, $::web::listen, $other::port) }
        modules/web/templates/x.epp:1 <%= $web::listen %> port"#]];
    let data = |key: &str| {
        format!("{CODE}#- data/common.yaml\n{key}: 80\nx: \"%{{lookup('web::port')}}\"\n")
    };
    let in_data = with_hierarchy(&data("web::po$0rt"));
    let in_code = with_hierarchy(&data("web::port")).replace("Integer $port", "Integer $po$0rt");
    assert_eq!(
        renamed(&in_code, "listen"),
        renamed(&in_data, "web::listen")
    );
    check(&in_data, |at| renamed_to(at, "web::listen"), changed);
    check(&in_code, prepared, expect!["port: port"]);
    check_named(
        |_| in_data.clone(),
        expect![[r#"
            $ web::host ← 
            refused: 'web::host' is the parameter $host of the class web: automatic lookup would find the values for it
            $ listen ← 
            refused: 'web::port' is the parameter $port of the class web: a new name is 'web::' and the new name of the parameter
            $ web::it ← 
            refused: the class web already has a variable $it, in init.pp:11
        "#]],
    );
}

#[test]
fn a_rename_starts_from_a_use_in_puppet_code_too() {
    let data = "#- data/common.yaml\nweb::port: 80\nkey: 1\n";
    let manifest = "#- manifests/x.pp\n$a = lookup('key')\n$b = lookup({ name => 'key' })\n\
                    $c = lookup('web::port')\n";
    let text = with_hierarchy(&format!("{CODE}{manifest}{data}"));
    check(
        &text.replace("lookup('key')", "lookup('k$0ey')"),
        |at| renamed_to(at, "other"),
        expect![[r#"
            data/common.yaml:2 other: 1
            manifests/x.pp:1 $a = lookup('other')
            manifests/x.pp:2 $b = lookup({ name => 'other' })"#]],
    );
    let from_declaration = renamed(&text.replace("Integer $port", "Integer $po$0rt"), "listen");
    for (written, with_cursor) in [
        ("port=$port", "port=$po$0rt"),
        ("x:${port}", "x:${po$0rt}"),
        ("$web::port, $::", "$web::po$0rt, $::"),
        ("port => 81, host", "po$0rt => 81, host"),
        ("Class['web'] { port", "Class['web'] { po$0rt"),
    ] {
        let at = text.replacen(written, with_cursor, 1);
        assert_eq!(renamed(&at, "listen"), from_declaration, "{written}");
    }
    let of_lambda = text.replace(
        "notice($port) }\n  [1].each |$it|",
        "notice($po$0rt) }\n  [1].each |$it|",
    );
    assert!(renamed(&of_lambda, "listen").starts_with("refused"));
}

#[test]
fn a_parameter_of_a_module_outside_the_modulepath_is_renamed_everywhere_or_nowhere() {
    let module = |folder: &str, more: &str| {
        let text = format!(
            "#- {folder}/p/manifests/init.pp\nclass p($tags) {{ notice($tags) }}\n{more}\
             #- data/common.yaml\np::ta$0gs: 1\n"
        );
        let in_data = with_hierarchy(&text);
        let in_code = in_data
            .replace("ta$0gs", "tags")
            .replace("p($tags", "p($ta$0gs");
        let renamed = [renamed(&in_data, "p::labels"), renamed(&in_code, "labels")];
        format!("{}\n{}\n", renamed[0], renamed[1])
    };
    let hierarchy = |folder: &str| format!("#- {folder}/p/hiera.yaml\nversion: 5\n");
    let description =
        |folder: &str| format!("#- {folder}/p/metadata.json\n{{\"name\": \"x-p\"}}\n");
    for folder in ["site-modules", "site", "dist"] {
        let both = hierarchy(folder) + &description(folder);
        for more in ["", &both] {
            let changed = format!(
                "asks: renames the parameter $tags of the class p in Puppet code too; ERB templates, and code that \
                 computes the name, stay as they are\ndata/common.yaml:1 p::labels: 1\n\
                 {folder}/p/manifests/init.pp:1 class p($labels) {{ notice($labels) }}\n"
            );
            assert_eq!(module(folder, more), changed.repeat(2), "{folder}");
        }
    }
    // A `hiera.yaml` alone makes a folder no module.
    let refused = "refused: the class p is in dist/p/manifests/init.pp, whose folder is not on the modulepath: \
                   whether data/common.yaml belongs to it is not known\n";
    assert_eq!(module("dist", &hierarchy("dist")), refused.repeat(2));
}

#[test]
fn renames_go_through_lookups_and_stop_at_parameters() {
    let places = |at: &AtCursor<'_>| {
        at.also_half_typed(
            |at| match rename(at.analysis, at.path, at.offset, "people") {
                Ok(renamed) => {
                    let edits = renamed.edits.iter();
                    let places = edits.map(|(path, edits)| format!("{path} {}", edits.len()));
                    places.collect::<Vec<_>>().join("\n")
                }
                Err(why) => format!("refused: {why}"),
            },
        )
    };
    check_all(
        in_common,
        places,
        expect![[r#"
            $ us$0ers: {}\n
            /repo/data/common.yaml 1
            /repo/data/role/web.yaml 1
            /repo/modules/web/manifests/init.pp 1
            $ web::po$0rt: 1\n
            refused: 'web::port' is the parameter $port of the class web: a new name is 'web::' and the new name of the parameter
            $ web::ot$0her: 1\n
            refused: log.pp:3 looks up a key that is computed and can be 'web::other': it would not be found there
        "#]],
    );
    check(
        &in_code("'users.bob' → 'us$0ers.bob'"),
        places,
        expect![[r#"
            /repo/data/role/web.yaml 1
            /repo/modules/web/manifests/init.pp 1"#]],
    );
}
