//! Collects `lookup_options` over the layers, and finds the entry for a key
//! (`puppet/pops/lookup/lookup_adapter.rb`).

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::context::ConfigCache;
use super::engine::{Engine, Invocation, Map, options_key};
use super::error::{ErrorClass, Failure, Found, LookupError, no_method, optional, raise};
use super::merge::{Strategy, StrategyKind, is_hash_of_data};
use super::reads::ReadNames;
use super::request::{Assumed, Log, Reads, Request, Tracing, Unknown};
use super::trace::{TraceEvent, TraceKind, TraceScope};
use crate::interpolation::Key;
use crate::regexp::{MatchLimit, Regexp, RegexpError};
use crate::value::{HashMap, StrKey, Value};
use crate::workspace::LOOKUP_OPTIONS;

/// A prepared hash of options: all entries, and the patterns among them in the order they are tried.
#[derive(Debug, Default)]
pub(super) struct CompiledOptions {
    entries: Arc<HashMap>,
    patterns: Vec<(Regexp, Value)>,
    /// Whether Puppet merges them with others.
    is_mergeable: bool,
    /// The index of the first pattern that matches a key, for keys that were asked for: nodes share
    /// their keys, and most share their options.
    first_matches: Mutex<Map<Box<str>, Option<usize>>>,
}

/// Maximum number of keys whose pattern is kept.
const MAX_MATCHED_KEYS: usize = 1 << 16;

#[derive(Clone, Debug, Default)]
pub(super) struct KnownOptions {
    /// For keys of a module, or without one.
    by_module: Map<Option<Arc<str>>, KnownOfModule>,
    /// Of the global layer.
    global: Option<Option<Value>>,
    /// From the global layer and the environment.
    outer: Option<Option<Value>>,
    /// From modules' default hierarchies.
    defaults: Map<Arc<str>, Arc<LookupOptions>>,
    /// The running request, counted from 1.
    request: u64,
    /// The options from the global layer and the environment, once the running request has converted
    /// a value: Puppet replaces the text of a type in a `convert_to` with arguments by the type.
    converted: Option<Value>,
}

/// Options for keys of one module, or without one.
#[derive(Clone, Debug)]
struct KnownOfModule {
    options: Arc<LookupOptions>,
    /// The last request that needed them.
    request: u64,
}

impl KnownOptions {
    /// Begins a request: what the one before converted belongs to its own compilation.
    pub(super) fn begin(&mut self) {
        self.request += 1;
        self.converted = None;
    }

    /// The known options for keys of a module; `None` if this request would merge them with options
    /// that a conversion has changed.
    fn of_module(&mut self, module: &Option<Arc<str>>) -> Option<&Arc<LookupOptions>> {
        let known = self.by_module.get_mut(module)?;
        if known.request != self.request {
            if self.converted.is_some() {
                return None;
            }
            known.request = self.request;
        }
        Some(&known.options)
    }

    fn add_module(&mut self, module: Option<Arc<str>>, options: &Arc<LookupOptions>) {
        let known = KnownOfModule {
            options: Arc::clone(options),
            request: self.request,
        };
        self.by_module.insert(module, known);
    }

    /// Puts a type where an entry for converted keys has its text (`convert_result`, which changes
    /// the merged options in place).
    pub(super) fn convert(&mut self, entry: &Value, target: &Value) {
        let (Value::Hash(converted), Some(Some(Value::Hash(outer)))) = (entry, &self.outer) else {
            return;
        };
        let is_entry =
            |value: &Value| matches!(value, Value::Hash(hash) if Arc::ptr_eq(hash, converted));
        let Some((name, _)) = outer.iter().find(|(_, value)| is_entry(value)) else {
            return;
        };
        let Some(Value::Array(arguments)) = converted.get(&StrKey("convert_to")) else {
            return;
        };
        let arguments = std::iter::once(target).chain(arguments.iter().skip(1));
        let mut entry = HashMap::clone(converted);
        entry.insert(
            Value::string("convert_to"),
            Value::array(arguments.cloned()),
        );
        let changed = match &self.converted {
            Some(Value::Hash(changed)) => changed,
            _ => outer,
        };
        let mut changed = HashMap::clone(changed);
        changed.insert(name.clone(), Value::from(entry));
        self.converted = Some(Value::from(changed));
    }
}

