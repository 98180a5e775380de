//! The commands for pickers of nodes and of facts: the choices, and how to get more.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tower_lsp::jsonrpc::Result;

use super::execute_command::place;
use super::{View, of_workspace};
use crate::analysis::{NodeSet, RootView, UsedVariable, ValueCounts};
use crate::disk;
use crate::ide::{shell_word, what_if};
use crate::scope::{Imported, Knowledge, OWN_HOSTS};
use crate::server::capabilities::{FACTS, NODES, RECIPES};
use crate::server::connection::Connection;
use crate::workspace::path;

/// Maximum number of a node's variables in its description.
const MAX_NAMED: usize = 4;

/// The nodes, and with `details` their distinguishing values.
pub(super) async fn nodes(session: &Connection, arguments: &Value) -> Result<Value> {
    let place = place(session, arguments);
    let with_details = arguments.get("details") == Some(&Value::Bool(true));
    let now = disk::now();
    let work = move |view: View| {
        let known = view.nodes(&place);
        let nodes = known.nodes.all().iter();
        let nodes: Vec<&str> = nodes.map(|node| &*node.certname).collect();
        let origins = known.origins.iter().map(|origin| {
            let uri = origin.path.as_deref().map(disk::file_uri);
            let imported = origin.imported.as_deref().map(|imported| {
                json!({
                    "at": imported.time(),
                    "age": imported.age(now),
                    "stale_since": imported.stale_since(now),
                })
            });
            json!({ "uri": uri, "nodes": origin.nodes, "imported": imported })
        });
        let origins: Vec<Value> = origins.collect();
        let choice = view.context.choices.of(&place);
        view.analyse(&place, |analysis| {
            let environments = analysis.environments();
            let mut answer = json!({
                "nodes": nodes,
                "origins": origins,
                "selected": choice.and_then(|choice| choice.node.as_deref()),
                "facts": choice.map(|choice| &choice.facts),
                "problems": known.problems,
                "environments": environments,
            });
            if with_details {
                let used = analysis.answering(&place);
                let used = used.map(|view| view.level_variables()).unwrap_or_default();
                let used = used.into_iter().filter(|variable| !variable.is_name());
                let used: Vec<UsedVariable> = used.collect();
                answer["choices"] = details(&known, &used).into();
                answer["groups"] = used
                    .iter()
                    .map(|variable| group(&known, variable))
                    .collect();
            }
            answer
        })
    };
    of_workspace(session, NODES, work).await
}

/// For each node how much is known of it, and its values of the variables in paths of levels.
fn details(known: &NodeSet, used: &[UsedVariable]) -> Vec<Value> {
    let columns = used.iter();
    let columns = columns.map(|used| (&used.name, known.known.column(&used.name)));
    let columns: Vec<_> = columns.collect();
    let nodes = known.nodes.all().iter().enumerate();
    let nodes = nodes.map(|(member, node)| {
        let values = columns.iter().filter_map(|(name, column)| {
            let value = column.value(member)?;
            let is_plain = value.as_array().is_none() && value.as_hash().is_none();
            (is_plain && !value.is_undef()).then(|| format!("{name} = {}", value.to_s()))
        });
        json!({
            "node": &*node.certname,
            "known": match node.knowledge {
                Knowledge::All => "all",
                Knowledge::Name => "name",
                Knowledge::Label => "label",
            },
            "environment": node.environment.as_deref(),
            "says": values.take(MAX_NAMED).collect::<Vec<_>>().join(" · "),
        })
    });
    nodes.collect()
}

fn group(known: &NodeSet, variable: &UsedVariable) -> Value {
    let counts = ValueCounts::of(&known.known, &variable.name);
    json!({
        "variable": &*variable.name,
        "values": what_if::values(&counts),
        "more": counts.more,
    })
}

/// The facts and other variables that the hierarchy uses, without a what-if.
pub(super) async fn facts(session: &Connection, arguments: &Value) -> Result<Value> {
    let place = place(session, arguments);
    let work = move |view: View| {
        let known = view.nodes_without_overrides(&place);
        let choice = view.context.choices.of(&place);
        let selected = choice.and_then(|choice| choice.node.as_deref());
        let overrides = choice.map(|choice| &choice.facts);
        let overrides: Map<String, Value> = overrides
            .into_iter()
            .flatten()
            .map(|(path, value)| (path.clone(), value.clone()))
            .collect();
        view.analyse(&place, |analysis| {
            let root = analysis.answering(&place);
            let used = root.as_ref().map(RootView::used_variables);
            let used = used.unwrap_or_default().into_iter();
            let facts = used.map(|variable| what_if::fact(&known, &variable, selected, &overrides));
            json!({
                "node": selected,
                "facts": facts.collect::<Vec<_>>(),
                "overrides": overrides,
            })
        })
    };
    of_workspace(session, FACTS, work).await
}

