//! Reasons that forbid renaming a key, and changes that the user has to confirm.

use super::{Confirmation, Renaming, exact_pattern, format_of, place_in};
use crate::analysis::{Environments, HieraFiles};
use crate::ide::code_names::lookups_of;
use crate::ide::target::KeyTarget;
use crate::interpolation::root_of;
use crate::regexp::Regexp;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::puppet::is_parameter;
use crate::syntax::{NodeId, NodeKind};
use crate::text::TextRange;
use crate::value::Value;
use crate::workspace::{CodeFacts, File, Format, LOOKUP_OPTIONS, RootKind, path};

impl Renaming<'_> {
    /// Allows names that need no quotes as a key or in a token.
    pub(super) fn check_name(&self) -> Result<(), String> {
        let name = self.new_name;
        let is_allowed = |c: char| c.is_alphanumeric() || "_-:/+@".contains(c);
        let starts_well = name.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/');
        if !starts_well || !name.chars().all(is_allowed) || name.ends_with(':') {
            return Err(format!(
                "'{name}' is not a name for a key here: letters, digits and _ - : / + @ only, since dots and \
                 quotes mean something else in lookups"
            ));
        }
        if matches!(resolve_plain(name), Resolved::String) {
            Ok(())
        } else {
            Err(format!(
                "'{name}' is not a name for a key: YAML does not read it as a string"
            ))
        }
    }

    /// Checks a new name for a top-level key; returns what to confirm.
    pub(super) fn check_top_level(&self, from: &str) -> Result<Vec<Confirmation>, String> {
        let mut to_confirm = Vec::new();
        let (old, new) = (&*self.key.root, self.new_name);
        if new == LOOKUP_OPTIONS {
            return Err("lookup_options is Puppet's own key".to_owned());
        }
        if let Some(parameter) = self.analysis.class_parameter(self.root, new) {
            return Err(format!(
                "'{new}' is the parameter ${} of the class {}: automatic lookup would find the values for it",
                parameter.parameter.name, parameter.class.definition.name
            ));
        }
        if let Some(parameter) = self.parameter() {
            let (old, class) = (&parameter.parameter.name, &parameter.class.definition.name);
            let name = new.strip_prefix(&**class);
            let name = name.and_then(|rest| rest.strip_prefix("::"));
            if !name.is_some_and(is_parameter) {
                return Err(format!(
                    "'{class}::{old}' is the parameter ${old} of the class {class}: a new name is '{class}::' and the \
                     new name of the parameter"
                ));
            }
            to_confirm.push(Confirmation {
                sentence: format!(
                    "renames the parameter ${old} of the class {class} in Puppet code too; ERB templates, and \
                     code that computes the name, stay as they are"
                ),
                changes_values: false,
            });
        }
        let snapshot = self.analysis.snapshot;
        let related = HieraFiles::related_to(self.analysis, from);
        let mut holders = snapshot.iter_files_with(new);
        if let Some(file) = holders.find(|file| related.contains(file)) {
            let line = file.facts().key(new).map_or(1, |fact| fact.line + 1);
            let name = path::name(file.path());
            return Err(format!("'{new}' is already set, in {name}:{line}"));
        }
        for file in &self.files {
            let facts = file.facts();
            let mut references = facts.references();
            if let Some(taken) = references.find(|one| *root_of(&one.key) == *new) {
                let at = place_in(file, taken.range);
                return Err(format!("'{new}' is already looked up, in {at}"));
            }
            if let Some(code) = &facts.code {
                self.check_code(file, code)?;
            }
            for option in &facts.lookup_options {
                to_confirm.extend(self.check_option(file, &option.pattern, option.key)?);
            }
            if let Some(fact) = facts.key(old) {
                self.check_module(file)?;
                self.check_written(file, fact.key)?;
            }
        }
        Ok(to_confirm)
    }

    /// Forbids renaming a parameter without all of its data, or data without the parameter.
    pub(super) fn check_reach(&self, from: &str) -> Result<(), String> {
        let Some(parameter) = self.parameter() else {
            return Ok(());
        };
        let snapshot = self.analysis.snapshot;
        let is_among = |file: &File| self.files.iter().any(|known| known.path() == file.path());
        let class = parameter.class;
        let name = &class.definition.name;
        let why = |missing: &File| {
            format!(
                "the class {name} is in {}, whose folder is not on the modulepath: whether {} belongs to it is \
                 not known",
                snapshot.short_name(class.file.path()),
                snapshot.short_name(missing.path())
            )
        };
        if !is_among(class.file) {
            let requested = snapshot.file(from).unwrap_or(class.file);
            return Err(why(requested));
        }
        let mut environments = snapshot.roots().environments();
        let is_loaded = environments.any(|root| {
            let found = self.analysis.autoloaded(root, name);
            found.is_some_and(|found| found.file.path() == class.file.path())
        });
        // Folders inside of an environment may be its modules.
        let all = Environments::of(self.analysis);
        let is_around = |file: &File| {
            let mut readers = all.reading(file.path()).into_iter();
            readers.any(|root| path::within(class.file.path(), &root.dir).is_some())
        };
        let mut holders = snapshot.iter_files_with(&self.key.root);
        match holders.find(|file| !is_among(file) && (!is_loaded || is_around(file))) {
            Some(stray) => Err(why(stray)),
            None => Ok(()),
        }
    }

    /// Forbids a new name that is already looked up, and an old one that a computed lookup may use.
    fn check_code(&self, file: &File, code: &CodeFacts) -> Result<(), String> {
        let new = KeyTarget::of_root(self.new_name);
        if let Some((at, _)) = lookups_of(code, &new).next() {
            let (new, at) = (self.new_name, place_in(file, at));
            return Err(format!("'{new}' is already looked up, in {at}"));
        }
        let old = &*self.key.root;
        for lookup in &code.lookups {
            if lookup.key.may_partly_be(old) {
                return Err(format!(
                    "{} looks up a key that is computed and can be '{old}': it would not be found there",
                    place_in(file, lookup.place)
                ));
            }
        }
        Ok(())
    }

    /// A pattern that matches only one of the names changes the key's options: to be confirmed.
    fn check_option(
        &self,
        file: &File,
        entry: &str,
        at: TextRange,
    ) -> Result<Option<Confirmation>, String> {
        let (old, new) = (&*self.key.root, self.new_name);
        let place = place_in(file, at);
        if entry == new {
            return Err(format!(
                "lookup_options already has an entry for '{new}', in {place}"
            ));
        }
        if !entry.starts_with('^') || exact_pattern(entry) == Some(old) {
            return Ok(None);
        }
        let Ok(pattern) = Regexp::new(entry) else {
            return Ok(None);
        };
        let is_for = |name: &str| pattern.is_match(name).unwrap_or(false);
        let (one, other) = match (is_for(old), is_for(new)) {
            (true, false) => (old, new),
            (false, true) => (new, old),
            (true, true) | (false, false) => return Ok(None),
        };
        Ok(Some(Confirmation {
            sentence: format!(
                "the pattern '{entry}' of lookup_options in {place} is for '{one}' and not for '{other}': \
                 values can be merged differently"
            ),
            changes_values: true,
        }))
    }

    /// Data of a module may only have keys of the module.
    fn check_module(&self, file: &File) -> Result<(), String> {
        let (old, new) = (&*self.key.root, self.new_name);
        let module = |name: &str| name.split_once("::").map(|(module, _)| module.to_owned());
        let root = self.analysis.snapshot.root_of(file.path());
        let is_module = root.is_some_and(|root| matches!(root.kind, RootKind::Module { .. }));
        if is_module && module(old) != module(new) {
            Err(format!(
                "{} is data of a module, which is only asked for keys of that module: '{new}' would not \
                 be found there",
                path::name(file.path())
            ))
        } else {
            Ok(())
        }
    }

    /// Forbids keys in HOCON files, and keys that come from an anchor or an alias.
    fn check_written(&self, file: &File, key: TextRange) -> Result<(), String> {
        let place = place_in(file, key);
        if file.format() == Some(Format::Hocon) {
            return Err(format!("{place}: keys of HOCON files cannot be renamed"));
        }
        let snapshot = self.analysis.snapshot;
        let parse = snapshot.parse_around(file, format_of(file), key.start as usize);
        let tree = &parse.tree;
        let is_broken = tree.broken().iter().any(|entry| entry.range.contains(key));
        let is_entry = tree.entry_at(key).is_some_and(|(at, _)| {
            matches!(tree.node(at).kind, NodeKind::Scalar(_)) && tree.node(at).range == key
        });
        if is_broken || is_entry {
            Ok(())
        } else {
            Err(format!(
                "{place}: the key comes from an anchor or is an alias, so that other values would change too"
            ))
        }
    }

    pub(super) fn check_nested(&self) -> Result<(), String> {
        let Some(Value::String(_)) = self.key.steps.last() else {
            return Err("only keys that are strings can be renamed".to_owned());
        };
        let snapshot = self.analysis.snapshot;
        let positions = crate::analysis::KeyPositions::new(snapshot);
        let mut taken = self.key.steps.clone();
        if let Some(last) = taken.last_mut() {
            *last = Value::string(self.new_name);
        }
        for file in &self.files {
            let Some(fact) = file.facts().key(&self.key.root) else {
                continue;
            };
            if let Some((at, _)) = positions.place(file, &self.key.root, &taken) {
                let (name, at) = (self.new_name, place_in(file, at));
                return Err(format!("'{name}' already exists, in {at}"));
            }
            if let Some((at, _)) = positions.place(file, &self.key.root, &self.key.steps) {
                if file.format() == Some(Format::Hocon) {
                    return Err("keys of HOCON files cannot be renamed".to_owned());
                }
                if !fact.value.contains(at) || self.is_shared(file, at) {
                    return Err(format!(
                        "{}: the key is part of an anchor, so that other values would change too",
                        place_in(file, at)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether a range is inside of a node with an anchor that an alias uses.
    fn is_shared(&self, file: &File, at: TextRange) -> bool {
        let parse = self.analysis.snapshot.parse_of(file, format_of(file));
        let tree = &parse.tree;
        let is_around = |target: &Option<NodeId>| {
            target.is_some_and(|target| tree.node(target).range.contains(at))
        };
        tree.nodes().any(
            |(_, node)| matches!(&node.kind, NodeKind::Alias { target, .. } if is_around(target)),
        )
    }
}
