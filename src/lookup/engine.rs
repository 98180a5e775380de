//! One compilation: the caches that Puppet's `LookupAdapter` keeps, and `lookup()` itself.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::budget::Budget;
use super::cached_values::AllCachedValues;
use super::context::Settings;
use super::error::{
    Cause, ErrorClass, Failure, Found, LookupError, Subject, no_method, optional, raise,
};
use super::layer::Providers;
use super::location::{KnownPlaces, PathVariables};
use super::merge::{Strategy, assert_type};
use super::options::KnownOptions;
use super::passed::{FewFiles, KnownMattering};
use super::reads::{Names, ReadNames};
use super::request::{Answer, Asker, Assumed, Log, Reads, Request, Tracing, Unknown};
use super::session::Session;
use super::trace::{Remark, TraceEvent, TraceKind, TraceNode, Tracer};
use crate::datatype::{self, ParseError, Type};
use crate::interpolation::{Key, Segment};
use crate::scope::Scope;
use crate::value::{HashMap as Hash, KeyHashing, Missing, Opaque, StrKey, Value};
use crate::workspace::LOOKUP_OPTIONS;

/// Maximum number of names on the stack of nested lookups. Puppet runs out of Ruby's stack at about
/// this depth (`SystemStackError`).
const MAX_NESTING: usize = 120;

/// The state of one nested lookup (`Puppet::Pops::Lookup::Invocation`).
#[derive(Clone, Debug, Default)]
pub(super) struct Invocation {
    pub(super) overrides: Arc<Hash>,
    pub(super) defaults: Arc<Hash>,
    /// The looked-up key, for the global layer's errors.
    pub(super) top_key: Arc<str>,
    pub(super) module_name: Option<Arc<str>>,
    /// Only the global layer is searched (Hiera 3).
    pub(super) global_only: bool,
    /// Variables are read as Hiera 3 reads them: an empty string is nil.
    pub(super) hiera_scope: bool,
}

impl Invocation {
    pub(super) fn for_key(&self, key: &Key, names: &mut Names) -> Invocation {
        Invocation {
            overrides: self.overrides.clone(),
            defaults: self.defaults.clone(),
            top_key: key.text.clone(),
            module_name: key.module_name().map(|name| names.shared(name)),
            global_only: self.global_only,
            hiera_scope: self.hiera_scope,
        }
    }

    /// The same for `lookup_options`, without the caller's overrides and defaults.
    pub(super) fn for_options(&self) -> Invocation {
        Invocation {
            overrides: Arc::default(),
            defaults: Arc::default(),
            top_key: LOOKUP_OPTIONS.into(),
            ..self.clone()
        }
    }
}

pub(super) type Map<K, V> = HashMap<K, V, KeyHashing>;

pub(super) struct Engine<'a> {
    pub(super) session: Session<'a>,
    pub(super) scope: Scope,
    pub(super) tracer: Option<Tracer>,
    /// Names being looked up, to detect loops.
    pub(super) stack: Vec<Arc<str>>,
    pub(super) logs: Vec<Log>,
    /// Keys of warnings that are given once.
    pub(super) warned: HashSet<String>,
    pub(super) unknown: Vec<Unknown>,
    pub(super) assumed: Vec<Assumed>,
    /// Undefined variables only cause warnings, whatever `strict` is (Puppet 8, locations).
    pub(super) lenient: bool,
    pub(super) in_options: bool,
    pub(super) options: KnownOptions,
    pub(super) providers: Providers,
    pub(super) places: KnownPlaces,
    /// `None` for a lookup of one key for one scope.
    pub(super) mattering: Option<KnownMattering>,
    /// The last root key that was asked for there.
    pub(super) last_mattering: Option<(Arc<str>, FewFiles)>,
    pub(super) cached_values: AllCachedValues,
    /// When the class whose parameter is looked up began, if that is known.
    pub(super) asked_at: Option<u32>,
    /// Whether the last request ended with an error.
    failed: bool,
    pub(super) budget: Budget,
    pub(super) reads: ReadNames,
    /// Placeholder until the caller adds the reads to an answer.
    no_reads: Arc<Reads>,
    pub(super) module_names: Names,
    /// Whether levels are being built for the scope.
    pub(super) in_levels: bool,
    /// The variables that were read for it.
    pub(super) in_paths: Names,
    /// Their texts so far, while they are built.
    pub(super) path_variables: PathVariables,
    /// Whether they may be others in another version of Puppet.
    pub(super) levels_depend_on_version: bool,
}

