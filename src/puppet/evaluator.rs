//! Evaluates statements and expressions (`pops/evaluator/evaluator_impl.rb`).

use std::sync::Arc;

use super::catalog::Catalog;
use super::context::Memory;
use super::host::Host;
use super::source::{CodeFile, statements};
use super::stop::{Evaluated, Stop};
use super::uses::{self, Effects};
use super::variables::{Known, Variables, opaque};
use crate::datatype::{self, Type};
use crate::scope::Scope;
use crate::syntax::puppet::{Expression, ExpressionKind, Prefix, integer};
use crate::value::{HashMap, Value};

/// Maximum number of steps of one evaluation; a site manifest takes some hundred.
const MAX_STEPS: usize = 200_000;

/// Maximum nesting of expressions and calls.
const MAX_DEPTH: usize = 100;

/// Maximum number of values inside of a new value.
const MAX_VALUES: usize = 20_000;

/// Maximum length of a new text, in bytes.
const MAX_TEXT: usize = 64 * 1024;

pub(super) struct Evaluator<'h> {
    pub(super) host: &'h dyn Host,
    pub(super) variables: Variables<'h>,
    pub(super) source: Arc<CodeFile>,
    /// Site manifests, whose functions win over those of modules.
    pub(super) site: &'h [Arc<CodeFile>],
    /// The cache and explanations of the lookup's context.
    pub(super) memory: Memory,
    /// Whether it runs a data function: if that fails, so does a lookup, but not the catalog.
    pub(super) is_for_data: bool,
    /// The classes and resources, if they are evaluated.
    pub(super) catalog: Option<Catalog>,
    /// The module of the code that is evaluated; empty for site manifests.
    pub(super) module: Arc<str>,
    /// The line of the last call or resource.
    pub(super) line: u32,
    /// Whether a text was met that Puppet refuses.
    pub(super) met_refused: bool,
    /// The last failure: its message, and the file and line of the code that raised it.
    pub(super) failed: Option<(Arc<str>, Arc<str>, u32)>,
    steps: usize,
    depth: usize,
}

impl<'h> Evaluator<'h> {
    pub(super) fn new(host: &'h dyn Host, scope: &'h Scope, source: Arc<CodeFile>) -> Self {
        Evaluator {
            host,
            variables: Variables::new(scope, host.has_legacy_facts()),
            source,
            site: &[],
            memory: Memory::default(),
            is_for_data: false,
            catalog: None,
            module: Arc::from(""),
            line: 0,
            met_refused: false,
            failed: None,
            steps: 0,
            depth: 0,
        }
    }

