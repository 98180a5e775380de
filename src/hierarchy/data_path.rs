//! Where a configuration looks for data, before any variable is known.
//!
//! Only the text of a path decides which files it can match; the lookup engine, which knows scopes
//! and files, decides what a level really reads.

use std::sync::Arc;

use super::config::{Config, ConfigBody, Function, FunctionKind, Locations, WrittenLocation};
use super::declared::is_puppets_own;
use super::embedded::is_of_tag;
use super::template::has_data_extension;
use crate::interpolation::tokens;
use crate::value::{StrKey, Value};

/// One location of a level, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataPath {
    /// The data directory.
    pub datadir: Arc<str>,
    /// The path or pattern below it.
    pub path: Arc<str>,
    /// Whether the path is a glob.
    pub is_glob: bool,
    /// Whether one of Puppet's own functions reads it; other functions can read any file of the
    /// data directory.
    pub is_exact: bool,
}

/// All locations of a configuration, in the order of its levels.
#[must_use]
pub fn data_paths(config: &Config) -> Vec<DataPath> {
    let mut paths = Vec::new();
    match &config.body {
        ConfigBody::V5 { .. } => {
            for level in config.body.levels() {
                let is_exact = is_reader(&level.function);
                let mut add = |path: &WrittenLocation, is_glob| {
                    paths.push(DataPath {
                        datadir: level.datadir.clone(),
                        path: path.text.clone(),
                        is_glob,
                        is_exact,
                    });
                };
                match &level.locations {
                    Locations::None | Locations::Uris(_) => {}
                    Locations::Paths(all) => all.iter().for_each(|path| add(path, false)),
                    Locations::Globs(all) => all.iter().for_each(|path| add(path, true)),
                    Locations::Mapped { template, .. } => add(template, false),
                }
            }
        }
        ConfigBody::V4 { hierarchy } => {
            for level in hierarchy {
                let extension = match &*level.backend {
                    "json" => ".json",
                    "hocon" => ".conf",
                    _ => ".yaml",
                };
                let all = level.paths.iter();
                paths.extend(all.map(|path| DataPath {
                    datadir: level.datadir.clone(),
                    path: with_extension(path, extension),
                    is_glob: false,
                    is_exact: true,
                }));
            }
        }
        ConfigBody::V3(body) => {
            for backend in &body.backends {
                let own = body.backend_options.iter();
                let own = own
                    .filter(|(name, _)| name == backend)
                    .find_map(|(_, own)| own.as_hash());
                let option = |name: &str| own?.get(&StrKey(name)).map(Value::to_s);
                let datadir = option("datadir").unwrap_or_else(|| VERSION_3_DATADIR.to_owned());
                let extension = match (option("extension"), &**backend) {
                    (Some(extension), _) => format!(".{extension}"),
                    (None, "hocon") => ".conf".to_owned(),
                    (None, backend) => format!(".{backend}"),
                };
                let all = body.hierarchy.iter();
                paths.extend(all.map(|path| DataPath {
                    datadir: Arc::from(&*datadir),
                    path: with_extension(path, &extension),
                    is_glob: false,
                    is_exact: matches!(&**backend, "yaml" | "json" | "hocon" | "eyaml"),
                }));
            }
        }
    }
    paths
}

/// The data directory of version 3 for a backend without one (`HieraConfigV3`), with Puppet's
/// default `codedir`.
pub const VERSION_3_DATADIR: &str = "/etc/puppetlabs/code/environments/%{::environment}/hieradata";

/// Whether a function reads exactly the files that its paths name.
fn is_reader(function: &Function) -> bool {
    let kinds = [FunctionKind::DataHash, FunctionKind::LookupKey];
    kinds.contains(&function.kind) && is_puppets_own(&function.name)
}

fn with_extension(path: &Arc<str>, extension: &str) -> Arc<str> {
    if path.ends_with(extension) {
        path.clone()
    } else {
        Arc::from(format!("{path}{extension}"))
    }
}

