//! Renames a class parameter in Puppet code: declaration, documentation, uses of the variable, and
//! its attribute in `class { … }`.

use std::sync::Arc;

use super::place_in;
use crate::analysis::Analysis;
use crate::ide::named::Mention;
use crate::syntax::puppet::{self, Definition, Expression, ExpressionKind, Lambda, without_colons};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{File, Language, language_of};

/// Maximum number of classes to try for a variable.
const MAX_CLASSES: usize = 50;

/// The class parameter that code at an offset reads, sets or documents. O(names of classes).
pub(super) fn used_at(analysis: Analysis<'_>, path: &str, offset: usize) -> Option<Mention> {
    let snapshot = analysis.snapshot;
    let file = snapshot.file(path)?;
    let text = file.text();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = text.get(..offset)?;
    let start = before.trim_end_matches(is_word).len();
    let behind = text[start..].find(|c| !is_word(c));
    let old = &text[start..behind.map_or(text.len(), |at| start + at)];
    if old.is_empty() {
        return None;
    }
    let root = analysis.answering(path)?.root;
    let mut classes = snapshot.defined_names("").filter_map(|name| {
        let last = name.rsplit("::").next()?;
        let class = analysis.class(Some(root), name);
        let class = class.filter(|_| text.contains(last))?;
        class.parameter(old).map(|_| name)
    });
    classes.by_ref().take(MAX_CLASSES).find_map(|class| {
        let rename = ParameterRename {
            class,
            old,
            new: "",
        };
        let edits = rename.edits(file).ok()?;
        let mut places = edits.into_iter().map(|edit| edit.range);
        let range = places.find(|range| range.touches(offset))?;
        let key = format!("{class}::{old}");
        Some(Mention::of_key(&key, Vec::new(), range))
    })
}

/// A rename of a class parameter.
pub(super) struct ParameterRename<'r> {
    /// The full name of the class.
    pub(super) class: &'r str,
    /// The old name, without the dollar sign.
    pub(super) old: &'r str,
    /// The new name.
    pub(super) new: &'r str,
}

/// The edits found in one file.
struct ParameterEdits<'f> {
    text: &'f str,
    edits: Vec<TextEdit>,
    /// A variable of the class that already has the new name.
    taken: Option<TextRange>,
}

