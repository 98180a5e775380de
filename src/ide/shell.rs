//! Shell commands that give the same answers as the editor.

use std::fmt::Write as _;

use crate::analysis::{RootView, is_deployed};
use crate::scope::DEFAULT_ENVIRONMENT;
use crate::workspace::path;

/// The command that looks up a key for a node, or for all nodes, in the environment of a view.
pub(super) fn lookup_command(view: &RootView<'_>, key: &str, node: Option<&str>) -> String {
    let environment = path::name(&view.root.dir);
    let is_default = !is_deployed(view.root) || environment == DEFAULT_ENVIRONMENT;
    let environment = (!is_default).then_some(environment);
    let mut command = format!("hiera-ls lookup {}", shell_word(key));
    for (flag, value) in [("--node", node), ("--environment", environment)] {
        if let Some(value) = value {
            let _ = write!(command, " {flag} {}", shell_word(value));
        }
    }
    command
}

/// A word quoted for a shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_:.-/".contains(c);
    let is_special = |c: char| "\"$`\\!".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else if word.contains('\'') && !word.contains(is_special) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
