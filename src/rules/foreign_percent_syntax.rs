//! `foreign-percent-syntax`: another program's `%{…}` is in a string that Puppet interpolates.

use super::context::shown;
use super::variables::variable;
use super::{FileContext, Findings, Fix, Safety, Severity, TokenAt};
use crate::interpolation::{Method, TokenKind};
use crate::lookup::PuppetVersion;
use crate::syntax::ScalarStyle;
use crate::text::{TextEdit, TextRange};

rule!("foreign-percent-syntax", Error, [Token(check)]);

fn check(file: &FileContext<'_>, at: &TokenAt<'_>, findings: &mut Findings<'_>) {
    if !matches!(at.token.kind, TokenKind::Variable { .. }) {
        return;
    }
    let Some((path, _)) = variable(at) else {
        return;
    };
    if !is_foreign(file, path, &at.text[at.token.range.end as usize..]) {
        return;
    }
    let version = match is_of_version_3(file) {
        // Puppet 8 has no such hierarchies.
        true => PuppetVersion::V7,
        false => file.settings().puppet_version,
    };
    // `%%{NONE}{X}` gives `%{X}` if a missing variable is an empty string.
    let is_escape = at.text[..at.token.range.start as usize].ends_with('%')
        && at.text[at.token.range.end as usize..].starts_with('{');
    if is_escape && version == PuppetVersion::V7 {
        return;
    }
    let (severity, effect) = match version {
        PuppetVersion::V8 | PuppetVersion::V9 => (Severity::Error, "Puppet fails on this key"),
        PuppetVersion::V7 => (Severity::Warning, "Puppet puts an empty string there"),
    };
    let token = at.token.range.slice(at.text);
    let finding = findings.report_as(
        severity,
        at.range,
        format!(
            "'{}' is not a Puppet variable: {effect}; write the percent sign as %{{literal('%')}}",
            shown(token)
        ),
    );
    // Puppet 8 has no hierarchies of version 3.
    if !is_of_version_3(file) {
        finding.matters_later();
    }
    let quote = match at.node.as_scalar().map(|scalar| scalar.style) {
        Some(ScalarStyle::SingleQuoted) => "''",
        Some(_) | None => "'",
    };
    let start = at.token.range.start as usize;
    let percent = file
        .places(at.node)
        .source_range(TextRange::new(start, start + 1));
    if percent.len() == 1 {
        let edit = TextEdit::replace(percent, format!("%{{literal({quote}%{quote})}}"));
        let title = "Write the percent sign as a literal";
        finding.fixes.push(Fix::new(Safety::Safe, title, edit));
    }
}

/// Whether all hierarchies that read a file are of version 3.
fn is_of_version_3(file: &FileContext<'_>) -> bool {
    let mut versions = file.readers().iter().map(|reader| {
        let config = reader.root.root.hiera_yaml.as_deref()?;
        let config = file.snapshot().file(config)?.facts().config.as_ref()?;
        Some(config.version)
    });
    !file.readers().is_empty() && versions.all(|version| version == Some(3))
}

/// Whether no variable of Puppet can have this name. `behind` is the text after the token.
fn is_foreign(file: &FileContext<'_>, path: &str, behind: &str) -> bool {
    let name = path.strip_prefix("::").unwrap_or(path);
    let name = name.split('.').next().unwrap_or(name);
    // Other rules report malformed calls and Puppet's own syntax.
    let is_call = || {
        name.split_once(' ')
            .is_some_and(|(word, _)| Method::from_name(word).is_some())
    };
    if name.is_empty() || name.contains(['(', ')', '$', '\'', '"']) || is_call() {
        return false;
    }
    let mut parts = name.split("::");
    let fits = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if !parts.all(fits) {
        // A name of words is probably a mistake, not another language: `%{facts-os}` is not reported.
        return name.starts_with(['+', '[']) || name.contains(':') || is_header(name, behind);
    }
    let is_capital = name.starts_with(|first: char| first.is_ascii_uppercase());
    is_capital
        && (is_header(name, behind) || is_pattern(name))
        && !file.checker.path_variables().contains(name)
}

/// Whether it is a header or variable in Apache's log formats: `%{Referer}i`.
fn is_header(name: &str, behind: &str) -> bool {
    let mut rest = behind.chars();
    let is_format = matches!(rest.next(), Some('i' | 'o' | 'e' | 'n' | 'x' | 'C' | 't'));
    let is_end = rest.next().is_none_or(|next| !next.is_ascii_alphanumeric());
    is_format
        && is_end
        && name
            .chars()
            .all(|character| character.is_alphanumeric() || matches!(character, '-' | '_'))
}

/// Whether it is the name of a grok pattern: `%{GREEDYDATA}`.
fn is_pattern(name: &str) -> bool {
    name.len() > 2
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::marked::found;

    fn check(hierarchy: &str, value: &str) -> Vec<Severity> {
        let text = format!("a: \"{value}\"\n#- hiera.yaml\n{hierarchy}");
        let found = found(RULE, "data/common.yaml", &text).into_iter();
        found.map(|finding| finding.severity).collect()
    }

    #[test]
    fn data_of_version_3_is_no_data_of_puppet_8() {
        let three =
            ":backends: yaml\n:hierarchy:\n  - common\n:yaml:\n  :datadir: /etc/puppet/data\n";
        let five = "version: 5\nhierarchy: [{name: c, path: common.yaml}]\n";
        assert_eq!(check(five, "%{REQUEST_URI}"), [Severity::Error]);
        assert_eq!(check(five, "%{Référer}i"), [Severity::Error]);
        assert_eq!(check(five, "%%{HIERA}{REQUEST_URI}"), [Severity::Error]);
        assert_eq!(check(three, "%{REQUEST_URI}"), [Severity::Warning]);
        assert_eq!(check(three, "%%{HIERA}{REQUEST_URI}"), []);
    }
}
