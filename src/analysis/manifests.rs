//! Links data to manifests: the class parameter that a key sets, by the rules of Puppet's
//! autoloader (`puppet/parser/type_loader.rb`).

use std::cell::Cell;
use std::sync::Arc;

use super::Analysis;
use super::bodies::code;
use super::site::site_manifest;
use crate::datatype::{self, Aliases, Type};
use crate::lookup::manifests_defining;
use crate::syntax::puppet::without_colons;
use crate::workspace::{
    DefinitionFact, DefinitionKind, File, Files as _, ParameterFact, Root, RootKind, path,
};

/// A definition with its file.
#[derive(Clone, Copy, Debug)]
pub struct Defined<'a> {
    /// The file.
    pub file: &'a Arc<File>,
    /// The definition.
    pub definition: &'a DefinitionFact,
}

/// A parameter of a class.
#[derive(Clone, Copy, Debug)]
pub struct ClassParameter<'a> {
    /// The class.
    pub class: Defined<'a>,
    /// The parameter.
    pub parameter: &'a ParameterFact,
}

impl<'a> Defined<'a> {
    /// The parameter of that name.
    #[must_use]
    pub fn parameter(self, name: &str) -> Option<ClassParameter<'a>> {
        let parameter = self.definition.parameter(name)?;
        Some(ClassParameter {
            class: self,
            parameter,
        })
    }
}

impl<'a> ClassParameter<'a> {
    /// Its type as written.
    #[must_use]
    pub fn expected(self) -> Option<&'a str> {
        Some(self.parameter.expected?.slice(self.class.file.text()))
    }

    /// Its default as written.
    #[must_use]
    pub fn default(self) -> Option<&'a str> {
        Some(self.parameter.default?.slice(self.class.file.text()))
    }
}

/// Why a key sets no class parameter of the workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoParameter<'k> {
    /// Its name does not have the form of a parameter's key: only explicit lookups use it.
    OtherName,
    /// The class belongs to a module that is not in the workspace.
    NoModule(&'k str),
    /// The class belongs to a module whose manifests are not in the workspace.
    NoManifests(&'k str),
    /// The module's manifests have no such class.
    NoClass(&'k str),
    /// The class has no such parameter, or its manifest does not parse completely.
    NoSuchParameter,
}

/// Splits a key of automatic parameter lookup into class and parameter.
#[must_use]
pub fn split_key(key: &str) -> Option<(&str, &str)> {
    let (class, parameter) = key.rsplit_once("::")?;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let legal = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase()) && part.chars().all(is_name)
    };
    let is_parameter = parameter.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && parameter
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_parameter && class.split("::").all(legal)).then_some((class, parameter))
}

impl<'a> Analysis<'a> {
    /// The class of that name where Puppet finds it: in a site manifest, in a module on the
    /// modulepath, or in a module that stands alone. O(files that define it).
    #[must_use]
    pub fn autoloaded(self, root: &'a Root, class: &str) -> Option<Defined<'a>> {
        self.autoloaded_as(root, DefinitionKind::Class, class)
    }

    /// The same for a defined type.
    #[must_use]
    pub fn autoloaded_type(self, root: &'a Root, name: &str) -> Option<Defined<'a>> {
        self.autoloaded_as(root, DefinitionKind::DefinedType, name)
    }

    fn autoloaded_as(
        self,
        root: &'a Root,
        kind: DefinitionKind,
        name: &str,
    ) -> Option<Defined<'a>> {
        let module = name.split("::").next().unwrap_or(name);
        let dir = self.module_dir(root, module);
        // Site manifests are read first: a class that they define is not autoloaded.
        let mut of_site = self.site_files_defining(root, name, dir).into_iter();
        let of_site = of_site.find_map(|file| definition_in(file, kind, name));
        of_site.or_else(|| {
            // Puppet finds a class in a file of another name only after it has loaded that file.
            let mut manifests = manifests_defining(dir?, name);
            manifests.find_map(|at| definition_in(self.snapshot.file(&at)?, kind, name))
        })
    }

    /// The site manifests that define a name. O(files that define it).
    fn site_files_defining(
        self,
        root: &'a Root,
        name: &str,
        module: Option<&str>,
    ) -> Vec<&'a Arc<File>> {
        let is_of_module =
            |file: &Arc<File>| module.is_some_and(|dir| path::within(file.path(), dir).is_some());
        let files = self.snapshot.files_defining(name);
        let mut files: Vec<&Arc<File>> = files.filter(|file| !is_of_module(file)).collect();
        if !files.is_empty() {
            let environment = self.snapshot.roots().environment_of(root);
            let site = environment.and_then(|root| site_manifest(self.snapshot, root));
            files.retain(|file| {
                let site = site.as_deref();
                site.is_some_and(|site| path::within(file.path(), site).is_some())
            });
        }
        files
    }

