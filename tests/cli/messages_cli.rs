//! Generates the pages with all messages of the program from the code: all texts with a blank and a
//! word in them, of all rooms and of the editors. A new message must be on a page, or this test
//! fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

/// The titles of our rooms' messages, in the order of the page; a room in neither list fails the
/// test.
const OURS: [(&str, &str); 16] = [
    (
        "plan",
        "Edits for a value, refactorings, renames, and their effect",
    ),
    (
        "ide",
        "Hovers, hints, lenses, documents, fixes, completions",
    ),
    ("report", "Reports"),
    ("edit", "What cannot be edited"),
    ("page", "Shortened values and pages"),
    ("rules", "Findings"),
    ("server", "Prompts, progress, errors of the server"),
    ("cli", "The command line"),
    ("analysis", "Doctor, nodes, configurations, .hiera-ls.yaml"),
    ("lookup", "What is unknown and why, and errors of lookups"),
    ("disk", "What cannot be read"),
    ("scope", "Nodes and facts"),
    ("workspace", "What becomes of configurations"),
    ("eyaml", "Encrypted values"),
    ("text", "Places"),
    ("main.rs", "The program"),
];

/// Rooms whose messages follow Puppet and its parsers.
const PUPPETS: [(&str, &str); 7] = [
    ("hierarchy", "Errors in hiera.yaml"),
    ("datatype", "Types that do not match"),
    (
        "puppet",
        "Errors in manifests, and what of them is not evaluated",
    ),
    ("syntax", "Errors in YAML, JSON, HOCON and manifests"),
    ("interpolation", "Tokens"),
    ("regexp", "Patterns"),
    ("value", "Values"),
];

/// Files whose texts have their own generated page.
const ELSEWHERE: [&str; 1] = ["server/settings/table.rs"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_test = name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs");
        let helps_tests = [
            "fixture.rs",
            "marked.rs",
            "random_edits.rs",
            "random_workspace.rs",
        ]
        .contains(&&*name);
        if is_test || helps_tests || name.ends_with("testing.rs") {
            continue;
        }
        let is_source = [".rs", ".ts", ".lua", ".el", ".vim"]
            .iter()
            .any(|end| name.ends_with(end));
        if path.is_dir() {
            files(&path, found);
        } else if is_source {
            found.push(path);
        }
    }
}

/// Where the module of tests begins that ends a source. A line that names one in another file is
/// not the end.
fn before_tests(source: &str) -> usize {
    let mut tests = source.match_indices("\n#[cfg(test)]\nmod ");
    tests
        .find(|(at, start)| {
            let line = source[at + start.len()..].lines().next();
            line.is_some_and(|line| line.ends_with('{'))
        })
        .map_or(source.len(), |(at, _)| at)
}

