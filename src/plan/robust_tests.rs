//! No feature fails in half-typed text, at any cursor.

use std::sync::Arc;

use proptest::prelude::*;

use super::rename::{prepare, rename};
use crate::analysis::Analysis;
use crate::fixture::{FOLDER, Fixture};
use crate::ide::completion::complete;
use crate::ide::definition::{declaration, definition, type_definition};
use crate::ide::fixture_tests::HIERARCHY;
use crate::ide::folding::{folds, selections};
use crate::ide::linked_editing::linked_ranges;
use crate::ide::links::document_links;
use crate::ide::outline::document_symbols;
use crate::ide::references::{Role, highlights, references};
use crate::ide::semantic_tokens::semantic_tokens;
use crate::ide::signature::signature;
use crate::lookup::{ConfigCache, PuppetVersion, Settings};
use crate::scope::KnownNodes;
use crate::text::TextEdit;
use crate::workspace::Snapshot;

/// Parts of random texts.
const PIECES: [&str; 30] = [
    "a::b",
    "a::b: 1\n",
    "key",
    ": ",
    ":",
    "\n",
    "\n  ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "\"",
    "'",
    "%{",
    "}",
    "lookup('",
    "alias(\"a::b\")",
    "facts.os.family",
    "lookup_options:\n  ",
    "merge: deep\n",
    "&x ",
    "*x\n",
    "<<: *x\n",
    "| \n  text\n",
    "# comment\n",
    "ä😀",
    "ENC[PKCS7,AA]",
    "\t",
];

fn ask_everything(snapshot: &Arc<Snapshot>, path: &str) {
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(snapshot, &settings, &configs, &nodes);
    let Some(file) = snapshot.file(path) else {
        return;
    };
    let text = file.text();
    let _ = document_symbols(analysis, path);
    let _ = document_links(analysis, path);
    let _ = folds(snapshot, path);
    for token in semantic_tokens(analysis, path) {
        assert!(!token.range.slice(text).contains('\n'));
    }
    for offset in 0..=text.len() {
        if let Some(found) = complete(analysis, path, offset) {
            for item in &found.items {
                let edit = TextEdit::replace(found.replace, &item.insert);
                assert!(TextEdit::apply(&[edit], text).is_some(), "{item:?}");
            }
        }
        let _ = definition(analysis, path, offset, &[]);
        let _ = declaration(analysis, path, offset, &[]);
        let _ = type_definition(analysis, path, offset);
        let _ = references(analysis, path, offset, &[Role::Definition, Role::Use]);
        let _ = highlights(analysis, path, offset);
        let mut inner = None;
        for range in selections(snapshot, path, offset) {
            assert!(inner.is_none_or(|inner| range.contains(inner)));
            inner = Some(range);
        }
        let _ = linked_ranges(snapshot, path, offset);
        let _ = signature(snapshot, path, offset);
        let _ = prepare(analysis, path, offset);
        if let Ok(renamed) = rename(analysis, path, offset, "renamed") {
            for (path, edits) in &renamed.edits {
                let text = snapshot.file(path).unwrap().text();
                assert!(TextEdit::apply(edits, text).is_some(), "{edits:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_place_of_no_text_fails(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..14),
        name in proptest::sample::select(vec!["data/common.yaml", "data/common.json", "hiera.yaml", "modules/m/manifests/init.pp"]),
    ) {
        let text = pieces.concat();
        let config = HIERARCHY.replace("common.yaml", "common.json}\n  - {name: Yaml, path: common.yaml");
        let others = format!("{config}#- data/role/x.yaml\na::b: 2\nkey: {{a: 1}}\n");
        let mut fixture = Fixture::new("hiera.yaml", &others);
        fixture.files.retain(|(path, _)| path != name);
        fixture.files.push((name.to_owned(), text));
        ask_everything(&fixture.opened(), &format!("{FOLDER}/{name}"));
    }
}
