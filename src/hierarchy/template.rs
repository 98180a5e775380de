//! Path templates: `nodes/%{trusted.certname}.yaml` as pieces, and the variables' values in a path.

use std::fmt;
use std::sync::Arc;

use super::embedded::is_of_tag;
use crate::interpolation::{TokenKind, tokens};
use crate::syntax::puppet::without_colons;

/// One piece of a template.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TemplatePart {
    /// Literal text.
    Text(String),
    /// A variable, by the text between the braces: `facts.os.family`, `::site`.
    Variable(Arc<str>),
    /// A part of the key that is looked up, for a declared function ([`super::KeyPath`]).
    Key(KeyPart),
}

/// A part of a key in a path. Segments are separated by `::`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyPart {
    /// The whole key as written.
    Whole,
    /// The segments before the last, joined by `/`; may be empty.
    Path,
    /// All segments, joined by `/`.
    File,
    /// The first segment.
    Module,
    /// The last segment.
    Name,
}

impl KeyPart {
    /// The part of a key; `None` for a key that is no path: a segment is empty, or leads elsewhere.
    fn of(self, key: &str) -> Option<String> {
        let plain = key.strip_prefix("::").unwrap_or(key);
        let segments: Vec<&str> = plain.split("::").collect();
        let leads_elsewhere =
            |segment: &&str| matches!(*segment, "" | "." | "..") || segment.contains(['/', '\0']);
        if segments.iter().any(leads_elsewhere) {
            return None;
        }
        let (last, before) = segments.split_last()?;
        Some(match self {
            KeyPart::Whole => key.to_owned(),
            KeyPart::Path => before.join("/"),
            KeyPart::File => segments.join("/"),
            KeyPart::Module => segments[0].to_owned(),
            KeyPart::Name => (*last).to_owned(),
        })
    }

    /// Whether the part may be this text for some key.
    fn may_be(self, text: &str) -> bool {
        !text.is_empty() && (matches!(self, KeyPart::Path | KeyPart::File) || !text.contains('/'))
    }
}

/// A path with tokens in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Template {
    /// The pieces in order.
    pub parts: Vec<TemplatePart>,
}

impl Template {
    /// Parses a path of `hiera.yaml`. Tokens that are always empty are dropped; tokens that Puppet
    /// refuses there stay text.
    #[must_use]
    pub fn parse(path: &str) -> Template {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut at = 0;
        for token in tokens(path) {
            text.push_str(&path[at..token.range.start as usize]);
            at = token.range.end as usize;
            match token.kind {
                TokenKind::Variable { .. } => {
                    if !text.is_empty() {
                        parts.push(TemplatePart::Text(std::mem::take(&mut text)));
                    }
                    parts.push(TemplatePart::Variable(Arc::from(token.inner.slice(path))));
                }
                TokenKind::Empty => {}
                _ => text.push_str(token.range.slice(path)),
            }
        }
        text.push_str(&path[at..]);
        if !text.is_empty() {
            parts.push(TemplatePart::Text(text));
        }
        Template { parts }
    }

    /// The template with the wildcards of a glob, `*` and `?`, as additional unknown parts.
    #[must_use]
    pub fn with_wildcards(self) -> Template {
        let mut parts = Vec::new();
        let mut wildcards = 0;
        for part in self.parts {
            let TemplatePart::Text(text) = part else {
                parts.push(part);
                continue;
            };
            for (at, piece) in text.split(['*', '?']).enumerate() {
                if at > 0 {
                    wildcards += 1;
                    parts.push(TemplatePart::Variable(Arc::from(format!("*{wildcards}"))));
                }
                if !piece.is_empty() {
                    parts.push(TemplatePart::Text(piece.to_string()));
                }
            }
        }
        Template { parts }
    }

    /// The template in which a variable at the end may hold the extension of a data file.
    #[must_use]
    pub fn with_extension_in_name(mut self) -> Template {
        // A variable before a text is not at the end.
        self.parts.push(TemplatePart::Text(String::new()));
        self
    }

    /// The variable that the path ends with, if it is none of a template's tags or wildcards.
    #[must_use]
    pub fn last_variable(&self) -> Option<&Arc<str>> {
        match self.parts.last()? {
            TemplatePart::Variable(name) => Some(name).filter(|name| is_without_extension(name)),
            TemplatePart::Text(_) | TemplatePart::Key(_) => None,
        }
    }

