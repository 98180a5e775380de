//! `lookup --batch`: requests as JSON lines on standard input, one answer per line on standard
//! output. `docs/batch-protocol.md` describes the protocol.

use std::collections::HashMap as Map;
use std::io::{BufRead, BufReader, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::terminal::remark;
use crate::analysis::{Analysis, Extent, assigned_over, environment_in};
use crate::disk::DiskFiles;
use crate::eyaml::Keys;
use crate::hierarchy::Backends;
use crate::ide::json::json;
use crate::lookup::{
    Answer, Asker, CODEDIR, ConfigCache, Environment, ErrorClass, LookupError, PuppetVersion,
    Request, Session, Settings, Strict, Tracing, explain,
};
use crate::scope::{
    Authenticated, ClassScope, DEFAULT_ENVIRONMENT, Facts, KnownNodes, Scope, default_trusted,
    name_of, refused_variables,
};
use crate::value::{HashMap, TaggedJson, Value, from_raw_json};
use crate::workspace::Snapshot;

/// Maximum length of a request line in bytes.
const MAX_LINE: usize = 64 << 20;

/// One request, as in `docs/batch-protocol.md`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchRequest<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    environment_dir: Option<String>,
    global_hiera_yaml: Option<String>,
    codedir: Option<String>,
    modulepath: Option<Vec<String>>,
    node: Option<String>,
    environment: Option<String>,
    #[serde(borrow)]
    facts: Option<&'a RawValue>,
    #[serde(borrow)]
    trusted: Option<&'a RawValue>,
    #[serde(borrow)]
    variables: Option<&'a RawValue>,
    key: KeyNames,
    #[serde(borrow)]
    merge: Option<&'a RawValue>,
    value_type: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    default_value: Option<&'a RawValue>,
    #[serde(borrow)]
    default_values_hash: Option<&'a RawValue>,
    #[serde(borrow, rename = "override")]
    overrides: Option<&'a RawValue>,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    explain_options: bool,
    puppet_version: Option<u8>,
    strict: Option<String>,
    strict_variables: Option<bool>,
    #[serde(borrow)]
    class_scope: Option<BatchClass<'a>>,
    compile: Option<String>,
    facet: Option<String>,
    backends: Option<Backends>,
}

/// Reads only the id of a request.
#[derive(Deserialize)]
struct RequestId<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

/// A field that counts as present even when it is null.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct BatchClass<'a> {
    name: String,
    #[serde(borrow)]
    vars: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum KeyNames {
    One(String),
    Many(Vec<String>),
}

impl KeyNames {
    fn all(&self) -> Vec<Arc<str>> {
        let names = match self {
            KeyNames::One(name) => std::slice::from_ref(name),
            KeyNames::Many(names) => names,
        };
        names.iter().map(|name| Arc::from(name.as_str())).collect()
    }
}

/// State shared by all requests: configurations are read once and invalidated when their texts
/// change.
#[derive(Default)]
struct Shared {
    configs: ConfigCache,
    /// Empty: files are read on demand.
    snapshot: Snapshot,
    /// None: requests describe their nodes.
    nodes: KnownNodes,
    /// Scopes, or why Puppet refuses their variables, keyed by the text of facts, trusted data and
    /// variables.
    scopes: Map<String, Result<Scope, String>>,
    /// Keys for encrypted values, if the command names them.
    keys: Option<Arc<Keys>>,
}

/// Maximum number of cached scopes; beyond it the oldest ones are evicted.
const MAX_SCOPES: usize = 256;

/// Maximum number of bytes of pending requests read at once.
const READ_AHEAD: usize = 1 << 20;

/// Maximum number of requests that see the files in the same state.
const MAX_TOGETHER: usize = 100;

