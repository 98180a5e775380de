//! Tests the documentation: every command in a `console` block prints the lines below it, every
//! link has a target, and every page is in the table of contents.
//!
//! A block runs in the repository's folder; `console exit=N` ends with N. A line `…` stands for any
//! lines, a block without output lines accepts any output. Commands that install or build something
//! are in blocks of type `sh`: `tests/package` tests them. Calls of this program in such blocks,
//! job definitions and tasks pass in a healthy repository, and calls in sentences and tables are
//! valid.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of generated files, and of other people's.
const SKIPPED: [&str; 5] = ["node_modules", "target", ".git", "fixtures", "docs/book"];

/// Pictures that are copied next to a page when it is packaged.
const COPIED: (&str, &str) = ("editors/vscode/README.md", "images/");

/// All pages, from the repository's folder.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![PathBuf::from(".")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let path = path.strip_prefix(".").unwrap_or(&path).to_owned();
            if SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 20);
    pages
}

/// The blocks of a page: the text after the fence, and the lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let fence = "`".repeat(3 + info.chars().take_while(|letter| *letter == '`').count());
        let inside = lines.by_ref().take_while(|line| line.trim() != fence);
        blocks.push((info.trim_start_matches('`'), inside.collect()));
    }
    blocks
}

/// Whether lines match the expected ones, in which `…` stands for any lines.
fn is_as_expected(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|at| is_as_expected(rest, &lines[at..])),
        Some((first, rest)) => lines.first() == Some(first) && is_as_expected(rest, &lines[1..]),
    }
}

/// The search path for commands: the tested program comes first.
fn search_path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_hiera-ls"));
    let folder = program.parent().unwrap().display();
    format!("{folder}:{}", std::env::var("PATH").unwrap())
}

#[test]
fn output_of_commands_matches_the_documentation() {
    let mut commands = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for (info, lines) in blocks(&text) {
            let Some(rest) = info.strip_prefix("console") else {
                continue;
            };
            let code: i32 = rest
                .trim()
                .strip_prefix("exit=")
                .map_or(0, |code| code.parse().unwrap());
            let mut lines = lines.into_iter().peekable();
            while let Some(line) = lines.next() {
                let command = line.strip_prefix("$ ");
                let no_command = || panic!("{}: no command: {line}", page.display());
                let mut command = command.unwrap_or_else(no_command).to_owned();
                while command.ends_with(['|', '\\']) {
                    command += "\n";
                    command += lines.next().unwrap();
                }
                let mut expected = Vec::new();
                while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                    expected.push(line);
                }
                let output = Command::new("sh")
                    .args(["-c", &format!("{command} 2>&1")])
                    .env("PATH", search_path())
                    .output()
                    .unwrap();
                let stdout = String::from_utf8(output.stdout).unwrap();
                let lines: Vec<&str> = stdout.lines().map(str::trim_end).collect();
                let place = format!("{}: {command}\n{stdout}", page.display());
                let is_shown = !expected.is_empty();
                assert!(!is_shown || is_as_expected(&expected, &lines), "{place}");
                assert_eq!(output.status.code(), Some(code), "{place}");
                commands += 1;
            }
        }
    }
    assert!(commands > 2);
}

/// The command of this program in a line of a script or of a job's definition.
fn command_of(line: &str) -> Option<String> {
    let begin = line.find("hiera-ls ")?;
    let before = line[..begin].chars().next_back();
    let command = match before {
        None | Some(' ') => &line[begin..],
        Some(quote @ ('\'' | '"')) => line[begin..].split(quote).next()?,
        Some(_) => return None,
    };
    let first = command.split(' ').nth(1)?;
    let is_name = first
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    (is_name && !first.starts_with('-')).then(|| command.to_owned())
}

/// A git repository with Acme in it, a value changed since its commit, and eyaml keys.
struct Control {
    home: tempfile::TempDir,
    commit: String,
}

