//! Puppet's own data provider functions, and the checks on values of other functions.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Ruby asks a value for one or two classes and treats all others alike"
)]

use std::sync::Arc;

use super::decryption::Sealed;
use super::engine::{Engine, Invocation};
use super::error::{Cause, ErrorClass, Failure, Found, LookupError, Subject, no_method, raise};
use super::level::{DataHash, LevelProvider, Location};
use super::pure::{PureResult, undig};
use super::trace::{Remark, TraceEvent};
use crate::datatype;
use crate::hierarchy::{Backends, Function, FunctionKind, Layer, Like};
use crate::interpolation::Key;
use crate::value::{HashMap, LoadError, LoadErrorKind, SystemError, Value};
use crate::workspace::{DataFile, Entry, FileKind, Format, LOOKUP_OPTIONS};

/// The source of a value, for messages.
#[derive(Clone, Copy)]
pub(super) struct ValueOrigin<'a> {
    pub(super) layer: &'a Layer,
    pub(super) level: &'a LevelProvider,
    pub(super) place: Option<&'a Location>,
    /// The index of the location in its level.
    pub(super) at: usize,
}

impl ValueOrigin<'_> {
    /// `FunctionProvider#full_name`
    fn function_name(&self) -> String {
        let Function { kind, name } = &self.level.function;
        match kind {
            FunctionKind::V4DataHash => format!("deprecated API function '{name}'"),
            FunctionKind::Hiera3Backend => format!("hiera version 3 backend '{name}'"),
            FunctionKind::DataHash | FunctionKind::LookupKey | FunctionKind::DataDig => {
                let version = if self.level.is_version_3 { "v3_" } else { "" };
                format!("{version}{} function '{name}'", kind.key())
            }
        }
    }

    fn described(&self, subject: &str) -> String {
        let subject = format!("{subject} {}", self.function_name());
        match self.place {
            Some(location) => format!("{subject}, when using location '{}',", location.place),
            None => subject,
        }
    }
}

/// How a level reads its files, if known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Unchanged.
    Plain(Format),
    /// As YAML, with encrypted values decrypted.
    Opening,
}

impl Reading {
    /// The format.
    #[must_use]
    pub fn format(self) -> Format {
        match self {
            Reading::Plain(format) => format,
            Reading::Opening => Format::Yaml,
        }
    }
}

/// How a function reads files: one of Puppet's own, or a declared one; `None` if unknown.
#[must_use]
pub fn reading_of(function: &Function, backends: &Backends) -> Option<Reading> {
    own_reading(function).or_else(|| declared_reading(backends.get(&function.name)?.like))
}

/// How one of Puppet's own functions reads files.
pub(super) fn own_reading(function: &Function) -> Option<Reading> {
    match (function.kind, &*function.name) {
        (FunctionKind::DataHash, name) => format_of_name(name).map(Reading::Plain),
        (FunctionKind::LookupKey, "eyaml_lookup_key") => Some(Reading::Opening),
        _ => None,
    }
}

/// How a declared function reads files; `None` if it reads none.
pub(super) fn declared_reading(like: Like) -> Option<Reading> {
    match like {
        Like::YamlData => Some(Reading::Plain(Format::Yaml)),
        Like::JsonData => Some(Reading::Plain(Format::Json)),
        Like::HoconData => Some(Reading::Plain(Format::Hocon)),
        Like::EyamlLookupKey => Some(Reading::Opening),
        Like::Secret | Like::Nothing => None,
    }
}

/// The format of a function that reads files itself.
pub(super) fn format_of(function: &Function) -> Option<Format> {
    own_reading(function).map(Reading::format)
}

