//! `unknown-backend`: a level names a misspelt function of Puppet, or a function that its module lacks.
//!
//! Other functions may come from modules outside the workspace.

use super::config_level::{BUILT_IN, levels};
use super::{FileContext, Findings, Fix, RootContext, Safety, Severity};
use crate::hierarchy::{FunctionKind, Layer};
use crate::lookup::{FunctionSource, find_function};
use crate::text::{TextEdit, typing_error};
use crate::workspace::{FileKind, Files};

rule!("unknown-backend", Error, [Configuration(check)], WORKSPACE);

fn check(file: &FileContext<'_>, config: &RootContext<'_>, findings: &mut Findings<'_>) {
    for level in levels(file) {
        let Some(function) = level.function else {
            continue;
        };
        let known = BUILT_IN.iter().map(|(name, _)| *name);
        let is_ruby_class = function.kind == FunctionKind::Hiera3Backend;
        // The function of `defaults` is reported once, if some level uses it.
        if function.built_in().is_some() || is_ruby_class || findings.has(function.value) {
            continue;
        }
        let mut short_for = BUILT_IN.iter();
        if let Some((suggestion, kind)) =
            short_for.find(|(name, _)| is_short_for(&function.name, name))
        {
            let finding = findings.report_as(
                Severity::Warning,
                function.value,
                format!(
                    "'{}' is a backend of version 3, and no function of Puppet's own: without one of that \
                     name every lookup that reaches this level fails",
                    function.name
                ),
            );
            finding.did_you_mean(suggestion);
            let mut edits = vec![TextEdit::replace(function.value, *suggestion)];
            let mut title = format!("Write '{suggestion}'");
            if *kind != function.kind {
                edits.push(TextEdit::replace(function.key, kind.key()));
                title = format!("Write '{}: {suggestion}'", kind.key());
            }
            edits.sort_by_key(|edit| edit.range);
            let fix = Fix::with_edits(Safety::Unsafe, title, edits);
            finding.fixes.push(fix);
            continue;
        }
        let Some(suggestion) = typing_error(&function.name, known) else {
            if let Some(module) = lacking_module(file, config, &function.name) {
                findings.report(
                    function.value,
                    format!(
                        "the module '{module}' has no function '{}': every lookup that reaches this level \
                         fails",
                        function.name
                    ),
                );
            }
            continue;
        };
        let finding = findings.report(
            function.value,
            format!(
                "there is no function '{}': every lookup that reaches this level fails",
                function.name
            ),
        );
        finding.suggest(Safety::Safe, function.value, suggestion);
    }
}

/// Whether a name is that of a version 3 backend which a function replaced: `yaml`, `eyaml`.
fn is_short_for(name: &str, function: &str) -> bool {
    let rest = function.strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with('_'))
}

/// The module in a function's name, if it is in the workspace and has no such function. An empty
/// folder belongs to a module that was not fetched.
fn lacking_module<'n>(
    file: &FileContext<'_>,
    config: &RootContext<'_>,
    name: &'n str,
) -> Option<&'n str> {
    let (module, _) = name.split_once("::")?;
    // Functions of the environment itself may be deployed with it.
    if module == "environment" || config.layer == Layer::Global {
        return None;
    }
    let view = file.checker.analysis().at(config.root);
    let (files, environment) = (view.files(), &view.environment);
    if find_function(files, environment, name) != FunctionSource::Missing {
        return None;
    }
    let known = environment
        .modules
        .iter()
        .find(|(known, _)| **known == *module);
    let known = known.map(|(_, dir)| dir.to_string());
    let listed = environment
        .modulepath
        .iter()
        .map(|path| format!("{path}/{module}"));
    let mut dirs = known.into_iter().chain(listed);
    let dir = dirs.find(|dir| files.kind(dir) == Some(FileKind::Directory))?;
    let mut parts = ["lib", "functions", "manifests", "metadata.json"].iter();
    let is_fetched = parts.any(|part| files.kind(&format!("{dir}/{part}")).is_some());
    is_fetched.then_some(module)
}
