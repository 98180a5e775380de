//! What must hold for every input, one function for each target: it takes any bytes and panics where a
//! promise is broken.

use std::sync::Arc;

use hiera_ls::datatype::{NoAliases, parse};
use hiera_ls::hierarchy::{Config, Layer, locate};
use hiera_ls::interpolation::{Key, has_tokens, split_key, tokens};
use hiera_ls::lookup::{
    ConfigCache, Environment, PuppetVersion, Request, Session, Settings, explain,
};
use hiera_ls::regexp::Regexp;
use hiera_ls::rules::check_file;
use hiera_ls::scope::Scope;
use hiera_ls::syntax::{Parse, ScalarMap, parse_hocon, parse_json, parse_yaml};
use hiera_ls::value::{
    json_load, load_hocon, load_node, load_recovered, load_yaml, symbol_keys_to_strings,
};
use hiera_ls::workspace::{Change, Content, DiskEntry, Linked, Snapshot, Workspace};

/// The readers: places lie in the text and nest, a key's own text reads as the key.
pub fn yaml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let parse = parse_yaml(&text);
    places(&text, &parse);
    let _ = load_yaml(bytes);
    keys(&text, &parse);
}

fn places(text: &str, parse: &Parse) {
    let tree = &parse.tree;
    let inside = |range: hiera_ls::text::TextRange| text.get(range.as_usize()).is_some();
    for (id, node) in tree.nodes() {
        assert!(inside(node.full_range()), "{node:?} lies outside");
        if let Some(parent) = tree.parent(id) {
            let around = tree.node(parent).range;
            assert!(
                around.contains(node.full_range()),
                "{node:?} is not in {around:?}"
            );
        }
        if let Some(scalar) = node.as_scalar() {
            let range = ScalarMap::new(text, node).source_range(0..scalar.text.len());
            assert!(inside(range), "{range:?} lies outside");
        }
        assert!(tree.path_at(node.range.start as usize).len() <= tree.len());
    }
    let ranges = tree.comments().iter().copied();
    for range in ranges
        .chain(parse.problems.iter().map(|problem| problem.range))
        .chain(tree.broken().iter().map(|entry| entry.range))
        .chain(tree.ignored())
    {
        assert!(inside(range), "{range:?} lies outside");
    }
    for (_, value) in tree.entries() {
        let _ = load_node(tree, value);
    }
    let _ = symbol_keys_to_strings(load_recovered(tree));
}

fn keys(text: &str, parse: &Parse) {
    for (key, _) in parse.tree.entries() {
        let node = parse.tree.node(key);
        let Some(scalar) = node.as_scalar() else {
            continue;
        };
        let written = node.range.slice(text);
        // Directives and explicit keys (`? |`) give a text a meaning that it has not alone.
        if node.tag.is_some()
            || node.full_range() != node.range
            || written.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'])
            || written.starts_with(['|', '>'])
            || written.is_empty()
            || text.contains('?')
        {
            continue;
        }
        // Behind a blank, since at the start of a line `--- a` and `%a` begin something else.
        let again = parse_yaml(&format!(" {written}: 1\n"));
        let found = again
            .tree
            .entries()
            .next()
            .map(|(key, _)| again.tree.node(key));
        let found = found.and_then(|node| node.as_scalar().map(|scalar| scalar.text.clone()));
        // In a flow mapping other characters are allowed to stand.
        if again.error().is_none() && text.trim_start().starts_with('{') {
            continue;
        }
        if text.trim_start().starts_with('{') {
            continue;
        }
        assert_eq!(
            found.as_deref(),
            Some(&*scalar.text),
            "the key {written:?} alone"
        );
    }
}

/// The grammar of tokens: in order, inside, and exactly where `has_tokens` says so.
pub fn token(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut end = 0;
    let found = tokens(&text);
    for token in &found {
        let range = token.range.as_usize();
        assert!(range.start >= end, "{token:?} overlaps");
        end = range.end;
        let raw = text.get(range).expect("a token lies in the text");
        assert!(raw.starts_with("%{"), "{raw:?}");
        assert!(token.range.contains(token.inner), "{token:?}");
        assert!(text.get(token.inner.as_usize()).is_some(), "{token:?}");
    }
    assert!(found.is_empty() || has_tokens(&text), "{found:?}");
    for piece in text.split(['\n', ' ']) {
        if let Ok(segments) = split_key(piece) {
            assert!(!segments.is_empty());
            let mut end = 0;
            for (_, range) in segments {
                assert!(range.start as usize >= end && piece.get(range.as_usize()).is_some());
                end = range.end as usize;
            }
        }
        let _ = Key::parse(piece);
    }
}

/// JSON as Ruby's reader takes it.
pub fn json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    places(&text, &parse_json(&text));
    let _ = json_load(bytes);
}

/// HOCON as the gem reads it.
pub fn hocon(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    places(&text, &parse_hocon(&text));
    let _ = load_hocon(bytes);
}

/// Types: what is read prints as a type that reads as the same. `Resource[x]` prints as `X`, which reads as a reference
/// to a type that is not known: so it does in Puppet.
pub fn datatype(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(found) = parse(&text, &NoAliases) {
        let printed = found.to_string();
        if let Ok(again) = parse(&printed, &NoAliases) {
            let again = again.to_string();
            if !(text.contains("Resource") && again.contains("TypeReference[")) {
                assert_eq!(again, printed, "{text}");
            }
        }
    }
}

