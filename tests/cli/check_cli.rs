//! `hiera-ls check` as people and scripts see it.

use super::reach_cli::{output_of, workspace};
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
fn json_lines_are_one_object_a_line() {
    let output = check(&[
        "--format",
        "json-lines",
        "mistakes/unreadable/data/date.yaml",
    ]);
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
        stdout(&healthy).ends_with(" checked, no problems\n"),
        "{}",
        stdout(&healthy)
    );
    assert_eq!(healthy.status.code(), Some(0));
    let missing = check(&["no-such-folder"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn colours_are_used_only_on_request() {
    let plain = check(&["mistakes/unreadable/data/date.yaml"]);
    assert!(!stdout(&plain).contains('\u{1b}'));
    let coloured = check(&["--color", "always", "mistakes/unreadable/data/date.yaml"]);
    assert!(stdout(&coloured).contains('\u{1b}'));
}

const DATE: &str = "mistakes/unreadable/data/date.yaml";
const MESSAGE: &str = "'2027-01-31' is read as a date, which Puppet does not allow: it refuses the whole file; quote it";

#[test]
fn each_format_names_place_rule_and_message() {
    let output = check(&["--format", "concise", DATE]);
    let expected = format!("{DATE}:3:10: error[yaml-date] {MESSAGE}\n1 error in 1 file\n");
    assert_eq!(stdout(&output), expected);

    let output = check(&["--output-format", "github", DATE]);
    let expected = format!(
        "::error title=hiera-ls (yaml-date),file={DATE},line=3,col=10,endLine=3,endColumn=20::\
         {DATE}:3:10: yaml-date {MESSAGE}\n"
    );
    assert_eq!(stdout(&output), expected);
    assert_eq!(output.status.code(), Some(1));

    let output = check(&["--format", "checkstyle", DATE]);
    let message = MESSAGE.replace('\'', "&apos;");
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n  <file name=\"{DATE}\">\n    \
         <error line=\"3\" column=\"10\" severity=\"error\" message=\"{message}\" source=\"hiera-ls.yaml-date\"/>\n  \
         </file>\n</checkstyle>\n"
    );
    assert_eq!(stdout(&output), expected);

    let output = check(&["--format", "junit", DATE]);
    let text = stdout(&output);
    assert!(
        text.contains("tests=\"1\" failures=\"1\" errors=\"0\""),
        "{text}"
    );
    assert!(
        text.contains("<testcase name=\"yaml-date line 3\""),
        "{text}"
    );
    assert!(
        text.contains(&format!("<failure message=\"{message}\" type=\"error\">")),
        "{text}"
    );
}

#[test]
fn json_formats_hold_the_fields_that_their_readers_need() {
    let parsed = |format: &str| -> serde_json::Value {
        serde_json::from_slice(&check(&["--format", format, DATE]).stdout).unwrap()
    };
    let json = parsed("json");
    assert_eq!(json[0]["code"], "yaml-date");
    assert_eq!(
        (&json[0]["line"], &json[0]["column"]),
        (&3.into(), &10.into())
    );

    let gitlab = parsed("gitlab");
    assert_eq!(gitlab[0]["description"], format!("yaml-date: {MESSAGE}"));
    assert_eq!(gitlab[0]["severity"], "major");
    assert_eq!(gitlab[0]["location"]["positions"]["begin"]["line"], 3);
    let fingerprint = gitlab[0]["fingerprint"].as_str().unwrap().to_owned();
    assert_eq!(fingerprint.len(), 32);

    let sarif = parsed("sarif");
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "yaml-date");
    let result = &run["results"][0];
    assert_eq!(result["ruleIndex"], 0);
    assert_eq!(
        result["partialFingerprints"]["hieraLs/v1"],
        fingerprint.as_str()
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], DATE);
    assert_eq!(place["region"]["endColumn"], 20);

    let rdjson = parsed("rdjson");
    let diagnostic = &rdjson["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "ERROR");
    assert_eq!(diagnostic["location"]["range"]["start"]["column"], 10);
    assert_eq!(diagnostic["suggestions"][0]["text"], "\"2027-01-31\"");
}

