//! `orphan-file`: a file is among the data, and no level reads it.

use super::{FileContext, Findings, Severity, Tag};
use crate::hierarchy::{Template, TemplatePart};
use crate::text::typing_error;

/// Extensions that are often mixed up.
const MIXED_UP: [(&str, &str); 2] = [(".yml", ".yaml"), (".yaml", ".yml")];

rule!("orphan-file", Hint, [Unread(check)]);

fn check(file: &FileContext<'_>, findings: &mut Findings<'_>) {
    let (checker, path) = (file.checker, file.file.path());
    // Files without keys, such as those of scripts or pipelines, are not data.
    if !file
        .loaded()
        .is_ok_and(|value| value.as_hash().is_some_and(|hash| !hash.is_empty()))
    {
        return;
    }
    // Of two files the one with the right name is the one that is meant.
    let is_free = |path: &str| file.snapshot().file(path).is_none();
    let mut condition: Option<String> = None;
    for root in checker.roots_around(path) {
        let places = checker.places(root);
        // A function that is never run may read any file, and so may levels that are not found.
        if checker.asks_functions(root)
            || checker.analysis().at(root.root).lacks_levels(&root.layer)
            || places.iter().any(|place| fits(&place.template, path))
        {
            return;
        }
        for (wrong, right) in MIXED_UP {
            if let Some(stem) = path.strip_suffix(wrong) {
                let other = format!("{stem}{right}");
                let is_read =
                    is_free(&other) && places.iter().any(|place| place.template.matches(&other));
                condition = condition.or(is_read.then(|| format!("its name ended in '{right}'")));
            }
        }
        let mut misspelt = places.iter();
        condition = condition.or_else(|| {
            misspelt.find_map(|place| {
                let (at, right) = misspelt_in(&place.template, path)?;
                let mut names: Vec<&str> = path.split('/').collect();
                let wrong = std::mem::replace(&mut names[at], &right);
                is_free(&names.join("/")).then(|| format!("'{wrong}' were called '{right}'"))
            })
        });
    }
    let range = file.first_line();
    match condition {
        Some(condition) => findings.report_as(
            Severity::Warning,
            range,
            format!("no level reads this file: one would, if {condition}"),
        ),
        None => findings.report(
            range,
            "no level reads this file: nothing in it is ever used",
        ),
    }
    .tags
    .push(Tag::Unnecessary);
}

/// The index of the only name in a path that does not match a template, and the expected name, if they differ
/// by one typing error.
fn misspelt_in(template: &Template, path: &str) -> Option<(usize, String)> {
    let mut wanted = vec![Template::default()];
    for part in &template.parts {
        let TemplatePart::Text(text) = part else {
            wanted.last_mut()?.parts.push(part.clone());
            continue;
        };
        for (at, text) in text.split('/').enumerate() {
            if at > 0 {
                wanted.push(Template::default());
            }
            let text = TemplatePart::Text(text.to_owned());
            wanted.last_mut()?.parts.push(text);
        }
    }
    let names: Vec<&str> = path.split('/').collect();
    if names.len() != wanted.len() {
        return None;
    }
    let differs = |(_, (wanted, name)): &(usize, (Template, &str))| !wanted.matches(name);
    let mut different = wanted.into_iter().zip(names).enumerate().filter(differs);
    let (at, (Template { parts, .. }, name)) = different.next()?;
    let [TemplatePart::Text(expected)] = parts.as_slice() else {
        return None;
    };
    let is_only = different.next().is_none();
    let expected = typing_error(name, [&**expected].into_iter()).filter(|_| is_only)?;
    Some((at, expected.to_owned()))
}

/// Whether a template matches a path if variables may contain slashes, as in some roles.
fn fits(template: &Template, path: &str) -> bool {
    let mut rest = path;
    let mut is_behind_variable = false;
    for part in &template.parts {
        match part {
            TemplatePart::Variable(_) | TemplatePart::Key(_) => is_behind_variable = true,
            TemplatePart::Text(text) if is_behind_variable => {
                is_behind_variable = false;
                // The last text must end the path; for other texts, the first match is tried.
                let Some(at) = rest.find(text.as_str()) else {
                    return false;
                };
                rest = &rest[at + text.len()..];
            }
            TemplatePart::Text(text) => match rest.strip_prefix(text.as_str()) {
                Some(behind) => rest = behind,
                None => return false,
            },
        }
    }
    is_behind_variable || rest.is_empty() || ends_so(template, path)
}

/// Whether a path ends with the template's text after its last variable.
fn ends_so(template: &Template, path: &str) -> bool {
    match template.parts.as_slice() {
        [
            ..,
            TemplatePart::Variable(_) | TemplatePart::Key(_),
            TemplatePart::Text(end),
        ] => path.ends_with(end.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{RULE, fits, misspelt_in};
    use crate::hierarchy::Template;
    use crate::rules::marked::found;

    #[test]
    fn a_name_that_another_file_has_is_not_suggested() {
        for name in ["common.eyaml", "common.yml"] {
            let path = format!("data/{name}");
            let message = |others: &str| {
                let text = format!(
                    "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, paths: [common.yaml, other.yaml]}}]\n\
                     #- data/other.yaml\nb: 1\n{others}#- {path}\na: 1\n"
                );
                let found = found(RULE, &path, &text);
                found.first().map(|finding| finding.message.clone())
            };
            let suggestion = message("").expect("a finding");
            assert!(suggestion.contains("one would, if"), "{suggestion}");
            let message = message("#- data/common.yaml\na: 1\n").expect("a finding");
            assert!(message.ends_with("nothing in it is ever used"), "{message}");
        }
    }

    #[test]
    fn a_name_that_differs_by_a_letter_is_suggested() {
        let misspelt = |template: &str, path: &str| misspelt_in(&Template::parse(template), path);
        let words = |wrong: usize, right: &str| Some((wrong, right.to_owned()));
        assert_eq!(
            misspelt("/d/nodes/%{name}.yaml", "/d/node/a.yaml"),
            words(2, "nodes")
        );
        assert_eq!(
            misspelt("/d/common.yaml", "/d/commmon.yaml"),
            words(2, "common.yaml")
        );
        assert_eq!(misspelt("/d/nodes/%{name}.yaml", "/d/role/a.yaml"), None);
        assert_eq!(misspelt("/d/nodes/%{name}.yaml", "/d/node/a.yml"), None);
        assert_eq!(misspelt("/d/nodes/%{name}.yaml", "/d/node/b/a.yaml"), None);
        assert_eq!(misspelt("/d/%{name}.yaml", "/e/a.yaml"), None);
    }

    #[test]
    fn variables_may_hold_slashes() {
        let template = Template::parse("/d/role/%{role}.yaml");
        assert!(fits(&template, "/d/role/web/front.yaml"));
        assert!(fits(&template, "/d/role/a.yaml.yaml"));
        assert!(!fits(&template, "/d/role/web.yml"));
        assert!(!fits(&template, "/d/roles/web.yaml"));
        assert!(!fits(&Template::parse("/d/a.yaml"), "/d/b.yaml"));
    }
}
