//! Values that manifests give to class parameters: `class { 'ntp': servers => … }` and calls that
//! declare classes.

use std::cell::OnceCell;

use super::Analysis;
use super::bodies::{CodeBody, code};
use crate::workspace::{
    DefinitionKind, File, Format, IncludeFact, IncludeKind, Means, Root, SetParameters, Snapshot,
    path,
};

/// Whether a class declares resources whose types one of its parameters names, which may be classes: this parameter, or
/// any.
#[must_use]
pub fn declares_from(snapshot: &Snapshot, class: &str, parameter: Option<&str>) -> bool {
    let codes = snapshot.files_defining(class).filter_map(|file| code(file));
    let mut includes = codes.flat_map(|code| &code.includes);
    includes.any(|include| match &include.means {
        Some(Means::Parameter(name)) => parameter.is_none_or(|it| **name == *it),
        Some(Means::Class(_) | Means::List(_) | Means::Parts(_) | Means::Beginning(_)) | None => {
            false
        }
    })
}

/// Whether the value of a key in a file certainly names no class: it is written without the word `class`, and with nothing
/// that stands for other text.
fn names_no_class(file: &File, key: &str) -> bool {
    let facts = file.facts();
    // HOCON joins parts of names, and hashes of one name.
    let is_plain = facts.error.is_none() && file.format() != Some(Format::Hocon);
    let fact = facts.key(key).filter(|_| is_plain);
    fact.is_some_and(|fact| {
        let text = fact.value.slice(file.text());
        let may_be_other = ["%{", "${", "*", "<<", "ENC[", "\\"];
        !may_be_other.iter().any(|it| text.contains(it))
            && !text.to_ascii_lowercase().contains("class")
    })
}

pub(super) struct Declarations<'a> {
    analysis: Analysis<'a>,
    root: &'a Root,
    /// Declarations whose class name is computed.
    computed: OnceCell<Vec<&'a IncludeFact>>,
}

impl<'a> Declarations<'a> {
    /// Declarations that a root's nodes may evaluate.
    pub(super) fn of(analysis: Analysis<'a>, root: &'a Root) -> Declarations<'a> {
        Declarations {
            analysis,
            root,
            computed: OnceCell::new(),
        }
    }

    /// Whether a declaration may set a class's parameter. O(files that name the class), and
    /// O(manifests) once.
    pub(super) fn may_give(&self, class: &str, parameter: &str) -> bool {
        let computed = self.computed.get_or_init(|| self.computed());
        let mut computed = computed.iter();
        computed.any(|it| it.may_name(class) && it.sets.may_set(parameter))
            || self.analysis.is_given_by_name(class, parameter)
    }

    fn computed(&self) -> Vec<&'a IncludeFact> {
        let mut found = Vec::new();
        for top in self.analysis.snapshot.files().filter_map(CodeBody::top) {
            let includes = top.code.includes.iter().filter(|it| {
                it.class.is_none()
                    && it.kind == IncludeKind::Declaration
                    && it.sets != SetParameters::Nothing
            });
            let used = includes.filter(|include| {
                let within = include.within;
                self.may_be_used(CodeBody { within, ..top }, include)
            });
            found.extend(used);
        }
        found
    }

    /// Whether a statement may be evaluated for some node. False for tests, and for classes that
    /// neither manifests nor data name.
    fn may_be_used(&self, body: CodeBody<'a>, include: &IncludeFact) -> bool {
        if self.analysis.is_idle(self.root, body, include) {
            return false;
        }
        let file = body.file;
        let mut modules = self.root.modules.values();
        if let Some(module) = modules.find(|dir| path::within(file.path(), dir).is_some()) {
            let parts = ["manifests", "functions"].map(|part| path::join(module, part));
            let mut parts = parts.iter();
            if !parts.any(|dir| path::within(file.path(), dir).is_some()) {
                return false;
            }
        }
        let Some(definition) = body.definition() else {
            return true;
        };
        let snapshot = self.analysis.snapshot;
        let mut named = snapshot.files_naming_class(&definition.name);
        let below = format!("{}::", definition.name);
        definition.kind != DefinitionKind::Class
            || named.next().is_some()
            || snapshot.key_names(&below).next().is_some()
    }
}

impl<'a> Analysis<'a> {
    /// Whether a statement that declares resources of the types in a class parameter declares no class: the parameter is
    /// empty by default, no manifest sets it, and no value in data names classes. O(files with the key, and their values).
    pub(super) fn is_idle(self, root: &'a Root, body: CodeBody<'_>, include: &IncludeFact) -> bool {
        let Some(Means::Parameter(name)) = &include.means else {
            return false;
        };
        let Some(class) = body.definition() else {
            return false;
        };
        let default = class.parameter(name).and_then(|it| it.default);
        let is_empty = default.is_some_and(|it| {
            let text: String = it.slice(body.file.text()).split_whitespace().collect();
            ["{}", "[]", "undef"].contains(&&*text)
        });
        let key = format!("{}::{name}", class.name);
        is_empty
            && self
                .snapshot
                .iter_files_with(&key)
                .all(|file| names_no_class(file, &key))
            && !self.at(root).has_outside(&key)
            && !self.is_given_by_name(&class.name, name)
    }

    /// Whether a declaration that names a class may set its parameter. O(files that name the
    /// class).
    fn is_given_by_name(self, class: &str, parameter: &str) -> bool {
        self.snapshot.files_naming_class(class).any(|file| {
            let mut includes = code(file).into_iter().flat_map(|code| &code.includes);
            includes.any(|it| it.class.as_deref() == Some(class) && it.sets.may_set(parameter))
        })
    }

    /// Whether a manifest may set a class's parameter, so that data is not used. O(manifests).
    #[must_use]
    pub fn may_be_given(self, root: &'a Root, class: &str, parameter: &str) -> bool {
        Declarations::of(self, root).may_give(class, parameter)
    }
}
