//! `diff --format markdown`: the comment on a pull request.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let at = folder.join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
}

const HIERA: &str = "version: 5\nhierarchy:\n\
    - {name: Role, path: 'role/%{role}.yaml'}\n\
    - {name: Common, path: common.yaml}\n";
const NODES: &str = "db01: {variables: {role: db}}\n\
    web01: {variables: {role: web}}\nweb02: {variables: {role: web}}\n";

/// Two checkouts, `old` and `new`.
fn checkouts(old: &[(&str, &str)], new: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in [("old", old), ("new", new)] {
        let at = folder.path().join(name);
        write(&at, &[("hiera.yaml", HIERA), ("nodes.yaml", NODES)]);
        write(&at, files);
    }
    folder
}

fn diff(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["diff", "--workspace", "new"])
        .args(if arguments.contains(&"--format") {
            &[][..]
        } else {
            &["--format", "markdown"]
        })
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

fn check(text: &str, expect: &Expect) {
    expect.assert_eq(text);
}

/// Checkouts in which a few keys of `new` differ from `old`.
fn changed_checkouts() -> tempfile::TempDir {
    checkouts(
        &[
            (
                "data/common.yaml",
                "port: 80\nusers:\n  ann: {uid: 1}\n  bob: {uid: 2}\nold: x\n",
            ),
            ("data/role/web.yaml", "a: 1\n"),
        ],
        &[
            (
                "data/common.yaml",
                "port: 80\nusers:\n  ann: {uid: 1}\n  bob: {uid: 3}\nnew: '```'\n",
            ),
            ("data/role/web.yaml", "a: 1\nport: 8080\n"),
        ],
    )
}

