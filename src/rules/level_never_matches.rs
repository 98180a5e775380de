//! `level-never-matches`: no file in the workspace matches a path of a level.

mod folders;

use std::ops::Range;

use super::config_level::{ConfigLevel, levels};
use super::{FileContext, Findings, Fix, RootContext, Safety, Severity, entry};
use crate::analysis::RootView;
use crate::hierarchy::{DATA_EXTENSIONS, LocationSpan, Template, TemplatePart, join};
use crate::lookup::Place;
use crate::syntax::ScalarMap;
use crate::text::{TextEdit, TextRange, typing_error};
use crate::workspace::{FileKind, Files, path};

/// Usual names of data directories.
const DATADIRS: [&str; 3] = ["data", "hieradata", "hiera"];

rule!("level-never-matches", Hint, [Configuration(check)]);

fn check(file: &FileContext<'_>, config: &RootContext<'_>, findings: &mut Findings<'_>) {
    let view = file.checker.analysis().at(config.root);
    let places = file.checker.places(config);
    let exists = |place: &Place| !view.expand(&place.template).is_empty();
    let paths = LevelPaths {
        file,
        view: &view,
        places,
        is_here: places.iter().any(exists),
    };
    let levels = levels(file);
    for level in &levels {
        // Other functions may read other files than the path names.
        let function = level.function.as_ref();
        if function.is_none_or(|function| function.built_in().is_none()) {
            continue;
        }
        let is_own = |place: &&Place| {
            place.index == level.index && place.in_default_hierarchy == level.in_default_hierarchy
        };
        let own: Vec<&Place> = places.iter().filter(is_own).collect();
        for (at, location) in level.spans.locations.iter().enumerate() {
            if matches!(&*location.key, "glob" | "globs") {
                paths.report_lost_link(location, &own, findings);
                let is_alone = own.is_empty() && !location.text.contains("%{");
                if let Some(template) = paths.template_of_glob(location, &own) {
                    paths.check((level, location), &template, is_alone, findings);
                } else if is_alone && paths.is_here {
                    LevelPaths::report_missing(location, findings);
                }
            } else if matches!(&*location.key, "path" | "paths")
                && let Some(place) = own.iter().find(|place| place.location == at)
                && !paths.report_folder(config, location, place, findings)
            {
                paths.check((level, location), &place.template, true, findings);
            }
        }
    }
    if findings.list.is_empty() {
        paths.report_no_datadir(&levels, findings);
    }
}

/// The context in which locations are checked.
struct LevelPaths<'a> {
    file: &'a FileContext<'a>,
    view: &'a RootView<'a>,
    places: &'a [Place],
    /// Whether any level has a file. If not, the data is probably outside the workspace: then only
    /// paths that are similar to a file's are reported.
    is_here: bool,
}