impl<'a> Engine<'a> {
    pub(super) fn new(session: Session<'a>, scope: Scope) -> Engine<'a> {
        let scope = if session.environment.is_of_plans {
            scope.of_plan()
        } else {
            scope
        };
        Engine {
            session,
            scope,
            tracer: None,
            stack: Vec::new(),
            logs: Vec::new(),
            warned: HashSet::new(),
            unknown: Vec::new(),
            assumed: Vec::new(),
            lenient: false,
            in_options: false,
            options: KnownOptions::default(),
            providers: Providers::default(),
            places: KnownPlaces::default(),
            mattering: None,
            last_mattering: None,
            cached_values: AllCachedValues::default(),
            asked_at: None,
            failed: false,
            budget: Budget::default(),
            reads: ReadNames::default(),
            no_reads: Arc::default(),
            module_names: Names::default(),
            in_levels: false,
            in_paths: Names::default(),
            path_variables: PathVariables::default(),
            levels_depend_on_version: false,
        }
    }

    pub(super) fn settings(&self) -> &'a Settings {
        self.session.settings
    }

    pub(super) fn run(&mut self, request: &Request) -> Answer {
        self.tracer = match request.tracing {
            Tracing::Off => None,
            wanted @ (Tracing::Full | Tracing::Sources | Tracing::OptionsOnly) => {
                Some(Tracer::new(wanted))
            }
        };
        self.budget = Budget::default();
        self.cached_values.begin();
        if std::mem::take(&mut self.failed) {
            // A compilation ends with its first error; partial results must not be visible.
            self.options = KnownOptions::default();
        }
        let asked_at = self.time_of(request);
        if asked_at != self.asked_at {
            // Paths with variables of classes may be others.
            self.asked_at = asked_at;
            self.providers = Providers::default();
            self.options = KnownOptions::default();
        }
        self.options.begin();
        let invocation = Invocation {
            overrides: request.overrides.clone(),
            defaults: request.default_values.clone(),
            ..Invocation::default()
        };
        let result = match self.no_catalog() {
            Some(unknown) => Ok(unknown),
            None => self.lookup_request(request, &invocation),
        };
        self.stack.clear();
        self.failed = result.is_err();
        if matches!(result, Err(Failure::Error(_))) {
            // Its words, and whether it is one.
            self.note_version();
        }
        let result = match result {
            Ok(value) => Ok(value),
            // A limit of this program does not exist in Puppet.
            Err(Failure::Error(error)) if error.class == ErrorClass::Limit => {
                Ok(Value::Opaque(Arc::new(Opaque::Unknown {
                    text: String::new(),
                    because: Missing::Other(format!("not looked up to the end: {error}")),
                })))
            }
            Err(Failure::Error(error)) => Err(error.in_words_of(self.settings().ruby)),
            Err(Failure::NotFound) => {
                let cause = Cause::NotFound(request.names.clone());
                Err(LookupError::new(ErrorClass::Lookup, cause))
            }
        };
        let mut trace = self.tracer.take().map(Tracer::finish);
        if let (Some(trace), Err(error)) = (&mut trace, &result)
            && error.class.is_lookup_error()
            && !(error.is_not_found() && request.asker == Asker::ClassParameter)
            // An unknown level may have the value.
            && (!error.is_not_found() || self.unknown.is_empty())
        {
            trace.remarks.push(Remark::Failed(error.clone()));
        }
        Answer {
            result,
            unknown: self.unknown.clone(),
            assumed: self.assumed.clone(),
            reads: self.no_reads.clone(),
            depends_on_version: self.reads.depend_on_version,
            trace,
            logs: std::mem::take(&mut self.logs),
            options: self.known_options(request),
        }
    }

