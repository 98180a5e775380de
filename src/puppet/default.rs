//! The default of a class's parameter: whether it fits the parameter's type, and whether it fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::evaluator::{Evaluator, body};
use super::host::Host;
use super::reached::EnclosingBody;
use super::source::CodeFile;
use super::stop::Stop;
use crate::datatype::{self, MismatchKind};
use crate::scope::Scope;
use crate::syntax::puppet::{Definition, ExpressionKind, Parameter};
use crate::text::TextRange;

/// A class: its text, and the range of its definition from the keyword on.
#[derive(Clone, Copy, Debug)]
pub struct ClassText<'c> {
    /// The text.
    pub source: &'c Arc<CodeFile>,
    /// The definition in it.
    pub range: TextRange,
}

/// What is wrong with a default.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WrongDefault {
    /// It has another type: Puppet's message without the parameter.
    Type(Box<str>),
    /// It fails: Puppet's message.
    Fails(Box<str>),
}

/// The outcome of a default.
#[derive(Debug)]
pub struct DefaultOutcome {
    /// What is certainly wrong with it.
    pub wrong: Option<WrongDefault>,
    /// Whether it is certain that nothing is wrong with it, for any node.
    pub is_fine: bool,
    /// Paths of the node's variables that decide it, without those of lookups.
    pub variables: BTreeSet<Arc<str>>,
}

/// Evaluates the default of a class's parameter for a node with the scope `scope`. Other parameters
/// are unknown unless `has_default` says that they get their default; of the parent class, the
/// variables are known that its body sets from the node.
#[must_use]
pub fn default_outcome(
    host: &dyn Host,
    scope: &Scope,
    (class, parent): (ClassText<'_>, Option<ClassText<'_>>),
    name: &str,
    has_default: &dyn Fn(&str) -> bool,
) -> DefaultOutcome {
    let mut outcome = DefaultOutcome {
        wrong: None,
        is_fine: false,
        variables: BTreeSet::new(),
    };
    let Some(definition) = definition_of(class) else {
        return outcome;
    };
    let mut evaluator = Evaluator::new(host, scope, class.source.clone());
    evaluator.variables.enter();
    if definition.parent.is_some() {
        let parent = parent.and_then(|parent| Some((parent, definition_of(parent)?)));
        let Some((parent, of_parent)) = parent.filter(|(_, it)| it.parent.is_none()) else {
            return outcome;
        };
        if !evaluator.inherit(parent, of_parent) {
            return outcome;
        }
    }
    evaluator.variables.open();
    for node in &definition.parameters {
        let ExpressionKind::Parameter(parameter) = &node.kind else {
            continue;
        };
        if *parameter.name == *name {
            (outcome.wrong, outcome.is_fine) = evaluator.judge_default(parameter);
            break;
        }
        let default = parameter.value.as_ref();
        let known = default.filter(|_| has_default(&parameter.name));
        match known.map(|default| evaluator.evaluate(default)) {
            Some(Ok(value)) => evaluator.variables.bind(&parameter.name, value),
            Some(Err(_)) | None => evaluator.hide(&parameter.name),
        }
    }
    outcome.variables = evaluator.variables.reads();
    // A missing fact may exist.
    if evaluator.variables.lacks_one.get() || evaluator.variables.read_missing.get() {
        outcome.wrong = None;
    }
    outcome
}

fn definition_of(class: ClassText<'_>) -> Option<&Definition> {
    if class.source.problem.is_some() {
        return None;
    }
    let own = EnclosingBody::find(class.source, Some(class.range))?;
    own.definition.filter(|_| own.is_class)
}

impl Evaluator<'_> {
    /// Makes the variables of a parent class visible. Returns false if they are not known.
    fn inherit(&mut self, parent: ClassText<'_>, definition: &Definition) -> bool {
        let own = std::mem::replace(&mut self.source, parent.source.clone());
        for node in &definition.parameters {
            if let ExpressionKind::Parameter(parameter) = &node.kind {
                self.hide(&parameter.name);
            }
        }
        let mut is_known = true;
        for statement in body(definition.body.as_ref()) {
            match self.evaluate(statement) {
                Ok(_) | Err(Stop::Unknown(_)) => {}
                Err(_) => is_known = false,
            }
        }
        self.source = own;
        self.variables.name_innermost(&definition.name);
        is_known
    }

    /// Makes a variable of the innermost scope unknown.
    pub(super) fn hide(&mut self, name: &str) {
        let source = self.source.clone();
        let because = Arc::from("what sets it is not evaluated");
        self.variables
            .forget(&Arc::from(name), &because, &source, TextRange::empty(0));
    }

    /// What is wrong with the default of a parameter, or whether nothing is for any node.
    fn judge_default(&mut self, parameter: &Parameter) -> (Option<WrongDefault>, bool) {
        let Some(default) = &parameter.value else {
            return (None, true);
        };
        let value = match self.evaluate(default) {
            Ok(value) => value,
            Err(Stop::Failed(message)) => {
                return (Some(WrongDefault::Fails(Box::from(&*message))), false);
            }
            Err(_) => return (None, false),
        };
        let Some(expected) = &parameter.expected else {
            return (None, true);
        };
        let Ok(expected) = self.written_type(expected) else {
            return (None, true);
        };
        match datatype::check(&expected, &value) {
            Ok(()) => (None, self.variables.reads().is_empty()),
            Err(mismatches) => {
                let is_known = |kind: &MismatchKind| !matches!(kind, MismatchKind::Unresolved(_));
                let mut known = (&mismatches).into_iter().filter(|it| is_known(&it.kind));
                let first = known.next().map(|it| Box::from(it.to_string()));
                (first.map(WrongDefault::Type), false)
            }
        }
    }
}
