//! Features common to all commands: messages, colours, the width of a terminal, a closed pipe,
//! completions, manual pages, the version.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_hiera-ls");
pub(super) const ACME: &str = "fixtures/acme";

pub(super) fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null());
    command.env_remove("NO_COLOR").output().unwrap()
}

/// Exit code, standard output and standard error.
pub(super) fn output_of(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn keys_are_chosen_by_patterns() {
    let (code, out, _) = output_of(&["matrix", "profile::web::*", "--workspace", ACME]);
    assert_eq!(code, Some(0));
    let titles: Vec<&str> = out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(titles.len() > 2, "{out}");
    let is_chosen = |title: &&str| title.starts_with("profile::web::");
    assert!(titles.iter().all(is_chosen), "{out}");
}

/// The places of a text: words that end in `:LINE`.
fn places(text: &str) -> Vec<(&str, usize)> {
    let words = text.split([' ', ',', '\n']);
    let places = words.filter_map(|word| {
        let (file, line) = word.rsplit_once(':')?;
        let is_file = file.ends_with(".yaml");
        Some((file, line.parse().ok()?)).filter(|_| is_file)
    });
    places.collect()
}

#[test]
fn paths_can_be_given_to_the_next_command() {
    let key = "profile::web::port";
    let place = "fixtures/acme/data/common.yaml:85";
    let nodes = ["web01.lon.acme.example", "web02.lon.acme.example"];
    for arguments in [
        &["matrix", key, "--workspace", ACME][..],
        &["matrix", key, "--workspace", ACME, "--format", "csv"],
        &["matrix", key, "--workspace", ACME, "--format", "markdown"],
        &["hover", place],
        &[
            "diff",
            nodes[0],
            nodes[1],
            "--key",
            key,
            "--workspace",
            ACME,
        ],
    ] {
        let (_, out, error) = output_of(arguments);
        let places = places(&out);
        assert!(!places.is_empty(), "{arguments:?}: {out}{error}");
        for (file, line) in places {
            let text = std::fs::read_to_string(file.trim_matches('"')).unwrap();
            let line = text.lines().nth(line - 1).unwrap();
            assert!(line.starts_with("profile::web::port:"), "{file}: {line}");
        }
    }
    // A line is enough.
    let whole = output_of(&["hover", "fixtures/acme/data/common.yaml:85:1"]);
    assert_eq!(output_of(&["hover", place]), whole);
}

#[test]
fn every_command_has_one_colour_flag() {
    let nodes = ["web01.lon.acme.example", "web02.lon.acme.example"];
    for arguments in [
        &["matrix", "profile::web::port", "--workspace", ACME][..],
        &["diff", nodes[0], nodes[1], "--workspace", ACME],
        &["hover", "fixtures/acme/data/common.yaml:85"],
        &["check", "fixtures/acme/mistakes"],
        &["check", "fixtures/acme/mistakes", "--format", "concise"],
        &["check", "fixtures/acme/mistakes", "--statistics"],
        &["check", "fixtures/acme/mistakes", "--diff"],
        &["matrix", "--help"],
    ] {
        let plain = output_of(arguments);
        assert!(!plain.1.contains('\x1b'), "{arguments:?}");
        let coloured = [&["--color", "always"], arguments].concat();
        let coloured = output_of(&coloured);
        assert!(coloured.1.contains('\x1b'), "{arguments:?}");
        assert_eq!(plain.0, coloured.0);
        let behind = output_of(&[arguments, &["--color", "never"]].concat());
        assert_eq!(plain, behind, "{arguments:?}");
    }
    let (_, _, error) = output_of(&["--color", "always", "explain", "nosuch"]);
    assert!(error.starts_with("\x1b[1;31mhiera-ls:\x1b[0m "), "{error}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let nodes = ["web01.lon.acme.example", "web02.lon.acme.example"];
    let different = ["diff", nodes[0], nodes[1], "--workspace", ACME];
    for arguments in [
        &different[..],
        &["matrix", "--all-keys", "--workspace", ACME],
        &[
            "matrix",
            "--all-keys",
            "--workspace",
            ACME,
            "--format",
            "json",
        ],
        &["check", "fixtures/acme"],
        &["explain", "dup-key"],
        &["rules"],
        &["doctor", "--workspace", ACME],
        &["settings-schema"],
        &["project-schema"],
        &["completions", "zsh"],
        &["man"],
        &["hover", "fixtures/acme/data/common.yaml:85"],
        &["lookup", "profile::base::packages", "--workspace", ACME],
    ] {
        let mut child = Command::new(PROGRAM)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The reader closes the pipe before anything is written.
        drop(child.stdout.take());
        let mut error = String::new();
        let stderr = child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut error).unwrap();
        let code = child.wait().unwrap().code();
        // The exit code reflects the results so far.
        let expected = match arguments[0] {
            "diff" => 2,
            "check" => 1,
            _ => 0,
        };
        assert!(
            code == Some(expected) || arguments[0] == "lookup",
            "{arguments:?}: {code:?}"
        );
        assert!(!error.contains("pipe"), "{arguments:?}: {error}");
        assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    }
}

#[test]
fn several_answers_are_json_on_request() {
    let arguments = ["lookup", "profile::web::port", "--workspace", ACME];
    let json = [&arguments[..], &["--render-as", "json"]].concat();
    let (code, out, error) = output_of(&json);
    assert_eq!((code, &*error), (Some(2), ""));
    let groups: serde_json::Value = serde_json::from_str(&out).unwrap();
    let groups = groups.as_array().unwrap();
    let nodes = groups
        .iter()
        .map(|group| group["nodes"].as_array().unwrap().len());
    assert_eq!((groups.len(), nodes.sum::<usize>()), (3, 8));
    assert!(groups.iter().any(|group| group["value"] == 9443), "{out}");
    // The same as in the matrix, with their sources.
    let matrix = ["matrix", "profile::web::port", "--workspace", ACME];
    let (code, rows, _) = output_of(&[&matrix[..], &["--format", "json"]].concat());
    assert_eq!(code, Some(0));
    let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
    assert_eq!(rows.as_array().map(Vec::len), Some(1));
    assert_eq!(rows[0]["answers"].as_array(), Some(groups));
    let line = &groups[0]["sources"][0]["line"];
    assert!(line.as_u64() > Some(1), "{out}");
    let (code, out, error) = output_of(&arguments);
    let (_, row, _) = output_of(&matrix);
    assert_eq!((code, out, &*error), (Some(2), row, ""));
}

#[test]
fn json_is_one_array_and_json_lines_an_object_a_line() {
    let json = |arguments: &[&str], of: &str| {
        let arguments = [arguments, &["--workspace", ACME, "--format", of]].concat();
        output_of(&arguments).1
    };
    let two = ["db01.lon.acme.example", "web01.lon.acme.example"];
    let tables = [
        &["matrix", "profile::web::*"][..],
        &["diff", two[0], two[1]],
        &["diff", two[0], two[0]],
        &["check"],
    ];
    for arguments in tables {
        let array: Vec<serde_json::Value> =
            serde_json::from_str(&json(arguments, "json")).expect(arguments[0]);
        let lines = json(arguments, "json-lines");
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(
            array,
            lines.collect::<Vec<serde_json::Value>>(),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_version_names_the_target() {
    let (code, out, _) = output_of(&["--version"]);
    assert_eq!(code, Some(0));
    let version = env!("CARGO_PKG_VERSION");
    let rest = out.strip_prefix(&format!("hiera-ls {version} (")).unwrap();
    assert!(rest.trim_end().ends_with(')'), "{out}");
    assert!(rest.contains(std::env::consts::ARCH), "{out}");
}

#[test]
fn completions_and_pages_list_every_command() {
    let (_, help, _) = output_of(&["--help"]);
    let commands = help.split("Commands:").nth(1).unwrap();
    let commands = commands.split("Options:").next().unwrap().lines();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("    ");
    let names = commands
        .filter(is_name)
        .filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.contains(&"matrix"), "{help}");
    // The script for fish also completes values of arguments.
    let (_, script, _) = output_of(&["completions", "fish"]);
    for value in [
        "explain\" -f -a dup-key ",
        "completions\" -f -a bash ",
        "auto\\t",
    ] {
        assert!(script.contains(value), "{value}: {script}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (code, script, _) = output_of(&["completions", shell]);
        assert_eq!(code, Some(0));
        for name in &names {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("new");
    let at = at.to_str().unwrap();
    assert_eq!(
        output_of(&["man", "--out", at]),
        (Some(0), String::new(), String::new())
    );
    let page = |name: &str| {
        let name = format!("hiera-ls{name}.1");
        std::fs::read_to_string(Path::new(at).join(name)).unwrap()
    };
    assert_eq!(output_of(&["man"]).1, page(""));
    for name in &names {
        assert!(page("").contains(&name.replace('-', "\\-")), "{name}");
        assert!(page(&format!("-{name}")).starts_with(".ie"), "{name}");
    }
}

/// Unix terminals.
#[cfg(target_os = "linux")]
mod in_a_terminal {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::fd::OwnedFd;
    use std::process::{Child, Command, Stdio};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    use super::super::reach_cli::workspace;
    use super::{ACME, PROGRAM, output_of};

    /// Starts a program in a terminal with that many columns.
    fn in_terminal(command: &mut Command, columns: u16) -> (OwnedFd, Child) {
        let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&own).unwrap();
        unlockpt(&own).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&own, size).unwrap();
        let name = ptsname(&own, Vec::new()).unwrap();
        let open = || {
            File::options()
                .read(true)
                .write(true)
                .open(name.to_str().unwrap())
        };
        let (input, output, error) = (open().unwrap(), open().unwrap(), open().unwrap());
        command
            .env_remove("NO_COLOR")
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(output))
            .stderr(Stdio::from(error));
        (own, command.spawn().unwrap())
    }

    /// All that a program writes to a terminal, and its exit code.
    ///
    /// A read that ends or fails only says that nothing is there now. The text is complete when
    /// this happens to a read that began after the program's end.
    fn read_all(mut terminal: &File, child: &mut Child) -> (Vec<u8>, Option<i32>) {
        let mut text = Vec::new();
        loop {
            let status = child.try_wait().unwrap();
            let _ = terminal.read_to_end(&mut text);
            if let Some(status) = status {
                return (text, status.code());
            }
        }
    }

    /// The output in a terminal of 60 columns, and the exit code.
    fn shown(arguments: &[&str]) -> (String, Option<i32>) {
        let mut command = Command::new(PROGRAM);
        let (own, mut child) = in_terminal(command.args(arguments), 60);
        drop(command);
        let (text, code) = read_all(&File::from(own), &mut child);
        (String::from_utf8(text).unwrap(), code)
    }

    /// Types text into an interactive bash, and shows the arguments that the program then gets.
    #[test]
    fn bash_completes_commands_flags_and_values() {
        let folder = tempfile::tempdir().unwrap();
        let (_, script, _) = output_of(&["completions", "bash"]);
        std::fs::write(folder.path().join("completions"), script).unwrap();
        let lines = [
            ("hiera-ls matr\t", "<matrix>"),
            ("hiera-ls explain-\t", "<explain-key>"),
            ("hiera-ls check --statis\t", "<check><--statistics>"),
            ("hiera-ls check --format sar\t", "<check><--format><sarif>"),
            (
                "hiera-ls check --select dup-k\t",
                "<check><--select><dup-key>",
            ),
            ("hiera-ls explain dup-k\t", "<explain><dup-key>"),
            ("hiera-ls explain-key --compi\t", "<explain-key><--compile>"),
            (
                "hiera-ls --color alw\t check --exit-z\t",
                "<--color><always><check><--exit-zero>",
            ),
            ("hiera-ls check comple\t", "<check><completions>"),
        ];
        let mut typed =
            String::from("source completions; hiera-ls() { printf '<%s>' \"$@\"; echo; }\n");
        for (line, _) in lines {
            typed += &format!("{line}\n");
        }
        typed += "exit\n";
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-i"])
            .current_dir(folder.path())
            .env("TERM", "dumb")
            .env("INPUTRC", "/dev/null");
        let (own, mut child) = in_terminal(&mut bash, 200);
        drop(bash);
        let mut terminal = File::from(own);
        terminal.write_all(typed.as_bytes()).unwrap();
        let (text, _) = read_all(&terminal, &mut child);
        let text = String::from_utf8_lossy(&text);
        let printed: Vec<&str> = text
            .lines()
            .map(str::trim_end)
            .filter(|line| line.starts_with('<'))
            .collect();
        let expected = lines.map(|(_, arguments)| arguments);
        assert_eq!(printed, expected, "{text}");
    }

    /// Lines without colours and other control sequences.
    fn lines(text: &str) -> Vec<String> {
        let mut plain = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if letter == '\x1b' {
                letters.find(char::is_ascii_alphabetic);
            } else if letter != '\r' {
                plain.push(letter);
            } else if !letters.as_str().starts_with('\n') {
                // Text written from the start of a line overwrites it.
                plain.truncate(plain.rfind('\n').map_or(0, |at| at + 1));
            }
        }
        plain.lines().map(str::to_owned).collect()
    }

    #[test]
    fn without_arguments_the_usage_is_shown() {
        let (text, code) = shown(&[]);
        assert_eq!(code, Some(2));
        assert!(text.contains("Usage: "), "{text}");
        assert!(text.contains("matrix"), "{text}");
    }

    #[test]
    fn lines_fit_and_are_coloured() {
        for arguments in [
            &["matrix", "accounts::users", "--workspace", ACME][..],
            &["hover", "fixtures/acme/data/role/web.yaml:15"],
            &["rules"],
            &["doctor", "--workspace", ACME],
            &["set", "profile::web::port", "81", "--workspace", ACME],
            &[
                "hover",
                "fixtures/acme/data/common.yaml:1",
                "--node",
                "nosuch.example.com",
            ],
            &[
                "matrix",
                "profile::web::prot",
                "--nodes",
                "nosuch.json",
                "--workspace",
                ACME,
            ],
        ] {
            let (text, code) = shown(arguments);
            assert!(matches!(code, Some(0 | 1)), "{text}");
            assert!(arguments[0] == "rules" || text.contains("\x1b[1"), "{text}");
            for line in lines(&text) {
                // Neither words nor text to be pasted are broken.
                let is_diff = arguments[0] == "set" && line.starts_with([' ', '-', '+', '@']);
                let is_word = !line.trim_start().contains(' ');
                let is_whole = is_word || is_diff || line.starts_with("       ");
                assert!(is_whole || line.chars().count() <= 60, "{line}");
            }
        }
    }

    #[test]
    fn titles_of_findings_fit() {
        let (text, _) = shown(&["check", "fixtures/acme/mistakes/values"]);
        let lines = lines(&text);
        let mut titles = 0;
        for line in lines.iter().filter(|line| line.contains("]: ")) {
            titles += 1;
            // A word is never broken.
            let has_blanks = line.split(' ').count() > 2;
            assert!(!has_blanks || line.chars().count() <= 60, "{line}");
        }
        assert!(titles > 5, "{text}");
    }

    #[test]
    fn a_matrix_shows_who_gets_a_value_on_any_terminal() {
        let (text, code) = shown(&["matrix", "profile::web::*", "--workspace", ACME]);
        assert_eq!(code, Some(0), "{text}");
        let mut answers = 0;
        for line in lines(&text).iter().filter(|line| line.starts_with("  ")) {
            if line.starts_with("    ") || line.trim_start().starts_with("unless ") {
                continue;
            }
            answers += 1;
            assert!(line.chars().count() <= 60, "{line}");
            let has_nodes = line.contains(" nodes") || line.contains(".acme.example");
            assert!(has_nodes, "{line}");
        }
        assert!(answers > 5, "{text}");
    }

    #[test]
    fn advice_is_broken_and_what_is_pasted_is_not() {
        let folder = workspace(&[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n\
                 - {name: Role, path: 'role/%{facts.role}.yaml'}\n",
            ),
            ("data/role/web.yaml", "port: 80\n"),
            ("data/nodes/web1.example.com.yaml", "port: 80\n"),
        ]);
        let (text, code) = shown(&["doctor", "--workspace", folder.path().to_str().unwrap()]);
        assert_eq!(code, Some(0), "{text}");
        let lines = lines(&text);
        let advice = lines
            .iter()
            .position(|line| line == "What would improve answers most");
        let lines = &lines[advice.expect("there is advice")..];
        assert!(lines[1].starts_with("  1. "), "{text}");
        assert!(
            lines[2].starts_with("     ") && !lines[2].starts_with("      "),
            "{text}"
        );
        let advice: Vec<&String> = lines.iter().take_while(|line| !line.is_empty()).collect();
        let (pasted, prose): (Vec<&String>, Vec<&String>) = advice
            .into_iter()
            .partition(|line| line.starts_with("       "));
        assert!(
            prose.iter().all(|line| line.chars().count() <= 60),
            "{text}"
        );
        let query = format!(
            "       cd {} && hiera-ls nodes import --puppetdb https://puppetdb.example.com:8081",
            folder.path().display()
        );
        assert_eq!(pasted, [&query]);
    }

    #[test]
    fn many_answers_without_a_node_are_summarized() {
        let mut files = vec![
            (
                "hiera.yaml".to_owned(),
                "version: 5\nhierarchy:\n- {name: Role, path: 'role/%{facts.role}.yaml'}\n\
                 - {name: Common, path: common.yaml}\n",
            ),
            ("data/common.yaml".to_owned(), "port: 80\n"),
        ];
        files.extend((10..40).map(|at| (format!("data/role/role{at}.yaml"), "port: 81\n")));
        let files: Vec<(&str, &str)> = files.iter().map(|(at, text)| (&**at, *text)).collect();
        let folder = workspace(&files);
        let arguments = [
            "lookup",
            "port",
            "--workspace",
            folder.path().to_str().unwrap(),
        ];
        let (code, found, _) = output_of(&arguments);
        let of_many = "role10 or role11 or role12 or role13 or role14 or 25 more  ";
        assert!(found.contains(of_many), "{found}");
        assert_eq!((code, found.matches("/role/").count()), (Some(2), 10));
        let lines = lines(&shown(&arguments).0);
        assert!(lines.len() > 3, "{lines:?}");
        assert!(
            lines.iter().all(|line| line.chars().count() <= 60),
            "{lines:?}"
        );
    }

    #[test]
    fn a_key_that_is_not_found_is_explained() {
        let (text, code) = shown(&["lookup", "profile::web::prot", "--workspace", ACME]);
        assert_eq!(code, Some(1), "{text}");
        assert!(
            text.contains("did you mean\r\n    'profile::web::port'?"),
            "{text}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_shows_how_far_a_check_is_and_keeps_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "hiera.yaml",
        "version: 5\nhierarchy: [{name: All, datadir: ., glob: \"*.data.yaml\"}]\n",
    );
    for number in 0..60 {
        write(&format!("{number}.data.yaml"), &format!("k{number}: 1\n"));
    }
    std::os::unix::fs::symlink(folder.path(), folder.path().join("around")).unwrap();
    let command = format!("{PROGRAM} check {}", folder.path().display());
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    // An error is on its own line.
    let start = "\rreading files\x1b[K\r\x1b[Khiera-ls: ";
    assert!(shown.starts_with(start), "{shown:?}");
    assert!(
        shown.contains("\r40 of 61 files checked\x1b[K"),
        "{shown:?}"
    );
    // The progress line is removed before the answer is printed.
    assert!(
        shown.ends_with("\r\x1b[K61 files checked, no problems\r\n"),
        "{shown:?}"
    );
    assert_eq!(output.status.code(), Some(0));
    let (_, _, piped) = output_of(&["check", folder.path().to_str().unwrap()]);
    assert_eq!(piped.lines().count(), 1, "{piped}");
}
