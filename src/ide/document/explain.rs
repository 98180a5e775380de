//! The document of how Puppet looks a key up, in the words of `puppet lookup --explain`.

use super::Document;
use crate::analysis::{Analysis, RootView};
use crate::lookup::{Request, Settings, explain};
use crate::scope::{Node, Scope};

/// The explanation, with what is unknown in comment lines below it. Half-typed files are read as
/// Puppet reads them, so the text is that of the command line.
pub(super) fn document(view: &RootView<'_>, key: &str, node: Option<&Node>) -> Document {
    let settings = Settings {
        recover_broken_files: false,
        ..view.analysis.settings.clone()
    };
    let analysis = Analysis {
        settings: &settings,
        ..view.analysis
    };
    let view = analysis.at(view.root);
    let scope = node.map_or_else(Scope::open, |node| {
        let assigned = node.environment.as_deref();
        node.scope(assigned.unwrap_or(&view.environment.name))
    });
    let answer = view.session().lookup(&scope, &Request::key(key).traced());
    let mut content = match (&answer.trace, &answer.result) {
        (_, Err(error)) if !error.class.is_lookup_error() => {
            format!("Error: Could not run: {error}")
        }
        (Some(trace), _) => explain(trace),
        (None, _) => String::new(),
    };
    content.truncate(content.trim_end_matches('\n').len());
    content.push('\n');
    for unknown in &answer.unknown {
        content.push_str(&format!("# unknown: {unknown}\n"));
    }
    Document {
        title: format!("How {key} is looked up"),
        language: "text",
        content,
        ..Document::default()
    }
}
