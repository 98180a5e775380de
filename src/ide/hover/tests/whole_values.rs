//! Values that are too long for a hover, and ways to see all of them.

use expect_test::expect;

use super::*;
use crate::ide::hover::{DocumentedAnswers, document};
use crate::value::load_yaml;

fn whole_value(
    analysis: Analysis<'_>,
    path: &str,
    key: &str,
    options: &HoverOptions<'_>,
) -> Option<String> {
    document(analysis, path, key, options, DocumentedAnswers::One)
}

#[test]
fn a_long_value_is_linked_where_the_client_runs_commands() {
    let keys: String = (0..60).map(|at| format!("    k{at}: {at}\n")).collect();
    let text = with_hierarchy(&format!("#- data/common.yaml\nbig:\n  in$0ner:\n{keys}"));
    let link = |key: &str| format!("command:show?{key}");
    let options = HoverOptions {
        max_lines: 5,
        whole: Some(&link),
        ..HoverOptions::default()
    };
    let (found, whole) = at_cursor(&text, None, |at| {
        with_nodes(&at, &nodes(NODES), |analysis| {
            let found = hover(analysis, at.path, at.offset, &options);
            (found, whole_value(analysis, at.path, "big.inner", &options))
        })
    });
    let found = found.expect("a hover");
    expect![[r#"
        **`big.inner`** — first found, for all 4 nodes that read this file
        ```yaml
        k0: 0
        k1: 1
        # … 58 more lines
        ```
        [show all 60 lines](command:show?big.inner)  
        set in `common.yaml:2`"#]]
    .assert_eq(&found.markdown);
    expect![[r#"
        **`big.inner`** — first found, for all 4 nodes that read this file
        ```yaml
        k0: 0
        k1: 1
        # … 58 more lines: hiera-ls lookup big.inner
        ```
        set in `common.yaml:2`"#]]
    .assert_eq(&found.aligned);
    expect![[r#"
        big.inner — first found, for all 4 nodes that read this file
          k0: 0
          k1: 1
          # … 58 more lines: hiera-ls lookup big.inner
        set in common.yaml:2"#]]
    .assert_eq(&found.plain);
    // Without commands and links, Markdown equals the aligned form.
    let options = HoverOptions {
        whole: None,
        ..options
    };
    let without = at_cursor(&text, None, |at| hover_at(&at, &nodes(NODES), &options));
    assert_eq!(without.expect("a hover").markdown, found.aligned);

    let whole = whole.expect("a document");
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(
        lines[0],
        "# big.inner — first found, for all 4 nodes that read this file"
    );
    assert_eq!(lines[61], "# set in common.yaml:2");
    let value = load_yaml(whole.as_bytes()).expect("YAML");
    assert_eq!(value.as_hash().map(|hash| hash.len()), Some(60));
}

#[test]
fn several_whole_values_are_a_matter_of_the_matrix() {
    let text =
        with_hierarchy("#- data/site/ams.yaml\nport: 2\n#- data/common.yaml\npo$0rt: 1\nlast: 3\n");
    let hover_with = |key: &str, selected| {
        at_cursor(&text, selected, |at| {
            with_nodes(&at, &nodes(NODES), |analysis| {
                whole_value(analysis, at.path, key, &HoverOptions::default())
            })
        })
    };
    assert_eq!(hover_with("port", None), None);
    expect![[r#"
        # port — first found, for a.example
        2
        # set in site/ams.yaml:1 · overrides common.yaml:1
    "#]]
    .assert_eq(&hover_with("port", Some("a.example")).unwrap_or_default());
    expect![[r#"
        # last — first found, for all 4 nodes that read this file
        3
        # set in common.yaml:2 · not set in site/ams.yaml
    "#]]
    .assert_eq(&hover_with("last", None).unwrap_or_default());
}

#[test]
fn long_values_are_cut_in_the_middle() {
    let keys: String = (0..60).map(|at| format!("    k{at}: {at}\n")).collect();
    let text = with_hierarchy(&format!("#- data/common.yaml\nbig:\n  in$0ner:\n{keys}"));
    check(
        &text,
        |at| plain(at, NODES),
        expect![[r#"
            big.inner — first found, for all 4 nodes that read this file
              k0: 0
              k1: 1
              k2: 2
              k3: 3
              k4: 4
              k5: 5
              k6: 6
              k7: 7
              k8: 8
              k9: 9
              k10: 10
              k11: 11
              # … 43 more lines: hiera-ls lookup big.inner
              k55: 55
              k56: 56
              k57: 57
              k58: 58
              k59: 59
            set in common.yaml:2"#]],
    );
    // As many lines in the other forms, and without known nodes.
    let cut = "\nk11: 11\n# … 43 more lines: hiera-ls lookup big.inner\nk55: 55\n";
    let forms = at_cursor(&text, None, |at| forms(&at, NODES));
    assert_eq!(forms.matches(cut).count(), 2, "{forms}");
    let linked = "\nk59: 59\n```\nset in [common.yaml:2](file:///repo/data/common.yaml#L2)\n--";
    assert!(forms.contains(linked), "{forms}");
    let unknown = at_cursor(&text, None, |at| plain(&at, "{}"));
    assert!(unknown.contains(&cut.replace('\n', "\n  ")), "{unknown}");
}

#[test]
fn the_command_for_a_long_value_names_its_environment_and_quotes_its_key() {
    let keys: String = (0..60).map(|at| format!("  k{at}: {at}\n")).collect();
    for (folder, flag) in [("dev", " --environment dev"), ("production", "")] {
        let text = format!(
            "#- environments/{folder}/hiera.yaml\nversion: 5\n\
             #- environments/{folder}/data/common.yaml\na.b$0:\n{keys}"
        );
        let hover = at_cursor(&text, None, |at| plain(&at, "{}"));
        let command = format!("hiera-ls lookup \"'a.b'\"{flag}\n");
        assert!(hover.contains(&command), "{hover}");
    }
}
