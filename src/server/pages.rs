//! The read-only documents that commands answer with: what each is asked, from the workspace and
//! the nodes that it is asked for.

use std::sync::Arc;

use super::context::Context;
use super::explain::{explain, root_for};
use super::features::{Asked, Question, Told, Work};
use crate::analysis::{NodeCache, NodeSet};
use crate::ide::call_hierarchy::{incoming, root_of};
use crate::ide::document::{self, Document};
use crate::ide::impact::{Detail, impact_on_readers, impact_with};
use crate::ide::matrix::{
    Difference, Fleet, all_keys, changes, differences, row, row_of_possible, with_unseen,
};
use crate::ide::{KnownNodes, fleet_of, hover};
use crate::lookup::{ConfigCache, Settings};
use crate::workspace::{Change, Root, Snapshot, path};

/// What all documents are made from.
pub(super) struct House<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) context: &'a Context,
    pub(super) configs: &'a Arc<ConfigCache>,
    pub(super) nodes: &'a NodeCache,
}

/// The document.
///
/// # Errors
/// Why there is none, for people.
pub(super) fn answer(
    house: &House<'_>,
    question: &Question,
    work: &Work<'_>,
) -> Result<Told, String> {
    match question {
        Question::Explain { asked, node } => {
            let key = key_of(house, asked)?;
            let nodes = house.nodes(&asked.path);
            let mut settings = house.context.puppet();
            // What Puppet does with this very text is what is asked here.
            settings.recover_broken_files = false;
            settings.modules_may_be_missing = false;
            let at = (&*asked.path, &*key);
            let content = explain(
                house.snapshot,
                &settings,
                house.configs,
                &nodes,
                at,
                node.as_ref(),
            )?;
            Ok(Told::Document(Document {
                title: format!("How {key} is looked up"),
                language: "text",
                content,
                data: None,
            }))
        }
        Question::Value(asked) => {
            let key = key_of(house, asked)?;
            value(house, asked, &key)
        }
        Question::Reveal(asked) => reveal(house, asked),
        Question::Matrix(asked) => {
            let key = key_of(house, asked)?;
            matrix(house, asked, &key)
        }
        Question::Uses(asked) => {
            let key = root_of(&key_of(house, asked)?);
            let calls = incoming(house.snapshot, &key);
            let named = house.named();
            let document = document::uses(house.snapshot, &key, &calls, &named);
            Ok(Told::Document(document))
        }
        Question::Diff {
            path,
            from,
            to,
            key,
        } => diff(house, path, from.as_ref(), to, key.as_ref(), work),
        Question::Impact { path, file } => impact(house, path, file.as_ref(), work),
    }
}

fn matrix(house: &House<'_>, asked: &Asked, key: &str) -> Result<Told, String> {
    let nodes = house.nodes(&asked.path);
    let settings = house.settings();
    let fleet = house.fleet(&asked.path, &settings, &nodes.known)?;
    let row = match nodes.known.is_empty() {
        true => row_of_possible(&fleet, key),
        false => row(&fleet, key),
    };
    let row = with_unseen(&fleet, row);
    let named = house.named();
    Ok(Told::Document(document::matrix(&row, &named)))
}

/// The value as a hover tells it, in full; all answers where the nodes that read the file get
/// several.
fn value(house: &House<'_>, asked: &Asked, key: &str) -> Result<Told, String> {
    let nodes = house.nodes(&asked.path);
    let settings = house.settings();
    let options = hover::HoverOptions {
        selected: nodes.selected.as_deref(),
        ..hover::HoverOptions::new(&settings, house.configs, &nodes.known)
    };
    let Some(content) = hover::whole_value(house.snapshot, &asked.path, key, &options) else {
        return matrix(house, asked, key);
    };
    Ok(Told::Document(Document {
        title: format!("Value of {key}"),
        language: "yaml",
        content,
        data: None,
    }))
}

