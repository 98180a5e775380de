//! Prints the answers of a lookup: on standard output what `puppet lookup` prints, or a row of the
//! matrix for several answers; everything else on standard error.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use super::{LookupArguments, LookupQuestion};
use crate::analysis::{SiteManifests, datadir_of, layers_of};
use crate::cli::compiled::Compiled;
use crate::cli::console::{self, Unfreed};
use crate::cli::matrix;
use crate::cli::render::{self, RenderFormat};
use crate::cli::suggestions::KnownKeys;
use crate::cli::terminal::{self, Layout, Paint, complain, failed, print, remark};
use crate::cli::{Ended, printed};
use crate::hierarchy::Layer;
use crate::ide::json::json;
use crate::ide::matrix::{Row, cells};
use crate::interpolation::Key;
use crate::lookup::{
    Answer, Assumed, Group, LookupError, Request, Session, Tracing, UnknownCause, absent_levels,
    absent_words, groups_of_nodes, without_reason,
};
use crate::puppet::is_of_class;
use crate::scope::{CompileFailure, KnownNodes, Manifests as _, Node, Scope, top_name};
use crate::value::Value;

/// Exit code for several different values.
const SEVERAL: u8 = 2;

/// Exit code if only a running Puppet knows the value.
pub(super) const UNKNOWN: u8 = 3;

/// Maximum number of different answers that are printed for people.
const MAX_ANSWERS: usize = 100;

/// Maximum number of explained answers.
const MAX_EXPLAINED: usize = 10;

