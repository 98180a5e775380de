//! Resources of a catalog while it is compiled: declared classes, resources of defined types, and
//! what is known of all others (`pops/evaluator/runtime3_resource_support.rb`).

use std::sync::Arc;

use super::catalog::{class_names, reference};
use super::evaluator::Evaluator;
use super::host::{Defines, DefinitionSource};
use super::parameters::Given;
use super::source::CodeFile;
use super::stop::{Evaluated, Stop};
use super::variables::{ScopeLevel, opaque};
use crate::syntax::puppet::{Expression, ExpressionKind, Resource, ResourceForm, without_colons};
use crate::value::{HashMap, Value};

/// Maximum number of resources of defined types.
const MAX_INSTANCES: usize = 5_000;

/// Puppet's own types of resources (`puppet/type/*.rb`), and those of the modules in its packages.
const PLAIN_TYPES: [&str; 25] = [
    "augeas",
    "cron",
    "exec",
    "file",
    "filebucket",
    "group",
    "host",
    "mount",
    "notify",
    "package",
    "resources",
    "schedule",
    "scheduled_task",
    "selboolean",
    "selmodule",
    "service",
    "ssh_authorized_key",
    "sshkey",
    "stage",
    "tidy",
    "user",
    "yumrepo",
    "zfs",
    "zone",
    "zpool",
];

/// Whether resources of a type contain no classes.
pub(super) fn is_plain_type(name: &str) -> bool {
    PLAIN_TYPES.contains(&without_colons(name))
}

/// A resource of a defined type.
pub(super) struct Instance {
    pub(super) source: Arc<CodeFile>,
    pub(super) module: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) title: Arc<str>,
    pub(super) given: Given,
    pub(super) level: ScopeLevel,
}

/// The value of an expression of resources.
fn resources() -> Value {
    opaque("references of resources are not evaluated")
}