/// The texts of a source, without comments, attributes and tests.
fn texts(source: &str, language: &Language) -> Vec<String> {
    let source: Vec<char> = source[..before_tests(source)].chars().collect();
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
        if is_at(at, language.comment) {
            while at < source.len() && source[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if language.comment == "//" && is_at(at, "/*") {
            while at < source.len() && !is_at(at, "*/") {
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
            '\'' if language.has_characters => {
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
            quote if language.quotes.contains(quote) => {
                let mut text = String::new();
                at += 1;
                while at < source.len() && source[at] != quote {
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

/// The syntax of texts and comments.
struct Language {
    comment: &'static str,
    quotes: &'static str,
    has_characters: bool,
}

impl Language {
    fn of(path: &Path) -> Language {
        let (comment, quotes) = match path.extension().and_then(|name| name.to_str()) {
            Some("ts") => ("//", "\"`"),
            Some("lua") => ("--", "\"'"),
            Some("el") => (";", "\""),
            Some("vim") => ("\" ", "'"),
            _ => ("//", "\""),
        };
        let has_characters = path.extension().is_some_and(|name| name == "rs");
        Language {
            comment,
            quotes,
            has_characters,
        }
    }
}

/// Texts that only occur in markup, headers, patterns, snippets, code and editor commands.
const CODE: [&str; 14] = [
    "<!",
    "<?",
    "-src ",
    "\\s",
    "%s*",
    "\\r",
    "${{1",
    "{indent}path",
    "gsub(",
    "%e ",
    "botright",
    "vsplit",
    "normal!",
    ", path: ",
];

/// A text; for a page of markup the texts between its tags and in their attributes.
fn of_markup(text: &str) -> Vec<&str> {
    let Some(page) = text.strip_prefix("<!DOCTYPE html>") else {
        return vec![text];
    };
    let parts = page.split(['<', '>', '"']);
    parts.filter(|part| !part.ends_with('=')).collect()
}

/// Whether a person would read it as words: letters on both sides of a blank, or a word after one.
fn is_sentence(text: &str) -> bool {
    let is_pattern = text.starts_with('^');
    if is_pattern || CODE.iter().any(|code| text.contains(code)) {
        return false;
    }
    let text = without_holes(text);
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

/// A text with a dot for each placeholder.
fn without_holes(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, behind)) = rest.split_once('{') {
        out += before;
        rest = match behind.split_once('}') {
            Some((_, rest)) => {
                out.push('·');
                rest
            }
            None => behind,
        };
    }
    out + rest
}

/// The messages in the sources below a folder by room, the first part of a file's path. Each occurs
/// once, under the first file that has it.
fn rooms(root: &Path) -> BTreeMap<String, String> {
    let mut all = Vec::new();
    files(root, &mut all);
    all.sort();
    let mut rooms: BTreeMap<String, String> = BTreeMap::new();
    let mut known: Vec<String> = Vec::new();
    for path in all {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/");
        if ELSEWHERE.contains(&&*name) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let mut lines = String::new();
        let found = texts(&source, &Language::of(&path));
        for text in found.iter().flat_map(|text| of_markup(text)) {
            let line = text.trim().replace('\n', " ⏎ ");
            if is_sentence(text) && !known.contains(&line) {
                let _ = writeln!(lines, "  {line}");
                known.push(line);
            }
        }
        if !lines.is_empty() {
            let room = name.split('/').next().unwrap().to_owned();
            let _ = write!(rooms.entry(room).or_default(), "{name}\n{lines}");
        }
    }
    rooms
}

/// The texts of an extension's manifest that people see, except settings.
fn of_manifest(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let is_shown = ["title", "label", "description", "displayName", "contents"];
                match value.as_str() {
                    Some(text) if is_shown.contains(&&**name) => {
                        let _ = writeln!(out, "  {}", text.replace('\n', " ⏎ "));
                    }
                    _ if name != "configuration" => of_manifest(value, out),
                    _ => {}
                }
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|value| of_manifest(value, out)),
        _ => {}
    }
}

fn page(intro: &str, rooms: &mut BTreeMap<String, String>, wanted: &[(&str, &str)]) -> String {
    let mut page = String::from(intro);
    for (room, what) in wanted {
        if let Some(texts) = rooms.remove(*room) {
            let _ = write!(page, "\n## {what}\n\n```text\n{texts}```\n");
        }
    }
    page
}

#[test]
fn the_pages_of_messages_have_every_sentence() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut of_code = rooms(&top.join("src"));
    let mut ours = page(
        "# Messages\n\nAll texts that a person can see, as they are in the code: `{…}` is a value that is filled in, ⏎ a line break. Other texts are in \
         the [pages of rules](rules.md), the [help of commands](commands.md), the [settings](settings.md), and the [messages in Puppet's \
         words](puppet-messages.md).\n",
        &mut of_code,
        &OURS,
    );
    let puppets = page(
        "# Messages in Puppet's words\n\nMessages in the words of Puppet, or of the parsers that it uses. Tests compare them with the \
         real ones. All others are in [messages.md](messages.md).\n",
        &mut of_code,
        &PUPPETS,
    );
    assert!(
        of_code.is_empty(),
        "rooms that no page names: {:?}",
        of_code.keys()
    );
    let manifest = std::fs::read_to_string(top.join("editors/vscode/package.json")).unwrap();
    let mut of_vscode = String::from("package.json\n");
    of_manifest(&serde_json::from_str(&manifest).unwrap(), &mut of_vscode);
    for (folder, what) in [
        ("vscode/src", "VS Code"),
        ("vscode/webview", "The matrix in VS Code"),
        ("neovim", "Neovim"),
        ("emacs", "Emacs"),
        ("vim", "Vim"),
        ("../web/page", "The page of reports"),
    ] {
        let texts: String = rooms(&top.join("editors").join(folder))
            .into_values()
            .collect();
        let texts = std::mem::take(&mut of_vscode) + &texts;
        if !texts.is_empty() {
            let _ = write!(ours, "\n## {what}\n\n```text\n{texts}```\n");
        }
    }
    expect_file!["../../docs/messages.md"].assert_eq(&ours);
    expect_file!["../../docs/puppet-messages.md"].assert_eq(&puppets);
}

#[test]
fn texts_are_found_in_any_form() {
    let source = "// \"not this one\"\n#[allow(lint, reason = \"nor this one\")]\nfn a<'a>(x: &'a str) {\n    \
                  let c = '\"'; say(\"a {b} \\\"c\\\"\"); let d = r#\"raw \"text\" here\"#; t(\"over \\\n        two lines\");\n}\n";
    assert_eq!(
        texts(source, &Language::of(Path::new("a.rs"))),
        ["a {b} \"c\"", "raw \"text\" here", "over two lines"]
    );
    assert!(is_sentence("set in {place}") && is_sentence(" · not set in "));
    let script = "-- 'not this'\nsay('one text') say(\"two texts\")\n";
    let lua = Language::of(Path::new("a.lua"));
    assert_eq!(texts(script, &lua), ["one text", "two texts"]);
    assert!(!is_sentence("{files}, {place}"));
    assert!(
        !is_sentence("<!-- a page -->")
            && !is_sentence("^%s*a pattern")
            && !is_sentence("^a pattern")
    );
    assert!(!is_sentence("facts.os") && !is_sentence(" · ") && !is_sentence("{a} {b}"));
}
