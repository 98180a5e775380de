//! Class parameters in hovers on keys, and hovers in manifests, which only cover lookups of data.

use std::sync::Arc;

use super::key::{self, CELL};
use super::refused;
use super::{Context, with_more};
use crate::analysis::{
    Analysis, ClassParameter, Defined, NoParameter, kind_of, merge_kind, request, split_key,
};
use crate::ide::target::KeyTarget;
use crate::lookup::{Request, StrategyKind};
use crate::page::yaml;
use crate::page::{Line, Page, Piece, code, name, text};
use crate::syntax::puppet::{Expression, ExpressionKind, parse_strictly};
use crate::text::{TextRange, cut_words};
use crate::value::{HashMap, Value};
use crate::workspace::{
    CodeFacts, DefinitionKind, File, IncludeFact, LookupFact, LookupFunction, LookupKey,
    SetParameters, path,
};

/// Maximum length of a type or default, in characters.
const LONGEST: usize = 64;

/// Maximum length of a parameter's documentation, in characters.
const MAX_DOCUMENTATION: usize = 240;

/// Maximum number of a class's parameters that are listed.
const MAX_PARAMETERS: usize = 16;

/// Adds the class parameter that a key sets.
pub(super) fn add_parameter(context: &Context<'_>, target: &KeyTarget, page: &mut Page) {
    let (analysis, root) = (context.view.analysis, context.view.root);
    let Some(found) = analysis.class_parameter(Some(root), &target.root) else {
        add_reason(context, &target.root, page);
        return;
    };
    let mut line = vec![text(format!("class {} · ", found.class.definition.name))];
    line.extend([code(declaration(found)), text(" · ")]);
    line.push(place(context, found.class, found.parameter.place));
    page.line(line);
    let documentation = found.parameter.documentation.as_deref();
    let words = documentation.map(|text| cut_words(text, MAX_DOCUMENTATION));
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        let mut line = vec![code(format!("${}", found.parameter.name)), text(" — ")];
        line.extend(with_code(&words));
        page.line(line);
    }
}

/// The default of the parameter that a key sets.
pub(super) fn default_of(context: &Context<'_>, key: &str) -> Option<String> {
    let view = context.view;
    let found = view.analysis.class_parameter(Some(view.root), key)?;
    Some(on_one_line(found.default()?))
}

/// Adds the reason why no class has the parameter, if the workspace has any manifests.
fn add_reason(context: &Context<'_>, key: &str, page: &mut Page) {
    let (analysis, root) = (context.view.analysis, context.view.root);
    let (Some((class, parameter)), Some(reason)) =
        (split_key(key), analysis.no_parameter(root, key))
    else {
        return;
    };
    if analysis.snapshot.defined_names("").next().is_none() {
        return;
    }
    let mut line = vec![text(format!("class {class} · "))];
    match reason {
        NoParameter::OtherName => return,
        NoParameter::NoModule(_) if !has_modules(analysis) => return,
        // A key that looks like a parameter may only be looked up by name.
        NoParameter::NoModule(module) if !is_named(context, class, module) => return,
        NoParameter::NoModule(module) => line.extend([
            text("of module "),
            code(module),
            text(", which is not in this workspace"),
        ]),
        NoParameter::NoManifests(module) => line.extend([
            text("of module "),
            code(module),
            text(", whose manifests are not in this workspace"),
        ]),
        NoParameter::NoClass(module) => line.extend([text("not found in module "), code(module)]),
        NoParameter::NoSuchParameter => match calls(context, key).next() {
            Some((file, lookup)) => line.extend([
                text("no parameter of that name; looked up in "),
                call_place(context, file, lookup),
            ]),
            None => line.extend([text("has no parameter "), code(format!("${parameter}"))]),
        },
    }
    page.line(line);
}

/// The calls that look up a key by name.
fn calls<'a>(
    context: &Context<'a>,
    key: &str,
) -> impl Iterator<Item = (&'a Arc<File>, &'a LookupFact)> {
    let files = context.view.analysis.snapshot.files_looking_up(key);
    files.flat_map(move |file| {
        let code = file.facts().code.as_deref();
        let lookups = code.into_iter().flat_map(|code| &code.lookups);
        let matching = lookups.filter(
            move |lookup| matches!(&lookup.key, LookupKey::Literal(known) if **known == *key),
        );
        matching.map(move |lookup| (file, lookup))
    })
}

fn call_place(context: &Context<'_>, file: &File, lookup: &LookupFact) -> Piece {
    context.link(file.path(), file.line(lookup.place.start as usize) + 1)
}

/// Whether code names the class, or a list of modules to install names its module.
fn is_named(context: &Context<'_>, class: &str, module: &str) -> bool {
    let snapshot = context.view.analysis.snapshot;
    if snapshot.files_naming_class(class).next().is_some() {
        return true;
    }
    let dir = &context.view.root.dir;
    let is_name = |word: &str| {
        let name = word.rsplit(['/', '-']).next().unwrap_or(word);
        name == module
    };
    ["Puppetfile", "metadata.json"].iter().any(|name| {
        let file = snapshot.file(&path::join(dir, name));
        file.is_some_and(|file| {
            file.text()
                .split(['\'', '"'])
                .skip(1)
                .step_by(2)
                .any(is_name)
        })
    })
}

