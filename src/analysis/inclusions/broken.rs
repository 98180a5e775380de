//! Site manifests that Puppet cannot parse. Their includes and declarations are unknown; a search
//! for words in their texts tells which classes they cannot affect.

use crate::puppet::may_declare_classes;
use crate::workspace::File;

/// Keywords that precede a bracket without being functions.
const KEYWORDS: [&str; 9] = [
    "if", "elsif", "unless", "case", "and", "or", "in", "default", "else",
];

/// Functions that declare resources from a value.
const DECLARING: [&str; 3] = ["create_resources", "ensure_resource", "ensure_resources"];

/// The texts of the unparsable manifests.
pub(super) struct Broken<'a>(Vec<&'a str>);

impl<'a> Broken<'a> {
    pub(super) fn of(files: impl Iterator<Item = &'a File>) -> Broken<'a> {
        Broken(files.map(|file| &**file.text()).collect())
    }

    pub(super) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them may define a class, include it, or set its parameters by name.
    pub(super) fn mentions(&self, class: &str) -> bool {
        let mut texts = self.0.iter();
        texts.any(|text| text.to_lowercase().contains(class))
    }

    /// Whether one of them may set parameters of classes that it does not name: through a computed
    /// title or a function.
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
