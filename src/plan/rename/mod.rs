//! Renames the thing under the cursor: a key in all levels, tokens and entries of `lookup_options`;
//! a nested key; an anchor.
//!
//! Renames that would change a value are refused with a reason, or need confirmation.

mod checks;
#[cfg(test)]
mod code_tests;
pub mod file;
mod parameter;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::analysis::{Analysis, ClassParameter, Environments, split_key};
use crate::edit::Edits;
use crate::ide::expected_keys::is_expectations;
use crate::ide::named::{self, Mention, Named};
use crate::ide::references::{Occurrence, Role, files_with, occurrences};
use crate::ide::target::KeyTarget;
use crate::text::{TextEdit, TextRange};
use crate::workspace::{File, Format, LOOKUP_OPTIONS, Root, path};
use parameter::ParameterRename;

/// A rename.
#[derive(Clone, Debug, Default)]
pub struct Renamed {
    /// The edits.
    pub edits: Edits,
    /// What the user has to confirm before.
    pub to_confirm: Vec<Confirmation>,
    /// Sentences to inform the user.
    pub to_know: Vec<String>,
}

/// A question before a rename.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// What the rename does besides.
    pub sentence: String,
    /// Whether values can change. If not, an editor that cannot ask renames and tells the sentence.
    pub changes_values: bool,
}

/// The range and the name of the thing under the cursor.
///
/// # Errors
/// Why it cannot be renamed; empty if there is nothing to rename.
pub fn prepare(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
) -> Result<(TextRange, String), String> {
    let mention = mentioned(analysis, path, offset)?;
    let text = analysis.snapshot.file(path).map(|file| file.text());
    let file = text.ok_or_else(String::new)?;
    if let Named::Anchor { name, .. } = &mention.named {
        return Ok((without_sigil(mention.range), name.to_string()));
    }
    let Named::Key(key) = &mention.named else {
        return Err(String::new());
    };
    Ok(match key.steps.last() {
        Some(step) => (last_part(file, mention.range), step.to_s()),
        None => match parameter_here(file, &mention, key) {
            Some((range, name)) => (range, name.to_owned()),
            None => (bare(file, mention.range), key.root.to_string()),
        },
    })
}

/// The edits that rename the thing under the cursor.
///
/// # Errors
/// Why it cannot be renamed, or not to this name.
pub fn rename(
    analysis: Analysis<'_>,
    path: &str,
    offset: usize,
    new_name: &str,
) -> Result<Renamed, String> {
    let mention = mentioned(analysis, path, offset)?;
    let file = analysis.snapshot.file(path).ok_or_else(String::new)?;
    let Named::Key(key) = &mention.named else {
        return Ok(Renamed {
            edits: of_anchor(analysis, file, &mention.named, new_name)?,
            ..Renamed::default()
        });
    };
    // Inside its class, a parameter has a shorter name.
    let full = parameter_here(file.text(), &mention, key).and_then(|_| {
        let (class, _) = split_key(&key.root)?;
        let name = new_name.trim_start_matches('$');
        (!name.contains("::")).then(|| format!("{class}::{name}"))
    });
    let (from, files) = together(analysis, path, &mention.named);
    let renaming = Renaming {
        analysis,
        root: analysis.answering(path).map(|view| view.root),
        key,
        new_name: full.as_deref().unwrap_or(new_name),
        files,
    };
    renaming.check_name()?;
    let mut renamed = Renamed::default();
    if key.steps.is_empty() {
        renaming.check_reach(path)?;
        renamed.to_confirm = renaming.check_top_level(from)?;
        renamed.to_know.extend(renaming.of_unseen_class());
    } else {
        renaming.check_nested()?
    }
    renamed.edits = renaming.edits(&mention.named)?;
    Ok(renamed)
}

/// The files that are renamed together, and the file that determines them: the data file with the
/// name that the most environments read, such as one of the global layer or of a shared module.
fn together<'a>(
    analysis: Analysis<'a>,
    path: &'a str,
    named: &Named,
) -> (&'a str, Vec<&'a Arc<File>>) {
    let all = Environments::of(analysis);
    let environments = |at: &str| all.reading(at).len();
    let files = files_with(analysis, path, named);
    let data = files.iter().filter(|file| file.facts().code.is_none());
    let naming = data.filter(|file| !occurrences(analysis, file, named).is_empty());
    let widest = naming.max_by_key(|file| environments(file.path()));
    match widest.filter(|file| environments(file.path()) > environments(path)) {
        Some(file) => (file.path(), files_with(analysis, file.path(), named)),
        None => (path, files),
    }
}

/// The key, parameter or anchor under the cursor, if it can be renamed.
fn mentioned(analysis: Analysis<'_>, path: &str, offset: usize) -> Result<Mention, String> {
    let nothing = || "there is no key and no anchor here".to_owned();
    let file = analysis.snapshot.file(path);
    let is_code = file.is_some_and(|file| file.facts().code.is_some());
    if !is_code && !analysis.reads(path) && !is_expectations(path) {
        return Err(nothing());
    }
    let mut mention = named::at(analysis.snapshot, path, offset);
    let is_key = |mention: &Mention| matches!(mention.named, Named::Key(_));
    if is_code && !mention.as_ref().is_some_and(is_key) {
        let used = parameter::used_at(analysis, path, offset);
        mention = used.or(mention);
    }
    let mention = mention.ok_or_else(nothing)?;
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

struct Renaming<'r> {
    analysis: Analysis<'r>,
    /// The root of the file under the cursor.
    root: Option<&'r Root>,
    key: &'r KeyTarget,
    new_name: &'r str,
    files: Vec<&'r Arc<File>>,
}