/// The state of a compilation after collecting options.
#[derive(Debug)]
pub(super) struct CollectedOptions {
    options: KnownOptions,
    reads: ReadNames,
    logs: Vec<Log>,
    warned: HashSet<String>,
    unknown: Vec<Unknown>,
    assumed: Vec<Assumed>,
}

impl CollectedOptions {
    /// The inputs that they were made from.
    pub(super) fn reads(&self) -> Reads {
        self.reads.list()
    }
}

/// The options that apply in one scope to keys of one module, or without one.
#[derive(Debug, Default)]
pub struct LookupOptions {
    /// Of the global layer and the environment, or all.
    outer: Arc<CompiledOptions>,
    /// Of the module, if they are merged with the outer ones.
    own: Option<Arc<CompiledOptions>>,
}

/// The entry that applies to a key.
#[derive(Clone, PartialEq, Debug)]
pub struct OptionsEntry {
    /// Its name as written: a key or a pattern.
    pub name: Arc<str>,
    /// Its value.
    pub value: Value,
    /// Whether the name is a pattern.
    pub source: OptionsSource,
}

/// How an entry names its keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionsSource {
    /// By the key itself.
    Exact,
    /// By a pattern.
    Pattern,
}

impl CompiledOptions {
    /// `LookupAdapter#compile_patterns`
    fn compile(options: Option<&Value>, configs: &ConfigCache) -> Found<CompiledOptions> {
        let Some(Value::Hash(entries)) = options else {
            return Ok(CompiledOptions::default());
        };
        let mut patterns = Vec::new();
        for (key, value) in entries.iter() {
            let Some(name) = key.as_str() else {
                return no_method("start_with?", key);
            };
            if is_pattern(name) {
                let pattern = configs
                    .pattern(name)
                    .map_err(|error| LookupError::new(class_of(&error), error.to_string()))?;
                patterns.push((pattern, value.clone()));
            }
        }
        Ok(CompiledOptions {
            entries: entries.clone(),
            patterns,
            is_mergeable: is_hash_of_data(&Value::Hash(Arc::clone(entries))),
            first_matches: Mutex::default(),
        })
    }

    /// The index of the first pattern that matches a key. O(patterns) once for a key.
    fn first_match(&self, root_key: &str) -> Result<Option<usize>, MatchLimit> {
        if self.patterns.is_empty() {
            return Ok(None);
        }
        let known = || {
            let known = self.first_matches.lock();
            known.unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(first) = known().get(root_key) {
            return Ok(*first);
        }
        let mut first = None;
        for (at, (pattern, _)) in self.patterns.iter().enumerate() {
            if pattern.is_match(root_key)? {
                first = Some(at);
                break;
            }
        }
        let mut known = known();
        if known.len() >= MAX_MATCHED_KEYS {
            known.clear();
        }
        known.insert(Box::from(root_key), first);
        Ok(first)
    }
}

impl LookupOptions {
    fn of(outer: Arc<CompiledOptions>) -> Arc<LookupOptions> {
        Arc::new(LookupOptions { outer, own: None })
    }

    /// The entry for a root key: the exact one unless it is nil, else the first pattern that
    /// matches. Also `None` if a pattern takes too many steps: every lookup of that key fails.
    #[must_use]
    pub fn entry(&self, root_key: &str) -> Option<OptionsEntry> {
        let (pattern, value) = self.choose(root_key).ok()??;
        Some(OptionsEntry {
            name: Arc::from(pattern.map_or(root_key, Regexp::source)),
            value: value.clone(),
            source: match pattern {
                None => OptionsSource::Exact,
                Some(_) => OptionsSource::Pattern,
            },
        })
    }

    /// The value of the entry for a root key; `undef` without one.
    fn value_for(&self, root_key: &str) -> Found {
        let chosen = self
            .choose(root_key)
            .map_err(|limit| LookupError::new(ErrorClass::Limit, limit.to_string()))?;
        Ok(chosen.map(|(_, value)| value.clone()).unwrap_or_default())
    }

