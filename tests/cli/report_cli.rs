//! What `report` writes. `tests/report` opens it in a browser.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::nodes_cli::{run, write};

const PAGE: &str = "<meta name=\"hiera-ls-report\" content=\"1\">\n<!-- data -->\n";
const CONFIG: (&str, &str) = (
    "hiera.yaml",
    "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n",
);
const SECRET: &str = "Xk29dPq7vLm4";

/// The data in a report.
fn data_in(report: &Path) -> (Value, String) {
    let text = std::fs::read_to_string(report).unwrap();
    let (_, rest) = text.split_once("id=\"data\">").unwrap();
    let (packed, _) = rest.split_once('<').unwrap();
    let packed = STANDARD.decode(packed).unwrap();
    let mut data = String::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_string(&mut data)
        .unwrap();
    (serde_json::from_str(&data).unwrap(), data)
}

#[test]
fn a_report_has_the_data_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let common = format!(
        "port: 80\ndb::password: {SECRET}\nkey: ENC[PKCS7,{}]\n",
        "QUJD".repeat(30)
    );
    write(
        folder.path(),
        &[
            CONFIG,
            ("data/common.yaml", &common),
            ("page.html", PAGE),
            ("nodes.json", "{\"n1\": {}}"),
        ],
    );
    let words = ["report", "--page", "page.html", "--out", "out.html"];
    let (text, error, code) = run(folder.path(), &words);
    assert_eq!((code, &*text), (0, ""), "{error}");
    assert!(
        error.contains("wrote out.html") && error.contains("2 secrets left out"),
        "{error}"
    );
    let (data, text) = data_in(&folder.path().join("out.html"));
    assert_eq!(data["version"], 1);
    assert!(text.contains("port: 80") && text.contains("n1"), "{text}");
    for secret in [SECRET, "QUJDQUJD", folder.path().to_str().unwrap()] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let codes = data["findings"].as_array().unwrap().iter();
    let codes: Vec<&str> = codes.filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"plain-secret"), "{codes:?}");
    assert_eq!(data["findings"][0]["path"], "data/common.yaml");
}

#[test]
fn a_report_without_values_has_none() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            CONFIG,
            ("data/common.yaml", "motd: come in # really\n"),
            ("page.html", PAGE),
        ],
    );
    let words = [
        "report",
        "--page",
        "page.html",
        "--out",
        "out.html",
        "--no-values",
    ];
    let (_, error, code) = run(folder.path(), &words);
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("note: left out: values"), "{error}");
    let (_, text) = data_in(&folder.path().join("out.html"));
    assert!(
        !text.contains("come in") && !text.contains("really"),
        "{text}"
    );
    assert!(text.contains("motd: '(a text 1)'"), "{text}");
}

#[test]
fn a_report_compares_with_another_checkout() {
    let folder = tempfile::tempdir().unwrap();
    let old = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            CONFIG,
            ("data/common.yaml", "port: 81\n"),
            ("page.html", PAGE),
        ],
    );
    write(old.path(), &[CONFIG, ("data/common.yaml", "port: 80\n")]);
    let against = old.path().to_str().unwrap();
    let words = [
        "report",
        "--page",
        "page.html",
        "--out",
        "out.html",
        "--against",
        against,
    ];
    let (_, error, code) = run(folder.path(), &words);
    assert_eq!(code, 0, "{error}");
    let (data, text) = data_in(&folder.path().join("out.html"));
    assert!(!text.contains(against), "{text}");
    let changed = &data["against"]["files"];
    assert_eq!(changed.as_array().unwrap().len(), 1, "{changed}");
    assert_eq!(changed[0]["text"], "port: 80\n");
    let (_, error, code) = run(
        folder.path(),
        &["report", "--page", "page.html", "--against", "./nowhere"],
    );
    assert_eq!(code, 1);
    assert!(error.contains("./nowhere: no such folder"), "{error}");
}

#[test]
fn a_page_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            CONFIG,
            ("data/common.yaml", "port: 80\n"),
            ("page.html", "<p>no</p>"),
        ],
    );
    let (_, error, code) = run(folder.path(), &["report", "--page", "page.html"]);
    assert_eq!(code, 1);
    assert!(
        error.contains("page.html: this is no page of a report"),
        "{error}"
    );
    let (_, error, code) = run(folder.path(), &["report", "--page", "missing.html"]);
    assert_eq!(code, 1);
    assert!(error.contains("missing.html: "), "{error}");
    assert!(!folder.path().join("hiera-report.html").exists());
}
