//! `hiera-ls check` as people and scripts see it.
use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .arg("check")
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme"))
        .env_remove("NO_COLOR")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn text_shows_the_source_and_related_places() {
    let output = check(&["mistakes/values/data/os/RedHat.yaml"]);
    let expected = "\
warning[interpolation-loop]: lookup loop where facts.os.family is 'RedHat': loop::family → \
loop::on_redhat → loop::family: Puppet fails on each of these keys
  --> mistakes/values/data/os/RedHat.yaml:2:16
   |
 2 | loop::family: \"%{lookup('loop::on_redhat')}\" #~ interpolation-loop as db01.lon.acme.example
   |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
  ::: mistakes/values/data/families/loops.yaml:21:19
   |
21 | loop::on_redhat: \"%{lookup('loop::family')}\" #~ interpolation-loop as db01.lon.acme.example
   |                   ------------------------- 'loop::on_redhat' looks up 'loop::family'

1 warning in 1 file
";
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn json_is_one_object_a_line() {
    let output = check(&["--format", "json", "mistakes/unreadable/data/date.yaml"]);
    let expected = concat!(
        r#"{"code":"yaml-date","severity":"error","path":"mistakes/unreadable/data/date.yaml","#,
        r#""line":3,"column":10,"endLine":3,"endColumn":20,"#,
        r#""message":"'2027-01-31' is read as a date, which Puppet does not allow: it refuses the whole file; quote it","#,
        r#""related":[]}"#,
        "\n"
    );
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "1 error in 1 file\n"
    );
}

#[test]
fn a_healthy_folder_passes_and_a_missing_one_does_not() {
    let healthy = check(&["data", "modules", "site-modules"]);
    assert!(
        stdout(&healthy).starts_with("nothing found in "),
        "{}",
        stdout(&healthy)
    );
    assert_eq!(healthy.status.code(), Some(0));
    let missing = check(&["no-such-folder"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn colours_come_only_when_asked_for() {
    let plain = check(&["mistakes/unreadable/data/date.yaml"]);
    assert!(!stdout(&plain).contains('\u{1b}'));
    let coloured = check(&["--color", "always", "mistakes/unreadable/data/date.yaml"]);
    assert!(stdout(&coloured).contains('\u{1b}'));
}

#[test]
fn a_workspace_tests_itself() {
    let output = check(&["--self-test", "mistakes/values"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        stdout(&output).contains("are those of a fresh workspace"),
        "{output:?}"
    );
}