#[test]
fn counts_come_first_and_details_are_folded() {
    let folder = changed_checkouts();
    let (code, text) = diff(folder.path(), &["--against", "./old"]);
    assert_eq!(code, Some(2));
    check(
        &text,
        &expect![[r#"
            <!-- hiera-ls diff -->
            **Hiera**: 4 keys change for all 3 nodes against `./old` (2 with other values, 1 newly set, 1 no longer set).

            <details><summary><code>new</code> — all 3 nodes</summary>

            ````diff
            -(not set)
            +"```"
            ````

            now from `new/data/common.yaml:5`

            </details>
            <details><summary><code>old</code> — all 3 nodes</summary>

            ```diff
            -x
            +(not set)
            ```

            before from `old/data/common.yaml:5`

            </details>
            <details><summary><code>port</code> — 2 nodes</summary>

            `web01`, `web02`:

            ```diff
            -80
            +8080
            ```

            before from `old/data/common.yaml:1`, now from `new/data/role/web.yaml:2`

            </details>
            <details><summary><code>users</code> — all 3 nodes</summary>

            ```diff
             ann:
               uid: 1
             bob:
            -  uid: 2
            +  uid: 3
            ```

            before from `old/data/common.yaml:2`, now from `new/data/common.yaml:2`

            </details>
        "#]],
    );
}

#[test]
fn values_are_left_out_on_request() {
    let folder = changed_checkouts();
    let (_, text) = diff(folder.path(), &["--against", "./old", "--no-values"]);
    for value in ["8080", "uid", "```'"] {
        assert!(!text.contains(value), "{text}");
    }
    check(
        &text,
        &expect![[r#"
            <!-- hiera-ls diff -->
            **Hiera**: 4 keys change for all 3 nodes against `./old` (2 with other values, 1 newly set, 1 no longer set).

            <details><summary><code>new</code> — all 3 nodes</summary>

            ```diff
            -(not set)
            +(a value)
            ```

            now from `new/data/common.yaml:5`

            </details>
            <details><summary><code>old</code> — all 3 nodes</summary>

            ```diff
            -(a value)
            +(not set)
            ```

            before from `old/data/common.yaml:5`

            </details>
            <details><summary><code>port</code> — 2 nodes</summary>

            `web01`, `web02`:

            ```diff
            -(a value)
            +(a value)
            ```

            before from `old/data/common.yaml:1`, now from `new/data/role/web.yaml:2`

            </details>
            <details><summary><code>users</code> — all 3 nodes</summary>

            ```diff
            -(a value)
            +(a value)
            ```

            before from `old/data/common.yaml:2`, now from `new/data/common.yaml:2`

            </details>
        "#]],
    );
}

#[test]
fn nodes_are_compared() {
    let folder = changed_checkouts();
    let (code, text) = diff(folder.path(), &["web01", "db01"]);
    assert_eq!(code, Some(2));
    check(
        &text,
        &expect![[r#"
        <!-- hiera-ls diff -->
        **Hiera**: 2 keys differ between `web01` (−) and `db01` (+).

        <details><summary><code>a</code></summary>

        ```diff
        -1
        +(not set)
        ```

        before from `new/data/role/web.yaml:1`

        </details>
        <details><summary><code>port</code></summary>

        ```diff
        -8080
        +80
        ```

        before from `new/data/role/web.yaml:2`, now from `new/data/common.yaml:1`

        </details>
    "#]],
    );
    let (code, text) = diff(folder.path(), &["web01", "web02"]);
    assert_eq!(code, Some(0));
    check(
        &text,
        &expect![[r#"
        <!-- hiera-ls diff -->
        **Hiera**: `web01` and `web02` get the same values.
    "#]],
    );
    let (code, text) = diff(folder.path(), &["--against", "./new"]);
    assert_eq!(code, Some(0));
    check(
        &text,
        &expect![[r#"
        <!-- hiera-ls diff -->
        **Hiera**: no value of 3 nodes changes against `./new`.
    "#]],
    );
}

#[test]
fn a_comment_is_not_longer_than_the_platform_takes() {
    let mut data = String::new();
    for key in 0..3_000 {
        let _ = writeln!(data, "key{key}: {}", "x".repeat(100));
    }
    let _ = writeln!(data, "a: {}", "ä".repeat(30_000));
    let folder = checkouts(
        &[("data/common.yaml", "b: 1\n")],
        &[("data/common.yaml", &data)],
    );
    let (code, text) = diff(folder.path(), &["--against", "./old"]);
    assert_eq!(code, Some(2));
    assert!(
        text.starts_with("<!-- hiera-ls diff -->\n**Hiera**: 3002 keys change"),
        "{}",
        &text[..200]
    );
    assert!(text.chars().count() < 65_536);
    assert!(text.len() > 50_000);
    let last = text.lines().last().unwrap();
    assert!(
        last.ends_with("keys not shown: the comment would be too long."),
        "{last}"
    );
    assert_eq!(
        text.matches("<details>").count(),
        text.matches("</details>").count()
    );
}

#[test]
fn an_unreadable_file_is_reported_once_and_first() {
    let old = "a: 1\nb: 2\nc: 3\n";
    let folder = checkouts(
        &[("data/common.yaml", old)],
        &[
            ("data/common.yaml", &format!("{old}d: [\n")),
            ("data/role/web.yaml", "b: 2\n"),
        ],
    );
    let (code, text) = diff(folder.path(), &["--against", "./old"]);
    assert_eq!(code, Some(2));
    check(
        &text,
        &expect![[r#"
        <!-- hiera-ls diff -->
        **Hiera**: 4 keys change for all 3 nodes against `./old` (4 failing).


        **Lookups of 4 keys fail** for all 3 nodes:

        ```text
        Unable to parse (new/data/common.yaml): did not find expected node content while parsing a flow node at line 5 column 1
        ```

        <details><summary>4 keys</summary>

        `a`, `b`, `c`, `d`

        </details>
    "#]],
    );
}

#[test]
fn one_change_is_counted_in_the_singular_and_null_is_shown() {
    let folder = checkouts(
        &[("data/common.yaml", "a: 1\n")],
        &[
            ("data/common.yaml", "a: 1\n"),
            ("data/role/web.yaml", "a: ~\n"),
        ],
    );
    let (code, text) = diff(folder.path(), &["--against", "./old"]);
    assert_eq!(code, Some(2));
    check(
        &text,
        &expect![[r#"
        <!-- hiera-ls diff -->
        **Hiera**: 1 key changes for 2 of 3 nodes against `./old` (1 with other values).

        <details><summary><code>a</code> — 2 nodes</summary>

        `web01`, `web02`:

        ```diff
        -1
        +null
        ```

        before from `old/data/common.yaml:1`, now from `new/data/role/web.yaml:1`

        </details>
    "#]],
    );
}

#[test]
fn secrets_are_not_shown() {
    let key = format!(
        "|\n    -----BEGIN RSA PRIVATE KEY-----\n    {}\n    -----END RSA PRIVATE KEY-----\n",
        "MIIEowIBAAKC".repeat(8)
    );
    let folder = checkouts(
        &[(
            "data/common.yaml",
            "db::password: h7Kd9wQz\nusers: {ann: {uid: 1, password: kL3vn8Rt}}\n",
        )],
        &[(
            "data/common.yaml",
            &format!(
                "db::password: Xp4mz7Wq\nusers: {{ann: {{uid: 2, password: kL3vn8Rt}}}}\nweb::key: {key}"
            ),
        )],
    );
    for format in ["markdown", "text"] {
        let (code, text) = diff(folder.path(), &["--against", "./old", "--format", format]);
        assert_eq!(code, Some(2));
        for secret in ["h7Kd9wQz", "Xp4mz7Wq", "kL3vn8Rt", "MIIEowIBAAKC"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("(a secret)"), "{text}");
        assert!(text.contains("(another secret)"), "{text}");
    }
}

#[test]
fn a_change_deep_in_a_hash_is_shown_with_its_keys_and_long_lines_are_cut() {
    let users = |uid: u8, motd: &str| {
        let mut text = String::from("users:\n");
        for name in ["ann", "bob"] {
            let _ = write!(
                text,
                "  {name}:\n    a: 1\n    b: 2\n    c: 3\n    d: 4\n    groups:\n    - x\n    - y\n    - z\n    - {uid}\n"
            );
        }
        let _ = writeln!(text, "motd: {motd}");
        text
    };
    let long = |end: &str| "x".repeat(9_000) + end;
    let folder = checkouts(
        &[("data/common.yaml", &users(1, &long("a")))],
        &[("data/common.yaml", &users(2, &long("b")))],
    );
    let (_, text) = diff(folder.path(), &["--against", "./old"]);
    assert!(text.contains("@@ ann: groups: @@\n   - x\n"), "{text}");
    assert!(text.contains("@@ bob: groups: @@\n   - x\n"), "{text}");
    assert!(
        text.contains("xxxa\n+xxx") && text.contains("xxxb\n```"),
        "{text}"
    );
    assert!(text.len() < 3_000, "{text}");
}

#[test]
fn long_lists_of_nodes_are_folded() {
    let folder = checkouts(
        &[("data/common.yaml", "a: 1\nb: 1\n")],
        &[
            ("data/common.yaml", "a: 2\nb: 1\n"),
            ("data/role/web.yaml", "b: 2\n"),
        ],
    );
    let mut nodes = String::from("db01: {variables: {role: db}}\n");
    for number in 0..40 {
        let _ = writeln!(nodes, "web{number:02}: {{variables: {{role: web}}}}");
    }
    write(folder.path(), &[("new/nodes.yaml", &nodes)]);
    let (_, text) = diff(folder.path(), &["--against", "./old"]);
    assert!(
        text.contains("**Hiera**: 2 keys change for all 41 nodes against"),
        "{text}"
    );
    let first = text.find("<code>a</code> — all 41 nodes</summary>\n\n```diff");
    assert!(first.is_some(), "{text}");
    let folded = "`web19`\n\n<details><summary>and 20 more</summary>\n\n`web20`, ";
    assert!(text.contains(folded), "{text}");
}