#[test]
fn rules_are_chosen_by_code() {
    let ignored = check(&["--ignore", "yaml-date", DATE]);
    assert_eq!(stdout(&ignored), "1 file checked, no problems\n");
    let selected = check(&["--select", "dup-key,yaml-date", "--statistics", DATE]);
    assert_eq!(stdout(&selected), "     1  yaml-date\n1 error in 1 file\n");
    assert_eq!(selected.status.code(), Some(1));
    let counted = check(&[
        "--select",
        "yaml-date",
        "--statistics",
        "--format",
        "json",
        DATE,
    ]);
    let counted: serde_json::Value = serde_json::from_str(stdout(&counted)).unwrap();
    assert_eq!(
        counted,
        serde_json::json!([{"code": "yaml-date", "count": 1}])
    );
    let unknown = check(&["--select", "yaml-dates", DATE]);
    assert_eq!(unknown.status.code(), Some(2));
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(error.contains("did you mean 'yaml-date'?"), "{error}");
    let zero = check(&["--exit-zero", DATE]);
    assert_eq!(zero.status.code(), Some(0));
}

#[test]
fn overlapping_paths_are_checked_once() {
    let folder = check(&["--format", "concise", "mistakes/unreadable/data"]);
    let overlapping = check(&[
        "--format",
        "concise",
        DATE,
        "mistakes/unreadable/data",
        DATE,
    ]);
    assert_eq!(stdout(&overlapping), stdout(&folder));
}

#[test]
fn a_baseline_hides_its_findings_after_they_move() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(folder.path().join("hiera.yaml"), "version: 5\n").unwrap();
    let common = data.join("common.yaml");
    std::fs::write(&common, "a: 2027-01-31\n").unwrap();
    let known = folder.path().join("known.json");
    let (root, known) = (folder.path().to_str().unwrap(), known.to_str().unwrap());
    let written = check(&["--write-baseline", known, root]);
    assert_eq!(written.status.code(), Some(0));
    assert!(!std::fs::read_to_string(known).unwrap().contains("2027"));

    std::fs::write(&common, "\n# above\na: 2027-01-31\n").unwrap();
    let again = check(&["--baseline", known, root]);
    assert_eq!(again.status.code(), Some(0), "{}", stdout(&again));

    // The current folder does not matter.
    let inside = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["check", ".", "--baseline", "../known.json"])
        .current_dir(&data)
        .output()
        .unwrap();
    assert_eq!(inside.status.code(), Some(0), "{}", stdout(&inside));

    std::fs::write(&common, "a: 2027-01-31\nb: 2027-01-31\n").unwrap();
    let more = check(&["--format", "concise", "--baseline", known, root]);
    assert_eq!(more.status.code(), Some(1));
    let lines: Vec<&str> = stdout(&more).lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains(":2:4: error[yaml-date]"), "{lines:?}");
}

