//! Calls of Puppet's functions, of functions in the Puppet language, of types, and of lambdas
//! (`pops/evaluator/closure.rb`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::builtin;
use super::context::Memory;
use super::evaluator::{Evaluator, body, is_type};
use super::host::{Callee, Host};
use super::perhaps::Perhaps;
use super::resources::is_plain_type;
use super::source::CodeFile;
use super::stop::{Evaluated, Stop};
use super::variables::opaque;
use crate::datatype;
use crate::scope::Scope;
use crate::syntax::puppet::{Call, Expression, ExpressionKind, Lambda, Parameter, without_colons};
use crate::value::Value;

/// The result of a function.
#[derive(Debug)]
pub struct Called {
    /// Its value, or why there is none.
    pub value: Evaluated,
    /// Paths of the variables that were read: `facts.os.family`.
    pub variables: BTreeSet<Arc<str>>,
    /// Its cache and its explanations.
    pub memory: Memory,
}

/// Calls a function in the Puppet language, which a text defines, with a top scope.
#[must_use]
pub fn call_function(
    host: &dyn Host,
    scope: &Scope,
    (source, name): (&Arc<CodeFile>, &str),
    arguments: Vec<Value>,
    memory: Memory,
) -> Called {
    let mut evaluator = Evaluator::new(host, scope, source.clone());
    evaluator.memory = memory;
    evaluator.is_for_data = true;
    evaluator.variables.enter();
    let value = evaluator.in_puppet(source, name, arguments);
    // It was not run to its end, and may have cached more.
    if let Err(stop) = &value
        && *stop != Stop::NotFound
    {
        evaluator.memory.forget(&stop.because());
    }
    Called {
        value,
        variables: evaluator.variables.reads(),
        memory: evaluator.memory,
    }
}

