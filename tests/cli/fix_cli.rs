//! `hiera-ls check --fix` and `--diff`: their changes, and that everything else stays.

use std::path::Path;
use std::process::{Command, Output};

const CONFIGURATION: &str = "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n";

/// Comments, order, quotes, CR LF and a last line without an end.
const DATA: &str = "---\r\n# a comment\r\nweb::mode: 0644   # of the file\r\nweb::on: yes\r\n\
                    'web::host': 'www'\r\nweb::most: 1_000\r\nweb::port: 22:22";

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("hiera.yaml"), CONFIGURATION).unwrap();
    std::fs::write(folder.path().join("data/common.yaml"), DATA).unwrap();
    folder
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("check")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn data(folder: &tempfile::TempDir) -> String {
    std::fs::read_to_string(folder.path().join("data/common.yaml")).unwrap()
}

#[test]
fn only_safe_fixes_are_written() {
    let folder = workspace();
    let output = check(folder.path(), &["--fix"]);
    let fixed = DATA
        .replace("0644", "\"0644\"")
        .replace("yes", "true")
        .replace("22:22", "\"22:22\"");
    assert_eq!(data(&folder), fixed);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("1 hint in 2 files\n"), "{text}");
    assert_eq!(output.status.code(), Some(0));
    check(folder.path(), &["--fix", "--unsafe-fixes"]);
    assert_eq!(data(&folder), fixed.replace("1_000", "\"1_000\""));
}

#[test]
fn a_fixed_file_can_fail_a_run() {
    let folder = workspace();
    let code = |arguments: &[&str]| check(folder.path(), arguments).status.code();
    let arguments = ["--fix", "--exit-non-zero-on-fix"];
    assert_eq!(code(&arguments), Some(1));
    assert_eq!(code(&arguments), Some(0));
    assert_eq!(code(&["--exit-non-zero-on-fix"]), Some(2));
}

#[test]
fn findings_in_a_baseline_are_not_fixed() {
    let folder = workspace();
    check(folder.path(), &["--write-baseline", "known.json"]);
    let with_more = format!("{DATA}\r\nweb::more: 0640\r\n");
    std::fs::write(folder.path().join("data/common.yaml"), &with_more).unwrap();
    check(
        folder.path(),
        &["--baseline", "known.json", "--fix", "--unsafe-fixes"],
    );
    assert_eq!(data(&folder), with_more.replace("0640", "\"0640\""));
}

#[cfg(unix)]
#[test]
fn a_file_outside_the_workspace_is_not_fixed() {
    let folder = workspace();
    let outside = tempfile::tempdir().unwrap();
    let there = outside.path().join("common.yaml");
    std::fs::write(&there, DATA).unwrap();
    let here = folder.path().join("data/common.yaml");
    std::fs::remove_file(&here).unwrap();
    std::os::unix::fs::symlink(&there, &here).unwrap();
    let output = check(folder.path(), &["--fix"]);
    assert_eq!(std::fs::read_to_string(&there).unwrap(), DATA);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("not written: a link leads to"), "{text}");
}

#[test]
fn a_diff_changes_nothing() {
    let folder = workspace();
    let output = check(folder.path(), &["--diff"]);
    assert_eq!(data(&folder), DATA);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "--- data/common.yaml\n+++ data/common.yaml\n@@ -1,7 +1,7 @@\n ---\r\n # a comment\r\n\
         -web::mode: 0644   # of the file\r\n-web::on: yes\r\n\
         +web::mode: \"0644\"   # of the file\r\n+web::on: true\r\n \
         'web::host': 'www'\r\n web::most: 1_000\r\n\
         -web::port: 22:22\n\\ No newline at end of file\n\
         +web::port: \"22:22\"\n\\ No newline at end of file\n"
    );
    assert_eq!(output.status.code(), Some(1));
    std::fs::write(folder.path().join("data/common.yaml"), "a: 1\n").unwrap();
    let output = check(folder.path(), &["--diff"]);
    assert_eq!((output.stdout.len(), output.status.code()), (0, Some(0)));
}

#[test]
fn neither_excerpts_nor_diffs_show_secrets() {
    let folder = workspace();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: common, path: common.yaml}\n  - {name: low, path: \
         low.yaml}\n",
    );
    // One secret is near other findings, one in a line that a finding of another file shows.
    write(
        "data/common.yaml",
        "web::mode: 0644\nweb::password: Qz71nVbe\nweb::login: {mode: 0640, password: Kd93xQw7p}\n",
    );
    let full = |arguments: &[&str]| {
        let output = check(folder.path(), arguments);
        String::from_utf8(output.stdout).unwrap()
    };
    let report = full(&["data/common.yaml"]);
    assert!(
        report.contains("web::login: {mode: 0640, password: *********}"),
        "{report}"
    );
    let diff = full(&["--diff"]);
    assert!(
        diff.contains("\n+web::mode: \"0644\"\n web::password: ********\n"),
        "{diff}"
    );
    assert!(
        diff.contains("\n+web::login: {mode: \"0640\", password: *********}\n"),
        "{diff}"
    );
    let rdjson = full(&["--format", "rdjson"]);
    for text in [report, diff, rdjson] {
        assert!(
            !text.contains("Qz71nVbe") && !text.contains("Kd93xQw7p"),
            "{text}"
        );
    }
}

#[test]
fn a_message_repeats_no_secret_that_a_type_refuses() {
    let folder = workspace();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("data/common.yaml", "web::password: Qz71nVbe\n");
    write(
        "modules/web/manifests/init.pp",
        "class web (Pattern[/^x/] $password) { }\n",
    );
    let output = check(folder.path(), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("type-mismatch") && text.contains("'…'"),
        "{text}"
    );
    assert!(!text.contains("Qz71nVbe"), "{text}");
}

#[test]
fn a_key_with_equal_values_is_kept_in_one_level() {
    let folder = workspace();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    write(
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: all, paths: [high.yaml, mid.yaml, low.yaml]}]\n",
    );
    std::fs::remove_file(folder.path().join("data/common.yaml")).unwrap();
    let levels = ["data/high.yaml", "data/mid.yaml", "data/low.yaml"];
    for count in 2..=levels.len() {
        for level in &levels[..count] {
            write(level, "e: 1\nf: 2\n");
        }
        check(folder.path(), &["--fix", "--unsafe-fixes"]);
        let read = |level: &&str| std::fs::read_to_string(folder.path().join(level)).unwrap();
        let left: String = levels[..count].iter().map(read).collect();
        // Files without a key are left as empty hashes.
        assert_eq!(left.replace("{}\n", ""), "e: 1\nf: 2\n");
        assert_eq!(left.matches("{}\n").count(), count - 1);
    }
}