    /// The entry's value, with the pattern if one chose it.
    fn choose(&self, root_key: &str) -> Result<Option<(Option<&Regexp>, &Value)>, MatchLimit> {
        let of_outer = |name: &str| self.outer.entries.get(&StrKey(name));
        let own = self.own.as_deref();
        let exact =
            of_outer(root_key).or_else(|| own.and_then(|own| own.entries.get(&StrKey(root_key))));
        if let Some(value) = exact.filter(|value| !is_pattern(root_key) && !value.is_undef()) {
            return Ok(Some((None, value)));
        }
        // Ruby's merge puts the names of the module first, with the values of the outer layers
        // (`HashMergeStrategy#checked_merge`).
        if let Some(own) = own
            && let Some(at) = own.first_match(root_key)?
        {
            let (pattern, value) = &own.patterns[at];
            let value = of_outer(pattern.source()).unwrap_or(value);
            return Ok(Some((Some(pattern), value)));
        }
        let first = self.outer.first_match(root_key)?;
        let first = first.map(|at| &self.outer.patterns[at]);
        Ok(first.map(|(pattern, value)| (Some(pattern), value)))
    }
}

/// A pattern that only this program refuses is no error of Puppet's.
fn class_of(error: &RegexpError) -> ErrorClass {
    match error {
        RegexpError::Invalid { .. } => ErrorClass::Regexp,
        RegexpError::Unsupported { .. } => ErrorClass::Limit,
    }
}

fn is_pattern(name: &str) -> bool {
    name.starts_with('^')
}

/// `entry['merge']` as Ruby indexes it: entries that are no hash behave oddly.
pub(super) fn option(entry: &Value, name: &str) -> Found {
    match entry {
        Value::Undef | Value::Bool(false) => Ok(Value::Undef),
        Value::Hash(hash) => Ok(hash.get(&StrKey(name)).cloned().unwrap_or_default()),
        Value::String(text) if text.contains(name) => Ok(Value::string(name)),
        Value::String(_) | Value::Opaque(_) => Ok(Value::Undef),
        Value::Array(_) | Value::Int(_) | Value::BigInt(_) => raise(
            ErrorClass::Type,
            "no implicit conversion of String into Integer",
        ),
        other => no_method("[]", other),
    }
}

impl Engine<'_> {
    /// The collected options, before the first request. `None` if keys were looked up: whether
    /// these make a loop depends on the request.
    pub(super) fn collected_options(&self) -> Option<CollectedOptions> {
        if !self.cached_values.is_empty() || !self.reads.list().keys.is_empty() {
            return None;
        }
        Some(CollectedOptions {
            options: self.options.clone(),
            reads: self.reads.clone(),
            logs: self.logs.clone(),
            warned: self.warned.clone(),
            unknown: self.unknown.clone(),
            assumed: self.assumed.clone(),
        })
    }

    /// Adopts options that another compilation has collected.
    pub(super) fn take_options(&mut self, collected: &CollectedOptions) {
        self.options = collected.options.clone();
        self.reads = collected.reads.clone();
        self.logs = collected.logs.clone();
        self.warned = collected.warned.clone();
        self.unknown = collected.unknown.clone();
        self.assumed = collected.assumed.clone();
    }

    /// The options for keys of the module of a request's first name, if they were collected.
    pub(super) fn known_options(&self, request: &Request) -> Option<Arc<LookupOptions>> {
        let key = Key::of(request.names.first()?).ok()?;
        let module = key.module_name().map(Arc::from);
        let known = self.options.by_module.get(&module)?;
        Some(Arc::clone(&known.options))
    }

    /// The entry of `lookup_options` that applies to `key`; `undef` without one.
    pub(super) fn options_for(&mut self, key: &Key, invocation: &Invocation) -> Found {
        let root = key.root.as_name().unwrap_or_default();
        // The invocation belongs to this key.
        if let Some(known) = self.options.of_module(&invocation.module_name) {
            return known.value_for(root);
        }
        let options = self.retrieve_options(invocation.module_name.clone(), invocation)?;
        options.value_for(root)
    }