impl Evaluator<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Evaluated {
        let lambda = lambda_of(call);
        if is_type(&call.function) {
            let target = self.written_type(&call.function)?;
            let arguments = self.unfolded(&call.arguments)?;
            return self.new_value(&target, &arguments, lambda);
        }
        let Some(name) = call.function.literal() else {
            return Err(Stop::unknown("the call is not evaluated"));
        };
        match name {
            // Their arguments are not evaluated.
            "defined" => return self.defined(&call.arguments),
            "assert_type" => return self.assert_type(&call.arguments, lambda),
            _ => {}
        }
        let arguments = if self.compiles() && builtin::declares(name) {
            self.line = self.source.line(call.function.own.start);
            match self.unfolded(&call.arguments) {
                Err(Stop::Unknown(because)) => return Ok(self.doubted(&because)),
                other => other?,
            }
        } else {
            self.arguments(name, &call.arguments)?
        };
        self.call_by_name(name, arguments, lambda)
    }

    pub(super) fn method(&mut self, call: &Call) -> Evaluated {
        let ExpressionKind::NamedAccess(access) = &call.function.kind else {
            return Err(Stop::unknown("the call is not evaluated"));
        };
        let mut all = self.unfolded(std::slice::from_ref(&access.left))?;
        all.extend(self.unfolded(&call.arguments)?);
        self.call_by_name(&access.name, all, lambda_of(call))
    }

    /// The arguments of a call. Functions that only declare or log accept unknown ones.
    fn arguments(&mut self, name: &str, nodes: &[Expression]) -> Evaluated<Vec<Value>> {
        match self.unfolded(nodes) {
            // It leaves the enclosing body with an unknown value.
            Err(Stop::Unknown(because)) if matches!(name, "return" | "next" | "fail") => {
                Err(Stop::Lost(because))
            }
            Err(Stop::Unknown(_)) if builtin::is_statement(name) => Ok(Vec::new()),
            Err(Stop::Unknown(because)) => {
                // The function may set variables of its caller.
                if !builtin::is_known(name) && !matches!(self.callee(name), Callee::Puppet(_)) {
                    self.may_set(name);
                }
                Err(Stop::Unknown(because))
            }
            other => other,
        }
    }

    pub(super) fn call_by_name(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
        lambda: Option<&Lambda>,
    ) -> Evaluated {
        self.step()?;
        let name = without_colons(name);
        if let Some(result) = self.of_context(name, &arguments, lambda) {
            return result;
        }
        if self.compiles()
            && let Some(result) = self.declaring(name, &arguments)
        {
            return result;
        }
        self.variables.assigned.may_have_classes |= builtin::declares(name);
        // Puppet's own functions cannot be redefined; those of the standard library can.
        if builtin::is_of_puppet(name) {
            return builtin::call(self, name, arguments, lambda);
        }
        match self.callee(name) {
            Callee::Puppet(source) => {
                if lambda.is_some() {
                    return Err(Stop::unknown(format!(
                        "the function '{name}' takes a block and is not evaluated"
                    )));
                }
                let hidden = self.variables.enter();
                let result = self.in_puppet(&source, name, arguments);
                self.variables.leave(hidden);
                result
            }
            // It is defined nowhere, and so it sets no variable.
            Callee::Lacking if builtin::is_of_library(name) => Err(Stop::unknown(format!(
                "the standard library here has no function '{name}'"
            ))),
            Callee::Library | Callee::Lacking | Callee::Missing if builtin::is_known(name) => {
                builtin::call(self, name, arguments, lambda)
            }
            Callee::Library | Callee::Ruby | Callee::Lacking | Callee::Missing => {
                self.may_set(name);
                Err(Stop::unknown(format!(
                    "the function '{name}' is not evaluated"
                )))
            }
        }
    }

    /// The result of a call with unknown arguments that may declare anything.
    fn doubted(&mut self, because: &Arc<str>) -> Value {
        self.doubt_all(because);
        opaque(because)
    }

    /// The result of a function that declares classes or resources; `None` for others.
    fn declaring(&mut self, name: &str, arguments: &[Value]) -> Option<Evaluated> {
        let type_name = || arguments.first().and_then(Value::as_str);
        Some(match name {
            "include" | "contain" | "require" => match self.include(arguments) {
                Err(Stop::Unknown(because)) => Ok(self.doubted(&because)),
                other => other,
            },
            "hiera_include" => match builtin::list_of_classes(self, arguments) {
                Ok(list) => return self.declaring("include", &[list]),
                Err(Stop::Unknown(because)) => Ok(self.doubted(&because)),
                other => other,
            },
            "create_resources" => self.create_resources(arguments),
            "ensure_resource" | "ensure_resources" => {
                if !type_name().is_some_and(is_plain_type) {
                    self.doubt_all(&Arc::from(format!(
                        "the function '{name}' is not evaluated"
                    )));
                }
                Ok(opaque("references of resources are not evaluated"))
            }
            "realize" => {
                self.catalog().has_collectors = true;
                Ok(Value::Undef)
            }
            _ => return None,
        })
    }

    /// The function of that name; a site manifest's definition wins over all others.
    pub(super) fn callee(&self, name: &str) -> Callee {
        let own = self.site.iter().find(|it| it.function(name).is_some());
        match own {
            Some(source) => Callee::Puppet(source.clone()),
            None => self.host.function(name),
        }
    }

    /// Records that a function may set variables: functions in Ruby can.
    fn may_set(&mut self, name: &str) {
        if builtin::may_declare_classes(name) {
            self.variables.assigned.may_have_classes = true;
            if self.compiles() {
                self.catalog().perhaps = Perhaps::All;
            }
        }
        let set = &mut self.variables.assigned.may_be_more;
        set.get_or_insert_with(|| {
            Arc::from(format!(
                "the function '{name}' is not evaluated, and may set variables"
            ))
        });
    }

    /// Calls a function that a text defines, in a scope opened for it.
    fn in_puppet(
        &mut self,
        source: &Arc<CodeFile>,
        name: &str,
        arguments: Vec<Value>,
    ) -> Evaluated {
        let not_read = || Stop::unknown(format!("the function '{name}' cannot be read"));
        if source.problem.is_some() {
            return Err(not_read());
        }
        let function = source.function(name).ok_or_else(not_read)?;
        let caller = std::mem::replace(&mut self.source, source.clone());
        let result = self.parameters(&function.parameters, arguments, name);
        let result = result.and_then(|()| self.block(body(function.body.as_ref())));
        let result = match result {
            Err(Stop::Return(value)) => Ok(value),
            Err(Stop::Next(value)) => Ok(value),
            // Its control flow is unknown, and so is its value; its caller continues.
            Err(Stop::Lost(because)) => Err(Stop::Unknown(because)),
            other => other,
        };
        let result = result.and_then(|value| match &function.returns {
            None => Ok(value),
            Some(expected) => match self.written_type(expected) {
                Ok(expected) if datatype::check(&expected, &value).is_err() => Err(Stop::failed(
                    format!("value returned from function '{name}' has wrong type"),
                )),
                _ => Ok(value),
            },
        });
        self.source = caller;
        result
    }

    /// Binds the parameters of a function or a lambda in the innermost scope.
    fn parameters(
        &mut self,
        parameters: &[Expression],
        arguments: Vec<Value>,
        name: &str,
    ) -> Evaluated<()> {
        let mut given = arguments.into_iter();
        for node in parameters {
            let ExpressionKind::Parameter(parameter) = &node.kind else {
                continue;
            };
            let value = match (given.next(), parameter.captures_rest, &parameter.value) {
                (first, true, default) => match (first, default) {
                    (None, Some(default)) => match self.evaluate(default)? {
                        list @ Value::Array(_) => list,
                        one => Value::array([one]),
                    },
                    (first, _) => Value::array(first.into_iter().chain(given.by_ref())),
                },
                (Some(value), false, _) => value,
                (None, false, Some(default)) => self.evaluate(default)?,
                (None, false, None) => {
                    return Err(Stop::failed(format!(
                        "'{name}' is called with too few arguments"
                    )));
                }
            };
            self.check(parameter, &value, name)?;
            self.variables.bind(&parameter.name, value);
        }
        match given.next() {
            Some(_) => Err(Stop::failed(format!(
                "'{name}' is called with too many arguments"
            ))),
            None => Ok(()),
        }
    }

    fn check(&mut self, parameter: &Parameter, value: &Value, name: &str) -> Evaluated<()> {
        let Some(expected) = &parameter.expected else {
            return Ok(());
        };
        // An unavailable type is assumed to match.
        let Ok(expected) = self.written_type(expected) else {
            return Ok(());
        };
        let values = match (parameter.captures_rest, value) {
            (true, Value::Array(values)) => &values[..],
            _ => std::slice::from_ref(value),
        };
        let mut values = values.iter();
        if values.all(|value| datatype::check(&expected, value).is_ok()) {
            Ok(())
        } else {
            Err(Stop::failed(format!(
                "parameter '{}' of '{name}' has wrong type",
                parameter.name
            )))
        }
    }

    pub(super) fn yield_to(&mut self, lambda: &Lambda, arguments: Vec<Value>) -> Evaluated {
        self.step()?;
        self.variables.open();
        let guard = self.variables.guard();
        let result = self.parameters(&lambda.parameters, arguments, "the block");
        let result = result.and_then(|()| self.block(body(lambda.body.as_ref())));
        self.variables.release(guard);
        self.variables.close();
        match result {
            Err(Stop::Next(value)) => Ok(value),
            other => other,
        }
    }

    /// `Type(…)` and `new`.
    pub(super) fn new_value(
        &mut self,
        target: &datatype::Type,
        arguments: &[Value],
        lambda: Option<&Lambda>,
    ) -> Evaluated {
        let Some((value, rest)) = arguments.split_first() else {
            return Err(Stop::unknown("the call of a type is not evaluated"));
        };
        let made = datatype::convert(target, value, rest, self.host.aliases());
        let made = made.map_err(Stop::failed)?;
        if made.has_opaque() {
            return Err(Stop::unknown("the conversion is not evaluated"));
        }
        let made = self.sized(made)?;
        match lambda {
            Some(lambda) => self.yield_to(lambda, vec![made]),
            None => Ok(made),
        }
    }

    /// `defined('$x')`; whether classes and resources are defined is unknown here.
    fn defined(&mut self, arguments: &[Expression]) -> Evaluated {
        let mut unknown = None;
        for argument in arguments {
            let known = if is_type(argument) {
                None
            } else {
                match self.evaluate(argument)? {
                    Value::String(text) => match text.strip_prefix('$') {
                        Some(name) => self.variables.exists(name),
                        None => None,
                    },
                    _ => None,
                }
            };
            match known {
                Some(true) => return Ok(Value::Bool(true)),
                Some(false) => {}
                None => unknown = Some(Stop::unknown("what is defined is not known here")),
            }
        }
        unknown.map_or(Ok(Value::Bool(false)), Err)
    }

    /// `assert_type(Type, value)`
    fn assert_type(&mut self, arguments: &[Expression], lambda: Option<&Lambda>) -> Evaluated {
        let [expected, value] = arguments else {
            return Err(Stop::unknown("the assertion is not evaluated"));
        };
        let value = self.evaluate(value)?;
        let expected = if is_type(expected) {
            self.written_type(expected)?
        } else {
            match self.evaluate(expected)? {
                Value::String(text) => datatype::parse(&text, self.host.aliases())
                    .ok()
                    .filter(|read| !read.has_reference())
                    .ok_or_else(|| Stop::unknown("the type is not known"))?,
                _ => return Err(Stop::unknown("the type is not known")),
            }
        };
        match (datatype::check(&expected, &value), lambda) {
            (Ok(()), _) => Ok(value),
            (Err(mismatches), None) => Err(Stop::failed(mismatches.describe("assert_type(): "))),
            (Err(_), Some(_)) => Err(Stop::unknown("the assertion is not evaluated")),
        }
    }
}

fn lambda_of(call: &Call) -> Option<&Lambda> {
    match &call.lambda.as_ref()?.kind {
        ExpressionKind::Lambda(lambda) => Some(lambda),
        _ => None,
    }
}