    /// The variables, in order of first appearance.
    pub fn variables(&self) -> impl Iterator<Item = &Arc<str>> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Variable(name) => Some(name),
            TemplatePart::Text(_) | TemplatePart::Key(_) => None,
        })
    }

    /// Whether the template is one path, for any node and any key.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.all(|part| matches!(part, TemplatePart::Text(_)))
    }

    /// The text that each path of the template starts with.
    #[must_use]
    pub fn start(&self) -> &str {
        let first = self.first_text();
        // A key without segments before its last removes the separator.
        first.strip_suffix('/').unwrap_or(first)
    }

    /// The text before the first variable or key.
    #[must_use]
    pub fn first_text(&self) -> &str {
        match self.parts.first() {
            Some(TemplatePart::Text(text)) => text,
            Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) | None => "",
        }
    }

    /// Whether the path depends on the key that is looked up.
    #[must_use]
    pub fn depends_on_key(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part, TemplatePart::Key(_)))
    }

    /// The template for one key; `None` for a key that makes no path.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Option<Template> {
        if !self.depends_on_key() {
            return Some(self.clone());
        }
        let mut parts: Vec<TemplatePart> = Vec::new();
        for part in &self.parts {
            let text = match part {
                TemplatePart::Variable(_) => {
                    parts.push(part.clone());
                    continue;
                }
                TemplatePart::Text(text) => text.clone(),
                TemplatePart::Key(part) => part.of(key)?,
            };
            match parts.last_mut() {
                Some(TemplatePart::Text(before)) => {
                    // An empty segment is removed with the separator before it.
                    if text.is_empty() && before.ends_with('/') {
                        before.pop();
                    }
                    before.push_str(&text);
                }
                Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) | None => {
                    parts.push(TemplatePart::Text(text));
                }
            }
        }
        Some(Template { parts })
    }

    /// The variables' values for which the template gives `path`, if exactly one reading exists. A
    /// variable stands for at least one character and, except for those of a template's tags, never
    /// for a `/`. At the end of the path it does not stand for the extension of a data file either. With two readings the result is `None`, since neither is certain.
    #[must_use]
    pub fn bind(&self, path: &str) -> Option<Vec<(Arc<str>, String)>> {
        self.only_reading(path, &is_of_tag)
    }

    /// Like [`Template::bind`]; if that gives nothing, variables that are no facts may contain a
    /// `/`, as in a role called `web/front`. If there are several such readings, the last variable
    /// has the `/`.
    #[must_use]
    pub fn bind_across_folders(&self, path: &str) -> Option<Vec<(Arc<str>, String)>> {
        let across = || self.only_reading(path, &may_hold_slash);
        self.bind(path).or_else(across).or_else(|| {
            let last = self.variables().last()?;
            self.only_reading(path, &|name| name == &**last && may_hold_slash(name))
        })
    }

    fn only_reading(&self, path: &str, slash: MayHoldSlash<'_>) -> Option<Vec<(Arc<str>, String)>> {
        let mut found = Vec::new();
        readings(&self.parts, path, slash, &mut Vec::new(), &mut found);
        if found.len() > 1 {
            return None;
        }
        let owned = |(name, value): (&Arc<str>, &str)| (Arc::clone(name), value.to_string());
        Some(found.pop()?.into_iter().map(owned).collect())
    }

    /// Whether some reading of the template gives `path`.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.count_readings(path) > 0
    }

    /// Like [`Template::matches`], with `/` allowed in variables that are no facts, and with variables that are empty
    /// beside other text: `common%{suffix}.yaml` is `common.yaml` for a node without a suffix.
    #[must_use]
    pub fn may_match(&self, path: &str) -> bool {
        // Most paths start elsewhere.
        path.starts_with(self.start())
            && (self.matches(path)
                || self.has_folders_in_names() && self.count(path, &may_hold_slash) > 0
                || self.is_without(path, self.beside_text()))
    }

    /// Whether the template gives a path if some variables are empty, also those that make up the name of a folder:
    /// `nodes/%{site}/common.yaml` is `nodes/common.yaml` for a node without a site. Nobody has that in mind, but
    /// Puppet does so.
    #[must_use]
    pub fn matches_without_some(&self, path: &str) -> bool {
        path.starts_with(self.start())
            && self.is_without(path, self.variables().filter(|name| may_be_empty(name)))
    }

    /// Whether the template gives a path without some of these variables.
    fn is_without<'a>(&self, path: &str, empty: impl Iterator<Item = &'a Arc<str>>) -> bool {
        /// Of at most so many variables each choice is tried.
        const MAX_EMPTY: usize = 4;
        let is_end = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => path.ends_with(text.as_str()),
            TemplatePart::Variable(_) | TemplatePart::Key(_) => true,
        };
        if !self.parts.last().is_some_and(is_end) {
            return false;
        }
        let empty = empty
            .take(MAX_EMPTY)
            .map(|name| (Arc::clone(name), String::new()));
        let empty: Vec<(Arc<str>, String)> = empty.collect();
        (1..1_usize << empty.len()).any(|choice| {
            let chosen = empty.iter().enumerate();
            let chosen = chosen.filter(|(at, _)| choice & (1 << at) != 0);
            let chosen: Vec<(Arc<str>, String)> = chosen.map(|(_, it)| it.clone()).collect();
            let mut without = self.with(&chosen);
            for part in &mut without.parts {
                if let TemplatePart::Text(text) = part {
                    while text.contains("//") {
                        *text = text.replace("//", "/");
                    }
                }
            }
            without.matches(path)
        })
    }

    /// The variables that do not make up the name of a folder or of a file alone.
    fn beside_text(&self) -> impl Iterator<Item = &Arc<str>> {
        let parts = self.parts.iter().enumerate();
        parts.filter_map(|(at, part)| {
            let TemplatePart::Variable(name) = part else {
                return None;
            };
            let before = at.checked_sub(1).map(|before| &self.parts[before]);
            let is_after = match before {
                Some(TemplatePart::Text(text)) => !text.ends_with('/'),
                Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) => true,
                None => false,
            };
            let is_before = match self.parts.get(at + 1) {
                Some(TemplatePart::Text(text)) => !text.starts_with(['/', '.']),
                Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) => true,
                None => false,
            };
            (is_after || is_before).then_some(name)
        })
    }

    /// Whether this template is a likelier match for a path than `other`, which matches it only if
    /// a variable stands for several folders: this one matches without that, or starts with more
    /// text.
    #[must_use]
    pub fn is_likelier(&self, other: &Template, path: &str) -> bool {
        let has_longer_start = self.first_text().len() > other.first_text().len();
        self.matches(path) || has_longer_start && self.may_match(path)
    }

    /// Whether the template may match more than it matches: [`Template::may_match`].
    #[must_use]
    pub fn may_match_more(&self) -> bool {
        self.has_folders_in_names() || self.beside_text().next().is_some()
    }

    /// Whether some variable may stand for several folders.
    fn has_folders_in_names(&self) -> bool {
        self.variables().any(|name| may_hold_slash(name))
    }

    /// The template with these values for its variables; others remain.
    #[must_use]
    pub fn with(&self, values: &[(Arc<str>, String)]) -> Template {
        let mut parts: Vec<TemplatePart> = Vec::new();
        for part in &self.parts {
            let text = match part {
                TemplatePart::Text(text) => Some(text),
                TemplatePart::Variable(name) => {
                    let known = values.iter().find(|(known, _)| known == name);
                    known.map(|(_, value)| value)
                }
                TemplatePart::Key(_) => None,
            };
            match (text, parts.last_mut()) {
                (None, _) => parts.push(part.clone()),
                (Some(text), Some(TemplatePart::Text(before))) => before.push_str(text),
                (Some(text), _) => parts.push(TemplatePart::Text(text.clone())),
            }
        }
        Template { parts }
    }

    /// The path with these values for its variables; `None` if one is missing, or if it depends on
    /// a key.
    #[must_use]
    pub fn with_values(&self, values: &[(Arc<str>, String)]) -> Option<String> {
        match self.with(values).parts.as_mut_slice() {
            [TemplatePart::Text(path)] => Some(std::mem::take(path)),
            [] => Some(String::new()),
            [..] => None,
        }
    }

    /// In how many readings the template gives `path`; 2 stands for two or more.
    #[must_use]
    pub fn count_readings(&self, path: &str) -> usize {
        self.count(path, &is_of_tag)
    }

    fn count(&self, path: &str, slash: MayHoldSlash<'_>) -> usize {
        // Most paths start elsewhere, and need no list.
        if !path.starts_with(self.start()) {
            return 0;
        }
        let mut found = Vec::new();
        readings(&self.parts, path, slash, &mut Vec::new(), &mut found);
        found.len()
    }
}

