//! The parameters of classes and of resources of defined types: their values and their types
//! (`Type#set_resource_parameters` in `puppet/resource/type.rb`).

use std::sync::Arc;

use indexmap::IndexMap;

use super::catalog::reference;
use super::evaluator::Evaluator;
use super::host::{Defines, LookupCall};
use super::resources::Instance;
use super::stop::{Evaluated, Stop};
use super::variables::Known;
use crate::datatype::{self, MismatchKind};
use crate::syntax::puppet::{Definition, ExpressionKind, Parameter};
use crate::value::Value;

/// Parameters that every resource has (`Puppet::Type.eachmetaparam`), and the name.
pub const METAPARAMETERS: [&str; 14] = [
    "alias",
    "audit",
    "before",
    "consume",
    "export",
    "loglevel",
    "name",
    "noop",
    "notify",
    "require",
    "schedule",
    "stage",
    "subscribe",
    "tag",
];

/// The parameters that a declaration gives.
#[derive(Clone, Default)]
pub(super) struct Given {
    pub(super) values: IndexMap<Arc<str>, Known>,
    /// Why it may give others too.
    pub(super) may_be_more: Option<Arc<str>>,
}

/// A definition to be evaluated.
pub(super) struct DefinitionBody<'d> {
    pub(super) definition: &'d Definition,
    pub(super) kind: Defines,
    pub(super) title: &'d str,
    pub(super) module: &'d Arc<str>,
}