impl Evaluator<'_> {
    /// `type { title: … }`
    pub(super) fn resource(&mut self, node: &Expression, resource: &Resource) -> Evaluated {
        self.line = self.source.line(node.own.start);
        let because: Arc<str> = Arc::from("the resource is not known");
        let Some(type_name) = resource.type_name.literal() else {
            self.doubt(node, &because);
            return Ok(resources());
        };
        let type_name = without_colons(type_name).to_lowercase();
        let mut defaults = Given::default();
        for part in &resource.parts {
            if let ExpressionKind::ResourceBody(title, attributes) = &part.kind
                && matches!(title.kind, ExpressionKind::Default)
            {
                defaults = self.attributes(attributes)?;
            }
        }
        for part in &resource.parts {
            let ExpressionKind::ResourceBody(title, attributes) = &part.kind else {
                continue;
            };
            if matches!(title.kind, ExpressionKind::Default) {
                continue;
            }
            let titles = match self.evaluate(title) {
                Ok(titles) => Some(titles),
                Err(Stop::Unknown(because)) => {
                    if !is_plain_type(&type_name) {
                        self.doubt(node, &because);
                    }
                    None
                }
                Err(stop) => return Err(stop),
            };
            if titles.as_ref().is_some_and(Value::is_undef) {
                return Err(Stop::failed(
                    "Missing title. The title expression resulted in undef",
                ));
            }
            let titles: Vec<Value> = titles.iter().flat_map(flattened).collect();
            if let Some(stop) = titles.iter().enumerate().find_map(refused_title) {
                return Err(stop);
            }
            let mut given = self.attributes(attributes)?;
            given.fill(&defaults);
            let is_virtual = resource.form != ResourceForm::Regular;
            for title in titles {
                let result = self.declare(&type_name, &title, given.clone(), is_virtual);
                self.past_failure(result)?;
            }
        }
        Ok(resources())
    }

    /// The attributes of a resource.
    pub(super) fn attributes(&mut self, nodes: &[Expression]) -> Evaluated<Given> {
        let mut given = Given::default();
        for node in nodes {
            match &node.kind {
                ExpressionKind::Attribute(attribute) => {
                    let known = match self.evaluate(&attribute.value) {
                        Ok(value) if value.has_opaque() => {
                            Err(Arc::from(value.opaque_reason().unwrap_or_default()))
                        }
                        Ok(value) => Ok(value),
                        Err(Stop::Unknown(because)) => Err(because),
                        Err(stop) => return Err(stop),
                    };
                    given.values.insert(Arc::from(&*attribute.name), known);
                }
                ExpressionKind::AttributeSplat(inner) => match self.evaluate(inner) {
                    Ok(Value::Hash(hash)) => given.add(&hash),
                    Ok(other) => match plain_type(&other) {
                        // `eval_AttributesOperation` in `puppet/pops/evaluator/evaluator_impl.rb`.
                        Some(actual) => {
                            let message = format!("Expected value of type Hash, got {actual}");
                            return Err(Stop::failed(message));
                        }
                        None => {
                            given.may_be_more = Some(Arc::from("the attributes are not known"));
                        }
                    },
                    Err(Stop::Unknown(because)) => given.may_be_more = Some(because),
                    Err(stop) => return Err(stop),
                },
                _ => given.may_be_more = Some(Arc::from("the attributes are not known")),
            }
        }
        Ok(given)
    }

    /// Declares one resource.
    pub(super) fn declare(
        &mut self,
        type_name: &str,
        title: &Value,
        mut given: Given,
        is_virtual: bool,
    ) -> Evaluated<()> {
        let because: Arc<str> = Arc::from("the title of a resource is not known");
        if type_name == "class" {
            let mut names = Vec::new();
            class_names(title, &mut names).or_else(|stop| match stop {
                Stop::Unknown(because) => {
                    self.doubt_all(&because);
                    Ok(())
                }
                other => Err(other),
            })?;
            return names
                .into_iter()
                .try_for_each(|name| self.declare_class(&name, given.clone()));
        }
        let Value::String(title) = title else {
            if !is_plain_type(type_name) {
                self.doubt_all(&because);
            }
            return Ok(());
        };
        if title.is_empty() {
            return Err(Stop::failed(empty_title(0)));
        }
        let definition = if is_plain_type(type_name) {
            DefinitionSource::Ruby
        } else {
            self.definition(Defines::Type, type_name)
        };
        match definition {
            DefinitionSource::Ruby => self.declare_once(&reference(type_name, title)),
            DefinitionSource::Missing => Err(Stop::failed(format!(
                "Unknown resource type: '{type_name}'"
            ))),
            DefinitionSource::Unseen => {
                let because = format!("the type '{type_name}' is in no module here");
                self.doubt_all(&Arc::from(because));
                Ok(())
            }
            DefinitionSource::Here(source, module) => {
                self.declare_once(&reference(type_name, title))?;
                if let Some(because) = &self.catalog().may_be_overridden {
                    given.may_be_more.get_or_insert_with(|| because.clone());
                }
                let level = self.variables.level.of_declared();
                let instance = Instance {
                    source,
                    module,
                    name: Arc::from(type_name),
                    title: title.clone(),
                    given,
                    level,
                };
                if self.catalog().declared.len() > MAX_INSTANCES {
                    return Err(Stop::Lost(Arc::from("there are too many resources")));
                }
                let catalog = self.catalog();
                if is_virtual {
                    catalog.not_evaluated.push(instance);
                } else {
                    catalog.queue.push_back(instance);
                }
                Ok(())
            }
        }
    }

    /// `class { name: … }`
    fn declare_class(&mut self, name: &Arc<str>, given: Given) -> Evaluated<()> {
        match self.definition(Defines::Class, name) {
            DefinitionSource::Here(source, module) => {
                self.declare_parents(name, &source)?;
                self.declare_once(&reference("class", name))?;
                self.evaluate_class(name, (&source, &module), given)
            }
            DefinitionSource::Missing => Err(Stop::failed(format!(
                "Could not find declared class {name}"
            ))),
            DefinitionSource::Unseen | DefinitionSource::Ruby => {
                self.pass_class(name);
                Ok(())
            }
        }
    }

    /// Records a declaration; Puppet refuses a second one.
    fn declare_once(&mut self, reference: &str) -> Evaluated<()> {
        let here = self.here();
        let declared = &mut self.catalog().declared;
        if let Some(before) = declared.get(reference) {
            let at = before.as_ref();
            let at = at.map(|(file, line)| format!(" at (file: {file}, line: {line})"));
            return Err(Stop::failed(format!(
                "Duplicate declaration: {reference} is already declared{}; cannot redeclare",
                at.unwrap_or_default()
            )));
        }
        declared.insert(reference.to_owned(), Some(here));
        Ok(())
    }

    /// `create_resources(type, hash, defaults)`
    pub(super) fn create_resources(&mut self, arguments: &[Value]) -> Evaluated {
        let (Some(Value::String(written)), Some(Value::Hash(all))) =
            (arguments.first(), arguments.get(1))
        else {
            self.doubt_all(&Arc::from(
                "the resources of create_resources are not known",
            ));
            return Ok(resources());
        };
        let form = written.trim_start_matches('@');
        let is_virtual = form.len() < written.len();
        let type_name = without_colons(form).to_lowercase();
        let mut defaults = Given::default();
        match arguments.get(2) {
            Some(Value::Hash(given)) => defaults.add(given),
            None | Some(Value::Undef) => {}
            Some(_) => defaults.may_be_more = Some(Arc::from("the defaults are not known")),
        }
        for (title, attributes) in all.iter() {
            let mut given = Given::default();
            match attributes {
                Value::Hash(own) => given.add(own),
                Value::Opaque(_) => {
                    given.may_be_more = Some(Arc::from("the attributes are not known"));
                }
                // Ruby's `Hash#merge` in `puppet/parser/functions/create_resources.rb`.
                other => {
                    let class = match other {
                        Value::Undef | Value::Bool(_) => other.inspect(),
                        other => other.ruby_class().to_owned(),
                    };
                    let message = format!("no implicit conversion of {class} into Hash");
                    return Err(Stop::failed(message));
                }
            }
            given.fill(&defaults);
            let result = self.declare(&type_name, title, given, is_virtual);
            self.past_failure(result)?;
        }
        Ok(Value::Undef)
    }

    /// `Type { … }`, `Type[…] { … }` and `Type <| |> { … }`: their attributes are evaluated, and
    /// their effects are unknown.
    pub(super) fn other_resources(&mut self, node: &Expression) -> Evaluated {
        match &node.kind {
            ExpressionKind::ResourceDefaults(resource) => {
                self.attributes(&resource.parts)?;
                if !is_plain(&resource.type_name) {
                    self.override_all("defaults of resources are not evaluated");
                }
            }
            ExpressionKind::ResourceOverride(resource) => {
                self.attributes(&resource.parts)?;
                let because = "overrides of resources are not evaluated";
                let (is_plain, is_declared) = match &resource.type_name.kind {
                    ExpressionKind::Access(left, titles) => (
                        is_plain(left),
                        titles.iter().all(|title| self.is_declared(left, title)),
                    ),
                    _ => (false, false),
                };
                if !is_plain {
                    self.override_all(because);
                }
                if !is_declared {
                    self.may_fail(&Arc::from(because));
                }
            }
            ExpressionKind::Collect(pair, attributes) => {
                if !attributes.is_empty() {
                    self.attributes(attributes)?;
                }
                if !attributes.is_empty() && !is_plain(&pair[0]) {
                    self.override_all("overrides of collectors are not evaluated");
                }
                self.catalog().has_collectors |= !is_plain(&pair[0]);
            }
            _ => {}
        }
        Ok(resources())
    }

    /// Whether a resource was declared, by its literal type and title.
    fn is_declared(&mut self, type_name: &Expression, title: &Expression) -> bool {
        let written = type_name.literal().zip(title.literal());
        let written = written.map(|(name, title)| reference(&name.to_lowercase(), title));
        written.is_some_and(|written| self.catalog().declared.contains_key(&written))
    }

    /// Parameters of defined types may have other values than they are given: also of those that are
    /// declared already.
    fn override_all(&mut self, because: &str) {
        let because: Arc<str> = Arc::from(because);
        let catalog = self.catalog();
        for instance in catalog.queue.iter_mut().chain(&mut catalog.not_evaluated) {
            let given = &mut instance.given;
            given.may_be_more.get_or_insert_with(|| because.clone());
        }
        catalog.may_be_overridden.get_or_insert(because);
    }

    /// Evaluates the resources of defined types, also those that these declare
    /// (`Compiler#evaluate_generators`).
    pub(super) fn evaluate_generators(&mut self) -> Evaluated<()> {
        while let Some(instance) = self.catalog().queue.pop_front() {
            let result = self.evaluate_instance(instance);
            self.past_failure(result)?;
        }
        let not_evaluated = std::mem::take(&mut self.catalog().not_evaluated);
        if !not_evaluated.is_empty() && self.catalog().has_collectors {
            self.doubt_all(&Arc::from("collectors are not evaluated"));
        }
        // Puppet checks these too (`Parser::Resource#finish`).
        not_evaluated.into_iter().try_for_each(|instance| {
            let result = self.check_instance(instance);
            self.past_failure(result)
        })
    }
}