impl LevelPaths<'_> {
    /// The absolute path of a data directory.
    fn datadir(&self, named: &str) -> String {
        path::normalise(&join(&self.view.root.dir, named))
    }

    /// The range of a part of a location's text.
    fn range_in(&self, location: &LocationSpan, part: Range<usize>) -> TextRange {
        let node = self.file.tree().node(location.node);
        ScalarMap::new(self.file.file.text(), node).source_range(part)
    }

    /// Whether a template matches files, none of which a level reads.
    fn is_unread(&self, template: &Template) -> bool {
        let found = self.view.expand(template);
        // For example plain data next to encrypted data of the same name.
        let is_read = |at: &String| self.places.iter().any(|place| place.template.matches(at));
        !found.is_empty() && !found.iter().any(is_read)
    }

    /// A template for the files of a glob without braces, brackets and `**`.
    fn template_of_glob(&self, location: &LocationSpan, own: &[&Place]) -> Option<Template> {
        let text = &location.text;
        let braces = text.matches('{').count() - text.matches("%{").count();
        if braces > 0 || text.contains("**") || text.contains(['[', '\\']) {
            return None;
        }
        if text.contains("%{") {
            let place = own.iter().find(|place| place.original == *text)?;
            return Some(place.template.clone());
        }
        let config = self.file.facts().config.as_ref()?;
        let mut paths = config.paths.iter();
        let path = paths.find(|path| path.is_glob && path.path == *text)?;
        let whole = path::normalise(&join(&self.datadir(&path.datadir), &path.path));
        Some(Template::parse(&whole).with_wildcards())
    }

    /// Reports a location that no file matches; without a similar path, only if `is_alone`.
    fn check(
        &self,
        (level, location): (&ConfigLevel, &LocationSpan),
        template: &Template,
        is_alone: bool,
        findings: &mut Findings<'_>,
    ) {
        if self.view.analysis.is_outside(template) || !self.view.expand(template).is_empty() {
            return;
        }
        let mut extensions = DATA_EXTENSIONS.iter();
        let other = extensions.find(|it| self.is_unread(&with_extension(template, it)));
        if let Some(other) = other {
            self.report_extension(location, other, findings);
        } else if let Some((written, existing)) = self.near_path(template) {
            self.report_near(location, &written, &existing, findings);
        } else if !location.key.starts_with("glob")
            && self.is_unread(&template.clone().with_wildcards())
        {
            self.report_wildcards(level, location, findings);
        } else if let Some((start, rest)) = self.without_datadir(location, template)
            && self.is_unread(&rest)
        {
            self.report_datadir(location, &start, findings);
        } else if is_alone && self.is_here {
            LevelPaths::report_missing(location, findings);
        }
    }

    /// Reports a path with wildcards, which only work in globs.
    fn report_wildcards(
        &self,
        level: &ConfigLevel,
        location: &LocationSpan,
        findings: &mut Findings<'_>,
    ) {
        let suggestion = location.key.replace("path", "glob");
        let finding = findings.report_as(
            Severity::Warning,
            location.range,
            format!(
                "no file of this workspace is called '{}': a path has no wildcards",
                location.text
            ),
        );
        finding.did_you_mean(&suggestion);
        let tree = self.file.tree();
        let key = entry(tree, level.node, &location.key).map(|(key, _)| tree.node(key));
        if let Some(key) = key.filter(|key| !key.is_quoted()) {
            let fix = Fix::write(Safety::Unsafe, key.range, &suggestion);
            finding.fixes.push(fix.renaming(key.range, suggestion));
        }
    }

    /// The repeated part of a path that starts with its data directory, and the template without it.
    fn without_datadir(
        &self,
        location: &LocationSpan,
        template: &Template,
    ) -> Option<(String, Template)> {
        let config = self.file.facts().config.as_ref()?;
        let mut paths = config.paths.iter();
        let path = paths.find(|path| path.path == location.text)?;
        let datadir = self.datadir(&path.datadir);
        let repeated = format!("{}/", path::name(&datadir));
        location.text.strip_prefix(&repeated)?;
        let mut parts = template.parts.clone();
        let TemplatePart::Text(start) = parts.first_mut()? else {
            return None;
        };
        let rest = path::within(start, &datadir)?.strip_prefix(&repeated)?;
        *start = format!("{datadir}/{rest}");
        Some((repeated, Template { parts }))
    }

    fn report_datadir(&self, location: &LocationSpan, repeated: &str, findings: &mut Findings<'_>) {
        let message = format!(
            "no file of this workspace matches '{}': the path starts in the data directory; leave \
             '{repeated}' out",
            location.text
        );
        let finding = findings.report_as(Severity::Warning, location.range, message);
        let edit = TextEdit::delete(self.range_in(location, 0..repeated.len()));
        let title = format!("Leave '{repeated}' out");
        finding.fixes.push(Fix::new(Safety::Unsafe, title, edit));
    }

    /// Reports a data directory that is not in the workspace, if there is a folder with a usual name.
    fn report_no_datadir(&self, levels: &[ConfigLevel], findings: &mut Findings<'_>) {
        let Some(config) = self.file.facts().config.as_ref() else {
            return;
        };
        let files = self.view.files();
        let is_folder =
            |datadir: &str| files.kind(&self.datadir(datadir)) == Some(FileKind::Directory);
        let is_elsewhere = |place: &Place| self.view.analysis.is_outside(&place.template);
        let mut datadirs = config.paths.iter().map(|path| &*path.datadir);
        let mut locations = levels.iter().flat_map(|level| &level.spans.locations);
        if let (Some(datadir), Some(location)) = (datadirs.next(), locations.next())
            && let Some(other) = DATADIRS.iter().find(|other| is_folder(other))
            && !self.is_here
            && !datadir.contains("%{")
            && !is_folder(datadir)
            && datadirs.all(|other| other == datadir)
            && !self.places.iter().any(is_elsewhere)
        {
            findings.report(
                location.range,
                format!(
                    "no level of this hierarchy finds a file: the data directory '{datadir}' is not there, \
                     but '{other}' is"
                ),
            );
        }
    }

    fn report_extension(&self, location: &LocationSpan, other: &str, findings: &mut Findings<'_>) {
        let message = format!(
            "no file of this workspace matches '{}': Puppet reads nothing here; with '{other}' at the \
             end, files do match",
            location.text
        );
        let finding = findings.report_as(Severity::Warning, location.range, message);
        finding.fixes.push(self.fix_of_extension(location, other));
    }

    /// Writes another extension at the end of a path.
    fn fix_of_extension(&self, location: &LocationSpan, other: &str) -> Fix {
        let stem = stem(&location.text).len();
        let range = match stem == location.text.len() {
            // After the last letter, within the quotes.
            true => {
                let last = self.range_in(location, stem.saturating_sub(1)..stem);
                TextRange::empty(last.end as usize)
            }
            false => self.range_in(location, stem..location.text.len()),
        };
        let edit = TextEdit::replace(range, other);
        let title = format!("Write '{other}' at the end");
        Fix::new(Safety::Unsafe, title, edit)
    }

    /// Reports a location that no file matches, and no similar one.
    fn report_missing(location: &LocationSpan, findings: &mut Findings<'_>) {
        let message = format!("no file of this workspace matches '{}'", location.text);
        findings.report(location.range, message);
    }

    /// The likely misspelt name in a path, and the existing folder or file: with the correction, it
    /// matches files that no level reads.
    fn near_path(&self, template: &Template) -> Option<(String, String)> {
        let TemplatePart::Text(start) = template.parts.first()? else {
            return None;
        };
        let files = self.view.files();
        let mut folder = self.view.root.dir.to_string();
        let rest = path::within(start, &folder)?;
        let mut names = rest.split('/').peekable();
        while let Some(name) = names.next() {
            let is_last = names.peek().is_none();
            // A variable follows in the last name.
            if is_last && template.parts.len() > 1 {
                return None;
            }
            let wanted = if is_last {
                FileKind::File
            } else {
                FileKind::Directory
            };
            let at = format!("{folder}/{name}");
            if files.kind(&at) == Some(wanted) {
                folder = at;
                continue;
            }
            let listed = files.list(&folder);
            let candidates = listed.iter().filter(|(_, kind)| *kind == wanted);
            let existing = typing_error(name, candidates.map(|(name, _)| &**name))?;
            let mut parts = template.parts.clone();
            let rest = &start[at.len()..];
            parts[0] = TemplatePart::Text(format!("{folder}/{existing}{rest}"));
            let is_unread = self.is_unread(&Template { parts });
            return is_unread.then(|| (name.to_owned(), existing.to_owned()));
        }
        None
    }

    fn report_near(
        &self,
        location: &LocationSpan,
        written: &str,
        existing: &str,
        findings: &mut Findings<'_>,
    ) {
        let message = format!(
            "no file of this workspace matches '{}': Puppet reads nothing here; did you mean '{existing}' \
             for '{written}'?",
            location.text
        );
        let finding = findings.report_as(Severity::Warning, location.range, message);
        // The name may be part of the data directory, which is set in another line.
        let mut places = location.text.match_indices(written);
        if let (Some((at, _)), None) = (places.next(), places.next()) {
            let range = self.range_in(location, at..at + written.len());
            let fix = Fix::write(Safety::Unsafe, range, existing);
            finding.fixes.push(fix);
        }
    }

    /// Reports a glob that matches a broken link: Puppet skips such a path, but fails on it in a glob.
    fn report_lost_link(
        &self,
        location: &LocationSpan,
        own: &[&Place],
        findings: &mut Findings<'_>,
    ) {
        let files = self.view.files();
        let paths = own.iter().filter(|place| place.original == location.text);
        let mut paths = paths.filter_map(|place| place.template.with_values(&[]));
        let is_lost = |at: &String| files.kind(at).is_none() && files.is_link(at);
        if let Some(lost) = paths.find(is_lost) {
            let message = format!(
                "'{}' matches '{}', a broken link: every lookup that asks this level fails; \
                 remove the link",
                location.text,
                self.file.snapshot().short_name(&lost)
            );
            findings.report_as(Severity::Error, location.range, message);
        }
    }
}