impl ParameterRename<'_> {
    /// The edits of a manifest or an EPP template.
    ///
    /// # Errors
    /// The place where the class already has a variable of the new name.
    pub(super) fn edits(&self, file: &Arc<File>) -> Result<Vec<TextEdit>, String> {
        let Some(Language::Puppet(dialect)) = language_of(file.path()) else {
            return Ok(Vec::new());
        };
        let text = file.text();
        if !text.contains(self.old) || !text.contains(self.class) && !self.is_within(text) {
            return Ok(Vec::new());
        }
        let parse = puppet::parse(text, dialect);
        let mut found = ParameterEdits {
            text,
            edits: Vec::new(),
            taken: None,
        };
        self.visit(&parse.root, false, &mut found);
        parse.root.walk(&mut |node| {
            if let ExpressionKind::Class(class) = &node.kind
                && *class.name == *self.class
            {
                self.documentation(&parse.comments, node.range, &mut found);
            }
        });
        if let Some(taken) = found.taken {
            let (class, new, at) = (self.class, self.new, place_in(file, taken));
            return Err(format!(
                "the class {class} already has a variable ${new}, in {at}"
            ));
        }
        found.edits.sort_by_key(|edit| edit.range);
        found.edits.dedup();
        Ok(found.edits)
    }

    /// Whether a text may define the class inside of another class, by its short name.
    fn is_within(&self, text: &str) -> bool {
        let last = self.class.rsplit("::").next();
        last.is_some_and(|last| text.contains(&format!("class {last}")))
    }

    /// Visits a node. `is_own`: whether bare variable names refer to the class's variables.
    fn visit(&self, node: &Expression, is_own: bool, found: &mut ParameterEdits<'_>) {
        let kind = &node.kind;
        let is_own = if kind.is_definition() {
            matches!(kind, ExpressionKind::Class(class) if self.is_own(class))
        } else {
            let hides = |lambda: &Lambda| declares(&lambda.parameters, self.old);
            is_own && !matches!(kind, ExpressionKind::Lambda(lambda) if hides(lambda))
        };
        if let ExpressionKind::Parameter(parameter) = kind {
            self.named(&parameter.name, node.own, is_own, found);
        }
        if let ExpressionKind::Variable(name) = kind {
            self.named(name, node.range, is_own, found);
        }
        if let ExpressionKind::Resource(resource) = kind
            && is_name(&resource.type_name, "class")
        {
            for body in &resource.parts {
                if let ExpressionKind::ResourceBody(title, attributes) = &body.kind
                    && self.is_title(title)
                {
                    self.attributes(attributes, found);
                }
            }
        }
        if let ExpressionKind::ResourceOverride(resource) = kind
            && let ExpressionKind::Access(type_name, titles) = &resource.type_name.kind
            && is_name(type_name, "Class")
            && titles.iter().any(|title| self.is_title(title))
        {
            self.attributes(&resource.parts, found);
        }
        kind.each(&mut |part| self.visit(part, is_own, found));
    }

    /// Whether bare names in a class refer to the variables: in the class itself, and in classes
    /// that inherit it without a parameter of that name.
    fn is_own(&self, class: &Definition) -> bool {
        let parent = class.parent.as_ref();
        let inherits = parent.is_some_and(|(name, _)| without_colons(name) == self.class);
        *class.name == *self.class || inherits && !declares(&class.parameters, self.old)
    }

    /// Visits a variable.
    fn named(&self, name: &str, at: TextRange, is_own: bool, found: &mut ParameterEdits<'_>) {
        let full = without_colons(name).rsplit_once("::");
        let is_it = match full {
            Some((class, name)) => class == self.class && name == self.old,
            None => is_own && name == self.old,
        };
        if is_it && let Some(start) = at.slice(found.text).rfind(self.old) {
            let start = at.start as usize + start;
            let range = TextRange::new(start, start + self.old.len());
            found.edits.push(TextEdit::replace(range, self.new));
        }
        if is_own && name == self.new {
            found.taken = Some(at);
        }
    }

    fn is_title(&self, title: &Expression) -> bool {
        if let ExpressionKind::List(titles) = &title.kind {
            return titles.iter().any(|title| self.is_title(title));
        }
        let (ExpressionKind::Text(name) | ExpressionKind::Name(name)) = &title.kind else {
            return false;
        };
        without_colons(name).eq_ignore_ascii_case(self.class)
    }

    fn attributes(&self, attributes: &[Expression], found: &mut ParameterEdits<'_>) {
        for attribute in attributes {
            if let ExpressionKind::Attribute(attribute) = &attribute.kind
                && *attribute.name == *self.old
            {
                let edit = TextEdit::replace(attribute.place, self.new);
                found.edits.push(edit);
            }
        }
    }

    /// Visits `@param NAME` in the comments right above the class.
    fn documentation(
        &self,
        comments: &[TextRange],
        class: TextRange,
        found: &mut ParameterEdits<'_>,
    ) {
        let mut below = class.start as usize;
        let above = comments.iter().rev();
        for comment in above.skip_while(|comment| comment.end > class.start) {
            let gap = &found.text[comment.end as usize..below];
            if !gap.trim().is_empty() || gap.matches('\n').count() > 1 {
                return;
            }
            below = comment.start as usize;
            if let Some(range) = documented(found.text, *comment)
                && range.slice(found.text) == self.old
            {
                found.edits.push(TextEdit::replace(range, self.new));
            }
        }
    }
}

/// The range of the name in `# @param [Type] NAME`.
fn documented(text: &str, comment: TextRange) -> Option<TextRange> {
    let written = comment.slice(text);
    let tag = written.find("@param ")? + "@param ".len();
    let rest = written[tag..].trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(of_type) => of_type.split_once("] ")?.1.trim_start(),
        None => rest,
    };
    let start = comment.start as usize + written.len() - rest.len();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    Some(TextRange::new(start, start + length))
}

fn declares(parameters: &[Expression], name: &str) -> bool {
    parameters.iter().any(|parameter| {
        matches!(&parameter.kind, ExpressionKind::Parameter(parameter) if *parameter.name == *name)
    })
}

fn is_name(node: &Expression, name: &str) -> bool {
    matches!(&node.kind, ExpressionKind::Name(is) | ExpressionKind::Reference(is) if **is == *name)
}