impl LookupQuestion<'_> {
    /// A lookup in one scope, as `puppet lookup` does it.
    pub(super) fn one(&self, session: &Session<'_>, scope: &Scope) -> Ended {
        let (arguments, request) = (self.arguments, &self.request);
        let assigned = scope.assigned().filter(|_| arguments.compile);
        if let Some(failure) = assigned.and_then(|assigned| assigned.failure.as_ref()) {
            return Err(no_catalog(failure));
        }
        if let Some(because) = assigned.and_then(|assigned| assigned.may_fail.as_ref()) {
            remark(&format!(
                "unknown: the manifests may fail for this node: {because}"
            ));
            return Ok(ExitCode::from(UNKNOWN));
        }
        let answer = Unfreed::new(session.lookup(scope, request));
        for log in &answer.logs {
            remark(&format!("warning: {}", without_reason(&log.message)));
        }
        let is_missing = answer.result.as_ref().is_err_and(LookupError::is_not_found);
        if let Some(trace) = &answer.trace {
            if let Err(error) = &answer.result
                && !error.class.is_lookup_error()
            {
                return Err(error.words());
            }
            let format = arguments.render_as.unwrap_or(RenderFormat::S);
            print(&render::render_trace(trace, format)?)?;
            print_reasons(&answer);
            if is_missing {
                self.suggest_keys();
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !answer.is_certain() {
            print_reasons(&answer);
            if let Some(unless) = answer.unless(&request.names) {
                print_condition(arguments, &answer.result, &unless);
                print_assumptions(&answer.assumed);
            }
            return Ok(ExitCode::from(UNKNOWN));
        }
        print_assumptions(&answer.assumed);
        if is_missing {
            warn_missing_folders(session);
        }
        self.value(&answer.result)
    }

    /// Prints the value of a lookup.
    fn value(&self, result: &Result<Value, LookupError>) -> Ended {
        match result {
            Ok(value) => {
                let format = self.arguments.render_as.unwrap_or(RenderFormat::Yaml);
                printed(&render::render(value, format)?)
            }
            // `puppet lookup` prints nothing here; the message goes to standard error, where no
            // pipe reads it.
            Err(error) if error.is_not_found() => {
                let code = failed(&error.to_string());
                self.suggest_keys();
                Ok(code)
            }
            Err(error) => Err(error.words()),
        }
    }

    /// Suggests the key that was probably meant. This reads all keys of the workspace, so it is done
    /// for people and not for scripts.
    fn suggest_keys(&self) {
        if console::are_messages_seen() {
            let (_, messages) = KnownKeys::of([self.view]).chosen(&self.arguments.keys);
            messages.iter().for_each(|message| complain(message));
        }
    }

    /// A lookup without a named node: a single answer is printed, several are listed.
    pub(super) fn several(&self, groups: Vec<Group>) -> Ended {
        let mut groups = merged(groups);
        if groups.is_empty() {
            return Err("no nodes are known".into());
        }
        if groups.len() == 1 {
            let only = groups.remove(0);
            let Some(why) = &only.unknown else {
                print_assumptions(&only.assumed);
                return self.value(&only.result);
            };
            remark(&format!("unknown: {why}"));
            if let Some(unless) = &only.unless {
                print_condition(self.arguments, &only.result, unless);
                print_assumptions(&only.assumed);
            }
            return Ok(ExitCode::from(UNKNOWN));
        }
        let cells = cells(self.view.analysis.snapshot, groups);
        if self.arguments.render_as == Some(RenderFormat::Json) {
            let cells: Vec<String> = cells.iter().map(json).collect();
            print(&format!("[{}]\n", cells.join(",\n ")))?;
            return Ok(ExitCode::from(SEVERAL));
        }
        let more = cells.len().saturating_sub(MAX_ANSWERS);
        let row = Row {
            key: Arc::from(self.request.names.join(", ")),
            answers: cells,
            by_facts: Vec::new(),
        };
        print(&matrix::text(
            &row,
            self.view.analysis.nodes,
            MAX_ANSWERS,
            Layout::of_output(),
        ))?;
        if more > 0 {
            remark(&format!(
                "and {more} more values: --render-as json prints all, --node names a node"
            ));
        }
        Ok(ExitCode::from(SEVERAL))
    }

    /// The explanation of each answer, for the first of its nodes.
    pub(super) fn explained(&self, session: &Session<'_>, nodes: &KnownNodes) -> Ended {
        let request = &self.request;
        let plain = Request {
            tracing: Tracing::Off,
            ..request.clone()
        };
        let groups = groups_of_nodes(session, nodes, &plain, self.view.analysis.is_cancelled);
        for group in groups.iter().take(MAX_EXPLAINED) {
            let Some(member) = group.nodes.first().and_then(|name| nodes.find(name)) else {
                continue;
            };
            let title = match group.nodes.as_slice() {
                [only] => only.to_string(),
                [first, others @ ..] => {
                    format!("{first}, and {} more with the same answer", others.len())
                }
                [] => String::new(),
            };
            print(&Layout::of_output().line(Paint::Title, &title))?;
            let answer = session.lookup(&nodes.scope(member), request);
            match (&answer.trace, &answer.result) {
                (_, Err(error)) if !error.class.is_lookup_error() => return Err(error.words()),
                (Some(trace), _) => {
                    let text = render::render_trace(trace, RenderFormat::S)?;
                    let lines = text.lines().map(|line| format!("  {line}\n"));
                    print(&lines.collect::<String>())?;
                }
                (None, _) => {}
            }
            print_reasons(&answer);
        }
        if let Some(more @ 1..) = groups.len().checked_sub(MAX_EXPLAINED) {
            remark(&format!("and {more} more values: name a node with --node"));
        }
        let is_missing =
            |group: &Group| group.result.as_ref().is_err_and(LookupError::is_not_found);
        if groups.iter().all(is_missing) {
            self.suggest_keys();
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The levels outside of the workspace that may set one of the keys, each once.
    pub(super) fn outside(&self, scope: &Scope) -> Vec<Arc<str>> {
        let view = self.view;
        let mut levels: Vec<Arc<str>> = Vec::new();
        for name in &self.request.names {
            let key = Key::parse(name).ok();
            let root = key.as_ref().and_then(|key| key.root.as_name());
            let Some(root) = root.filter(|root| view.has_outside(root)) else {
                continue;
            };
            for level in view.key_answer(root, scope).outside {
                if !levels.contains(&level) {
                    levels.push(level);
                }
            }
        }
        levels
    }

    /// If an answer is unknown because of variables that site manifests set, says so.
    pub(super) fn note_variables(&self, scope: &Scope) {
        if self.arguments.compile {
            return;
        }
        let set = self.view.analysis.site_variables();
        let answer = self.view.session().lookup(scope, &self.request);
        let variables = answer.unknown.iter().flat_map(|one| match &one.cause {
            UnknownCause::Path(possible) => possible.variables.as_slice(),
            UnknownCause::Function { .. } | UnknownCause::Absent { .. } => &[],
        });
        let names = variables.map(|name| top_name(name));
        let names: BTreeSet<&str> = names.filter(|name| set.contains(*name)).collect();
        if !names.is_empty() {
            remark(&format!(
                "note: manifests set {} for nodes: --compile runs them, without node blocks, as puppet lookup does",
                quoted(&names)
            ));
        }
    }

    /// If the manifests of the environment would change the answer for a node, says so.
    pub(super) fn note_manifests(&self, node: &Node) {
        let view = self.view;
        if !self.arguments.compile {
            let compiled =
                Compiled::new(view.analysis.snapshot, view.root, self.session().settings);
            let scope = compiled.scope(node, &view.environment.name, self.version());
            let failure = scope.assigned().and_then(|it| it.failure.as_ref());
            if let Some(failure) = failure.filter(|it| it.is_certain) {
                remark(&format!("note: {}", no_catalog(failure)));
                return;
            }
        }
        let set = view.analysis.site_variables();
        let manifests =
            SiteManifests::of(view.analysis.snapshot, view.root, self.session().settings);
        let is_set =
            |name: &str| set.contains(name) || (is_of_class(name) && manifests.may_set(name));
        let plain = Request {
            tracing: Tracing::Off,
            ..self.request.clone()
        };
        let session = self.session();
        let answer = session.lookup(&self.scope(node), &plain);
        let mut read: BTreeSet<Arc<str>> = answer.reads.variables.clone();
        for layer in plain.names.iter().flat_map(|name| layers_of(name)) {
            let places = session.known_places(&layer);
            let names = places.iter().flat_map(|place| place.template.variables());
            read.extend(names.cloned());
        }
        let names = read.iter().map(|name| top_name(name));
        let names: BTreeSet<&str> = names.filter(|name| is_set(name)).collect();
        if names.is_empty() {
            return;
        }
        let differs = |manifests: &SiteManifests| {
            let scope = Compiled::default().scope(node, &view.environment.name, self.version());
            let assigned = manifests.assigned(node, &scope);
            let with = session.lookup(&scope.with_assigned(assigned), &plain);
            with.result != answer.result
        };
        if !differs(&manifests) {
            return;
        }
        let names = quoted(&names);
        let is_of_block = self.arguments.compile || !differs(&manifests.of_top_scope());
        remark(&if is_of_block {
            format!(
                "note: node blocks of manifests set {names}, which changes the answer for the catalog of this node: puppet \
                 lookup does not run them"
            )
        } else {
            format!(
                "note: manifests set {names}, which changes the answer: --compile runs them, as for puppet lookup"
            )
        });
    }
}

/// Puppet's error while it evaluates manifests, in words.
fn no_catalog(failure: &CompileFailure) -> String {
    let place = failure.place.as_ref();
    let place = place.map(|(file, line)| format!(" ({}:{line})", terminal::shown(file)));
    format!(
        "Puppet compiles no catalog for this node: {}{}",
        failure.message,
        place.unwrap_or_default()
    )
}

/// Names in quotes, in a sentence.
fn quoted(names: &BTreeSet<&str>) -> String {
    let names = names.iter().map(|name| format!("'{name}'"));
    names.collect::<Vec<_>>().join(" and ")
}

/// Adds levels outside of the workspace to the conditions of the answers.
pub(super) fn restrict(groups: &mut [Group], levels: &[Arc<str>]) {
    let reason = absent_levels(levels).map(|those| format!("{those} may set it"));
    let (Some(reason), Some(words)) = (reason, absent_words(levels, "it")) else {
        return;
    };
    for group in groups {
        group.unknown.get_or_insert_with(|| reason.clone());
        group.unless = Some(match group.unless.take() {
            Some(unless) => format!("{unless}, or {words}"),
            None => words.clone(),
        });
    }
}

/// Reports missing data directories, once each.
fn warn_missing_folders(session: &Session<'_>) {
    let mut warned: Vec<String> = Vec::new();
    for layer in [Layer::Global, Layer::Environment] {
        for place in session.known_places(&layer).iter() {
            let Some(folder) = datadir_of(place) else {
                continue;
            };
            if session.files.kind(&folder).is_none() && !warned.contains(&folder) {
                let shown = terminal::shown(&folder);
                let level = &place.level;
                remark(&format!(
                    "note: {shown} does not exist, but level '{level}' looks for data there; name the folder that is \
                     deployed there with --path-map"
                ));
                warned.push(folder);
            }
        }
    }
}

/// Prints the likely value and the condition under which it differs, on standard error.
fn print_condition(arguments: &LookupArguments, result: &Result<Value, LookupError>, unless: &str) {
    let format = arguments.render_as.unwrap_or(RenderFormat::Yaml);
    let shown = match result {
        Ok(value) if value.has_opaque() => return,
        Ok(Value::String(text)) if !text.contains('\n') => text.to_string(),
        Ok(value) => match render::render(value, format) {
            Ok(text) => text.trim_end().to_owned(),
            Err(message) => message,
        },
        Err(error) if error.is_not_found() => "not found".to_owned(),
        Err(error) => error.words(),
    };
    let shown = shown.strip_prefix("--- ").unwrap_or(&shown);
    if shown.contains('\n') {
        remark(&format!("unless {unless}:\n{shown}"))
    } else {
        remark(&format!("{shown}, unless {unless}"))
    }
}

/// Prints the assumptions behind a certain answer.
fn print_assumptions(assumed: &[Assumed]) {
    for assumed in assumed {
        remark(&format!("note: {assumed} (not run)"));
    }
}

fn print_reasons(answer: &Answer) {
    for reason in answer.reasons() {
        remark(&format!("unknown: {reason}"));
    }
}

/// Merges groups with the same result under the same condition: they differ only in which of their
/// files is unknown.
fn merged(groups: Vec<Group>) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        let is_same = |other: &&mut Group| {
            other.result == group.result
                && other.unless == group.unless
                && other.unknown.is_some() == group.unknown.is_some()
                && group.unless.is_some()
                && !group.nodes.is_empty()
        };
        match merged.iter_mut().find(is_same) {
            Some(other) => {
                other.nodes.extend(group.nodes);
                other.origins.extend(group.origins);
            }
            None => merged.push(group),
        }
    }
    merged.sort_by_key(|group| std::cmp::Reverse(group.nodes.len()));
    merged
}
