//! What names in manifests stand for: class parameters and lookups are keys, the rest classes.

use std::sync::Arc;

use super::named::{Mention, Named};
use super::target::{KeyTarget, steps_of};
use crate::interpolation::{Key, split_key};
use crate::text::TextRange;
use crate::workspace::{CodeFacts, DefinitionKind, LookupFact, LookupKey, Snapshot};

/// The name under the byte at `offset` of a manifest.
pub(super) fn at(code: &CodeFacts, offset: usize) -> Option<Mention> {
    let lookup = code
        .lookups
        .iter()
        .find(|lookup| lookup.place.touches(offset));
    if let Some(lookup) = lookup {
        return in_lookup(lookup, offset);
    }
    let classes = code.definitions.iter();
    let mut classes = classes.filter(|definition| definition.kind == DefinitionKind::Class);
    let found = classes.find_map(|class| {
        if class.place.touches(offset) {
            return Some(Mention {
                named: Named::Class(class.name.clone()),
                range: class.place,
            });
        }
        let mut parameters = class.parameters.iter();
        let parameter = parameters.find(|parameter| parameter.place.touches(offset))?;
        let key = format!("{}::{}", class.name, parameter.name);
        let range = parameter.place;
        Some(Mention {
            named: Named::Key(KeyTarget {
                range,
                ..KeyTarget::of_root(&key)
            }),
            range,
        })
    });
    found.or_else(|| {
        let include = code
            .includes
            .iter()
            .find(|include| include.place.touches(offset))?;
        Some(Mention {
            named: Named::Class(include.class.clone()?),
            range: include.place,
        })
    })
}

fn in_lookup(lookup: &LookupFact, offset: usize) -> Option<Mention> {
    let LookupKey::Literal(key) = &lookup.key else {
        return None;
    };
    let parts = split_key(key).ok()?;
    let here = offset.saturating_sub(lookup.place.start as usize + 1);
    let last = parts.len().checked_sub(1)?;
    let part = parts
        .iter()
        .position(|(_, range)| here <= range.end as usize);
    let part = part.unwrap_or(last);
    let range = part_of(lookup, part)?;
    let parsed = Key::of(key).ok()?;
    let mut steps = steps_of(&parsed);
    steps.truncate(part);
    Some(Mention {
        named: Named::Key(KeyTarget {
            steps,
            range,
            ..KeyTarget::of_root(parsed.root.as_name()?)
        }),
        range,
    })
}

/// Where the parts of a lookup's key up to one of them stand, without quotes.
pub(super) fn part_of(lookup: &LookupFact, part: usize) -> Option<TextRange> {
    let LookupKey::Literal(key) = &lookup.key else {
        return None;
    };
    let parts = split_key(key).ok()?;
    let (from, to) = (parts.first()?.1.start, parts.get(part)?.1.end);
    // With escapes in it, the whole is meant.
    if lookup.place.len() != key.len() + 2 {
        return Some(lookup.place);
    }
    let start = lookup.place.start + 1;
    Some(TextRange {
        start: start + from,
        end: start + to,
    })
}

/// The lookups of a manifest that name a key, or something below it, with the part that names it.
pub(super) fn lookups_of<'c>(
    code: &'c CodeFacts,
    key: &'c KeyTarget,
) -> impl Iterator<Item = (TextRange, &'c LookupFact)> {
    code.lookups.iter().filter_map(|lookup| {
        let LookupKey::Literal(written) = &lookup.key else {
            return None;
        };
        let parsed = Key::of(written).ok()?;
        let is_it =
            parsed.root.as_name() == Some(&*key.root) && steps_of(&parsed).starts_with(&key.steps);
        let range = is_it.then(|| part_of(lookup, key.steps.len()))??;
        Some((range, lookup))
    })
}

/// A class by its name, without `::` before it.
pub(super) fn class(written: &str) -> Arc<str> {
    Arc::from(written.trim_start_matches("::"))
}

/// Whether some manifest defines a class of that name. O(files that define it).
pub(super) fn is_class(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.files_defining(name).any(|file| {
        let code = file.facts().code.as_deref();
        code.is_some_and(|code| code.definition(DefinitionKind::Class, name).is_some())
    })
}
