//! `lookup-options-subkey`: an entry of 'lookup_options' is for a part of a key.

use super::option_list::strategy;
use super::{FileContext, Findings, Fix, OptionAt, Safety};
use crate::text::{TextEdit, TextRange};

rule!("lookup-options-subkey", Warning, [Option(check)], WORKSPACE);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some((root, part)) = at.name.split_once('.') else {
        return;
    };
    // Another rule reports names that look like patterns.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-');
    if !at.name.bytes().all(fits) || root.is_empty() || part.is_empty() {
        return;
    }
    if file.checker.has_data(at.name) || !file.checker.has_data(root) {
        return;
    }
    let finding = findings.report(
        at.key,
        format!(
            "options are for top-level keys: those of '{}' do nothing; set them for '{root}'",
            at.name
        ),
    );
    // The whole key is a hash: Puppet refuses other strategies for it, or they give another result.
    let strategy = at.options.as_ref().and_then(|it| strategy(it.value));
    if matches!(strategy, Some("deep" | "hash"))
        && let Some(place) = file.name_in(at.key, at.name)
    {
        let end = place.end as usize;
        let rest = TextRange::new(end - part.len() - 1, end);
        let title = format!("Set them for '{root}'");
        let fix = Fix::new(Safety::Unsafe, title, TextEdit::delete(rest));
        finding.fixes.push(fix.renaming(at.key, root));
    }
}
