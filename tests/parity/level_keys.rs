//! Which keys decrypt the values of a level: those that its own options name.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::case::{full_request, write_files};
use super::compare::{Outcome, difference, normalised, outcome, side_by_side};
use super::program::{self, Program};

/// A level, its options, and whether the user's key leaves its values unknown where Puppet fails.
const LEVELS: [(&str, &str, bool); 10] = [
    ("none", "", false),
    ("empty", ", options: {}", false),
    ("plugin", ", options: {gpg_gnupghome: /none}", false),
    (
        "certificate",
        ", options: {pkcs7_public_key: CERTIFICATE}",
        false,
    ),
    ("private", ", options: {pkcs7_private_key: PRIVATE}", false),
    (
        "nothing",
        ", options: {pkcs7_private_key: ~, pkcs7_public_key: CERTIFICATE}",
        false,
    ),
    (
        "both",
        ", options: {pkcs7_private_key: PRIVATE, pkcs7_public_key: CERTIFICATE}",
        false,
    ),
    // The user's key stands for the file that the level before names, not for these.
    (
        "missing",
        ", options: {pkcs7_private_key: /none/private.pem, pkcs7_public_key: CERTIFICATE}",
        true,
    ),
    (
        "other",
        ", options: {pkcs7_private_key: SECOND, pkcs7_public_key: CERTIFICATE}",
        true,
    ),
    // hiera-eyaml refuses a certificate of another private key.
    (
        "mismatch",
        ", options: {pkcs7_private_key: PRIVATE, pkcs7_public_key: OTHER}",
        true,
    ),
];

#[test]
fn each_level_decrypts_with_the_keys_that_its_options_name() {
    if program::puppet_version().is_none() {
        return;
    }
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eyaml");
    let pem = |name: &str| format!("{}/test-only-{name}.pem", keys.display());
    let table = std::fs::read_to_string(keys.join("blobs.tsv")).unwrap();
    let blob = table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let text = String::from_utf8(super::unhex(fields[0])).unwrap();
        (fields[1..4] == ["first", "first", "ok"] && text.starts_with("ENC[PKCS7,")).then_some(text)
    });
    let blob = json!(blob.unwrap());
    let mut files = indexmap::IndexMap::new();
    let mut hierarchy = "version: 5\nhierarchy:\n".to_owned();
    for (name, options, _) in LEVELS {
        let options = options
            .replace("PRIVATE", &pem("first.private"))
            .replace("CERTIFICATE", &pem("first.certificate"))
            .replace("SECOND", &pem("second.private"))
            .replace("OTHER", &pem("second.certificate"));
        let _ = writeln!(
            hierarchy,
            "  - {{name: {name}, lookup_key: eyaml_lookup_key, path: {name}.yaml{options}}}"
        );
        files.insert(
            format!("env/data/{name}.yaml"),
            format!("{name}: {blob}\n{name}_plain: text\n"),
        );
    }
    files.insert("env/hiera.yaml".to_owned(), hierarchy);
    let folder = tempfile::tempdir().unwrap();
    write_files(&files, folder.path());
    let asked = LEVELS
        .iter()
        .flat_map(|(name, ..)| [(*name).to_owned(), format!("{name}_plain")]);
    let requests: Vec<Value> = asked
        .map(|key| {
            let request = json!({"key": key, "node": "n", "environment": "production", "facts": {}, "puppet_version": 7});
            full_request(&files, request.as_object().unwrap(), &key, folder.path())
        })
        .collect();
    let puppet = Program::puppet().answer_all(&requests);
    let flags = [
        ("--pkcs7-private-key", pem("first.private")),
        ("--pkcs7-public-key", pem("first.certificate")),
    ];
    let flags = flags.each_ref().map(|(flag, file)| [flag, file.as_str()]);
    let ours = Program::ours();
    let opened = ours.with(flags.as_flattened()).answer_all(&requests);
    let closed = ours.answer_all(&requests);
    for (at, (name, _, is_unknown)) in LEVELS.iter().enumerate() {
        for at in [2 * at, 2 * at + 1] {
            let [puppet, open, shut] =
                [&puppet[at], &opened[at], &closed[at]].map(|it| normalised(it, folder.path()));
            let has_blob = at % 2 == 0;
            if has_blob && *is_unknown {
                assert_eq!(outcome(&puppet), Outcome::Failed, "{name}: {puppet}");
                assert_eq!(outcome(&open), Outcome::Unknown, "{name}: {open}");
            } else if let Some(found) = difference(&puppet, &open) {
                let shown = side_by_side(&found.fields, &puppet, &open);
                panic!("{name}: {}\n{shown}", found.class);
            }
            // Without keys the value stays a secret, unless Puppet has none to decrypt with.
            if outcome(&shut) == Outcome::Unknown {
                assert!(
                    has_blob && (*is_unknown || *name == "both"),
                    "{name}: {shut}"
                );
            } else {
                assert!(difference(&puppet, &shut).is_none(), "{name}: {shut}");
            }
        }
    }
}
