//! Hovers on words of `hiera.yaml` and `lookup_options`.

use super::Context;
use super::levels::offer_line;
use super::path::reached;
use super::token::variable_lines;
use crate::analysis::places_of;
use crate::hierarchy::{self, LevelSpans, Template, locate};
use crate::ide::target::{WordTarget, is_config};
use crate::lookup::{FunctionSource, find_function};
use crate::page::{Page, code, name, text};
use crate::workspace::{Format, path};

/// The meanings of words as keys.
const KEYS: &[(&str, &str)] = &[
    ("version", "the format of this file; 5 since Puppet 4.9"),
    (
        "defaults",
        "defaults of datadir, options and function for levels that set none",
    ),
    ("hierarchy", "the levels, the highest priority first"),
    (
        "default_hierarchy",
        "levels that are read only where nothing else sets the key; other levels' lookup_options do not count for them",
    ),
    ("name", "the level's name in explanations; each once"),
    ("path", "one file below datadir"),
    ("paths", "files below datadir, the highest priority first"),
    (
        "glob",
        "all files below datadir that a pattern matches, ordered by name",
    ),
    (
        "globs",
        "all files below datadir that the patterns match, pattern by pattern",
    ),
    ("uri", "a URI passed to the backend; no file is read"),
    ("uris", "URIs passed to the backend; no file is read"),
    (
        "mapped_paths",
        "a variable, a name and a template: one path for each element of the variable's list",
    ),
    (
        "datadir",
        "the folder that paths start from, relative to this file unless absolute",
    ),
    (
        "options",
        "options of the level's backend, such as keys for eyaml",
    ),
    ("data_hash", "a backend that loads a whole file"),
    ("lookup_key", "a backend that is called once per key"),
    (
        "data_dig",
        "a function that is called with the whole dotted key",
    ),
    (
        "hiera3_backend",
        "a backend of Hiera 3; in the global layer only",
    ),
    (
        "merge",
        "how values of several levels become one: first, unique, hash, deep, or a hash with a strategy",
    ),
    (
        "convert_to",
        "a data type, or [type, arguments…], that the value found is converted to",
    ),
    ("strategy", "first, unique, hash or deep"),
    (
        "knockout_prefix",
        "an element that starts with it removes the element of that name from the next lower level",
    ),
    (
        "lookup_options",
        "how keys, and keys that a pattern matches, are merged and converted; of the files that a node reads, the highest entry of a name is used",
    ),
    ("sort_merged_arrays", "whether merged lists are sorted"),
    (
        "merge_hash_arrays",
        "whether hashes in lists are merged by their position",
    ),
    (
        "pkcs7_private_key",
        "the key that decrypts; read by Puppet on its server",
    ),
    ("pkcs7_public_key", "the certificate that encrypts"),
    (
        "gpg_gnupghome",
        "the folder of the OpenPGP keys that decrypt",
    ),
];

/// The meanings of words as values.
const VALUES: &[(&str, &str)] = &[
    ("first", "the first value found wins"),
    ("unique", "all values as one flat list without duplicates"),
    (
        "hash",
        "hashes merged by their top-level keys, the higher level winning",
    ),
    (
        "deep",
        "hashes and lists merged at every depth, the higher level winning",
    ),
    ("yaml_data", "Puppet's own reader of YAML files"),
    ("json_data", "Puppet's own reader of JSON files"),
    ("hocon_data", "Puppet's own reader of HOCON files"),
    (
        "eyaml_lookup_key",
        "Puppet's own reader of YAML files with encrypted values (hiera-eyaml)",
    ),
];

/// The meaning of a key of `hiera.yaml` or of `lookup_options`, in one line.
#[must_use]
pub fn meaning_of_key(word: &str) -> Option<&'static str> {
    meaning(KEYS, word)
}

/// The meaning of a value of such a key, in one line.
#[must_use]
pub fn meaning_of_value(word: &str) -> Option<&'static str> {
    meaning(VALUES, word)
}

fn meaning(words: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    let found = words.iter().find(|(known, _)| *known == word);
    found.map(|(_, meaning)| *meaning)
}

pub(super) fn page(context: &Context<'_>, target: &WordTarget) -> Option<Page> {
    let word = &target.word;
    let page_for = |meaning: &str| {
        let mut page = Page::default();
        page.line(vec![name(&**word), text(format!(" — {meaning}"))]);
        page
    };
    let Some(option) = target.value_of.as_deref() else {
        return meaning_of_key(word.trim_start_matches(':')).map(page_for);
    };
    let is_function = matches!(
        option,
        "data_hash" | "lookup_key" | "data_dig" | "hiera3_backend"
    );
    let is_choice = is_function || matches!(option, "merge" | "strategy");
    let in_config = is_config(context.view.analysis.snapshot, context.path());
    match meaning_of_value(word) {
        Some(meaning) if is_choice => Some(page_for(meaning)),
        _ if is_function => Some(function(context, word)),
        _ if option == "datadir" && in_config => Some(datadir(context, word)),
        _ if option == "mapped_paths" && in_config => {
            let mut page = Page::default();
            variable_lines(context, word, word, &mut page);
            Some(page)
        }
        _ if option == "name" && in_config => level(context, target),
        _ => None,
    }
}

/// The page of a level by its name: the files of each path.
fn level(context: &Context<'_>, target: &WordTarget) -> Option<Page> {
    let snapshot = context.view.analysis.snapshot;
    let parse = snapshot.parse_of(context.file, context.file.format().unwrap_or(Format::Yaml));
    let spans = locate(&parse.tree);
    let is_it = |level: &LevelSpans| level.name.is_some_and(|name| target.range.contains(name));
    let places = context.view.places(&context.view.layer);
    let mut page = None;
    for (levels, is_default) in [(&spans.hierarchy, false), (&spans.default_hierarchy, true)] {
        let Some(at) = levels.iter().position(is_it) else {
            continue;
        };
        for location in &levels[at].locations {
            let places = places_of(&places, at, is_default, location);
            let page = page.get_or_insert_with(Page::default);
            page.line(reached(context, location, &places));
        }
    }
    page
}

/// The page of a custom data function.
fn function(context: &Context<'_>, word: &str) -> Page {
    let mut page = Page::default();
    let view = context.view;
    let declared = view.analysis.settings.backends.get(word);
    page.line(vec![
        name(word),
        text(match declared {
            Some(backend) => format!(
                " — a custom backend: it is never run here, and is declared to {}",
                backend.like
            ),
            None => {
                " — a custom backend: it is never run here, so its values are unknown".to_owned()
            }
        }),
    ]);
    if let Some(offer) = view.offer(word) {
        page.line(offer_line(&offer));
    }
    page.line(match find_function(view.files(), &view.environment, word) {
        FunctionSource::Ruby(path) | FunctionSource::Puppet(path) => {
            vec![text("defined in "), context.link(&path, 1)]
        }
        FunctionSource::Missing | FunctionSource::ModuleMissing => {
            vec![text("no file of this workspace defines it")]
        }
    });
    page
}

/// The page of a data directory.
fn datadir(context: &Context<'_>, word: &str) -> Page {
    let mut page = Page::default();
    let (analysis, root) = (&context.view.analysis, context.view.root);
    let folder = hierarchy::join(&root.dir, word);
    let shown = analysis.snapshot.map_deployed_for(Some(root), &folder);
    let mut line = vec![name(word), text(" — ")];
    if analysis.is_outside(&Template::parse(&shown)) {
        line.push(text("not in this workspace"));
    } else {
        let shown = path::normalise(&shown);
        line.extend([text("the folder "), code(context.label(&shown))]);
    }
    page.line(line);
    page
}