/// A pattern before the first line end, tried on what is behind it.
pub fn regexp(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, subject) = text.split_once('\n').unwrap_or((&text, "a1 b"));
    if let Ok(pattern) = Regexp::new(pattern)
        && let (Ok(matches), Ok(found)) = (pattern.is_match(subject), pattern.find(subject))
    {
        assert_eq!(matches, found.is_some(), "{text}");
    }
}

/// A configuration of each layer, its places, and a lookup, a trace and rules through it.
pub fn hiera(bytes: &[u8]) {
    let text: Arc<str> = Arc::from(String::from_utf8_lossy(bytes));
    let tree = parse_yaml(&text).tree;
    let _ = locate(&tree);
    if let Ok(loaded) = load_yaml(text.as_bytes()) {
        for layer in [Layer::Global, Layer::Environment, Layer::Module("m".into())] {
            let path: Arc<str> = "/env/hiera.yaml".into();
            let _ = Config::read(&path, "/env", text.clone(), &loaded, &layer);
        }
    }
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    open(
        &workspace,
        "/env/data/common.yaml",
        "m::a: \"%{lookup('b')}\"\nb: {c: [1, 2]}\n",
        1,
    );
    let snapshot = open(&workspace, "/env/hiera.yaml", &text, 1);
    lookups(&snapshot);
    let _ = check_file(&snapshot, "/env/hiera.yaml");
}

fn lookups(snapshot: &Snapshot) {
    let environment = Environment {
        dir: Some("/env".into()),
        global_config: Some("/env/hiera.yaml".into()),
        ..Environment::default()
    };
    for version in [PuppetVersion::V7, PuppetVersion::V8] {
        let settings = Settings::for_version(version);
        let session = Session {
            files: snapshot,
            environment: &environment,
            settings: &settings,
            configs: &ConfigCache::default(),
        };
        for scope in [Scope::open(), Scope::default()] {
            for key in ["m::a", "b.c.0", "nothing"] {
                let plain = session.lookup(&scope, &Request::key(key));
                let traced = session.lookup(&scope, &Request::key(key).traced());
                assert_eq!(
                    plain.result, traced.result,
                    "a trace changes the answer of {key}"
                );
                let _ = explain(&traced.trace.expect("asked for"));
            }
        }
    }
}

/// Any edits leave what a workspace made of the final texts has.
pub fn edit(bytes: &[u8]) {
    const PATHS: [&str; 4] = [
        "/env/data/a.yaml",
        "/env/data/nodes/b.yaml",
        "/env/hiera.yaml",
        "/env/data/c.json",
    ];
    let mut dice = Dice::of(bytes);
    let text = String::from_utf8_lossy(bytes);
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/env".into()]));
    let mut open_texts: [Option<String>; 4] = Default::default();
    let mut disk_texts: [Option<String>; 4] = Default::default();
    let cut = |dice: &mut Dice| {
        let mut ends = [dice.below(text.len() + 1), dice.below(text.len() + 1)];
        for end in &mut ends {
            while !text.is_char_boundary(*end) {
                *end -= 1;
            }
        }
        ends.sort_unstable();
        text[ends[0]..ends[1]].to_string()
    };
    for version in 0..8 {
        let at = dice.below(PATHS.len());
        match dice.below(5) {
            0 => {
                workspace.apply(Change::Close {
                    path: PATHS[at].into(),
                });
                open_texts[at] = None;
            }
            1 => {
                workspace.apply(Change::Disk {
                    path: PATHS[at].into(),
                    entry: DiskEntry::Absent,
                });
                disk_texts[at] = None;
            }
            2 => {
                let text = cut(&mut dice);
                workspace.apply(on_disk(PATHS[at], &text));
                disk_texts[at] = Some(text);
            }
            _ => {
                let text = cut(&mut dice);
                open(&workspace, PATHS[at], &text, version);
                open_texts[at] = Some(text);
            }
        }
    }
    let fresh = Workspace::new();
    fresh.apply(Change::Folders(vec!["/env".into()]));
    for at in 0..PATHS.len() {
        if let Some(text) = &disk_texts[at] {
            fresh.apply(on_disk(PATHS[at], text));
        }
        if let Some(text) = &open_texts[at] {
            open(&fresh, PATHS[at], text, 1);
        }
    }
    let (left, right) = (workspace.snapshot(), fresh.snapshot());
    assert!(
        left.key_names("").eq(right.key_names("")),
        "the index differs"
    );
    for path in PATHS {
        let facts = |snapshot: &Snapshot| snapshot.file(path).map(|file| file.facts().clone());
        assert_eq!(facts(&left), facts(&right), "the facts of {path} differ");
        assert_eq!(
            check_file(&left, path),
            check_file(&right, path),
            "the findings in {path} differ"
        );
    }
    for name in left.key_names("") {
        let places = |snapshot: &Snapshot| -> Vec<_> {
            let found = snapshot.definitions(name).into_iter();
            let mut places: Vec<_> = found
                .map(|(file, key)| (file.path().clone(), key.clone()))
                .collect();
            places.sort_by(|a, b| a.0.cmp(&b.0));
            places
        };
        assert_eq!(places(&left), places(&right), "{name}");
    }
}

fn on_disk(path: &str, text: &str) -> Change {
    Change::Disk {
        path: path.into(),
        entry: DiskEntry::File {
            content: Content::Text(text.into()),
            linked: Linked::No,
        },
    }
}

fn open(workspace: &Workspace, path: &str, text: &str, version: i32) -> Arc<Snapshot> {
    workspace.apply(Change::Open {
        path: path.into(),
        text: text.into(),
        version,
    })
}

/// Choices that the input itself makes.
struct Dice(u64);

impl Dice {
    fn of(bytes: &[u8]) -> Dice {
        Dice(bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}