/// A path without the extension of a data file.
fn stem(path: &str) -> &str {
    let mut known = DATA_EXTENSIONS.iter();
    known
        .find_map(|extension| path.strip_suffix(extension))
        .unwrap_or(path)
}

fn with_extension(template: &Template, extension: &str) -> Template {
    let mut parts = template.parts.clone();
    match parts.last_mut() {
        Some(TemplatePart::Text(end)) => *end = format!("{}{extension}", stem(end)),
        Some(TemplatePart::Variable(_) | TemplatePart::Key(_)) | None => {
            parts.push(TemplatePart::Text(extension.to_owned()));
        }
    }
    Template { parts }
}

#[cfg(test)]
mod tests {
    use super::{RULE, Severity, stem, with_extension};
    use crate::fixture::{FOLDER, Fixture};
    use crate::hierarchy::Template;
    use crate::rules::check_file;
    use crate::rules::marked::found;

    /// The severity and the fix of the finding for a path; a second level has a file.
    fn check(path: &str, files: &str) -> Option<(Severity, Option<String>)> {
        let text = format!(
            "version: 5\nhierarchy:\n  - {{name: one, path: \"{path}\"}}\n  - {{name: two, path: other.yaml}}\n\
             #- data/other.yaml\na: 1\n{files}"
        );
        first(&text)
    }

