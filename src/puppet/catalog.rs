//! The classes of a catalog while it is compiled: `include` and its kin, parameters, bodies
//! (`puppet/parser/compiler.rb`, `puppet/resource/type.rb`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::evaluator::{Evaluator, body};
use super::host::{Defines, DefinitionSource};
use super::parameters::{DefinitionBody, Given};
use super::perhaps::Perhaps;
use super::resources::Instance;
use super::source::CodeFile;
use super::stop::{Evaluated, Stop};
use super::variables::ScopeLevel;
use crate::syntax::puppet::{Expression, ExpressionKind, without_colons};
use crate::value::Value;

/// What was declared so far.
#[derive(Default)]
pub(super) struct Catalog {
    /// Whether a class or resource that fails is passed over: see [`super::ClassRun::PastFailures`].
    pub(super) passes_failures: bool,
    /// The node's name, for messages.
    pub(super) node: Arc<str>,
    /// Resources and declared classes by their references, with the place of the declaration.
    pub(super) declared: BTreeMap<String, Option<(Arc<str>, u32)>>,
    /// The classes whose evaluation has begun, with what they see besides their own variables.
    begun: BTreeMap<Arc<str>, ScopeLevel>,
    /// The classes whose parents are evaluated just now: they have no scope yet.
    waiting: Vec<Arc<str>>,
    /// How many classes began or ended so far.
    clock: u32,
    /// Resources of defined types, to be evaluated after the classes.
    pub(super) queue: VecDeque<Instance>,
    /// Classes that may have been evaluated already.
    pub(super) perhaps: Perhaps,
    /// Why parameters of defined types may have other values: defaults, overrides.
    pub(super) may_be_overridden: Option<Arc<str>>,
    /// Resources of defined types that only a collector evaluates.
    pub(super) not_evaluated: Vec<Instance>,
    /// Whether there are collectors.
    pub(super) has_collectors: bool,
}

