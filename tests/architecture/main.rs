//! Checks the architecture: which room may use which, where the editor protocol, `unsafe`, files
//! and the clock may appear, that a type has a name of its own, and the maximum length of a
//! file.
//!
//! The order of the rooms is read from the code map in `src/lib.rs`, so the map cannot become
//! outdated. Only code is checked: comments and the contents of strings are blanked first.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that reads the sources may stop at the first surprise"
)]

mod code;
mod planted;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use code::{blank, is_name, tokens, without_tests};

/// Maximum number of lines of a file.
const MAX_LINES: usize = 600;
/// Crates and words of the editor protocol and its runtime.
const PROTOCOL: [&str; 5] = [
    "tower_lsp",
    "tower_lsp_server",
    "ls_types",
    "lsp_types",
    "tokio",
];
/// Rooms that may touch files, the clock, the environment and the network.
const OUTSIDE: [&str; 3] = ["server", "cli", "disk"];
/// The only file that may use the network, and the crates for it.
const NETWORK_FILE: &str = "cli/import/client.rs";
const NETWORK: [&str; 2] = ["ureq", "rustls"];
/// The only file that may use the protocol of agents, its crate, and the runtime that this needs.
const AGENTS_FILE: &str = "cli/mcp/protocol.rs";
const AGENTS: &str = "rmcp";
const RUNTIME: &str = "tokio";
/// Names that only those rooms may use. A `Duration` is only a number.
const OUTSIDE_ONLY: [&str; 5] = [
    "std::fs",
    "std::env",
    "std::time",
    "std::net",
    "std::process",
];
const OUTSIDE_HARMLESS: [&str; 1] = ["std::time::Duration"];
/// The words before the name of a type.
const TYPES: [&str; 5] = ["enum", "struct", "trait", "type", "union"];
/// The only file that may call C.
const UNSAFE_FILE: &str = "syntax/libyaml.rs";

/// One source file; `path` is relative to `src/`, with `/`.
struct Source {
    path: String,
    text: String,
    /// Whether the whole file is compiled for tests only.
    test_only: bool,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            test_only: false,
        }
    }

    /// The folder directly under `src/`; `None` for `lib.rs` and `main.rs`.
    fn room(&self) -> Option<&str> {
        self.path.split_once('/').map(|(room, _)| room)
    }

    /// The number of `super::` from the file's own module to the crate's root.
    fn depth(&self) -> usize {
        let folders = self.path.matches('/').count();
        if self.path.ends_with("/mod.rs") {
            folders
        } else {
            folders + 1
        }
    }
}

#[test]
fn the_sources_follow_the_architecture() {
    let sources = read_sources();
    let map = rooms_of_the_map(&source(&sources, "lib.rs").text);
    let findings = findings(&sources, &map);
    assert!(
        findings.is_empty(),
        "{} findings:\n{}",
        findings.len(),
        findings.join("\n")
    );
}

/// Tests and benches have the same maximum length as sources.
#[test]
fn tests_are_not_too_long() {
    let mut files = Vec::new();
    for folder in ["tests", "benches", "fuzz"] {
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut files,
        );
    }
    assert!(files.len() > 50, "{} files", files.len());
    let long = files
        .iter()
        .filter(|path| fs::read_to_string(path).unwrap().lines().count() > MAX_LINES);
    assert_eq!(long.collect::<Vec<_>>(), Vec::<&PathBuf>::new());
}

#[test]
fn the_map_names_every_room() {
    let sources = read_sources();
    let lib = &source(&sources, "lib.rs").text;
    let map: BTreeSet<_> = rooms_of_the_map(lib).into_iter().collect();
    let declared: BTreeSet<_> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect();
    let folders: BTreeSet<_> = sources
        .iter()
        .filter_map(|source| source.room())
        .map(str::to_owned)
        .collect();
    assert!(map.len() > 10, "the code map was not found");
    assert_eq!(map, declared, "code map and modules of src/lib.rs");
    assert_eq!(map, folders, "code map and folders of src/");
}