    /// The options for keys of a module, or without one, collected once (`lookup_lookup_options`).
    pub(super) fn retrieve_options(
        &mut self,
        module: Option<Arc<str>>,
        invocation: &Invocation,
    ) -> Found<Arc<LookupOptions>> {
        if let Some(known) = self.options.of_module(&module) {
            return Ok(known.clone());
        }
        let meta = invocation.for_options();
        let options = self.within_options(
            || TraceKind::Options,
            |engine| engine.collect_options(module.as_ref(), &meta),
        )?;
        self.options.add_module(module, &options);
        Ok(options)
    }

    /// Searches for options, with a trace if requested.
    fn within_options<T>(
        &mut self,
        kind: impl FnOnce() -> TraceKind,
        search: impl FnOnce(&mut Self) -> Found<T>,
    ) -> Found<T> {
        let was_in_options = std::mem::replace(&mut self.in_options, true);
        let tracer = if self.traces(Tracing::Sources) {
            self.tracer.take()
        } else {
            None
        };
        let found = self.with(kind, search);
        if tracer.is_some() {
            self.tracer = tracer;
        }
        self.in_options = was_in_options;
        found
    }

    fn collect_options(
        &mut self,
        module: Option<&Arc<str>>,
        meta: &Invocation,
    ) -> Found<Arc<LookupOptions>> {
        let strategy = Strategy::plain(StrategyKind::Hash);
        if meta.global_only {
            let options = self.global_lookup_options(meta, &strategy)?;
            return self.compiled(options.as_ref()).map(LookupOptions::of);
        }
        let options = self.environment_lookup_options(meta, &strategy)?;
        let Some(module) = module else {
            return self.compiled(options.as_ref()).map(LookupOptions::of);
        };
        // Only the outer layers apply to keys without a module. A lookup from inside the options may have found
        // others: these stay for such keys, and only for them.
        if self.options.of_module(&None).is_none() {
            let outer = LookupOptions::of(self.compiled(options.as_ref())?);
            self.options.add_module(None, &outer);
        }
        let own = optional(self.lookup_in_module(&options_key(), meta, &strategy))?;
        let Some(own) = own else {
            return self.compiled(options.as_ref()).map(LookupOptions::of);
        };
        let own = validate(own, Some(module))?;
        let (Some(options), Some(own)) = (options, own.clone()) else {
            // A module with null options discards those of the outer layers
            // (`retrieve_lookup_options`).
            return self.compiled(own.as_ref()).map(LookupOptions::of);
        };
        // Each part is prepared once: most nodes share those of a module. What a conversion has changed is
        // in no prepared part, and may be refused.
        if self.tracer.is_none()
            && self.options.converted.is_none()
            && let Ok(outer) = self.compiled(Some(&options))
            && outer.is_mergeable
            && let Ok(own) = self.compiled(Some(&own))
            && own.is_mergeable
        {
            return Ok(Arc::new(LookupOptions {
                outer,
                own: Some(own),
            }));
        }
        self.merge_options(&options, &own, meta)
    }

    /// The options of a module merged with those of the outer layers.
    fn merge_options(
        &mut self,
        outer: &Value,
        own: &Value,
        meta: &Invocation,
    ) -> Found<Arc<LookupOptions>> {
        let module = meta.module_name.clone().unwrap_or_default();
        let phases = [
            (TraceScope::OuterOptions, outer),
            (TraceScope::ModuleOptions(module), own),
        ];
        let strategy = Strategy::plain(StrategyKind::Hash);
        let merged = self.merge_variants(&strategy, &phases, &mut |engine, (phase, options)| {
            engine.with(
                || TraceKind::Scope(phase.clone()),
                |engine| {
                    engine.event(|| TraceEvent::Found(LOOKUP_OPTIONS.into(), (*options).clone()));
                    Ok((*options).clone())
                },
            )
        })?;
        self.compile(Some(&merged)).map(LookupOptions::of)
    }

    /// Like [`Engine::compile`], with the result of before for the very same options.
    fn compiled(&self, options: Option<&Value>) -> Found<Arc<CompiledOptions>> {
        let compile = || self.compile(options);
        match options {
            Some(Value::Hash(entries)) => self.session.configs.compiled_options(entries, compile),
            _ => compile(),
        }
    }

    fn compile(&self, options: Option<&Value>) -> Found<Arc<CompiledOptions>> {
        CompiledOptions::compile(options, self.session.configs).map(Arc::new)
    }

