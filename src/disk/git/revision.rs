//! Resolves the name of a revision to its tree (`gitrevisions`): names of branches, tags and other
//! references, object names, and the suffixes `~n`, `^n`, `^{commit}`.

use gix_hash::{Kind as HashKind, ObjectId};
use gix_object::{CommitRefIter, Kind, TagRefIter};

use super::{GitError, Repository, list_file, object_id};

/// Maximum number of steps through symbolic references and tags of tags.
const MAX_STEPS: usize = 16;

/// Maximum number of generations that `~` goes back.
const MAX_BACK: usize = 1_000_000;

/// The places where a name is looked for, in git's order.
const PLACES: [(&str, &str); 5] = [
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

impl Repository {
    pub(super) fn commit(&self, revision: &str) -> Result<ObjectId, GitError> {
        let unknown =
            |why: &str| GitError::new(format!("revision '{revision}' cannot be read: {why}"));
        if revision.contains("..") {
            return Err(unknown("it is a range"));
        }
        if revision.contains("@{") || revision.contains(':') {
            return Err(unknown("'@{…}' and ':' are not supported"));
        }
        let end = revision.find(['~', '^']).unwrap_or(revision.len());
        let (name, mut rest) = revision.split_at(end);
        let mut id = match self.named(name)? {
            Some(id) => self.peeled(id)?,
            None => {
                return Err(GitError::new(format!(
                    "no revision '{name}' in {}",
                    self.top.display()
                )));
            }
        };
        while let Some(sign) = rest.chars().next() {
            rest = &rest[1..];
            if sign == '^'
                && let Some(after) = rest.strip_prefix('{')
            {
                let (kind, after) = after
                    .split_once('}')
                    .ok_or_else(|| unknown("a brace is not closed"))?;
                if !matches!(kind, "" | "commit") {
                    return Err(unknown("it must be a commit"));
                }
                rest = after;
                continue;
            }
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, after) = rest.split_at(digits);
            let number: usize = match number {
                "" => 1,
                number => number
                    .parse()
                    .map_err(|_| unknown("a number is too large"))?,
            };
            rest = after;
            match sign {
                '~' if number > MAX_BACK => return Err(unknown("it is too far back")),
                '~' => {
                    for _ in 0..number {
                        id = self
                            .parent(&id, 1)?
                            .ok_or_else(|| unknown("no such parent"))?;
                    }
                }
                '^' => {
                    let parent = self.parent(&id, number)?;
                    id = parent.ok_or_else(|| unknown("no such parent"))?;
                }
                _ => return Err(unknown("it is not a revision")),
            }
        }
        Ok(id)
    }

    pub(super) fn tree_of(&self, commit: &ObjectId) -> Result<ObjectId, GitError> {
        let object = self.objects.read(commit)?;
        let tree = CommitRefIter::from_bytes(&object.bytes, HashKind::Sha1).tree_id();
        tree.map_err(|_| GitError::new(format!("commit {commit} has no tree")))
    }

    /// The `number`th parent of a commit, from 1; the commit itself for 0.
    fn parent(&self, commit: &ObjectId, number: usize) -> Result<Option<ObjectId>, GitError> {
        let Some(before) = number.checked_sub(1) else {
            return Ok(Some(*commit));
        };
        let object = self.objects.read(commit)?;
        let commit = CommitRefIter::from_bytes(&object.bytes, HashKind::Sha1);
        Ok(commit.parent_ids().nth(before))
    }

    /// The commit that an object is or, for a tag, points to.
    fn peeled(&self, id: ObjectId) -> Result<ObjectId, GitError> {
        let mut id = id;
        for _ in 0..MAX_STEPS {
            let object = self.objects.read(&id)?;
            let next = match object.kind {
                Kind::Commit => return Ok(id),
                Kind::Tag => TagRefIter::from_bytes(&object.bytes, HashKind::Sha1)
                    .target_id()
                    .ok(),
                Kind::Tree | Kind::Blob => None,
            };
            id = next.ok_or_else(|| GitError::new(format!("object {id} is not a commit")))?;
        }
        Err(GitError::new(format!(
            "tag {id} does not point to a commit"
        )))
    }

    /// The object of a name: a reference, else a full or abbreviated object name.
    fn named(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let name = match name {
            "@" => "HEAD",
            name => name,
        };
        if let Some(id) = object_id(name) {
            return Ok(Some(id));
        }
        if name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(GitError::new("SHA-256 repositories are not supported"));
        }
        let is_special = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        if (is_special(name) || name.starts_with("refs/"))
            && let Some(id) = self.reference(name)?
        {
            return Ok(Some(id));
        }
        for (before, behind) in PLACES {
            if let Some(id) = self.reference(&format!("{before}{name}{behind}"))? {
                return Ok(Some(id));
            }
        }
        self.abbreviated(name)
    }

    /// The only object with this prefix; of several the only commit.
    fn abbreviated(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let is_hex = name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || !(4..40).contains(&name.len()) {
            return Ok(None);
        }
        let mut found = self.objects.with_prefix(&name.to_ascii_lowercase())?;
        if found.len() > 1 {
            found.retain(|id| self.peeled(*id).is_ok());
        }
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            several => Err(GitError::new(format!(
                "revision '{name}' is ambiguous: {} commits start with it",
                several.len()
            ))),
        }
    }

    /// The object of a full reference name, with symbolic references followed.
    fn reference(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let mut name = name.to_string();
        for _ in 0..MAX_STEPS {
            if !is_reference(&name) {
                return Ok(None);
            }
            let own = list_file(&self.git_dir.join(&name))?;
            let text = match own {
                Some(text) => text,
                None => match list_file(&self.common_dir.join(&name))? {
                    Some(text) => text,
                    None => return self.packed(&name),
                },
            };
            let first = text.lines().next().unwrap_or_default();
            if let Some(target) = first.strip_prefix("ref: ") {
                name = target.trim().to_string();
                continue;
            }
            let word = first.split_whitespace().next().unwrap_or_default();
            if word.len() == 64 {
                return Err(GitError::new("SHA-256 repositories are not supported"));
            }
            let id = object_id(word);
            return match id {
                Some(id) => Ok(Some(id)),
                None => Err(GitError::new(format!("reference '{name}' is broken"))),
            };
        }
        Err(GitError::new(format!(
            "reference '{name}' points back to itself"
        )))
    }

    fn packed(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let text = list_file(&self.common_dir.join("packed-refs"))?.unwrap_or_default();
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(_, known)| *known == name);
        Ok(found.and_then(|(id, _)| object_id(id)))
    }
}

/// Whether a name can be a reference's: it is used as a path.
fn is_reference(name: &str) -> bool {
    name.split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"))
        && !name.contains(['\\', ' ', '?', '*', '['])
        && !name.chars().any(char::is_control)
}
