//! Hashes whose entries become resources of defined types.

use std::sync::Arc;

use super::CodeExtraction;
use crate::puppet::may_leave;
use crate::syntax::puppet::{
    Call, Expression, ExpressionKind, Lambda, Resource, ResourceForm, without_colons,
};
use crate::text::TextRange;
use crate::workspace::code::Means;
use crate::workspace::resources::{ResourceSource, ResourcesOfData};

impl CodeExtraction<'_> {
    /// `create_resources(type, hash, defaults)`
    pub(super) fn created(&mut self, place: TextRange, arguments: &[&Expression]) {
        let [type_name, hash, rest @ ..] = arguments else {
            return;
        };
        let given = match rest {
            [] => Some(Vec::new()),
            [defaults] => names_of_entries(defaults),
            _ => None,
        };
        if let (Some(type_name), Some(source), Some(given)) =
            (type_name.literal(), self.source_of(hash), given)
        {
            self.resources_of(type_name, source, given, place);
        }
    }

    /// `hash.each |$name, $all| { type { $name: * => $all } }`
    pub(super) fn created_each(&mut self, place: TextRange, call: &Call) {
        let (ExpressionKind::NamedAccess(access), Some(lambda)) =
            (&call.function.kind, &call.lambda)
        else {
            return;
        };
        let ExpressionKind::Lambda(lambda) = &lambda.kind else {
            return;
        };
        if *access.name != *"each" {
            return;
        }
        let (Some([name, all]), Some(source)) = (two_names(lambda), self.source_of(&access.left))
        else {
            return;
        };
        let statements = match lambda.body.as_ref().map(|body| &body.kind) {
            Some(ExpressionKind::Block(statements)) => &statements[..],
            Some(_) => lambda.body.as_slice(),
            None => return,
        };
        for statement in statements {
            let made = match &statement.kind {
                ExpressionKind::Resource(resource) => made_by(resource, all),
                ExpressionKind::Call(call) => called_with(call, [name, all]),
                _ => None,
            };
            if let Some((type_name, given)) = made {
                self.resources_of(type_name, source.clone(), given, place);
            }
            // The following statements may not be reached.
            if may_leave(statement) {
                return;
            }
        }
    }

    /// Records a type whose resources get parameters from elsewhere.
    pub(super) fn changed(&mut self, type_name: &Expression) {
        let name = match &type_name.kind {
            ExpressionKind::Access(left, _) => left.literal(),
            _ => type_name.literal(),
        };
        if let Some(name) = name {
            self.changed.push(normalized(name));
        }
    }

    fn resources_of(
        &mut self,
        type_name: &str,
        source: ResourceSource,
        given: Vec<Arc<str>>,
        place: TextRange,
    ) {
        let type_name = normalized(type_name);
        // Classes are no resources of a type, and what is virtual may never be evaluated.
        if *type_name == *"class" || type_name.starts_with('@') {
            return;
        }
        self.of_data.push(ResourcesOfData {
            type_name,
            source,
            given: given.into(),
            place,
            within: self.within,
            is_conditional: self.is_conditional,
        });
    }

    /// Where a hash comes from, if it is the whole result of a lookup or a parameter.
    fn source_of(&self, node: &Expression) -> Option<ResourceSource> {
        if let ExpressionKind::Call(call) = &node.kind {
            let is_lookup = matches!(
                call.function.literal(),
                Some("lookup" | "hiera" | "hiera_hash")
            );
            return is_lookup.then_some(ResourceSource::Lookup(node.range));
        }
        if let Some(parameter) = self.parameter_of_class(node) {
            return Some(ResourceSource::Parameter(Arc::from(&*parameter)));
        }
        match self.meaning(node) {
            Some(Means::List(call)) => Some(ResourceSource::Lookup(call)),
            Some(Means::Class(_) | Means::Parts(_) | Means::Parameter(_) | Means::Beginning(_))
            | None => None,
        }
    }
}

fn normalized(type_name: &str) -> Arc<str> {
    Arc::from(without_colons(type_name).to_lowercase())
}

/// The names of the two parameters of a lambda.
fn two_names(lambda: &Lambda) -> Option<[&str; 2]> {
    let [name, all] = &lambda.parameters[..] else {
        return None;
    };
    match (&name.kind, &all.kind) {
        (ExpressionKind::Parameter(name), ExpressionKind::Parameter(all)) => {
            Some([&name.name, &all.name])
        }
        _ => None,
    }
}

fn is_variable(node: &Expression, name: &str) -> bool {
    matches!(&node.kind, ExpressionKind::Variable(variable) if **variable == *name)
}

/// `type { title: a => 1, * => $all }`: the type, and the parameters that it gives by name.
fn made_by<'r>(resource: &'r Resource, all: &str) -> Option<(&'r str, Vec<Arc<str>>)> {
    let [body] = &resource.parts[..] else {
        return None;
    };
    let ExpressionKind::ResourceBody(_, attributes) = &body.kind else {
        return None;
    };
    let mut given = Vec::new();
    let mut is_of_all = false;
    for attribute in attributes {
        match &attribute.kind {
            ExpressionKind::Attribute(attribute) => given.push(Arc::from(&*attribute.name)),
            ExpressionKind::AttributeSplat(inner) if is_variable(inner, all) => is_of_all = true,
            _ => return None,
        }
    }
    let type_name = resource.type_name.literal()?;
    (is_of_all && resource.form == ResourceForm::Regular).then_some((type_name, given))
}

/// `create_resources('type', { $name => $all }, defaults)`
fn called_with<'c>(call: &'c Call, [name, all]: [&str; 2]) -> Option<(&'c str, Vec<Arc<str>>)> {
    let [type_name, hash, rest @ ..] = &call.arguments[..] else {
        return None;
    };
    let ExpressionKind::Hash(entries) = &hash.kind else {
        return None;
    };
    let [entry] = &entries[..] else {
        return None;
    };
    let is_it = matches!(
        &entry.kind,
        ExpressionKind::Entry(pair) if is_variable(&pair[0], name) && is_variable(&pair[1], all)
    );
    if call.function.literal() != Some("create_resources") || !is_it {
        return None;
    }
    let given = match rest {
        [] => Vec::new(),
        [defaults] => names_of_entries(defaults)?,
        _ => return None,
    };
    Some((type_name.literal()?, given))
}

/// The keys of a literal hash; `None` if some are computed.
fn names_of_entries(node: &Expression) -> Option<Vec<Arc<str>>> {
    let ExpressionKind::Hash(entries) = &node.kind else {
        return None;
    };
    let names = entries.iter().map(|entry| match &entry.kind {
        ExpressionKind::Entry(pair) => pair[0].literal().map(Arc::from),
        _ => None,
    });
    names.collect()
}