    /// The unknown answer for a node for which Puppet compiles no catalog.
    fn no_catalog(&self) -> Option<Value> {
        let message = self.scope.assigned()?.why_no_catalog()?;
        Some(Value::Opaque(Arc::new(Opaque::Unknown {
            text: String::new(),
            because: Missing::Other(format!("Puppet compiles no catalog: {message}")),
        })))
    }

    /// When the class began whose parameter an agent's catalog looks up; `None` for other keys, and if no
    /// class was evaluated.
    fn time_of(&self, request: &Request) -> Option<u32> {
        let assigned = self.scope.assigned().filter(|it| it.is_for_agent)?;
        let [name] = &request.names[..] else {
            return None;
        };
        let (class, _) = name.rsplit_once("::")?;
        Some(assigned.classes.get(class)?.begun)
    }

    /// Whether a variable may have been set only after the lookup.
    pub(super) fn is_set_later(&self, name: &str) -> bool {
        let assigned = self.asked_at.zip(self.scope.assigned());
        assigned.is_some_and(|(at, assigned)| assigned.is_set_later(name, at))
    }

    fn lookup_request(&mut self, request: &Request, invocation: &Invocation) -> Found {
        let value_type = match &request.value_type {
            None => None,
            Some(text) => Some(self.parse_type(text).map_err(bad_type)?),
        };
        let (names, merge) = (&request.names, request.merge.as_ref());
        let found = optional(self.lookup_names(names, value_type.as_ref(), merge, invocation))?;
        match (found, &request.default_value) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => checked("Default value", value_type.as_ref(), default.clone()),
            (None, None) => Err(Failure::NotFound),
        }
    }

    /// `Puppet::Pops::Lookup.lookup` without the default value.
    pub(super) fn lookup_names(
        &mut self,
        names: &[Arc<str>],
        value_type: Option<&Type>,
        merge: Option<&Value>,
        invocation: &Invocation,
    ) -> Found {
        for name in names {
            if let Some(value) = invocation.overrides.get(&StrKey(name)) {
                let subject = format!("Value found for key '{name}' in override hash");
                let value = checked(&subject, value_type, value.clone())?;
                return checked("Found value", value_type, value);
            }
            if let Some(value) = optional(self.search(name, merge, invocation))? {
                return checked("Found value", value_type, value);
            }
        }
        for name in names {
            if let Some(value) = invocation.defaults.get(&StrKey(name)) {
                let subject = format!("Value found for key '{name}' in default values hash");
                return checked(&subject, value_type, value.clone());
            }
        }
        Err(Failure::NotFound)
    }

    /// `LookupAdapter#lookup`: one name through all layers.
    fn search(&mut self, name: &Arc<str>, merge: Option<&Value>, invocation: &Invocation) -> Found {
        self.budget.add_lookup()?;
        if **name == *LOOKUP_OPTIONS || name.starts_with("lookup_options.") {
            self.leaf(|| TraceKind::InvalidKey(LOOKUP_OPTIONS.into()));
            return Err(Failure::NotFound);
        }
        let key = Key::of(name).map_err(|_| {
            LookupError::new(ErrorClass::Lookup, format!("Syntax error in key: '{name}'"))
        })?;
        let root = match &key.root {
            Segment::Name(root) => root,
            Segment::Index(number) => return no_method("index", &Value::Int(*number)),
        };
        self.reads.keys.add_shared(root);
        let invocation = invocation.for_key(&key, &mut self.module_names);
        if self.traces(Tracing::OptionsOnly) {
            let options_key = options_key();
            let strategy = Value::string("hash");
            optional(self.do_lookup(&options_key, &invocation, Some(&strategy)))?;
            return Ok(Value::Undef);
        }
        let entry = self.options_for(&key, &invocation)?;
        let own_merge;
        let merge = match merge {
            Some(merge) => Some(merge),
            None => {
                own_merge = super::options::option(&entry, "merge")?;
                if !own_merge.is_undef() {
                    self.leaf(|| TraceKind::MergeSource);
                }
                Some(&own_merge)
            }
        };
        let value = self.with(
            || TraceKind::Data(key.text.clone()),
            |engine| match engine.do_lookup(&key, &invocation, merge) {
                Err(Failure::NotFound) if !invocation.global_only => {
                    let value = engine.lookup_in_default_hierarchy(&key, &invocation)?;
                    engine.dig(&key.text, &key.segments, value)
                }
                other => other,
            },
        )?;
        self.convert(&key, &entry, value)
    }

    /// `LookupAdapter#do_lookup`
    pub(super) fn do_lookup(
        &mut self,
        key: &Key,
        invocation: &Invocation,
        merge: Option<&Value>,
    ) -> Found {
        let merge = merge.unwrap_or(&Value::Undef);
        let value = if invocation.global_only {
            self.lookup_global_only(key, invocation, merge)?
        } else {
            let strategy = Strategy::read(merge)?;
            let layers = [LayerStep::Global, LayerStep::Environment, LayerStep::Module];
            self.merge_variants(&strategy, &layers, &mut |engine, step| match step {
                LayerStep::Global => engine.lookup_global(key, invocation, &strategy),
                LayerStep::Environment => engine.lookup_in_environment(key, invocation, &strategy),
                LayerStep::Module => engine.lookup_in_module(key, invocation, &strategy),
            })?
        };
        self.dig(&key.text, &key.segments, value)
    }

    /// `LookupAdapter#convert_result`
    fn convert(&mut self, key: &Key, entry: &Value, value: Value) -> Found {
        if entry.is_undef() {
            return Ok(value);
        }
        let convert_to = super::options::option(entry, "convert_to")?;
        if convert_to.is_undef() {
            return Ok(value);
        }
        let has_arguments = convert_to.as_array().is_some();
        let (target, arguments) = match convert_to.as_array() {
            Some([target, arguments @ ..]) => (target.clone(), arguments.to_vec()),
            Some([]) => (Value::Undef, Vec::new()),
            None => (convert_to, Vec::new()),
        };
        let lookup_error =
            |cause: String| LookupError::new(ErrorClass::Lookup, Cause::Conversion(cause));
        let aliases = self.type_aliases();
        let (target, converted) = match target.as_str() {
            Some(text) => {
                let target = self.parse_type(text).map_err(|error| {
                    lookup_error(format!(
                        "Invalid data type in lookup_options for key '{}' could not parse \
                         '{text}', error: '{error}",
                        key.text
                    ))
                })?;
                let type_value = datatype::type_value(&target);
                if has_arguments {
                    self.options.convert(entry, &type_value);
                }
                if value.has_opaque() {
                    return Ok(value);
                }
                let converted = datatype::convert(&target, &value, &arguments, &aliases);
                (type_value, converted)
            }
            None => {
                let converted = datatype::convert_to(&target, &value, &arguments, &aliases);
                (target, converted)
            }
        };
        let converted = converted.map_err(|message| {
            lookup_error(format!(
                "The convert_to lookup_option for key '{}' raised error: {message}",
                key.text
            ))
        })?;
        self.remark(|| {
            let arguments = std::iter::once(target).chain(arguments);
            Remark::Converted(Value::array(arguments))
        });
        Ok(converted)
    }

    /// `Invocation#check`: runs `inner` unless `name` is already being looked up. Puppet's errors
    /// become `LookupError` when they leave it.
    pub(super) fn check<T>(
        &mut self,
        name: &Arc<str>,
        inner: impl FnOnce(&mut Self) -> Found<T>,
    ) -> Found<T> {
        self.refuse_loop(|known| *known == **name)?;
        self.stack.push(name.clone());
        let result = inner(self);
        self.stack.pop();
        result.map_err(|failure| match failure {
            Failure::Error(error)
                if error.class.is_puppet_error() && !error.class.is_lookup_error() =>
            {
                LookupError::new(ErrorClass::Lookup, Cause::Raised(error)).into()
            }
            other @ (Failure::NotFound | Failure::Error(_)) => other,
        })
    }

    /// The error if one of the names being looked up matches `is_this`, or if there are too many.
    pub(super) fn refuse_loop(&self, is_this: impl Fn(&str) -> bool) -> Found<()> {
        if self.stack.iter().any(|known| is_this(known)) {
            let cause = Cause::Recursion(self.stack.clone());
            return raise(ErrorClass::RecursiveLookup, cause);
        }
        if self.stack.len() >= MAX_NESTING {
            let message = format!("lookups nested deeper than {MAX_NESTING}");
            return raise(ErrorClass::Limit, message);
        }
        Ok(())
    }

    /// Runs `inner` below a node of the trace.
    pub(super) fn with<T>(
        &mut self,
        kind: impl FnOnce() -> TraceKind,
        inner: impl FnOnce(&mut Self) -> Found<T>,
    ) -> Found<T> {
        match self.recorder() {
            None => inner(self),
            Some(tracer) => {
                tracer.push(kind());
                let result = inner(self);
                if let Some(tracer) = &mut self.tracer {
                    tracer.pop();
                }
                result
            }
        }
    }

    /// Evaluates a string with tokens. A trace of sources leaves out what the tokens look up: a hash
    /// with hundreds of them would have as many lookups in its trace.
    pub(super) fn with_interpolation<T>(
        &mut self,
        text: &Arc<str>,
        inner: impl FnOnce(&mut Self) -> Found<T>,
    ) -> Found<T> {
        if !self.traces(Tracing::Sources) {
            return self.with(|| TraceKind::Interpolation(Arc::clone(text)), inner);
        }
        let was_paused = self.pause(true);
        let result = inner(self);
        self.pause(was_paused);
        result
    }

    /// Pauses the trace or goes on with it. Returns whether it was paused.
    fn pause(&mut self, is_paused: bool) -> bool {
        let tracer = self.tracer.as_mut();
        tracer.is_some_and(|tracer| std::mem::replace(&mut tracer.is_paused, is_paused))
    }

    /// The trace that is being recorded now.
    pub(super) fn recorder(&mut self) -> Option<&mut Tracer> {
        self.tracer.as_mut().filter(|tracer| !tracer.is_paused)
    }

    /// Whether a trace of this kind is being recorded.
    pub(super) fn traces(&self, tracing: Tracing) -> bool {
        let tracer = self.tracer.as_ref();
        tracer.is_some_and(|tracer| tracer.wanted == tracing)
    }

    pub(super) fn event(&mut self, event: impl FnOnce() -> TraceEvent) {
        if let Some(tracer) = self.recorder() {
            tracer.current().event = event();
        }
    }

    pub(super) fn leaf(&mut self, kind: impl FnOnce() -> TraceKind) {
        if let Some(tracer) = self.recorder() {
            tracer.current().children.push(TraceNode::new(kind()));
        }
    }

    pub(super) fn remark(&mut self, remark: impl FnOnce() -> Remark) {
        if let Some(tracer) = self.recorder() {
            tracer.current().remarks.push(remark());
        }
    }

    /// `Puppet.warning`
    pub(super) fn warn(&mut self, message: String) {
        self.logs.push(Log { message });
    }

    /// `Puppet.warn_once`; `place` is the file that it names.
    pub(super) fn warn_once(&mut self, key: &str, message: &str, place: Option<&str>) {
        if self.warned.insert(key.to_string()) {
            let place = match place {
                Some(file) => format!("(file: {file})"),
                None => "(file & line not available)".to_string(),
            };
            self.warn(format!("{message}\n   {place}"));
        }
    }

    pub(super) fn parse_type(&self, text: &str) -> Result<Type, ParseError> {
        datatype::parse(text, &self.type_aliases())
    }
}

/// The three steps of a lookup (`PROVIDER_STACK`).
enum LayerStep {
    Global,
    Environment,
    Module,
}

pub(super) fn options_key() -> Key {
    Key {
        text: LOOKUP_OPTIONS.into(),
        root: Segment::Name(LOOKUP_OPTIONS.into()),
        segments: Vec::new(),
    }
}

fn checked(subject: &str, value_type: Option<&Type>, value: Value) -> Found {
    if let Some(expected) = value_type {
        assert_type(Subject::Other(subject.to_owned()), expected, &value)?;
    }
    Ok(value)
}

/// The error of Puppet's parser for an invalid type expression.
fn bad_type(error: ParseError) -> LookupError {
    let (class, issue_code) = if error.is_syntax() {
        (ErrorClass::ParseWithIssue, Some("SYNTAX_ERROR"))
    } else {
        (ErrorClass::Parse, None)
    };
    LookupError {
        issue_code,
        ..LookupError::new(class, Cause::TypeExpression(error))
    }
}
