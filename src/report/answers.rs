//! The questions that an engine answers, by name. Answers have the JSON of the command line.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::causes::{ChangeCause, causes};
use super::data::DATA_VERSION;
use super::engine::{OverriddenFacts, ReportEngine};
use crate::analysis::{RootView, all_keys};
use crate::hierarchy::Layer;
use crate::ide::cell::outcome_text;
use crate::ide::compare::{Difference, compare, compare_versions};
use crate::ide::document::{self, DocumentAnswer, ExplainForm, KeyPlace, Question};
use crate::ide::matrix::{Cell, Row, row_of_any, rows_of_node, with_facts, with_unseen};
use crate::ide::what_if;
use crate::lookup::Place;
use crate::scope::Node;
use crate::value::dump_body;

/// The answer as JSON, or why there is none.
type Answered = Result<String, String>;

/// Maximum number of keys of one question: more would hold up a page.
const MAX_KEYS: usize = 10_000;

/// Maximum number of lines around a line.
const MAX_AROUND: usize = 200;

/// Answers a question.
///
/// # Errors
/// There is no such question, a member is missing or wrong, or why there is no answer.
pub(super) fn answer(engine: &ReportEngine, name: &str, question: &Value) -> Answered {
    match name {
        "overview" => overview(engine),
        "keys" => keys(engine),
        "matrix" => matrix(engine, read(question)?),
        "node" => node(engine, read(question)?),
        "explain" => explain(engine, read(question)?),
        "diff" => diff(engine, read(question)?),
        "changes" => changes(engine),
        "facts" => facts(engine, read(question)?),
        "source" => source(engine, read(question)?),
        "findings" => json_of(&engine.data.findings),
        "doctor" => doctor(engine),
        _ => Err(format!("there is no question '{name}'")),
    }
}

fn read<T: DeserializeOwned>(question: &Value) -> Result<T, String> {
    serde_json::from_value(question.clone()).map_err(|error| error.to_string())
}

/// The report itself: its hierarchy with the files of each level and their nodes, and its nodes.
fn overview(engine: &ReportEngine) -> Answered {
    let nodes = engine.nodes(&OverriddenFacts::new())?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let used = view.level_variables();
    let names: Vec<_> = used.iter().filter(|variable| !variable.is_name()).collect();
    let columns: Vec<_> = names
        .iter()
        .map(|variable| nodes.known.column(&variable.name))
        .collect();
    let known = (0..nodes.known.len()).map(|member| {
        let values = columns.iter().map(|column| {
            let value = column.value(member)?;
            (!value.is_undef()).then(|| value.to_s())
        });
        json!({ "name": nodes.known.certname(member), "values": values.collect::<Vec<_>>() })
    });
    let data = &engine.data;
    let overview = json!({
        "version": DATA_VERSION,
        "title": data.title,
        "made_by": data.made_by,
        "folder": data.folder,
        "environment": data.environment,
        "puppet": u8::from(view.session().settings.puppet_version),
        "against": data.against.as_ref().map(|against| &against.name),
        "left_out": data.left_out,
        "only_shapes": data.only_shapes,
        "hierarchy": view.root.hiera_yaml.as_deref(),
        "levels": levels(&view),
        "variables": names.iter().map(|variable| &*variable.name).collect::<Vec<_>>(),
        "nodes": known.collect::<Vec<_>>(),
        "names_only": nodes.known.are_names(),
        "keys": all_keys(&view).len(),
        "findings": data.findings.as_array().map_or(0, Vec::len),
    });
    Ok(overview.to_string())
}

/// What is known and what is missing, as `doctor --format json` prints it.
fn doctor(engine: &ReportEngine) -> Answered {
    let nodes = engine.nodes(&OverriddenFacts::new())?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let place = &view.root.dir;
    let document = document::doctor::document(view.analysis, place, &nodes.set, "", None);
    document.data.ok_or_else(|| "nothing is known".to_owned())
}

/// The levels that answer, the highest first, with their files and the nodes that read each.
fn levels(view: &RootView<'_>) -> Vec<Value> {
    let mut levels: Vec<(Value, Vec<Place>)> = Vec::new();
    for layer in view.layers() {
        let mut last: Option<usize> = None;
        for place in view.session().known_places(&layer).iter() {
            if last != Some(place.index) {
                last = Some(place.index);
                let name = match &layer {
                    Layer::Global => "global".to_owned(),
                    Layer::Environment => String::new(),
                    Layer::Module(name) => format!("module {name}"),
                };
                levels.push((json!({ "level": &*place.level, "layer": name }), Vec::new()));
            }
            if let Some((_, places)) = levels.last_mut() {
                places.push(place.clone());
            }
        }
    }
    let levels = levels.into_iter().map(|(mut level, places)| {
        let paths: Vec<&str> = places.iter().map(|place| &*place.original).collect();
        let all: Vec<&Place> = places.iter().collect();
        let files = view.files_of(&all).into_iter().map(|file| {
            let readers = view.readers(places.iter(), &file);
            let names = readers
                .iter()
                .map(|&member| view.analysis.nodes.certname(member));
            let keys = view.analysis.snapshot.file(&file);
            let keys = keys.map_or(0, |file| file.facts().keys.len());
            json!({ "file": file, "keys": keys, "nodes": names.collect::<Vec<_>>() })
        });
        level["files"] = files.collect();
        level["paths"] = paths.into();
        level
    });
    levels.collect()
}