#[test]
fn a_pattern_names_files() {
    let output = check(&["data/{role,site}/*.yaml", "--format", "concise"]);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/acme/data");
    let count = |name: &str| {
        std::fs::read_dir(format!("{folder}/{name}"))
            .unwrap()
            .count()
    };
    let files = count("role") + count("site");
    assert_eq!(
        stdout(&output),
        format!("{files} files checked, no problems\n")
    );
    let output = check(&["data/**/*.toml"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "hiera-ls: data/**/*.toml: no file matches the pattern\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_workspace_is_checked_from_elsewhere() {
    let folder = workspace(&[
        (
            "one/hiera.yaml",
            "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n",
        ),
        ("one/data/common.yaml", "a: 2027-01-31\n"),
        ("two/data/common.yaml", "a: 2027-01-31\n"),
    ]);
    let at = folder.path();
    let arguments = ["check", "--format", "concise", "--workspace", "one"];
    let (code, shown, error) = output_of(at, &arguments);
    assert_eq!((code, error.as_str()), (Some(1), ""));
    assert!(
        shown.starts_with("one/data/common.yaml:1:4: error[yaml-date]"),
        "{shown}"
    );
    let named = |path: &str| output_of(at, &[&arguments[..], &[path]].concat());
    let shown = shown.replace("2 files", "1 file");
    for path in ["one/data", "one/data/common.yaml", "one/data/*.yaml"] {
        assert_eq!(named(path).1, shown);
    }
    for (path, code, expected) in [
        (
            "data/common.yaml",
            2,
            "data/common.yaml: no such file or folder",
        ),
        ("two/data", 2, "two/data: not in the workspace one"),
        (
            "two/data/common.yaml",
            0,
            "two/data/common.yaml: skipped: it is not in the workspace",
        ),
    ] {
        let expected = (Some(code), String::new(), format!("hiera-ls: {expected}\n"));
        assert_eq!(named(path), expected);
    }
    for (named, expected) in [
        ("nosuch", "nosuch: no such folder"),
        (
            "one/hiera.yaml",
            "one/hiera.yaml: a file, where a folder is expected",
        ),
    ] {
        for command in [&["check"][..], &["matrix", "a"], &["check", "one/data"]] {
            let (_, shown, error) = output_of(at, &[command, &["--workspace", named]].concat());
            assert_eq!(
                (shown, error),
                (String::new(), format!("hiera-ls: {expected}\n"))
            );
        }
    }
}

#[test]
fn unchecked_files_are_named() {
    let folder = workspace(&[
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n",
        ),
        ("data/common.yaml", "a: 1\n"),
        ("data/other.yaml", "a: 1\n"),
        ("docs/a.md", ""),
        ("more/a.yaml", "a: 1\n"),
        ("empty/x/.keep", ""),
    ]);
    let at = folder.path();
    for (path, code, expected) in [
        ("docs/a.md", 0, "docs/a.md: skipped: it is not a data file"),
        (
            "more/a.yaml",
            0,
            "more/a.yaml: skipped: no hierarchy reads it",
        ),
        ("docs", 0, "docs: nothing was checked: there is no data"),
        ("empty", 0, "empty: nothing was checked: there is no data"),
        (
            "more",
            0,
            "more: nothing was checked: no hierarchy reads a file there",
        ),
        (
            "data/nosuch.yaml",
            2,
            "data/nosuch.yaml: no such file or folder",
        ),
        ("nosuch/*.yaml", 2, "nosuch/*.yaml: no such file or folder"),
    ] {
        let expected = (Some(code), String::new(), format!("hiera-ls: {expected}\n"));
        assert_eq!(output_of(at, &["check", path]), expected);
    }
    for arguments in [
        &["check", "--baseline", "nosuch"][..],
        &["check", "--write-baseline", "nosuch/x"],
        &["set", "a", "1", "--nodes", "nosuch"],
        &["encrypt", "--pkcs7-public-key", "nosuch"],
        &["man", "--out", "hiera.yaml/nosuch"],
        &["diff", "--against", "HEAD"],
    ] {
        let (code, _, error) = output_of(at, arguments);
        assert!(
            matches!(code, Some(1 | 2)),
            "{arguments:?}: {code:?} {error}"
        );
        assert!(!error.contains("os error"), "{arguments:?}: {error}");
    }
}

#[test]
fn less_severe_findings_are_not_reported() {
    let count = |severity: &str| {
        let (_, out, _) = output_of(
            std::path::Path::new("."),
            &[
                "check",
                "fixtures/acme/mistakes/values",
                "--format",
                "json-lines",
                "--min-severity",
                severity,
            ],
        );
        let lines = out.lines().map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["severity"].as_str().unwrap().to_owned()
        });
        lines.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(Vec::from_iter(count("error")), ["error"]);
    assert_eq!(Vec::from_iter(count("warning")), ["error", "warning"]);
    assert!(count("hint").contains("hint"));
}