pub(super) fn run(keys: Option<Arc<Keys>>) -> ExitCode {
    let mut shared = Shared {
        keys,
        ..Shared::default()
    };
    if std::io::stdin().is_terminal() {
        remark("reading requests from standard input, one JSON object a line; end with Ctrl+D");
    }
    let mut input = BufReader::with_capacity(READ_AHEAD, std::io::stdin().lock());
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut line = String::new();
    let mut disk = DiskFiles::new();
    let mut together = 0;
    let mut is_old = false;
    loop {
        line.clear();
        // Requests that had all arrived before a state was taken are answered from that state.
        is_old |= !input.buffer().contains(&b'\n');
        // A line without an end must not take all memory.
        match (&mut input).take(MAX_LINE as u64 + 1).read_line(&mut line) {
            Ok(0) => break,
            Ok(_) if line.trim().is_empty() => continue,
            Ok(length) if length > MAX_LINE && !line.ends_with('\n') => {
                let message = format!("a request is longer than {MAX_LINE} bytes");
                let _ = writeln!(output, "{}", bad_request(None, &message));
                return ExitCode::FAILURE;
            }
            Ok(_) => {}
            Err(error) => {
                tracing::error!("standard input: {error}");
                return ExitCode::FAILURE;
            }
        }
        if is_old || together == MAX_TOGETHER {
            disk.look_again();
            is_old = false;
            together = 0;
        }
        together += 1;
        let answer = respond(&mut shared, &disk, line.trim_end());
        if writeln!(output, "{answer}").is_err() || output.flush().is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn respond(shared: &mut Shared, files: &DiskFiles, line: &str) -> String {
    let request: BatchRequest<'_> = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => {
            // Keep the id of an invalid request, so that the client can match the error.
            let id = serde_json::from_str::<RequestId<'_>>(line).ok();
            return bad_request(id.and_then(|request| request.id), &error.to_string());
        }
    };
    match answer(shared, files, &request) {
        Ok(answer) => json(&response(&answer, &request)),
        Err(message) => bad_request(request.id, &message),
    }
}

fn bad_request(id: Option<&RawValue>, message: &str) -> String {
    json(&Response {
        found: Some(false),
        error_class: Some("HieraLs::RequestError"),
        error: Some(tagged(message)),
        ..Response::to(id)
    })
}

fn answer(
    shared: &mut Shared,
    files: &DiskFiles,
    request: &BatchRequest<'_>,
) -> Result<Answer, String> {
    let version = match request.puppet_version {
        None => PuppetVersion::V8,
        Some(number) => PuppetVersion::of(number.into())
            .ok_or_else(|| format!("puppet_version {number} is not 7, 8 or 9"))?,
    };
    let mut settings = Settings::for_version(version);
    settings.keys.clone_from(&shared.keys);
    if let Some(other) = request.strict.as_deref() {
        let mut all = Strict::ALL.into_iter();
        let found = all.find(|strict| strict.name() == other);
        settings.strict =
            found.ok_or_else(|| format!("strict '{other}' is not off, warning or error"))?;
    }
    settings.strict_variables = request
        .strict_variables
        .unwrap_or(settings.strict_variables);
    if let Some(backends) = &request.backends {
        settings.backends = Arc::new(backends.clone());
    }
    let asker = match request.facet.as_deref() {
        None | Some("lookup") => Asker::Function,
        Some("search_and_merge") => Asker::ClassParameter,
        Some(other) => return Err(format!("unknown facet '{other}'")),
    };
    let extent = match request.compile.as_deref() {
        None => None,
        Some("lookup") => Some(Extent::TopScope),
        Some("agent") => Some(Extent::NodeBlocks),
        Some(other) => return Err(format!("compile '{other}' is neither lookup nor agent")),
    };
    let environment = environment(files, request);
    let analysis = Analysis::new(&shared.snapshot, &settings, &shared.configs, &shared.nodes);
    let session = analysis.session_over(files, &environment);
    let scope = match scope(&mut shared.scopes, request, &environment)? {
        Ok(scope) => within_class(compiled(scope, session, request, extent), request)?,
        // No catalog is compiled for such a node, so nothing is looked up.
        Err(refused) => return Ok(Answer::failed(LookupError::new(ErrorClass::Parse, refused))),
    };
    if let Some(failure) = scope.assigned().and_then(|it| it.failure.as_ref()) {
        let cause = failure.message.to_string();
        return Ok(Answer::failed(LookupError::new(ErrorClass::Parse, cause)));
    }
    if let Some(because) = scope.assigned().and_then(|it| it.may_fail.as_ref()) {
        let because = format!("the manifests may fail for this node: {because}");
        return Ok(Answer::unknown(&because));
    }
    let hash = |raw: Option<&RawValue>, field: &str| hash_field(raw, field).map(Arc::new);
    let lookup = Request {
        names: request.key.all(),
        merge: request
            .merge
            .map(|raw| value_field(raw, "merge"))
            .transpose()?,
        value_type: request.value_type.as_deref().map(Arc::from),
        default_value: request
            .default_value
            .map(|raw| value_field(raw, "default_value"))
            .transpose()?,
        default_values: hash(request.default_values_hash, "default_values_hash")?,
        overrides: hash(request.overrides, "override")?,
        tracing: match (request.explain, request.explain_options) {
            (true, _) => Tracing::Full,
            (false, true) => Tracing::OptionsOnly,
            (false, false) => Tracing::Off,
        },
        asker,
    };
    Ok(session.lookup(&scope, &lookup))
}

