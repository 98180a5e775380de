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
fn keys_and_parameters_of_classes() {
    check_all(
        with_class,
        |at| plain(at, "{}"),
        expect![[r#"
            ## a key shows the parameter that it is for
            $ #- data/common.yaml\nntp::servers$0: [a, b]\n
            ntp::servers — first found, for every node that reads this file
              - a
              - b
            set in common.yaml:1
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            $servers — The servers, in order.
            $ #- data/common.yaml\nntp::count$0: 3\n
            ntp::count — first found, for every node that reads this file
              3
            set in common.yaml:1
            class ntp · Integer[1] $count · modules/ntp/manifests/init.pp:9
            $ #- data/common.yaml\nntp::other$0: 3\n
            ntp::other — first found, for every node that reads this file
              3
            set in common.yaml:1
            class ntp · has no parameter $other
            ## a key that the class looks up itself is no missing parameter
            $ #- modules/ntp/manifests/config.pp\nclass ntp::config {\n  $x = lookup('ntp::extra')\n}\n#- data/common.yaml\nntp::extra$0: 3\n
            ntp::extra — first found, for every node that reads this file
              3
            set in common.yaml:1
            class ntp · no parameter of that name; looked up in modules/ntp/manifests/config.pp:2
        "#]],
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
    check_all(
        at,
        |at| plain(at, "{}"),
        expect![[r#"
            $ $servers
            ntp::servers — first found, for every node
              - a
            set in data/common.yaml:1
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            $servers — The servers, in order.
            $ $count
            ntp::count — not found, for every node
            class ntp · Integer[1] $count · modules/ntp/manifests/init.pp:9
            $ class nt
            class ntp · modules/ntp/manifests/init.pp:6
            $servers — [a] · Array[Stdlib::Host]
            $iburst — default true (may differ) · Boolean
            $count — not set · Integer[1]
            $ Integer
            nothing
        "#]],
    );
    check(
        &at("$iburst").replace("ntp::iburst: ", "other: "),
        |at| plain(at, "{}"),
        expect![[r#"
            ntp::iburst — not found, for every node: the default true is used
            class ntp · Boolean $iburst = true · modules/ntp/manifests/init.pp:8"#]],
    );
    check_all(
        at,
        |at| plain(at, NODES),
        expect![[r#"
            $ $iburst
            ntp::iburst — first found, 2 different values on 4 nodes
              false  # a.example and 1 more · data/site/ams.yaml:1
            not found on c.example and 1 more
            class ntp · Boolean $iburst = true · modules/ntp/manifests/init.pp:8
            $ 'ntp::serv
            ntp::servers — first found, for all 4 known nodes
              - a
            set in data/common.yaml:1 · not set in data/site/ams.yaml
            class ntp · Array[Stdlib::Host] $servers = [] · modules/ntp/manifests/init.pp:7
            $servers — The servers, in order.
            $ include nt
            class ntp · modules/ntp/manifests/init.pp:6
            $servers — [a] · Array[Stdlib::Host]
            $iburst — 2 different values · Boolean
            $count — not set · Integer[1]
        "#]],
    );
}

#[test]
fn a_parameter_is_documented_whatever_its_name_is() {
    let text = with_hierarchy(
        "#- environment.conf\n#- modules/ntp/manifests/init.pp\n# @param p the p\n# @param [S] s: the s\n\
         class ntp ($p, $s) { }\n#- data/common.yaml\nntp::p: 1\nntp::s: 1\n",
    );
    for (key, expected) in [("ntp::p", "$p — the p"), ("ntp::s", "$s — the s")] {
        let text = text.replace(&format!("{key}: 1"), &format!("{key}$0: 1"));
        let shown = hover_with(&text, &KnownNodes::default(), None).map(|hover| hover.plain);
        let shown = shown.unwrap_or_default();
        assert_eq!(shown.lines().last(), Some(expected), "{shown}");
    }
}

#[test]
fn a_class_shows_what_the_selected_node_gets() {
    let text = with_class(
        "#- data/site/ams.yaml\nntp::iburst: false\n#- data/common.yaml\nntp::count: 2\n",
    )
    .replace("include ntp", "include nt$0p");
    let shown = |selected| {
        let found = hover_with(&text, &nodes(NODES), selected).map(|hover| hover.plain);
        let found = found.unwrap_or_default();
        let line = found
            .lines()
            .find(|line| line.contains("$iburst"))
            .unwrap_or_default();
        line.to_owned()
    };
    assert_eq!(shown(None), "$iburst — 2 different values · Boolean");
    assert_eq!(shown(Some("a.example")), "$iburst — false · Boolean");
    assert_eq!(shown(Some("d.example")), "$iburst — default true · Boolean");
}

#[test]
fn a_call_shows_the_result_of_its_own_merge() {
    let with_call = |call: &str| {
        with_class(&format!(
            "#- data/site/ams.yaml\nlist: [x]\n#- data/common.yaml\nlist: [y]\n\
             #- modules/m/manifests/init.pp\nclass m {{\n  $v = {call}\n}}\n"
        ))
    };
    check_all(
        with_call,
        |at| plain(at, NODES),
        expect![[r#"
            $ lookup('list$0')
            list — first found, 2 different values on 4 nodes
              - x  # a.example and 1 more · data/site/ams.yaml:1
            [y] on c.example and 1 more · data/common.yaml:1
            $ lookup('list$0', Array, 'unique', 'other')
            list — merged unique, 2 different values on 4 nodes
              # a.example and 1 more
              - x  # data/site/ams.yaml:1
              - y  # data/common.yaml:1
            [y] on c.example and 1 more
            merge: unique, from the call
            default of the call: 'other'
            $ lookup('list$0', { merge => { 'strategy' => 'unique' }, default_value => [] })
            list — merged unique, 2 different values on 4 nodes
              # a.example and 1 more
              - x  # data/site/ams.yaml:1
              - y  # data/common.yaml:1
            [y] on c.example and 1 more
            merge: {strategy: unique}, from the call
            default of the call: []
            $ lookup('list$0', undef, $how)
            list — first found, 2 different values on 4 nodes
              - x  # a.example and 1 more · data/site/ams.yaml:1
            [y] on c.example and 1 more · data/common.yaml:1
            may be merged by the call: $how
            $ lookup('list$0', $options)
            list — first found, 2 different values on 4 nodes
              - x  # a.example and 1 more · data/site/ams.yaml:1
            [y] on c.example and 1 more · data/common.yaml:1
            may be merged by the call: $options
            $ hiera_array('list$0')
            list — merged unique, 2 different values on 4 nodes
              # a.example and 1 more
              - x  # data/site/ams.yaml:1
              - y  # data/common.yaml:1
            [y] on c.example and 1 more
            merge: unique, from the call
            $ hiera_include('list$0', 'none')
            list — merged unique, 2 different values on 4 nodes
              # a.example and 1 more
              - x  # data/site/ams.yaml:1
              - y  # data/common.yaml:1
            [y] on c.example and 1 more
            merge: unique, from the call
            default of the call: 'none'
        "#]],
    );
}

#[test]
fn hovers_name_the_call_that_uses_another_merge() {
    let files = |call: &str, options: &str| {
        format!(
            "#- data/site/ams.yaml\nlist: [x]\n#- data/common.yaml\nli$0st: [y]\n{options}\
             #- modules/m/manifests/init.pp\nclass m {{\n  $v = {call}\n}}\n"
        )
    };
    let merge_line = |call, options| {
        let page = at_cursor(&with_class(&files(call, options)), None, |at| {
            plain(&at, NODES)
        });
        page.lines()
            .filter(|line| line.contains("looked up"))
            .collect::<String>()
    };
    let with_unique = "looked up with merge unique in modules/m/manifests/init.pp:2";
    assert_eq!(
        merge_line("lookup('list', Array, 'unique')", ""),
        with_unique
    );
    assert_eq!(merge_line("hiera_array('list')", ""), with_unique);
    assert_eq!(merge_line("lookup('list')", ""), "");
    assert_eq!(merge_line("lookup('list', Array, $how)", ""), "");
    let options = "lookup_options: {list: {merge: unique}}\n";
    assert_eq!(merge_line("lookup('list', Array, 'unique')", options), "");
}

#[test]
fn words_of_a_documentation_are_no_markdown_except_code_between_equal_backquotes() {
    check_cases(
        expect![[r#"
            $ a `Port` or a [list](x) of *them*
            **`ntp::port`** — first found, for all 4 nodes that read this file
            ```yaml
            1
            ```
            set in [common.yaml:1](file:///repo/data/common.yaml#L1)  
            class ntp · `$port` · [modules/ntp/manifests/init.pp:2](file:///repo/modules/ntp/manifests/init.pp#L2)  
            `$port` — a `Port` or a \[list\](x) of \*them\*
            -- aligned
            **`ntp::port`** — first found, for all 4 nodes that read this file
            ```yaml
            1
            ```
            set in `common.yaml:1`  
            class ntp · `$port` · `modules/ntp/manifests/init.pp:2`  
            `$port` — a `Port` or a `[list](x)` of `*them*`
            -- plain
            ntp::port — first found, for all 4 nodes that read this file
              1
            set in common.yaml:1
            class ntp · $port · modules/ntp/manifests/init.pp:2
            $port — a Port or a [list](x) of *them*
            $ a `Port`, ``a`b``, `c``d` or a `quoted' word
            **`ntp::port`** — first found, for all 4 nodes that read this file
            ```yaml
            1
            ```
            set in [common.yaml:1](file:///repo/data/common.yaml#L1)  
            class ntp · `$port` · [modules/ntp/manifests/init.pp:2](file:///repo/modules/ntp/manifests/init.pp#L2)  
            `$port` — a `Port`, ``a`b``, ```c``d``` or a \`quoted' word
            -- aligned
            **`ntp::port`** — first found, for all 4 nodes that read this file
            ```yaml
            1
            ```
            set in `common.yaml:1`  
            class ntp · `$port` · `modules/ntp/manifests/init.pp:2`  
            `$port` — a `Port`, ``a`b``, ```c``d``` or a `` `quoted' `` word
            -- plain
            ntp::port — first found, for all 4 nodes that read this file
              1
            set in common.yaml:1
            class ntp · $port · modules/ntp/manifests/init.pp:2
            $port — a Port, a`b, c``d or a `quoted' word
        "#]],
        |documentation| {
            let files = format!(
                "#- environment.conf\n#- modules/ntp/manifests/init.pp\n\
                 # @param port {documentation}\nclass ntp ($port) {{}}\n\
                 #- data/common.yaml\nntp::port$0: 1\n"
            );
            at_cursor(&with_hierarchy(&files), None, |at| forms(&at, NODES))
        },
    );
}

#[test]
fn values_of_a_declaration_override_data() {
    let text = with_class("#- data/common.yaml\nntp::count: 3\n");
    check_all(
        |given| text.replace("include ntp", &format!("class {{ 'nt$0p': {given} }}")),
        |at| plain(at, NODES),
        expect![[r#"
            $ count => 2
            class ntp · modules/ntp/manifests/init.pp:6
            $servers — default [] · Array[Stdlib::Host]
            $iburst — default true · Boolean
            $count — given here · Integer[1]
            $ * => $all
            class ntp · modules/ntp/manifests/init.pp:6
            $servers — default [], unless it is given here · Array[Stdlib::Host]
            $iburst — default true, unless it is given here · Boolean
            $count — 3, unless it is given here · Integer[1]
        "#]],
    );
}