    pub(super) fn step(&mut self) -> Evaluated<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            Err(Stop::Lost(Arc::from("it takes too many steps")))
        } else {
            Ok(())
        }
    }

    pub(super) fn evaluate(&mut self, node: &Expression) -> Evaluated {
        self.step()?;
        if self.depth >= MAX_DEPTH {
            return Err(Stop::Lost(Arc::from("it nests too deeply")));
        }
        self.depth += 1;
        let result = self.kind(node);
        self.depth -= 1;
        if let Err(Stop::Failed(message)) = &result {
            let known = self.failed.as_ref();
            // The innermost code has raised it.
            if known.is_none_or(|(known, ..)| !Arc::ptr_eq(known, message)) {
                let line = self.source.line(node.range.start);
                self.failed = Some((message.clone(), self.source.path.clone(), line));
            }
        }
        match result {
            // Code in it that was not reached may have effects.
            Err(Stop::Unknown(because)) if !uses::holds_statements(&node.kind) => {
                Err(self.passed_over([node], because))
            }
            other => other,
        }
    }

    /// What follows code that may or may not have been run: what it may set is unknown, and so is
    /// the control flow if it may leave the enclosing body.
    pub(super) fn passed_over<'n>(
        &mut self,
        nodes: impl IntoIterator<Item = &'n Expression>,
        because: Arc<str>,
    ) -> Stop {
        let mut may_leave = false;
        for node in nodes {
            let effects = self.forget(node, &because);
            if effects.declares {
                self.doubt(node, &because);
            }
            may_leave |= effects.leaves;
            if effects.fails {
                may_leave |= self.is_for_data;
                let may_fail = &mut self.variables.assigned.may_fail;
                may_fail.get_or_insert_with(|| because.clone());
            }
            may_leave |= self.may_use_context(node, &because);
        }
        if may_leave {
            Stop::Lost(because)
        } else {
            Stop::Unknown(because)
        }
    }

    /// Statements in sequence: returns the value of the last one. The values of the others may be
    /// unknown.
    pub(super) fn block(&mut self, nodes: &[Expression]) -> Evaluated {
        let mut value = Ok(Value::Undef);
        for node in nodes {
            value = match self.evaluate(node) {
                known @ (Ok(_) | Err(Stop::Unknown(_))) => known,
                Err(stop) => return Err(stop),
            };
        }
        value
    }

    /// Makes the variables unknown that a node may set, if it is unknown whether it does. Returns what else it may do.
    pub(super) fn forget(&mut self, node: &Expression, because: &Arc<str>) -> Effects {
        let Some(passed) = self.source.passed_over(node) else {
            return Effects::default();
        };
        let source = self.source.clone();
        for (name, place) in &passed.assigned {
            self.variables.forget(name, because, &source, *place);
        }
        passed.effects
    }

    fn kind(&mut self, node: &Expression) -> Evaluated {
        match &node.kind {
            ExpressionKind::Undef | ExpressionKind::Nothing => Ok(Value::Undef),
            ExpressionKind::Default => Ok(Value::Default),
            ExpressionKind::Boolean(truth) => Ok(Value::Bool(*truth)),
            ExpressionKind::Integer(written) => whole_number(written),
            ExpressionKind::Float(number) => Ok(Value::Float(*number)),
            ExpressionKind::Text(text) | ExpressionKind::Name(text) => Ok(Value::string(text)),
            ExpressionKind::Regexp(source) => Ok(datatype::regexp_value(source)),
            ExpressionKind::Variable(name) => self.variable(name),
            ExpressionKind::List(nodes) => {
                let elements = self.unfolded(nodes)?;
                self.sized(Value::from(elements))
            }
            ExpressionKind::Hash(entries) => self.hash(entries),
            ExpressionKind::Concatenated(parts) => self.text(parts),
            ExpressionKind::Interpolation(inner) => match &inner.kind {
                ExpressionKind::Name(name) => self.variable(name),
                _ => self.evaluate(inner),
            },
            ExpressionKind::Heredoc(heredoc) => self.evaluate(&heredoc.text),
            ExpressionKind::Unary(prefix, inner) => self.unary(*prefix, inner),
            ExpressionKind::Binary(sign, pair) => self.binary(sign, &pair[0], &pair[1]),
            ExpressionKind::Reference(_) => self.type_value(node),
            ExpressionKind::Access(left, keys) => self.access(node, left, keys),
            ExpressionKind::Call(call) => self.call(call),
            ExpressionKind::MethodCall(call) => self.method(call),
            ExpressionKind::NamedAccess(access) => {
                let receiver = self.evaluate(&access.left)?;
                self.call_by_name(&access.name, vec![receiver], None)
            }
            ExpressionKind::If(condition) => self.condition(condition, true),
            ExpressionKind::Unless(condition) => self.condition(condition, false),
            ExpressionKind::Case(test, options) => self.case(test, options),
            ExpressionKind::Selector(test, entries) => self.selector(test, entries),
            ExpressionKind::Block(nodes) => self.block(nodes),
            // Definitions do nothing when evaluated.
            definition if definition.is_definition() => Ok(Value::Undef),
            ExpressionKind::Resource(resource) if self.compiles() => self.resource(node, resource),
            ExpressionKind::ResourceDefaults(_)
            | ExpressionKind::ResourceOverride(_)
            | ExpressionKind::Collect(..)
                if self.compiles() =>
            {
                self.other_resources(node)
            }
            ExpressionKind::Resource(_) => {
                self.variables.assigned.may_have_classes |= uses::declares(node);
                Err(Stop::unknown("resources are not evaluated"))
            }
            ExpressionKind::ResourceDefaults(_)
            | ExpressionKind::ResourceOverride(_)
            | ExpressionKind::Collect(..) => Err(Stop::unknown("resources are not evaluated")),
            _ => Err(Stop::unknown("this part of the language is not evaluated")),
        }
    }

    /// The values of nodes, with splats expanded.
    pub(super) fn unfolded(&mut self, nodes: &[Expression]) -> Evaluated<Vec<Value>> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            match &without_parentheses(node).kind {
                ExpressionKind::Unary(Prefix::Splat, inner) => {
                    let inner = self.evaluate(inner)?;
                    values.extend(elements_of(&inner));
                }
                _ => values.push(self.evaluate(node)?),
            }
        }
        Ok(values)
    }

    fn hash(&mut self, entries: &[Expression]) -> Evaluated {
        let mut hash = HashMap::default();
        for entry in entries {
            if let ExpressionKind::Entry(pair) = &entry.kind {
                let key = self.evaluate(&pair[0])?;
                let value = self.evaluate(&pair[1])?;
                hash.insert(key, value);
            }
        }
        self.sized(Value::from(hash))
    }

    fn text(&mut self, parts: &[Expression]) -> Evaluated {
        let mut text = String::new();
        for part in parts {
            let value = self.evaluate(part)?;
            self.write(&value, &mut text)?;
        }
        Ok(Value::from(text))
    }

    /// Writes a value as interpolation does (`string` of the evaluator).
    pub(super) fn write(&mut self, value: &Value, out: &mut String) -> Evaluated<()> {
        self.step()?;
        match value {
            Value::Undef => {}
            Value::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    self.write(element, out)?;
                }
                out.push(']');
            }
            Value::Hash(hash) => {
                out.push('{');
                for (at, (key, element)) in hash.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    self.write(key, out)?;
                    out.push_str(" => ");
                    self.write(element, out)?;
                }
                out.push('}');
            }
            Value::Rich(rich) => out.push_str(&rich.shown()),
            Value::Opaque(_) => return Err(not_known(value)),
            other => out.push_str(&other.to_s()),
        }
        if out.len() > MAX_TEXT {
            Err(Stop::unknown("the text is too long"))
        } else {
            Ok(())
        }
    }

    /// A value as interpolation writes it.
    pub(super) fn text_of(&mut self, value: &Value) -> Evaluated<String> {
        let mut text = String::new();
        self.write(value, &mut text)?;
        Ok(text)
    }

    /// A new value, unless it is too large.
    pub(super) fn sized(&mut self, value: Value) -> Evaluated {
        fn count(value: &Value, left: &mut usize) {
            if *left == 0 {
                return;
            }
            *left -= 1;
            match value {
                Value::Array(elements) => elements.iter().for_each(|each| count(each, left)),
                Value::Hash(hash) => hash.iter().for_each(|(key, value)| {
                    count(key, left);
                    count(value, left);
                }),
                Value::Sensitive(inner) => count(inner, left),
                _ => {}
            }
        }
        if let Value::String(text) = &value
            && text.len() > MAX_TEXT
        {
            return Err(Stop::unknown("the text is too long"));
        }
        let mut left = MAX_VALUES;
        count(&value, &mut left);
        self.steps += MAX_VALUES - left;
        match left {
            0 => Err(Stop::unknown("the value is too large")),
            _ => Ok(value),
        }
    }

    fn unary(&mut self, prefix: Prefix, inner: &Expression) -> Evaluated {
        match prefix {
            Prefix::Parentheses => self.evaluate(inner),
            Prefix::Not => Ok(Value::Bool(self.evaluate(inner)?.is_falsey())),
            Prefix::Minus => {
                let value = self.evaluate(inner)?;
                self.negated(&value)
            }
            Prefix::Splat => {
                let value = self.evaluate(inner)?;
                Ok(Value::from(elements_of(&value)))
            }
        }
    }

    fn binary(&mut self, sign: &str, left: &Expression, right: &Expression) -> Evaluated {
        match sign {
            "=" => self.assign(left, right),
            "and" | "or" => {
                let is_true = !self.evaluate(left)?.is_falsey();
                let is_decided = is_true == (sign == "or");
                let is_true = if is_decided {
                    is_true
                } else {
                    !self.evaluate(right)?.is_falsey()
                };
                Ok(Value::Bool(is_true))
            }
            "=~" | "!~" => {
                let value = self.evaluate(left)?;
                let matched = self.matches_operand(&value, right)?;
                Ok(Value::Bool(matched == (sign == "=~")))
            }
            "in" => {
                let value = self.evaluate(left)?;
                let all = self.evaluate(right)?;
                Ok(Value::Bool(self.includes(&all, &value)?))
            }
            "->" | "~>" | "<-" | "<~" => {
                let sides = [self.evaluate(left), self.evaluate(right)];
                sides.into_iter().try_for_each(|side| match side {
                    Ok(_) | Err(Stop::Unknown(_)) => Ok(()),
                    Err(stop) => Err(stop),
                })?;
                if self.compiles() {
                    return Ok(opaque("references of resources are not evaluated"));
                }
                Err(Stop::unknown("resources are not evaluated"))
            }
            _ => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                match sign {
                    "==" | "!=" => {
                        let equal = self.equals(&left, &right)?;
                        Ok(Value::Bool(equal == (sign == "==")))
                    }
                    "<" | "<=" | ">" | ">=" => self.compare(sign, &left, &right),
                    _ => self.calculate(sign, &left, &right),
                }
            }
        }
    }

    /// `$a = …`, and `[$a, $b] = …`.
    fn assign(&mut self, left: &Expression, right: &Expression) -> Evaluated {
        let value = self.evaluate(right);
        match &value {
            Ok(_) | Err(Stop::Unknown(_)) => {}
            Err(_) => return value,
        }
        let known = value.clone().map_err(|stop| stop.because());
        self.assign_to(left, known)?;
        value
    }

    /// Assigns to a variable, or to the variables of a list (`assign` of the evaluator).
    fn assign_to(&mut self, target: &Expression, known: Known) -> Evaluated<()> {
        match &target.kind {
            ExpressionKind::Variable(name) => {
                let source = self.source.clone();
                self.variables.set(name, known, &source, target.range)
            }
            ExpressionKind::List(targets) => {
                for (at, part) in targets.iter().enumerate() {
                    let value = match &known {
                        Err(because) => Err(because.clone()),
                        Ok(value) => Ok(assigned_part(value, at, targets.len(), part)?),
                    };
                    self.assign_to(part, value)?;
                }
                Ok(())
            }
            _ => Err(Stop::unknown("the assignment is not evaluated")),
        }
    }

    pub(super) fn variable(&mut self, name: &str) -> Evaluated {
        let strict = self.host.strict_variables();
        self.variables.get(name, &[], strict)
    }

    /// A literal type; its computed parts are not evaluated.
    pub(super) fn written_type(&mut self, node: &Expression) -> Evaluated<Type> {
        let mut is_computed = false;
        node.walk(&mut |part| {
            is_computed |= matches!(
                part.kind,
                ExpressionKind::Variable(_)
                    | ExpressionKind::Call(_)
                    | ExpressionKind::MethodCall(_)
                    | ExpressionKind::Interpolation(_)
            );
        });
        let text = node.source(&self.source.text);
        let parsed = datatype::parse(&text, self.host.aliases());
        match parsed {
            Ok(parsed) if !is_computed && !parsed.has_reference() => Ok(parsed),
            _ => Err(Stop::unknown(format!("the type {text} is not known"))),
        }
    }

    pub(super) fn type_value(&mut self, node: &Expression) -> Evaluated {
        Ok(datatype::type_value(&self.written_type(node)?))
    }
}