impl Evaluator<'_> {
    /// Whether classes and resources are evaluated; otherwise their effects are unknown.
    pub(super) fn compiles(&self) -> bool {
        self.catalog.is_some()
    }

    /// The catalog; an empty one if none is compiled.
    pub(super) fn catalog(&mut self) -> &mut Catalog {
        self.catalog.get_or_insert_default()
    }

    /// `include`, `contain` and `require`.
    pub(super) fn include(&mut self, names: &[Value]) -> Evaluated {
        let mut all = Vec::new();
        for name in names {
            class_names(name, &mut all)?;
        }
        let mut found = Vec::new();
        for name in all {
            match self.definition(Defines::Class, &name) {
                DefinitionSource::Here(source, module) => found.push((name, source, module)),
                DefinitionSource::Missing => {
                    self.variables.note_name();
                    let node = &self.catalog().node;
                    let message = format!("Could not find class ::{name} for {node}");
                    self.past_failure(Err(Stop::failed(message)))?;
                }
                DefinitionSource::Unseen | DefinitionSource::Ruby => self.pass_class(&name),
            }
        }
        for (name, source, _) in &found {
            let result = self.declare_parents(name, source);
            self.past_failure(result)?;
            self.declare_quietly(name);
        }
        for (name, source, module) in found {
            let result = self.evaluate_class(&name, (&source, &module), Given::default());
            self.past_failure(result)?;
        }
        Ok(super::variables::opaque(
            "references of classes are not evaluated",
        ))
    }

    /// Declares the parents of a class: it is in the catalog after them
    /// (`Puppet::Resource::Type#ensure_in_catalog`).
    pub(super) fn declare_parents(&mut self, name: &Arc<str>, source: &CodeFile) -> Evaluated<()> {
        let mut family = vec![name.clone()];
        let mut next = parent_of(name, source);
        while let Some(parent) = next {
            if family.contains(&parent) {
                return Err(Stop::failed("stack level too deep"));
            }
            next = match self.definition(Defines::Class, &parent) {
                DefinitionSource::Here(source, _) => {
                    self.declare_quietly(&parent);
                    parent_of(&parent, &source)
                }
                DefinitionSource::Missing | DefinitionSource::Unseen | DefinitionSource::Ruby => {
                    None
                }
            };
            family.push(parent);
        }
        Ok(())
    }

    /// Declares a class that may be declared already.
    fn declare_quietly(&mut self, name: &str) {
        let declared = &mut self.catalog().declared;
        declared.entry(reference("class", name)).or_insert(None);
    }

    /// A failure of a class or resource: it ends the compilation, or it is passed over, and what the
    /// rest of the code would have done is unknown.
    pub(super) fn past_failure(&mut self, result: Evaluated<()>) -> Evaluated<()> {
        match result {
            Err(stop @ Stop::Failed(_)) if self.catalog().passes_failures => {
                self.doubt_all(&stop.because());
                Ok(())
            }
            other => other,
        }
    }

    fn tick(&mut self) -> u32 {
        let clock = &mut self.catalog().clock;
        *clock += 1;
        *clock
    }

    /// The place of the code that is evaluated, for messages: its file and line.
    pub(super) fn here(&self) -> (Arc<str>, u32) {
        (self.source.path.clone(), self.line)
    }

    /// The class or defined type of that name; a site manifest's definition wins over all others.
    pub(super) fn definition(&self, kind: Defines, name: &str) -> DefinitionSource {
        let is_own = |source: &&Arc<CodeFile>| source.definition(kind, name).is_some();
        match self.site.iter().find(is_own) {
            Some(source) => DefinitionSource::Here(source.clone(), Arc::from("")),
            None => self.host.defined(kind, name),
        }
    }

    /// A class that is not visible was included: it has unknown variables, and may include others.
    pub(super) fn pass_class(&mut self, name: &Arc<str>) {
        let because: Arc<str> = Arc::from(format!("class '{name}' is in no module here"));
        self.variables.forget_class(name, &because);
        self.doubt_all(&because);
    }

    /// Any class may have been evaluated, and Puppet may have failed.
    pub(super) fn doubt_all(&mut self, because: &Arc<str>) {
        self.variables.assigned.may_have_classes = true;
        self.may_fail(because);
        if self.compiles() {
            self.catalog().perhaps = Perhaps::All;
        }
    }

    pub(super) fn may_fail(&mut self, because: &Arc<str>) {
        let may_fail = &mut self.variables.assigned.may_fail;
        may_fail.get_or_insert_with(|| because.clone());
    }

    /// Code was passed over that may declare classes.
    pub(super) fn doubt(&mut self, node: &Expression, because: &Arc<str>) {
        self.variables.assigned.may_have_classes = true;
        if !self.compiles() {
            return;
        }
        self.may_fail(because);
        let perhaps = std::mem::take(&mut self.catalog().perhaps);
        self.catalog().perhaps = self.perhaps(node, perhaps);
    }

    /// Evaluates a class, if it was not before.
    pub(super) fn evaluate_class(
        &mut self,
        name: &Arc<str>,
        (source, module): (&Arc<CodeFile>, &Arc<str>),
        given: Given,
    ) -> Evaluated<()> {
        if self.catalog().begun.contains_key(name) {
            return Ok(());
        }
        self.readable(source)?;
        let Some(definition) = source.definition(Defines::Class, name) else {
            return Ok(());
        };
        let of_caller = self.variables.level.of_declared();
        self.catalog().begun.insert(name.clone(), of_caller);
        let mut level = of_caller;
        let mut parent = None;
        if let Some(of) = parent_of(name, source) {
            match self.definition(Defines::Class, &of) {
                DefinitionSource::Here(source, module) => {
                    self.catalog().waiting.push(name.clone());
                    let result = self.evaluate_class(&of, (&source, &module), Given::default());
                    self.catalog().waiting.pop();
                    result?;
                    if self.catalog().waiting.contains(&of) {
                        return Err(Stop::failed(format!("Could not find scope for {of}")));
                    }
                    level = *self.catalog().begun.get(&of).unwrap_or(&level);
                    self.catalog().begun.insert(name.clone(), level);
                    parent = Some(of);
                }
                DefinitionSource::Missing => {
                    return Err(Stop::failed(format!(
                        "Could not find parent resource type '{of}' of type hostclass"
                    )));
                }
                DefinitionSource::Unseen | DefinitionSource::Ruby => {
                    self.pass_class(&of);
                    self.pass_class(name);
                    return Ok(());
                }
            }
        }
        let open_parent = parent.as_ref().and_then(|of| {
            let evaluated = self.variables.assigned.classes.get(of)?;
            evaluated.may_be_more.clone()
        });
        if let Some(because) = open_parent {
            self.variables.forget_class(name, &because);
            self.doubt_all(&because);
            return Ok(());
        }
        let hidden = self.variables.enter_class(name, parent.as_ref(), level);
        let caller = std::mem::replace(&mut self.source, source.clone());
        let result = self.body_of(
            &DefinitionBody {
                definition,
                kind: Defines::Class,
                title: name,
                module,
            },
            parent,
            given,
        );
        if let Err(Stop::Lost(because)) = &result {
            self.variables.leave_open(name, because);
        }
        let ended = self.tick();
        self.variables.end_class(name, ended);
        self.source = caller;
        self.variables.leave(hidden);
        if let Err(stop @ Stop::Failed(_)) = &result {
            self.variables.forget_class(name, &stop.because());
        }
        // Where it was evaluated before, it saw other variables.
        if self.catalog().perhaps.contains(name) {
            let because: Arc<str> = Arc::from(format!("class '{name}' may be included before"));
            self.variables.forget_class(name, &because);
            if let Err(Stop::Failed(message)) = &result {
                self.may_fail(message);
                return Err(Stop::Lost(because));
            }
        }
        left(result)
    }

    /// Puppet's error for a text that it refuses. While it is edited, the error is not certain.
    pub(super) fn readable(&mut self, source: &Arc<CodeFile>) -> Evaluated<()> {
        match source.refusal() {
            None => Ok(()),
            Some(refusal) if source.is_too_long() => Err(Stop::Lost(Arc::from(refusal))),
            Some(refusal) => {
                self.met_refused = true;
                Err(Stop::failed(refusal))
            }
        }
    }

    /// Evaluates the resource of a defined type.
    pub(super) fn evaluate_instance(&mut self, instance: Instance) -> Evaluated<()> {
        let Instance {
            source,
            module,
            name,
            title,
            given,
            level,
        } = instance;
        self.readable(&source)?;
        let Some(definition) = source.definition(Defines::Type, &name) else {
            return Ok(());
        };
        let hidden = self.variables.enter();
        self.variables.level = level;
        let caller = std::mem::replace(&mut self.source, source.clone());
        let result = self.body_of(
            &DefinitionBody {
                definition,
                kind: Defines::Type,
                title: &title,
                module: &module,
            },
            None,
            given,
        );
        self.source = caller;
        self.variables.leave(hidden);
        left(result)
    }

    /// Evaluates parameters and statements in the innermost scope (`Type#evaluate_code`).
    fn body_of(
        &mut self,
        of: &DefinitionBody<'_>,
        parent: Option<Arc<str>>,
        mut given: Given,
    ) -> Evaluated<()> {
        let caller_module = std::mem::replace(&mut self.module, of.module.clone());
        let set = |name: &str, value: &str| (name.to_owned(), Value::string(value));
        let builtins = [
            set("module_name", of.module),
            set("caller_module_name", &caller_module),
        ];
        for (name, value) in builtins {
            self.variables.bind(&name, value);
        }
        let begun = self.tick();
        let result = self.looked_up(of, &mut given);
        let result = result.and_then(|()| {
            self.variables.bind("title", Value::string(of.title));
            self.variables.bind("name", Value::string(of.title));
            if of.kind == Defines::Class {
                self.variables.name_class(parent, begun);
            }
            self.bind_parameters(of, given)?;
            let statements = body(of.definition.body.as_ref());
            let result = self.block(statements);
            if let Err(Stop::Lost(because)) = &result {
                for node in statements {
                    if self.forget(node, because).declares {
                        self.doubt(node, because);
                    }
                }
            }
            result.map(|_| ())
        });
        self.module = caller_module;
        result
    }
}