impl Control {
    fn new() -> Control {
        let home = tempfile::tempdir().unwrap();
        let at = home.path().join("acme");
        let copied = Command::new("cp")
            .args(["-r", "fixtures/acme"])
            .arg(&at)
            .status()
            .unwrap();
        assert!(copied.success());
        std::fs::remove_dir_all(at.join("mistakes")).unwrap();
        let page = "<meta name=\"hiera-ls-report\" content=\"1\">\n<!-- data -->\n";
        std::fs::write(home.path().join("page.html"), page).unwrap();
        let keys = at.join("keys");
        std::fs::create_dir(&keys).unwrap();
        for (from, to) in [("certificate", "public_key"), ("private", "private_key")] {
            let from = format!("tests/eyaml/test-only-first.{from}.pem");
            std::fs::copy(from, keys.join(format!("{to}.pkcs7.pem"))).unwrap();
        }
        let mut control = Control {
            home,
            commit: String::new(),
        };
        let commit = "git init -q && git add -A && git -c user.name=A -c user.email=a@example.com \
                      -c commit.gpgsign=false commit -q -m first && git rev-parse HEAD";
        let (code, stdout, error) = control.run(commit);
        assert_eq!(code, Some(0), "{error}");
        stdout.trim().clone_into(&mut control.commit);
        let common = at.join("data/common.yaml");
        let text = std::fs::read_to_string(&common).unwrap();
        std::fs::write(&common, text + "\na::new::key: 1\n").unwrap();
        control
    }

    /// The exit code, standard output and standard error of a shell line.
    fn run(&self, line: &str) -> (Option<i32>, String, String) {
        // A program without the page of reports takes this one: `tests/report` makes the real one.
        let line = line.replace("hiera-ls report ", "hiera-ls report --page ../page.html ");
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(self.home.path().join("acme"))
            .stdin(std::process::Stdio::null())
            .env("HOME", self.home.path())
            .env("PATH", search_path())
            // As in GitLab.
            .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &self.commit)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code();
        (code, text(&output.stdout), text(&output.stderr))
    }
}

/// Commands that are shown without their output: in scripts, and in job definitions.
#[test]
fn commands_of_scripts_and_jobs_pass_in_a_healthy_repository() {
    let control = Control::new();
    for folder in [
        ".local/share/bash-completion/completions",
        ".zfunc",
        ".config/fish/completions",
    ] {
        std::fs::create_dir_all(control.home.path().join(folder)).unwrap();
    }
    let mut commands = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for (info, lines) in blocks(&text) {
            if !["sh", "yaml", "groovy"].contains(&info) {
                continue;
            }
            for command in lines.into_iter().filter_map(command_of) {
                let command = command
                    .replace("KEY", "profile::web::port")
                    .replace("NODE", "web01.lon.acme.example");
                let (code, _, error) = control.run(&command);
                assert_eq!(code, Some(0), "{}: {command}\n{error}", page.display());
                commands += 1;
            }
        }
    }
    assert!(commands > 10, "only {commands} commands");
    let comment = control.home.path().join("acme/hiera.md");
    let comment = std::fs::read_to_string(comment).unwrap();
    assert!(
        comment.contains("1 key changes for all 8 nodes"),
        "{comment}"
    );
}

/// Tasks for a Rakefile are run if Rake is installed; each must call a command of this program.
#[test]
fn tasks_of_rakefiles_pass_in_a_healthy_repository() {
    let control = Control::new();
    let has_rake = control.run("rake --version").0 == Some(0);
    let mut tasks = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for (_, lines) in blocks(&text)
            .into_iter()
            .filter(|(info, _)| *info == "ruby")
        {
            let task = lines
                .iter()
                .find_map(|line| line.trim().strip_prefix("sh '"));
            let task = task.unwrap_or_else(|| panic!("{}: no task", page.display()));
            let (code, _, error) = control.run(&task.trim_end_matches('\'').replace("', '", " "));
            assert_eq!(code, Some(0), "{}: {error}", page.display());
            tasks += 1;
            if !has_rake {
                continue;
            }
            let syntax = "module PuppetSyntax; def self.hieradata_paths=(_); end; end\n";
            let rakefile = control.home.path().join("acme/Rakefile");
            std::fs::write(rakefile, syntax.to_owned() + &lines.join("\n")).unwrap();
            let is_named = lines
                .iter()
                .any(|line| line.starts_with("namespace :syntax"));
            let name = if is_named { "syntax:hiera" } else { "hiera" };
            let (code, stdout, error) = control.run(&format!("rake {name}"));
            assert_eq!(code, Some(0), "{}: {error}", page.display());
            assert!(stdout.contains("no problems"), "{stdout}{error}");
        }
    }
    assert!(tasks > 1);
}

