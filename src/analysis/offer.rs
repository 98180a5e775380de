//! Guesses from the code of a data function what it does. The guess is offered to the user as a
//! declaration, never assumed. The code is read as text and not run.

use std::sync::Arc;

use super::{Analysis, RootView};
use crate::hierarchy::{Backend, Backends, Function, KeyPath, Like};
use crate::lookup::{ConfigCache, FunctionSource, Settings, find_function};
use crate::workspace::Files as _;

/// A suggested declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// Name of the function.
    pub function: Arc<str>,
    /// The file that defines it.
    pub source: Arc<str>,
    /// What it appears to do.
    pub backend: Backend,
}

impl Offer {
    /// The declaration as a line of `.hiera-ls.yaml`, below `backends:`.
    #[must_use]
    pub fn as_yaml(&self) -> String {
        let path = self
            .backend
            .path
            .iter()
            .map(|path| format!("\"{}\"", path.text()));
        let path = match path.collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            [only] => format!(", path: {only}"),
            several => format!(", path: [{}]", several.join(", ")),
        };
        format!(
            "{}: {{like: {}{path}}}",
            self.function,
            self.backend.like.name()
        )
    }
}

impl RootView<'_> {
    /// A suggestion for a function that a level of this root names; `None` if it is declared, if no
    /// visible file defines it, or if its code is not recognised.
    #[must_use]
    pub fn offer(&self, function: &str) -> Option<Offer> {
        if self.analysis.settings.backends.get(function).is_some() {
            return None;
        }
        let FunctionSource::Ruby(source) = find_function(self.files(), &self.environment, function)
        else {
            return None;
        };
        let text = self.files().text(&source).ok()?;
        Some(Offer {
            backend: recognised(&text)?,
            function: Arc::from(function),
            source,
        })
    }

    /// The suggestions for the functions of all levels of this root's own hierarchy, by name.
    #[must_use]
    pub fn offers(&self) -> Vec<Offer> {
        let mut functions: Vec<Function> = self.functions();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        functions.dedup_by(|a, b| a.name == b.name);
        let offers = functions
            .iter()
            .filter_map(|function| self.offer(&function.name));
        offers.collect()
    }

    /// The suggestions with which this root's hierarchy would read a file that it does not read
    /// now.
    #[must_use]
    pub fn offers_for(&self, path: &str) -> Vec<Offer> {
        let mut offers = self.offers();
        offers.retain(|offer| {
            let (name, backend) = (offer.function.to_string(), offer.backend.clone());
            let alone: Backends = [(name, backend)].into_iter().collect();
            let settings = Settings {
                backends: Arc::new(alone.or(&self.analysis.settings.backends)),
                ..self.analysis.settings.clone()
            };
            let configs = ConfigCache::default();
            let analysis = Analysis {
                settings: &settings,
                configs: &configs,
                ..self.analysis
            };
            let session = analysis.session_over(&self.files, &self.environment);
            let places = session.places(&self.layer).unwrap_or_default();
            let mut reading = places.iter().filter(|place| place.reading.is_some());
            reading.any(|place| {
                place.function.name == offer.function && place.reads(path, &self.files)
            })
        });
        offers
    }

    /// The functions of the levels of this root's own hierarchy, in order; empty if Puppet refuses
    /// the configuration.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        self.session().functions(&self.layer)
    }
}

