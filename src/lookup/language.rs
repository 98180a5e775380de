//! The host of Puppet code: data by lookups; functions, patterns and types from the files of a
//! session.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::context::{Environment, PuppetVersion, Strict};
use super::error::ErrorClass;
use super::function::{FunctionSource, all_modules, find_function, manifests_defining, module_dir};
use super::request::{Asker, Reads, Request};
use super::session::Session;
use super::type_alias::VisibleAliases;
use crate::datatype::Aliases;
use crate::puppet::{
    Callee, CodeFile, Defines, DefinitionSource, Evaluated, Host, LookupCall, Stop,
};
use crate::regexp::Regexp;
use crate::scope::Scope;
use crate::syntax::puppet::is_qualified;
use crate::workspace::{FileKind, Files};

/// Maximum number of lookups in one evaluation.
const MAX_LOOKUPS: usize = 2_000;

/// Whether code may look data up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data {
    /// Yes, as in manifests.
    Allowed,
    /// No: a lookup calls the code, and the results of its own lookups are unknown.
    Unknown,
}

/// A session, as code in the Puppet language sees it.
pub struct SessionHost<'a> {
    session: Session<'a>,
    aliases: VisibleAliases<'a>,
    data: Data,
    lookups: Cell<usize>,
    reads: RefCell<Reads>,
    set_by_code: RefCell<BTreeSet<Arc<str>>>,
    paths: RefCell<BTreeSet<Arc<str>>>,
    functions: Arc<FoundFunctions>,
}

/// The functions that were found in one set of files, by name: finding one lists all modules.
#[derive(Default)]
pub struct FoundFunctions(Mutex<BTreeMap<Arc<str>, Callee>>);

impl FoundFunctions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Callee>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> SessionHost<'a> {
    /// A session as a host for code.
    #[must_use]
    pub fn new(session: Session<'a>, data: Data) -> SessionHost<'a> {
        SessionHost {
            session,
            aliases: VisibleAliases { session },
            data,
            lookups: Cell::new(0),
            reads: RefCell::default(),
            set_by_code: RefCell::default(),
            paths: RefCell::default(),
            functions: Arc::default(),
        }
    }

    /// The same host, with the functions that hosts of the same files have found. The one that found a function has
    /// its file among its [`paths`](SessionHost::paths).
    #[must_use]
    pub fn with_functions(self, functions: &Arc<FoundFunctions>) -> SessionHost<'a> {
        SessionHost {
            functions: Arc::clone(functions),
            ..self
        }
    }

    /// The top-level keys that were looked up.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<Arc<str>> {
        self.reads.borrow().keys.clone()
    }

    /// Variables used in strings of the data that was looked up, as written.
    #[must_use]
    pub fn variables(&self) -> BTreeSet<Arc<str>> {
        self.reads.borrow().variables.clone()
    }

    /// What all lookups read.
    #[must_use]
    pub fn reads(&self) -> Reads {
        self.reads.borrow().clone()
    }

    /// The names of the variables that code had set when it looked something up.
    #[must_use]
    pub fn set_by_code(&self) -> BTreeSet<Arc<str>> {
        self.set_by_code.borrow().clone()
    }

    /// The files of functions that were read.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<Arc<str>> {
        self.paths.borrow().clone()
    }

    fn find(&self, name: &str) -> Callee {
        let Session {
            files,
            environment,
            configs,
            ..
        } = self.session;
        match find_function(files, environment, name) {
            FunctionSource::Ruby(path) if is_of_library(&path) => Callee::Library,
            FunctionSource::Ruby(_) => Callee::Ruby,
            FunctionSource::Missing if is_old_function(files, environment, name) => Callee::Ruby,
            FunctionSource::Missing | FunctionSource::ModuleMissing => {
                if is_lacking(files, environment, name) {
                    Callee::Lacking
                } else {
                    Callee::Missing
                }
            }
            FunctionSource::Puppet(path) => match files.text(&path) {
                Ok(text) => {
                    self.paths.borrow_mut().insert(path.clone());
                    Callee::Puppet(configs.source(&path, &text))
                }
                Err(_) => Callee::Missing,
            },
        }
    }

    /// Whether Hiera 3's functions also use the environment's data (`hiera/puppet_function.rb`).
    fn has_environment_data(&self) -> bool {
        let dir = self.session.environment.dir.as_ref();
        dir.is_some_and(|dir| {
            let at = format!("{dir}/hiera.yaml");
            self.session.files.kind(&at) == Some(FileKind::File)
        })
    }
}

