//! Words of the configuration and of `lookup_options`: what each is, in a line.

use super::Hover;
use super::ground::Ground;
use super::page::{Page, code, name, text};
use crate::hierarchy::Template;
use crate::lookup::FunctionSource;
use crate::syntax::{NodeId, NodeKind, Tree};

/// What a word means where it is a key.
const KEYS: &[(&str, &str)] = &[
    ("version", "the format of this file; 5 since Puppet 4.9"),
    (
        "defaults",
        "datadir, options and function of levels that name none of their own",
    ),
    ("hierarchy", "the levels, the highest priority first"),
    (
        "default_hierarchy",
        "asked only where all other layers and levels know nothing; its merges come from its own lookup_options alone",
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
    (
        "uri",
        "a URI for the level's function; no file is looked for",
    ),
    (
        "uris",
        "URIs for the level's function; no file is looked for",
    ),
    (
        "mapped_paths",
        "[variable, name, template]: one file for each element of the variable's list",
    ),
    (
        "datadir",
        "the folder that paths start from, relative to this file unless absolute",
    ),
    ("options", "handed to the level's function"),
    (
        "data_hash",
        "a function that gives all data of a location at once",
    ),
    ("lookup_key", "a function that is asked key by key"),
    (
        "data_dig",
        "a function that is asked with the whole dotted key",
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

/// What a word means where it is a value.
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

pub(super) fn hover(ground: &Ground<'_>, tree: &Tree, nodes: &[NodeId]) -> Option<Hover> {
    let (&inner, outer) = nodes.split_last()?;
    let node = tree.node(inner);
    let word = &node.as_scalar()?.text;
    let entry = outer
        .last()
        .and_then(|&outer| match &tree.node(outer).kind {
            NodeKind::Mapping(entries) => entries
                .iter()
                .find(|&&(key, value)| key == inner || value == inner)
                .copied(),
            NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Alias { .. } => None,
        });
    let (key, _) = entry?;
    let mut page = Page::default();
    let meaning = |words: &[(&str, &'static str)], word: &str| {
        let found = words.iter().find(|(known, _)| *known == word);
        found.map(|(_, meaning)| *meaning)
    };
    if key == inner {
        let meaning = meaning(KEYS, word.trim_start_matches(':'))?;
        page.line(vec![name(&**word), text(format!(" — {meaning}"))]);
    } else {
        let option = tree.scalar_text(key)?;
        let is_function = matches!(
            &**option,
            "data_hash" | "lookup_key" | "data_dig" | "hiera3_backend"
        );
        let is_choice = is_function || matches!(&**option, "merge" | "strategy");
        match meaning(VALUES, word) {
            Some(meaning) if is_choice => {
                page.line(vec![name(&**word), text(format!(" — {meaning}"))]);
            }
            _ if is_function => function(ground, word, &mut page),
            _ if &**option == "datadir" && ground.is_config() => datadir(ground, word, &mut page),
            _ => return None,
        }
    }
    Some(page.hover(node.full_range(), ground.options))
}

/// A data function that is not Puppet's own.
fn function(ground: &Ground<'_>, word: &str, page: &mut Page) {
    page.line(vec![
        name(word),
        text(" — a custom backend: it is never run here, so its values are unknown"),
    ]);
    let session = ground.session();
    match crate::lookup::find_function(session.files, session.environment, word) {
        FunctionSource::Ruby(path) | FunctionSource::Puppet(path) => {
            page.line(vec![text("defined in "), ground.link(&path, 1)]);
        }
        FunctionSource::Missing | FunctionSource::ModuleMissing => {
            page.line(vec![text("no file of this workspace defines it")]);
        }
    }
}

/// Where a data directory lies for this workspace.
fn datadir(ground: &Ground<'_>, word: &str, page: &mut Page) {
    let folder = crate::hierarchy::join(&ground.root.dir, word);
    let shown = ground.snapshot.map_deployed_for(Some(ground.root), &folder);
    let mut line = vec![name(word), text(" — ")];
    if ground.is_outside(&Template::parse(&shown)) {
        line.push(text("not in this workspace"));
    } else {
        let shown = crate::workspace::path::normalise(&shown);
        line.extend([text("the folder "), code(ground.label(&shown))]);
    }
    page.line(line);
}
