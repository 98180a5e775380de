//! Finding the names in a folder and below, within limits.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::ignore::Ignore;
use super::read::{identity, target};
use super::scan::ScanProblem;
use crate::workspace::{FileKind, Linked, path};

/// Files and folders that one walk names at most: far beyond any control repository, and a
/// bound where a workspace turns out to be a whole disk.
pub const MOST_FILES: usize = 500_000;

/// Folders inside each other that one walk enters at most.
pub const MOST_DEPTH: usize = 64;

/// Files and folders behind symbolic links out of the workspace that one walk names at most.
const MOST_LINKED: usize = 50_000;

/// How often one real folder is entered by different names; links can otherwise name a tree of
/// folders in exponentially many ways.
const MOST_VISITS: u32 = 4;

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) found: Vec<Found>,
    pub(super) problems: Vec<ScanProblem>,
    pub(super) cancelled: bool,
}

/// One name.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: Arc<str>,
    pub(super) kind: FileKind,
    pub(super) linked: Linked,
    /// Where a linked folder really is.
    pub(super) target: Option<Arc<str>>,
}

/// A folder that waits to be entered.
struct Waiting {
    path: String,
    depth: usize,
    /// Whether a symbolic link led out of the walked folder on the way here.
    outside: bool,
    /// The real folders on the way here.
    chain: Option<Arc<Chain>>,
}

struct Chain {
    identity: (u64, u64),
    above: Option<Arc<Chain>>,
}

impl Chain {
    fn holds(chain: Option<&Arc<Chain>>, identity: (u64, u64)) -> bool {
        std::iter::successors(chain, |link| link.above.as_ref())
            .any(|link| link.identity == identity)
    }
}

/// Names everything below `folder`, which itself is not named. `go_on` is asked once per folder
/// with the number of names so far.
pub(super) fn walk(
    folder: &str,
    ignore: &Ignore,
    go_on: &dyn Fn(usize) -> ControlFlow<()>,
) -> Walk {
    let mut walk = Walk::default();
    let mut visits: HashMap<(u64, u64), u32> = HashMap::new();
    let (mut linked, mut linked_full) = (0, false);
    let mut waiting = Vec::new();
    let real = target(folder).unwrap_or_else(|| Arc::from(folder));
    waiting.push(Waiting {
        path: folder.trim_end_matches('/').to_owned(),
        depth: 0,
        outside: false,
        chain: chained(folder, None),
    });
    while let Some(here) = waiting.pop() {
        if go_on(walk.found.len()).is_break() {
            walk.cancelled = true;
            return walk;
        }
        let shown = if here.path.is_empty() {
            "/"
        } else {
            &here.path
        };
        let entries = match std::fs::read_dir(shown) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound {
                    walk.problem(shown, &error.to_string());
                }
                continue;
            }
        };
        for entry in entries {
            let Ok(entry) = entry else {
                continue;
            };
            let Ok(name) = entry.file_name().into_string() else {
                walk.problem(
                    shown,
                    "holds a name that is not valid UTF-8, which is left out",
                );
                continue;
            };
            let at = format!("{}/{name}", here.path);
            let Ok(own) = entry.file_type() else {
                continue;
            };
            let (kind, is_link) = if own.is_symlink() {
                match std::fs::metadata(&at) {
                    Ok(metadata) if metadata.is_dir() => (FileKind::Directory, Linked::Yes),
                    Ok(metadata) if metadata.is_file() => (FileKind::File, Linked::Yes),
                    // A dangling link, or a link to a pipe or a device.
                    Ok(_) | Err(_) => continue,
                }
            } else if own.is_dir() {
                (FileKind::Directory, Linked::No)
            } else if own.is_file() {
                (FileKind::File, Linked::No)
            } else {
                continue;
            };
            if walk.found.len() >= MOST_FILES {
                walk.problem(
                    folder,
                    &format!("holds more than {MOST_FILES} files; the rest is left out"),
                );
                return walk;
            }
            if here.outside {
                if linked >= MOST_LINKED {
                    if !linked_full {
                        linked_full = true;
                        walk.problem(
                            shown,
                            &format!(
                                "leads out of the workspace to more than {MOST_LINKED} files; \
                                 the rest is left out"
                            ),
                        );
                    }
                    continue;
                }
                linked += 1;
            }
            let mut found = Found {
                path: Arc::from(&*at),
                kind,
                linked: is_link,
                target: None,
            };
            if kind == FileKind::Directory {
                if ignore.skips(&at) {
                    continue;
                }
                let mut outside = here.outside;
                if is_link == Linked::Yes {
                    found.target = target(&at);
                    let Some(leads) = &found.target else {
                        continue;
                    };
                    if path::within(&real, leads).is_some() {
                        walk.problem(&at, "is a link to a folder around it and is not entered");
                        walk.found.push(found);
                        continue;
                    }
                    outside |= path::within(leads, &real).is_none();
                }
                let next = Waiting {
                    depth: here.depth + 1,
                    outside,
                    chain: chained(&at, here.chain.as_ref()),
                    path: at,
                };
                if let Some(reason) = unentered(&next, here.chain.as_ref(), &mut visits) {
                    walk.problem(&next.path, &reason);
                } else {
                    waiting.push(next);
                }
            }
            walk.found.push(found);
        }
    }
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    walk
}

/// Why a folder is not entered, if it is not.
fn unentered(
    next: &Waiting,
    above: Option<&Arc<Chain>>,
    visits: &mut HashMap<(u64, u64), u32>,
) -> Option<String> {
    if next.depth > MOST_DEPTH {
        return Some(format!(
            "lies more than {MOST_DEPTH} folders deep and is not entered"
        ));
    }
    let identity = next.chain.as_ref()?.identity;
    if Chain::holds(above, identity) {
        return Some("is a link to a folder around it and is not entered".to_owned());
    }
    let count = visits.entry(identity).or_default();
    *count += 1;
    (*count > MOST_VISITS)
        .then(|| format!("is the same folder as {MOST_VISITS} others and is not entered again"))
}

fn chained(folder: &str, above: Option<&Arc<Chain>>) -> Option<Arc<Chain>> {
    let identity = identity(&std::fs::metadata(folder).ok()?)?;
    Some(Arc::new(Chain {
        identity,
        above: above.cloned(),
    }))
}

impl Walk {
    fn problem(&mut self, at: &str, message: &str) {
        /// A broken tree has one cause, not thousands.
        const MOST_PROBLEMS: usize = 100;
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(ScanProblem {
                path: Arc::from(at),
                message: message.to_owned(),
            });
        }
    }
}