impl Host for SessionHost<'_> {
    fn lookup(&self, call: &LookupCall, scope: &Scope) -> Evaluated {
        if self.data == Data::Unknown {
            return Err(Stop::unknown(
                "the function that provides the data looks up data itself",
            ));
        }
        if call.is_hiera && !self.has_environment_data() {
            return Err(Stop::unknown("hiera() asks the global layer only"));
        }
        self.lookups.set(self.lookups.get() + 1);
        if self.lookups.get() > MAX_LOOKUPS {
            return Err(Stop::unknown("there are too many lookups"));
        }
        let request = Request {
            names: call.names.clone(),
            merge: call.merge.clone(),
            value_type: call.value_type.clone(),
            default_value: call.default_value.clone(),
            default_values: call.default_values.clone(),
            overrides: call.overrides.clone(),
            asker: if call.is_parameter {
                Asker::ClassParameter
            } else {
                Asker::Function
            },
            ..Request::default()
        };
        let answer = self.session.with_shared_work(|shared| {
            let mut compilation = self.session.compilation_with(scope, &shared.files);
            compilation.lookup(&request)
        });
        self.reads.borrow_mut().add(&answer.reads);
        let set = scope.set_by_code().cloned();
        self.set_by_code.borrow_mut().extend(set);
        let name = call.names.first().map_or("", |name| &**name);
        if let Some(why) = answer.why_uncertain() {
            return Err(Stop::unknown(format!(
                "lookup of '{name}' is not certain: {why}"
            )));
        }
        match answer.result {
            Ok(value) => Ok(value),
            Err(error) if error.class == ErrorClass::Limit => Err(Stop::unknown(error.to_string())),
            Err(error) => Err(Stop::failed(error.to_string())),
        }
    }

    fn function(&self, name: &str) -> Callee {
        let known = self.functions.lock().get(name).cloned();
        known.unwrap_or_else(|| {
            let found = self.find(name);
            self.functions.lock().insert(Arc::from(name), found.clone());
            found
        })
    }

    fn defined(&self, kind: Defines, name: &str) -> DefinitionSource {
        let Session {
            files,
            environment,
            configs,
            ..
        } = self.session;
        let module = name.split("::").next().unwrap_or(name);
        let is_of_ruby = || {
            let mut modules = all_modules(files, environment).into_iter();
            kind == Defines::Type
                && !is_qualified(name)
                && modules.any(|dir| {
                    let at = format!("{dir}/lib/puppet/type/{name}.rb");
                    files.kind(&at) == Some(FileKind::File)
                })
        };
        let Some(dir) = module_dir(files, environment, module) else {
            return if is_of_ruby() {
                DefinitionSource::Ruby
            } else {
                DefinitionSource::Unseen
            };
        };
        for at in manifests_defining(&dir, name) {
            let at: Arc<str> = Arc::from(at);
            if files.kind(&at) != Some(FileKind::File) {
                continue;
            }
            let Ok(text) = files.text(&at) else {
                return DefinitionSource::Unseen;
            };
            self.paths.borrow_mut().insert(at.clone());
            let source = configs.source(&at, &text);
            if source.defines(kind, name) {
                return DefinitionSource::Here(source, Arc::from(module));
            }
        }
        if is_of_ruby() {
            DefinitionSource::Ruby
        } else {
            DefinitionSource::Missing
        }
    }

    fn pattern(&self, source: &str) -> Option<Regexp> {
        self.session.configs.pattern(source).ok()
    }

    fn aliases(&self) -> &dyn Aliases {
        &self.aliases
    }

    fn strict_variables(&self) -> bool {
        self.session.settings.strict_variables
    }

    fn fails_on_coercion(&self) -> bool {
        self.session.settings.strict == Strict::Error
    }

    fn has_legacy_facts(&self) -> bool {
        self.session.settings.puppet_version < PuppetVersion::V8
    }
}

/// Whether a file belongs to Puppet's standard library.
fn is_of_library(at: &str) -> bool {
    at.contains("/stdlib/lib/puppet/")
}

/// Whether a module other than the standard library defines a Puppet 3 function.
fn is_old_function(files: &dyn Files, environment: &Environment, name: &str) -> bool {
    let mut modules = all_modules(files, environment).into_iter();
    !is_qualified(name)
        && modules.any(|dir| {
            let at = format!("{dir}/lib/puppet/parser/functions/{name}.rb");
            !is_of_library(&at) && files.kind(&at) == Some(FileKind::File)
        })
}

/// Whether the standard library is visible and has no Puppet 3 function of that name. Later versions lack some.
fn is_lacking(files: &dyn Files, environment: &Environment, name: &str) -> bool {
    module_dir(files, environment, "stdlib").is_some_and(|dir| {
        let folder = format!("{dir}/lib/puppet");
        let at = format!("{folder}/parser/functions/{name}.rb");
        files.kind(&folder) == Some(FileKind::Directory) && files.kind(&at).is_none()
    })
}

/// Cached sources of functions and manifests, by text.
#[derive(Debug, Default)]
pub(super) struct Sources(std::collections::HashMap<Arc<str>, Arc<CodeFile>>);

/// Maximum number of cached texts.
const MAX_SOURCES: usize = 1_000;

impl Sources {
    pub(super) fn get(&mut self, path: &Arc<str>, text: &Arc<str>) -> Arc<CodeFile> {
        if let Some(known) = self.0.get(path)
            && (Arc::ptr_eq(&known.text, text) || known.text == *text)
        {
            return known.clone();
        }
        if self.0.len() >= MAX_SOURCES {
            self.0.clear();
        }
        let source = Arc::new(CodeFile::new(path.clone(), text.clone()));
        self.0.insert(path.clone(), source.clone());
        source
    }
}
