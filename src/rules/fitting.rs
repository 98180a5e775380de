//! Checks fixes against the types of class parameters: a fix that sets a value of the wrong type is
//! dropped, one that corrects the type is safe.

use super::{FileContext, Finding, Safety};
use crate::datatype::{self, Type};
use crate::text::{TextEdit, TextRange};
use crate::value::Value;
use crate::workspace::{Format, KeyFact, load};

/// Keeps the fixes after which the value fits its parameter, or has fewer mismatches. O(value) if a
/// parameter is known.
pub(super) fn keep_fitting(file: &FileContext<'_>, finding: &mut Finding) {
    let mut keys = file.facts().keys.iter();
    let Some(key) = keys.find(|key| key.value.contains(finding.range)) else {
        return;
    };
    let types = types_of(file, key);
    if types.is_empty() {
        return;
    }
    let entry = key.key.cover(key.value);
    let mistakes = |edits: &[TextEdit]| -> Option<usize> {
        let moved: Option<Vec<TextEdit>> = edits
            .iter()
            .map(|edit| {
                let range = edit.range.as_usize();
                let start = entry.start as usize;
                let range = TextRange::new(range.start.checked_sub(start)?, range.end - start);
                entry
                    .contains(edit.range)
                    .then(|| TextEdit::replace(range, edit.new_text.clone()))
            })
            .collect();
        let text = TextEdit::apply(&moved?, entry.slice(file.file.text()))?;
        let loaded = load(text.as_bytes(), Format::Yaml).loaded.ok()?;
        let value: &Value = loaded.get(&key.name)?;
        let is_known = !value.inspect().contains("%{");
        let of_type = |expected| {
            datatype::check(expected, value)
                .err()
                .map_or(0, |all| all.into_iter().count())
        };
        is_known.then(|| types.iter().map(of_type).sum())
    };
    let Some(before) = mistakes(&[]) else {
        return;
    };
    finding.fixes.retain_mut(|fix| {
        let Some(after) = mistakes(&fix.edits) else {
            return true;
        };
        if after < before {
            fix.safety = Safety::Safe;
        }
        after < before || after == 0
    });
}

/// The types of the parameters that a key sets, in all roots that read the file.
fn types_of(file: &FileContext<'_>, key: &KeyFact) -> Vec<Type> {
    if !key.name.contains("::") {
        return Vec::new();
    }
    let analysis = file.checker.analysis();
    let readers = file.readers().iter();
    let types = readers.filter_map(|reader| {
        let root = reader.root.root;
        let parameter = analysis.autoloaded_parameter(root, &key.name)?;
        analysis.type_of(root, parameter)
    });
    types.collect()
}

#[cfg(test)]
mod tests {
    use crate::rules::Safety;
    use crate::rules::marked::{ONE_LEVEL, fixed as fixed_in};

    /// The data after the fixes.
    fn fixed(data: &str, most: Safety) -> String {
        let text = format!(
            "{data}\n{ONE_LEVEL}#- modules/ntp/manifests/init.pp\nclass ntp(Integer $uid, Enum['yes', 'no'] $login, Boolean $on,\n\
             Hash[String, Integer] $h, Float $f, Integer $n, Array[Enum['on', 'off']] $l, String $mode) {{ }}\n"
        );
        fixed_in("data/common.yaml", &text, most, |_| true)
    }

    #[test]
    fn the_type_of_a_parameter_decides_whether_a_fix_is_offered() {
        for safety in [Safety::Safe, Safety::Unsafe] {
            for kept in [
                "ntp::uid: 0123",
                "ntp::uid: 0644",
                "ntp::h: {b: 1:30}",
                "ntp::n: 1_000",
                "ntp::f: 1.10",
            ] {
                assert_eq!(fixed(kept, safety), format!("{kept}\n"));
            }
            for (before, after) in [
                ("ntp::login: yes", "ntp::login: \"yes\""),
                ("ntp::l: [on, off]", "ntp::l: [\"on\", \"off\"]"),
                ("ntp::on: yes", "ntp::on: true"),
                ("ntp::mode: 0644", "ntp::mode: \"0644\""),
                ("other: 0644", "other: \"0644\""),
            ] {
                assert_eq!(fixed(before, safety), format!("{after}\n"));
            }
        }
    }
}