/// The paths that a text with tokens, or a glob, can match: absolute, segment by segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPattern {
    segments: Vec<NamePattern>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum NamePattern {
    /// `**`: any number of folders.
    Folders,
    Name(Vec<PathPiece>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum PathPiece {
    Text(String),
    /// A variable: at least one character.
    Variable,
    /// A variable at the end of a path: not with the extension of a data file.
    LastVariable,
    /// `*` and other glob syntax: any characters.
    Any,
}

impl PathPattern {
    /// The pattern of `path` below the folder `datadir`, both with tokens.
    #[must_use]
    pub fn new(datadir: &str, path: &str, is_glob: bool) -> PathPattern {
        let datadir = if path.starts_with('/') { "" } else { datadir };
        let folder = datadir
            .split('/')
            .filter(|text| !text.is_empty())
            .map(|text| segment(text, false));
        let names = path
            .split('/')
            .filter(|text| !matches!(*text, "" | "."))
            .flat_map(|text| {
                // The output of a template's tag may be several folders.
                let is_open = tokens(text)
                    .iter()
                    .any(|token| is_of_tag(token.inner.slice(text)));
                let folders = is_open.then_some(NamePattern::Folders);
                folders.into_iter().chain([segment(text, is_glob)])
            });
        let mut segments = Vec::new();
        for next in folder.chain(names) {
            match &next {
                NamePattern::Name(pieces) if matches!(&pieces[..], [PathPiece::Text(dots)] if dots == "..") =>
                {
                    segments.pop();
                }
                NamePattern::Folders | NamePattern::Name(_) => segments.push(next),
            }
        }
        if let Some(NamePattern::Name(pieces)) = segments.last_mut()
            && let Some(last @ PathPiece::Variable) = pieces.last_mut()
            && !is_open_at_end(path)
        {
            *last = PathPiece::LastVariable;
        }
        PathPattern { segments }
    }

    /// Whether `path` matches for some values of the variables.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        matches(&self.segments, &names)
    }
}

/// Whether a path ends with a tag, which may be a whole path.
fn is_open_at_end(path: &str) -> bool {
    let tokens = tokens(path);
    tokens
        .last()
        .is_some_and(|token| is_of_tag(token.inner.slice(path)))
}

fn segment(text: &str, is_glob: bool) -> NamePattern {
    if is_glob && text == "**" {
        return NamePattern::Folders;
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    let literal = |text: &str, pieces: &mut Vec<PathPiece>| {
        // Sets and alternatives match anything: the result is only a place to search.
        let mut rest = text;
        let wildcards: &[char] = if is_glob { &['*', '?', '[', '{'] } else { &[] };
        while let Some(found) = rest.find(wildcards) {
            if found > 0 {
                pieces.push(PathPiece::Text(rest[..found].to_owned()));
            }
            pieces.push(PathPiece::Any);
            let close = match rest.as_bytes()[found] {
                b'[' => rest[found..].find(']'),
                b'{' => rest[found..].find('}'),
                _ => Some(0),
            };
            rest = close.map_or("", |close| &rest[found + close + 1..]);
        }
        if !rest.is_empty() {
            pieces.push(PathPiece::Text(rest.to_owned()));
        }
    };
    for token in tokens(text) {
        literal(&text[at..token.range.start as usize], &mut pieces);
        pieces.push(PathPiece::Variable);
        at = token.range.end as usize;
    }
    literal(&text[at..], &mut pieces);
    NamePattern::Name(pieces)
}

fn matches(segments: &[NamePattern], names: &[&str]) -> bool {
    match (segments.split_first(), names.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((NamePattern::Folders, rest)), _) => {
            (0..=names.len()).any(|from| matches(rest, &names[from..]))
        }
        (Some(_), None) => false,
        (Some((NamePattern::Name(pieces), rest)), Some((name, names))) => {
            is_name(pieces, name) && matches(rest, names)
        }
    }
}

/// Whether pieces can match a name. Each variable part is matched lazily, with backtracking.
fn is_name(pieces: &[PathPiece], name: &str) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return name.is_empty();
    };
    let least = match first {
        PathPiece::Text(text) => {
            return name
                .strip_prefix(text.as_str())
                .is_some_and(|name| is_name(rest, name));
        }
        PathPiece::LastVariable => return !name.is_empty() && !has_data_extension(name),
        PathPiece::Variable => 1,
        PathPiece::Any => 0,
    };
    match rest {
        [] => name.len() >= least,
        [PathPiece::Text(text)] => name
            .strip_suffix(text.as_str())
            .is_some_and(|value| value.len() >= least),
        [..] => {
            let starts = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            starts
                .filter(|&at| at >= least)
                .any(|at| is_name(rest, &name[at..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Layer;
    use crate::value::load_yaml;

    fn matches(datadir: &str, path: &str, at: &str) -> bool {
        PathPattern::new(datadir, path, path.contains('*')).matches(at)
    }

    #[test]
    fn variables_stand_for_parts_of_one_name() {
        assert!(matches(
            "/w/data",
            "nodes/%{fqdn}.yaml",
            "/w/data/nodes/a.b.yaml"
        ));
        assert!(!matches(
            "/w/data",
            "nodes/%{fqdn}.yaml",
            "/w/data/nodes/a/b.yaml"
        ));
        assert!(!matches(
            "/w/data",
            "nodes/%{fqdn}.yaml",
            "/w/data/nodes/.yaml"
        ));
        assert!(matches(
            "/w/%{env}/data",
            "x%{a}-%{b}.yaml",
            "/w/p/data/xy-z-1.yaml"
        ));
        assert!(matches("/w/data", "os/%{family}", "/w/data/os/RedHat"));
        assert!(!matches(
            "/w/data",
            "os/%{family}",
            "/w/data/os/RedHat.yaml"
        ));
        assert!(matches("/w/conf/../data", "./c.yaml", "/w/data/c.yaml"));
        assert!(matches("/w/data", "**/*.yaml", "/w/data/a/b/c.yaml"));
        assert!(matches("/w/data", "**/*.yaml", "/w/data/c.yaml"));
        assert!(!matches("/w/data", "*/c.yaml", "/w/data/c.yaml"));
        assert!(PathPattern::new("/w/data", "{a,b}/[cd]?.yaml", true).matches("/w/data/a/cx.yaml"));
    }

    #[test]
    fn data_paths_are_found_for_every_version() {
        let paths = |text: &str| -> Vec<String> {
            let value = load_yaml(text.as_bytes()).unwrap();
            let config =
                Config::read("/w/h.yaml", "/w", text.into(), &value, &Layer::Global).unwrap();
            let all = data_paths(&config).into_iter();
            all.map(|path| format!("{} {} {}", path.datadir, path.path, path.is_exact))
                .collect()
        };
        assert_eq!(
            paths(
                "version: 5\ndefaults: {datadir: d, data_hash: yaml_data}\nhierarchy:\n- {name: a, path: a.yaml}\n\
                 - {name: b, glob: '*.yaml', lookup_key: x::y}\n"
            ),
            ["d a.yaml true", "d *.yaml false"]
        );
        assert_eq!(
            paths("version: 4\nhierarchy:\n- {name: a, backend: json}\n"),
            ["data a.json true"]
        );
        assert_eq!(
            paths(
                ":backends: [eyaml, yaml]\n:eyaml:\n  :datadir: /e\n  :extension: yaml\n\
                 :hierarchy: ['%{x}', common]\n"
            ),
            [
                "/e %{x}.yaml true",
                "/e common.yaml true",
                "/etc/puppetlabs/code/environments/%{::environment}/hieradata %{x}.yaml true",
                "/etc/puppetlabs/code/environments/%{::environment}/hieradata common.yaml true",
            ]
        );
    }
}