impl<'r> Renaming<'r> {
    /// The class parameter that a top-level key sets.
    fn parameter(&self) -> Option<ClassParameter<'r>> {
        let found = self.analysis.class_parameter(self.root, &self.key.root);
        found.filter(|_| self.key.steps.is_empty())
    }

    /// A warning if the key may set a parameter of a missing class; not if it is looked up by name.
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

    fn edits(&self, named: &Named) -> Result<Edits, String> {
        let mut edits = Edits::new();
        let parameter = self.parameter();
        for file in &self.files {
            let mut found = Vec::new();
            let is_code = file.facts().code.is_some();
            for one in occurrences(self.analysis, file, named) {
                // `ParameterRename` handles declarations.
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
        let (root, new) = (&*self.key.root, self.new_name);
        if one.role == Role::Use {
            let (part, old) = match self.key.steps.last() {
                Some(step) => (last_part(text, one.name), step.to_s()),
                None => (bare(text, one.name), root.to_owned()),
            };
            let is_plain = !written.contains('\\') && !written.contains("''");
            // A quoted segment keeps its quotes, and the new name needs none.
            if !is_plain || part.slice(text).trim_matches(['"', '\'']) != old {
                return Err(format!(
                    "{}: the token names the key with escapes: rename it there by hand first",
                    place_in(file, one.name)
                ));
            }
            return Ok(Some(TextEdit::replace(part, new)));
        }
        let entry = written.trim_matches(['"', '\'']);
        if one.role == Role::Option && entry.starts_with('^') {
            // Other patterns match more names.
            let is_exact = exact_pattern(entry) == Some(root);
            return Ok(is_exact.then(|| TextEdit::replace(one.name, written.replace(root, new))));
        }
        // The quotes or colon of the old name stay.
        let sign = match written.chars().next() {
            Some(sign @ ('"' | '\'' | ':')) => String::from(sign),
            Some(_) | None => String::new(),
        };
        let end = sign.trim_start_matches(':');
        let edit = TextEdit::replace(one.name, format!("{sign}{new}{end}"));
        Ok(Some(edit))
    }
}

/// The name of a parameter in code under the cursor: with a dollar or without its class, unlike a key.
fn parameter_here<'t>(
    text: &'t str,
    mention: &Mention,
    key: &KeyTarget,
) -> Option<(TextRange, &'t str)> {
    let written = mention.range.slice(text);
    if let Some(name) = written.strip_prefix('$') {
        return Some((without_sigil(mention.range), name));
    }
    let (_, name) = split_key(&key.root)?;
    (written == name).then_some((mention.range, written))
}

/// A place in a file, for people: `FILE:LINE`.
fn place_in(file: &File, at: TextRange) -> String {
    let line = file.line(at.start as usize) + 1;
    format!("{}:{line}", path::name(file.path()))
}

fn format_of(file: &File) -> Format {
    file.format().unwrap_or(Format::Yaml)
}

/// The only name that a pattern matches; `None` if there may be others.
fn exact_pattern(pattern: &str) -> Option<&str> {
    let name = pattern.strip_prefix('^')?;
    let name = name
        .strip_suffix('$')
        .or_else(|| name.strip_suffix("\\z"))?;
    let is_literal = |c: char| c.is_ascii_alphanumeric() || "_:/-".contains(c);
    name.chars().all(is_literal).then_some(name)
}

/// A range without surrounding quotes.
fn bare(text: &str, range: TextRange) -> TextRange {
    let written = range.slice(text);
    let is_quoted =
        |quote: char| written.len() > 2 && written.starts_with(quote) && written.ends_with(quote);
    if is_quoted('"') || is_quoted('\'') {
        TextRange {
            start: range.start + 1,
            end: range.end - 1,
        }
    } else {
        range
    }
}

/// The last segment of a dotted key, without its quotes; all of a key without dots.
fn last_part(text: &str, range: TextRange) -> TextRange {
    let written = range.slice(text);
    let parts = crate::interpolation::split_key(written);
    let last = parts.ok().and_then(|parts| Some(parts.last()?.1));
    let last = last.filter(|_| !written.starts_with(['"', '\'']) || written.contains('.'));
    let last = TextRange {
        start: range.start + last.map_or(0, |last| last.start),
        end: range.end,
    };
    bare(text, last)
}

fn without_sigil(range: TextRange) -> TextRange {
    TextRange {
        start: range.start + 1,
        end: range.end,
    }
}

fn of_anchor(
    analysis: Analysis<'_>,
    file: &File,
    named: &Named,
    new_name: &str,
) -> Result<Edits, String> {
    let is_allowed = |c: char| c.is_alphanumeric() || "_-".contains(c);
    if new_name.is_empty() || !new_name.chars().all(is_allowed) {
        return Err(format!(
            "'{new_name}' is not a name for an anchor: letters, digits, _ and -"
        ));
    }
    let parse = analysis.snapshot.parse_of(file, format_of(file));
    let anchors = parse.tree.nodes();
    let mut anchors = anchors.filter_map(|(_, node)| node.anchor.as_ref());
    if anchors.any(|anchor| *anchor.text == *new_name) {
        return Err(format!("the file already has an anchor '{new_name}'"));
    }
    let edits = occurrences(analysis, file, named).into_iter();
    let edits = edits.map(|one| TextEdit::replace(without_sigil(one.name), new_name));
    Ok(Edits::from([(file.path().clone(), edits.collect())]))
}
