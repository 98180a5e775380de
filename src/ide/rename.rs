//! A new name for the thing under the cursor, wherever it stands: a key over all levels with its tokens and
//! its entries of `lookup_options`, a nested key, an anchor.
//!
//! What would change a value, and not only a name, is refused with the reason, or asked first.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::code_names::lookups_of;
use super::expected_keys::is_expectations;
use super::named::{self, Mention, Named};
use super::parameter_rename::ParameterRename;
use super::references::{Occurrence, Role, files_with, occurrences};
use super::target::KeyTarget;
use crate::analysis::{Analysis, ClassParameter, HieraFiles, split_key};
use crate::regexp::Regexp;
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeKind, Tree};
use crate::text::{TextEdit, TextRange};
use crate::value::Value;
use crate::workspace::{CodeFacts, File, Format, LOOKUP_OPTIONS, Root, path};

/// What a rename changes: edits by the path of the file.
pub type Edits = BTreeMap<Arc<str>, Vec<TextEdit>>;

/// A rename.
#[derive(Clone, Debug, Default)]
pub struct Renamed {
    /// What it changes.
    pub edits: Edits,
    /// What the user has to agree to before, in sentences.
    pub to_confirm: Vec<String>,
    /// What the user should know, in sentences.
    pub to_know: Vec<String>,
}

/// Whether the thing under the cursor can be renamed: where its name stands, and the name.
///
/// # Errors
/// Why it cannot be renamed; an empty text where nothing is.
pub fn prepare(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
) -> Result<(TextRange, String), String> {
    let mention = mentioned(analysis, path, offset)?;
    let text = analysis.snapshot.file(path).map(|file| file.text());
    let file = text.ok_or_else(String::new)?;
    Ok(match &mention.named {
        Named::Key(key) => match key.steps.last() {
            Some(step) => (last_part(file, mention.range), step.to_s()),
            None => match parameter_here(file, &mention) {
                Some(name) => (without_sigil(mention.range), name.to_owned()),
                None => (bare(file, mention.range), key.root.to_string()),
            },
        },
        Named::Anchor { name, .. } => (without_sigil(mention.range), name.to_string()),
        Named::Pattern(_)
        | Named::Variable(_)
        | Named::Element(_)
        | Named::Path(_)
        | Named::Function(_)
        | Named::Class(_) => return Err(String::new()),
    })
}

/// The edits that give the thing under the cursor another name.
///
/// # Errors
/// Why it cannot have that name, or be renamed at all.
pub fn rename(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    new_name: &str,
) -> Result<Renamed, String> {
    let mention = mentioned(analysis, path, offset)?;
    match &mention.named {
        Named::Key(key) => {
            let file = analysis.snapshot.file(path).ok_or_else(String::new)?;
            // In its class a parameter has a shorter name.
            let full = parameter_here(file.text(), &mention).and_then(|_| {
                let (class, _) = split_key(&key.root)?;
                let name = new_name.trim_start_matches('$');
                (!name.contains("::")).then(|| format!("{class}::{name}"))
            });
            let root = analysis.answering(path).map(|view| view.root);
            let renaming = Renaming {
                analysis,
                root,
                key,
                new_name: full.as_deref().unwrap_or(new_name),
                files: files_with(analysis, path, &mention.named),
            };
            renaming.check_name()?;
            let (to_confirm, to_know) = match key.steps.is_empty() {
                true => (renaming.check_top_level(path)?, renaming.of_unseen_class()),
                false => {
                    renaming.check_nested()?;
                    (Vec::new(), None)
                }
            };
            Ok(Renamed {
                edits: renaming.edits(&mention.named)?,
                to_confirm,
                to_know: to_know.into_iter().collect(),
            })
        }
        named @ Named::Anchor { .. } => {
            let edits = of_anchor(analysis, path, named, new_name)?;
            Ok(Renamed {
                edits,
                ..Renamed::default()
            })
        }
        Named::Pattern(_)
        | Named::Variable(_)
        | Named::Element(_)
        | Named::Path(_)
        | Named::Function(_)
        | Named::Class(_) => Err(String::new()),
    }
}

