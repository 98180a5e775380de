//! Paths of levels that are folders: Puppet cannot read them as files.

use super::{LevelPaths, with_extension};
use crate::hierarchy::{DATA_EXTENSIONS, LocationSpan, Template, TemplatePart};
use crate::lookup::Place;
use crate::rules::{Findings, RootContext, Severity};
use crate::scope::KnownNodes;
use crate::workspace::{FileKind, Files as _, path};

/// A folder that a path is for some nodes.
struct MetFolder {
    at: String,
    /// For whom, in words.
    whom: String,
}

impl LevelPaths<'_> {
    /// Reports a path that is a folder for a known or a possible node. Returns whether it is.
    pub(super) fn report_folder(
        &self,
        config: &RootContext<'_>,
        location: &LocationSpan,
        place: &Place,
        findings: &mut Findings<'_>,
    ) -> bool {
        if place.mapped.is_some() || self.view.analysis.is_outside(&place.template) {
            return false;
        }
        let Some(met) = self.met_folder(config, &place.template) else {
            return false;
        };
        let extension = self.extension_for(place);
        let message = format!(
            "'{}' is the folder '{}'{}: every lookup fails there, as Puppet reads it like a file",
            location.text,
            self.file.snapshot().short_name(&met.at),
            met.whom
        );
        let finding = findings.report_as(Severity::Error, location.range, message);
        finding.did_you_mean(&format!("{}{extension}", location.text));
        finding
            .fixes
            .push(self.fix_of_extension(location, extension));
        true
    }

    /// The first folder that a path is, and for whom.
    fn met_folder(&self, config: &RootContext<'_>, template: &Template) -> Option<MetFolder> {
        let is_folder = |at: &str| self.view.files().kind(at) == Some(FileKind::Directory);
        if template.is_constant() {
            let at = path::normalise(template.first_text());
            let whom = String::new();
            return is_folder(&at).then_some(MetFolder { at, whom });
        }
        let folders = self.view.expand_to_folders(template);
        // Without a value of its last variable, a path may be the folder around it.
        let ends_with_variable = matches!(template.parts.last(), Some(TemplatePart::Variable(_)));
        if folders.is_empty() && !ends_with_variable {
            return None;
        }
        let known = self.file.checker.nodes_for(&config.root.dir);
        let nodes = &known.known;
        if !nodes.is_empty() && !nodes.are_names() {
            return met_by(nodes, template, is_folder);
        }
        let at = folders.into_iter().find(|at| self.is_value(template, at))?;
        let values = template.bind(&at)?;
        let values = values
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        let values = values.collect::<Vec<_>>().join(" and ");
        let whom = format!(" for a node with {values}");
        Some(MetFolder { at, whom })
    }

    /// Whether the hierarchy or other files show that the name of a folder is a value of the
    /// variables in the path.
    fn is_value(&self, template: &Template, folder: &str) -> bool {
        let files = self.view.files();
        let is_file = |end: &str| files.kind(&format!("{folder}{end}")) == Some(FileKind::File);
        let is_below = |other: &Place| {
            let rest = other.template.parts.strip_prefix(&*template.parts);
            let next = rest.and_then(<[TemplatePart]>::first);
            matches!(next, Some(TemplatePart::Text(text)) if text.starts_with('/'))
        };
        DATA_EXTENSIONS.iter().any(|end| is_file(end)) || self.places.iter().any(is_below)
    }

    /// The extension with which the path matches files, else that of the level's function.
    fn extension_for(&self, place: &Place) -> &'static str {
        let matches = |end: &&&str| {
            let template = with_extension(&place.template, end);
            !self.view.expand(&template).is_empty()
        };
        let found = DATA_EXTENSIONS.iter().find(matches).copied();
        found.unwrap_or(match &*place.function.name {
            "json_data" => ".json",
            _ => ".yaml",
        })
    }
}

/// The first folder that a path is for known nodes. O(nodes).
fn met_by(
    nodes: &KnownNodes,
    template: &Template,
    is_folder: impl Fn(&str) -> bool,
) -> Option<MetFolder> {
    let names: Vec<_> = template.variables().cloned().collect();
    let columns = nodes.columns(names.iter());
    let folder_of = |member: usize| {
        let mut values = Vec::with_capacity(names.len());
        for (name, column) in names.iter().zip(&columns) {
            if column.unknown.is_some() && column.unknown == column.ids.get(member).copied() {
                return None;
            }
            values.push((name.clone(), column.text(member).into_owned()));
        }
        let at = path::normalise(&template.with_values(&values)?);
        is_folder(&at).then_some(at)
    };
    let mut members = 0..nodes.len();
    let (first, at) = members.find_map(|member| Some((member, folder_of(member)?)))?;
    let more = members
        .filter(|&member| folder_of(member).is_some())
        .count();
    let name = nodes.certname(first);
    let whom = match more {
        0 => format!(" for {name}"),
        more => format!(" for {name} and {more} more"),
    };
    Some(MetFolder { at, whom })
}

