//! Resolves variables by name, like `puppet/parser/scope.rb`.

use std::sync::Arc;

use super::assigned::{Assigned, ClassVariable};
use super::bindings::Bindings;
use super::completeness::{Completeness, Gaps};
use super::core_facts::LackingFacts;
use super::facts::{Facts, SavedFacts};
use super::facts_file::{OF_MAIN, is_of_main};
use crate::hierarchy::is_of_tag;
use crate::interpolation::{Key, Segment};
use crate::syntax::puppet::{is_match_variable, is_qualified, without_colons};
use crate::value::{HashMap, StrKey, Value};

/// The state of a variable in a scope.
#[derive(Clone, PartialEq, Debug)]
pub enum Variable {
    /// Its value; `undef` if it is set to nothing.
    Known(Value),
    /// The variable does not exist.
    Undefined(Undefined),
    /// Unknown, because the scope is open, or no source of the node tells it.
    Unknown,
}

/// Puppet's report of an undefined variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undefined {
    /// The name as Puppet prints it; `::x` for a qualified one of the top scope.
    pub name: String,
    /// The reason, usually empty: `class m could not be found`.
    pub reason: String,
    /// Whether the variable always exists (`module_name`, `$0`): nothing is reported.
    pub silent: bool,
}

/// A class whose variables are in scope.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClassScope {
    /// The class's name.
    pub name: String,
    /// Its variables.
    pub variables: HashMap,
}

/// The variables that a lookup sees.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scope {
    /// Top-scope variables by name without `::`, including facts that are in memory.
    top: Arc<HashMap>,
    /// Facts that are read on demand.
    saved: Option<Arc<SavedFacts>>,
    /// The class in whose scope the lookup runs.
    class: Option<Arc<ClassScope>>,
    assigned: Option<Arc<Assigned>>,
    /// Variables that shadow all others by their unqualified name, innermost last.
    locals: Vec<(Arc<str>, Value)>,
    /// The values from a file's own path, for what is unknown otherwise.
    bindings: Arc<Bindings>,
    /// Whether missing variables are unknown rather than undefined.
    open: bool,
    /// What is unknown although the scope is closed.
    gaps: Option<Arc<Gaps>>,
    /// Whether a server has set variables of its own.
    is_served: bool,
    /// Whether a plan of Bolt looks up outside of apply blocks.
    is_of_plan: bool,
    /// If a file describes the node, which may be written by hand: facts that every system has and that
    /// are missing are unknown.
    lacking: Option<Arc<LackingFacts>>,
}

/// Variables that plans of Bolt do not have and cannot set, as these names are reserved.
pub const NOT_IN_PLANS: [&str; 3] = ["facts", "trusted", "server_facts"];

/// Variables that a server sets for each node (`puppet/indirector/catalog/compiler.rb`,
/// `set_server_facts`).
const OF_SERVER: [&str; 4] = ["servername", "serverip", "serverip6", "serverversion"];

