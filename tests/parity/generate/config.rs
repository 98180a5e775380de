//! `hiera.yaml` in all its forms, with the data files its locations reach.

use super::dice::Dice;
use super::doc::{Doc, map, plain, quoted, yaml};
use super::mistake::mistake;
use super::scope::{Scope, fill};
use super::site::VALUES;

/// The layer a configuration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Global,
    Environment,
    Module,
}

/// The format of a data file. One function reads all files of a format: Puppet caches the first
/// function's result for all others, so the order would decide the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Yaml,
    Json,
    /// JSON that the YAML backend reads, under a separate name.
    JsonAsYaml,
    Hocon,
}

/// A configuration and the files below the case's folder that it reaches.
pub struct Config {
    pub text: String,
    pub files: Vec<(String, Format)>,
    /// Data may come from code, so answers may be unknown.
    pub custom: bool,
}

/// Builds a version 5 configuration for the folder `root` (below the case's folder).
pub fn version_5(dice: &mut Dice, layer: Layer, root: &str, scopes: &[Scope]) -> Config {
    let mut builder = Builder {
        dice,
        layer,
        root,
        scopes,
        files: Vec::new(),
        custom: false,
    };
    let mut top = vec![(plain("version"), plain("5"))];
    let defaults = builder.defaults();
    if let Some(doc) = &defaults.doc {
        top.push((plain("defaults"), doc.clone()));
    }
    let count = match layer {
        Layer::Environment => builder.dice.between(1, 5),
        Layer::Global | Layer::Module => builder.dice.between(1, 2),
    };
    match builder.dice.weighted(&[93, 3, 2, 2]) {
        0 => {
            let entries = (0..count)
                .map(|i| builder.entry(&format!("Level {i}"), &defaults))
                .collect();
            top.push((plain("hierarchy"), Doc::Seq(entries)));
        }
        1 => {
            builder.dice.mark("hiera.yaml: default hierarchy");
            builder.file(defaults.datadir.as_deref(), "common.yaml", Format::Yaml);
        }
        2 => {
            builder.dice.mark("hiera.yaml: default hierarchy");
            top.push((plain("hierarchy"), plain("~")));
            builder.file(defaults.datadir.as_deref(), "common.yaml", Format::Yaml);
        }
        _ => top.push((plain("hierarchy"), Doc::Flow(Box::new(Doc::Seq(vec![]))))),
    }
    if layer == Layer::Module && builder.dice.chance(50) {
        builder
            .dice
            .mark("hiera.yaml: default_hierarchy of a module");
        let entries = (0..builder.dice.between(1, 2))
            .map(|i| builder.entry(&format!("Default {i}"), &defaults))
            .collect();
        top.push((plain("default_hierarchy"), Doc::Seq(entries)));
    }
    let (files, custom) = (builder.files, builder.custom);
    let mut doc = Doc::Map(top);
    let per_mille = if layer == Layer::Environment {
        450
    } else {
        120
    };
    let mut mistakes = 0;
    while mistakes < 2 && dice.risk(if mistakes == 0 { per_mille } else { 400 }) {
        mistake(dice, &mut doc);
        mistakes += 1;
    }
    let mut text = yaml(&doc);
    if dice.chance(20) {
        text = text.replace("version: 5\n", "version: 5 # the version\n");
    }
    if dice.chance(3) {
        dice.mark("hiera.yaml: symbol keys");
        text = text
            .replace("version: 5", ":version: 5")
            .replace("\nhierarchy:", "\n:hierarchy:");
    }
    Config {
        text,
        files,
        custom,
    }
}

struct Defaults {
    doc: Option<Doc>,
    datadir: Option<String>,
}

pub(super) struct Builder<'a> {
    pub(super) dice: &'a mut Dice,
    pub(super) layer: Layer,
    pub(super) root: &'a str,
    pub(super) scopes: &'a [Scope],
    pub(super) files: Vec<(String, Format)>,
    custom: bool,
}

