//! The page of every sentence that a person can see, taken from the code itself: all texts with a blank
//! and a word in them, of all rooms. A new sentence is on the page or this test fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

/// What a room's texts are, in the order of the page; a room that is missing here fails the test.
const ROOMS: [(&str, &str); 19] = [
    (
        "ide",
        "Hovers, hints, lenses, documents, fixes, completions",
    ),
    ("rules", "Findings"),
    (
        "server",
        "Prompts, progress, settings, errors of the server",
    ),
    ("cli", "The command line (its help is in commands.md)"),
    ("analysis", "Doctor, nodes, configurations, .hiera-ls.yaml"),
    ("disk", "What cannot be read"),
    ("scope", "Nodes and facts"),
    ("workspace", "What becomes of configurations"),
    (
        "lookup",
        "What is unknown and why; errors as Puppet words them",
    ),
    ("hierarchy", "Errors in hiera.yaml, as Puppet words them"),
    ("datatype", "Types that do not match, as Puppet words them"),
    (
        "puppet",
        "What of a manifest is not evaluated; errors as Puppet words them",
    ),
    ("eyaml", "Encrypted values"),
    ("syntax", "Errors in YAML, JSON, HOCON and manifests"),
    ("interpolation", "Tokens"),
    ("regexp", "Patterns"),
    ("value", "Values"),
    ("text", "Places"),
    ("main.rs", "The program"),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_test = name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs");
        if is_test || name == "fixture.rs" || name.ends_with("testing.rs") {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// The texts of a Rust source, without comments, attributes and tests.
fn texts(source: &str) -> Vec<String> {
    let end = source.find("\n#[cfg(test)]\nmod ").unwrap_or(source.len());
    let source: Vec<char> = source[..end].chars().collect();
    let is_at = |at: usize, wanted: &str| {
        wanted
            .chars()
            .enumerate()
            .all(|(i, c)| source.get(at + i) == Some(&c))
    };
    let mut found = Vec::new();
    let mut at = 0;
    let mut attribute = None;
    let mut depth = 0usize;
    while at < source.len() {
        if is_at(at, "//") {
            while at < source.len() && source[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if is_at(at, "#[") || is_at(at, "#![") {
            attribute = attribute.or(Some(depth));
        }
        match source[at] {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => {
                depth = depth.saturating_sub(1);
                if attribute == Some(depth) {
                    attribute = None;
                }
            }
            'r' if is_at(at, "r\"") || is_at(at, "r#\"") || is_at(at, "r##\"") => {
                let before = at.checked_sub(1).map(|before| source[before]);
                if before.is_none_or(|before| !before.is_alphanumeric() && before != '_') {
                    let hashes = source[at + 1..].iter().take_while(|c| **c == '#').count();
                    let close = format!("\"{}", "#".repeat(hashes));
                    let start = at + 2 + hashes;
                    let length = (start..source.len())
                        .take_while(|at| !is_at(*at, &close))
                        .count();
                    found.push(source[start..start + length].iter().collect());
                    at = start + length + close.len();
                    continue;
                }
            }
            '\'' => {
                // A character; else a lifetime.
                if source.get(at + 1) == Some(&'\\') {
                    at += 2;
                    while at < source.len() && source[at + 1] != '\'' {
                        at += 1;
                    }
                    at += 2;
                    continue;
                }
                if source.get(at + 2) == Some(&'\'') {
                    at += 3;
                    continue;
                }
            }
            '"' => {
                let mut text = String::new();
                at += 1;
                while at < source.len() && source[at] != '"' {
                    if source[at] != '\\' {
                        text.push(source[at]);
                        at += 1;
                        continue;
                    }
                    match source[at + 1] {
                        '\n' => {
                            at += 2;
                            while source[at].is_whitespace() {
                                at += 1;
                            }
                            continue;
                        }
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        other @ ('"' | '\\') => text.push(other),
                        other => text.extend(['\\', other]),
                    }
                    at += 2;
                }
                if attribute.is_none() {
                    found.push(text);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether a person would read it as words: letters on both sides of a blank, or a word behind one.
fn is_sentence(text: &str) -> bool {
    let words = text.split([' ', '\n']);
    let is_word = |word: &&str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        letters.chars().count() > 1
            && letters
                .chars()
                .all(|c| c.is_alphabetic() || "'-".contains(c))
    };
    text.trim().contains(' ') && words.filter(is_word).count() >= 1
}

#[test]
fn the_page_of_messages_has_every_sentence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&root, &mut all);
    all.sort();
    let mut rooms: BTreeMap<String, String> = BTreeMap::new();
    for path in all {
        let name = path
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        let source = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = Vec::new();
        for text in texts(&source) {
            let line = text.trim().replace('\n', " ⏎ ");
            if is_sentence(&text) && !lines.contains(&line) {
                lines.push(line);
            }
        }
        if lines.is_empty() {
            continue;
        }
        let room = name.split('/').next().unwrap().to_owned();
        let page = rooms.entry(room).or_default();
        let _ = write!(page, "\n### {name}\n\n```text\n{}\n```\n", lines.join("\n"));
    }
    let mut page = String::from(
        "# Messages\n\nEvery sentence that a person can see, as the code has it: `{…}` stands for what is put in, ⏎ for a new \
         line. Pages of rules are in [rules.md](rules.md), the help of commands in [commands.md](commands.md).\n",
    );
    for (room, what) in ROOMS {
        if let Some(texts) = rooms.remove(room) {
            let _ = write!(page, "\n## {what}\n{texts}");
        }
    }
    assert!(
        rooms.is_empty(),
        "rooms that the page does not name: {:?}",
        rooms.keys()
    );
    expect_file!["../../docs/messages.md"].assert_eq(&page);
}

#[test]
fn texts_are_found_in_any_form() {
    let source = "// \"not this one\"\n#[allow(lint, reason = \"nor this one\")]\nfn a<'a>(x: &'a str) {\n    \
                  let c = '\"'; say(\"a {b} \\\"c\\\"\"); let d = r#\"raw \"text\" here\"#; t(\"over \\\n        two lines\");\n}\n";
    assert_eq!(
        texts(source),
        ["a {b} \"c\"", "raw \"text\" here", "over two lines"]
    );
    assert!(is_sentence("set in {place}") && is_sentence(" · not set in "));
    assert!(!is_sentence("facts.os") && !is_sentence(" · ") && !is_sentence("{a} {b}"));
}