impl Engine<'_> {
    /// All data of a location (`DataHashFunctionProvider#data_hash`).
    pub(super) fn call_data_hash(&mut self, origin: &ValueOrigin<'_>) -> Found<DataHash> {
        let function = &origin.level.function;
        if function.kind == FunctionKind::V4DataHash
            && let Some(count) = own_arguments(&function.name)
        {
            let name = &function.name;
            let message = format!("'{name}' expects {count} arguments, got none");
            return raise(ErrorClass::Argument, message);
        }
        let name = &*function.name;
        let value = match (format_of_name(name), name) {
            (Some(format), _) => {
                let options = origin.level.options.as_hash().map_or(0, HashMap::len);
                let path = origin.place.filter(|place| !place.is_uri && options == 0);
                let Some(path) = path else {
                    return raise(
                        ErrorClass::Argument,
                        format!(
                            "'{name}' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' \
                             must be declared in hiera.yaml when using this data_hash function"
                        ),
                    );
                };
                self.whole_file(&path.place, format)?
            }
            (None, "eyaml_lookup_key") => {
                return raise(
                    ErrorClass::Argument,
                    "'eyaml_lookup_key' expects 3 arguments, got 2",
                );
            }
            (None, _) => {
                self.foreign(origin, None)?;
                match self.ask_pure(origin, None) {
                    PureResult::Value(value @ Value::Hash(_)) => value,
                    PureResult::Value(_) | PureResult::NotFound | PureResult::Unknown => {
                        return Ok(DataHash::Foreign);
                    }
                }
            }
        };
        let Value::Hash(hash) = &value else {
            let subject = origin.described("Value returned from");
            let checked = datatype::check(&datatype::parse_known("Hash"), &value);
            let cause = checked.map_or_else(
                |mismatches| Cause::WrongType {
                    subject: Subject::Other(subject),
                    mismatches: Box::new(mismatches),
                },
                |()| Cause::Other(String::new()),
            );
            return raise(ErrorClass::TypeAssertion, cause);
        };
        let kept = match origin.layer.module_name() {
            None => hash.clone(),
            Some(module) => self.module_hash(origin, module, hash)?,
        };
        Ok(DataHash::Read(kept))
    }

    /// `ModuleDataProvider#validate_data_hash`: keys must carry the module's name.
    fn module_hash(
        &mut self,
        origin: &ValueOrigin<'_>,
        module: &str,
        hash: &Arc<HashMap>,
    ) -> Found<Arc<HashMap>> {
        let prefix = format!("{module}::");
        let mut kept = hash.clone();
        for key in hash.keys() {
            let Some(name) = key.as_str() else {
                return no_method("start_with?", key);
            };
            if name == LOOKUP_OPTIONS || name.starts_with(&prefix) {
                continue;
            }
            let subject = origin.described("Value returned from");
            let mut message = format!(
                "Module '{module}': {subject} must use keys qualified with the name of the module"
            );
            if self.is_from_8_on() {
                message += &format!("; got {name}");
                Arc::make_mut(&mut kept).shift_remove(key);
            }
            // The hash of a location is kept for the compilation, so the warning is given once for each.
            let place = format!("{} {} {}", origin.level.index, origin.level.name, origin.at);
            if self.warned.insert(format!("{place} {name}: {message}")) {
                self.warn(message);
            }
        }
        Ok(kept)
    }

    /// The data of a file in a format.
    pub(super) fn whole_file(&mut self, path: &str, format: Format) -> Found {
        match format {
            Format::Yaml => self.yaml_hash(path),
            Format::Json | Format::Hocon => self.other_hash(path, format),
        }
    }

    /// `yaml_data` (puppet/functions/yaml_data.rb), shared by `eyaml_lookup_key`.
    fn yaml_hash(&mut self, path: &str) -> Found {
        let file = self.read(path, Format::Yaml)?;
        self.note_later_error(&file);
        let value = match file.loaded_in(self.settings().ruby) {
            Ok(value) => value,
            Err(error) if is_unknown(error) => {
                return raise(ErrorClass::Limit, error.message(path));
            }
            Err(error) if self.recovers(error) => return Ok(file.recovered.clone()),
            Err(error) => return Err(unreadable(path, error).into()),
        };
        if value.as_hash().is_some() {
            return Ok(value.clone());
        }
        let message = format!("{path}: file does not contain a valid yaml hash");
        if self.is_strict_error() && !value.is_falsey() {
            return raise(ErrorClass::Lookup, message);
        }
        // A file's value is kept for the compilation, so the warning is given once.
        if self.warned.insert(format!("no hash: {path}")) {
            self.warn(message);
        }
        Ok(Value::hash([]))
    }

    /// `json_data`, `hocon_data`
    fn other_hash(&mut self, path: &str, format: Format) -> Found {
        let file = self.read(path, format)?;
        self.note_later_error(&file);
        match file.loaded_in(self.settings().ruby) {
            Ok(value) => Ok(value.clone()),
            Err(error) if is_unknown(error) => raise(ErrorClass::Limit, error.message(path)),
            Err(error) if self.recovers(error) => Ok(file.recovered.clone()),
            Err(error) => Err(unreadable(path, error).into()),
        }
    }

    /// Whether the readable part of a broken file is used; an unreadable file has none.
    fn recovers(&self, error: &LoadError) -> bool {
        self.settings().recover_broken_files && !matches!(error.kind, LoadErrorKind::Io(_))
    }

    fn read(&self, path: &str, format: Format) -> Found<Arc<DataFile>> {
        let file = self.session.files.data(path, format);
        if file.loaded.is_err() && self.session.files.kind(path) == Some(FileKind::Directory) {
            let message = format!("Is a directory @ io_fread - {path}");
            return raise(ErrorClass::Errno(SystemError::IsDirectory.class()), message);
        }
        Ok(file)
    }

    /// One key of a location (`LookupKeyFunctionProvider#lookup_key`).
    pub(super) fn call_lookup_key(
        &mut self,
        origin: &ValueOrigin<'_>,
        root: &Arc<str>,
        invocation: &Invocation,
    ) -> Found {
        match &*origin.level.function.name {
            "eyaml_lookup_key" => self.eyaml_lookup_key(origin, root, invocation),
            name @ ("yaml_data" | "json_data" | "hocon_data") => raise(
                ErrorClass::Argument,
                format!("'{name}' expects 2 arguments, got 3"),
            ),
            _ => {
                let key = || Some(Value::String(root.clone()));
                self.foreign(origin, key())?;
                match self.ask_pure(origin, key()) {
                    PureResult::Value(value) => {
                        self.check_value(origin, root, &value)?;
                        Ok(value)
                    }
                    PureResult::NotFound => Err(Failure::NotFound),
                    PureResult::Unknown => {
                        self.not_run(origin, root);
                        Err(Failure::NotFound)
                    }
                }
            }
        }
    }

    /// `eyaml_lookup_key` (puppet/functions/eyaml_lookup_key.rb)
    fn eyaml_lookup_key(
        &mut self,
        origin: &ValueOrigin<'_>,
        root: &Arc<str>,
        invocation: &Invocation,
    ) -> Found {
        if root.is_empty() {
            return raise(
                ErrorClass::Argument,
                "'eyaml_lookup_key' parameter 'key' expects a String[1] value, got String",
            );
        }
        let Some(path) = origin.place.filter(|place| !place.is_uri) else {
            return raise(
                ErrorClass::Argument,
                "'eyaml_lookup_key': one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must \
                 be declared in hiera.yaml when using this lookup_key function",
            );
        };
        let found = match self.yaml_entry(origin, root) {
            Entry::Value(value) => Some(value),
            Entry::Absent => None,
            Entry::Unknown => self.yaml_hash(&path.place)?.get(root).cloned(),
        };
        let value = found.ok_or(Failure::NotFound)?;
        let sealed = Sealed {
            origin,
            root,
            path: &path.place,
        };
        let value = self.decrypt(&value, &sealed, invocation)?;
        self.check_value(origin, root, &value)?;
        Ok(value)
    }

    /// One dotted key of a location (`DataDigFunctionProvider`, `V3BackendFunctionProvider`).
    pub(super) fn call_data_dig(&mut self, origin: &ValueOrigin<'_>, key: &Key) -> Found {
        let Function { kind, name } = &origin.level.function;
        if *kind == FunctionKind::Hiera3Backend && !self.settings().modules_may_be_missing {
            self.remark(|| Remark::NoBackend(name.clone()));
            return Err(Failure::NotFound);
        }
        if *kind == FunctionKind::DataDig && format_of_name(name).is_some() {
            return raise(
                ErrorClass::Argument,
                format!("'{name}' expects 2 arguments, got 3"),
            );
        }
        let segments = std::iter::once(&key.root).chain(&key.segments);
        let segments: Vec<Value> = segments.map(Value::from).collect();
        self.foreign(origin, Some(Value::from(segments.clone())))?;
        let root = super::level::key_root(key);
        if *kind == FunctionKind::DataDig {
            match self.ask_pure(origin, Some(Value::from(segments))) {
                PureResult::Value(value) => {
                    self.check_value(origin, &root, &value)?;
                    self.event(|| TraceEvent::Found(key.text.to_string(), value.clone()));
                    if let Some(value) = undig(&key.segments, value) {
                        return Ok(value);
                    }
                }
                PureResult::NotFound => return Err(Failure::NotFound),
                PureResult::Unknown => {}
            }
        }
        self.not_run(origin, &root);
        Err(Failure::NotFound)
    }

    /// `validate_data_value`: a value must be what Puppet calls rich data.
    pub(super) fn check_value(
        &mut self,
        origin: &ValueOrigin<'_>,
        root: &str,
        value: &Value,
    ) -> Found<()> {
        if is_rich_data(value) {
            return Ok(());
        }
        let subject = match origin.level.function.kind {
            FunctionKind::DataHash | FunctionKind::V4DataHash => {
                format!("Value for key '{root}', in hash returned from")
            }
            FunctionKind::LookupKey | FunctionKind::DataDig | FunctionKind::Hiera3Backend => {
                format!("Value for key '{root}', returned from")
            }
        };
        let inferred = datatype::infer(value)
            .map_err(|failed| LookupError::new(ErrorClass::Argument, failed))?;
        let message = format!(
            "{} has wrong type, expects Puppet::LookupValue, got {inferred}",
            origin.described(&subject),
        );
        raise(ErrorClass::TypeAssertion, message)
    }
}

