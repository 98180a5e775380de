//! What manifests say of data: the class parameter that a key is for, by the rules of Puppet's
//! autoloader (`puppet/parser/type_loader.rb`).

use std::sync::Arc;

use super::Analysis;
use crate::workspace::{
    CodeFacts, DefinitionFact, DefinitionKind, File, ParameterFact, Root, RootKind, path,
};

/// A definition with the file that holds it.
#[derive(Clone, Copy, Debug)]
pub struct Defined<'a> {
    /// The file.
    pub file: &'a Arc<File>,
    /// What it defines.
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
    /// Its type as it is written.
    #[must_use]
    pub fn expected(self) -> Option<&'a str> {
        Some(self.parameter.expected?.slice(self.class.file.text()))
    }

    /// Its default as it is written.
    #[must_use]
    pub fn default(self) -> Option<&'a str> {
        Some(self.parameter.default?.slice(self.class.file.text()))
    }
}

/// A key as automatic lookup makes it: the class, and its parameter.
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
    /// The class of that name where Puppet finds it: in the module that an environment's modulepath
    /// has, or in a module that stands alone. O(1).
    #[must_use]
    pub fn autoloaded(self, root: &'a Root, class: &str) -> Option<Defined<'a>> {
        let module = class.split("::").next().unwrap_or(class);
        let dir: &str = match &root.kind {
            RootKind::Module { name } if **name == *module => &root.dir,
            RootKind::Module { name } => {
                let mut environments = self.snapshot.roots().environments_of(root);
                return environments
                    .find_map(|environment| self.autoloaded(environment, class))
                    .filter(|_| **name != *module);
            }
            RootKind::Environment | RootKind::Global => root.modules.get(module)?,
        };
        let init = path::join(dir, "manifests/init.pp");
        let rest = class.split_once("::").map(|(_, rest)| rest);
        let own = rest.map(|rest| format!("{dir}/manifests/{}.pp", rest.replace("::", "/")));
        // A class in a file of another name is found once that file is loaded, as the first one
        // of a module is.
        let files = own.iter().chain(std::iter::once(&init));
        files.into_iter().find_map(|at| {
            let file = self.snapshot.file(at)?;
            let definition = code(file)?.definition(DefinitionKind::Class, class)?;
            Some(Defined { file, definition })
        })
    }

    /// The class of that name: the one that Puppet loads from a root, else the only file of the
    /// workspace that defines it. O(files that define it).
    #[must_use]
    pub fn class(self, root: Option<&'a Root>, name: &str) -> Option<Defined<'a>> {
        let loaded = root.and_then(|root| self.autoloaded(root, name));
        loaded.or_else(|| {
            let mut files = self.snapshot.files_defining(name).filter_map(|file| {
                let definition = code(file)?.definition(DefinitionKind::Class, name)?;
                Some(Defined { file, definition })
            });
            let first = files.next()?;
            files.next().is_none().then_some(first)
        })
    }

    /// The parameter that a key of automatic lookup is for: `ntp::servers` is `$servers` of `ntp`.
    #[must_use]
    pub fn class_parameter(self, root: Option<&'a Root>, key: &str) -> Option<ClassParameter<'a>> {
        let (class, parameter) = split_key(key)?;
        self.class(root, class)?.parameter(parameter)
    }
}

fn code(file: &File) -> Option<&CodeFacts> {
    file.facts().code.as_deref()
}
