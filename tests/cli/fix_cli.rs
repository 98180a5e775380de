//! `hiera-ls check --fix` and `--diff`: what they change, and that everything else stays.

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
fn safe_fixes_are_written_and_the_rest_stays() {
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