#[test]
fn a_rule_is_named_in_its_own_file_and_the_registry_alone() {
    let sources = read_sources();
    let rules = registered_rules(&source(&sources, "rules/mod.rs").text);
    assert!(rules.len() > 10, "the registry was not found");
    let found = rules_named(&sources, &rules);
    assert!(
        found.is_empty(),
        "what rules share belongs into a file that is no rule:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_type_name_is_defined_once() {
    let twice = types_defined_twice(&read_sources());
    assert!(
        twice.is_empty(),
        "one meaning each, so rename one of them:\n{}",
        twice.join("\n")
    );
}

/// The crates of the network are in no other feature than that of `nodes import`, and the runtime of
/// the server has no network.
#[test]
fn only_the_feature_import_has_the_network() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let (_, features) = manifest.split_once("\n[features]\n").unwrap();
    let (features, dependencies) = features.split_once("\n[dependencies]\n").unwrap();
    let (_, import) = features.split_once("\nimport = ").unwrap();
    for name in ["ureq", "rustls"] {
        assert_eq!(features.matches(name).count(), 1, "{name}");
        assert!(import.contains(name), "{name}");
        let mut lines = dependencies.lines();
        let line = lines.find(|line| line.starts_with(&format!("{name} = ")));
        assert!(line.unwrap().contains("optional = true"), "{name}");
    }
    let mut lines = dependencies.lines();
    let tokio = lines.find(|line| line.starts_with("tokio = ")).unwrap();
    assert!(
        !tokio.contains("\"net\"") && !tokio.contains("full"),
        "{tokio}"
    );
}

/// The types whose name is that of another one too; private aliases are not seen.
fn types_defined_twice(sources: &[Source]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for source in sources {
        for name in type_names(&tokens(&blank(&source.text))) {
            places.entry(name.clone()).or_default().push(&source.path);
        }
    }
    places.retain(|_, paths| paths.len() > 1);
    let places = places.iter();
    places
        .map(|(name, paths)| format!("`{name}`: {}", paths.join(", ")))
        .collect()
}

fn type_names(code: &[String]) -> impl Iterator<Item = &String> {
    let places = code.windows(2).enumerate();
    let names = places.filter(|(at, pair)| {
        let is_kind = TYPES.contains(&pair[0].as_str());
        // Types in traits and their implementations have the trait's names.
        let is_own = pair[0] != "type" || (*at > 0 && ["pub", ")"].contains(&&*code[at - 1]));
        is_kind && is_own && pair[1].starts_with(char::is_uppercase)
    });
    names.map(|(_, pair)| &pair[1])
}

/// Where files of rules name another rule.
fn rules_named(sources: &[Source], rules: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let name = source.path.strip_prefix("rules/");
        let Some(name) = name.filter(|name| *name != "mod.rs") else {
            continue;
        };
        let own = name.split(['/', '.']).next();
        for path in paths(&tokens(&blank(&source.text))) {
            let mut others = path.split("::").filter(|part| rules.contains(*part));
            if others.any(|part| Some(part) != own) {
                found.push(format!("{}: `{path}`", source.path));
            }
        }
    }
    found
}

/// The modules that the registry of rules lists.
fn registered_rules(registry: &str) -> BTreeSet<String> {
    let tokens = tokens(&blank(registry));
    let start = tokens.windows(3).rposition(|it| it == ["rules", "!", "{"]);
    let listed = start.map_or(&[][..], |start| &tokens[start + 3..]);
    let names = listed.iter().take_while(|token| *token != "}");
    names.filter(|token| is_name(token)).cloned().collect()
}

fn source<'a>(sources: &'a [Source], path: &str) -> &'a Source {
    sources.iter().find(|source| source.path == path).unwrap()
}

fn read_sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut sources: Vec<Source> = files
        .iter()
        .map(|file| {
            let path = file
                .strip_prefix(&root)
                .unwrap()
                .to_str()
                .unwrap()
                .replace('\\', "/");
            Source::new(&path, &fs::read_to_string(file).unwrap())
        })
        .collect();
    mark_test_files(&mut sources);
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Marks the files of `#[cfg(test)] mod name;` and everything below them.
fn mark_test_files(sources: &mut [Source]) {
    let mut prefixes = Vec::new();
    for source in sources.iter() {
        let folder = match source.path.strip_suffix("/mod.rs") {
            Some(folder) => folder.to_owned(),
            None => source.path.trim_end_matches(".rs").to_owned(),
        };
        let tokens = tokens(&blank(&source.text));
        for window in after_cfg_test(&tokens) {
            if let [first, name, end, ..] = window
                && first == "mod"
                && end == ";"
            {
                prefixes.push(format!("{folder}/{name}"));
            }
        }
    }
    for source in sources {
        source.test_only = prefixes.iter().any(|prefix| {
            source.path == format!("{prefix}.rs") || source.path.starts_with(&format!("{prefix}/"))
        });
    }
}