/// Whether the workspace has modules at all, so that another one is missing.
fn has_modules(analysis: Analysis<'_>) -> bool {
    let mut roots = analysis.snapshot.roots().iter();
    roots.any(|root| !root.modules.is_empty())
}

/// `Type $name = default`
fn declaration(found: ClassParameter<'_>) -> String {
    let expected = found.expected().map(|e| format!("{} ", on_one_line(e)));
    let default = found.default().map(|d| format!(" = {}", on_one_line(d)));
    let (expected, default) = (expected.unwrap_or_default(), default.unwrap_or_default());
    format!("{expected}${}{default}", found.parameter.name)
}

/// Code on one line, cut if it is long.
fn on_one_line(written: &str) -> String {
    cut_words(written, LONGEST)
}

/// The start of the first run of exactly `count` backquotes.
fn closing(words: &str, count: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let start = at + words[at..].find('`')?;
        let run = &words[start..];
        let length = run.len() - run.trim_start_matches('`').len();
        if length == count {
            return Some(start);
        }
        at = start + length;
    }
}

/// Words in which pairs of backquotes mark code.
fn with_code(words: &str) -> Line {
    let mut line = Line::new();
    let mut rest = words;
    while let Some(start) = rest.find('`') {
        let (before, marked) = rest.split_at(start);
        let inner = marked.trim_start_matches('`');
        let marks = marked.len() - inner.len();
        let Some(end) = closing(inner, marks) else {
            break;
        };
        let code_words = inner[..end].trim();
        // Old documentation quotes like `this'.
        if code_words.is_empty() || code_words.contains("' ") {
            break;
        }
        line.extend([text(before), code(code_words)]);
        rest = &inner[end + marks..];
    }
    line.push(text(rest));
    line
}

fn place(context: &Context<'_>, class: Defined<'_>, range: TextRange) -> Piece {
    let line = class.file.line(range.start as usize) + 1;
    context.link(class.file.path(), line)
}

/// The page of a place in a manifest: a class parameter, a key that is looked up, or an included class.
pub(super) fn in_manifest(
    context: &Context<'_>,
    facts: &CodeFacts,
    offset: usize,
) -> Option<(Page, TextRange)> {
    if let Some(lookup) = facts.lookups.iter().find(|l| l.place.touches(offset)) {
        let LookupKey::Literal(key) = &lookup.key else {
            return None;
        };
        let page = looked_up(context, &KeyTarget::named(key)?, lookup);
        return Some((page, lookup.place));
    }
    if let Some(include) = facts.includes.iter().find(|i| i.place.touches(offset)) {
        return Some((included(context, include)?, include.place));
    }
    let classes = facts.definitions.iter();
    let classes = classes.filter(|class| class.kind == DefinitionKind::Class);
    for class in classes {
        let mut parameters = class.parameters.iter();
        if let Some(parameter) = parameters.find(|p| p.place.touches(offset)) {
            let key = format!("{}::{}", class.name, parameter.name);
            let page = key::page(context, &KeyTarget::named(&key)?);
            return Some((page, parameter.place));
        }
        if class.place.touches(offset) {
            let defined = Defined {
                file: context.file,
                definition: class,
            };
            return Some((
                of_class(context, defined, &SetParameters::Nothing),
                class.place,
            ));
        }
    }
    None
}

/// The page of a key that a call looks up, with the merge of the call if it has one.
fn looked_up(context: &Context<'_>, target: &KeyTarget, lookup: &LookupFact) -> Page {
    let source = context.file.text();
    let written = lookup.merge.map(|range| range.slice(source));
    let merge = merge_of(lookup, source);
    let is_read = merge.is_some() || written.is_none();
    let request = Request {
        merge,
        ..request(&target.root)
    };
    let mut page = key::page_by(context, target, &request);
    // A variable at the place of the type may hold options.
    let computed = lookup.expected.map(|range| range.slice(source));
    let computed = computed.filter(|it| it.starts_with('$'));
    if let Some(by) = written.filter(|_| !is_read).or(computed) {
        let by = code(on_one_line(by));
        page.line(vec![text("may be merged by the call: "), by]);
    }
    if let Some(default) = lookup.default {
        let default = on_one_line(default.slice(source));
        page.line(vec![text("default of the call: "), code(default)]);
    }
    page
}

/// The merge of a call, if it is a literal or comes with the function.
pub(in crate::ide) fn merge_of(lookup: &LookupFact, source: &str) -> Option<Value> {
    match lookup.function {
        // Whatever `lookup_options` say.
        LookupFunction::Hiera => Some("first".into()),
        LookupFunction::HieraArray | LookupFunction::HieraInclude => Some("unique".into()),
        LookupFunction::HieraHash => Some("hash".into()),
        LookupFunction::Lookup => literal_value(lookup.merge?.slice(source)),
        LookupFunction::Other => None,
    }
}

