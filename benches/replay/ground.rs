//! What a session needs to know of a folder: the files to open, and places in them.
//!
//! The files are read as plain text, so that the same places are chosen whatever the program says
//! about them.

use std::path::{Path, PathBuf};

use crate::generator::dice::Dice;

/// The seed of all draws.
const SEED: u64 = 20;

/// Words in a template that mean a file for each node.
const OF_A_NODE: [&str; 4] = ["certname", "fqdn", "host", "clientcert"];

/// The kind of an opened file, as the table names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The file of one node.
    Node,
    /// The file that most nodes read.
    Common,
    /// The largest file of any level between them.
    Shared,
    /// The largest file with a list of classes, which decides what nodes include.
    Classes,
    /// A class with parameters.
    Manifest,
    /// The environment's `hiera.yaml`.
    Hierarchy,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Node => "node",
            Kind::Common => "common",
            Kind::Shared => "shared",
            Kind::Classes => "classes",
            Kind::Manifest => "manifest",
            Kind::Hierarchy => "hiera.yaml",
        }
    }
}

/// A name in a line: a key, or a parameter of a class.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The line, from 0.
    pub(crate) line: usize,
    /// Where the name starts in it, in ASCII letters.
    pub(crate) start: usize,
    pub(crate) name: String,
    /// The rest of the line after the name, trimmed: a scalar, or nothing.
    pub(crate) rest: String,
}

/// A file of the session.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Names to ask about.
    pub(crate) names: Vec<Named>,
    /// Line and column after the last letter or digit of lines to type at.
    pub(crate) ends: Vec<(usize, usize)>,
}

/// A folder, and the files of it that a session opens.
pub(crate) struct Ground {
    pub(crate) folder: PathBuf,
    /// At least one of each kind that the folder has, and a node's file and a `hiera.yaml` always.
    pub(crate) documents: Vec<Document>,
    /// Names of two nodes that have a file each.
    pub(crate) nodes: [String; 2],
    /// Number of all files and of their bytes.
    pub(crate) size: (usize, usize),
    /// Files that describe nodes, besides those that the program finds.
    pub(crate) facts: Option<PathBuf>,
}

impl Ground {
    /// Reads a folder with a `hiera.yaml`.
    ///
    /// # Panics
    ///
    /// If there is none, or no file of a node below its data.
    pub(crate) fn of(folder: &Path, facts: Option<PathBuf>) -> Ground {
        let folder = folder.canonicalize().expect("the folder exists");
        let mut files = Vec::new();
        list(&folder, &mut files);
        files.sort();
        // Every program finds the files in the system's memory.
        let read = |path: &PathBuf| std::fs::read(path).map_or(0, |bytes| bytes.len());
        let bytes = files.iter().map(read).sum();
        let hierarchy = folder.join("hiera.yaml");
        let levels = std::fs::read_to_string(&hierarchy).expect("the folder has a hiera.yaml");
        let mut dice = Dice::new(SEED, "documents");
        let data = folder.join(after(&levels, "datadir:").next().unwrap_or("data"));
        let of_data: Vec<&PathBuf> = files
            .iter()
            .filter(|path| path.starts_with(&data) && has_extension(path, &["yaml", "eyaml"]))
            .collect();
        let of_nodes = node_files(&levels, &data, &of_data);
        let common = plain_paths(&levels)
            .map(|path| data.join(path))
            .rfind(|path| path.is_file());
        let largest = |paths: Vec<&PathBuf>| {
            let size = |path: &PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
            paths.into_iter().max_by_key(|path| size(path)).cloned()
        };
        let others = of_data.iter().copied();
        let others =
            others.filter(|path| !of_nodes.contains(path) && common.as_ref() != Some(*path));
        let with_list = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path);
            text.is_ok_and(|text| !ends(&text, Kind::Classes).is_empty())
        };
        let classes = largest(others.clone().filter(with_list).collect());
        let shared = largest(
            others
                .filter(|path| classes.as_ref() != Some(*path))
                .collect(),
        );
        let code = files
            .iter()
            .filter(|path| has_extension(path, &["pp"]) && is_class(path));
        let manifest = largest(code.collect());
        let enough = |path: &&PathBuf| {
            std::fs::read_to_string(path).is_ok_and(|text| names(&text, Kind::Node).len() >= 3)
        };
        let tried = (0..1_000).map(|_| *dice.one(&of_nodes));
        let mut chosen: Vec<&PathBuf> = tried.filter(enough).take(8).collect();
        chosen.dedup();
        assert!(chosen.len() >= 2, "two nodes have a file with some keys");
        let nodes = [chosen[0], chosen[1]].map(|path| {
            let name = path.file_stem().expect("a file has a name");
            name.to_str().expect("a name in UTF-8").to_owned()
        });
        let mut documents: Vec<Document> = chosen[..2]
            .iter()
            .map(|path| Document::read(Kind::Node, (*path).clone()))
            .collect();
        let more = [
            (Kind::Common, common),
            (Kind::Shared, shared),
            (Kind::Classes, classes),
            (Kind::Manifest, manifest),
        ];
        for (kind, path) in more {
            documents.extend(path.map(|path| Document::read(kind, path)));
        }
        documents.push(Document::read(Kind::Hierarchy, hierarchy));
        Ground {
            size: (files.len(), bytes),
            folder,
            documents,
            nodes,
            facts,
        }
    }

    /// The files of a kind that have names.
    pub(crate) fn each(&self, kind: Kind) -> impl Iterator<Item = &Document> {
        self.documents
            .iter()
            .filter(move |document| document.kind == kind)
    }

    /// The files of nodes: the named one, or those in the named folder.
    pub(crate) fn facts_files(&self) -> Vec<PathBuf> {
        let Some(path) = &self.facts else {
            return Vec::new();
        };
        let mut files = Vec::new();
        if path.is_dir() {
            list(path, &mut files);
        } else {
            files.push(path.clone());
        }
        files
    }
}

