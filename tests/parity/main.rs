//! Parity with real Puppet: the case files, and random requests to random repositories, answered by
//! `hiera-ls lookup --batch` and compared with the answers of Puppet 7.23.
//!
//! `PARITY_COUNT=50000 PARITY_SEED=7 cargo test --release --test parity random -- --nocapture` runs
//! any number with any seed; differing cases are shrunk, printed, and written in the form of the
//! case files to `target/tmp/parity-differences.jsonl`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test drives programs, writes folders and prints what it found"
)]

mod case;
mod check_corpora;
mod classes;
mod compare;
mod corpora;
mod corpora_parity;
mod declared;
mod definitions_corpora;
mod edits;
mod generate;
mod hover_corpora;
#[path = "../support/hover_forms.rs"]
mod hover_forms;
mod known;
mod level_keys;
mod matrix_corpora;
mod parameters_corpora;
mod program;
mod puppet_code;
#[path = "../support/puppet_tree.rs"]
mod puppet_tree;
mod random;
mod shrink;
mod syntax_corpora;
#[path = "../library/tagged_json.rs"]
mod tagged_json;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hiera_ls::eyaml::{EyamlError, Keys, decrypt};
use serde_json::{Value, json};

use case::{Case, full_request, read_cases, write_files};
use compare::{Outcome, Outcomes, difference, normalised, outcome, side_by_side};
use known::Known;
use program::Program;

/// Number of requests of a random run for which a catalog is compiled.
const CATALOGS: usize = 70;

#[test]
fn the_case_file_of_puppet_7_agrees() {
    let cases = read_cases(&case_file("puppet-7.23.jsonl"));
    assert_agreement("puppet-7.23.jsonl", &cases, &Known::read());
}

/// Additional cases: found by random runs, or missing in the shared file.
#[test]
fn the_case_file_of_our_own_agrees() {
    let cases = read_cases(&case_file("own-7.23.jsonl"));
    assert_agreement("own-7.23.jsonl", &cases, &Known::read());
}

#[test]
fn the_case_file_of_version_8_agrees() {
    let mut cases = read_cases(&case_file("openvox-8.28-differences.jsonl"));
    for case in &mut cases {
        // The recorder of that file kept no positions: they are in the messages.
        if let Some(answer) = case.expected.as_object_mut() {
            answer.insert("places".into(), "unrecorded".into());
        }
    }
    assert_agreement("openvox-8.28-differences.jsonl", &cases, &Known::read());
}

/// What OpenVox 9 answers otherwise than 8: `openvox9_cases.py` recorded it.
#[test]
fn the_case_file_of_version_9_agrees() {
    let cases = read_cases(&case_file("openvox-9.0-differences.jsonl"));
    assert_agreement("openvox-9.0-differences.jsonl", &cases, &Known::read());
}

/// The reference itself is tested first: it reproduces all recorded answers.
#[test]
fn the_reference_reproduces_the_case_file() {
    let Some(version) = program::puppet_version() else {
        return;
    };
    assert_eq!(
        version, "7.23.0",
        "the recorded answers are of this version"
    );
    let mut cases = read_cases(&case_file("puppet-7.23.jsonl"));
    cases.extend(read_cases(&case_file("own-7.23.jsonl")));
    let folder = tempfile::tempdir().unwrap();
    let answers = answers(&Program::puppet(), &cases, folder.path());
    let mut report = String::new();
    for (case, answer) in cases.iter().zip(&answers) {
        if let Some(difference) = difference(&expected(case), answer) {
            let _ = writeln!(report, "{}: {}", case.id, difference.class);
        }
    }
    assert!(
        report.is_empty(),
        "the reference differs from the recorded answers:\n{report}"
    );
}

#[test]
fn random_requests_agree() {
    if program::puppet_version().is_none() {
        return;
    }
    let plan = random::Plan::from_environment();
    let folder = tempfile::tempdir().unwrap();
    let known = Known::read();
    let report = random::run(&plan, &known, folder.path());
    eprintln!("{}", report.text);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parity-differences.jsonl");
    std::fs::write(&out, &report.cases).unwrap();
    assert_eq!(
        report.unexplained,
        0,
        "unexplained differences; small cases are in {}",
        out.display()
    );
    if plan.count >= 5_000 {
        assert!(
            report.too_unknown.is_empty(),
            "too many are unknown: {:?}",
            report.too_unknown
        );
        assert!(
            report.unreached.is_empty(),
            "never reached: {:?}",
            report.unreached
        );
    }
    // Rare classes need not occur with every seed.
    for line in known.unused_classes() {
        eprintln!("did not occur: {line}");
    }
}

