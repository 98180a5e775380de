//! The variables of an evaluation, in the scopes of lambdas and functions, of the node's block, of
//! the top scope, over the known variables of the node (`puppet/parser/scope.rb`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::source::CodeFile;
use super::stop::{Evaluated, Stop};
use crate::interpolation::Segment;
use crate::scope::{
    Assigned, Assignment, ClassScope, ClassVariable, CoreFact, EvaluatedClass, Scope, Variable,
    core_fact,
};
use crate::syntax::puppet::{Expression, ExpressionKind, is_qualified, without_colons};
use crate::text::TextRange;
use crate::value::{HashMap, Missing, Opaque, StrKey, Value};

/// A value, or why it is unknown.
pub(super) type Known = Result<Value, Arc<str>>;

/// Variables that no scope can set (`RESERVED_VARIABLE_NAMES`).
const RESERVED: [&str; 3] = ["trusted", "facts", "server_facts"];

/// The variable that each compilation sets at top scope: other scopes may have their own.
const ENVIRONMENT: &str = "environment";

/// The scope of statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeLevel {
    Top,
    Node,
    /// A function, which sees the top scope and its own; also a class that is evaluated from the top
    /// scope.
    Function,
}

impl ScopeLevel {
    /// The scope around a class or a resource that is declared in this one.
    pub(super) fn of_declared(self) -> ScopeLevel {
        match self {
            ScopeLevel::Node => ScopeLevel::Node,
            ScopeLevel::Top | ScopeLevel::Function => ScopeLevel::Function,
        }
    }
}

/// The variables of a function or a lambda.
type Frame = std::collections::HashMap<Box<str>, Known>;

/// The groups of a match; the first is the whole match.
type MatchGroups = Vec<Option<String>>;

pub(super) struct Variables<'s> {
    /// The variables known before any manifest.
    base: &'s Scope,
    /// Known values of variables that manifests set, used if evaluation does not find their value.
    foreseen: Option<&'s HashMap>,
    pub(super) assigned: Assigned,
    pub(super) level: ScopeLevel,
    /// The frames of the function and its lambdas, innermost last.
    frames: Vec<Frame>,
    /// The variables of classes that are known, by their full names.
    of_classes: Frame,
    /// The class whose body is evaluated: its variables are in the second frame, those of its parents
    /// in the first.
    class: Option<Arc<str>>,
    /// Whether classes are evaluated: those that were not are known then.
    pub(super) follows_classes: bool,
    /// Visible matches; the last one is used.
    matches: Vec<MatchGroups>,
    /// Paths of the node's variables that were read.
    reads: RefCell<BTreeSet<Arc<str>>>,
    /// Whether something was read that these paths do not tell: the node's name, or the order of a hash.
    reads_more: Cell<bool>,
    /// Whether agents send legacy facts: otherwise a node that has other facts certainly lacks them.
    has_legacy_facts: bool,
    /// Whether it failed because of a missing variable. More facts may exist than are known.
    pub(super) lacks_one: Cell<bool>,
    /// Whether a variable or a part of it was read that does not exist, or all facts.
    pub(super) read_missing: Cell<bool>,
}

/// The caller's variables, hidden during a function.
pub(super) struct Hidden {
    level: ScopeLevel,
    frames: Vec<Frame>,
    matches: Vec<MatchGroups>,
    class: Option<Arc<str>>,
}

impl<'s> Variables<'s> {
    pub(super) fn new(base: &'s Scope, has_legacy_facts: bool) -> Variables<'s> {
        Variables {
            base,
            foreseen: None,
            assigned: Assigned::default(),
            level: ScopeLevel::Top,
            frames: Vec::new(),
            of_classes: Frame::new(),
            class: None,
            follows_classes: false,
            matches: Vec::new(),
            reads: RefCell::default(),
            reads_more: Cell::new(false),
            has_legacy_facts,
            lacks_one: Cell::new(false),
            read_missing: Cell::new(false),
        }
    }

    /// Marks variables of the base as set by manifests.
    pub(super) fn foresee(&mut self, foreseen: &'s HashMap) {
        self.foreseen = Some(foreseen);
    }

    fn foreseen(&self, name: &str) -> Option<&'s Value> {
        self.foreseen?.get(&StrKey(name))
    }