/// How to get a nodes file, and the command that imports one, as it was run the last time.
pub(super) async fn recipes(session: &Connection, arguments: &Value) -> Result<Value> {
    let place = place(session, arguments);
    let work = move |view: View| {
        let known = view.nodes(&place);
        let mut imported = known.origins.iter().filter_map(|it| it.imported.as_deref());
        let folders = view.snapshot.folders();
        let around = folders
            .iter()
            .find(|folder| path::within(&place, folder).is_some());
        let folder = around.or(folders.first()).map(|folder| &**folder);
        let mut answer = all_recipes();
        answer["import"] = import_command(imported.next(), folder).into();
        answer
    };
    of_workspace(session, RECIPES, work).await
}

/// The command that imports nodes into a folder, from where they were imported before. A repository
/// may have brought the file that says so: over plain HTTP, anyone could answer.
fn import_command(imported: Option<&Imported>, folder: Option<&str>) -> String {
    let mut command = "hiera-ls nodes import".to_owned();
    let mut add = |words: &[&str]| {
        for word in words {
            command.push(' ');
            command.push_str(&shell_word(word));
        }
    };
    if let Some(folder) = folder {
        add(&["--workspace", folder]);
    }
    let Some(imported) = imported else {
        return command;
    };
    let is_address = |from: &&Arc<str>| from.contains("://");
    let mut addresses = imported.from.iter().filter(is_address);
    let is_safe = |from: &str| from.starts_with("https://") || is_of_this_machine(from);
    if !addresses.clone().all(|from| is_safe(from)) {
        return command;
    }
    let options = [
        ("--puppetdb", addresses.next()),
        ("--environment", imported.environment.as_ref()),
        ("--where", imported.condition.as_ref()),
    ];
    for (name, value) in options {
        value.into_iter().for_each(|value| add(&[name, value]));
    }
    let files = imported.from.iter().filter(|from| !is_address(from));
    for file in files {
        if file.starts_with('-') {
            // No flag comes from a file.
            add(&[&format!("./{file}")]);
        } else {
            add(&[file]);
        }
    }
    command
}

/// Whether an address of plain HTTP is that of this machine.
fn is_of_this_machine(address: &str) -> bool {
    let host = address.strip_prefix("http://");
    let host = host.map(|rest| rest.rsplit_once(':').map_or(rest, |(host, _)| host));
    host.is_some_and(|host| OWN_HOSTS.contains(&host))
}

fn all_recipes() -> Value {
    let recipes = crate::analysis::RECIPES.iter().map(|recipe| {
        json!({ "title": recipe.title, "detail": recipe.detail, "command": recipe.command })
    });
    json!({ "recipes": recipes.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_repeated_with_its_flags() {
        let imported = Imported {
            from: vec!["https://pdb:8081".into(), "enc out".into()],
            environment: Some("qa".into()),
            condition: Some("facts.site = \"lon\"".into()),
            ..Imported::default()
        };
        let from = |address: &str| Imported {
            from: vec![address.into(), "enc".into()],
            ..Imported::default()
        };
        let plain = from("http://pdb.example.com:8080");
        let pretended = from("http://localhost:8080@pdb.example.com:8080");
        let local = from("http://localhost:8080");
        let flag = Imported {
            from: vec!["--output=x".into()],
            ..Imported::default()
        };
        for (imported, folder, expected) in [
            (
                Some(&imported),
                Some("/my repo"),
                "hiera-ls nodes import --workspace '/my repo' --puppetdb https://pdb:8081 \
                 --environment qa --where 'facts.site = \"lon\"' 'enc out'",
            ),
            (
                None,
                Some("/repo"),
                "hiera-ls nodes import --workspace /repo",
            ),
            (None, None, "hiera-ls nodes import"),
            (Some(&flag), None, "hiera-ls nodes import './--output=x'"),
            (Some(&plain), None, "hiera-ls nodes import"),
            (Some(&pretended), None, "hiera-ls nodes import"),
            (
                Some(&local),
                None,
                "hiera-ls nodes import --puppetdb http://localhost:8080 enc",
            ),
        ] {
            assert_eq!(import_command(imported, folder), expected);
        }
    }
}