/// A file with more findings than are printed of one file, all of one rule.
#[test]
fn findings_that_are_not_printed_are_counted() {
    let names: Vec<String> = (0..230).map(|at| format!("p{at}")).collect();
    let parameters = names.iter().map(|name| format!("Integer ${name} = 1"));
    let class = format!(
        "class m({}) {{ }}\n",
        parameters.collect::<Vec<_>>().join(", ")
    );
    let data: String = names.iter().map(|name| format!("m::{name}: x\n")).collect();
    let folder = workspace(&[
        ("environment.conf", "modulepath = modules\n"),
        (
            "hiera.yaml",
            "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n",
        ),
        ("data/common.yaml", &data),
        ("modules/m/manifests/init.pp", &class),
    ]);
    let check = |format: &str| output_of(folder.path(), &["check", "--format", format]);
    let (code, shown, _) = check("concise");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(code, Some(1));
    assert_eq!(lines.len(), 203);
    assert_eq!(
        lines[200..],
        [
            "data/common.yaml: 30 more findings: --format json-lines prints all",
            "230 findings of 'type-mismatch' in data/common.yaml: to change the severity of all, write 'diagnostics: {severity: \
             {type-mismatch: hint}}' in .hiera-ls.yaml",
            "230 errors in 2 files",
        ]
    );
    let (_, shown, error) = check("json-lines");
    assert_eq!(shown.lines().count(), 230);
    assert!(error.ends_with("230 errors in 2 files\n"), "{error}");
}

/// The form of a control repository whose hierarchy is deployed as that of the global layer.
#[test]
fn a_relative_datadir_of_a_deployed_hierarchy_leads_to_the_checkout() {
    let files = |datadir: &str| {
        let config = format!(
            "version: 5\ndefaults: {{datadir: '{datadir}', data_hash: yaml_data}}\nhierarchy:\n\
             - {{name: node, path: 'nodes/%{{clientcert}}.yaml'}}\n- {{name: common, path: common.yaml}}\n"
        );
        workspace(&[
            ("environment.conf", "modulepath = site\n"),
            ("site/profile/files/hiera.yaml", &config),
            (
                "site/profile/manifests/tool.pp",
                "class profile::tool(String $version, String $channel) { }\n",
            ),
            (
                "manifests/site.pp",
                "node 'a.example.com' { include profile::tool }\n",
            ),
            (
                "hieradata/common.yaml",
                "profile::tool::version: '1'\nprofile::tool::channel: stable\n",
            ),
            (
                "hieradata/nodes/a.example.com.yaml",
                "profile::tool::version: '2'\n",
            ),
        ])
    };
    let folder = files("environments/%{environment}/hieradata");
    let run = |arguments: &[&str]| output_of(folder.path(), arguments);
    let lookup = [
        "lookup",
        "profile::tool::version",
        "--node",
        "a.example.com",
    ];
    assert_eq!(run(&lookup).1, "--- '2'\n");
    assert_eq!(run(&["check"]).1, "3 files checked, no problems\n");
}

/// No finding says that no level sets a key if the levels are not found here.
#[test]
fn levels_that_are_not_found_may_set_every_key() {
    for (datadir, path, is_reported) in [
        ("data", "common.yaml", true),
        ("values", "common.yaml", false),
        ("environments/%{environment}/values", "common.yaml", false),
        ("data", "comon.yaml", false),
    ] {
        let config = format!(
            "version: 5\ndefaults: {{datadir: '{datadir}', data_hash: yaml_data}}\nhierarchy:\n\
             - {{name: node, path: 'nodes/%{{clientcert}}.yaml'}}\n- {{name: common, path: {path}}}\n"
        );
        let folder = workspace(&[
            ("environment.conf", "modulepath = modules\n"),
            ("hiera.yaml", &config),
            (
                "modules/tool/manifests/init.pp",
                "class tool(String $version) { }\n",
            ),
            ("manifests/site.pp", "include tool\n"),
            ("data/common.yaml", "other: 1\n"),
        ]);
        let (code, shown, error) = output_of(folder.path(), &["check", "--format", "concise"]);
        let found = shown.contains("missing-parameter");
        assert_eq!(found, is_reported, "{datadir} {path}: {shown}");
        let words = "what no level sets, and what nothing reads, was not checked";
        assert_eq!(error.contains(words), !is_reported, "{error}");
        assert_eq!(code, Some(if is_reported { 1 } else { 3 }));
        assert!(!shown.contains("orphan-file"), "{shown}");
    }
}