#[test]
fn random_classes_get_what_puppet_gives() {
    if program::puppet_version().is_none() {
        return;
    }
    let plan = random::Plan::from_environment();
    let folder = tempfile::tempdir().unwrap();
    let count = plan.count / CATALOGS;
    let report = classes::run(plan.seed, count, folder.path());
    let (unknown, values) = report.unknown;
    let (refused, reported) = report.refused;
    eprintln!(
        "{count} catalogs, seed {}: {:?}\n  {unknown} values of {values} are unknown, {refused} classes are refused, \
         {reported} of these reported\n  manifests fail: {:#?}",
        plan.seed, report.met, report.reasons
    );
    let differences = &report.differences;
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences[..differences.len().min(6)].join("\n\n")
    );
    if count >= 100 {
        assert!(unknown * 5 < values, "{unknown} of {values} are unknown");
        let never = report.met.iter().find(|(_, times)| **times == 0);
        assert!(never.is_none(), "never met: {never:?}");
    }
}

#[test]
fn known_differences_name_cases_that_exist() {
    let mut cases = read_cases(&case_file("puppet-7.23.jsonl"));
    cases.extend(read_cases(&case_file("own-7.23.jsonl")));
    cases.extend(read_cases(&case_file("openvox-8.28-differences.jsonl")));
    for id in Known::read().cases() {
        assert!(cases.iter().any(|c| c.id == id), "{id} is no case");
    }
}

/// A data file with encrypted values, and with one of them in every style of YAML.
fn secret_data(texts: &[String], blob: &str) -> String {
    let mut data = String::new();
    for (i, text) in texts.iter().enumerate() {
        // A JSON string is also a YAML string.
        let _ = writeln!(data, "k{i}: {}", json!(text));
        // A key is interpolated, but never decrypted. YAML has no long keys.
        let name = if text.len() < 500 { text } else { "x" };
        let (text, name) = (json!(text), json!(name));
        let _ = writeln!(data, "list{i}: [{text}, {{{name}: {text}}}]");
    }
    let wrapped = |indent: &str| {
        let chunks = blob.as_bytes().chunks(60);
        let lines = chunks.map(|c| format!("\n{indent}{}", std::str::from_utf8(c).unwrap()));
        lines.collect::<String>()
    };
    let _ = writeln!(data, "folded: >{}", wrapped("  "));
    let _ = writeln!(data, "stripped: >-{}", wrapped("    "));
    let _ = writeln!(data, "block: |{}", wrapped("  "));
    let _ = writeln!(data, "quoted: \"{}\"", wrapped("  "));
    let _ = writeln!(data, "around: 'a {blob} b {blob} c'");
    let _ = writeln!(
        data,
        "token: \"%{{lookup('folded')}}-x\"\nalias: \"%{{alias('around')}}\""
    );
    let _ = writeln!(
        data,
        "edited: 'DEC(1)::PKCS7[x]!'\nplain: text\nlist: ['{blob}', 'DEC::PKCS7[y]!']"
    );
    let _ = writeln!(data, "lookup_options:\n  around: {{convert_to: Sensitive}}");
    data
}

