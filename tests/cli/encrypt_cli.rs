//! `hiera-ls encrypt`: this program and hiera-eyaml itself can decrypt its output.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const KEYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/test-only-keys");

const CONFIGURATION: &str = "version: 5\nhierarchy:\n  - name: Secrets\n    lookup_key: eyaml_lookup_key\n    \
                             paths: [secrets.eyaml]\n    options: {pkcs7_public_key: \
                             certificates/public.pem, pkcs7_private_key: /etc/private.pem}\n  - name: \
                             Common\n    path: common.yaml\n";

/// Values in every form, with their plain texts.
const DATA: &str = "---\n# kept\npassword: Qz71nVbe # kept too\nsingle: 'it''s'\nnested:\n  list:\n    - \"tab\\t\"\n    \
                    - {flow: s3cret, other: x}\nblock: |\n  first\n  second\nfolded: >-\n  one\n  two\nmark: \
                    user:DEC::PKCS7[pass word]!@host\n";

const VALUES: [(&str, usize, usize, &str); 7] = [
    ("password", 3, 1, "Qz71nVbe"),
    ("single", 4, 9, "it's"),
    ("nested.list.0", 7, 8, "tab\t"),
    ("nested.list.1.flow", 8, 15, "s3cret"),
    ("block", 9, 1, "first\nsecond\n"),
    ("folded", 12, 1, "one two"),
    ("mark", 15, 1, "user:pass word@host"),
];

fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |at: &str, text: &[u8]| {
        let at = folder.path().join(at);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    };
    let certificate = format!("{KEYS}/test-only-public_key.pkcs7.pem");
    write("hiera.yaml", CONFIGURATION.as_bytes());
    write("data/secrets.eyaml", DATA.as_bytes());
    write("data/common.yaml", b"password: x\n");
    write(
        "certificates/public.pem",
        &std::fs::read(certificate).unwrap(),
    );
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The value of a key, decrypted by this program.
fn value(folder: &Path, key: &str) -> String {
    let (private, public) = (
        format!("{KEYS}/test-only-private_key.pkcs7.pem"),
        format!("{KEYS}/test-only-public_key.pkcs7.pem"),
    );
    let mut arguments = vec!["lookup", key, "--node", "a", "--render-as", "json"];
    arguments.extend([
        "--pkcs7-private-key",
        &private,
        "--pkcs7-public-key",
        &public,
    ]);
    let output = run(folder, &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{key}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A text decrypted by hiera-eyaml; `None` if it is not installed.
fn opened(folder: &Path, text: &str) -> Option<String> {
    let mut child = Command::new("eyaml")
        .args(["decrypt", "-q", "--stdin"])
        .arg(format!(
            "--pkcs7-private-key={KEYS}/test-only-private_key.pkcs7.pem"
        ))
        .arg(format!(
            "--pkcs7-public-key={KEYS}/test-only-public_key.pkcs7.pem"
        ))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    assert!(output.status.success());
    String::from_utf8(output.stdout).ok()
}

#[test]
fn values_are_encrypted_in_place() {
    for form in ["string", "block"] {
        let folder = workspace();
        let at = folder.path().join("data/secrets.eyaml");
        // From the end, so that line numbers stay valid.
        for (key, line, column, _) in VALUES.iter().rev() {
            let place = format!("data/secrets.eyaml:{line}:{column}");
            let output = run(folder.path(), &["encrypt", &place, "-o", form]);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{key}: {stderr}");
        }
        let text = std::fs::read_to_string(&at).unwrap();
        assert!(text.starts_with("---\n# kept\npassword: "), "{text}");
        assert!(text.contains(" # kept too\n"), "{text}");
        for (key, _, _, expected) in VALUES {
            assert_eq!(value(folder.path(), key), expected, "{text}");
            let plain = expected.split([':', '@', '\n']).next().unwrap();
            assert!(key == "mark" || !text.contains(plain), "{key}\n{text}");
        }
        assert_eq!(value(folder.path(), "nested.list.1.other"), "x");
        assert!(!text.contains("DEC::"), "{text}");
        let again = run(folder.path(), &["encrypt", "data/secrets.eyaml:3:1"]);
        assert_eq!(again.status.code(), Some(1));
        let stderr = String::from_utf8(again.stderr).unwrap();
        assert_eq!(
            stderr,
            "hiera-ls: data/secrets.eyaml:3:1: the value is already encrypted\n"
        );
        if let Some(opened) = opened(folder.path(), &text) {
            for (_, _, _, expected) in VALUES {
                for line in expected.lines() {
                    assert!(opened.contains(line), "{line}\n{opened}");
                }
            }
        }
    }
}

#[test]
fn line_ends_of_a_file_are_kept() {
    let folder = workspace();
    let at = folder.path().join("data/secrets.eyaml");
    for (text, form) in [
        ("a: x\r\npassword: secret\r\n", "block"),
        ("a: x\r\npassword: |\r\n  one\r\n  two\r\n", "string"),
    ] {
        std::fs::write(&at, text).unwrap();
        let output = run(
            folder.path(),
            &["encrypt", "data/secrets.eyaml:2:1", "-o", form],
        );
        assert!(output.status.success());
        let text = std::fs::read_to_string(&at).unwrap();
        assert_eq!(
            text.matches('\n').count(),
            text.matches("\r\n").count(),
            "{text:?}"
        );
        let expected = if form == "block" {
            "secret"
        } else {
            "one\ntwo\n"
        };
        assert_eq!(value(folder.path(), "password"), expected, "{text:?}");
    }
}

#[test]
fn a_text_from_standard_input_is_printed() {
    let folder = workspace();
    for (arguments, start) in [
        (&["-l", "db::password"][..], "db::password: ENC[PKCS7,"),
        (&["-o", "block"], "  ENC[PKCS7,"),
        (&["-o", "block", "-l", "k"], "k: >\n  ENC[PKCS7,"),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .args(["encrypt", "--pkcs7-public-key", "certificates/public.pem"])
            .args(arguments)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"s3cret").unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(start), "{text}");
        // hiera-eyaml decrypts the lines of a block only after their header.
        let whole = if start.starts_with(' ') {
            format!("k: >\n{text}")
        } else {
            text
        };
        if let Some(opened) = opened(folder.path(), &whole) {
            assert!(opened.contains("s3cret"), "{opened}");
        }
    }
}