    fn first(text: &str) -> Option<(Severity, Option<String>)> {
        let finding = found(RULE, "hiera.yaml", text).into_iter().next()?;
        let fix = finding.fixes.first().map(|fix| fix.title.clone());
        Some((finding.severity, fix))
    }

    #[test]
    fn a_name_that_differs_by_a_letter_is_offered() {
        let write = |name: &str| Some((Severity::Warning, Some(format!("Write '{name}'"))));
        let file = |path: &str| format!("#- data/{path}\nb: 1\n");
        let nodes = file("nodes/web01.yaml");
        assert_eq!(
            check("comon.yaml", &file("common.yaml")),
            write("common.yaml")
        );
        assert_eq!(
            check("node/%{trusted.certname}.yaml", &nodes),
            write("nodes")
        );
        // A file of another name, or one that a level reads.
        let hint = Some((Severity::Hint, None));
        assert_eq!(check("comon.yaml", &file("servers.yaml")), hint);
        assert_eq!(check("others.yaml", ""), hint);
        assert_eq!(check("node/%{trusted.certname}.eyaml", &nodes), hint);
    }

    #[test]
    fn a_role_may_have_folders_in_its_name() {
        let file = "#- data/role/env/dev.yaml\nb: 1\n";
        let hint = Some((Severity::Hint, None));
        assert_eq!(check("role/%{::_role}.yaml", file), None);
        assert_eq!(check("role/%{facts.role}.yaml", file), hint);
    }