/// Encrypted values: with keys our values equal hiera-eyaml's, without them they are secrets.
#[test]
fn secrets_open_as_with_hiera_eyaml() {
    if program::puppet_version().is_none() {
        return;
    }
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eyaml");
    let key = |part: &str| format!("{}/test-only-first.{part}.pem", keys.display());
    let pem = |part: &str| std::fs::read(key(part)).unwrap();
    let opened = Keys::from_pem(&pem("private"), &pem("certificate")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<String> = std::fs::read_to_string(keys.join("blobs.tsv"))
        .unwrap()
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|fields| fields[1..3] == ["first", "first"])
        .map(|fields| String::from_utf8(unhex(fields[0])).unwrap())
        // If a key cannot decrypt a value, another level's key might: ours is unknown, Puppet's an
        // error.
        .filter(|text| !matches!(decrypt(text, &opened), Err(EyamlError::OtherKey)))
        .collect();
    assert!(texts.len() > 90, "{}", texts.len());
    let blob = texts
        .iter()
        .find(|text| text.starts_with("ENC[PKCS7,"))
        .unwrap();
    let mut files = indexmap::IndexMap::new();
    files.insert("env/data/s.eyaml".to_string(), secret_data(&texts, blob));
    files.insert("env/data/p.yaml".to_string(), format!("yaml: {blob}\n"));
    files.insert(
        "env/hiera.yaml".to_string(),
        format!(
            "version: 5\nhierarchy:\n  - {{name: S, lookup_key: eyaml_lookup_key, path: s.eyaml, \
             options: {{pkcs7_private_key: {}, pkcs7_public_key: {}}}}}\n  - {{name: P, data_hash: yaml_data, path: p.yaml}}\n",
            key("private"),
            key("certificate")
        ),
    );
    write_files(&files, folder.path());
    let mut names: Vec<String> = (0..texts.len())
        .flat_map(|i| [format!("k{i}"), format!("list{i}")])
        .collect();
    names.extend(
        [
            "folded", "stripped", "block", "quoted", "around", "token", "alias", "edited", "plain",
            "list", "list.0", "yaml",
        ]
        .map(String::from),
    );
    let requests: Vec<Value> = names
        .iter()
        .map(|name| {
            let request = json!({"key": name, "node": "n", "environment": "production", "facts": {}, "puppet_version": 7, "explain": true});
            full_request(&files, request.as_object().unwrap(), name, folder.path())
        })
        .collect();
    let puppet = Program::puppet().answer_all(&requests);
    let ours = Program::ours();
    let opened = ours
        .with(&[
            "--pkcs7-private-key",
            &key("private"),
            "--pkcs7-public-key",
            &key("certificate"),
        ])
        .answer_all(&requests);
    let closed = ours.answer_all(&requests);
    let (mut same, mut secret, mut foreign) = (0, 0, 0);
    for (((name, p), open), shut) in names.iter().zip(&puppet).zip(&opened).zip(&closed) {
        let (p, open, shut) = (
            normalised(p, folder.path()),
            normalised(open, folder.path()),
            normalised(shut, folder.path()),
        );
        let is_for_other_key = |answer: &Value| {
            let error = answer["error"].as_str().unwrap_or_default();
            error.starts_with("hiera-eyaml backend error decrypting")
        };
        let is_plugin = p["error"]
            .as_str()
            .is_some_and(|e| e.contains("encryptors/"));
        match difference(&p, &open) {
            None => same += 1,
            // Other methods need Ruby plugins: such a value stays a secret.
            Some(_) if is_plugin && outcome(&open) == Outcome::Unknown => foreign += 1,
            // A level may have its own keys, so a value that this key cannot decrypt is unknown.
            Some(_) if is_for_other_key(&p) && outcome(&open) == Outcome::Unknown => foreign += 1,
            Some(found) => panic!(
                "{name}: {}\n{}",
                found.class,
                side_by_side(&found.fields, &p, &open)
            ),
        }
        if outcome(&shut) == Outcome::Unknown {
            secret += 1;
            let reason = shut["unknown"].as_str().unwrap();
            assert!(reason.contains("encrypted"), "{name}: {reason}");
        } else {
            assert!(
                difference(&p, &shut).is_none(),
                "{name} is no secret: {shut}"
            );
        }
    }
    eprintln!(
        "{same} answers as hiera-eyaml gives them, {foreign} of other methods; without keys {secret} secrets"
    );
    assert!(
        same > 60 && foreign > 0 && secret > 60,
        "{same} {foreign} {secret}"
    );
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Every planted mistake still applies to the engine's code.
#[test]
fn the_planted_mistakes_apply() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parity/mutations.py");
    match std::process::Command::new("python3")
        .args([script, "--list"])
        .output()
    {
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{stderr}");
        }
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "no python3 here, and this is CI"
            );
            eprintln!("SKIPPED: python3: {error}");
        }
    }
}