/// All keys.
fn keys(engine: &ReportEngine) -> Answered {
    let nodes = engine.nodes(&OverriddenFacts::new())?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    json_of(&all_keys(&view))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatrixQuestion {
    keys: Vec<Arc<str>>,
    /// Whether people read it.
    #[serde(default)]
    texts: bool,
    #[serde(default)]
    facts: OverriddenFacts,
}

/// The answers of keys for all nodes, as `matrix --format json` has them.
fn matrix(engine: &ReportEngine, question: MatrixQuestion) -> Answered {
    let nodes = engine.nodes(&question.facts)?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let rows = question.keys.iter().take(MAX_KEYS);
    let rows: Vec<Row> = rows
        .map(|key| with_facts(&view, with_unseen(&view, row_of_any(&view, key))))
        .collect();
    json_of(&shown_rows(&rows, question.texts))
}

/// A row, with texts for people in each answer if they are asked for.
#[derive(Serialize)]
struct ShownRow<'a> {
    key: &'a str,
    answers: Vec<ShownCell<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_facts: Vec<ShownCell<'a>>,
}

/// A difference, likewise.
#[derive(Serialize)]
struct ShownDifference<'a> {
    key: &'a str,
    before: ShownCell<'a>,
    after: ShownCell<'a>,
}

#[derive(Serialize)]
struct ShownCell<'a> {
    #[serde(flatten)]
    cell: &'a Cell,
    #[serde(flatten)]
    texts: Option<CellTexts>,
}

/// An answer in words: on one line, and on several.
#[derive(Serialize)]
struct CellTexts {
    text: String,
    yaml: String,
}

impl ShownCell<'_> {
    fn of(cell: &Cell, texts: bool) -> ShownCell<'_> {
        let texts = texts.then(|| {
            let text = outcome_text(cell);
            let yaml = match (&cell.unknown, &cell.result) {
                (None, Ok(value)) if value.is_collection() && !value.has_opaque() => {
                    dump_body(value)
                }
                (_, _) => text.clone(),
            };
            CellTexts { text, yaml }
        });
        ShownCell { cell, texts }
    }

    fn all(cells: &[Cell], texts: bool) -> Vec<ShownCell<'_>> {
        cells
            .iter()
            .map(|cell| ShownCell::of(cell, texts))
            .collect()
    }
}

fn shown_rows(rows: &[Row], texts: bool) -> Vec<ShownRow<'_>> {
    let shown = rows.iter().map(|row| ShownRow {
        key: &row.key,
        answers: ShownCell::all(&row.answers, texts),
        by_facts: ShownCell::all(&row.by_facts, texts),
    });
    shown.collect()
}

fn shown_differences(found: &[Difference], texts: bool) -> Vec<ShownDifference<'_>> {
    let shown = found.iter().map(|one| ShownDifference {
        key: &one.key,
        before: ShownCell::of(&one.before, texts),
        after: ShownCell::of(&one.after, texts),
    });
    shown.collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeQuestion {
    node: Arc<str>,
    /// All if there are none.
    #[serde(default)]
    keys: Vec<Arc<str>>,
    /// Whether people read it.
    #[serde(default)]
    texts: bool,
    #[serde(default)]
    facts: OverriddenFacts,
}

/// All answers of one node, each as in a matrix.
fn node(engine: &ReportEngine, question: NodeQuestion) -> Answered {
    let nodes = engine.nodes(&question.facts)?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let Some(member) = nodes.known.find(&question.node) else {
        return Err(format!("no node '{}' is known", question.node));
    };
    let keys = if question.keys.is_empty() {
        all_keys(&view)
    } else {
        question.keys
    };
    let rows: Vec<Row> = rows_of_node(&view, keys.iter().take(MAX_KEYS), member).collect();
    json_of(&NodeAnswer {
        node: &question.node,
        rows: shown_rows(&rows, question.texts),
    })
}

#[derive(Serialize)]
struct NodeAnswer<'a> {
    node: &'a str,
    rows: Vec<ShownRow<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainQuestion {
    key: Arc<str>,
    node: Option<Arc<str>>,
    /// In Puppet's words.
    #[serde(default)]
    puppet: bool,
    #[serde(default)]
    facts: OverriddenFacts,
}