impl Given {
    fn add(&mut self, hash: &HashMap) {
        for (name, value) in hash.iter() {
            match (name.as_str(), value.opaque_reason()) {
                (None, _) => self.may_be_more = Some(Arc::from("the attributes are not known")),
                (Some(name), Some(because)) => {
                    self.values.insert(Arc::from(name), Err(Arc::from(because)));
                }
                (Some(name), None) => {
                    self.values.insert(Arc::from(name), Ok(value.clone()));
                }
            }
        }
    }

    /// Adds what defaults give besides.
    fn fill(&mut self, defaults: &Given) {
        for (name, known) in &defaults.values {
            let own = self.values.entry(Arc::clone(name));
            own.or_insert_with(|| known.clone());
        }
        if self.may_be_more.is_none() {
            self.may_be_more.clone_from(&defaults.may_be_more);
        }
    }
}

/// Whether an expression names a type whose resources contain no classes.
fn is_plain(type_name: &Expression) -> bool {
    let name = type_name.literal().map(str::to_lowercase);
    name.is_some_and(|name| is_plain_type(&name))
}

/// The error for the title at an index that Puppet refuses (`eval_ResourceExpression`).
fn refused_title((index, title): (usize, &Value)) -> Option<Stop> {
    let actual = match title {
        Value::Undef => {
            return Some(Stop::failed(format!(
                "Missing title at index {index}. The title expression resulted in an undef title"
            )));
        }
        Value::String(text) => return text.is_empty().then(|| Stop::failed(empty_title(index))),
        Value::Int(_) | Value::BigInt(_) => "Integer",
        Value::Float(_) => "Float",
        Value::Bool(_) => "Boolean",
        Value::Hash(_) | Value::Sensitive(_) => {
            return Some(Stop::unknown("the title of a resource is no text"));
        }
        _ => return None,
    };
    Some(Stop::failed(format!(
        "Illegal title type at index {index}. Expected String, got {actual}"
    )))
}

fn empty_title(index: usize) -> String {
    format!("Empty string title at {index}. Title strings must have a length greater than zero.")
}

/// The elements of nested lists.
fn flattened(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements.iter().flat_map(flattened).collect(),
        other => vec![other.clone()],
    }
}

/// The type of a value without parts; `None` for others.
fn plain_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Undef => Some("Undef"),
        Value::Bool(_) => Some("Boolean"),
        Value::Int(_) | Value::BigInt(_) => Some("Integer"),
        Value::Float(_) => Some("Float"),
        Value::String(_) => Some("String"),
        _ => None,
    }
}
