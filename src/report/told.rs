//! What manifests set for nodes, for a report without manifests: the variables in paths of the hierarchy, which decide
//! which levels answer as facts do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::analysis::RootView;
use crate::scope::{Assigned, Assignment, Manifests, Node, Scope};
use crate::text::TextRange;
use crate::value::Value;

/// The texts of variables by the names of nodes; none where a variable is not set.
pub(super) type ToldVariables = BTreeMap<Arc<str>, BTreeMap<Arc<str>, Option<String>>>;

/// The variables of the known nodes that manifests set, and that the hierarchy uses.
pub(super) fn told_variables(view: &RootView<'_>) -> ToldVariables {
    let nodes = view.analysis.nodes;
    let used = view.level_variables().into_iter().map(|used| used.name);
    let names = used.filter(|name| !name.contains(['.', ':']) && nodes.is_set_by_manifests(name));
    let mut told = ToldVariables::new();
    for name in names {
        let column = nodes.column(&name);
        for member in 0..nodes.len() {
            let Some(value) = column.value(member).filter(|value| !value.is_collection()) else {
                continue;
            };
            let text = (!value.is_undef()).then(|| value.to_s());
            let of_node = told.entry(nodes.shared_name(member)).or_default();
            of_node.insert(name.clone(), text);
        }
    }
    told
}

/// Manifests that are not there, and set what is told of them.
#[derive(Debug)]
pub(super) struct ToldManifests {
    nodes: BTreeMap<Arc<str>, Arc<Assigned>>,
    names: Arc<BTreeSet<Arc<str>>>,
}

impl ToldManifests {
    pub(super) fn new(told: &ToldVariables) -> ToldManifests {
        let names = told
            .values()
            .flat_map(|variables| variables.keys().cloned());
        let names: Arc<BTreeSet<Arc<str>>> = Arc::new(names.collect());
        let assignment = |text: &Option<String>| Assignment {
            value: Ok(text.as_deref().map_or(Value::Undef, Value::from)),
            file: Arc::from(""),
            line: 1,
            place: TextRange::default(),
        };
        let nodes = told.iter().map(|(node, variables)| {
            let top = variables
                .iter()
                .map(|(name, text)| (name.clone(), assignment(text)));
            let assigned = Assigned {
                top: top.collect(),
                names: Some(names.clone()),
                ..Assigned::default()
            };
            (node.clone(), Arc::new(assigned))
        });
        ToldManifests {
            nodes: nodes.collect(),
            names,
        }
    }
}

impl Manifests for ToldManifests {
    fn assigned(&self, node: &Node, _: &Scope) -> Arc<Assigned> {
        let told = self.nodes.get(&node.certname).cloned();
        told.unwrap_or_default()
    }

    fn may_set(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn may_fail(&self) -> bool {
        false
    }

    fn depend_on_data(&self) -> bool {
        false
    }
}