/// The value for one element of an assignment to a list (`assign_Array` of the evaluator).
fn assigned_part(value: &Value, at: usize, count: usize, target: &Expression) -> Evaluated {
    let name = match &target.kind {
        ExpressionKind::Variable(name) => Some(&**name),
        _ => None,
    };
    match value {
        Value::Hash(hash) => match name.and_then(|name| hash.get(&crate::value::StrKey(name))) {
            Some(part) => Ok(part.clone()),
            None => Err(Stop::failed(format!(
                "No value for required key '{}'",
                name.unwrap_or("[…]")
            ))),
        },
        Value::Array(elements) if elements.len() == count => Ok(elements[at].clone()),
        other if count == 1 && other.as_array().is_none() => Ok(other.clone()),
        _ => Err(Stop::failed(
            "Mismatched number of assignable entries and values",
        )),
    }
}

pub(super) fn without_parentheses(node: &Expression) -> &Expression {
    match &node.kind {
        ExpressionKind::Unary(Prefix::Parentheses, inner) => without_parentheses(inner),
        _ => node,
    }
}

pub(super) fn is_type(node: &Expression) -> bool {
    match &without_parentheses(node).kind {
        ExpressionKind::Reference(_) => true,
        ExpressionKind::Access(left, _) => matches!(left.kind, ExpressionKind::Reference(_)),
        _ => false,
    }
}

/// The values of a splat.
fn elements_of(value: &Value) -> Vec<Value> {
    match value {
        Value::Undef => Vec::new(),
        Value::Array(elements) => elements.to_vec(),
        Value::Hash(_) => pairs(value),
        other => vec![other.clone()],
    }
}

/// The entries of a hash as lists of two.
pub(super) fn pairs(hash: &Value) -> Vec<Value> {
    let entries = hash.as_hash().into_iter().flat_map(HashMap::iter);
    entries
        .map(|(key, value)| Value::array([key.clone(), value.clone()]))
        .collect()
}

pub(super) fn body(node: Option<&Expression>) -> &[Expression] {
    node.map_or(&[], statements)
}

fn whole_number(written: &str) -> Evaluated {
    let number = integer(written).and_then(|number| i64::try_from(number).ok());
    number
        .map(Value::Int)
        .ok_or_else(|| Stop::unknown("the number is too large"))
}

/// The stop for a value with unknown parts.
pub(super) fn not_known(value: &Value) -> Stop {
    let because = value.opaque_reason();
    Stop::unknown(because.unwrap_or_else(|| "the value is not known".to_owned()))
}
