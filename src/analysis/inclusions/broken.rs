//! Site manifests that Puppet cannot read. What they include is not known, nor all that they declare: as
//! far as their words tell, the others can be judged without them.

use crate::puppet::may_declare_classes;
use crate::workspace::File;

/// Words before a bracket that are no functions.
const KEYWORDS: [&str; 9] = [
    "if", "elsif", "unless", "case", "and", "or", "in", "default", "else",
];

/// Functions that declare what a value names.
const DECLARING: [&str; 3] = ["create_resources", "ensure_resource", "ensure_resources"];

/// The texts of the manifests that cannot be read.
pub(super) struct Broken<'a>(Vec<&'a str>);

impl<'a> Broken<'a> {
    pub(super) fn of(files: impl Iterator<Item = &'a File>) -> Broken<'a> {
        Broken(files.map(|file| &**file.text()).collect())
    }

    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one may define a class, include it or give it values by its name.
    pub(super) fn mentions(&self, class: &str) -> bool {
        let mut texts = self.0.iter();
        texts.any(|text| text.to_lowercase().contains(class))
    }

    /// Whether one may give values to classes that it does not name: by a title that is computed, or by a
    /// function.
    pub(super) fn may_declare_any(&self) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        self.0.iter().any(|text| {
            let mut rest = *text;
            let mut before = None;
            while let Some(start) = rest.find(is_name) {
                before = rest[..start].chars().next_back().or(before);
                let word = &rest[start..];
                let end = word.find(|c| !is_name(c)).unwrap_or(word.len());
                let (name, behind) = word.split_at(end);
                let next = behind.trim_start().chars().next();
                let is_called = next == Some('(') || before == Some('.');
                let is_function = is_called && !KEYWORDS.contains(&name);
                let is_class = name == "class" && next == Some('{');
                if is_class
                    || DECLARING.contains(&name)
                    || (is_function && may_declare_classes(name.trim_start_matches(':')))
                {
                    return true;
                }
                before = name.chars().next_back();
                rest = behind;
            }
            false
        })
    }
}
