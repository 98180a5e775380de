//! Queries for the inventory of PuppetDB, and their pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::client::Client;
use crate::cli::terminal::ProgressLine;
use crate::interpolation::Segment;
use crate::scope::{
    Completeness, DEFAULT_ENVIRONMENT, LookupRecord, Node, Nodes, Told, json_names_nodes,
    read_catalog_inputs, read_json_nodes,
};
use crate::value::{HashMap, from_json};

/// Nodes of one answer, if single facts are asked for. PuppetDB computes all answers for each page.
const PAGE: usize = 10_000;

/// Nodes of one answer with all facts.
const PAGE_OF_WHOLE: usize = 1_000;

/// Catalogs of one answer about what they looked up.
const PAGE_OF_CATALOGS: usize = 500;

/// Maximum number of nodes whose catalogs are asked for by name.
const MAX_NAMES: usize = 200;

/// Maximum number of nodes of a fleet.
const MAX_NODES: usize = 1_000_000;

/// Maximum length of all answers together, in bytes: that of a nodes file.
const MAX_BYTES: usize = 1 << 30;

/// Maximum number of columns of a query; PostgreSQL has a limit too.
const MAX_COLUMNS: usize = 400;

/// The inventory of nodes, and whether it may be incomplete because it changed meanwhile.
pub(super) struct Inventory {
    pub(super) nodes: Nodes,
    pub(super) has_changed: bool,
}

/// Asks for what is wanted of the nodes that meet a condition of PuppetDB's language (all if it is
/// empty), page by page.
///
/// # Errors
/// An error of PuppetDB, or an answer that cannot be read.
pub(super) fn inventory(
    client: &Client,
    clause: &str,
    wanted: &Completeness,
) -> Result<Inventory, String> {
    let mut progress = ProgressLine::new();
    progress.show("asking PuppetDB");
    let columns = columns(wanted)?;
    let total = count(client, clause)?;
    let page = if wanted.facts == Told::All {
        PAGE_OF_WHOLE
    } else {
        PAGE
    };
    let (mut nodes, mut bytes) = (Nodes::default(), 0);
    let mut offset = 0;
    while offset < MAX_NODES {
        let text = client.ask(&format!(
            "inventory[certname, environment, {columns}] {{ {clause} order by certname limit {page} offset {offset} }}"
        ))?;
        bytes += text.len();
        if bytes > MAX_BYTES {
            return Err(format!(
                "the facts of {total} nodes have more than {} MiB: ask for fewer nodes with --where or \
                 --environment, or without --all-facts",
                MAX_BYTES >> 20
            ));
        }
        if text.trim() == "[]" {
            break;
        }
        if !json_names_nodes(&text) {
            return Err("the answer is not one of PuppetDB: it has no nodes".to_owned());
        }
        let read = read_json_nodes(&Arc::from(text), "PuppetDB", &HashMap::default());
        let read = read.map_err(|error| format!("the answer of PuppetDB: {}", error.message))?;
        let count = read.all().len();
        for node in read.all() {
            nodes.insert(node.clone());
        }
        offset += page;
        progress.show(&format!("{} of {total} nodes", nodes.all().len()));
        if count < page || offset >= total {
            break;
        }
    }
    let has_changed = nodes.all().len() != total;
    Ok(Inventory { nodes, has_changed })
}

/// Asks what the latest catalogs of the nodes looked up, page by page.
///
/// # Errors
/// An error of PuppetDB, or an answer that cannot be read.
pub(super) fn lookups(client: &Client, nodes: &[Arc<Node>]) -> Result<LookupRecord, String> {
    let wrong = |error: String| format!("the answer of PuppetDB: {error}");
    let mut progress = ProgressLine::new();
    let mut record = LookupRecord::default();
    let environments = nodes.iter();
    let environments = environments.map(|it| (&*it.certname, it.environment.as_deref()));
    let environments: BTreeMap<&str, Option<&str>> = environments.collect();
    // PuppetDB compares each record with each name.
    let names: Vec<&str> = environments.keys().copied().collect();
    let names = (names.len() <= MAX_NAMES).then_some(names);
    let mut offset = 0;
    while offset < MAX_NODES {
        progress.show(&format!("what {offset} catalogs looked up"));
        let Some(text) = client.catalog_inputs(names.as_deref(), PAGE_OF_CATALOGS, offset)? else {
            break;
        };
        let answer = from_json(&text).map_err(|error| wrong(error.to_string()))?;
        let mut rows = 0;
        let mut add = |certname: &str, at: i64, keys: &[&str]| {
            rows += 1;
            if let Some(environment) = environments.get(certname) {
                let environment = environment.unwrap_or(DEFAULT_ENVIRONMENT);
                record.add(environment, at, keys.iter().copied());
            }
        };
        read_catalog_inputs(&answer, &mut add).map_err(wrong)?;
        if rows < PAGE_OF_CATALOGS {
            break;
        }
        offset += rows;
    }
    Ok(record)
}

