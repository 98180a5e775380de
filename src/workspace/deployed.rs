//! Maps deployed paths to the workspace.
//!
//! A control repository's `hiera.yaml` may name its data by its location on a server
//! (`/etc/puppetlabs/code/environments/%{environment}/hieradata`). In an editor that folder is the
//! one of the same name under the environment's root, even if the machine also has the deployed
//! one. Batch lookups never map.

use std::borrow::Cow;
use std::sync::Arc;

use super::files::Files;
use super::path;
use crate::hierarchy::DataPath;
use crate::interpolation::has_tokens;

/// The folder of environments on a server.
const ENVIRONMENTS: &str = "/environments/";

/// Maps an absolute path onto the environment in `root`: by the user's `(deployed, here)` pairs, or
/// `…/environments/<one segment>/REST` to `ROOT/REST` if the first name of REST exists under the
/// root. `None` if neither applies.
pub fn onto(
    files: &dyn Files,
    at: &str,
    root: &str,
    path_map: &[(Arc<str>, Arc<str>)],
) -> Option<String> {
    by_setting(at, path_map).or_else(|| {
        by_environment(at).find_map(|(_, rest)| {
            let first = rest.split('/').next().unwrap_or_default();
            let stands = files.kind(&path::join(root, first)).is_some();
            stands.then(|| path::join(root, rest))
        })
    })
}

/// Maps a path by the user's pairs, the longest deployed folder first.
pub(super) fn by_setting(at: &str, path_map: &[(Arc<str>, Arc<str>)]) -> Option<String> {
    let (rest, here) = path_map
        .iter()
        .filter_map(|(deployed, here)| Some((path::within(at, deployed)?, here)))
        .min_by_key(|(rest, _)| rest.len())?;
    Some(if rest.is_empty() {
        here.to_string()
    } else {
        path::join(here, rest)
    })
}

/// Maps a path by data directories of a server, whose segments with variables match any name.
pub(super) fn by_pattern(at: &str, pairs: &[(Arc<str>, Arc<str>)]) -> Option<String> {
    pairs.iter().find_map(|(deployed, here)| {
        let mut rest = at;
        for segment in deployed.split('/').skip(1) {
            let (name, behind) = rest
                .strip_prefix('/')?
                .split_at(rest[1..].find('/').unwrap_or(rest.len() - 1));
            let is_open = has_tokens(segment) && !name.is_empty();
            if name != segment && !is_open {
                return None;
            }
            rest = behind;
        }
        Some(format!("{here}{rest}"))
    })
}

/// The ways to read a path as `…/environments/<name>/<rest>`, left to right.
pub(super) fn by_environment(at: &str) -> impl Iterator<Item = (&str, &str)> {
    at.match_indices(ENVIRONMENTS).filter_map(|(found, _)| {
        let (name, rest) = at[found + ENVIRONMENTS.len()..].split_once('/')?;
        (!name.is_empty() && !rest.is_empty()).then_some((name, rest))
    })
}

/// A location with its data directory in the environment, if only its path leads there: the folder
/// `/etc/puppet` and the path `environments/%{environment}/data/common.yaml` read the same file as
/// `/etc/puppet/environments/%{environment}/data` and `common.yaml`.
pub(super) fn below_environment(data: &DataPath) -> Cow<'_, DataPath> {
    let full = match data.path.starts_with('/') {
        true => data.path.to_string(),
        false => format!("{}/{}", data.datadir.trim_end_matches('/'), data.path),
    };
    let split = || {
        if !full.starts_with('/') {
            return None;
        }
        let (_, rest) = by_environment(&full).next()?;
        let (first, path) = rest.split_once('/')?;
        let is_in_path = rest.len() < data.path.len() && !has_tokens(first);
        is_in_path.then(|| (&full[..full.len() - path.len() - 1], path))
    };
    match split() {
        Some((datadir, path)) => Cow::Owned(DataPath {
            datadir: Arc::from(datadir),
            path: Arc::from(path),
            ..data.clone()
        }),
        None => Cow::Borrowed(data),
    }
}