/// The path, with tokens for its unknown parts.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            TemplatePart::Text(text) => f.write_str(text),
            TemplatePart::Variable(name) => write!(f, "%{{{name}}}"),
            TemplatePart::Key(_) => f.write_str("{key}"),
        })
    }
}

type MayHoldSlash<'f> = &'f dyn Fn(&str) -> bool;

/// Facts and what Puppet sets never do; variables of site manifests and classifiers may, and so may
/// the output of a template's tag.
fn may_hold_slash(variable: &str) -> bool {
    const WITHOUT: [&str; 14] = [
        "environment",
        "hostname",
        "fqdn",
        "clientcert",
        "certname",
        "domain",
        "osfamily",
        "operatingsystem",
        "operatingsystemrelease",
        "operatingsystemmajrelease",
        "lsbdistcodename",
        "kernel",
        "virtual",
        "architecture",
    ];
    let name = without_colons(variable);
    is_of_tag(name) || !name.contains(['.', '*']) && !WITHOUT.contains(&name)
}

/// Whether a node may lack a variable: no node lacks its name, its environment and its operating system.
fn may_be_empty(variable: &str) -> bool {
    const NEVER: [&str; 12] = [
        "environment",
        "trusted.certname",
        "clientcert",
        "fqdn",
        "hostname",
        "networking.fqdn",
        "networking.hostname",
        "kernel",
        "osfamily",
        "operatingsystem",
        "virtual",
        "architecture",
    ];
    let name = without_colons(variable);
    let name = name.strip_prefix("facts.").unwrap_or(name);
    !NEVER.contains(&name) && !name.starts_with("os.")
}