/// A scope with the variables that manifests set, if a request asks for them.
fn compiled(
    scope: Scope,
    session: Session<'_>,
    request: &BatchRequest<'_>,
    extent: Option<Extent>,
) -> Scope {
    let Some(extent) = extent else {
        return scope;
    };
    let node = request.node.as_deref().unwrap_or_default();
    let assigned = assigned_over(session, &scope, node, extent);
    scope.with_assigned(Arc::new(assigned))
}

fn value_field(raw: &RawValue, field: &str) -> Result<Value, String> {
    from_raw_json(raw).map_err(|error| format!("{field}: {error}"))
}

fn hash_field(raw: Option<&RawValue>, field: &str) -> Result<HashMap, String> {
    match raw.map(|raw| value_field(raw, field)).transpose()? {
        None | Some(Value::Undef) => Ok(HashMap::default()),
        Some(Value::Hash(hash)) => Ok(Arc::unwrap_or_clone(hash)),
        Some(_) => Err(format!("{field} is not a hash")),
    }
}

/// The folders of a request; `environment.conf` sets the module path if the request doesn't.
fn environment(files: &DiskFiles, request: &BatchRequest<'_>) -> Environment {
    let codedir = request.codedir.as_deref().unwrap_or(CODEDIR);
    let name = request
        .environment
        .as_deref()
        .unwrap_or(DEFAULT_ENVIRONMENT);
    let mut environment = match &request.environment_dir {
        Some(dir) => environment_in(files, Arc::from(dir.as_str()), codedir, name),
        None => Environment {
            name: Arc::from(name),
            codedir: Arc::from(codedir),
            ..Environment::default()
        },
    };
    if let Some(paths) = &request.modulepath {
        environment.modulepath = paths.iter().map(|path| Arc::from(path.as_str())).collect();
    }
    environment.global_config = request.global_hiera_yaml.as_deref().map(Arc::from);
    environment
}

