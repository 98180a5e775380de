//! Hovers on what plans of Bolt look up outside of apply blocks.

use expect_test::expect;

use super::*;

const PROJECT: &str = "#- bolt-project.yaml\nname: p\n\
    #- hiera.yaml\nversion: 5\nhierarchy:\n- {name: o, path: 'os/%{facts.os.family}.yaml'}\n\
    - {name: c, path: common.yaml}\n\
    plan_hierarchy:\n- {name: a, path: 'app/%{application}.yaml'}\n- {name: p, path: plan.yaml}\n\
    - {name: c, path: common.yaml}\n\
    #- data/os/Debian.yaml\nport: 3\n#- data/app/shop.yaml\nport: 4\n";

#[test]
fn keys_of_plans_are_for_plans() {
    let text = format!("{PROJECT}#- data/common.yaml\nport: 1\n#- data/plan.yaml\nport$0: 2\n");
    check(
        &text,
        |at| plain(at, "{n: {facts: {os: {family: Debian}}}}"),
        expect![[r#"
            port — first found, for plans (may differ)
              2
            set in plan.yaml:1 · overrides common.yaml:1
            may differ: application = shop"#]],
    );
    let text = format!("{PROJECT}#- data/common.yaml\nport$0: 1\n#- data/plan.yaml\nport: 2\n");
    check(
        &text,
        |at| plain(at, "{n: {facts: {os: {family: Debian}}}}"),
        expect![[r#"
            port — first found, for n, the only node that reads this file
              3
            set in os/Debian.yaml:1 · overrides common.yaml:1"#]],
    );
}

#[test]
fn plans_have_no_node_and_may_have_variables() {
    for (written, expected) in [
        (
            "%{fa$0cts.os.family}",
            expect![
                "%{facts.os.family} — undefined, so a lookup fails: plans have no node outside of apply blocks"
            ],
        ),
        (
            "%{appl$0ication}",
            expect!["%{application} — depends on the variables of the plan"],
        ),
    ] {
        let text = format!("{PROJECT}#- data/plan.yaml\nkey: '{written}'\n");
        check(&text, |at| plain(at, "{n: {}}"), expected);
    }
    let text = format!("{PROJECT}#- data/plan.yaml\nke$0y: '%{{facts.os.family}}'\n");
    check(
        &text,
        |at| plain(at, "{n: {}}"),
        expect![[r#"
        key — Puppet fails here: Undefined variable 'facts'
        for plans"#]],
    );
}