fn count(client: &Client, clause: &str) -> Result<usize, String> {
    let text = client.ask(&format!("inventory[count()] {{ {clause} }}"))?;
    let answer = from_json(&text).ok();
    let rows = answer.as_ref().and_then(|answer| answer.as_array());
    let count = rows.and_then(|rows| rows.first()?.get("count").cloned());
    let count = count.and_then(|count| count.to_s().parse().ok());
    count.ok_or_else(|| "the answer is not one of PuppetDB: it has no number of nodes".to_owned())
}

/// What is asked for, as columns. A path is cut where PuppetDB's language cannot express it: then a
/// larger part is asked for.
fn columns(wanted: &Completeness) -> Result<String, String> {
    let mut columns = Vec::new();
    for (part, told) in [("facts", &wanted.facts), ("trusted", &wanted.trusted)] {
        match told.outermost() {
            None => columns.push(part.to_owned()),
            Some(paths) => {
                let single = expressible(&paths, usize::MAX);
                let paths = if single.len() > MAX_COLUMNS {
                    expressible(&paths, 1)
                } else {
                    single
                };
                columns.extend(paths.iter().map(|path| {
                    let path: Vec<String> = path.iter().filter_map(quoted).collect();
                    // A quoted name must be followed by a blank.
                    format!("{part}.{} ", path.join("."))
                }));
            }
        }
    }
    if columns.len() > MAX_COLUMNS {
        return Err(format!(
            "{} facts are needed, too many to ask for one by one: add --all-facts",
            columns.len()
        ));
    }
    Ok(if columns.is_empty() {
        "timestamp".to_owned()
    } else {
        columns.join(", ")
    })
}

/// The expressible starts of paths, with at most so many names.
fn expressible(paths: &[Vec<Segment>], most: usize) -> Vec<Vec<Segment>> {
    let mut told = Told::nothing();
    for path in paths {
        let start = path.iter().take_while(|name| quoted(name).is_some());
        let start: Vec<Segment> = start.take(most).cloned().collect();
        if !start.is_empty() {
            told.add_path(start);
        }
    }
    told.outermost().unwrap_or_default()
}

/// A name in a column, in quotes if it is not plain; `None` for an index, and for names that quotes
/// cannot enclose.
fn quoted(segment: &Segment) -> Option<String> {
    let name = segment.as_name()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_number = name.parse::<i64>().is_ok();
    if !name.is_empty() && !is_number && name.chars().all(is_plain) {
        return Some(name.to_owned());
    }
    let is_quotable = |c: char| !c.is_control() && !['"', '\\'].contains(&c);
    let is_quotable = !name.is_empty() && name.chars().all(is_quotable);
    is_quotable.then(|| format!("\"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(facts: &[&str], trusted: &[&str]) -> String {
        let told = |paths: &[&str]| {
            let mut told = Told::nothing();
            paths.iter().for_each(|path| told.add(path));
            told
        };
        let wanted = Completeness {
            facts: told(facts),
            trusted: told(trusted),
            variables: Told::nothing(),
        };
        columns(&wanted).unwrap()
    }

    #[test]
    fn needed_parts_are_columns() {
        assert_eq!(
            of(&["os.family", "site"], &["extensions.'1.3.6.1'"]),
            "facts.os.family , facts.site , trusted.extensions.\"1.3.6.1\" "
        );
        // A number may be an index, which a column cannot have.
        assert_eq!(of(&["disks.0.name", "disks.1"], &[]), "facts.disks ");
        // Names from a repository never end the quotes.
        let hostile = "os.'x\"] {} nodes[certname'.y";
        assert_eq!(
            of(&[hostile, "'a b'.c"], &[]),
            "facts.\"a b\".c , facts.os "
        );
        assert_eq!(of(&[], &[]), "timestamp");
        assert_eq!(
            columns(&Completeness::default()).as_deref(),
            Ok("facts, trusted")
        );
    }

    #[test]
    fn many_facts_are_asked_for_by_their_first_names() {
        let many: Vec<String> = (0..500).map(|at| format!("a{}.b{at}", at % 3)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&many, &[]), "facts.a0 , facts.a1 , facts.a2 ");
    }
}
