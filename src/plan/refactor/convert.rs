//! Converts a `hiera.yaml` of version 3 to version 5: one level for each backend with all paths, in
//! the order of Puppet's search (`HieraConfigV3` in puppet/pops/lookup/hiera_config.rb).

use std::sync::Arc;

use super::{Refactoring, RefactoringKind, Refused};
use crate::analysis::Analysis;
use crate::edit::Plan;
use crate::hierarchy::{Config, ConfigBody, Layer, V3, VERSION_3_DATADIR};
use crate::syntax::Parse;
use crate::text::{TextEdit, TextRange};
use crate::value::{HashMap, Value, dump_data, load_parse};
use crate::workspace::{File, Format, HIERA_YAML, path};

const TITLE: &str = "Convert this hierarchy to version 5";

/// A configuration of version 3.
struct Old<'a> {
    file: &'a File,
    parse: Arc<Parse>,
    /// The loaded text.
    loaded: Value,
    body: V3,
    /// Whether the file is at the top of the workspace, where Puppet runs in a checkout.
    is_at_top: bool,
}

impl<'a> Old<'a> {
    fn at(analysis: Analysis<'a>, at: &str) -> Option<Old<'a>> {
        let is_configuration =
            path::name(at) == HIERA_YAML || analysis.snapshot.roots().of_config(at).is_some();
        let file = analysis.snapshot.file(at).filter(|_| is_configuration)?;
        let parse = analysis.snapshot.parse_of(file, Format::Yaml);
        let loaded = load_parse(&parse).ok()?;
        loaded.as_hash()?;
        let folder = path::parent(at)?;
        let config = Config::read(at, folder, file.text().clone(), &loaded, &Layer::Global).ok()?;
        let ConfigBody::V3(body) = config.body else {
            return None;
        };
        Some(Old {
            file,
            parse,
            loaded: crate::value::symbol_keys_to_strings(loaded),
            body,
            is_at_top: analysis
                .snapshot
                .folders()
                .iter()
                .any(|top| **top == *folder),
        })
    }

    /// Why version 5 cannot express it.
    fn refusal(&self) -> Option<String> {
        // Only hiera_hash() and hiera_array() used it.
        let behaviour = self.loaded.get("merge_behavior").and_then(Value::as_str);
        if let Some(behaviour) = behaviour.filter(|behaviour| *behaviour != "native") {
            return Some(format!(
                "merge_behavior '{behaviour}' is for all keys, but version 5 sets in lookup_options how each key is merged: add those entries, then remove it"
            ));
        }
        if self.file.text().contains("calling_") {
            return Some(
                "the variables calling_module, calling_class and calling_class_path do not exist in version 5"
                    .to_owned(),
            );
        }
        let options = self.body.backend_options.iter();
        let datadirs = options.filter_map(|(_, own)| own.get("datadir")?.as_str());
        let mut relative = datadirs.filter(|datadir| !datadir.starts_with(['/', '%']));
        if let Some(datadir) = relative.next().filter(|_| !self.is_at_top) {
            return Some(format!(
                "the datadir '{datadir}' starts at the folder where Puppet runs, and in version 5 at that of this file: write an absolute one first"
            ));
        }
        let mut backends = self.body.backends.iter();
        let foreign = backends.find(|backend| level(&self.body, backend).is_none())?;
        Some(format!(
            "the backend '{foreign}' is not Puppet's own: version 5 needs a data function for it"
        ))
    }
}

/// The disabled offer for a configuration that cannot be converted.
pub(super) fn refused(analysis: Analysis<'_>, at: &str) -> Option<Refused> {
    Some(Refused {
        title: TITLE.to_owned(),
        kind: RefactoringKind::Rewrite,
        reason: Old::at(analysis, at)?.refusal()?,
    })
}

pub(super) fn offer(analysis: Analysis<'_>, at: &str) -> Option<Refactoring> {
    let old = Old::at(analysis, at).filter(|old| old.refusal().is_none())?;
    let Old {
        file, parse, body, ..
    } = &old;
    let levels = body.backends.iter().map(|backend| level(body, backend));
    let levels: Option<Vec<Value>> = levels.collect();
    let converted = Value::hash([
        ("version", Value::Int(5)),
        ("hierarchy", Value::from(levels?)),
    ]);
    // Comments at the start of the file stay there, and all others follow them.
    let text = file.text();
    let comments = parse.tree.comments().iter();
    let comments = comments.map(|range| range.slice(text).trim_end().to_owned() + "\n");
    let comments: String = comments.collect();
    let mut new = format!("---\n{comments}{}", dump_data(&converted));
    if text.contains("\r\n") {
        new = new.replace('\n', "\r\n");
    }
    let mut plan = Plan::default();
    let all = TextRange::new(0, text.len());
    plan.add(file.path(), TextEdit::replace(all, new));
    Some(Refactoring {
        title: TITLE.to_owned(),
        kind: RefactoringKind::Rewrite,
        plan,
    })
}

/// The level of a backend; `None` for custom backends.
fn level(body: &V3, backend: &str) -> Option<Value> {
    let (function, name, extension) = match backend {
        "yaml" => ("data_hash", "yaml_data", "yaml"),
        "json" => ("data_hash", "json_data", "json"),
        "hocon" => ("data_hash", "hocon_data", "conf"),
        "eyaml" => ("lookup_key", "eyaml_lookup_key", "eyaml"),
        _ => return None,
    };
    let mut own = body.backend_options.iter();
    let own = own.find(|(name, _)| **name == *backend);
    let own = own.and_then(|(_, options)| options.as_hash()).cloned();
    let mut options: HashMap = own.unwrap_or_default();
    let mut text = |name: &str| {
        let value = options.shift_remove(&Value::from(name))?;
        (!value.is_falsey()).then(|| value.to_s())
    };
    let datadir = text("datadir").unwrap_or_else(|| VERSION_3_DATADIR.to_owned());
    let extension = text("extension").unwrap_or_else(|| extension.to_owned());
    let paths = body.hierarchy.iter();
    let paths = paths.map(|path| Value::from(format!("{path}.{extension}")));
    let mut level: HashMap = HashMap::default();
    let mut set = |key: &str, value: Value| level.insert(Value::from(key), value);
    set("name", Value::from(backend));
    set(function, Value::from(name));
    set("datadir", Value::from(datadir));
    set("paths", Value::from(paths.collect::<Vec<_>>()));
    if backend == "eyaml" && !options.is_empty() {
        set("options", Value::from(options));
    }
    Some(Value::from(level))
}