/// What is under the cursor, unless it is of a kind that has no other name.
fn mentioned(analysis: Analysis<'_>, path: &str, offset: usize) -> Result<Mention, String> {
    let nothing = || "there is no key and no anchor here".to_owned();
    let is_code = analysis
        .snapshot
        .file(path)
        .is_some_and(|file| file.facts().code.is_some());
    if !is_code && !analysis.reads(path) && !is_expectations(path) {
        return Err(nothing());
    }
    let mention = named::at(analysis.snapshot, path, offset).ok_or_else(nothing)?;
    let why = match &mention.named {
        Named::Key(key) if &*key.root == LOOKUP_OPTIONS => {
            "lookup_options is Puppet's own key: it has no other name"
        }
        Named::Key(key) if key.before_list.is_some() => {
            "keys in the elements of a list are not renamed: their places differ from level to level"
        }
        Named::Key(_) | Named::Anchor { .. } => return Ok(mention),
        Named::Pattern(_) => "a pattern of lookup_options is not a name: edit it",
        Named::Variable(_) => {
            "a fact or variable gets its name from the node or from Puppet code: it cannot be renamed in data"
        }
        Named::Element(_) => "the name of an element of mapped_paths cannot be renamed here",
        Named::Path(_) => "rename the file itself: a literal path follows it",
        Named::Class(_) => "a class gets its name from Puppet code: it cannot be renamed here",
        Named::Function(_) => "a data function gets its name from the file that defines it",
    };
    Err(why.to_owned())
}

/// One renaming of a key.
struct Renaming<'r> {
    analysis: Analysis<'r>,
    /// The root that answers for the file under the cursor.
    root: Option<&'r Root>,
    key: &'r KeyTarget,
    new_name: &'r str,
    files: Vec<&'r Arc<File>>,
}