/// The name of the class that a class inherits.
fn parent_of(name: &str, source: &CodeFile) -> Option<Arc<str>> {
    let definition = source.definition(Defines::Class, name)?;
    let (written, _) = definition.parent.as_ref()?;
    let written = without_colons(written);
    Some(Arc::from(written.to_lowercase()))
}

/// The result of a body, as its caller sees it.
fn left(result: Evaluated<()>) -> Evaluated<()> {
    match result {
        Ok(()) | Err(Stop::Unknown(_) | Stop::Return(_) | Stop::Next(_) | Stop::Lost(_)) => Ok(()),
        Err(Stop::Break | Stop::NotFound) => {
            Err(Stop::failed("break() from context where this is illegal"))
        }
        Err(stop @ Stop::Failed(_)) => Err(stop),
    }
}

/// A resource as Puppet writes it: `Class[A::B]`, `My::Type[x]`.
pub(super) fn reference(type_name: &str, title: &str) -> String {
    let capitalized = |name: &str| {
        let parts = name.split("::").map(|part| {
            let mut letters = part.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        });
        parts.collect::<Vec<_>>().join("::")
    };
    let type_name = capitalized(type_name);
    if type_name == "Class" {
        format!("Class[{}]", capitalized(title))
    } else {
        format!("{type_name}[{title}]")
    }
}

