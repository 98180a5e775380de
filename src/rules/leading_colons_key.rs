//! `leading-colons-key`: a key starts with colons.

use super::keys_in_code::is_looked_up;
use super::{FileContext, Findings, Fix, Safety};
use crate::text::{TextEdit, TextRange};
use crate::workspace::KeyFact;

rule!("leading-colons-key", Warning, [Key(check)], WORKSPACE);

fn check(file: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let name = key.name.trim_start_matches(':');
    // Another rule reports such keys in a module's data, which Puppet drops.
    let mut readers = file.readers().iter();
    if !key.name.starts_with(':')
        || name.is_empty()
        || is_looked_up(file.snapshot(), &key.name)
        || readers.any(|reader| reader.layer().module_name().is_some())
    {
        return;
    }
    let written = key.key.slice(file.file.text());
    let is_symbol = written.starts_with("::") && !key.name.starts_with("::");
    let what = match is_symbol {
        // Psych reads the first colon as the sign of a symbol.
        true => format!(
            "'{written}' is read as a symbol: the name of the key is '{}'",
            key.name
        ),
        false => format!("'{}' starts with a colon", key.name),
    };
    let finding = findings.report(
        key.key,
        format!("{what}; the parameter of a class is only found by '{name}'"),
    );
    let Some(at) = written.find(':').filter(|at| *at <= 1) else {
        return;
    };
    let colons = written[at..].len() - written[at..].trim_start_matches(':').len();
    let start = key.key.start as usize + at;
    let edit = TextEdit::delete(TextRange::new(start, start + colons));
    let fix = Fix::new(Safety::Unsafe, "Remove the colons in front", edit);
    finding.fixes.push(fix.renaming(key.key, name));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::check_levels;

    #[test]
    fn names_that_code_or_data_look_up_are_not_reported() {
        check_levels(
            RULE,
            "'::ntp::a': 1\n'::ntp::b': 1\n'::ntp::c': 1 #~ leading-colons-key\n\
             ::ntp::a: 1 #~ leading-colons-key\nx: \"%{lookup('::ntp::b')}\"\n\
             #- manifests/site.pp\nlookup('::ntp::a')\n",
        );
    }
}