/// The tokens that follow each `#[cfg(test)]`.
fn after_cfg_test(tokens: &[String]) -> impl Iterator<Item = &[String]> {
    let marker = ["#", "[", "cfg", "(", "test", ")", "]"];
    (0..tokens.len())
        .filter(move |&at| tokens[at..].iter().take(marker.len()).eq(marker.iter()))
        .map(move |at| &tokens[at + marker.len()..])
}

/// The rooms from top to bottom, as listed in the code map.
fn rooms_of_the_map(lib: &str) -> Vec<String> {
    lib.lines()
        .filter_map(|line| line.strip_prefix("//! | [`")?.split_once('`'))
        .map(|(room, _)| room.to_owned())
        .collect()
}

fn findings(sources: &[Source], map: &[String]) -> Vec<String> {
    sources
        .iter()
        .flat_map(|source| findings_in(source, map))
        .collect()
}

fn findings_in(source: &Source, map: &[String]) -> Vec<String> {
    let path = &source.path;
    let mut found = Vec::new();
    let lines = source.text.lines().count();
    if lines > MAX_LINES {
        found.push(format!(
            "{path}: {lines} lines, more than {MAX_LINES}: split it"
        ));
    }
    if !source.text.starts_with("//!") {
        found.push(format!("{path}: does not open with //!"));
    }
    let all = tokens(&blank(&source.text));
    if path != UNSAFE_FILE && all.iter().any(|token| token == "unsafe") {
        found.push(format!("{path}: `unsafe` belongs into {UNSAFE_FILE}"));
    }
    if source.room() != Some("server") {
        let is_used = |word: &&&str| all.iter().any(|token| token == **word);
        let is_allowed = |word: &&&str| path == AGENTS_FILE && **word == RUNTIME;
        for word in PROTOCOL
            .iter()
            .filter(is_used)
            .filter(|word| !is_allowed(word))
        {
            found.push(format!("{path}: `{word}` belongs under server/"));
        }
    }
    if path != AGENTS_FILE && all.iter().any(|token| token == AGENTS) {
        found.push(format!("{path}: `{AGENTS}` belongs into {AGENTS_FILE}"));
    }
    if path != NETWORK_FILE && !source.test_only {
        let own = without_tests(&all);
        let is_network = |word: &&str| own.iter().any(|token| token == *word);
        for word in NETWORK.iter().filter(|word| is_network(word)) {
            found.push(format!("{path}: `{word}` belongs into {NETWORK_FILE}"));
        }
        let is_outside = source.room().is_some_and(|room| OUTSIDE.contains(&room));
        let net = paths(&own).into_iter().filter(|_| is_outside);
        for used in net.filter(|used| used.starts_with("std::net")) {
            found.push(format!("{path}: `{used}` belongs into {NETWORK_FILE}"));
        }
    }
    for room in rooms_used(&all, source, map) {
        if let Some(text) = wrong_arrow(source, &room, map) {
            found.push(text);
        }
    }
    if !source.test_only {
        let is_outside = source.room().is_some_and(|room| OUTSIDE.contains(&room));
        for used in paths(&without_tests(&all))
            .iter()
            .filter(|used| outside_only(used))
        {
            // main.rs passes the exit code on.
            let is_exit_code = path == "main.rs" && used.starts_with("std::process::ExitCode");
            if *used == "std::process" || used.starts_with("std::process::Command") {
                found.push(format!("{path}: `{used}` starts a program"));
            } else if !is_outside && !is_exit_code {
                found.push(format!(
                    "{path}: `{used}` belongs under {}",
                    OUTSIDE.join("/, ")
                ));
            }
        }
    }
    if !source.test_only
        && let Some(method) = reads_a_message(&without_tests(&all))
    {
        found.push(format!(
            "{path}: `{method}` on a message: ask the kind of the error instead"
        ));
    }
    found
}

/// The method that searches the text of an error, if there is one.
fn reads_a_message(tokens: &[String]) -> Option<&str> {
    const METHODS: [&str; 7] = [
        "contains",
        "ends_with",
        "find",
        "split_once",
        "starts_with",
        "strip_prefix",
        "strip_suffix",
    ];
    let is = |token: &String, word: &str| token == word;
    let of_message = tokens.windows(3).find_map(|window| match window {
        [message, dot, method]
            if is(message, "message") && is(dot, ".") && METHODS.contains(&method.as_str()) =>
        {
            Some(method.as_str())
        }
        _ => None,
    });
    of_message.or_else(|| {
        tokens.windows(7).find_map(|window| match window {
            [error, call @ .., method]
                if error.ends_with("error")
                    && *call == [".", "to_string", "(", ")", "."]
                    && METHODS.contains(&method.as_str()) =>
            {
                Some(method.as_str())
            }
            _ => None,
        })
    })
}