impl Document {
    fn read(kind: Kind, path: PathBuf) -> Document {
        let text = std::fs::read_to_string(&path).expect("a file in UTF-8");
        Document {
            names: names(&text, kind),
            ends: ends(&text, kind),
            kind,
            path,
            text,
        }
    }
}

/// Random draws of a step in a round, the same for every program.
pub(crate) fn draws(step: &str, round: usize) -> Dice {
    Dice::new(SEED, &format!("{step} {round}"))
}

fn has_extension(path: &Path, wanted: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| wanted.contains(&extension))
}

/// All files below a folder, without hidden ones.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            list(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}

/// What stands after a word in the lines of a text, without quotes.
fn after<'a>(text: &'a str, word: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
    text.lines()
        .filter_map(move |line| line.trim().trim_start_matches("- ").strip_prefix(word))
        .map(|rest| rest.trim().trim_matches(['"', '\'']))
}

/// Paths of levels without variables, in their order.
fn plain_paths(levels: &str) -> impl DoubleEndedIterator<Item = &str> {
    let paths = levels.lines().map(|line| {
        let line = line.trim();
        let line = line
            .strip_prefix("path:")
            .or_else(|| line.strip_prefix("- "));
        line.unwrap_or_default().trim().trim_matches(['"', '\''])
    });
    paths.filter(|path| path.ends_with(".yaml") && !path.contains("%{"))
}

/// Data files whose level has a path for each node.
fn node_files<'a>(levels: &str, data: &Path, of_data: &[&'a PathBuf]) -> Vec<&'a PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for line in levels.lines().filter(|line| !line.trim().starts_with('#')) {
        let is_of_a_node = OF_A_NODE.iter().any(|word| line.contains(word));
        let template = line.split(['"', '\'']).find(|part| part.contains("%{"));
        if let Some(template) = template.filter(|_| is_of_a_node) {
            let (fixed, _) = template.split_once("%{").unwrap_or_default();
            folders.push(data.join(fixed));
        }
    }
    let of_a_level = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
    let paths = of_data.iter().copied();
    paths.filter(|path| of_a_level(path)).collect()
}

/// Whether a manifest begins with a class that has parameters.
fn is_class(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| !names(&text, Kind::Manifest).is_empty())
}

/// Keys without indentation, or parameters of a class.
fn names(text: &str, kind: Kind) -> Vec<Named> {
    let is_code = kind == Kind::Manifest;
    let is_key = |letter: char| letter.is_ascii_alphanumeric() || "_:.-".contains(letter);
    let mut found = Vec::new();
    let mut is_inside = false;
    for (line, text) in text.lines().enumerate().filter(|(_, line)| line.is_ascii()) {
        if is_code {
            is_inside |= text.starts_with("class ");
            let is_plain = text.starts_with("class ") && !text.contains('(');
            if is_plain || (is_inside && text.starts_with(')')) {
                break;
            }
            let Some(start) = text.find('$').filter(|_| is_inside) else {
                continue;
            };
            let rest = &text[start + 1..];
            let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
            found.push(named(line, start + 1, name, rest));
        } else if let Some((name, rest)) = text.split_once(": ").or_else(|| {
            let name = text.strip_suffix(':')?;
            Some((name, ""))
        }) {
            let is_top = name.starts_with(|first: char| first.is_ascii_alphabetic());
            if is_top && name.chars().all(is_key) && name != "lookup_options" {
                found.push(named(line, 0, name, rest));
            }
        }
    }
    found
}

fn named(line: usize, start: usize, name: &str, rest: &str) -> Named {
    Named {
        line,
        start,
        name: name.to_owned(),
        rest: rest.trim().to_owned(),
    }
}

/// Where one can type: after the last letter or digit of a line that says something, or of an element of a list of
/// classes.
fn ends(text: &str, kind: Kind) -> Vec<(usize, usize)> {
    let mut is_in_list = false;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| {
        let is_element = line.trim_start().starts_with("- ");
        is_in_list = *line == "classes:" || is_in_list && is_element;
        let is_data = match kind {
            Kind::Classes => is_in_list && is_element,
            Kind::Manifest => true,
            Kind::Node | Kind::Common | Kind::Shared | Kind::Hierarchy => line.contains(": "),
        };
        line.is_ascii() && is_data && !line.trim_start().starts_with('#')
    });
    let end = |line: &str| line.rfind(|letter: char| letter.is_ascii_alphanumeric());
    lines
        .filter_map(|(at, line)| Some((at, end(line)? + 1)))
        .collect()
}
