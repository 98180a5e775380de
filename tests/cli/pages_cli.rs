//! Pages of the documentation generated from the program: run with `UPDATE_EXPECT=1` to regenerate
//! them.

use std::fmt::Write as _;
use std::process::Command;

use expect_test::expect_file;
use hiera_ls::rules::{RULES, Since};
use serde_json::Value;

fn printed(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiera-ls"));
    command.args(arguments).env_remove("COLUMNS");
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// The names of the commands, as the help lists them.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let names = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = names.take_while(|line| !line.is_empty());
    let is_name = |line: &&str| !line.starts_with("   ");
    let names = names
        .filter(is_name)
        .filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help");
    // A command with commands of its own.
    let whole = names.map(|name| match name {
        "nodes" => "nodes import",
        name => name,
    });
    whole.map(str::to_owned).collect()
}

#[test]
fn the_page_of_commands_matches_the_help() {
    let mut page = String::from(
        "# Commands\n\nWhat `hiera-ls COMMAND --help` prints. Exit codes are in \
         [exit-codes.md](exit-codes.md).\n",
    );
    for name in commands() {
        let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let help = printed(&words);
        let (about, rest) = help.split_once("\n\n").unwrap();
        let rest = rest.trim_end();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(
            page,
            "\n## `hiera-ls {name}`\n\n{about}.\n\n```text\n{rest}\n```\n"
        );
    }
    expect_file!["../../docs/commands.md"].assert_eq(&page);
}

#[test]
fn the_page_of_rules_lists_all() {
    let mut page = String::from(
        "# Rules\n\nWhat `hiera-ls check` and editors report, each with a page: what it reports, why, and how to \
         fix it. `hiera-ls explain CODE` prints it. The severity is the usual one; a finding that concerns only some nodes may have a lower one. With an older `puppetVersion`, findings say what is so from a later version on; `--format json` has it as `since`.\n\n| rule | severity | what it finds | later |\n| --- | --- | --- | --- |\n",
    );
    for rule in RULES {
        let (code, severity) = (rule.code, rule.severity.name());
        let _ = writeln!(
            page,
            "| [{code}](rules/{code}.md) | {severity} | {} | {} |",
            rule.summary(),
            Since::of(code).map(Since::words).unwrap_or_default()
        );
    }
    expect_file!["../../docs/rules.md"].assert_eq(&page);
}

#[test]
fn the_table_of_contents_lists_all_rules() {
    let is_rule = |line: &&str| line.contains("](rules/");
    let file = expect_file!["../../docs/SUMMARY.md"];
    let mut contents = String::new();
    for line in file.data().lines().filter(|line| !is_rule(line)) {
        let _ = writeln!(contents, "{line}");
        if line.contains("](rules.md)") {
            for rule in RULES {
                let _ = writeln!(contents, "  - [{0}](rules/{0}.md)", rule.code);
            }
        }
    }
    file.assert_eq(&contents);
}

#[test]
fn the_page_of_settings_lists_all() {
    let schema: Value = serde_json::from_str(&printed(&["settings-schema"])).unwrap();
    let mut page = String::from(
        "# Settings\n\nAll settings of the language server, each with the prefix `hiera-ls.`. How to set them: \
         [editors](editors.md#settings). Settings that a team shares are in \
         [`.hiera-ls.yaml`](configuration.md).\n",
    );
    let settings = schema["properties"].as_object().unwrap();
    for (name, setting) in settings {
        let name = name.strip_prefix("hiera-ls.").unwrap_or(name);
        let about = ["markdownDescription", "description"];
        let about = about.iter().find_map(|field| setting[*field].as_str());
        let default = &setting["default"];
        let _ = write!(
            page,
            "\n## `{name}`\n\n{}\n\nDefault: `{default}`\n",
            about.unwrap()
        );
    }
    expect_file!["../../docs/settings.md"].assert_eq(&page);
}