/// The number of arguments that one of Puppet's own functions takes.
fn own_arguments(name: &str) -> Option<u8> {
    match name {
        "eyaml_lookup_key" => Some(3),
        _ => format_of_name(name).map(|_| 2),
    }
}

fn format_of_name(name: &str) -> Option<Format> {
    match name {
        "yaml_data" => Some(Format::Yaml),
        "json_data" => Some(Format::Json),
        "hocon_data" => Some(Format::Hocon),
        _ => None,
    }
}

/// Puppet's `RichData`: no symbols, and only strings and numbers as keys.
pub(super) fn is_rich_data(value: &Value) -> bool {
    match value {
        Value::Symbol(_) => false,
        Value::Array(elements) => elements.iter().all(is_rich_data),
        Value::Hash(hash) => hash
            .iter()
            .all(|(key, value)| is_rich_data_key(key) && is_rich_data(value)),
        _ => true,
    }
}

/// `RichDataKey`: every comparison with `NaN` is false, so it lies in no range of numbers.
fn is_rich_data_key(key: &Value) -> bool {
    match key {
        Value::Float(number) => !number.is_nan(),
        _ => matches!(
            key,
            Value::String(_)
                | Value::Bytes(_)
                | Value::Int(_)
                | Value::BigInt(_)
                | Value::Opaque(_)
        ),
    }
}

/// Whether Puppet may load a file that cannot be loaded here.
fn is_unknown(error: &LoadError) -> bool {
    let kind = error.kind;
    kind == LoadErrorKind::HoconOutside || kind == LoadErrorKind::LeftOut
}

/// The error for a data file that cannot be loaded.
fn unreadable(path: &str, error: &LoadError) -> LookupError {
    if let LoadErrorKind::Io(_) = error.kind {
        return unread(path, error);
    }
    let cause = Cause::Data {
        path: Arc::from(path),
        error: Box::new(error.clone()),
    };
    LookupError::new(ErrorClass::Lookup, cause)
}

/// The error for a file that the system cannot read.
pub(super) fn unread(path: &str, error: &LoadError) -> LookupError {
    let class = match error.kind {
        LoadErrorKind::Io(system) => system.class(),
        _ => SystemError::NotFound.class(),
    };
    let cause = Cause::File {
        path: Arc::from(path),
        error: Box::new(error.clone()),
    };
    LookupError::new(ErrorClass::Errno(class), cause)
}
