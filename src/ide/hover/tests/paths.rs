//! Hovers on paths of a hierarchy, and on keys beside a file that Puppet refuses.

use expect_test::expect;

use super::*;

#[test]
fn a_file_that_puppet_refuses_fails_every_lookup_of_its_nodes() {
    check_all(
        with_hierarchy,
        |at| plain(at, "{}"),
        expect![[r#"
            $ #- data/role/web.yaml\np$0ort: 443\n#- data/common.yaml\nport: 80\nmotd: "open\n
            port — first found, for every node that reads this file
              443
            set in role/web.yaml:1 · overrides common.yaml:1
            common.yaml:2 does not parse: Puppet refuses it, every lookup fails until it is fixed
            ## a refused file that only some nodes may read is not mentioned for another
            $ #- data/common.yaml\np$0ort: 80\n#- data/site/ams.yaml\nport: 1\nmotd: "open\n
            port — first found, for every node that reads this file (may differ)
              80
            set in common.yaml:1
            may differ: facts.site = ams
            ## dates are refused as well, without an error of syntax
            $ #- data/common.yaml\np$0ort: 80\nday: 2024-01-01\n
            port — first found, for every node that reads this file
              80
            set in common.yaml:1
            common.yaml:2 does not load: Puppet refuses it, every lookup fails until it is fixed
        "#]],
    );
    check_all(
        with_hierarchy,
        |at| plain(at, NODES),
        expect![[r#"
            $ #- data/common.yaml\np$0ort: 80\n#- data/site/ams.yaml\nport: 1\nmotd: "open\n
            port — first found, 2 different values on 4 nodes
              80  # c.example and 1 more · common.yaml:1
            1 on a.example and 1 more (facts.site = ams) · site/ams.yaml:1
            site/ams.yaml:2 does not parse: Puppet refuses it, every lookup fails on 2 nodes until it is fixed
            $ #- data/common.yaml\np$0ort: 80\n#- data/site/ams.yaml\nmotd: "open\n
            port — first found, for 2 of 4 nodes that read this file
              80
            set in common.yaml:1 · not set in site/ams.yaml
            site/ams.yaml:1 does not parse: Puppet refuses it, every lookup fails on 2 nodes until it is fixed
        "#]],
    );
    let broken = "#- data/site/ams.yaml\nport: 1\nmotd: \"open\n";
    check(
        &with_hierarchy(&format!("#- data/common.yaml\np$0ort: 80\n{broken}")),
        |at| plain_for(at, NODES, "c.example"),
        expect![[r#"
            port — first found, for c.example
              80
            set in common.yaml:1"#]],
    );
}

/// A file that only seems to belong to the role level, and two globs in one level.
const PATTERNS: &str = "\
#- hiera.yaml
version: 5
hierarchy:
  - {name: Role, path: \"role/%{role}.yaml\"}
  - {name: Globs, globs: ['os/*.yaml', 'site/%{facts.site}/*.yaml']}
  - {name: Services, mapped_paths: [services, service, 'service/%{service}.yaml']}
  - {name: Pair, path: \"pair/%{role}/%{facts.site}.yaml\"}
#- data/role/web.yaml
a: 1
#- data/role/web-ams.yaml
a: 2
#- data/os/deb.yaml
a: 3
#- data/site/ams/x.yaml
a: 4
#- data/site/rim/x.yaml
a: 4
#- data/service/dns.yaml
a: 5
#- data/pair/web/ams.yaml
a: 6
";

const WITH_SERVICES: &str = "
a.example: {facts: {site: ams}, variables: {role: web, services: [dns, ntp]}}
b.example: {facts: {site: lhr}, variables: {role: web, services: [dns]}}
c.example: {facts: {site: lhr}, variables: {role: db, services: []}}
";

#[test]
fn a_path_separates_files_that_nodes_read_from_other_matches() {
    let places = [
        ("role/%{role}.y$0aml", None),
        ("os/*.y$0aml", None),
        ("site/%{facts.site}/*.y$0aml", None),
        ("service/%{ser$0vice}.yaml", None),
        ("pair/%{role}/%{facts.site}.y$0aml", None),
        ("role/%{role}.y$0aml", Some("a.example")),
        ("role/%{role}.y$0aml", Some("c.example")),
        ("service/%{ser$0vice}.yaml", Some("a.example")),
    ];
    let hovers = places.map(|(at, selected)| {
        let text = PATTERNS.replace(&at.replace("$0", ""), at);
        plain_of(hover_with(&text, &nodes(WITH_SERVICES), selected))
    });
    expect![[r#"
        role/%{role}.yaml — 1 file: data/role/web.yaml · 2 of 3 nodes have a file · 1 matching file that
          no known node reads · no file for role = db
        os/*.yaml — 1 file: data/os/deb.yaml
        site/%{facts.site}/*.yaml — 1 file: data/site/ams/x.yaml · 1 of 3 nodes has a file · 1 matching
          file that no known node reads · no file for facts.site = lhr
        %{service} — each element of services: dns for 2 nodes, ntp for 1 node
        service/%{service}.yaml — 1 file: data/service/dns.yaml · 2 of 3 nodes have a file
        pair/%{role}/%{facts.site}.yaml — 1 file: data/pair/web/ams.yaml · 1 of 3 nodes has a file · no
          file for role = web, facts.site = lhr; role = db, facts.site = lhr
        role/%{role}.yaml — 1 file: data/role/web.yaml for a.example
        role/%{role}.yaml — no file for c.example: role = db
        %{service} — each element of services: dns, ntp, for a.example
        service/%{service}.yaml — 1 file: data/service/dns.yaml for a.example"#]].assert_eq(&hovers.join("\n"));
}