impl<'r> Renaming<'r> {
    /// The parameter of a class that a top-level key is for.
    fn parameter(&self) -> Option<ClassParameter<'r>> {
        let found = self.analysis.class_parameter(self.root, &self.key.root);
        found.filter(|_| self.key.steps.is_empty())
    }

    /// That a top-level key may be for a class that is not here, unless something looks it up by its name.
    fn of_unseen_class(&self) -> Option<String> {
        let (analysis, key) = (self.analysis, &self.key.root);
        let snapshot = analysis.snapshot;
        let class = analysis.unseen_class(self.root?, key)?;
        let is_looked_up = snapshot.references().tokens(key) > 0
            || snapshot.files_looking_up(key).next().is_some();
        (!is_looked_up).then(|| {
            format!(
                "'{key}' may be for a parameter of the class {class}, which is not in this workspace: automatic \
                 lookup finds it by that name alone"
            )
        })
    }

    /// What can stand as a key and in a token without quotes.
    fn check_name(&self) -> Result<(), String> {
        let name = self.new_name;
        let is_allowed = |c: char| c.is_alphanumeric() || "_-:/+@".contains(c);
        let starts_well = name.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/');
        if !starts_well || !name.chars().all(is_allowed) || name.ends_with(':') {
            return Err(format!(
                "'{name}' is not a name for a key here: letters, digits and _ - : / + @ only, since dots and \
                 quotes mean something else in lookups"
            ));
        }
        match resolve_plain(name) {
            Resolved::String => Ok(()),
            Resolved::Null
            | Resolved::Bool(_)
            | Resolved::Int(_)
            | Resolved::BigInt(_)
            | Resolved::Float(_)
            | Resolved::Symbol(_)
            | Resolved::Date
            | Resolved::Time
            | Resolved::Invalid { .. } => Err(format!(
                "'{name}' is not a name for a key: YAML does not read it as a string"
            )),
        }
    }

    /// What a topmost key may be called; gives what the user has to agree to.
    fn check_top_level(&self, from: &str) -> Result<Vec<String>, String> {
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
            let name = new.rsplit_once("::").filter(|(of, _)| **of == **class);
            if !name.is_some_and(|(_, name)| is_parameter_name(name)) {
                return Err(format!(
                    "'{class}::{old}' is the parameter ${old} of the class {class}: a new name is '{class}::' and the \
                     new name of the parameter"
                ));
            }
            to_confirm.push(format!(
                "renames the parameter ${old} of the class {class} in Puppet code too; ERB templates, and code that \
                 computes the name, stay as they are"
            ));
        }
        let snapshot = self.analysis.snapshot;
        let beside = HieraFiles::beside(self.analysis, from);
        let mut holders = snapshot.iter_files_with(new);
        if let Some(file) = holders.find(|file| beside.contains(file.path())) {
            return Err(format!(
                "'{new}' is already set, in {}",
                self.place(file, new)
            ));
        }
        for file in &self.files {
            let facts = file.facts();
            if let Some(reference) = facts
                .references()
                .find(|reference| super::call_hierarchy::root_of(&reference.key).as_ref() == new)
            {
                let line = file.line(reference.range.start as usize) + 1;
                let at = path::name(file.path());
                return Err(format!("'{new}' is already looked up, in {at}:{line}"));
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

    /// A lookup of the new name gets a value that it has not had; what a computed one looks up is not
    /// known.
    fn check_code(&self, file: &File, code: &CodeFacts) -> Result<(), String> {
        let new = KeyTarget::of_root(self.new_name);
        let place = |at: TextRange| {
            let line = file.line(at.start as usize) + 1;
            format!("{}:{line}", path::name(file.path()))
        };
        if let Some((at, _)) = lookups_of(code, &new).next() {
            return Err(format!(
                "'{}' is already looked up, in {}",
                self.new_name,
                place(at)
            ));
        }
        let old = &*self.key.root;
        for lookup in &code.lookups {
            if lookup.key.may_partly_be(old) {
                return Err(format!(
                    "{} looks up a key that is computed and can be '{old}': it would not be found there",
                    place(lookup.place)
                ));
            }
        }
        Ok(())
    }

    /// An entry that is for one of the names only gives the key other options: what to agree to.
    fn check_option(
        &self,
        file: &File,
        entry: &str,
        at: TextRange,
    ) -> Result<Option<String>, String> {
        let (old, new) = (&*self.key.root, self.new_name);
        let line = file.line(at.start as usize) + 1;
        let place = format!("{}:{line}", path::name(file.path()));
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
        Ok(Some(format!(
            "the pattern '{entry}' of lookup_options in {place} is for '{one}' and not for '{other}': values \
             can be merged differently"
        )))
    }

    /// A module's data is asked for the module's own keys alone.
    fn check_module(&self, file: &File) -> Result<(), String> {
        let (old, new) = (&*self.key.root, self.new_name);
        let module = |name: &str| name.split_once("::").map(|(module, _)| module.to_owned());
        let root = self.analysis.snapshot.root_of(file.path());
        let is_module =
            root.is_some_and(|root| matches!(root.kind, crate::workspace::RootKind::Module { .. }));
        match is_module && module(old) != module(new) {
            true => Err(format!(
                "{} is data of a module, which is only asked for keys of that module: '{new}' would not \
                 be found there",
                path::name(file.path())
            )),
            false => Ok(()),
        }
    }

    /// Whether a key is written where it counts, in a form that can be edited.
    fn check_written(&self, file: &File, key: TextRange) -> Result<(), String> {
        let place = format!(
            "{}:{}",
            path::name(file.path()),
            file.line(key.start as usize) + 1
        );
        if file.format() == Some(Format::Hocon) {
            return Err(format!("{place}: keys of HOCON files cannot be renamed"));
        }
        let start = key.start as usize;
        let snapshot = self.analysis.snapshot;
        let parse = snapshot.parse_around(file, format_of(file), start);
        let tree = &parse.tree;
        let is_broken = tree.broken().iter().any(|entry| entry.range.contains(key));
        let is_entry = tree.entry_at(key).is_some_and(|(at, _)| {
            matches!(tree.node(at).kind, NodeKind::Scalar(_)) && tree.node(at).range == key
        });
        match is_broken || is_entry {
            true => Ok(()),
            false => Err(format!(
                "{place}: the key comes from an anchor or is an alias, so that other values would change too"
            )),
        }
    }

    fn check_nested(&self) -> Result<(), String> {
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
                let line = file.line(at.start as usize) + 1;
                let (name, at) = (self.new_name, path::name(file.path()));
                return Err(format!("'{name}' already exists, in {at}:{line}"));
            }
            if let Some((at, _)) = positions.place(file, &self.key.root, &self.key.steps) {
                if file.format() == Some(Format::Hocon) {
                    return Err("keys of HOCON files cannot be renamed".to_owned());
                }
                let line = file.line(at.start as usize) + 1;
                let is_own = fact.value.contains(at) && !self.is_shared(file, at);
                if !is_own {
                    return Err(format!(
                        "{}:{line}: the key is part of an anchor, so that other values would change too",
                        path::name(file.path())
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether a place lies within a node with an anchor that is used.
    fn is_shared(&self, file: &File, at: TextRange) -> bool {
        let parse = self.analysis.snapshot.parse_of(file, format_of(file));
        let tree = &parse.tree;
        tree.nodes().any(|(_, node)| match &node.kind {
            NodeKind::Alias {
                target: Some(target),
                ..
            } => tree.node(*target).range.contains(at),
            NodeKind::Alias { .. }
            | NodeKind::Scalar(_)
            | NodeKind::Mapping(_)
            | NodeKind::Sequence(_) => false,
        })
    }

    fn place(&self, file: &File, key: &str) -> String {
        let line = file.facts().key(key).map_or(1, |fact| fact.line + 1);
        format!("{}:{line}", path::name(file.path()))
    }

    fn edits(&self, named: &Named) -> Result<Edits, String> {
        let mut edits = Edits::new();
        let parameter = self.parameter();
        for file in &self.files {
            let mut found = Vec::new();
            let is_code = file.facts().code.is_some();
            for one in occurrences(self.analysis.snapshot, file, named) {
                // The declaration of a parameter is one of many places.
                if !(is_code && one.role == Role::Definition) {
                    found.extend(self.edit(file, &one)?);
                }
            }
            if let Some(parameter) = parameter.filter(|_| is_code)
                && let Some((class, new)) = split_key(self.new_name)
            {
                let old = &parameter.parameter.name;
                let rename = ParameterRename { class, old, new };
                found.extend(rename.edits(file)?);
            }
            if !found.is_empty() {
                edits.insert(file.path().clone(), found);
            }
        }
        Ok(edits)
    }

    fn edit(&self, file: &File, one: &Occurrence) -> Result<Option<TextEdit>, String> {
        let text = file.text();
        let written = one.name.slice(text);
        Ok(match one.role {
            Role::Definition => Some(self.named_anew(file, one.name)),
            Role::Option => {
                let entry = written.trim_matches(['"', '\'']);
                match entry.starts_with('^') {
                    false => Some(self.named_anew(file, one.name)),
                    // Others are for both names.
                    true => (exact_pattern(entry) == Some(&*self.key.root)).then(|| {
                        let new = written.replace(&*self.key.root, self.new_name);
                        TextEdit::replace(one.name, new)
                    }),
                }
            }
            Role::Use => {
                let argument = written;
                let is_plain = !argument.contains('\\') && !argument.contains("''");
                let old = match self.key.steps.last() {
                    Some(step) => step.to_s(),
                    None => self.key.root.to_string(),
                };
                let part = match self.key.steps.is_empty() {
                    true => bare(text, one.name),
                    false => last_part(text, one.name),
                };
                // A segment in quotes keeps them, and the new name needs none.
                if !is_plain || part.slice(text).trim_matches(['"', '\'']) != old {
                    let line = file.line(one.name.start as usize) + 1;
                    return Err(format!(
                        "{}:{line}: the token names the key with escapes: rename it there by hand first",
                        path::name(file.path())
                    ));
                }
                Some(TextEdit::replace(part, self.new_name))
            }
        })
    }

    /// A key with its new name, quoted as it was.
    fn named_anew(&self, file: &File, at: TextRange) -> TextEdit {
        let written = at.slice(file.text());
        let quote = written.chars().next().filter(|c| matches!(c, '"' | '\''));
        let colon = match quote {
            None if written.starts_with(':') => ":",
            Some(_) | None => "",
        };
        let quote = quote.map(String::from).unwrap_or_default();
        TextEdit::replace(at, format!("{colon}{quote}{}{quote}", self.new_name))
    }
}

/// The name of the parameter whose declaration is under the cursor: with its dollar, as no key is written.
fn parameter_here<'t>(text: &'t str, mention: &Mention) -> Option<&'t str> {
    mention.range.slice(text).strip_prefix('$')
}

/// Whether a parameter of a class can have a name (`puppet/pops/patterns.rb`).
fn is_parameter_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn format_of(file: &File) -> Format {
    file.format().unwrap_or(Format::Yaml)
}

/// The name that a pattern is for, where it is for exactly one.
fn exact_pattern(pattern: &str) -> Option<&str> {
    let name = pattern.strip_prefix('^')?;
    let name = name
        .strip_suffix('$')
        .or_else(|| name.strip_suffix("\\z"))?;
    let is_literal = |c: char| c.is_ascii_alphanumeric() || "_:/-".contains(c);
    name.chars().all(is_literal).then_some(name)
}

/// A range without quotes around it.
fn bare(text: &str, range: TextRange) -> TextRange {
    let written = range.slice(text);
    let is_quoted =
        |quote: char| written.len() > 2 && written.starts_with(quote) && written.ends_with(quote);
    match is_quoted('"') || is_quoted('\'') {
        true => TextRange {
            start: range.start + 1,
            end: range.end - 1,
        },
        false => range,
    }
}

/// The last segment of a dotted key, without its quotes; the whole for a key without dots.
fn last_part(text: &str, range: TextRange) -> TextRange {
    let written = range.slice(text);
    let start = crate::interpolation::split_key(written)
        .ok()
        .and_then(|parts| Some(parts.last()?.1.start))
        .filter(|_| !written.starts_with(['"', '\'']) || written.contains('.'));
    let start = start.unwrap_or(0);
    bare(
        text,
        TextRange {
            start: range.start + start,
            end: range.end,
        },
    )
}

fn without_sigil(range: TextRange) -> TextRange {
    TextRange {
        start: range.start + 1,
        end: range.end,
    }
}

fn of_anchor(
    analysis: Analysis<'_>,
    path: &str,
    named: &Named,
    new_name: &str,
) -> Result<Edits, String> {
    let is_allowed = |c: char| c.is_alphanumeric() || "_-".contains(c);
    if new_name.is_empty() || !new_name.chars().all(is_allowed) {
        return Err(format!(
            "'{new_name}' is not a name for an anchor: letters, digits, _ and -"
        ));
    }
    let file = analysis.snapshot.file(path).ok_or_else(String::new)?;
    let parse = analysis.snapshot.parse_of(file, format_of(file));
    let is_taken = |tree: &Tree| {
        tree.nodes().any(|(_, node)| {
            let anchor = node.anchor.as_ref();
            anchor.is_some_and(|anchor| &*anchor.text == new_name)
        })
    };
    if is_taken(&parse.tree) {
        return Err(format!("the file already has an anchor '{new_name}'"));
    }
    let edits = occurrences(analysis.snapshot, file, named).into_iter();
    let edits = edits.map(|one| TextEdit::replace(without_sigil(one.name), new_name));
    Ok(Edits::from([(file.path().clone(), edits.collect())]))
}
