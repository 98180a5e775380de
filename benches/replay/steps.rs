//! The steps of a session, each a block of requests of one kind.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ground::{Document, Ground, Kind, Named};
use super::{Session, Step, Wanted, position, position_at};
use crate::client::uri;
use crate::generator::dice::Dice;

/// Number of lines of a screen.
const SCREEN: usize = 50;

/// Number of lenses that a screen shows, and that are resolved.
const RESOLVED: usize = 8;

/// The time after which a block of requests of one kind is cut short in a round.
const MAX_BLOCK: Duration = Duration::from_secs(5);

/// Files of data, by which costs differ.
const DATA: [Kind; 3] = [Kind::Node, Kind::Common, Kind::Shared];

/// All steps, by name, in their order.
pub(crate) const STEPS: [(&str, Step); 12] = [
    ("hover", hovers),
    ("completion", completions),
    ("hints", hints),
    ("lenses", lenses),
    ("definition", definitions),
    ("references", references),
    ("symbols", symbols),
    ("rename", renames),
    ("set", sets),
    ("why-not", why_nots),
    ("edit", edits),
    ("actions", actions),
];

/// The step of a client to which diagnostics are pushed.
pub(crate) const PUSHED: [(&str, Step); 1] = [("pushed", pushed)];

/// So many turns, or fewer if they take long.
fn turns(samples: usize) -> impl Iterator<Item = usize> {
    let began = Instant::now();
    (0..samples).take_while(move |_| began.elapsed() < MAX_BLOCK)
}

/// A file of a kind and a name in it; `None` if the folder has no such file.
fn drawn<'a>(ground: &'a Ground, kind: Kind, dice: &mut Dice) -> Option<(&'a Document, &'a Named)> {
    let documents: Vec<&Document> = ground.each(kind).collect();
    if documents.is_empty() {
        return None;
    }
    let document = *dice.one(&documents);
    (!document.names.is_empty()).then(|| (document, dice.one(&document.names)))
}