/// The commands of this program between backticks, such as those of tables.
fn named_commands(text: &str) -> Vec<String> {
    let mut is_code = false;
    let prose = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let prose = prose.collect::<Vec<_>>().join(" ");
    let spans = prose.split('`').skip(1).step_by(2);
    let commands = spans.filter(|span| span.starts_with("hiera-ls "));
    commands.map(str::to_owned).collect()
}

#[test]
fn commands_that_tables_and_sentences_name_are_understood() {
    let control = Control::new();
    let examples = [
        (" A B", " web01.lon.acme.example web02.lon.acme.example"),
        ("KEY…", "profile::web::port"),
        ("KEY", "profile::web::port"),
        ("VALUE", "80"),
        ("NODE", "web01.lon.acme.example"),
        (" [PATH…]", ""),
        ("REV", "HEAD"),
        ("DIR", "."),
        ("FILE:LINE:COLUMN", "data/common.yaml:85:1"),
        ("FILE:LINE", "data/common.yaml:85"),
        ("CODE", "dup-key"),
        ("SHELL", "bash"),
        ("FORMAT", "sarif"),
        ("COMMAND", "check"),
        ("fixtures/acme/mistakes", "data"),
    ];
    let mut commands = BTreeSet::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        commands.extend(named_commands(&text));
    }
    assert!(commands.len() > 30, "{commands:?}");
    for named in commands {
        let mut command = named.clone();
        for (placeholder, example) in examples {
            command = command.replace(placeholder, example);
        }
        let (code, _, error) = control.run(&command);
        // A sentence may name a command without its required arguments.
        let refused = [
            "unexpected argument",
            "unrecognized",
            "invalid value",
            "cannot be used",
        ];
        let is_refused = refused.iter().any(|words| error.contains(words));
        assert!(!is_refused, "{named}: {error}");
        assert!(matches!(code, Some(0..=3)), "{named}: {code:?} {error}");
        assert!(!error.contains("no data sets"), "{named}: {error}");
    }
}

/// The targets of a page's links, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Text between backticks is no link.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
        let ends = prose.split("](").skip(1);
        links.extend(
            ends.filter_map(|end| end.split(')').next())
                .map(str::to_owned),
        );
    }
    links
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let letters = text.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
        _ => None,
    });
    letters.collect()
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let is_copied = page.ends_with(COPIED.0) && link.starts_with(COPIED.1);
            if is_copied || link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, section) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let is_line = section.starts_with('L') && !file.ends_with(".md");
            let is_there = target.exists()
                && (section.is_empty()
                    || is_line
                    || std::fs::read_to_string(&target).is_ok_and(|text| {
                        let mut headings = text.lines().filter(|line| line.starts_with('#'));
                        headings.any(|line| anchor(line) == section)
                    }));
            if !is_there {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_pages_are_in_the_book_and_link_into_it() {
    let contents = std::fs::read_to_string("docs/SUMMARY.md").unwrap();
    let listed: BTreeSet<String> = links(&contents).into_iter().collect();
    let mut wrong = Vec::new();
    for page in pages() {
        let Ok(name) = page.strip_prefix("docs") else {
            continue;
        };
        let name = name.to_str().unwrap();
        if name != "SUMMARY.md" && !listed.contains(name) {
            wrong.push(format!("{name} is not in docs/SUMMARY.md"));
        }
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let leaves = if name.starts_with("rules/") {
                "../../"
            } else {
                "../"
            };
            if link.starts_with(leaves) {
                wrong.push(format!("{name} links out of the book: {link}"));
            }
            if page.with_file_name(&link).is_dir() {
                wrong.push(format!(
                    "{name} links to a folder, which is no page: {link}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
