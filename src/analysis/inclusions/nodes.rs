//! The nodes of an environment, and the site manifests' block for each.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Inclusions, LackingCache, MAX_NODES};
use crate::analysis::evaluation_order::Viewpoint;
use crate::analysis::members::Members;
use crate::analysis::nodes::SiteNames;
use crate::analysis::site::{SiteManifests, is_for_everyone};
use crate::analysis::{Analysis, NodeSet};
use crate::lookup::Settings;
use crate::scope::{Knowledge, KnownNodes, Manifests, Node, Nodes, Scope, Variable};
use crate::syntax::puppet::without_colons;
use crate::value::Value;
use crate::workspace::{NamePart, NodeFact, NodeMatch, Root, Snapshot};

impl<'a> Analysis<'a> {
    /// The known nodes of an environment and those that its node blocks name, with the variables
    /// that its manifests set. Facts that are not given may exist. Those of an earlier snapshot, if their manifests do
    /// the same.
    #[must_use]
    pub fn nodes_of_site(
        self,
        root: &'a Root,
        set: &NodeSet,
        before: Option<&Arc<NodesOfSite>>,
    ) -> Arc<NodesOfSite> {
        if let Some(before) = before.filter(|it| it.holds_in(self.snapshot, root, self.settings)) {
            return Arc::clone(before);
        }
        let tops = self.site_bodies(root).into_iter();
        let tops = tops.filter(|top| !top.code.is_broken);
        let blocks = tops.flat_map(|top| &top.code.nodes);
        let names = blocks.flat_map(|block| &block.matches).take(MAX_NODES);
        let names = names.filter_map(|name| {
            let NodeMatch::Name(name) = name else {
                return None;
            };
            Some(Arc::from(name.to_lowercase()))
        });
        let site = SiteNames {
            environment: Arc::from(self.environment),
            members_in: Arc::from(self.name_of(root)),
            named: names.collect(),
        };
        let find = || {
            let mut nodes = Nodes::default();
            let is_here = |node: &&Arc<Node>| {
                let other = node.environment.as_deref();
                other.is_none_or(|other| other == &*site.members_in)
            };
            for node in set.nodes.all().iter().filter(is_here) {
                let knowledge = match node.knowledge {
                    Knowledge::All | Knowledge::Name => Knowledge::Name,
                    Knowledge::Label => Knowledge::Label,
                };
                nodes.insert(Node {
                    knowledge,
                    ..node.as_ref().clone()
                });
            }
            for name in &site.named {
                if nodes.get(name).is_none() {
                    nodes.insert(Node::named(name));
                }
            }
            KnownNodes::in_environment(&nodes, &site.environment)
        };
        let known = set.of_sites.of(site.clone(), find);
        let manifests = SiteManifests::of(self.snapshot, root, self.settings);
        if known.is_empty() || !manifests.may_matter() {
            return Arc::new(NodesOfSite {
                nodes: known,
                lacking: LackingCache::default(),
                manifests: None,
            });
        }
        let manifests = Arc::new(manifests.with_configs(self.configs));
        Arc::new(NodesOfSite {
            nodes: known.with_manifests(Arc::clone(&manifests) as Arc<dyn Manifests>),
            lacking: LackingCache::default(),
            manifests: Some(manifests),
        })
    }
}

/// The nodes of an environment, with what its manifests do.
#[derive(Debug)]
pub struct NodesOfSite {
    /// The nodes.
    pub nodes: KnownNodes,
    /// What they lack.
    pub lacking: LackingCache,
    manifests: Option<Arc<SiteManifests>>,
}

impl NodesOfSite {
    fn holds_in(&self, snapshot: &Snapshot, root: &Root, settings: &Settings) -> bool {
        let manifests = self.manifests.as_ref();
        manifests.is_some_and(|it| it.holds_in(snapshot, (root, &self.nodes), settings))
    }
}

impl<'a> Inclusions<'_, 'a> {
    /// The index of a known node's block; `Some(None)` if the manifests have none. `None` if Puppet
    /// finds no block, or it is unknown which one (`puppet/resource/type_collection.rb`, `node`).
    pub(super) fn own_block(
        &self,
        member: usize,
        blocks: &[&'a NodeFact],
    ) -> Option<Option<usize>> {
        // Without a visible block the top scope is still evaluated for its nodes.
        if blocks.is_empty() {
            return Some(None);
        }
        if self.known.knowledge(member) == Knowledge::Label {
            let is_sure = is_for_everyone(blocks) && self.broken.is_none();
            return is_sure.then_some(Some(0));
        }
        let name = self.known.certname(member).to_lowercase();
        let position = |is_it: &dyn Fn(&NodeMatch) -> bool| {
            let mut blocks = blocks.iter();
            blocks.position(|block| block.matches.iter().any(is_it))
        };
        let is_named = |it: &NodeMatch| match it {
            NodeMatch::Name(written) => written.to_lowercase() == name,
            NodeMatch::Pattern(_) | NodeMatch::Default => false,
        };
        if let Some(at) = position(&is_named) {
            return Some(Some(at));
        }
        if !self.broken.is_none() {
            return Some(None);
        }
        for (at, block) in blocks.iter().enumerate() {
            for it in &block.matches {
                if let NodeMatch::Pattern(source) = it {
                    let pattern = self.analysis().configs.pattern(source).ok()?;
                    if pattern.is_match(&name).ok()? {
                        return Some(Some(at));
                    }
                }
            }
        }
        position(&|it| *it == NodeMatch::Default).map(Some)
    }

    /// The scope of a member: a known node, or a group.
    pub(super) fn scope_of(&self, member: usize) -> Scope {
        match member.checked_sub(self.known.len()) {
            Some(group) => self.groups[group].scope.clone(),
            None => self.known.scope(member),
        }
    }

    /// The classes that a computed name stands for, each with the members for which that is
    /// certain.
    pub(super) fn named(
        &self,
        parts: &[NamePart],
        members: &Members,
        from: Viewpoint<'_>,
    ) -> IndexMap<Arc<str>, Members> {
        let mut found: IndexMap<Arc<str>, Members> = IndexMap::new();
        let mut all = parts.iter();
        let may_differ = all.any(|part| match part {
            NamePart::Text(_) => false,
            NamePart::Variable(variable) => self.order.may_miss_from(from, variable),
        });
        for member in members.iter().filter(|_| !may_differ) {
            let scope = self.scope_of(member);
            let texts = parts.iter().map(|part| match part {
                NamePart::Text(text) => Some(Arc::clone(text)),
                NamePart::Variable(variable) => match scope.variable(variable) {
                    Variable::Known(Value::String(text)) => Some(text),
                    Variable::Known(_) | Variable::Undefined(_) | Variable::Unknown => None,
                },
            });
            if let Some(texts) = texts.collect::<Option<Vec<_>>>() {
                let class = without_colons(&texts.concat()).to_lowercase();
                found.entry(Arc::from(class)).or_default().insert(member);
            }
        }
        found
    }
}