/// Adds the first call that looks up a key with another merge than its `lookup_options`: its result
/// differs from the hover's.
pub(super) fn add_merging_call(context: &Context<'_>, key: &str, page: &mut Page) {
    let merging = calls(context, key).filter_map(|(file, lookup)| {
        let merge = merge_of(lookup, file.text())?;
        let kind = kind_of(&merge)?;
        Some((merge, kind, file, lookup))
    });
    let merging: Vec<_> = merging.collect();
    // Only read the options if needed: it takes as long as a lookup.
    if merging.is_empty() {
        return;
    }
    let entry = context
        .view
        .in_scope(&context.own.path_scope())
        .options_entry(key);
    let own = entry.as_ref().and_then(merge_kind);
    let own = own.unwrap_or(StrategyKind::First);
    let others = merging.into_iter().filter(|(_, kind, ..)| *kind != own);
    let others = others.map(|(merge, _, file, lookup)| (merge, call_place(context, file, lookup)));
    let others: Vec<(Value, Piece)> = others.collect();
    let more = others.len().saturating_sub(1);
    if let Some((merge, place)) = others.into_iter().next() {
        let merge = code(yaml::inline(&merge, CELL));
        let line = vec![text("looked up with merge "), merge, text(" in "), place];
        page.line(with_more(line, more));
    }
}

/// The value of an expression without variables, calls and operators.
fn literal_value(written: &str) -> Option<Value> {
    fn of(node: &Expression) -> Option<Value> {
        if let ExpressionKind::Block(nodes) = &node.kind {
            let [only] = &nodes[..] else {
                return None;
            };
            return of(only);
        }
        if let ExpressionKind::Boolean(truth) = &node.kind {
            return Some(Value::Bool(*truth));
        }
        let ExpressionKind::Hash(entries) = &node.kind else {
            return node.literal().map(Value::from);
        };
        let entry = |entry: &Expression| {
            let ExpressionKind::Entry(pair) = &entry.kind else {
                return None;
            };
            Some((of(&pair[0])?, of(&pair[1])?))
        };
        let hash: Option<HashMap> = entries.iter().map(entry).collect();
        Some(Value::from(hash?))
    }
    of(&parse_strictly(written).ok()?)
}

fn included(context: &Context<'_>, include: &IncludeFact) -> Option<Page> {
    let (analysis, root) = (context.view.analysis, context.view.root);
    let class = analysis.class(Some(root), include.class.as_deref()?)?;
    Some(of_class(context, class, &include.sets))
}

/// The page of a class: its parameters and their values in data, unless the declaration sets them.
fn of_class(context: &Context<'_>, class: Defined<'_>, sets: &SetParameters) -> Page {
    let mut page = Page::default();
    let definition = class.definition;
    page.line(vec![
        text("class "),
        name(&*definition.name),
        text(" · "),
        place(context, class, definition.place),
    ]);
    for parameter in definition.parameters.iter().take(MAX_PARAMETERS) {
        let Some(found) = class.parameter(&parameter.name) else {
            continue;
        };
        let key = format!("{}::{}", definition.name, parameter.name);
        let mut line = vec![code(format!("${}", parameter.name)), text(" — ")];
        match sets {
            SetParameters::Parameters(names) if names.contains(&parameter.name) => {
                line.push(text("given here"));
            }
            SetParameters::Any => {
                line.extend(value(context, found, &key));
                line.push(text(", unless it is given here"));
            }
            SetParameters::Parameters(_) | SetParameters::Nothing => {
                line.extend(value(context, found, &key))
            }
        }
        if let Some(expected) = found.expected() {
            line.extend([text(" · "), code(on_one_line(expected))]);
        }
        page.line(line);
    }
    let more = definition.parameters.len().saturating_sub(MAX_PARAMETERS);
    if more > 0 {
        page.line(with_more(vec![text("…")], more));
    }
    let files = context
        .view
        .refused_files(&format!("{}::key", definition.name));
    refused::add_lines(context, &files, &mut page);
    page
}

fn value(context: &Context<'_>, found: ClassParameter<'_>, key: &str) -> Line {
    let default = match found.default() {
        Some(default) => vec![text("default "), code(on_one_line(default))],
        None => vec![text("not set")],
    };
    let Some(target) = KeyTarget::named(key) else {
        return default;
    };
    let (answers, left) = key::effective(context, &target);
    let [answer] = &answers[..] else {
        let at_least = if left > 0 { "at least " } else { "" };
        return vec![text(format!(
            "{at_least}{} different values",
            answers.len()
        ))];
    };
    let mut cell = match &answer.result {
        Ok(Some(value)) => vec![code(yaml::inline(value, CELL))],
        Ok(None) => default,
        Err(error) if error.is_not_found() => default,
        Err(error) => vec![text("fails: "), text(error.words())],
    };
    if !answer.is_certain || left > 0 {
        cell.push(text(" (may differ)"));
    }
    cell
}
