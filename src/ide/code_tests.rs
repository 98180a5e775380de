//! Features between data and Puppet code: class parameters, lookups and classes.

use expect_test::expect;

use super::completion::complete;
use super::definition::{declaration, definition, type_definition};
use super::fixture_tests::{
    AtCursor, all_shown, at_cursor, changed, check, check_all, with_hierarchy,
};
use super::references::{Role, references};
use super::signature::signature;

const CODE: &str = "\
#- environment.conf
modulepath = modules
#- modules/web/types/port.pp
type Web::Port = Integer[1, 65535]
#- modules/web/manifests/init.pp
# A web server.
# @param port Where it listens.
class web(
  Web::Port $port,
  Enum['absent', 'present'] $ensure = 'present',
  Optional[Boolean] $tls = undef,
) {
  $x = lookup('users.bob', Hash)
  include web::log
}
#- modules/web/manifests/log.pp
class web::log {
  $y = lookup({'name' => 'web::port'})
  $z = lookup(\"web::${x}\")
}
#- data/role/web.yaml
web::port: 443
users: {bob: {uid: 1}}
";

/// Data in the common level, with code and other data.
pub(crate) fn in_common(text: &str) -> String {
    with_hierarchy(&format!("{CODE}#- data/common.yaml\n{text}"))
}

/// The code and data, with a change.
pub(crate) fn in_code(change: &str) -> String {
    let text = in_common("web::port: 80\nclasses: [web, '::web::log']\n");
    changed(&text, change)
}

/// The answer of a request; `none` if it has no answer.
fn answered(at: &AtCursor<'_>, request: impl Fn(&AtCursor<'_>) -> Option<String>) -> String {
    at.also_half_typed(|at| request(at).unwrap_or_else(|| "none".to_owned()))
}

fn defined(at: &AtCursor<'_>) -> String {
    answered(at, |at| {
        let found = definition(at.analysis, at.path, at.offset, at.facts)?;
        Some(all_shown(at.analysis.snapshot, &found.places))
    })
}

fn declared(at: &AtCursor<'_>) -> String {
    answered(at, |at| {
        let found = declaration(at.analysis, at.path, at.offset, at.facts)?;
        Some(all_shown(at.analysis.snapshot, &found.places))
    })
}

fn typed(at: &AtCursor<'_>) -> String {
    answered(at, |at| {
        let found = type_definition(at.analysis, at.path, at.offset)?;
        Some(all_shown(at.analysis.snapshot, &found.places))
    })
}

fn referenced(at: &AtCursor<'_>) -> String {
    let roles = [Role::Definition, Role::Option, Role::Use];
    answered(at, |at| {
        let found = references(at.analysis, at.path, at.offset, &roles)?;
        Some(all_shown(at.analysis.snapshot, &found))
    })
}

fn offered(at: &AtCursor<'_>) -> String {
    answered(at, |at| {
        let found = complete(at.analysis, at.path, at.offset)?;
        let lines = found.items.iter().map(|item| {
            let detail = item.detail.as_deref().unwrap_or_default();
            let documentation = item.documentation.as_deref().unwrap_or_default();
            format!("{}  {detail}  {documentation}", item.label)
                .trim_end()
                .to_owned()
        });
        Some(lines.collect::<Vec<_>>().join("\n"))
    })
}