/// A request with a place, for names of files of a kind.
fn at_names(
    session: &mut Session<'_>,
    dice: &mut Dice,
    (method, kind): (&'static str, Kind),
    wanted: Wanted,
    members: &Value,
) {
    for _ in turns(session.samples) {
        let Some((document, named)) = drawn(session.ground, kind, dice) else {
            return;
        };
        let mut params = position(document, named, dice.below(named.name.len()));
        for (name, value) in members.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        session.ask((method, kind), wanted, method, &params);
    }
}

fn hovers(session: &mut Session<'_>, dice: &mut Dice) {
    for kind in DATA {
        at_names(
            session,
            dice,
            ("textDocument/hover", kind),
            Wanted::Something,
            &Value::Null,
        );
    }
    for kind in [Kind::Manifest, Kind::Hierarchy] {
        at_names(
            session,
            dice,
            ("textDocument/hover", kind),
            Wanted::Anything,
            &Value::Null,
        );
    }
}

/// After the first half of a key, and after typing that half in a token in a line of its own.
fn completions(session: &mut Session<'_>, dice: &mut Dice) {
    const METHOD: &str = "textDocument/completion";
    for kind in DATA {
        for _ in turns(session.samples) {
            let Some((document, named)) = drawn(session.ground, kind, dice) else {
                break;
            };
            let half = named.name.len() / 2;
            let at = position(document, named, half);
            session.ask((METHOD, kind), Wanted::Anything, METHOD, &at);
            let typed = format!("typed: \"%{{lookup('{}", &named.name[..half]);
            let line = named.line;
            session.change(document, [(line, 0), (line, 0)], &format!("{typed}\n"));
            let row = ("edit + completion", kind);
            let at = position_at(document, (line, typed.len()));
            session.ask(row, Wanted::Something, METHOD, &at);
            session.change(document, [(line, 0), (line + 1, 0)], "");
        }
    }
}

fn hints(session: &mut Session<'_>, dice: &mut Dice) {
    const METHOD: &str = "textDocument/inlayHint";
    for kind in DATA {
        for _ in turns(session.samples) {
            let Some((document, named)) = drawn(session.ground, kind, dice) else {
                break;
            };
            let params = json!({
                "textDocument": { "uri": uri(&document.path) },
                "range": {
                    "start": { "line": named.line, "character": 0 },
                    "end": { "line": named.line + SCREEN, "character": 0 },
                },
            });
            session.ask((METHOD, kind), Wanted::Anything, METHOD, &params);
        }
    }
}

/// With an unsaved edit, whose impact is resolved.
fn lenses(session: &mut Session<'_>, dice: &mut Dice) {
    const METHOD: &str = "textDocument/codeLens";
    for kind in DATA {
        for _ in turns(session.samples) {
            let Some((document, _)) = drawn(session.ground, kind, dice) else {
                break;
            };
            let (line, end) = *dice.one(&document.ends);
            session.change(document, [(line, end), (line, end)], "x");
            let params = json!({ "textDocument": { "uri": uri(&document.path) } });
            let found = session.ask((METHOD, kind), Wanted::Anything, METHOD, &params);
            let open = found.as_array().into_iter().flatten();
            let open = open.filter(|lens| lens["command"].is_null()).take(RESOLVED);
            for lens in open {
                let method = "codeLens/resolve";
                session.ask((method, kind), Wanted::Something, method, lens);
            }
            session.change(document, [(line, end), (line, end + 1)], "");
        }
    }
}

fn definitions(session: &mut Session<'_>, dice: &mut Dice) {
    for kind in [Kind::Node, Kind::Common, Kind::Manifest] {
        let row = ("textDocument/definition", kind);
        at_names(session, dice, row, Wanted::Anything, &Value::Null);
    }
}

fn references(session: &mut Session<'_>, dice: &mut Dice) {
    let context = json!({ "context": { "includeDeclaration": true } });
    for (kind, wanted) in [
        (Kind::Node, Wanted::Something),
        (Kind::Common, Wanted::Something),
        (Kind::Manifest, Wanted::Anything),
    ] {
        at_names(
            session,
            dice,
            ("textDocument/references", kind),
            wanted,
            &context,
        );
    }
}

fn symbols(session: &mut Session<'_>, dice: &mut Dice) {
    const METHOD: &str = "textDocument/documentSymbol";
    for document in &session.ground.documents {
        let params = json!({ "textDocument": { "uri": uri(&document.path) } });
        // Manifests have no outline.
        let wanted = if document.kind == Kind::Manifest {
            Wanted::Anything
        } else {
            Wanted::Something
        };
        for _ in turns(session.samples) {
            session.ask((METHOD, document.kind), wanted, METHOD, &params);
        }
    }
    for _ in turns(session.samples) {
        let Some((_, named)) = drawn(session.ground, Kind::Common, dice) else {
            return;
        };
        let start = dice.below(named.name.len().saturating_sub(4).max(1));
        let query: String = named.name[start..]
            .chars()
            .take(2 + dice.below(6))
            .collect();
        let row = ("workspace/symbol", Kind::Common);
        session.ask(row, Wanted::Something, row.0, &json!({ "query": query }));
    }
}

fn renames(session: &mut Session<'_>, dice: &mut Dice) {
    for kind in [Kind::Node, Kind::Common, Kind::Manifest] {
        for _ in turns(session.samples) {
            let Some((document, named)) = drawn(session.ground, kind, dice) else {
                break;
            };
            let mut params = position(document, named, 1);
            let method = "textDocument/prepareRename";
            session.ask((method, kind), Wanted::Anything, method, &params);
            params["newName"] = format!("{}_renamed", named.name).into();
            let method = "textDocument/rename";
            session.ask((method, kind), Wanted::Anything, method, &params);
        }
    }
}

/// Names of keys with a number, a boolean or a word, and another value of the same kind.
fn other_values(document: &Document) -> Vec<(&Named, Value)> {
    let other = |named: &Named| {
        if named.rest.parse::<i64>().is_ok() {
            return Some(json!(4242));
        }
        if let Ok(known) = named.rest.parse::<bool>() {
            return Some(json!(!known));
        }
        let is_word = !named.rest.is_empty()
            && named
                .rest
                .chars()
                .all(|letter| letter.is_ascii_alphabetic());
        is_word.then(|| json!("replaced"))
    };
    let names = document.names.iter();
    names
        .filter_map(|named| Some((named, other(named)?)))
        .collect()
}

fn command(
    session: &mut Session<'_>,
    (row, wanted): ((&'static str, Kind), Wanted),
    name: &str,
    argument: &Value,
) {
    let params = json!({ "command": name, "arguments": [argument] });
    session.ask(row, wanted, "workspace/executeCommand", &params);
}

/// For all nodes at a key of the common file, and for one node at a key of its own file.
fn sets(session: &mut Session<'_>, dice: &mut Dice) {
    let ground = session.ground;
    for (kind, row) in [
        (Kind::Common, "set for all nodes"),
        (Kind::Node, "set for one node"),
    ] {
        for _ in turns(session.samples) {
            let documents: Vec<&Document> = ground.each(kind).collect();
            let Some(&document) = documents.first() else {
                break;
            };
            let values = other_values(document);
            if values.is_empty() {
                break;
            }
            let (named, value) = dice.one(&values);
            let mut argument = json!({
                "uri": uri(&document.path), "key": named.name, "value": value,
            });
            if kind == Kind::Node {
                argument["for"] = ground.nodes[0].as_str().into();
            }
            command(
                session,
                ((row, kind), Wanted::Something),
                "hiera.setValue",
                &argument,
            );
        }
    }
}

fn why_nots(session: &mut Session<'_>, dice: &mut Dice) {
    let ground = session.ground;
    let Some(document) = ground.each(Kind::Common).next() else {
        return;
    };
    let values = other_values(document);
    if values.is_empty() {
        return;
    }
    for _ in turns(session.samples) {
        let (named, value) = dice.one(&values);
        let argument = json!({
            "uri": uri(&document.path), "key": named.name, "value": value,
            "node": ground.nodes[dice.below(2)],
        });
        let row = ("why-not", Kind::Common);
        command(session, (row, Wanted::Something), "hiera.whyNot", &argument);
    }
}

/// A letter, a look at a key of a node, and back.
fn edits(session: &mut Session<'_>, dice: &mut Dice) {
    let others = [Kind::Classes, Kind::Manifest, Kind::Hierarchy];
    for kind in DATA.into_iter().chain(others) {
        type_in(session, dice, kind, |session, dice| {
            if let Some((node, named)) = drawn(session.ground, Kind::Node, dice) {
                let row = ("hover in a node after edit", kind);
                let at = position(node, named, 1);
                session.ask(row, Wanted::Anything, "textDocument/hover", &at);
            }
        });
    }
}

/// The same where findings are pushed, which those of a manifest without any are not.
fn pushed(session: &mut Session<'_>, dice: &mut Dice) {
    for kind in DATA.into_iter().chain([Kind::Hierarchy]) {
        type_in(session, dice, kind, |_, _| {});
    }
}

fn type_in(
    session: &mut Session<'_>,
    dice: &mut Dice,
    kind: Kind,
    between: impl Fn(&mut Session<'_>, &mut Dice),
) {
    let Some(document) = session.ground.each(kind).next() else {
        return;
    };
    for _ in turns(session.samples.div_ceil(2)) {
        let (line, end) = *dice.one(&document.ends);
        session.edit(document, [(line, end), (line, end)], "x");
        between(session, dice);
        session.edit(document, [(line, end), (line, end + 1)], "");
    }
    session.settle();
}

/// Types a key a second time, and asks for what can be done about the finding.
fn actions(session: &mut Session<'_>, dice: &mut Dice) {
    const METHOD: &str = "textDocument/codeAction";
    for kind in DATA {
        for _ in turns(session.samples) {
            let Some((document, named)) = drawn(session.ground, kind, dice) else {
                break;
            };
            let twice = format!("{}: 1\n", named.name);
            let line = named.line;
            session.change(document, [(line, 0), (line, 0)], &twice);
            let document_of = json!({ "uri": uri(&document.path) });
            let params = json!({ "textDocument": document_of });
            let method = "textDocument/diagnostic";
            let report = session.ask((method, kind), Wanted::Something, method, &params);
            let found = report["items"].as_array().into_iter().flatten();
            let near = |finding: &&Value| {
                let line = finding["range"]["start"]["line"].as_u64();
                line.is_some_and(|line| line.abs_diff(named.line as u64) <= 1)
            };
            if let Some(finding) = found
                .filter(near)
                .find(|finding| finding["code"] == "dup-key")
            {
                let params = json!({
                    "textDocument": document_of, "range": finding["range"],
                    "context": { "diagnostics": [finding] },
                });
                session.ask((METHOD, kind), Wanted::Something, METHOD, &params);
            } else {
                let row = ("a finding of a second key", kind.name());
                let nothing = (0, Some(Value::Null));
                session.note(row, Wanted::Something, nothing, &report);
            }
            session.change(document, [(line, 0), (line + 1, 0)], "");
        }
    }
}