/// The plain text of one encrypted value, if the user's settings let anybody see it.
fn reveal(house: &House<'_>, asked: &Asked) -> Result<Told, String> {
    let settings = &house.context.settings;
    if !settings.decrypt {
        return Err(
            "decryption is off: 'hiera-ls.decrypt' in the user's settings turns it on, with \
                    the keys in 'hiera-ls.pkcs7PrivateKey' and 'hiera-ls.pkcs7PublicKey'"
                .to_owned(),
        );
    }
    let Some(keys) = house.context.keys() else {
        return Err(
            "there are no keys to decrypt with: 'hiera-ls.pkcs7PrivateKey' and \
                    'hiera-ls.pkcs7PublicKey' must name a private key and its certificate"
                .to_owned(),
        );
    };
    let Some(offset) = asked.offset else {
        return Err("there is no encrypted value at this place".to_owned());
    };
    let found = hover::plain_text(house.snapshot, &asked.path, offset, keys)?;
    let place = format!("{}:{}", house.named()(&asked.path), found.line);
    Ok(Told::Secret(Document {
        title: match found.key {
            Some(key) => format!("Plain text of {key} in {place}"),
            None => format!("Plain text in {place}"),
        },
        language: "text",
        content: found.text,
        data: None,
    }))
}

impl House<'_> {
    /// The nodes that are known for a file.
    pub(super) fn nodes(&self, file: &str) -> Arc<NodeSet> {
        self.context.nodes(self.nodes, self.snapshot, file)
    }

    /// Puppet's settings; what is encrypted stays so in whatever is shown.
    pub(super) fn settings(&self) -> Settings {
        self.context.puppet()
    }

    /// The nodes over the root that answers for a file or a folder.
    fn fleet<'a>(
        &'a self,
        file: &str,
        settings: &'a Settings,
        nodes: &'a KnownNodes,
    ) -> Result<Fleet<'a>, String> {
        self.fleet_in(self.snapshot, file, settings, nodes)
    }

    fn fleet_in<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        file: &str,
        settings: &'a Settings,
        nodes: &'a KnownNodes,
    ) -> Result<Fleet<'a>, String> {
        if let Some(fleet) = fleet_of(snapshot, file, settings, self.configs, nodes) {
            return Ok(fleet);
        }
        let root = root_for(snapshot, file)?;
        Ok(Fleet::new(snapshot, root, settings, self.configs, nodes))
    }

    /// Names files below the workspace folder that they are in.
    fn named(&self) -> impl Fn(&str) -> String {
        |file| {
            let folders = self.snapshot.folders().iter();
            let inside = folders.filter_map(|folder| path::within(file, folder));
            let shortest = inside.min_by_key(|inside| inside.len());
            shortest.unwrap_or(file).to_owned()
        }
    }
}

/// The key that is asked for.
fn key_of(house: &House<'_>, asked: &Asked) -> Result<Arc<str>, String> {
    match (&asked.key, asked.offset) {
        (Some(key), _) => Ok(key.clone()),
        (None, Some(offset)) => hover::key_at(house.snapshot, &asked.path, offset)
            .ok_or_else(|| "there is no key at this place".to_owned()),
        (None, None) => Err("neither a key nor a place was given".to_owned()),
    }
}

/// The environments of a workspace by the names of their folders, the first of each name.
pub(super) fn environments(snapshot: &Snapshot) -> Vec<(&str, &Root)> {
    let mut found: Vec<(&str, &Root)> = Vec::new();
    for root in snapshot.roots().environments() {
        let name = path::name(&root.dir);
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, root));
        }
    }
    found
}

/// What somebody says who broke it off; nobody reads it.
fn broken_off() -> String {
    "the request was taken back".to_owned()
}

