//! Lists everything below a folder, within limits.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::failure::failure;
use super::ignore::Ignore;
use super::native::native;
use super::read::{identity, leads_to, lost_from, target};
use super::scan::ScanProblem;
use super::system;
use crate::workspace::{FileKind, Linked, Lost, path};

/// Maximum number of files and folders in one walk: far beyond any control repository, and a bound
/// if a workspace turns out to be a whole disk.
pub const MAX_FILES: usize = 500_000;

/// Maximum nesting of folders in one walk.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of files and folders behind symbolic links out of the workspace in one walk.
const MAX_LINKED: usize = 50_000;

/// Maximum number of times that one real folder is entered by different names; links can otherwise
/// name a tree of folders in exponentially many ways.
const MAX_VISITS: u32 = 4;

#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) found: Vec<WalkEntry>,
    pub(super) problems: Vec<ScanProblem>,
    pub(super) cancelled: bool,
}

#[derive(Clone, Debug)]
pub(super) struct WalkEntry {
    pub(super) path: Arc<str>,
    /// The kind of the entry, or where a broken symbolic link leads.
    pub(super) kind: Result<FileKind, Lost>,
    pub(super) linked: Linked,
    /// The real path of a linked folder.
    pub(super) target: Option<Arc<str>>,
}

/// A folder in the queue.
struct Waiting {
    path: String,
    depth: usize,
    /// Whether a symbolic link on the way here led out of the walked folder.
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

struct WalkFolders<'w> {
    ignore: &'w Ignore,
    folder: &'w str,
    /// The real path of the walked folder.
    real: Arc<str>,
    /// How often each real folder was entered.
    visits: HashMap<(u64, u64), u32>,
    waiting: Vec<Waiting>,
}

impl WalkFolders<'_> {
    /// Queues a folder in `here`, unless there is a reason to skip it. Returns the target of a
    /// symbolic link; `None` for a folder that is not listed either.
    fn enter(
        &mut self,
        here: &Waiting,
        at: String,
        is_link: &Linked,
        walk: &mut Walk,
    ) -> Option<Option<Arc<str>>> {
        if self.ignore.skips_in(&at, self.folder) {
            return None;
        }
        let mut outside = here.outside;
        let mut leads = None;
        if *is_link != Linked::No {
            let behind = target(&at)?;
            if path::within(&self.real, &behind).is_some() {
                walk.problem(&at, "is a link to a folder around it and is skipped");
                return Some(Some(behind));
            }
            outside |= path::within(&behind, &self.real).is_none();
            leads = Some(behind);
        }
        let next = Waiting {
            depth: here.depth + 1,
            outside,
            chain: chained(&at, here.chain.as_ref()),
            path: at,
        };
        match unentered(&next, here.chain.as_ref(), &mut self.visits) {
            Some(reason) => walk.problem(&next.path, &reason),
            None => self.waiting.push(next),
        }
        Some(leads)
    }
}

/// The kind of an entry of the walked `folder`, links followed; `None` if it is neither file nor
/// folder.
fn kind_at(
    entry: &system::DirEntry,
    at: &str,
    (folder, ignore): (&str, &Ignore),
) -> Option<(Result<FileKind, Lost>, Linked)> {
    let own = entry.file_type().ok()?;
    if own.is_symlink() && ignore.loses(at, folder) {
        Some((Err(Lost::Outside), Linked::To(None)))
    } else if own.is_symlink() {
        let kind = match system::metadata(&*native(at)) {
            Ok(metadata) => Ok(super::read::kind_of(&metadata)?),
            Err(_) => Err(lost_from(at, folder)),
        };
        Some((kind, Linked::To(leads_to(at))))
    } else if own.is_dir() {
        Some((Ok(FileKind::Directory), Linked::No))
    } else {
        let is_file = own.is_file();
        is_file.then_some((Ok(FileKind::File), Linked::No))
    }
}

/// Lists everything below `folder`, without the folder itself. `go_on` is called once per folder
/// with the number of entries so far.
pub(super) fn walk(
    folder: &str,
    ignore: &Ignore,
    go_on: &dyn Fn(usize) -> ControlFlow<()>,
) -> Walk {
    let mut walk = Walk::default();
    let mut linked = 0;
    let mut folders = WalkFolders {
        ignore,
        folder: folder.trim_end_matches('/'),
        real: target(folder).unwrap_or_else(|| Arc::from(folder)),
        visits: HashMap::new(),
        waiting: Vec::new(),
    };
    folders.waiting.push(Waiting {
        path: folder.trim_end_matches('/').to_owned(),
        depth: 0,
        outside: false,
        chain: chained(folder, None),
    });
    while let Some(here) = folders.waiting.pop() {
        if go_on(walk.found.len()).is_break() {
            walk.cancelled = true;
            return walk;
        }
        let shown = if here.path.is_empty() {
            "/"
        } else {
            &here.path
        };
        let entries = match system::read_dir(&*native(shown)) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound {
                    walk.problem(shown, &failure(&error));
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
            let Some((kind, is_link)) = kind_at(&entry, &at, (folder, ignore)) else {
                continue;
            };
            if is_link != Linked::No && ignore.skips_link(&at, folders.folder) {
                continue;
            }
            if walk.found.len() >= MAX_FILES {
                walk.problem(
                    folder,
                    &format!("holds more than {MAX_FILES} files; the rest is left out"),
                );
                return walk;
            }
            if here.outside {
                linked += 1;
                if linked == MAX_LINKED + 1 {
                    let message = format!(
                        "links to more than {MAX_LINKED} files outside the workspace; the rest is left out"
                    );
                    walk.problem(shown, &message);
                }
                if linked > MAX_LINKED {
                    continue;
                }
            }
            let mut found = WalkEntry {
                path: Arc::from(&*at),
                kind,
                linked: is_link.clone(),
                target: None,
            };
            if kind == Ok(FileKind::Directory) {
                match folders.enter(&here, at, &is_link, &mut walk) {
                    Some(leads) => found.target = leads,
                    None => continue,
                }
            }
            walk.found.push(found);
        }
    }
    walk.found.sort_by(|a, b| a.path.cmp(&b.path));
    walk
}

/// Why a folder is skipped, if it is.
fn unentered(
    next: &Waiting,
    above: Option<&Arc<Chain>>,
    visits: &mut HashMap<(u64, u64), u32>,
) -> Option<String> {
    if next.depth > MAX_DEPTH {
        return Some(format!(
            "is more than {MAX_DEPTH} folders deep and is skipped"
        ));
    }
    let identity = next.chain.as_ref()?.identity;
    if Chain::holds(above, identity) {
        return Some("is a link to a folder around it and is skipped".to_owned());
    }
    let count = visits.entry(identity).or_default();
    *count += 1;
    (*count > MAX_VISITS)
        .then(|| format!("is the same folder as {MAX_VISITS} others and is skipped"))
}

fn chained(folder: &str, above: Option<&Arc<Chain>>) -> Option<Arc<Chain>> {
    let identity = identity(&system::metadata(&*native(folder)).ok()?)?;
    Some(Arc::new(Chain {
        identity,
        above: above.cloned(),
    }))
}

impl Walk {
    fn problem(&mut self, at: &str, message: &str) {
        /// A broken tree has one cause, not thousands.
        const MAX_PROBLEMS: usize = 100;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(ScanProblem {
                path: Arc::from(at),
                message: message.to_owned(),
            });
        }
    }
}