impl Builder<'_> {
    fn defaults(&mut self) -> Defaults {
        match self.dice.weighted(&[
            40,
            40,
            12,
            self.dice.if_risky(3),
            2,
            self.dice.if_risky(5),
            self.dice.if_risky(3),
        ]) {
            0 => Defaults {
                doc: None,
                datadir: None,
            },
            1 => {
                self.dice.mark("hiera.yaml: defaults");
                let datadir = self.dice.pick(&["data", "hieradata", "d/e"]).to_string();
                Defaults {
                    doc: Some(map([
                        ("datadir", plain(datadir.clone())),
                        ("data_hash", plain("yaml_data")),
                    ])),
                    datadir: Some(datadir),
                }
            }
            2 => Defaults {
                doc: Some(map([("data_hash", plain("yaml_data"))])),
                datadir: None,
            },
            3 => {
                self.dice.mark("hiera.yaml: defaults without a function");
                Defaults {
                    doc: Some(map([("datadir", plain("data"))])),
                    datadir: None,
                }
            }
            4 => Defaults {
                doc: Some(plain("~")),
                datadir: None,
            },
            5 => {
                self.dice.mark("hiera.yaml: default options");
                let options = map([("anything", plain("1"))]);
                Defaults {
                    doc: Some(map([
                        ("lookup_key", plain("eyaml_lookup_key")),
                        ("options", options),
                    ])),
                    datadir: None,
                }
            }
            _ => {
                self.dice.mark("hiera.yaml: default options");
                let options = map([("anything", quoted("%{role}"))]);
                Defaults {
                    doc: Some(map([
                        ("data_hash", plain("yaml_data")),
                        ("options", options),
                    ])),
                    datadir: None,
                }
            }
        }
    }

    fn entry(&mut self, name: &str, defaults: &Defaults) -> Doc {
        let name = if self.dice.rarely(15) {
            self.dice.mark("hiera.yaml: token in a name");
            quoted(format!("%{{role}} {name}"))
        } else {
            plain(name)
        };
        let mut entry = vec![(plain("name"), name)];
        let mut format = Format::Yaml;
        let mut own_function = true;
        match self.dice.weighted(&[70, 8, 5, 10, 3, 4]) {
            0 => {
                own_function = false;
                if self.dice.chance(20) {
                    entry.push((plain("data_hash"), plain("yaml_data")));
                }
            }
            1 => {
                self.dice.mark("backend: json_data");
                entry.push((plain("data_hash"), plain("json_data")));
                format = Format::Json;
            }
            2 => {
                self.dice.mark("backend: hocon_data");
                entry.push((plain("data_hash"), plain("hocon_data")));
                format = Format::Hocon;
            }
            3 => {
                self.dice.mark("backend: eyaml_lookup_key");
                entry.push((plain("lookup_key"), plain("eyaml_lookup_key")));
                if self.dice.chance(60) {
                    let options = map([
                        ("pkcs7_private_key", quoted("/nonexistent/%{role}.pem")),
                        (
                            "list",
                            Doc::Flow(Box::new(Doc::Seq(vec![quoted("%{tier}"), plain("1")]))),
                        ),
                    ]);
                    entry.push((plain("options"), options));
                }
            }
            4 => {
                self.dice.mark("backend: json file read as yaml");
                entry.push((plain("data_hash"), plain("yaml_data")));
                format = Format::JsonAsYaml;
            }
            _ => own_function = false,
        }
        let custom = self.layer != Layer::Global && !own_function && self.dice.chance(9);
        if custom {
            self.own_function(&mut entry);
        }
        let datadir = self.datadir(&mut entry, defaults);
        self.location(&mut entry, datadir.as_deref(), format, custom);
        if self.dice.chance(35) {
            Doc::Flow(Box::new(Doc::Map(entry)))
        } else {
            Doc::Map(entry)
        }
    }

    /// A level whose data comes from a function of the environment or the module.
    fn own_function(&mut self, entry: &mut Vec<(Doc, Doc)>) {
        let space = match self.layer {
            Layer::Module => {
                self.dice.mark("backend: function of a module");
                self.root.rsplit('/').next().unwrap_or_default()
            }
            Layer::Environment | Layer::Global => {
                self.dice.mark("backend: function of the environment");
                "environment"
            }
        };
        self.custom = true;
        let (kind, function) = *self.dice.pick(&[
            &("data_hash", "dh"),
            &("lookup_key", "lk"),
            &("data_dig", "dd"),
        ]);
        entry.retain(|(k, _)| super::doc::text_of(k) != "data_hash");
        entry.push((plain(kind), plain(format!("{space}::{function}"))));
        if self.dice.chance(60) {
            let extra = self.dice.pick(&["more", "%{facts.os.family}", "%{kind}"]);
            let options = map([("extra", quoted(extra)), ("x", plain("1"))]);
            entry.push((plain("options"), options));
        }
    }

    fn datadir(&mut self, entry: &mut Vec<(Doc, Doc)>, defaults: &Defaults) -> Option<String> {
        if !self.dice.chance(30) {
            return defaults.datadir.clone();
        }
        let dir = match self.dice.weighted(&[20, 15, 15, 15, 10, 10, 5, 3, 5]) {
            0 => "data",
            1 => {
                self.dice.mark("datadir: absolute");
                "@@ROOT@@/abs"
            }
            2 => {
                self.dice.mark("datadir: climbs out");
                "../shared"
            }
            3 => {
                self.dice.mark("datadir: token");
                "data/%{environment}"
            }
            4 => {
                self.dice.mark("datadir: token");
                "data/%{facts.role}"
            }
            5 => "hieradata/",
            6 => ".",
            7 => {
                self.dice.mark("datadir: undefined variable");
                "data/%{nope}"
            }
            _ => "./data//deep",
        };
        entry.push((plain("datadir"), quoted(dir)));
        Some(dir.to_string())
    }

    fn location(
        &mut self,
        entry: &mut Vec<(Doc, Doc)>,
        datadir: Option<&str>,
        format: Format,
        custom: bool,
    ) {
        let weights = if custom {
            [25, 10, 5, 5, 5, 20, 10, 20]
        } else {
            [
                44,
                20,
                9,
                6,
                12,
                self.dice.if_risky(1),
                self.dice.if_risky(1),
                self.dice.if_risky(1),
            ]
        };
        match self.dice.weighted(&weights) {
            0 => {
                self.dice.mark("location: path");
                let template = self.template(datadir, format);
                entry.push((plain("path"), quoted(template)));
            }
            1 => {
                self.dice.mark("location: paths");
                let count = self.dice.between(1, 4);
                let paths = (0..count)
                    .map(|_| quoted(self.template(datadir, format)))
                    .collect();
                entry.push((plain("paths"), Doc::Seq(paths)));
            }
            2 => {
                self.dice.mark("location: glob");
                let glob = self.glob(datadir, format);
                entry.push((plain("glob"), quoted(glob)));
            }
            3 => {
                self.dice.mark("location: globs");
                let globs = (0..self.dice.between(1, 3))
                    .map(|_| quoted(self.glob(datadir, format)))
                    .collect();
                entry.push((plain("globs"), Doc::Flow(Box::new(Doc::Seq(globs)))));
            }
            4 => {
                self.dice.mark("location: mapped_paths");
                let mapped = self.mapped(datadir, format);
                entry.push((plain("mapped_paths"), mapped));
            }
            5 => {
                self.dice.mark("location: uri");
                let uri =
                    self.dice
                        .pick(&["http://x/%{role}", "foo:bar", "rel/path", "http://x y"]);
                entry.push((plain("uri"), quoted(uri)));
            }
            6 => {
                self.dice.mark("location: uris");
                let uris = vec![
                    quoted("http://x/a?b=%{num}"),
                    quoted("urn:%{facts.os.family}"),
                ];
                entry.push((plain("uris"), Doc::Flow(Box::new(Doc::Seq(uris)))));
            }
            _ => self.dice.mark("location: none"),
        }
    }

    /// Records the files that a template names in the scopes.
    pub(super) fn file(&mut self, datadir: Option<&str>, template: &str, format: Format) {
        let left = self.scopes.iter().flat_map(|scope| {
            if self.dice.has_site() {
                VALUES.map(|value| scope.with_set(value)).to_vec()
            } else {
                vec![scope.clone()]
            }
        });
        for scope in &left.collect::<Vec<_>>() {
            let datadir = fill(datadir.unwrap_or("data"), scope, "production");
            let path = fill(template, scope, "production");
            let whole = [self.root, &datadir, &path]
                .iter()
                .fold(String::new(), |base, part| join(&base, part));
            let Some(path) = below_root(&whole) else {
                continue;
            };
            if !self.files.iter().any(|(p, _)| *p == path) {
                self.files.push((path, format));
            }
        }
    }
}

pub(super) fn extension(format: Format) -> &'static str {
    match format {
        Format::Yaml => "yaml",
        Format::Json => "json",
        Format::JsonAsYaml => "js.yml",
        Format::Hocon => "conf",
    }
}

fn join(base: &str, part: &str) -> String {
    if part.starts_with("@@ROOT@@") || part.starts_with('/') {
        part.to_string()
    } else {
        format!("{base}/{part}")
    }
}

/// The path below the case's folder, if it lies there.
fn below_root(path: &str) -> Option<String> {
    let path = match path.strip_prefix("@@ROOT@@") {
        Some(rest) => rest,
        None if path.starts_with("/env")
            || path.starts_with("/global")
            || path.starts_with("/code") =>
        {
            path
        }
        None => return None,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    // A name that is invalid in a file system or a case file is skipped.
    let fine = !parts.is_empty() && parts.iter().all(|p| p.len() < 100 && !p.contains('\0'));
    fine.then(|| parts.join("/"))
}