fn diff(
    house: &House<'_>,
    path: &str,
    from: Option<&Arc<str>>,
    to: &Arc<str>,
    key: Option<&Arc<str>>,
    work: &Work<'_>,
) -> Result<Told, String> {
    let nodes = house.nodes(path);
    let Some(from) = from.or(nodes.selected.as_ref()) else {
        return Err("no node is selected to compare with".to_owned());
    };
    let settings = house.settings();
    let named = house.named();
    let mut found: Vec<Difference> = Vec::new();
    if let (Some(one), Some(other)) = (nodes.known.find(from), nodes.known.find(to)) {
        let fleet = house.fleet(path, &settings, &nodes.known)?;
        let keys = key.map_or_else(|| all_keys(&fleet), |key| vec![key.clone()]);
        for (at, key) in keys.iter().enumerate() {
            let key = std::slice::from_ref(key);
            found.extend(differences(&fleet, key, one, other));
            if work.done(at + 1, keys.len()).is_break() {
                return Err(broken_off());
            }
        }
        let document = document::differences(from, to, &found, &named);
        return Ok(Told::Document(document));
    }
    let environments = environments(house.snapshot);
    let environment = |name: &Arc<str>| {
        let found = environments.iter().find(|(known, _)| *known == &**name);
        found.map(|(_, root)| *root)
    };
    let (Some(before), Some(after)) = (environment(from), environment(to)) else {
        let unknown = [from, to]
            .into_iter()
            .find(|name| nodes.known.find(name).is_none() && environment(name).is_none());
        return Err(match unknown {
            Some(name) => format!("'{name}' is neither a known node nor an environment"),
            None => format!(
                "'{from}' and '{to}' are not of one kind: name two nodes or two environments"
            ),
        });
    };
    if nodes.known.is_empty() {
        return Err("no nodes are known to compare environments for".to_owned());
    }
    let members = |name| KnownNodes::as_members(&nodes.nodes, name);
    let sides = [members(from), members(to)];
    let fleet = |root, nodes, name: &Arc<str>| {
        let mut fleet = Fleet::new(house.snapshot, root, &settings, house.configs, nodes);
        fleet.environment.name = name.clone();
        fleet
    };
    let (before, after) = (fleet(before, &sides[0], from), fleet(after, &sides[1], to));
    let mut keys = key.map_or_else(Vec::new, |key| vec![key.clone()]);
    if keys.is_empty() {
        keys = all_keys(&before);
        keys.extend(all_keys(&after));
        keys.sort();
        keys.dedup();
    }
    for (at, key) in keys.iter().enumerate() {
        found.extend(changes(&row(&before, key), &row(&after, key)));
        if work.done(at + 1, keys.len()).is_break() {
            return Err(broken_off());
        }
    }
    let document = document::differences(from, to, &found, &named);
    Ok(Told::Document(document))
}

fn impact(
    house: &House<'_>,
    path: &str,
    file: Option<&Arc<str>>,
    work: &Work<'_>,
) -> Result<Told, String> {
    let snapshot = house.snapshot;
    let unsaved = |file: &str| snapshot.open_files().any(|open| &**open.path() == file);
    let named = house.named();
    let (saved, what) = match file {
        Some(file) if !unsaved(file) => {
            return Ok(Told::Message(format!(
                "{} is not open: nothing in it is unsaved",
                named(file)
            )));
        }
        Some(file) => (
            snapshot.with(Change::Close { path: file.clone() }),
            format!("the edit of {}", named(file)),
        ),
        None => (snapshot.saved(), "what is unsaved".to_owned()),
    };
    let nodes = house.nodes(path);
    let settings = house.settings();
    let before = house.fleet_in(&saved, path, &settings, &nodes.known)?;
    let after = house.fleet(path, &settings, &nodes.known)?;
    let tell = |done, of| work.done(done, of);
    let found = match (nodes.known.is_empty(), file) {
        (true, Some(file)) => impact_on_readers(&before, &after, file, &tell),
        (_, _) => impact_with(&before, &after, Detail::Sources, &tell),
    };
    let Some(found) = found else {
        return Err(broken_off());
    };
    let document = document::impact(&found, nodes.known.len(), &what, &named);
    Ok(match document {
        Some(document) => Told::Document(document),
        None => Told::Message(format!("{what} changes no effective value")),
    })
}
