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
            common.yaml:1 sets it
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            The servers,
            in order."#]],
    );
    check(
        &with_class("#- data/common.yaml\nntp::count$0: 3\n"),
        expect![[r#"
            ntp::count — first found, for every node that reads this file
              3
            common.yaml:1 sets it
            class ntp · Integer[1] $count · modules/ntp/manifests/init.pp:9"#]],
    );
    check(
        &with_class("#- data/common.yaml\nntp::other$0: 3\n"),
        expect![[r#"
            ntp::other — first found, for every node that reads this file
              3
            common.yaml:1 sets it"#]],
    );
}
