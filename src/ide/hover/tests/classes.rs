//! Hovers on keys of class parameters, and in manifests.

use expect_test::expect;

use super::*;

const CLASS: &str = "\
#- environment.conf
#- modules/ntp/manifests/init.pp
# Time.
#
# @param servers
#   The servers,
#   in order.
class ntp (
  Array[Stdlib::Host] $servers = [],
  Boolean             $iburst  = true,
  Integer[1]          $count,
) { }
#- manifests/site.pp
node default {
  include ntp
  $x = lookup('ntp::servers')
}
";

fn with_class(files: &str) -> String {
    with_hierarchy(&format!("{CLASS}{files}"))
}

#[test]
fn a_key_shows_the_parameter_that_it_is_for() {
    check(
        &with_class("#- data/common.yaml\nntp::servers$0: [a, b]\n"),
        expect![[r#"
            ntp::servers — first found, for every node that reads this file
              - a
              - b
            set in common.yaml:1
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            The servers,
            in order."#]],
    );
    check(
        &with_class("#- data/common.yaml\nntp::count$0: 3\n"),
        expect![[r#"
            ntp::count — first found, for every node that reads this file
              3
            set in common.yaml:1
            class ntp · Integer[1] $count · modules/ntp/manifests/init.pp:9"#]],
    );
    check(
        &with_class("#- data/common.yaml\nntp::other$0: 3\n"),
        expect![[r#"
            ntp::other — first found, for every node that reads this file
              3
            set in common.yaml:1
            class ntp · has no parameter $other"#]],
    );
}

#[test]
fn a_parameter_in_a_manifest_shows_its_value() {
    let data =
        "#- data/site/ams.yaml\nntp::iburst: false\n#- data/common.yaml\nntp::servers: [a]\n";
    let at = |what: &str| {
        let cursor = format!("{what}$0");
        with_class(data).replacen(what, &cursor, 1)
    };
    check(
        &at("$servers"),
        expect![[r#"
            ntp::servers — first found, for every node
              - a
            set in data/common.yaml:1
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            The servers,
            in order."#]],
    );
    check(
        &at("$count"),
        expect![[r#"
        ntp::count — not found, for every node
        class ntp · Integer[1] $count · modules/ntp/manifests/init.pp:9"#]],
    );
    check_nodes(
        &at("$iburst"),
        NODES,
        expect![[r#"
            ntp::iburst — first found, 2 different values on 4 nodes
              false  # a.example and 1 more · data/site/ams.yaml:1
            not found on c.example and 1 more
            class ntp · Boolean $iburst = true · modules/ntp/manifests/init.pp:8"#]],
    );
    check_nodes(
        &at("'ntp::serv"),
        NODES,
        expect![[r#"
            ntp::servers — first found, for all 4 known nodes
              - a
            set in data/common.yaml:1 · not set in data/site/ams.yaml
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            The servers,
            in order."#]],
    );
    check_nodes(
        &at("include nt"),
        NODES,
        expect![[r#"
            class ntp · modules/ntp/manifests/init.pp:6
            $servers — [a] · Array[Stdlib::Host]
            $iburst — 2 different values · Boolean
            $count — not set · Integer[1]"#]],
    );
    check(
        &at("class nt"),
        expect![[r#"
            class ntp · modules/ntp/manifests/init.pp:6
            $servers — [a] · Array[Stdlib::Host]
            $iburst — default true (may differ) · Boolean
            $count — not set · Integer[1]"#]],
    );
    check(&at("Integer"), expect!["nothing"]);
}
