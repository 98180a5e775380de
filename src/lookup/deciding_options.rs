//! Which of the files that a path may stand for have `lookup_options` that can decide a lookup.
//!
//! The results are kept for one state of the files: the files of all roles are asked for again in the scope of each
//! node's file.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::request::Reads;
use super::session::Session;
use crate::value::KeyHashing;
use crate::workspace::{OptionFact, Paths};

/// Maximum number of keys whose results are kept.
const MAX_KEYS: usize = 4_096;

/// Maximum number of lists of files that are kept for a key. Each has 4 bytes for each file that decides, and the list
/// that was asked about, which is shared.
const MAX_LISTS: usize = 16;

/// The results for the last state of the files.
#[derive(Debug, Default)]
pub(super) struct DecidingFiles(Mutex<KnownDeciding>);

#[derive(Debug, Default)]
struct KnownDeciding {
    /// See [`crate::workspace::Files::stamp`].
    stamp: u64,
    /// By module and keys: lists of files, with those of them that decide.
    of_keys: HashMap<Box<str>, Vec<(Paths, Paths)>, KeyHashing>,
}

impl DecidingFiles {
    /// Those of some files whose `lookup_options`, read for a module or not, may have an entry for a key that was
    /// looked up, or an entry that makes the lookup fail. O(options of the files), once for the keys.
    pub(super) fn among(
        &self,
        session: &Session<'_>,
        files: &Paths,
        module: Option<&str>,
        reads: &Reads,
    ) -> Paths {
        let find = || files.filtered(|file| may_decide(session, file, module, reads));
        let Some(stamp) = session.files.stamp() else {
            return find();
        };
        let mut name = String::from(module.unwrap_or_default());
        for key in &reads.keys {
            name.push('\n');
            name.push_str(key);
        }
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut known = lock();
            if known.stamp != stamp || known.of_keys.len() >= MAX_KEYS {
                known.of_keys.clear();
                known.stamp = stamp;
            }
            let mut lists = known.of_keys.get(&*name).into_iter().flatten();
            if let Some((_, deciding)) = lists.find(|(list, _)| list == files) {
                return deciding.clone();
            }
        }
        let found = find();
        let mut known = lock();
        if known.stamp == stamp {
            let lists = known.of_keys.entry(name.into()).or_default();
            if lists.len() >= MAX_LISTS {
                lists.remove(0);
            }
            lists.push((files.clone(), found.clone()));
        }
        found
    }
}

fn may_decide(session: &Session<'_>, file: &str, module: Option<&str>, reads: &Reads) -> bool {
    let Some(options) = session.files.options_in(file) else {
        return true;
    };
    let is_for = |option: &OptionFact| {
        let name = &option.pattern;
        // The text does not show what such a name or a merge key becomes.
        if name.contains("%{") || **name == *"<<" {
            return true;
        }
        let pattern = name.strip_prefix('^');
        let start = pattern.unwrap_or(name);
        // Puppet refuses a module's options for other modules' keys.
        let is_refused = module.is_some_and(|module| {
            let rest = start.strip_prefix(module);
            !rest.is_some_and(|rest| rest.starts_with("::"))
        });
        if is_refused || pattern.is_none() {
            return is_refused || reads.keys.contains(name);
        }
        // An invalid pattern makes every lookup fail.
        session.configs.pattern(name).map_or(true, |pattern| {
            let mut keys = reads.keys.iter();
            keys.any(|key| pattern.is_match(key).unwrap_or(true))
        })
    };
    options.iter().any(is_for)
}