    /// Paths of the node's variables that were read.
    pub(super) fn reads(&self) -> BTreeSet<Arc<str>> {
        self.reads.borrow().clone()
    }

    /// Records that the name of the node is read.
    pub(super) fn note_name(&self) {
        self.reads_more.set(true);
    }

    /// Whether the paths that were read say all that was read.
    pub(super) fn reads_all_told(&self) -> bool {
        !self.reads_more.get()
    }

    /// Records that a variable is read at a path.
    fn note(&self, name: &str, segments: &[Segment]) {
        let mut path = without_colons(name).to_owned();
        for segment in segments {
            // A path is read without blanks around its names.
            if segment.as_name().is_some_and(|name| name.trim() != name) {
                self.reads_more.set(true);
            }
            path.push('.');
            path.push_str(&segment.written());
        }
        self.reads.borrow_mut().insert(Arc::from(path));
    }

    /// The value of a variable; for a partly known one, at least the part at `segments`.
    pub(super) fn get(&self, name: &str, segments: &[Segment], strict: bool) -> Evaluated {
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            if self.level == ScopeLevel::Node {
                // The pattern of the block has matched it.
                self.note_name();
            }
            let groups = self.matches.last();
            let at: Option<usize> = name.parse().ok();
            let group = groups
                .zip(at)
                .and_then(|(groups, at)| groups.get(at)?.clone());
            return Ok(group.map(Value::from).unwrap_or_default());
        }
        if !is_qualified(name)
            && let Some(known) = self.frames.iter().rev().find_map(|frame| frame.get(name))
        {
            return known.clone().map_err(Stop::Unknown);
        }
        if let Some(known) = self.of_classes.get(without_colons(name)) {
            return known.clone().map_err(Stop::Unknown);
        }
        self.note(name, segments);
        let set = match self.level {
            ScopeLevel::Function => self.assigned.top.get(without_colons(name)),
            ScopeLevel::Top | ScopeLevel::Node => self.assigned.get(name),
        };
        if let Some(set) = set {
            return set.value.clone().map_err(Stop::Unknown);
        }
        if self.follows_classes
            && let Some(of_class) = self.assigned.class_variable(name)
            && !without_colons(name).starts_with("settings::")
        {
            return match of_class {
                ClassVariable::Known(value) => Ok(value.clone()),
                ClassVariable::Unknown(because) => Err(Stop::Unknown(because)),
                ClassVariable::Undefined | ClassVariable::NotEvaluated if strict => {
                    Err(Stop::failed(format!("Unknown variable: '{name}'.")))
                }
                ClassVariable::Undefined | ClassVariable::NotEvaluated => Ok(Value::Undef),
            };
        }
        if self.level == ScopeLevel::Node
            && let Some(value) = self.assigned.of_block(name)
        {
            return Ok(value);
        }
        let because = || match segments {
            [] => format!("variable '{name}' is not known"),
            _ => {
                let parts: Vec<String> = segments.iter().map(ToString::to_string).collect();
                format!("variable '{name}.{}' is not known", parts.join("."))
            }
        };
        match self.base.dotted(name, segments) {
            Variable::Known(value) if value.has_opaque() => Err(Stop::unknown(because())),
            Variable::Known(value) => {
                let mut parts = segments.iter();
                let part = parts.try_fold(&value, |value, segment| segment.part_of(value));
                if part.is_some_and(|part| part.any(&|it| it.as_hash().is_some())) {
                    // Equal hashes may have another order.
                    self.reads_more.set(true);
                }
                let is_whole = segments.is_empty() && value.as_hash().is_some();
                if is_whole || part.is_none_or(Value::is_undef) {
                    self.read_missing.set(true);
                }
                Ok(value)
            }
            Variable::Unknown => Err(Stop::unknown(because())),
            // A class may have been included that has it.
            Variable::Undefined(_) if is_qualified(without_colons(name)) => {
                Err(Stop::unknown(because()))
            }
            Variable::Undefined(_) if self.assigned.may_be_more.is_some() => {
                Err(Stop::unknown(because()))
            }
            Variable::Undefined(undefined) if strict && !undefined.silent => {
                if !self.certainly_lacks(without_colons(name)) {
                    self.lacks_one.set(true);
                }
                Err(Stop::failed(format!("Unknown variable: '{name}'.")))
            }
            Variable::Undefined(_) => {
                self.read_missing.set(true);
                Ok(Value::Undef)
            }
        }
    }

    /// Whether the node certainly has no fact of a name: agents no longer send legacy facts, and its facts are
    /// given.
    fn certainly_lacks(&self, name: &str) -> bool {
        let has_facts = || {
            self.note("os", &[]);
            matches!(self.base.dotted("os", &[]), Variable::Known(_))
        };
        !self.has_legacy_facts && matches!(core_fact(name), CoreFact::Legacy(_)) && has_facts()
    }

    /// Whether a node reads a variable of the innermost function or its lambdas whose value is of a
    /// kind.
    pub(super) fn is_read(&self, node: &Expression, is_kind: fn(&Value) -> bool) -> bool {
        let variables = self.frames.iter().flatten();
        let all = variables.filter(|(_, known)| known.as_ref().is_ok_and(is_kind));
        let names: Vec<&str> = all.map(|(name, _)| &**name).collect();
        let mut is_read = false;
        if !names.is_empty() {
            node.walk(&mut |part| {
                let name = match &part.kind {
                    ExpressionKind::Variable(name) | ExpressionKind::Name(name) => &**name,
                    _ => return,
                };
                is_read |= names.contains(&name);
            });
        }
        is_read
    }

    /// Whether a variable of that name exists, with any value; `None` if unknown.
    pub(super) fn exists(&self, name: &str) -> Option<bool> {
        let lacks_one = self.lacks_one.get();
        match self.get(name, &[], true) {
            Ok(_) => Some(true),
            Err(Stop::Failed(_)) => {
                self.lacks_one.set(lacks_one);
                Some(false)
            }
            Err(_) => {
                let is_set = |set: &Assignment| set.value.is_ok();
                let set = self.assigned.get(name).map(is_set);
                set.filter(|is_known| *is_known)
            }
        }
    }

    /// Sets a variable in the innermost scope.
    pub(super) fn set(
        &mut self,
        name: &str,
        value: Known,
        source: &Arc<CodeFile>,
        place: TextRange,
    ) -> Evaluated<()> {
        let reassigned = || Stop::failed(format!("Cannot reassign variable '${name}'"));
        if RESERVED.contains(&name) {
            return Err(Stop::failed(format!(
                "Attempt to assign to a reserved variable name: '${name}'"
            )));
        }
        if let Some(frame) = self.frames.last_mut() {
            return match frame.insert(Box::from(name), value) {
                Some(_) => Err(reassigned()),
                None => {
                    self.publish(name);
                    Ok(())
                }
            };
        }
        let at_top = self.level == ScopeLevel::Top;
        if at_top && name == ENVIRONMENT {
            return Err(reassigned());
        }
        self.note(name, &[]);
        let foreseen = self.foreseen(name);
        let is_set = || matches!(self.base.dotted(name, &[]), Variable::Known(_));
        if at_top && foreseen.is_none() && is_set() {
            return Err(reassigned());
        }
        let value = match (value, foreseen) {
            (Err(_), Some(value)) => Ok(value.clone()),
            // If the known value comes from a classifier, Puppet fails; otherwise one of them is
            // wrong.
            (Ok(value), Some(known)) if at_top && value != *known => Err(Arc::from(format!(
                "variable '{name}' has another value before the manifests: Puppet does not set it again"
            ))),
            (value, _) => value,
        };
        let set = if at_top {
            &mut self.assigned.top
        } else {
            &mut self.assigned.node
        };
        let assignment = Assignment {
            value,
            file: source.path.clone(),
            line: source.line(place.start),
            place,
        };
        match set.get(name) {
            // It may have been set: in that case, setting it again fails.
            Some(before) if before.value.is_err() || foreseen.is_some() => Ok(()),
            Some(_) => Err(reassigned()),
            None => {
                set.insert(Arc::from(name), assignment);
                Ok(())
            }
        }
    }

    /// Makes a variable unknown that may have been set in the innermost scope.
    pub(super) fn forget(
        &mut self,
        name: &Arc<str>,
        because: &Arc<str>,
        source: &Arc<CodeFile>,
        place: TextRange,
    ) {
        let unknown = || Err(because.clone());
        if let Some(frame) = self.frames.last_mut() {
            frame.entry(Box::from(&**name)).or_insert_with(unknown);
            self.publish(name);
            return;
        }
        self.note(name, &[]);
        let foreseen = self.foreseen(name).cloned();
        let set = match self.level {
            ScopeLevel::Top => &mut self.assigned.top,
            ScopeLevel::Node | ScopeLevel::Function => &mut self.assigned.node,
        };
        let file = &source.path;
        set.entry(Arc::clone(name)).or_insert_with(|| Assignment {
            value: foreseen.map_or_else(unknown, Ok),
            file: file.clone(),
            line: source.line(place.start),
            place,
        });
    }

    /// Makes all variables of manifests unknown, except those known without them.
    pub(super) fn forget_all(&mut self, because: &Arc<str>) {
        let foreseen = self.foreseen;
        let all = [&mut self.assigned.top, &mut self.assigned.node];
        for (name, assignment) in all.into_iter().flat_map(|set| set.iter_mut()) {
            if foreseen.is_none_or(|all| all.get(&StrKey(name)).is_none()) {
                assignment.value = Err(because.clone());
            }
        }
        let classes: Vec<Arc<str>> = self.assigned.classes.keys().cloned().collect();
        classes
            .iter()
            .for_each(|class| self.forget_class(class, because));
    }

    /// Opens the scope of a lambda.
    pub(super) fn open(&mut self) {
        self.frames.push(Frame::new());
    }

    /// Makes the variables of the innermost scope visible by the name of a class, too.
    pub(super) fn name_innermost(&mut self, class: &str) {
        for (name, known) in self.frames.last().into_iter().flatten() {
            let full = Box::from(format!("{class}::{name}"));
            self.of_classes.insert(full, known.clone());
        }
    }

    pub(super) fn close(&mut self) {
        self.frames.pop();
    }

    /// Sets a parameter of the innermost function or lambda.
    pub(super) fn bind(&mut self, name: &str, value: Value) {
        self.bind_known(name, Ok(value));
    }

    /// The same for a value that may be unknown.
    pub(super) fn bind_known(&mut self, name: &str, known: Known) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(Box::from(name), known);
            self.publish(name);
        }
    }

    /// Opens the scope of a function, which does not see its caller's.
    pub(super) fn enter(&mut self) -> Hidden {
        let hidden = Hidden {
            level: self.level,
            frames: std::mem::take(&mut self.frames),
            matches: std::mem::take(&mut self.matches),
            class: self.class.take(),
        };
        self.level = ScopeLevel::Function;
        self.open();
        hidden
    }

    /// Returns to the caller of a function.
    pub(super) fn leave(&mut self, hidden: Hidden) {
        self.level = hidden.level;
        self.frames = hidden.frames;
        self.matches = hidden.matches;
        self.class = hidden.class;
    }

    /// Opens the scope of a class, which sees its parents and what `level` sees.
    pub(super) fn enter_class(
        &mut self,
        class: &Arc<str>,
        parent: Option<&Arc<str>>,
        level: ScopeLevel,
    ) -> Hidden {
        let hidden = self.enter();
        self.level = level;
        let mut inherited = Vec::new();
        let mut next = parent;
        while let Some(evaluated) = next.and_then(|name| self.assigned.classes.get(name)) {
            inherited.push(evaluated);
            next = evaluated.parent.as_ref();
        }
        let inherited = inherited.into_iter().rev().flat_map(|it| &it.variables);
        let inherited = inherited.map(|(name, known)| (Box::from(&**name), known.clone()));
        self.frames = vec![inherited.collect(), Frame::new()];
        self.class = Some(Arc::clone(class));
        hidden
    }

    /// Makes the variables of the class whose body is evaluated visible by its name.
    pub(super) fn name_class(&mut self, parent: Option<Arc<str>>, begun: u32) {
        let Some(class) = self.class.clone() else {
            return;
        };
        let evaluated = EvaluatedClass {
            parent,
            begun,
            ..EvaluatedClass::default()
        };
        Arc::make_mut(&mut self.assigned.classes).insert(class, evaluated);
        let own: Vec<Box<str>> = self
            .frames
            .last()
            .into_iter()
            .flat_map(Frame::keys)
            .cloned()
            .collect();
        own.iter().for_each(|name| self.publish(name));
    }

    /// Makes a variable of the innermost scope visible by the name of its class, if it is that of a
    /// class that has one.
    fn publish(&mut self, name: &str) {
        if let (Some(class), [_, own]) = (&self.class, &self.frames[..])
            && let Some(known) = own.get(name)
            && self.assigned.classes.contains_key(class)
            && let Some(evaluated) = Arc::make_mut(&mut self.assigned.classes).get_mut(class)
        {
            evaluated.variables.insert(Arc::from(name), known.clone());
        }
    }

    /// Records when all variables of a class were set.
    pub(super) fn end_class(&mut self, class: &Arc<str>, ended: u32) {
        if let Some(evaluated) = Arc::make_mut(&mut self.assigned.classes).get_mut(class) {
            evaluated.ended = Some(ended);
        }
    }

    /// Makes the variables of a class unknown, and those that it may have.
    pub(super) fn forget_class(&mut self, class: &Arc<str>, because: &Arc<str>) {
        let classes = Arc::make_mut(&mut self.assigned.classes);
        let evaluated = classes.entry(Arc::clone(class)).or_default();
        evaluated.may_be_more = Some(Arc::clone(because));
        for known in evaluated.variables.values_mut() {
            *known = Err(Arc::clone(because));
        }
    }

    /// Records that a class may have more variables.
    pub(super) fn leave_open(&mut self, class: &Arc<str>, because: &Arc<str>) {
        if let Some(evaluated) = Arc::make_mut(&mut self.assigned.classes).get_mut(class) {
            evaluated
                .may_be_more
                .get_or_insert_with(|| Arc::clone(because));
        }
    }

    /// Stores the groups of a match.
    pub(super) fn matched(&mut self, groups: MatchGroups) {
        self.matches.push(groups);
    }

    /// The number of visible matches.
    pub(super) fn guard(&self) -> usize {
        self.matches.len()
    }

    /// Discards later matches.
    pub(super) fn release(&mut self, guard: usize) {
        self.matches.truncate(guard);
    }

    /// The scope of a lookup at this point.
    pub(super) fn scope(&self) -> Scope {
        let mut assigned = self.assigned.clone();
        if self.level == ScopeLevel::Function {
            assigned.leave_block();
        }
        let locals = self.frames.iter().flatten().map(|(name, known)| {
            let value = known.clone().unwrap_or_else(|because| opaque(&because));
            (Arc::from(&**name), value)
        });
        let scope = self.base.with_assigned(Arc::new(assigned));
        let scope = scope.with_locals(locals);
        match &self.class {
            Some(name) => scope.in_class(ClassScope {
                name: name.to_string(),
                ..ClassScope::default()
            }),
            None => scope,
        }
    }
}

/// An unknown value.
pub(super) fn opaque(because: &str) -> Value {
    Value::Opaque(Arc::new(Opaque::Unknown {
        text: String::new(),
        because: Missing::Other(because.to_owned()),
    }))
}