/// The names of classes in an argument of `include` (`transform_and_assert_classnames`).
pub(super) fn class_names(value: &Value, names: &mut Vec<Arc<str>>) -> Evaluated<()> {
    match value {
        Value::Array(elements) => elements
            .iter()
            .try_for_each(|each| class_names(each, names)),
        Value::String(text) if text.is_empty() => {
            Err(Stop::failed("Cannot use empty string as a class name"))
        }
        Value::String(text) => {
            names.push(Arc::from(without_colons(text).to_lowercase()));
            Ok(())
        }
        Value::Undef => Err(Stop::failed("Cannot use undef as a class name")),
        Value::Rich(rich) if rich.ptype == "Type" => {
            let inner = rich
                .text
                .strip_prefix("Class[")
                .and_then(|rest| rest.strip_suffix(']'));
            let inner = inner.map(|name| name.trim_matches(['\'', '"']));
            match inner {
                Some(name) if !name.contains(',') => {
                    names.push(Arc::from(without_colons(name).to_lowercase()));
                    Ok(())
                }
                _ => Err(Stop::unknown("the classes are not known")),
            }
        }
        _ => Err(Stop::unknown("the classes are not known")),
    }
}

/// The names of classes in literal arguments; `None` if others may be among them.
pub(super) fn literal_classes(nodes: &[Expression]) -> Option<BTreeSet<Arc<str>>> {
    let mut names = BTreeSet::new();
    for node in nodes {
        match &node.kind {
            ExpressionKind::List(inner) => names.extend(literal_classes(inner)?),
            ExpressionKind::Access(left, keys) if matches!(&left.kind, ExpressionKind::Reference(name) if **name == *"Class") =>
            {
                names.extend(literal_classes(keys)?);
            }
            _ => {
                let name = node.literal()?;
                names.insert(Arc::from(without_colons(name).to_lowercase()));
            }
        }
    }
    Some(names)
}
