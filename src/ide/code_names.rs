//! Names in manifests: class parameters and lookups are keys, others are classes.

use std::sync::Arc;

use super::named::{Mention, Named};
use super::target::KeyTarget;
use super::written_key::WrittenKey;
use crate::syntax::puppet::without_colons;
use crate::text::TextRange;
use crate::workspace::{
    CodeFacts, DefinitionFact, DefinitionKind, LookupFact, LookupKey, Snapshot,
};

/// The name under the byte at `offset` of a manifest.
pub(super) fn at(code: &CodeFacts, offset: usize) -> Option<Mention> {
    let mut lookups = code.lookups.iter();
    if let Some(lookup) = lookups.find(|lookup| lookup.place.touches(offset)) {
        return written(lookup)?.at(offset);
    }
    let is_class = |definition: &&DefinitionFact| definition.kind == DefinitionKind::Class;
    for class in code.definitions.iter().filter(is_class) {
        if class.place.touches(offset) {
            return Some(Mention {
                named: Named::Class(class.name.clone()),
                range: class.place,
            });
        }
        let mut parameters = class.parameters.iter();
        if let Some(parameter) = parameters.find(|parameter| parameter.place.touches(offset)) {
            let key = format!("{}::{}", class.name, parameter.name);
            return Some(Mention::of_key(&key, Vec::new(), parameter.place));
        }
    }
    let mut includes = code.includes.iter();
    let include = includes.find(|include| include.place.touches(offset))?;
    Some(Mention {
        named: Named::Class(include.class.clone()?),
        range: include.place,
    })
}

/// The key of a lookup; `None` if it is computed.
fn written(lookup: &LookupFact) -> Option<WrittenKey<'_>> {
    let LookupKey::Literal(key) = &lookup.key else {
        return None;
    };
    let whole = lookup.place;
    let inside = || TextRange::new(whole.start as usize + 1, whole.end as usize - 1);
    Some(WrittenKey {
        key,
        plain: (whole.len() == key.len() + 2).then(inside),
        whole,
    })
}

/// The lookups of a key or its parts in a manifest, with the range of the key.
pub(crate) fn lookups_of<'c>(
    code: &'c CodeFacts,
    key: &'c KeyTarget,
) -> impl Iterator<Item = (TextRange, &'c LookupFact)> {
    code.lookups.iter().filter_map(|lookup| {
        let place = written(lookup)?.place_of(&key.root, &key.steps)?;
        Some((place, lookup))
    })
}

/// The name of a class without a leading `::`.
pub(super) fn class(written: &str) -> Arc<str> {
    Arc::from(without_colons(written))
}

/// Whether a manifest defines a class. O(files that define the name).
pub(super) fn is_class(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.files_defining(name).any(|file| {
        let code = file.facts().code.as_deref();
        code.is_some_and(|code| code.definition(DefinitionKind::Class, name).is_some())
    })
}