    fn global_lookup_options(
        &mut self,
        meta: &Invocation,
        strategy: &Strategy,
    ) -> Found<Option<Value>> {
        if let Some(known) = &self.options.global {
            return Ok(known.clone());
        }
        // Ruby sets the variable before the search: a lookup from inside the options finds none
        // here.
        self.options.global = Some(None);
        let found = optional(self.lookup_global(&options_key(), meta, strategy))?;
        let found = validate(found.unwrap_or_default(), None)?;
        self.options.global = Some(found.clone());
        Ok(found)
    }

    fn environment_lookup_options(
        &mut self,
        meta: &Invocation,
        strategy: &Strategy,
    ) -> Found<Option<Value>> {
        if let Some(converted) = &self.options.converted {
            return Ok(Some(converted.clone()));
        }
        if let Some(known) = &self.options.outer {
            return Ok(known.clone());
        }
        let global = self.global_lookup_options(meta, strategy)?;
        let own = optional(self.lookup_in_environment(&options_key(), meta, strategy))?;
        let own = validate(own.unwrap_or_default(), None)?;
        let merged = match (global, own) {
            (Some(global), Some(own)) => Some(strategy.merge(global, &own, None)?),
            (global, own) => own.or(global),
        };
        self.options.outer = Some(merged.clone());
        Ok(merged)
    }

    /// `LookupAdapter#lookup_default_in_module`
    pub(super) fn lookup_in_default_hierarchy(
        &mut self,
        key: &Key,
        invocation: &Invocation,
    ) -> Found {
        let module = invocation.module_name.clone().ok_or(Failure::NotFound)?;
        let provider = self.module_provider(&module)?.ok_or(Failure::NotFound)?;
        if !provider.has_default_hierarchy()? {
            return Err(Failure::NotFound);
        }
        self.with(
            || TraceKind::Scope(TraceScope::DefaultHierarchy(module.clone())),
            |engine| {
                let options = engine.default_hierarchy_options(&provider, &module, invocation)?;
                let root = key.root.as_name().unwrap_or_default();
                let merge = option(&options.value_for(root)?, "merge")?;
                engine.with(
                    || TraceKind::Scope(TraceScope::DefaultKey(key.text.clone())),
                    |engine| engine.lookup_default_levels(&provider, key, invocation, &merge),
                )
            },
        )
    }

    fn default_hierarchy_options(
        &mut self,
        provider: &Rc<super::walk::Provider>,
        module: &Arc<str>,
        invocation: &Invocation,
    ) -> Found<Arc<LookupOptions>> {
        if let Some(known) = self.options.defaults.get(module) {
            return Ok(known.clone());
        }
        let meta = invocation.for_options();
        let found = self.within_options(
            || TraceKind::Scope(TraceScope::DefaultOptions),
            |engine| {
                let merge = Value::string("hash");
                let key = options_key();
                let found = optional(engine.lookup_default_levels(provider, &key, &meta, &merge))?;
                validate(found.unwrap_or_default(), Some(module))
            },
        )?;
        let compiled = LookupOptions::of(self.compiled(found.as_ref())?);
        self.options
            .defaults
            .insert(module.clone(), compiled.clone());
        Ok(compiled)
    }
}

/// `LookupAdapter#validate_lookup_options`
fn validate(options: Value, module: Option<&Arc<str>>) -> Found<Option<Value>> {
    let hash = match &options {
        Value::Hash(hash) => hash,
        Value::Undef | Value::Opaque(_) => return Ok(None),
        _ => return raise(ErrorClass::Lookup, "value of lookup_options must be a hash"),
    };
    let Some(module) = module else {
        return Ok(Some(options));
    };
    let prefix = format!("{module}::");
    for key in hash.keys() {
        let Some(name) = key.as_str() else {
            return no_method("start_with?", key);
        };
        let pattern = name.strip_prefix('^');
        if !pattern.unwrap_or(name).starts_with(&prefix) {
            let message = match pattern {
                Some(_) => format!(
                    "all lookup_options patterns must match a key starting with module name \
                     '{module}'"
                ),
                None => format!("all lookup_options keys must start with module name '{module}'"),
            };
            return raise(ErrorClass::Lookup, message);
        }
    }
    Ok(Some(options))
}