/// How a key is looked up: a text, and for people its levels.
fn explain(engine: &ReportEngine, question: ExplainQuestion) -> Answered {
    let nodes = engine.nodes(&question.facts)?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let node = question.node.as_ref().map(|name| {
        let known = nodes.set.nodes.get(name).cloned();
        known.unwrap_or_else(|| Arc::new(Node::named(name)))
    });
    let place = KeyPlace {
        path: view.root.dir.clone(),
        key: Some(question.key),
        offset: None,
    };
    let form = if question.puppet {
        ExplainForm::Puppet
    } else {
        ExplainForm::People
    };
    let question = Question::Explain { place, form, node };
    Ok(
        match document::answer(view.analysis, &question, &|_, _| {})? {
            DocumentAnswer::Message(message) => json!({ "message": message }),
            DocumentAnswer::Document(document) => {
                let data: Option<Value> = document
                    .data
                    .and_then(|data| serde_json::from_str(&data).ok());
                json!({ "text": document.content, "data": data })
            }
        }
        .to_string(),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffQuestion {
    from: Arc<str>,
    to: Arc<str>,
    /// All if there are none.
    #[serde(default)]
    keys: Vec<Arc<str>>,
    /// Whether people read it.
    #[serde(default)]
    texts: bool,
    #[serde(default)]
    facts: OverriddenFacts,
}

/// The differences between two nodes, as `diff A B --format json` has them.
fn diff(engine: &ReportEngine, question: DiffQuestion) -> Answered {
    let nodes = engine.nodes(&question.facts)?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let mut found: Vec<Difference> = Vec::new();
    compare(
        &view,
        [&question.from, &question.to],
        &question.keys,
        &mut |some, _, _| {
            found.extend(some);
            Ok(())
        },
    )?;
    json_of(&shown_differences(&found, question.texts))
}

/// What differs from the other side for all nodes, as `diff --against --format json` has it, and the keys of which it
/// is unknown.
fn changes(engine: &ReportEngine) -> Answered {
    let Some(before) = &engine.before else {
        return Err(
            "this report compares with nothing: 'hiera-ls report --against REV'".to_owned(),
        );
    };
    let nodes = engine.nodes(&OverriddenFacts::new())?;
    let now = engine.view(&engine.snapshot, &nodes)?;
    let old = engine.nodes_before(&nodes, before);
    let then = engine.view(before, &old)?;
    let mut found: Vec<Difference> = Vec::new();
    let undecided = compare_versions(&then, &now, &[], &mut |some, _, _| {
        found.extend(some);
        Ok(())
    })?;
    let folder = &engine.data.folder;
    let undecided = undecided.iter().map(|key| {
        key.text(|file| {
            let below = file.strip_prefix(folder.as_str());
            below
                .map_or(file, |below| below.trim_start_matches('/'))
                .to_owned()
        })
    });
    let files = engine
        .data
        .against
        .iter()
        .flat_map(|against| &against.files);
    json_of(&ChangesAnswer {
        differences: shown_differences(&found, true),
        causes: causes([&then, &now], &found),
        undecided: undecided.collect(),
        files: files.map(|file| &*file.path).collect(),
    })
}

#[derive(Serialize)]
struct ChangesAnswer<'a> {
    differences: Vec<ShownDifference<'a>>,
    causes: Vec<ChangeCause>,
    undecided: Vec<String>,
    files: Vec<&'a str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactsQuestion {
    node: Arc<str>,
    #[serde(default)]
    facts: OverriddenFacts,
}

/// What a what-if can change, as the server's `hiera.facts` has it.
fn facts(engine: &ReportEngine, question: FactsQuestion) -> Answered {
    let nodes = engine.nodes(&OverriddenFacts::new())?;
    let view = engine.view(&engine.snapshot, &nodes)?;
    let overrides = question.facts.into_iter().collect();
    let used = view.used_variables().into_iter();
    let used =
        used.map(|variable| what_if::fact(&nodes.set, &variable, Some(&question.node), &overrides));
    json_of(&used.collect::<Vec<_>>())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceQuestion {
    file: Arc<str>,
    line: usize,
    around: usize,
    /// On the other side.
    #[serde(default)]
    before: bool,
}

/// Lines of a file around one.
fn source(engine: &ReportEngine, question: SourceQuestion) -> Answered {
    let side = match (&engine.before, question.before) {
        (Some(before), true) => before,
        _ => &engine.snapshot,
    };
    let Some(file) = side.file(&question.file) else {
        return Err(format!("{}: this file is not in the report", question.file));
    };
    let around = question.around.min(MAX_AROUND);
    let first = question.line.saturating_sub(around + 1);
    let lines = file.text().lines().skip(first).take(2 * around + 1);
    Ok(json!({ "first": first + 1, "lines": lines.collect::<Vec<_>>() }).to_string())
}

fn json_of(value: &impl Serialize) -> Answered {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