impl Evaluator<'_> {
    /// Adds the values of a class's parameters that data has (`inject_external_parameters`).
    pub(super) fn looked_up(
        &mut self,
        of: &DefinitionBody<'_>,
        given: &mut Given,
    ) -> Evaluated<()> {
        if of.kind != Defines::Class {
            return Ok(());
        }
        for parameter in parameters(of.definition) {
            let name: Arc<str> = Arc::from(&*parameter.name);
            let is_given = given
                .values
                .get(&name)
                .is_some_and(|known| known.as_ref().is_ok_and(|value| !value.is_undef()));
            let may_be_given = given.values.get(&name).is_some_and(Result::is_err)
                || (given.may_be_more.is_some() && !is_given);
            if is_given || may_be_given {
                continue;
            }
            let call = LookupCall {
                names: vec![Arc::from(format!("{}::{name}", of.title))],
                default_value: Some(Value::Default),
                is_parameter: true,
                ..LookupCall::default()
            };
            let scope = self.variables.scope();
            let known = match self.host.lookup(&call, &scope) {
                Ok(Value::Default) => continue,
                Ok(Value::Undef) if parameter.value.is_some() => continue,
                Ok(value) if value.has_opaque() => {
                    Err(Arc::from(value.opaque_reason().unwrap_or_default()))
                }
                Ok(value) => Ok(value),
                Err(Stop::Failed(message)) => return Err(Stop::Failed(message)),
                Err(stop) => Err(stop.because()),
            };
            given.values.insert(name, known);
        }
        Ok(())
    }

    /// Sets the parameters in the innermost scope, and checks them (`set_resource_parameters`).
    pub(super) fn bind_parameters(
        &mut self,
        of: &DefinitionBody<'_>,
        given: Given,
    ) -> Evaluated<()> {
        let mut values: IndexMap<&str, Known> = IndexMap::new();
        let unknown = |because: &Arc<str>| Err(because.clone());
        for (name, known) in &given.values {
            if !matches!(&**name, "name" | "title") {
                values.insert(name, known.clone());
            }
        }
        if let Some(because) = &given.may_be_more {
            self.may_fail(because);
        }
        let mut not_yet: Vec<(&str, Arc<str>)> = Vec::new();
        for parameter in parameters(of.definition) {
            let name = &*parameter.name;
            let known = match values.get(name) {
                Some(known) => known.clone(),
                None => {
                    let because = Arc::from(format!("parameter '{name}' is not evaluated yet"));
                    not_yet.push((name, Arc::clone(&because)));
                    Err(because)
                }
            };
            self.variables.bind_known(name, known);
        }
        for parameter in parameters(of.definition) {
            let name = &*parameter.name;
            let is_set = |known: &Known| known.as_ref().map_or(true, |value| !value.is_undef());
            if values.get(name).is_some_and(is_set) {
                continue;
            }
            let known = match (&given.may_be_more, &parameter.value) {
                (Some(because), _) => unknown(because),
                (None, None) => continue,
                (None, Some(default)) => match self.evaluate(default) {
                    Ok(value) => Ok(value),
                    Err(Stop::Failed(message)) => return Err(Stop::Failed(message)),
                    Err(stop) => {
                        let because = stop.because();
                        let is_read = |(_, known): &&(&str, Arc<str>)| Arc::ptr_eq(known, &because);
                        if let Some((read, _)) = not_yet.iter().find(is_read) {
                            return Err(self.not_yet_evaluated(of, name, read));
                        }
                        Err(because)
                    }
                },
            };
            self.variables.bind_known(name, known.clone());
            values.insert(name, known);
        }
        self.check_parameters(of, &values)?;
        for (name, known) in values {
            self.variables.bind_known(name, known);
        }
        Ok(())
    }

    /// Checks the parameters of a resource of a defined type that is not evaluated.
    pub(super) fn check_instance(&mut self, instance: Instance) -> Evaluated<()> {
        let source = instance.source;
        self.readable(&source)?;
        let Some(definition) = source.definition(Defines::Type, &instance.name) else {
            return Ok(());
        };
        let unknown = instance.given.may_be_more;
        let mut values: IndexMap<&str, Known> = IndexMap::new();
        for (name, known) in &instance.given.values {
            values.insert(name, known.clone());
        }
        for parameter in parameters(definition).filter(|_| unknown.is_some()) {
            let because = unknown.clone().unwrap_or_default();
            values.entry(&parameter.name).or_insert(Err(because));
        }
        let caller = std::mem::replace(&mut self.source, source.clone());
        let result = self.check_parameters(
            &DefinitionBody {
                definition,
                kind: Defines::Type,
                title: &instance.title,
                module: &instance.module,
            },
            &values,
        );
        self.source = caller;
        result
    }

    /// Puppet's error for the default of a parameter that reads another one without a value
    /// (`ParameterScope#parameter_reference_failure`).
    fn not_yet_evaluated(&self, of: &DefinitionBody<'_>, from: &str, to: &str) -> Stop {
        let subject = subject(of);
        let mut names = parameters(of.definition).map(|it| &*it.name);
        let is_before = names.find(|name| [from, to].contains(name)) == Some(to);
        Stop::failed(if is_before {
            format!("{subject}: expects a value for parameter ${to}")
        } else {
            format!(
                "{subject}: default expression for ${from} tries to illegally access not yet evaluated ${to}"
            )
        })
    }

    fn check_parameters(
        &mut self,
        of: &DefinitionBody<'_>,
        values: &IndexMap<&str, Known>,
    ) -> Evaluated<()> {
        let wrong = self.wrong_parameters(of, values);
        if wrong.is_empty() {
            return Ok(());
        }
        let kind = subject(of);
        let separator = if wrong.len() == 1 { " " } else { "\n  " };
        let wrong = wrong.join("\n  ");
        Err(Stop::failed(format!("{kind}:{separator}{wrong}")))
    }

    /// What Puppet says about the parameters of a declaration (`describe_struct_signature`).
    fn wrong_parameters(
        &mut self,
        of: &DefinitionBody<'_>,
        values: &IndexMap<&str, Known>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let is_known = |name: &str| {
            METAPARAMETERS.contains(&name)
                || parameters(of.definition).any(|parameter| *parameter.name == *name)
        };
        for name in values.keys().filter(|name| !is_known(name)) {
            wrong.push(format!("has no parameter named '{name}'"));
        }
        for parameter in parameters(of.definition) {
            let name = &*parameter.name;
            match values.get(name) {
                None if parameter.value.is_none() => {
                    wrong.push(format!("expects a value for parameter '{name}'"));
                }
                None => {}
                Some(known) => wrong.extend(self.wrong_value(parameter, known)),
            }
        }
        wrong
    }

    fn wrong_value(&mut self, parameter: &Parameter, known: &Known) -> Vec<String> {
        let name = &*parameter.name;
        let Some(written) = &parameter.expected else {
            return Vec::new();
        };
        let (expected, value) = match (self.written_type(written), known) {
            (Ok(expected), Ok(value)) => (expected, value),
            (Err(stop), _) => {
                self.may_fail(&stop.because());
                return Vec::new();
            }
            (Ok(_), Err(because)) => {
                let because = format!("the value of parameter '{name}' is not known: {because}");
                self.may_fail(&Arc::from(because));
                return Vec::new();
            }
        };
        let Err(mismatches) = datatype::check(&expected, value) else {
            return Vec::new();
        };
        let is_sure = |kind: &MismatchKind| !matches!(kind, MismatchKind::Unresolved(_));
        let sure = (&mismatches).into_iter().filter(|it| is_sure(&it.kind));
        let sure: Vec<String> = sure.map(|it| format!("parameter '{name}' {it}")).collect();
        if sure.is_empty() {
            let because = format!("the type of parameter '{name}' is not known");
            self.may_fail(&Arc::from(because));
        }
        sure
    }
}

/// The class or resource, for messages.
fn subject(of: &DefinitionBody<'_>) -> String {
    match of.kind {
        Defines::Class => reference("class", of.title),
        Defines::Type => reference(&of.definition.name, of.title),
    }
}

fn parameters(definition: &Definition) -> impl Iterator<Item = &Parameter> {
    let nodes = definition.parameters.iter();
    nodes.filter_map(|node| match &node.kind {
        ExpressionKind::Parameter(parameter) => Some(&**parameter),
        _ => None,
    })
}