#[cfg(test)]
mod tests {
    use crate::rules::Severity;
    use crate::rules::level_never_matches::RULE;
    use crate::rules::marked::found;

    /// The findings of a hierarchy with these paths: severity, message and first fix.
    fn check(paths: &str, files: &str) -> Vec<(Severity, String, String)> {
        let text = format!(
            "version: 5\nhierarchy:\n  - {{name: one, paths: [{paths}]}}\n  - {{name: two, path: common.yaml}}\n\
             #- data/common.yaml\na: 1\n{files}"
        );
        let found = found(RULE, "hiera.yaml", &text).into_iter();
        let found = found.map(|it| {
            let fix = it.fixes.first().map(|fix| fix.title.clone());
            (it.severity, it.message, fix.unwrap_or_default())
        });
        found.collect()
    }

    const FILES: &str = "#- data/os/RedHat.yaml\na: 2\n#- data/os/RedHat/6.yaml\na: 3\n";

    #[test]
    fn a_path_that_is_a_folder_for_a_possible_node_is_an_error() {
        let found = check("'os/%{facts.os.family}'", FILES);
        let message = "'os/%{facts.os.family}' is the folder 'data/os/RedHat' for a node with facts.os.family = \
                       RedHat: every lookup fails there, as Puppet reads it like a file; did you mean \
                       'os/%{facts.os.family}.yaml'?";
        let fix = "Write '.yaml' at the end";
        let expected = (Severity::Error, message.to_owned(), fix.to_owned());
        assert_eq!(found, [expected]);
        // Another level reads files in the folder of the same variable.
        let files = "#- data/os/RedHat/6.yaml\na: 3\n";
        let paths = "'os/%{facts.os.family}/%{facts.major}.yaml', 'os/%{facts.os.family}'";
        assert_eq!(check(paths, files)[0].0, Severity::Error);
        // Nothing shows that a node has the name of the folder.
        let nodes = "#- data/nodes/a/b.yaml\na: 3\n";
        assert_eq!(check("'%{facts.os.family}'", nodes)[0].0, Severity::Hint);
        assert_eq!(check("'os/%{facts.os.family}.yaml'", FILES), []);
    }

    #[test]
    fn a_folder_is_compared_with_the_values_of_known_nodes() {
        let nodes = |family: &str| {
            let facts = format!("{{facts: {{os: {{family: {family}}}}}}}");
            format!("{FILES}#- nodes.yaml\nn1: {facts}\nn2: {facts}\n")
        };
        let found = check("'os/%{facts.os.family}'", &nodes("RedHat"));
        assert_eq!(found[0].0, Severity::Error);
        assert!(found[0].1.contains(" for n1 and 1 more: "), "{found:?}");
        let found = check("'os/%{facts.os.family}'", &nodes("Debian"));
        assert_eq!(found[0].0, Severity::Warning, "{found:?}");
        // A fact that does not exist is an empty text: the path is the folder around.
        let found = check("'os/%{facts.nothing}'", &nodes("Debian"));
        assert!(found[0].1.contains("is the folder 'data/os'"), "{found:?}");
        assert_eq!(found[0].0, Severity::Error);
    }

    #[test]
    fn a_path_without_variables_may_be_a_folder() {
        let found = check("os", FILES);
        assert_eq!(found[0].0, Severity::Error);
        assert!(
            found[0]
                .1
                .starts_with("'os' is the folder 'data/os': every lookup fails")
        );
    }

    #[test]
    fn the_name_of_a_file_with_its_extension_is_no_value() {
        let files = "#- data/os/RedHat.yaml\na: 2\n";
        let found = check("'os/%{facts.os.family}'", files);
        assert_eq!(found[0].0, Severity::Warning);
        assert_eq!(found[0].2, "Write '.yaml' at the end");
        // A known node has that value.
        let nodes = "#- nodes.yaml\nn: {facts: {os: {family: RedHat.yaml}}}\n";
        let found = check("'os/%{facts.os.family}'", &format!("{files}{nodes}"));
        assert_eq!(found, []);
    }
}
