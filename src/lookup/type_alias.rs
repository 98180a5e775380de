//! Type aliases from the `types/*.pp` files of the environment and its modules
//! (`puppet/pops/loader/loader_paths.rb`).

use super::engine::Engine;
use super::session::Session;
use crate::datatype::{self, Aliases};
use crate::syntax::puppet::without_colons;

/// The aliases that are visible to a lookup.
pub(super) struct VisibleAliases<'a> {
    pub(super) session: Session<'a>,
}

impl Session<'_> {
    /// Whether all types that a type expression uses are visible; false for types of missing
    /// modules.
    #[must_use]
    pub fn is_known_type(&self, text: &str) -> bool {
        let aliases = VisibleAliases { session: *self };
        datatype::parse(text, &aliases).is_ok_and(|read| !read.rests_on_reference())
    }
}

impl<'a> Engine<'a> {
    pub(super) fn type_aliases(&self) -> VisibleAliases<'a> {
        VisibleAliases {
            session: self.session,
        }
    }
}

impl Aliases for VisibleAliases<'_> {
    /// The text of the file that defines `Mod::Name`: `MODULE/types/name.pp`. In the environment
    /// the whole name makes the path (`AbstractPathBasedModuleLoader#find_existing_path`):
    /// `types/environment/name.pp` for `Environment::Name`, `types/name.pp` for `Name`.
    fn source(&self, name: &str) -> Option<String> {
        let name = without_colons(name).to_lowercase();
        let (first, rest) = name.split_once("::").unwrap_or(("environment", &name));
        let legal = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if !legal(first) || !rest.split("::").all(legal) {
            return None;
        }
        let environment = self.session.environment;
        let dir = match first {
            "environment" => environment.dir.clone()?,
            module => Engine::new(self.session, crate::scope::Scope::open()).module_dir(module)?,
        };
        let below = match first {
            "environment" => name.as_str(),
            _ => rest,
        };
        let path = format!("{dir}/types/{}.pp", below.replace("::", "/"));
        self.session.files.kind(&path)?;
        Some(self.session.files.text(&path).ok()?.to_string())
    }
}
