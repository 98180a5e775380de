//! Manifests and templates of real modules, and single edits of them: the same trees and first
//! errors as Puppet's own parser.
//!
//! The project's own manifests are always parsed; `MANIFESTS=/some/folder:/another` adds others
//! (`tests/run puppet` unpacks Debian's modules and names them). `MANIFESTS_EDITS=2000` and
//! `MANIFESTS_SEED=7` set the number of edits and the seed.

use std::path::{Path, PathBuf};

use hiera_ls::syntax::puppet::{Dialect, parse};
use hiera_ls::workspace::{Language, language_of};
use serde_json::{Value, json};

use crate::program::Program;
use crate::puppet_tree::difference;

/// Maximum length of an edited manifest: Puppet parses a megabyte in a second.
const LONGEST_EDITED: usize = 16 * 1024;

/// Texts that an edit inserts.
const PIECES: &[&str] = &[
    "{", "}", "(", ")", "[", "]", ",", ";", ":", "::", "=>", "+>", "->", "~>", "<-", "=", "==",
    "!=", "=~", "!~", "!", "+", "-", "*", "/", "%", "?", "|", "@", "@@", "@(", "<|", "|>", "<<|",
    "|>>", ".", "$", "${", "\"", "'", "#", "\\", "<", ">", "<<", ">>", "+=", "&", "~", "if",
    "else", "elsif", "unless", "case", "default", "class", "define", "node", "function", "type",
    "inherits", "and", "or", "in", "undef", "true", "attr", "private", "$x", "Foo", "foo", "::Foo",
    "::foo", "1", "0x", "09", "1.5", "'a'", "\"b\"", "\"${x}\"", "/r/", "Foo[1]", "foo()", "<%",
    "%>",
];

/// Files with their dialect. A file with invalid bytes is left out: lookups see no difference.
fn sources() -> Vec<(PathBuf, String, Dialect)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders = vec![own];
    match std::env::var("MANIFESTS") {
        Ok(named) => folders.extend(named.split(':').map(PathBuf::from)),
        Err(_) => println!("skipped: no folders of other manifests in MANIFESTS"),
    }
    let mut files = Vec::new();
    for folder in folders {
        collect(&folder, &mut files);
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files.dedup_by(|a, b| a.1 == b.1);
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String, Dialect)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if path.is_dir() && !is_link {
            collect(&path, files);
        } else if let Some(Language::Puppet(dialect)) = path.to_str().and_then(language_of)
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            files.push((path, text, dialect));
        }
    }
}

fn request(text: &str, dialect: Dialect) -> Value {
    json!({
        "text": text,
        "epp": dialect == Dialect::Template,
        "tasks": dialect == Dialect::Plan,
    })
}

/// Compares both parsers on texts: the number of equal results, and the differences.
fn compare(texts: &[(String, String, Dialect)]) -> Vec<String> {
    let requests: Vec<Value> = texts
        .iter()
        .map(|(_, text, dialect)| request(text, *dialect))
        .collect();
    let answers = Program::parser_of_puppet().answer_all(&requests);
    let mut differences = Vec::new();
    for ((name, text, dialect), answer) in texts.iter().zip(&answers) {
        // Invalid JSON in a heredoc is not reported by this parser.
        if answer["error"]["stage"] == "text" {
            continue;
        }
        if let Some(difference) = difference(text, answer, &parse(text, *dialect)) {
            differences.push(format!("{name}: {difference}"));
        }
    }
    differences
}

#[test]
fn manifests_have_the_trees_of_puppets_parser() {
    let texts: Vec<(String, String, Dialect)> = sources()
        .into_iter()
        .map(|(path, text, dialect)| (path.display().to_string(), text, dialect))
        .collect();
    assert!(texts.len() > 10, "the project's own manifests are missing");
    let differences = compare(&texts);
    println!("{} manifests: {} differ", texts.len(), differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn edited_manifests_have_the_first_error_of_puppets_parser() {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
        given.unwrap_or(default)
    };
    let mut random = Random(number("MANIFESTS_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let count = number("MANIFESTS_EDITS", 300) as usize;
    let mut sources = sources();
    sources.retain(|(_, text, _)| text.len() <= LONGEST_EDITED && !text.trim().is_empty());
    let texts: Vec<(String, String, Dialect)> = (0..count)
        .map(|at| {
            let (path, text, dialect) = &sources[random.below(sources.len())];
            let edited = edit(text, &mut random);
            (format!("edit {at} of {}", path.display()), edited, *dialect)
        })
        .collect();
    let differences = compare(&texts);
    println!("{} edits: {} differ", texts.len(), differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// One edit at the edge of a word or sign.
fn edit(text: &str, random: &mut Random) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let end = at + c.len_utf8();
        let before = text[..at].chars().next_back();
        match words.last_mut() {
            Some(last) if last.1 == at && is_word(c) && before.is_some_and(is_word) => last.1 = end,
            _ => words.push((at, end)),
        }
    }
    let pick = random.below(words.len());
    let (start, end) = words[pick];
    let (next, next_end) = words[(pick + 1).min(words.len() - 1)];
    let word = &text[start..end];
    let piece = PIECES[random.below(PIECES.len())];
    let replaced = |from: usize, to: usize, new: &str| [&text[..from], new, &text[to..]].concat();
    match random.below(7) {
        0 => replaced(start, end, ""),
        1 => replaced(start, start, &format!("{word} ")),
        2 if next > start => replaced(
            start,
            next_end,
            &format!("{} {word}", &text[next..next_end]),
        ),
        3 => replaced(start, end, piece),
        4 => replaced(start, start, piece),
        5 => replaced(start, text.len(), ""),
        _ => replaced(start, start, "\n"),
    }
}

/// Small, fixed and good enough.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}