#[test]
fn keys_and_parameters_lead_to_each_other() {
    check_all(
        in_common,
        defined,
        expect![[r#"
            $ web::po$0rt: 80\n
            data/common.yaml:1 web::port
            data/role/web.yaml:1 web::port
            modules/web/manifests/init.pp:4 $port
            $ a: "%{lookup('web::t$0ls')}"\n
            modules/web/manifests/init.pp:6 $tls
        "#]],
    );
    check(
        &in_common("web::po$0rt: 80\n"),
        declared,
        expect![[r#"
        modules/web/manifests/init.pp:4 $port
        hiera.yaml:7 common.yaml"#]],
    );
    check_all(
        in_common,
        typed,
        expect![[r#"
            $ web::po$0rt: 80\n
            modules/web/types/port.pp:1 Web::Port
            $ web::ens$0ure: absent\n
            modules/web/manifests/init.pp:5 Enum['absent', 'present']
        "#]],
    );
    check_all(
        in_code,
        defined,
        expect![[r#"
            $ $port, → $po$0rt,
            data/common.yaml:1 web::port
            data/role/web.yaml:1 web::port
            modules/web/manifests/init.pp:4 $port
            $ 'users.bob' → 'users.bo$0b'
            data/role/web.yaml:2 bob
            $ 'users.bob' → 'us$0ers.bob'
            data/role/web.yaml:2 users
        "#]],
    );
}

#[test]
fn classes_lead_to_manifests() {
    check_all(
        in_code,
        defined,
        expect![[r#"
            $ [web, → [we$0b,
            modules/web/manifests/init.pp:3 web
            $ include web::log → include web::l$0og
            modules/web/manifests/log.pp:1 web::log
        "#]],
    );
}

#[test]
fn references_are_in_code_too() {
    check_all(
        in_code,
        referenced,
        expect![[r#"
            $ web::port: 80 → web::po$0rt: 80
            data/common.yaml:1 web::port
            data/role/web.yaml:1 web::port
            modules/web/manifests/init.pp:4 $port
            modules/web/manifests/log.pp:2 web::port
            $ 'users.bob' → 'users.bo$0b'
            modules/web/manifests/init.pp:8 users.bob
            data/role/web.yaml:2 bob
            $ '::web::log' → '::web::l$0og'
            data/common.yaml:2 '::web::log'
            modules/web/manifests/init.pp:9 web::log
            modules/web/manifests/log.pp:1 web::log
        "#]],
    );
}

#[test]
fn parameters_that_are_not_set_are_offered() {
    check_all(
        in_common,
        offered,
        expect![[r#"
            $ web::ensure: absent\nweb::$0
            web::port  Web::Port, required  Where it listens.
            web::tls  Optional[Boolean] = undef
            $ w$0
            web::port  Web::Port, required  Where it listens.
            web::ensure  Enum['absent', 'present'] = 'present'
            web::tls  Optional[Boolean] = undef
            $ web::ensure: $0
            absent  by its type
            present  by its type
            $ web::tls: $0
            true  by its type
            false  by its type
            $ classes:\n  - we$0
            web  class
            web::log  class
        "#]],
    );
}

#[test]
fn keys_are_offered_in_lookups_of_manifests() {
    check_all(
        in_code,
        offered,
        expect![[r#"
            $ 'users.bob' → 'us$0'
            users
            $ 'users.bob' → 'users.$0'
            bob
            $ lookup('users.bob', Hash) → lookup(\n    'us$0'\n  )
            users
        "#]],
    );
    for call in [
        "lookup('us$0",
        "lookup({name => 'us$0'})",
        "lookup({merge => 'deep', 'name' => \"us$0\"})",
        "lookup(['web::port', 'us$0'])",
        "hiera_hash(\"us$0",
        "\"a ${lookup('us$0')}\"",
        "\"a ${lookup('us$0",
    ] {
        check(
            &in_code(&format!("lookup('users.bob', Hash) → {call}")),
            offered,
            expect!["users"],
        );
    }
    for no_key in [
        "lookup('web::port', 'us$0')",
        "lookup({default_value => 'us$0'})",
        "notice('us$0')",
        "1 # lookup('us$0')",
        "us$0",
    ] {
        check(
            &in_code(&format!("lookup('users.bob', Hash) → {no_key}")),
            offered,
            expect!["none"],
        );
    }
}

#[test]
fn classes_are_offered_where_manifests_include_them() {
    for place in [
        "include web::l$0",
        "include web::$0",
        "contain 'web::l$0'",
        "require(web, web::l$0)",
        "include(['web', \"web::l$0",
        "class { 'web::l$0': }",
    ] {
        check(
            &in_code(&format!("include web::log → {place}")),
            offered,
            expect!["web::log  class"],
        );
    }
    check(
        &in_code("include web::log → include web,\n    ::web::l$0"),
        offered,
        expect!["::web::log  class"],
    );
    for place in ["require => we$0", "notice(we$0)", "# include we$0"] {
        check(
            &in_code(&format!("include web::log → {place}")),
            offered,
            expect!["none"],
        );
    }
}

const TYPES: &str = "\
#- environment.conf
modulepath = modules
#- modules/app/types/access.pp
type App::Access = Struct[{user => String, Optional[level] => Enum['read', 'write', 'no']}]
#- modules/app/manifests/init.pp
class app(
  Struct[{host => String, Optional[port] => Integer[1, 65535], mode => Enum['a', 'b']}] $conf,
  Hash[Enum['k1', 'k2'], Boolean] $flags,
  Array[App::Access] $list,
  Optional[Hash[String, App::Access]] $users,
  Variant[Boolean, Enum['on', 'ask']] $either,
) { }
";

fn with_types(data: &str) -> String {
    let text = with_hierarchy(&format!("{TYPES}#- data/common.yaml\n{data}"));
    text.replace(
        "with_data",
        "#- data/role/web.yaml\napp::conf: {host: x, extra: 1}\n",
    )
}

#[test]
fn members_and_values_are_offered_by_their_types() {
    check_all(
        with_types,
        offered,
        expect![[r#"
            $ app::conf:\n  $0
            host  String, required
            mode  Enum['a', 'b'], required
            port  Integer[1, 65535]
            $ app::conf:\n  host: x\n  $0\n  port: 1\n
            mode  Enum['a', 'b'], required
            $ app::conf: {host: x, $0, port: 1}\n
            mode  Enum['a', 'b'], required
            $ app::conf: $0
            $ app::conf:\n  mode: $0
            a  by its type
            b  by its type
            $ app::flags:\n  $0
            k1  Boolean
            k2  Boolean
            $ app::flags: $0
            $ app::flags: {k1: $0
            true  by its type
            false  by its type
            $ app::list:\n  - user: x\n    $0
            level  Enum['no', 'read', 'write']
            $ app::list:\n  - level: $0
            'no'  by its type
            read  by its type
            write  by its type
            $ app::users:\n  alice:\n    le$0
            level  Enum['no', 'read', 'write']
            $ app::users:\n  alice:\n    level: 'r$0'
            read  by its type
            write  by its type
            $ app::either: $0
            true  by its type
            false  by its type
            ask  by its type
            'on'  by its type
            $ app::conf:\n  $0\nwith_data
            host  String, required
            mode  Enum['a', 'b'], required
            port  Integer[1, 65535]
            extra
        "#]],
    );
}

#[test]
fn lookups_of_manifests_have_a_signature() {
    let shown = |to: &str| {
        let text = in_code(&format!("lookup('users.bob', Hash) → {to}"));
        at_cursor(&text, None, |cursor| {
            let found = signature(cursor.analysis.snapshot, cursor.path, cursor.offset);
            found.map(|found| (found.label, found.parameters[found.active]))
        })
    };
    for (call, expected) in [
        ("lookup('$0", Some("name")),
        ("lookup('a', Hash[String, Integer], $0", Some("merge")),
        ("lookup('a', Struct[{a => $0", Some("value_type")),
        ("lookup('a', { merge => $0", Some("merge")),
        (
            "lookup({ name => 'a', default_value => [1, $0",
            Some("name"),
        ),
        (
            "lookup({ name => 'a', default_value => $0 })",
            Some("default_value"),
        ),
        ("lookup('a', Hash, 'deep', { merge => $0", Some("default")),
        ("hiera_hash('a', $0", Some("default")),
        ("# lookup('a', $0", None),
        ("lookup('a')$0", None),
        ("notice('a$0", None),
    ] {
        assert_eq!(shown(call).map(|(_, active)| active), expected, "{call}");
    }
    let label = shown("hiera('a', $0").map(|(label, _)| label);
    assert_eq!(label, Some("hiera(key, default, override)"));
}
