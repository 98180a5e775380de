//! Hovers on everything but keys.

use expect_test::expect;

use super::*;

#[test]
fn the_values_of_a_variable_are_known_from_file_names() {
    let text = with_hierarchy(
        "#- data/common.yaml\na: \"x %{fac$0ts.site} y\"\n#- data/site/ams.yaml\n#- data/site/lhr.yaml\n",
    );
    check(
        &text,
        |at| plain(at, "{}"),
        expect!["%{facts.site} — depends on the node; known from file names: ams, lhr"],
    );
}

#[test]
fn a_fact_that_a_module_adds_is_named_with_its_line() {
    let modules = "#- modules/m/lib/facter/site.rb\n# where\nFacter.add(:site) do\nend\n\
                   #- modules/n/facts.d/site.yaml\nrack: 1\nsite: x\n";
    for variable in ["facts.si$0te.name", "::si$0te"] {
        let text = with_hierarchy(&format!(
            "#- data/common.yaml\na: \"%{{{variable}}}\"\n{modules}"
        ));
        let shown = variable.replace("$0", "");
        let expected = format!(
            "%{{{shown}}} — depends on the node\na custom fact, added by modules/m/lib/facter/site.rb:2, \
             modules/n/facts.d/site.yaml:2"
        );
        at_cursor(&text, None, |at| assert_eq!(plain(&at, "{}"), expected));
    }
}

#[test]
fn things_in_data_are_explained() {
    check_all(
        with_hierarchy,
        |at| plain(at, "{}"),
        expect![[r#"
            ## a variable of the path is known
            $ #- data/role/web.yaml\na: "%{ro$0le}"\n
            %{role} — web, as this file's path says
            ## words are explained
            $ #- data/common.yaml\nlookup_options: {a: {merge: de$0ep}}\n
            deep — hashes and lists merged at every depth, the higher level winning
            $ #- data/common.yaml\nlookup_options: {a: {mer$0ge: deep}}\n
            merge — how values of several levels become one: first, unique, hash, deep, or a hash with a
              strategy
        "#]],
    );
    check_all(
        str::to_owned,
        |at| plain(at, "{}"),
        expect![[r#"
            $ #- hiera.yaml\nversion: 5\nhierarchy: [{name: x, lookup_key: my$0::vault}]\n
            my::vault — a custom backend: it is never run here, so its values are unknown
            no file of this workspace defines it
            $ #- hiera.yaml\nversion: 5\ndefaults: {datadir: da$0ta}\n
            data — the folder data
        "#]],
    );
}

#[test]
fn a_lookup_token_has_the_target_s_value() {
    let at = |token: &str| {
        with_hierarchy(&format!(
            "#- data/common.yaml\nsite::domain: example.com\nh: {{x: [5, 6]}}\na: \"{token}\"\n"
        ))
    };
    check_all(
        at,
        |at| plain(at, "{}"),
        expect![[r#"
            $ www.%{look$0up('site::domain')}
            %{lookup('site::domain')} — example.com (common.yaml:1)
            $ %{ali$0as('h.x')}
            %{alias('h.x')} — [5, 6] (common.yaml:2)
            $ %{looku$0p('nope')}
            %{lookup('nope')} — not found (the empty string)
        "#]],
    );
}

#[test]
fn an_options_entry_is_replaced_by_a_higher_one() {
    check(
        &with_hierarchy(
            "#- data/role/web.yaml\nlookup_options: {a: {convert_to: String}}\n#- data/site/ams.yaml\nlookup_options: {a$0: {merge: deep}}\na: 1\n",
        ),
        |at| plain(at, "{}"),
        expect![[r#"
            a — 1 file sets it
            the same entry is in role/web.yaml:1; of the files that a node reads, the highest one is used
            merge: deep"#]],
    );
    check(
        "#- hiera.yaml\nversion: 5\nhierarchy: [{name: x, paths: [a.yaml, b.yaml]}]\n#- data/a.yaml\nlookup_options: {k: {merge: first}}\n#- data/b.yaml\nlookup_options: {k$0: {merge: deep}}\nk: 1\n",
        |at| plain(at, "{}"),
        expect![[r#"
            k — 1 file sets it
            the same entry is in a.yaml:1; of the files that a node reads, the highest one is used
            replaced as a whole by the entry of the same name in a.yaml:1
            merge: deep"#]],
    );
}

#[test]
fn a_path_reaches_files_and_nodes() {
    let text = with_hierarchy("#- data/role/web.yaml\na: 1\n#- data/role/mail.yaml\na: 1\n")
        .replace("role/%{role}", "ro$0le/%{role}");
    check(
        &text,
        |at| plain(at, "{}"),
        expect!["role/%{role}.yaml — 2 files: data/role/mail.yaml, data/role/web.yaml"],
    );
    check_all(
        |cursor| text.replace("ro$0le/%{role}", cursor),
        |at| plain(at, NODES),
        expect![[r#"
            $ ro$0le/%{role}
            role/%{role}.yaml — 1 file: data/role/web.yaml · 3 of 4 nodes have a file · 1 matching file that
              no known node reads · no file for role = db
            $ role/%{ro$0le}
            %{role} — web for 3 nodes, db for 1 node
            role/%{role}.yaml — 1 file: data/role/web.yaml · 3 of 4 nodes have a file · 1 matching file that
              no known node reads · no file for role = db
        "#]],
    );
}

#[test]
fn levels_and_variables_of_mapped_paths_list_their_files() {
    let config = "#- hiera.yaml\nversion: 5\nhierarchy:\n  - {name: Sites, paths: [\"site/%{site}.yaml\", all.yaml]}\n  - {name: Roles, mapped_paths: [role, it, \"role/%{it}.yaml\"]}\n#- data/site/ams.yaml\na: 1\n#- data/role/web.yaml\na: 2\n#- data/all.yaml\nlookup_options: {}\n";
    let at = |place: &str| config.replacen(place, &format!("{place}$0"), 1);
    check_all(
        at,
        |at| plain(at, NODES),
        expect![[r#"
            $ name: Sit
            site/%{site}.yaml — 1 file: data/site/ams.yaml · 2 of 4 nodes have a file · no file for site = lhr
            all.yaml — 1 file: data/all.yaml
            $ name: Rol
            role/%{it}.yaml — 1 file: data/role/web.yaml · 3 of 4 nodes have a file
            $ mapped_paths: [ro
            role — web for 3 nodes, db for 1 node
            $ lookup_opt
            lookup_options — how keys, and keys that a pattern matches, are merged and converted; of the files
              that a node reads, the highest entry of a name is used
        "#]],
    );
}

#[test]
fn a_token_differs_over_nodes_or_shows_its_error() {
    check_all(
        with_hierarchy,
        |at| plain(at, NODES),
        expect![[r#"
            $ #- data/site/ams.yaml\np: 1\n#- data/common.yaml\np: 2\na: "%{look$0up('p')}"\n
            %{lookup('p')} — 1 for 2 nodes, 2 for 2 nodes
            $ #- data/common.yaml\nb: [1]\na: "x %{al$0ias('b')}"\n
            %{alias('b')} — Puppet fails here: 'alias' interpolation is only permitted if the expression is
              equal to the entire string
            $ #- data/common.yaml\na: "x %{no_s$0uch}"\n
            %{no_such} — undefined: an empty string for 4 nodes
        "#]],
    );
}