#[test]
fn a_planted_difference_is_seen() {
    let puppet = json!({"found": true, "value": {"a": 1, "b": 2}});
    for (ours, class) in [
        (
            json!({"found": true, "value": {"b": 2, "a": 1}}),
            "value: puppet hash | ours hash",
        ),
        (
            json!({"found": true, "value": {"a": 1.0, "b": 2}}),
            "value: puppet hash | ours hash",
        ),
        (
            json!({"found": true, "value": {"a": 1, "b": 2}, "logs": [{"level": "warning", "message": "x"}]}),
            "logs: puppet (end) | ours x",
        ),
        (json!({"found": null, "unknown": "code"}), "unknown: code"),
        (json!({"crash": "killed"}), "crash: killed"),
        (
            json!({"found": false, "error_class": "A", "error": "b 'c'"}),
            "puppet: found | ours: [A] b …",
        ),
    ] {
        assert_eq!(
            difference(&puppet, &ours).expect("they differ").class,
            class
        );
    }
    assert!(difference(&puppet, &puppet.clone()).is_none());
}

#[test]
fn the_generator_makes_the_same_of_a_seed() {
    let build = || {
        let mut dice = generate::dice::Dice::new(5);
        let repos: Vec<_> = (0..20).map(|_| generate::repo::repo(&mut dice)).collect();
        let requests: Vec<_> = repos
            .iter()
            .map(|r| generate::request::request(&mut dice, r))
            .collect();
        (
            repos.into_iter().map(|r| r.files).collect::<Vec<_>>(),
            requests,
        )
    };
    assert_eq!(build(), build());
}

fn case_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(name)
}

fn expected(case: &Case) -> Value {
    normalised(&case.expected, Path::new(case::ROOT))
}

/// A program's answers to the requests of a case file, normalised.
fn answers(program: &Program, cases: &[Case], folder: &Path) -> Vec<Value> {
    let roots: Vec<PathBuf> = cases.iter().map(|c| folder.join(&c.id)).collect();
    let mut requests = Vec::new();
    for (case, root) in cases.iter().zip(&roots) {
        write_files(&case.files, root);
        let mut request = case.request.clone();
        if case.expected.get("explain").is_some() {
            request.insert("explain".into(), true.into());
        }
        requests.push(full_request(&case.files, &request, &case.id, root));
    }
    let answers = program.answer_all(&requests);
    answers
        .iter()
        .zip(&roots)
        .map(|(answer, root)| normalised(answer, root))
        .collect()
}

fn assert_agreement(name: &str, cases: &[Case], known: &Known) {
    let folder = tempfile::tempdir().unwrap();
    let answers = answers(&Program::ours(), cases, folder.path());
    let mut outcomes = Outcomes::default();
    let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut explained = 0;
    for (case, answer) in cases.iter().zip(&answers) {
        outcomes.count(answer);
        let Some(found) = difference(&expected(case), answer) else {
            continue;
        };
        if known.explains_case(&case.id) {
            explained += 1;
            continue;
        }
        let shown = side_by_side(&found.fields, &expected(case), answer);
        classes
            .entry(found.class)
            .or_default()
            .push(format!("{} ({})\n{shown}", case.id, case.desc));
    }
    let differing: usize = classes.values().map(Vec::len).sum();
    let mut report = format!(
        "{name}: {} cases: {outcomes}; {explained} known differences, {differing} others\n",
        cases.len()
    );
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    for (class, cases) in &classes {
        let _ = writeln!(
            report,
            "{:>4} {class}\n     {}",
            cases.len(),
            cases[0].replace('\n', "\n     ")
        );
    }
    eprintln!("{report}");
    assert_eq!(differing, 0, "{report}");
    let here: Vec<&str> = known
        .unused_cases()
        .into_iter()
        .filter(|l| cases.iter().any(|c| l.contains(&format!("case {}:", c.id))))
        .collect();
    assert!(
        here.is_empty(),
        "known differences that no longer occur: {here:?}"
    );
    assert!(
        outcomes.of(Outcome::Found) > 0
            || cases.iter().all(|c| outcome(&c.expected) != Outcome::Found)
    );
}
