//! `ruby-tags`: a tag needs a Ruby object, so that Puppet refuses the whole file, or Puppet ignores the tag.

use super::{FileContext, Findings, Fix, Safety, Severity};
use crate::syntax::TreeNode;
use crate::text::{TextEdit, TextRange};
use crate::value::LoadErrorKind;

/// Names of YAML's own tags.
const KNOWN: [&str; 12] = [
    "str",
    "int",
    "float",
    "bool",
    "null",
    "binary",
    "seq",
    "map",
    "set",
    "omap",
    "timestamp",
    "merge",
];

rule!("ruby-tags", Error, [File(check), Node(check_tag)]);

fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let who = match (at.readers(), at.is_unread()) {
        ([], true) if !may_be_custom(at) => "Puppet's own functions refuse",
        ([], _) => return,
        ([..], _) => "Puppet refuses",
    };
    let Some(error) = at.refusal() else { return };
    if error.kind == LoadErrorKind::YamlDisallowedClass {
        let message = format!("{who} the whole file: {}", error.message);
        findings.report(at.place_of(error), message);
    }
}

/// Reports custom tags, which `psych/visitors/to_ruby.rb` ignores.
fn check_tag(at: &FileContext<'_>, node: &TreeNode, findings: &mut Findings<'_>) {
    let Some(tag) = &node.tag else { return };
    let is_own = tag.text.starts_with('!')
        && tag.text.len() > 1
        && !tag.text.starts_with("!ruby/")
        && !KNOWN.contains(&&tag.text[1..]);
    if !is_own || at.readers().is_empty() || at.refusal().is_some() {
        return;
    }
    let finding = findings.report_as(
        Severity::Information,
        tag.range,
        format!(
            "Puppet ignores the tag '{}': the value after it counts as it is written",
            tag.text
        ),
    );
    let text = at.file.text();
    let end = tag.range.end as usize;
    let blank = text[end..].len() - text[end..].trim_start_matches(' ').len();
    let edit = TextEdit::delete(TextRange::new(tag.range.start as usize, end + blank));
    finding
        .fixes
        .push(Fix::new(Safety::Unsafe, "Remove the tag", edit));
}

/// Whether the function of a custom level may read the file; it may permit such objects.
fn may_be_custom(at: &FileContext<'_>) -> bool {
    let path = at.file.path();
    let mut found = at.snapshot().roots().found().iter();
    found.any(|config| config.is_used() && config.reach(path).is_some())
}