/// Extensions of data files.
pub const DATA_EXTENSIONS: [&str; 4] = [".yaml", ".yml", ".eyaml", ".json"];

/// Whether a path or a name ends with the extension of a data file.
#[must_use]
pub fn has_data_extension(path: &str) -> bool {
    DATA_EXTENSIONS.iter().any(|end| path.ends_with(end))
}

/// Whether a variable holds no extension: a tag may be a whole path, and a wildcard any text.
fn is_without_extension(name: &str) -> bool {
    !is_of_tag(name) && !name.starts_with('*')
}

type TemplateReading<'a> = Vec<(&'a Arc<str>, &'a str)>;

/// Collects up to two ways in which the parts can give the path.
fn readings<'a>(
    parts: &'a [TemplatePart],
    path: &'a str,
    slash: MayHoldSlash<'_>,
    bound: &mut TemplateReading<'a>,
    found: &mut Vec<TemplateReading<'a>>,
) {
    if found.len() > 1 {
        return;
    }
    match parts.split_first() {
        None if path.is_empty() => found.push(bound.clone()),
        None => {}
        Some((TemplatePart::Text(text), rest)) => {
            if let Some(tail) = path.strip_prefix(text.as_str()) {
                readings(rest, tail, slash, bound, found);
            }
            // The key has no segments before its last.
            if let [TemplatePart::Key(KeyPart::Path), rest @ ..] = rest
                && let Some(text) = text.strip_suffix('/')
                && let Some(tail) = path.strip_prefix(text)
            {
                readings(rest, tail, slash, bound, found);
            }
        }
        Some((TemplatePart::Key(part), rest)) => {
            for (at, character) in path.char_indices() {
                let end = at + character.len_utf8();
                if !part.may_be(&path[..end]) {
                    break;
                }
                readings(rest, &path[end..], slash, bound, found);
            }
        }
        Some((TemplatePart::Variable(name), rest)) => {
            if let Some((_, value)) = bound.iter().find(|(known, _)| *known == name) {
                if let Some(tail) = path.strip_prefix(value) {
                    readings(rest, tail, slash, bound, found);
                }
                return;
            }
            // If only text follows, there is at most one reading.
            let tail = match rest {
                [] => Some(""),
                [TemplatePart::Text(tail)] => Some(tail.as_str()),
                [..] => None,
            };
            if let Some(tail) = tail {
                let value = path.strip_suffix(tail);
                let has_extension =
                    rest.is_empty() && has_data_extension(path) && is_without_extension(name);
                let fits = |value: &&str| {
                    !value.is_empty() && !has_extension && (slash(name) || !value.contains('/'))
                };
                if let Some(value) = value.filter(fits) {
                    bound.push((name, value));
                    found.push(bound.clone());
                    bound.pop();
                }
                return;
            }
            let limit = if slash(name) {
                path.len()
            } else {
                path.find('/').unwrap_or(path.len())
            };
            // The remainder starts with this text.
            let next = match rest {
                [
                    TemplatePart::Text(text),
                    TemplatePart::Key(KeyPart::Path),
                    ..,
                ] => text.strip_suffix('/').unwrap_or(text),
                [TemplatePart::Text(text), ..] => text.as_str(),
                [..] => "",
            };
            for (at, character) in path[..limit].char_indices() {
                let end = at + character.len_utf8();
                if !path[end..].starts_with(next) {
                    continue;
                }
                bound.push((name, &path[..end]));
                readings(rest, &path[end..], slash, bound, found);
                bound.pop();
            }
        }
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