#[test]
fn a_text_with_a_token_is_encrypted_with_a_remark() {
    let folder = workspace();
    for (plain, is_remarked) in [("k%{9x}Q", true), ("k%Q{9}", false)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
            .args(["encrypt", "--pkcs7-public-key", "certificates/public.pem"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(plain.as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b"ENC[PKCS7,"));
        let remarks = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            remarks.contains("%{literal('%')}{"),
            is_remarked,
            "{remarks}"
        );
    }
}

#[test]
fn nothing_is_encrypted_where_puppet_would_not_open_it() {
    let folder = workspace();
    let output = run(folder.path(), &["encrypt", "data/common.yaml:1:1"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("no level that reads this file decrypts values"),
        "{stderr}"
    );
    std::fs::remove_file(folder.path().join("certificates/public.pem")).unwrap();
    let output = run(folder.path(), &["encrypt", "data/secrets.eyaml:3:1"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("certificates/public.pem, "), "{stderr}");
    assert!(
        stderr.contains("keys/public_key.pkcs7.pem: name one with"),
        "{stderr}"
    );
}

#[test]
fn only_strings_are_encrypted() {
    let folder = workspace();
    let at = folder.path().join("data/secrets.eyaml");
    for value in ["0644", "true", "~", "1.5", "1:30:00"] {
        std::fs::write(&at, format!("a: {value}\n")).unwrap();
        let output = run(folder.path(), &["encrypt", "data/secrets.eyaml:1:1"]);
        assert_eq!(output.status.code(), Some(1), "{value}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("the value is not a string"), "{stderr}");
    }
}

#[test]
fn a_report_repeats_no_secret() {
    let folder = workspace();
    for format in [
        "full",
        "concise",
        "json",
        "sarif",
        "github",
        "gitlab",
        "junit",
        "checkstyle",
        "rdjson",
    ] {
        let output = run(
            folder.path(),
            &["check", "data/secrets.eyaml", "--format", format],
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("plain-secret") && text.contains("dec-not-encrypted"),
            "{text}"
        );
        for secret in ["Qz71nVbe", "pass word"] {
            assert!(!text.contains(secret), "{format}: {text}");
        }
    }
}