    /// The folder of a module as a root sees it.
    fn module_dir(self, root: &'a Root, module: &str) -> Option<&'a str> {
        // Modules with a hiera.yaml of their own are skipped: their data may set the parameter.
        let has_no_data = |dir: &&'a Arc<str>| {
            let config = path::join(dir, "hiera.yaml");
            self.snapshot.kind(&config).is_none()
        };
        let dir_in = |root: &'a Root| {
            let likely = || root.likely_modules.get(module).filter(has_no_data);
            let dir = root.modules.get(module).or_else(likely);
            dir.map(|dir| &**dir)
        };
        match &root.kind {
            RootKind::Module { name } if **name == *module => Some(&root.dir),
            RootKind::Module { .. } => {
                let mut environments = self.snapshot.roots().environments_of(root).peekable();
                match environments.peek() {
                    Some(_) => environments.find_map(dir_in),
                    None => root.likely_modules.get(module).map(|dir| &**dir),
                }
            }
            RootKind::Environment | RootKind::Global => dir_in(root),
            // Plans include no class outside of apply blocks.
            RootKind::Plans => None,
        }
    }

    /// The parameter that a key sets, in the class that Puppet loads from a root.
    #[must_use]
    pub fn autoloaded_parameter(self, root: &'a Root, key: &str) -> Option<ClassParameter<'a>> {
        let (class, parameter) = split_key(key)?;
        self.autoloaded(root, class)?.parameter(parameter)
    }

    /// A parameter's type; `None` if it has none, if Puppet refuses the manifest, or if it names a
    /// type that is not found from the root.
    #[must_use]
    pub fn type_of(self, root: &'a Root, parameter: ClassParameter<'a>) -> Option<Type> {
        if code(parameter.class.file)?.is_broken {
            return None;
        }
        let aliases = ModuleAliases {
            analysis: self,
            root,
            lacks_one: Cell::new(false),
        };
        let parsed = datatype::parse(parameter.expected()?, &aliases).ok()?;
        (!aliases.lacks_one.get()).then_some(parsed)
    }

    /// A parameter's type as far as it can be resolved: aliases are found as [`Analysis::class`]
    /// finds classes, others stay names. For suggestions, not for errors.
    #[must_use]
    pub fn likely_type_of(
        self,
        root: Option<&'a Root>,
        parameter: ClassParameter<'a>,
    ) -> Option<Type> {
        let aliases = LikelyAliases {
            analysis: self,
            root,
        };
        datatype::parse(parameter.expected()?, &aliases).ok()
    }

    /// The text of the file that Puppet loads a type alias from.
    fn alias_text(self, root: &'a Root, name: &str) -> Option<String> {
        let name = without_colons(name).to_lowercase();
        let (module, rest) = name.split_once("::")?;
        let dir = self.module_dir(root, module)?;
        // Which of two aliases is used depends on load order.
        if !self.site_files_defining(root, &name, Some(dir)).is_empty() {
            return None;
        }
        let at = format!("{dir}/types/{}.pp", rest.replace("::", "/"));
        Some(self.snapshot.file(&at)?.text().to_string())
    }

    /// The class of that name: the one that Puppet loads from a root, else the only definition in
    /// the workspace. O(files that define it).
    #[must_use]
    pub fn class(self, root: Option<&'a Root>, name: &str) -> Option<Defined<'a>> {
        let loaded = root.and_then(|root| self.autoloaded(root, name));
        loaded.or_else(|| {
            let files = self.snapshot.files_defining(name);
            let mut classes = files.filter_map(|file| class_in(file, name));
            let first = classes.next()?;
            classes.next().is_none().then_some(first)
        })
    }

    /// The parameter that a key of automatic lookup sets: `ntp::servers` is `$servers` of `ntp`.
    #[must_use]
    pub fn class_parameter(self, root: Option<&'a Root>, key: &str) -> Option<ClassParameter<'a>> {
        let (class, parameter) = split_key(key)?;
        self.class(root, class)?.parameter(parameter)
    }

    /// Why a key sets no class parameter; `None` if it sets one.
    #[must_use]
    pub fn no_parameter<'k>(self, root: &'a Root, key: &'k str) -> Option<NoParameter<'k>> {
        let Some((class, parameter)) = split_key(key) else {
            return Some(NoParameter::OtherName);
        };
        if let Some(class) = self.class(Some(root), class) {
            let is_known = class.parameter(parameter).is_some();
            return (!is_known).then_some(NoParameter::NoSuchParameter);
        }
        let module = class.split("::").next().unwrap_or(class);
        let is_of_module = |name: &str| {
            let rest = name.strip_prefix(module);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let mut names = self.snapshot.defined_names(module);
        Some(match self.module_dir(root, module) {
            _ if names.any(|name| is_of_module(name)) => NoParameter::NoClass(module),
            Some(_) => NoParameter::NoManifests(module),
            None => NoParameter::NoModule(module),
        })
    }
}

impl<'a> Analysis<'a> {
    /// The class that a key may belong to, if the class's manifest is not in the workspace.
    #[must_use]
    pub fn unseen_class<'k>(self, root: &'a Root, key: &'k str) -> Option<&'k str> {
        let (class, _) = split_key(key)?;
        match self.no_parameter(root, key)? {
            NoParameter::NoModule(_) | NoParameter::NoManifests(_) => Some(class),
            NoParameter::OtherName | NoParameter::NoClass(_) | NoParameter::NoSuchParameter => None,
        }
    }
}

/// The class of that name in a file.
fn class_in<'a>(file: &'a Arc<File>, name: &str) -> Option<Defined<'a>> {
    definition_in(file, DefinitionKind::Class, name)
}

fn definition_in<'a>(file: &'a Arc<File>, kind: DefinitionKind, name: &str) -> Option<Defined<'a>> {
    let definition = code(file)?.definition(kind, name)?;
    Some(Defined { file, definition })
}