impl Scope {
    /// The scope of a real node: `facts` also become top-scope variables, `variables` override
    /// them, and `trusted`, `server_facts`, `facts` and `environment` are set as by the compiler
    /// (`puppet/parser/compiler.rb`, `set_node_parameters`).
    #[must_use]
    pub fn closed(
        facts: &Facts,
        trusted: &HashMap,
        server_facts: &HashMap,
        variables: &HashMap,
        environment: &str,
    ) -> Scope {
        let (mut top, saved) = match facts.in_memory() {
            Some(facts) => {
                let facts = super::node::sanitize_facts(facts);
                let mut top = HashMap::clone(&facts);
                if OF_MAIN.iter().any(|name| top.contains_key(&StrKey(name))) {
                    top.retain(|name, _| !name.as_str().is_some_and(is_of_main));
                }
                top.insert("facts".into(), Value::Hash(facts));
                (top, None)
            }
            None => (HashMap::default(), Some(Arc::new(facts.clone().into()))),
        };
        let facts = top.get(&StrKey("facts")).cloned();
        top.extend(
            variables
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let mut set = |name: &str, value: Value| {
            top.insert(Value::string(name), value);
        };
        set("environment", Value::string(environment));
        set("trusted", Value::from(trusted.clone()));
        set("server_facts", Value::from(server_facts.clone()));
        match facts {
            Some(facts) => set("facts", facts),
            None => {
                top.shift_remove(&StrKey("facts"));
            }
        }
        Scope {
            top: Arc::new(top),
            saved,
            ..Scope::default()
        }
    }

    /// The scope of any node: everything is unknown until it is bound.
    #[must_use]
    pub fn open() -> Scope {
        Scope {
            open: true,
            ..Scope::default()
        }
    }

    /// The same scope of a node with these `variables`, whose sources tell only a part of its data:
    /// the rest is unknown.
    #[must_use]
    pub fn told(self, told: &Completeness, variables: &HashMap) -> Scope {
        Scope {
            gaps: Gaps::of(told, variables).map(Arc::new),
            ..self
        }
    }

    /// The same scope of a node that a file describes.
    #[must_use]
    pub(super) fn described_by_file(self) -> Scope {
        Scope {
            lacking: Some(Arc::default()),
            ..self
        }
    }

    /// Whether missing variables are unknown.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Binds the variable at a dotted path (`facts.os.family`, `::role`) to a value, if it is unknown
    /// in the scope. Certain equivalents of a fact are bound too: `trusted.certname` and `clientcert`,
    /// `facts.x` and `x`.
    pub fn bind(&mut self, path: &str, value: &str) {
        self.bind_value(path, Value::string(value));
    }

    /// Like [`Scope::bind`], for a value of any type.
    pub fn bind_value(&mut self, path: &str, value: Value) {
        Arc::make_mut(&mut self.bindings).bind(path, value);
    }

    /// The bound values, as `path=value` in the order of binding.
    pub fn bound(&self) -> impl Iterator<Item = (&str, &str)> {
        self.bindings.given()
    }

    /// The same scope with a local variable that shadows all others by its unqualified name.
    #[must_use]
    pub fn with_local(&self, name: &Arc<str>, value: Value) -> Scope {
        let mut scope = self.clone();
        scope.locals.push((name.clone(), value));
        scope
    }

    /// The same scope with several of them, in their order.
    #[must_use]
    pub fn with_locals(mut self, locals: impl IntoIterator<Item = (Arc<str>, Value)>) -> Scope {
        self.locals.extend(locals);
        self
    }

    /// The same scope with the variables that manifests set.
    #[must_use]
    pub fn with_assigned(&self, assigned: Arc<Assigned>) -> Scope {
        Scope {
            assigned: Some(assigned),
            ..self.clone()
        }
    }

    /// The scope as functions see it: without the variables of a node's block, classes and locals.
    #[must_use]
    pub fn at_top(&self) -> Scope {
        let assigned = self.assigned.as_ref().map(|assigned| {
            let mut assigned = Assigned::clone(assigned);
            assigned.leave_block();
            Arc::new(assigned)
        });
        Scope {
            assigned,
            class: None,
            locals: Vec::new(),
            ..self.clone()
        }
    }

    /// The same scope on a server, whose name, address and version are unknown here.
    #[must_use]
    pub fn served(self) -> Scope {
        Scope {
            is_served: true,
            ..self
        }
    }

    /// The same scope in a command without a server: its `$server_facts` are empty. An open scope stays
    /// as it is.
    #[must_use]
    pub fn without_server(mut self) -> Scope {
        if !self.open {
            let none = Value::from(HashMap::default());
            Arc::make_mut(&mut self.top).insert("server_facts".into(), none);
        }
        self
    }

    /// The same scope in a plan of Bolt outside of apply blocks, where no node is known.
    #[must_use]
    pub fn of_plan(self) -> Scope {
        Scope {
            is_of_plan: true,
            ..self
        }
    }

    /// The names of the variables that code has set: those of manifests, and those around the code that asks.
    pub fn set_by_code(&self) -> impl Iterator<Item = &Arc<str>> {
        let assigned = self.assigned.iter();
        let assigned = assigned.flat_map(|all| all.top.keys().chain(all.node.keys()));
        assigned.chain(self.locals.iter().map(|(name, _)| name))
    }

    /// The variables that manifests set in this scope.
    #[must_use]
    pub fn assigned(&self) -> Option<&Arc<Assigned>> {
        self.assigned.as_ref()
    }

    /// The same scope, seen from a class.
    #[must_use]
    pub fn in_class(&self, class: ClassScope) -> Scope {
        Scope {
            class: Some(Arc::new(class)),
            ..self.clone()
        }
    }

    /// Name of the class in whose scope the lookup runs.
    #[must_use]
    pub fn class_name(&self) -> Option<&str> {
        self.class.as_ref().map(|class| class.name.as_str())
    }

    /// The variable at a dotted path, for people: missing parts are undefined, never an error.
    #[must_use]
    pub fn variable(&self, path: &str) -> Variable {
        let Ok(key) = Key::parse(path) else {
            return Variable::Undefined(undefined(path, "", false));
        };
        let Some(root) = key.root.as_name() else {
            return Variable::Undefined(undefined(path, "", true));
        };
        match self.dotted(root, &key.segments) {
            Variable::Known(value) => {
                let mut segments = key.segments.iter();
                match segments.try_fold(&value, |value, segment| segment.part_of(value)) {
                    Some(part) => Variable::Known(part.clone()),
                    None => Variable::Undefined(undefined(path, "", true)),
                }
            }
            other @ (Variable::Undefined(_) | Variable::Unknown) => other,
        }
    }

    /// The root variable of a dotted reference (`Scope#lookupvar`). In an open scope, and for facts
    /// that are not in memory, only the part at the segments is guaranteed to be in the result.
    #[must_use]
    pub fn dotted(&self, root: &str, segments: &[Segment]) -> Variable {
        // The list is mostly empty: cheaper than the test of the name.
        let mut locals = self.locals.iter().rev();
        if let Some((_, value)) = locals.find(|(name, _)| **name == *root)
            && !is_qualified(root)
        {
            return Variable::Known(value.clone());
        }
        let name = without_colons(root);
        if let Some(class) = &self.class {
            let local = if is_qualified(root) {
                name.strip_prefix(class.name.as_str())
                    .and_then(|rest| rest.strip_prefix("::"))
            } else {
                Some(name)
            };
            if let Some(value) = local.and_then(|local| class.variables.get(&StrKey(local))) {
                return Variable::Known(value.clone());
            }
        }
        if self.is_of_plan && (NOT_IN_PLANS.contains(&name) || name.starts_with("settings::")) {
            return Variable::Undefined(undefined(root, "", false));
        }
        if let Some(set) = self.assigned.as_ref().and_then(|all| all.get(root)) {
            return match &set.value {
                Ok(value) => Variable::Known(value.clone()),
                Err(_) => Variable::Unknown,
            };
        }
        if let Some(value) = self.assigned.as_ref().and_then(|all| all.of_block(root)) {
            return Variable::Known(value);
        }
        let of_class = self
            .assigned
            .as_ref()
            .and_then(|all| all.class_variable(root));
        match of_class.filter(|_| !name.starts_with("settings::")) {
            Some(ClassVariable::Known(value)) => return Variable::Known(value.clone()),
            Some(ClassVariable::Unknown(_)) => return Variable::Unknown,
            Some(ClassVariable::Undefined) => {
                return Variable::Undefined(undefined(&format!("::{name}"), "", false));
            }
            Some(ClassVariable::NotEvaluated) | None => {}
        }
        if self.is_served && name == "server_facts" {
            let given = self.top.get(&StrKey(name));
            let part = segments.first().zip(given);
            if part.is_none_or(|(segment, given)| segment.part_of(given).is_none()) {
                return self.bound_at(name, segments);
            }
        }
        let has_fact = || {
            let saved = || self.saved.as_ref()?.get(name, &[]);
            self.top.contains_key(&StrKey(name)) || saved().is_some()
        };
        if let Some(gaps) = &self.gaps
            && gaps.hide(name, segments, has_fact)
        {
            return self.bound_at(name, segments);
        }
        if self.lacks_fact(name, segments) {
            return self.bound_at(name, segments);
        }
        if let Some(value) = self.top.get(&StrKey(name)) {
            return Variable::Known(value.clone());
        }
        if let Some(value) = self
            .saved
            .as_ref()
            .filter(|_| !is_of_main(name))
            .and_then(|saved| saved.get(name, segments))
        {
            return Variable::Known(value);
        }
        if self.is_served && OF_SERVER.contains(&name) {
            return Variable::Unknown;
        }
        // Where the template is deployed, it is a text.
        if is_of_tag(name) {
            return Variable::Unknown;
        }
        // `Compiler#create_settings_scope`: the other settings are those of the server.
        if let Some(setting) = name.strip_prefix("settings::") {
            return match setting {
                "environment" => self.dotted("environment", &[]),
                _ => Variable::Unknown,
            };
        }
        if self.open {
            return self.bound_at(name, segments);
        }
        // The class `main` sets them in the top scope (`Compiler#evaluate_main`).
        match name {
            "name" | "title" => return Variable::Known(Value::from("main")),
            "module_name" => return Variable::Known(Value::from("")),
            _ => {}
        }
        let may_be_set = |assigned: &Arc<Assigned>| assigned.may_set(root);
        if self.assigned.as_ref().is_some_and(may_be_set) {
            return Variable::Unknown;
        }
        Variable::Undefined(self.missing(root, name, is_qualified(root)))
    }

    /// Whether a fact that every system has is missing, and others too, so that not all are given.
    fn lacks_fact(&self, name: &str, segments: &[Segment]) -> bool {
        let Some(lacking) = &self.lacking else {
            return false;
        };
        let own = (name != "facts").then_some(name);
        let path = own
            .into_iter()
            .chain(segments.iter().map_while(Segment::as_name));
        lacking.cover(path, |name| self.fact(name))
            // Another variable may have the name.
            && own.is_none_or(|own| !self.top.contains_key(&StrKey(own)) || self.fact(own).is_some())
    }

    /// A given fact.
    fn fact(&self, name: &str) -> Option<Value> {
        match &self.saved {
            Some(saved) => saved.get(name, &[]),
            None => self.top.get(&StrKey("facts"))?.get(name).cloned(),
        }
    }

    /// An unknown variable, with the value that is assumed for it.
    fn bound_at(&self, name: &str, segments: &[Segment]) -> Variable {
        let bound = self.bindings.get(name, segments);
        bound.map_or(Variable::Unknown, Variable::Known)
    }

    /// Whether a variable of that name exists, even set to `undef` (`Scope#exist?`).
    #[must_use]
    pub fn exists(&self, root: &str) -> bool {
        match self.dotted(root, &[]) {
            Variable::Known(_) => true,
            Variable::Unknown => false,
            Variable::Undefined(undefined) => {
                matches!(root, "module_name" | "caller_module_name")
                    || (undefined.silent && root.starts_with("::"))
            }
        }
    }

    fn missing(&self, root: &str, name: &str, qualified: bool) -> Undefined {
        if !qualified {
            let silent =
                matches!(root, "module_name" | "caller_module_name") || is_match_variable(root);
            return undefined(root, "", silent);
        }
        // `lookup_qualified_variable`: the part before the last `::` names a class.
        match name.rsplit_once("::") {
            Some((class, leaf)) => {
                let known = self.class.as_ref().is_some_and(|known| known.name == class);
                let reason = if known {
                    String::new()
                } else {
                    format!("class {class} could not be found")
                };
                let shown = if known {
                    format!("::{class}::{leaf}")
                } else {
                    format!("{class}::{leaf}")
                };
                undefined(&shown, &reason, false)
            }
            None => undefined(&format!("::{name}"), "", false),
        }
    }
}

fn undefined(name: &str, reason: &str, silent: bool) -> Undefined {
    Undefined {
        name: name.to_string(),
        reason: reason.to_string(),
        silent,
    }
}

/// The root of a variable's dotted path, without leading `::`: `facts` of `::facts.os.name`.
#[must_use]
pub fn top_name(variable: &str) -> &str {
    let name = variable.strip_prefix("::").unwrap_or(variable);
    name.split('.').next().unwrap_or(name)
}