    #[test]
    fn a_glob_is_offered_the_extension_and_the_folder_of_the_files_there() {
        let check = |glob: &str, files: &str| {
            let text = format!(
                "version: 5\nhierarchy:\n  - {{name: one, globs: [\"{glob}\"]}}\n  - {{name: two, path: \
                 other.yaml}}\n#- data/other.yaml\na: 1\n#- data/{files}\nb: 1\n"
            );
            first(&text)
        };
        let write = |what: &str| Some((Severity::Warning, Some(format!("Write {what}"))));
        let extension = write("'.yaml' at the end");
        assert_eq!(check("users/*.yml", "users/a.yaml"), extension);
        assert_eq!(check("%{facts.site}/*.yml", "lon/a.yaml"), extension);
        assert_eq!(check("user/*.yaml", "users/a.yaml"), write("'users'"));
        assert_eq!(check("users/*.yaml", "users/a.yaml"), None);
        let hint = Some((Severity::Hint, None));
        assert_eq!(check("users/*.yml", "groups/a.yaml"), hint);
        assert_eq!(check("users/{a,b}.yml", "users/a.yaml"), hint);
    }

    #[test]
    fn wildcards_and_the_data_directory_in_paths_are_reported() {
        let write = |what: &str| Some((Severity::Warning, Some(what.to_owned())));
        let nodes = "#- data/nodes/web01.yaml\nb: 1\n";
        assert_eq!(check("nodes/*.yaml", nodes), write("Write 'glob'"));
        assert_eq!(check("nodes/*.json", nodes), Some((Severity::Hint, None)));
        let fixed = write("Leave 'data/' out");
        assert_eq!(check("data/nodes/web01.yaml", nodes), fixed);
        assert_eq!(check("data/nodes/%{trusted.certname}.yaml", nodes), fixed);
        let hint = Some((Severity::Hint, None));
        assert_eq!(check("data/other.yaml", ""), hint);
    }

    #[test]
    fn a_missing_data_directory_is_reported_once() {
        let text = "version: 5\ndefaults: {datadir: hieradata, data_hash: yaml_data}\nhierarchy:\n  - {name: a, path: a.yaml}\n  \
                    - {name: b, path: b.yaml}\n#- data/a.yaml\na: 1\n";
        let snapshot = Fixture::new("hiera.yaml", text).on_disk();
        let found = check_file(&snapshot, &format!("{FOLDER}/hiera.yaml"));
        let messages: Vec<&str> = found.iter().map(|it| &*it.message).collect();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].ends_with("'hieradata' is not there, but 'data' is"));
    }

    #[test]
    fn files_that_another_level_reads_are_not_suggested() {
        let text = "version: 5\nhierarchy:\n  - name: secrets\n    lookup_key: eyaml_lookup_key\n    \
                    path: 'node/%{trusted.certname}.eyaml'\n    options: {pkcs7_private_key: a, pkcs7_public_key: b}\n\
                    \x20 - {name: nodes, paths: ['node/%{trusted.certname}.yaml']}\n  \
                    - {name: all, globs: ['*.yml', '*.yaml']}\n\
                    #- data/node/web01.yaml\na: 1\n#- data/common.yaml\na: 1\n";
        let found = found(RULE, "hiera.yaml", text).into_iter();
        let severities: Vec<Severity> = found.map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Hint]);
    }

    #[test]
    fn the_only_level_of_a_hierarchy_is_checked_by_similar_names() {
        let check = |path: &str, file: &str| {
            let text = format!(
                "version: 5\nhierarchy: [{{name: one, path: \"{path}\"}}]\n#- data/{file}\nb: 1\n"
            );
            first(&text).map(|(severity, _)| severity)
        };
        for path in ["comon.yaml", "common", "common.yml"] {
            assert_eq!(
                check(path, "common.yaml"),
                Some(Severity::Warning),
                "{path}"
            );
        }
        assert_eq!(check("servers.yaml", "common.yaml"), None);
    }

    #[test]
    fn extensions_are_replaced_or_added() {
        assert_eq!(stem("a/b.yaml"), "a/b");
        assert_eq!(stem("a/b.d"), "a/b.d");
        let with = |path| with_extension(&Template::parse(path), ".yaml");
        assert_eq!(with("x/%{a}.yml"), Template::parse("x/%{a}.yaml"));
        assert_eq!(with("x/%{a}"), Template::parse("x/%{a}.yaml"));
    }
}