/// The type aliases of modules, in `MODULE/types/name.pp`.
struct ModuleAliases<'a> {
    analysis: Analysis<'a>,
    root: &'a Root,
    lacks_one: Cell<bool>,
}

impl Aliases for ModuleAliases<'_> {
    fn source(&self, name: &str) -> Option<String> {
        let found = self.analysis.alias_text(self.root, name);
        self.lacks_one.set(self.lacks_one.get() || found.is_none());
        found
    }
}

/// The type aliases that Puppet loads from a root, else those with a single definition in the
/// workspace.
struct LikelyAliases<'a> {
    analysis: Analysis<'a>,
    root: Option<&'a Root>,
}

impl Aliases for LikelyAliases<'_> {
    fn source(&self, name: &str) -> Option<String> {
        let root = self.root;
        let loaded = root.and_then(|root| self.analysis.alias_text(root, name));
        loaded.or_else(|| {
            let lower = without_colons(name).to_lowercase();
            let mut files = self.analysis.snapshot.files_defining(&lower);
            let file = files.next()?;
            files.next().is_none().then(|| file.text().to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::with_analysis;
    use crate::fixture::{FOLDER, Fixture};

    /// Calls `body` with the environment of a workspace.
    fn in_environment<T>(files: &str, body: impl for<'a> FnOnce(Analysis<'a>, &'a Root) -> T) -> T {
        let snapshot = Fixture::new("data/common.yaml", files).on_disk();
        with_analysis(&snapshot, |analysis| {
            let root = analysis.snapshot.roots().environments().next();
            body(analysis, root.expect("an environment"))
        })
    }

    /// The parameters that keys set, from the environment: file, line, type.
    fn found(files: &str, keys: &[&str]) -> Vec<String> {
        in_environment(files, |analysis, root| {
            let shown = |key: &&str| match analysis.class_parameter(Some(root), key) {
                Some(found) => {
                    let at = &found.class.file.path()[FOLDER.len() + 1..];
                    let known = analysis.type_of(root, found);
                    let known = known.map_or("?".to_owned(), |known| known.to_string());
                    format!("{at} {} {known}", found.expected().unwrap_or("-"))
                }
                None => "-".to_owned(),
            };
            keys.iter().map(shown).collect()
        })
    }

    #[test]
    fn modules_are_found_where_they_lie_by_convention() {
        let files = "\
#- hiera.yaml
version: 5
#- Puppetfile
forge 'https://forge.example.com'
  moduledir 'external' # here
#- dist/a/manifests/init.pp
class a(Integer $x, A::T $y) { }
#- dist/a/types/t.pp
type A::T = String
#- site-modules/b/manifests/init.pp
class b(Integer $x) { }
#- external/c/manifests/init.pp
class c(Integer $x) { }
#- modules/d/manifests/init.pp
class d(Integer $x) { }
#- site/d/manifests/init.pp
class d(String $x) { }
#- site/e/manifests/init.pp
class e(Integer $x) { }
#- dist/e/manifests/init.pp
class e(Integer $x) { }
#- dist/f/manifests/init.pp
class f(Integer $x) { }
#- dist/f/hiera.yaml
version: 5
#- other/g/manifests/init.pp
class g(Integer $x) { }
";
        let autoloaded = |files: &str| {
            in_environment(files, |analysis, root| {
                let types = [
                    "a::x", "a::y", "b::x", "c::x", "d::x", "e::x", "f::x", "g::x",
                ]
                .map(|key| {
                    let parameter = analysis.autoloaded_parameter(root, key)?;
                    Some(analysis.type_of(root, parameter)?.to_string())
                });
                types
                    .map(|found| found.unwrap_or_else(|| "-".to_owned()))
                    .join(", ")
            })
        };
        assert_eq!(
            autoloaded(files),
            "Integer, A::T = String, Integer, Integer, Integer, -, -, -"
        );
        // An explicit modulepath replaces the default.
        let conf = format!("{files}#- environment.conf\nmodulepath = modules\n");
        assert_eq!(autoloaded(&conf), "-, -, -, -, Integer, -, -, -");
    }

    #[test]
    fn a_key_is_for_a_parameter_of_the_class_that_puppet_loads() {
        let files = "\
#- hiera.yaml
version: 5
#- environment.conf
modulepath = site:modules
#- site/ntp/manifests/init.pp
class ntp(Ntp::Port $port, Gone::Type $type) { }
class ntp::inner($x) { }
#- site/ntp/types/port.pp
# A port.
type Ntp::Port = Integer[1, 65535]
#- modules/ntp/manifests/init.pp
class ntp($other) { }
#- modules/a/manifests/b/c.pp
class a::b::c($d, String $_e = 'f') { }
#- modules/a/manifests/outer.pp
class a::outer {
  class inner(Integer $x) {
    class most($y) { }
  }
}
class a::elsewhere($x) { }
#- other/manifests/init.pp
class other($x) { }
#- manifests/own/classes.pp
class ntp::site(Integer $x, Ntp::Two $y) { }
type Ntp::Two = String
class alone($x) { }
#- site/ntp/manifests/site.pp
class ntp::site($x, $z) { }
#- site/ntp/types/two.pp
type Ntp::Two = Integer
";
        let keys = [
            "ntp::port",
            "ntp::type",
            "ntp::other",
            "ntp::inner::x",
            "a::b::c::d",
            "a::b::c::_e",
            "a::b::c",
            "other::x",
            "ntp",
            "ntp::Port",
            "ntp::site::x",
            "ntp::site::y",
            "ntp::site::z",
            "alone::x",
            "a::outer::inner::x",
            "a::outer::inner::most::y",
        ];
        let expected = [
            "site/ntp/manifests/init.pp Ntp::Port Ntp::Port = Integer[1, 65535]",
            "site/ntp/manifests/init.pp Gone::Type ?",
            "-",
            "site/ntp/manifests/init.pp - ?",
            "modules/a/manifests/b/c.pp - ?",
            "modules/a/manifests/b/c.pp String String",
            "-",
            "other/manifests/init.pp - ?",
            "-",
            "-",
            "manifests/own/classes.pp Integer Integer",
            "manifests/own/classes.pp Ntp::Two ?",
            "-",
            "manifests/own/classes.pp - ?",
            "modules/a/manifests/outer.pp Integer Integer",
            "modules/a/manifests/outer.pp - ?",
        ];
        assert_eq!(found(files, &keys), expected);
        // No prefix of its name is the name of its file.
        let is_found = |analysis: Analysis<'_>, root: &Root| {
            analysis.autoloaded(root, "a::elsewhere").is_some()
        };
        assert!(!in_environment(files, is_found));
    }
}