fn scope(
    scopes: &mut Map<String, Result<Scope, String>>,
    request: &BatchRequest<'_>,
    environment: &Environment,
) -> Result<Result<Scope, String>, String> {
    let text = |raw: Option<&RawValue>| raw.map_or("", RawValue::get).to_string();
    let node = request.node.as_deref().unwrap_or_default();
    let key = [
        node.to_string(),
        environment.name.to_string(),
        text(request.facts),
        text(request.trusted),
        text(request.variables),
    ]
    .join("\n");
    let scope = match scopes.get(&key) {
        Some(scope) => scope.clone(),
        None => {
            let facts = hash_field(request.facts, "facts")?;
            let trusted = default_trusted(
                node,
                Authenticated::Local,
                &hash_field(request.trusted, "trusted")?,
            );
            let variables = hash_field(request.variables, "variables")?;
            // `Puppet::Node#sanitize` removes a variable named `trusted`.
            let names = facts.keys().chain(variables.keys()).map(name_of);
            let scope = match refused_variables(names.filter(|name| name != "trusted")) {
                Some(refused) => Err(refused),
                None => Ok(Scope::closed(
                    &Facts::from(facts),
                    &trusted,
                    &HashMap::default(),
                    &variables,
                    &environment.name,
                )),
            };
            if scopes.len() >= MAX_SCOPES {
                scopes.clear();
            }
            scopes.insert(key, scope.clone());
            scope
        }
    };
    Ok(scope)
}

/// A scope inside the class that a request names.
fn within_class(scope: Scope, request: &BatchRequest<'_>) -> Result<Scope, String> {
    let Some(class) = &request.class_scope else {
        return Ok(scope);
    };
    let mut variables = HashMap::default();
    for name in ["title", "name"] {
        variables.insert(Value::string(name), Value::string(&*class.name));
    }
    variables.extend(hash_field(class.vars, "class_scope.vars")?);
    Ok(scope.in_class(ClassScope {
        name: class.name.clone(),
        variables,
    }))
}

/// The answer to a request, as `docs/batch-protocol.md` has it.
#[derive(Default, Serialize)]
struct Response<'a> {
    id: Option<&'a RawValue>,
    found: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<TaggedJson<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    possible: Option<TaggedJson<&'a Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unless: Option<TaggedJson<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<TaggedJson<&'a Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<TaggedJson<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_found: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumed: Vec<TaggedJson<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<TaggedJson<Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logs: Vec<LogLine>,
}

#[derive(Serialize)]
struct LogLine {
    level: &'static str,
    message: TaggedJson<Value>,
}

impl<'a> Response<'a> {
    fn to(id: Option<&'a RawValue>) -> Response<'a> {
        Response {
            id,
            ..Response::default()
        }
    }
}

/// A text within the limit of tagged JSON: a message can hold a whole value.
fn tagged(text: &str) -> TaggedJson<Value> {
    TaggedJson(Value::string(text))
}

fn response<'a>(answer: &'a Answer, request: &BatchRequest<'a>) -> Response<'a> {
    let mut response = Response::to(request.id);
    if let Some(why) = answer.why_uncertain() {
        response.unknown = Some(tagged(&why));
        response.possible = answer.possible().map(TaggedJson);
        response.unless = answer.unless(&request.key.all()).as_deref().map(tagged);
    } else {
        response.found = Some(answer.result.is_ok());
        match &answer.result {
            Ok(value) => response.value = Some(TaggedJson(value)),
            Err(error) => {
                response.not_found = error.is_not_found().then_some(true);
                // A class parameter without a value is no error.
                let is_parameter = request.facet.as_deref() == Some("search_and_merge");
                if !(is_parameter && error.is_not_found()) {
                    response.error_class = Some(error.class.name());
                    response.error = Some(tagged(&error.to_string()));
                    response.issue_code = error.issue_code;
                    response.error_file = error.file.as_deref();
                    response.error_line = error.line;
                }
            }
        }
    }
    let assumed = answer.assumed.iter();
    response.assumed = assumed.map(|one| tagged(&one.to_string())).collect();
    if request.explain || request.explain_options {
        response.explain = answer.trace.as_ref().map(|trace| tagged(&explain(trace)));
    }
    let logs = answer.logs.iter().map(|log| LogLine {
        level: "warning",
        message: tagged(&log.message),
    });
    response.logs = logs.collect();
    response
}