fn outside_only(used: &str) -> bool {
    let within = |root: &str| used == root || used.starts_with(&format!("{root}::"));
    OUTSIDE_ONLY.iter().any(|root| within(root))
        && !OUTSIDE_HARMLESS.iter().any(|root| within(root))
}

/// Why `source` may not use `room`; `None` if it may.
fn wrong_arrow(source: &Source, room: &str, map: &[String]) -> Option<String> {
    let height = |name: &str| map.iter().position(|known| known == name);
    match source.room() {
        // lib.rs only lists the rooms; main.rs opens the top one.
        None if source.path == "main.rs" && height(room) != Some(0) => {
            Some(format!("main.rs: uses `{room}`, not the top room"))
        }
        None => None,
        Some(own) => match height(own) {
            None => Some(format!(
                "{}: room `{own}` is not in the code map",
                source.path
            )),
            Some(here) if height(room).is_some_and(|there| there < here) => Some(format!(
                "{}: `{own}` may not use `{room}` above it",
                source.path
            )),
            Some(_) => None,
        },
    }
}

/// Rooms that the code names through `crate::`, the library's name, or enough `super::`.
fn rooms_used(tokens: &[String], source: &Source, map: &[String]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for path in paths(tokens) {
        let mut parts = path.split("::").peekable();
        let mut climbed = 0;
        while parts.next_if_eq(&"super").is_some() {
            climbed += 1;
        }
        let at_root = if climbed > 0 {
            climbed >= source.depth()
        } else {
            matches!(parts.next(), Some("crate" | "hiera_ls"))
        };
        if at_root
            && let Some(room) = parts
                .next()
                .filter(|name| map.iter().any(|room| room == name))
        {
            used.insert(room.to_owned());
        }
    }
    used
}

/// Every path of at least two segments, with the trees of `use` expanded.
fn paths(tokens: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let start = at;
        if is_name(&tokens[at]) {
            at = tree(tokens, at, "", &mut found);
        }
        at = at.max(start + 1);
    }
    found
}

/// Parses a path or a tree of paths that begins at `at`; returns its end.
fn tree(tokens: &[String], mut at: usize, prefix: &str, found: &mut Vec<String>) -> usize {
    let mut path = prefix.to_owned();
    while let Some(token) = tokens.get(at) {
        if is_name(token) {
            path = if path.is_empty() {
                token.clone()
            } else {
                format!("{path}::{token}")
            };
            at += 1;
        } else if token == "{" && path.len() >= prefix.len() && tokens[at - 1] == "::" {
            at += 1;
            while tokens.get(at).is_some_and(|token| token != "}") {
                let next = if is_name(&tokens[at]) || tokens[at] == "{" {
                    tree(tokens, at, &path, found)
                } else {
                    at + 1
                };
                at = next.max(at + 1);
            }
            return at + 1;
        } else {
            break;
        }
        if tokens.get(at).is_some_and(|token| token == "::") {
            at += 1;
        } else {
            break;
        }
    }
    if path.contains("::") {
        found.push(path);
    }
    at
}

/// VS Code runs commands from links only if its extension lists them.
#[test]
fn links_in_hovers_are_allowed_in_vs_code() {
    let read = |at: &str| std::fs::read_to_string(at).expect("the file can be read");
    let hover = read("src/server/requests/hover.rs");
    let names = read("src/server/capabilities.rs");
    let extension = read("editors/vscode/src/extension.ts");
    let allowed = extension.split_once("const LINKED = [").expect("a list").1;
    let allowed = allowed.split_once("];").expect("the end of the list").0;
    let constants = hover.split("command_link(").skip(1);
    let constants = constants.filter_map(|rest| rest.split(',').next());
    let constants = constants.filter(|name| name.chars().all(char::is_uppercase));
    let mut commands: Vec<&str> = constants
        .map(|constant| {
            let definition = format!(" {constant} = \"");
            let value = names.split_once(&definition).expect("a constant").1;
            value.split('"').next().unwrap_or_default()
        })
        .collect();
    let direct = hover.split("\"command:hiera-ls.").skip(1);
    let direct: Vec<String> = direct
        .filter_map(|rest| Some(format!("hiera-ls.{}", rest.split('"').next()?)))
        .collect();
    commands.extend(direct.iter().map(String::as_str));
    assert_eq!(commands.len(), 5, "{commands:?}");
    for command in commands {
        assert!(allowed.contains(&format!("\"{command}\"")), "{command}");
    }
}