/// Recognises functions that build a path from a key's segments, or that query a secret store.
fn recognised(text: &str) -> Option<Backend> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let code: String = lines.flat_map(|line| [line, "\n"]).collect();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if !has(&["create_function"]) || !has(&["LookupContext", "context"]) {
        return None;
    }
    let backend = |like: Like, path: &[&str]| {
        let path = path.iter().map(|path| KeyPath::parse(path));
        Some(Backend {
            like,
            path: path.collect::<Result<_, _>>().ok()?,
            keys: Vec::new(),
        })
    };
    let reads_level = has(&["options['path']", "options[\"path\"]", "options[:path]"]);
    let splits_key = has(&[
        "split('::')",
        "split(\"::\")",
        "split(/::/)",
        "gsub('::', '/')",
        "gsub(\"::\", \"/\")",
        "gsub(/::/, '/')",
        "partition('::')",
    ]);
    let reads_json = has(&["JSON.parse", "JSON.load", ".json\"", ".json'"]);
    let reads_yaml = has(&["YAML", "Yaml", ".yaml\"", ".yaml'"]);
    if !(reads_level && splits_key && (reads_yaml || reads_json)) {
        let asks_store = has(&[
            "Vault",
            "Aws::",
            "Net::HTTP",
            "KeyVault",
            "keyvault",
            "Conjur",
        ]);
        return if asks_store {
            backend(Like::Secret, &[])
        } else {
            None
        };
    }
    let opens = has(&["Eyaml", "eyaml"]);
    let (like, extension) = match (opens, reads_json && !reads_yaml) {
        (true, _) => (Like::EyamlLookupKey, "yaml"),
        (false, true) => (Like::JsonData, "json"),
        (false, false) => (Like::YamlData, "yaml"),
    };
    let all_in_first = format!("{{path}}.{extension}");
    // It keeps the first file that it reads for all keys, and `lookup_options` is looked up first.
    if has(&["cached_value(nil)"]) && has(&["cache(nil,"]) {
        return backend(like, &[&all_in_first]);
    }
    let drops_last = has(&[".pop", "[0..-2]", "[0...-1]", "[0, -1]", "rpartition('::')"]);
    let key = if drops_last {
        "{key_path}"
    } else {
        "{key_file}"
    };
    backend(like, &[&format!("{{path}}/{key}.{extension}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Option<String> {
        let offer = Offer {
            function: Arc::from("lib::f"),
            source: Arc::from("/f.rb"),
            backend: recognised(text)?,
        };
        Some(offer.as_yaml())
    }

    fn expanding(body: &str) -> String {
        format!(
            "Puppet::Functions.create_function(:'lib::f') do\n  def f(key, options, context)\n    base = \
             options['path']\n{body}\n  end\nend\n"
        )
    }

    #[test]
    fn code_that_makes_a_path_of_a_key_is_offered() {
        let reads = "data = YAML.load_file(file)\ncontext.not_found unless data.key?(key)";
        let pops = format!("parts = key.split('::')\nparts.pop\nfile = base + '.yaml'\n{reads}");
        let whole = format!("file = base + key.gsub('::', '/') + '.yaml'\n{reads}");
        let kept = format!("{pops}\nraw = context.cached_value(nil)\ncontext.cache(nil, data)");
        let json = "parts = key.split('::')[0..-2]\nJSON.parse(File.read(base + '.json'))";
        for (body, like, path) in [
            (&*pops, "yaml_data", "{path}/{key_path}.yaml"),
            (&whole, "yaml_data", "{path}/{key_file}.yaml"),
            (&kept, "yaml_data", "{path}.yaml"),
            (json, "json_data", "{path}/{key_path}.json"),
        ] {
            let expected = format!("lib::f: {{like: {like}, path: \"{path}\"}}");
            assert_eq!(offered(&expanding(body)), Some(expected), "{body}");
        }
    }

    #[test]
    fn a_store_of_secrets_is_offered_and_nothing_else() {
        let vault = expanding("Vault::Client.new.logical.read(key)");
        assert_eq!(offered(&vault).as_deref(), Some("lib::f: {like: secret}"));
        assert_eq!(offered(&expanding("YAML.load_file(base)[key]")), None);
        assert_eq!(offered("# split('::') options['path'] YAML\n"), None);
        let comments = expanding("# key.split('::') YAML\nraise 'x'");
        assert_eq!(offered(&comments), None);
    }
}
