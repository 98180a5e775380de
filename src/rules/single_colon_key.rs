//! `single-colon-key`: a key has a single colon where Puppet's names have two.

use super::keys_in_code::is_looked_up;
use super::{FileContext, Findings};
use crate::workspace::KeyFact;

rule!("single-colon-key", Warning, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some(at) = single_colon(&key.name) else {
        return;
    };
    // A key that data or manifests look up has the right name.
    if is_looked_up(file.snapshot(), &key.name) {
        return;
    }
    let suggestion = format!("{}:{}", &key.name[..at], &key.name[at..]);
    let finding = findings.report(
        key.key,
        format!(
            "'{}' has a single colon: the parameter of a class is never found by it",
            key.name
        ),
    );
    finding.did_you_mean(&suggestion);
    let names = (&*key.name, &*suggestion);
    let fix = file.renamed(key.key, names, "Write two colons");
    finding.fixes.extend(fix);
}

/// The position of the only single colon in an otherwise valid name.
fn single_colon(name: &str) -> Option<usize> {
    let fits = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b':'
    };
    if !name.bytes().all(fits) || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return None;
    }
    let bytes = name.as_bytes();
    let is_colon = |at: usize| bytes.get(at) == Some(&b':');
    let mut alone = (1..bytes.len().saturating_sub(1))
        .filter(|&at| is_colon(at) && !is_colon(at - 1) && !is_colon(at + 1));
    let first = alone.next()?;
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_lowercase() || *byte == b'_')
    };
    (alone.next().is_none() && is_word(first + 1) && !name.contains(":::")).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{RULE, single_colon};
    use crate::rules::marked::check_levels;

    #[test]
    fn names_that_code_or_data_look_up_are_not_reported() {
        check_levels(
            RULE,
            "ntp:a: 1\nntp:b: {c: 1}\nntp:d1: 1\n\
             x: \"%{lookup('ntp:f')}\"\nntp:f: 1\n\
             ntp:h: 1 #~ single-colon-key\n\
             #- manifests/site.pp\nlookup('ntp:a')\nhiera('ntp:b.c')\nlookup(\"ntp:d${x}\")\n\
",
        );
    }

    #[test]
    fn one_colon_between_words_is_found() {
        assert_eq!(single_colon("ntp:servers"), Some(3));
        assert_eq!(single_colon("profile::ntp:servers"), Some(12));
        assert_eq!(single_colon("profile:ntp::servers"), Some(7));
        for other in [
            "ntp::servers",
            "a:::b",
            "a:b:c",
            "10:20",
            "Ntp:x",
            "x:",
            "port:80",
        ] {
            assert_eq!(single_colon(other), None, "{other}");
        }
    }
}
