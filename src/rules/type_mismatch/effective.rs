//! The effective value of a key, if it is not just the value in one file: merged, interpolated, or
//! overridden for some nodes.

use std::sync::Arc;

use super::{Findings, Related, counts, declared, is_encrypted, is_given, leaf, sentence};
use crate::analysis::{
    ClassParameter, KeyAnswer, LevelValue, RootView, ScopeView, quoted, split_key,
};
use crate::datatype::{self, Mismatch, MismatchKind, Step, Type};
use crate::interpolation::{Method, TokenKind, tokens};
use crate::lookup::{LookupError, Reach, Request};
use crate::rules::{FileContext, Reader};
use crate::scope::Scope;
use crate::text::TextRange;
use crate::value::{Missing, Opaque, Value};
use crate::workspace::{File, KeyFact};

/// Maximum number of files with a merged key; with more, only the nodes that read this file are checked.
const MAX_FILES: usize = 64;

/// A root that reads the file, with lookups for the nodes that read it.
pub(super) struct ReaderLookups<'c> {
    pub(super) at: &'c FileContext<'c>,
    pub(super) reader: &'c Reader<'c>,
    pub(super) view: &'c RootView<'c>,
}

impl<'c> ReaderLookups<'c> {
    pub(super) fn new(
        at: &'c FileContext<'c>,
        reader: &'c Reader<'c>,
        view: &'c RootView<'c>,
    ) -> ReaderLookups<'c> {
        ReaderLookups { at, reader, view }
    }

    /// Whether nodes that read the file certainly get this value.
    pub(super) fn is_effective(&self, key: &str, value: &Value) -> bool {
        self.at.in_first_scope(self.reader, |scoped| {
            let found = scoped.key_answer(key);
            let result = found.answer.result.as_ref();
            result.is_ok_and(|result| result == value) && found.is_sure(&self.view.analysis)
        })
    }

    /// The value of a top-level key for the nodes that read the file, as far as its path tells.
    fn value(&self, key: &str) -> Result<Value, LookupError> {
        let request = Request::key(&quoted(key));
        let value = |scoped: &mut ScopeView<'_>| scoped.value(&request);
        self.at.in_first_scope(self.reader, value)
    }
}

/// A key of a file, and the type of the parameter that its effective value is compared with.
pub(super) struct EffectiveKey<'c> {
    pub(super) lookups: &'c ReaderLookups<'c>,
    pub(super) key: &'c KeyFact,
    pub(super) expected: Arc<Type>,
}

/// A mismatch in the file.
pub(super) struct WrongPart {
    pub(super) range: TextRange,
    pub(super) message: String,
    pub(super) related: Vec<Related>,
}

impl<'c> EffectiveKey<'c> {
    /// `None` if the key sets no parameter with a known type.
    pub(super) fn of(lookups: &'c ReaderLookups<'c>, key: &'c KeyFact) -> Option<EffectiveKey<'c>> {
        let checker = lookups.at.checker;
        let expected = checker.type_of_key(lookups.reader.root, &key.name)?;
        Some(EffectiveKey {
            lookups,
            key,
            expected,
        })
    }

    /// Whether a level outside the workspace may have the key.
    pub(super) fn has_outside(&self) -> bool {
        self.lookups
            .at
            .checker
            .has_outside(self.lookups.reader.root, &self.key.name)
    }

    /// The parameter that the key sets.
    fn parameter(&self) -> Option<ClassParameter<'c>> {
        let analysis = self.lookups.at.checker.analysis();
        analysis.autoloaded_parameter(self.lookups.reader.root.root, &self.key.name)
    }

    /// Reports the mismatches of the file's own value if the nodes that read the file certainly get
    /// it, and returns their number.
    pub(super) fn as_written(&self, value: &Value, findings: &mut Findings<'_>) -> usize {
        let EffectiveKey { lookups, key, .. } = self;
        let at = lookups.at;
        let Err(mismatches) = datatype::check(&self.expected, value) else {
            return 0;
        };
        let (Some(parameter), Some(reach)) =
            (self.parameter(), self.lookups.reader.reached().first())
        else {
            return 0;
        };
        // This is last, as a lookup costs more than a comparison of types.
        if !counts(parameter, value)
            || at.checker.may_miss_variable(self.class(), reach)
            || !lookups.is_effective(&key.name, value)
            || is_given(at, self.lookups.reader.root.root, parameter)
        {
            return 0;
        }
        let Some((_, node)) = at.top_level(&key.name) else {
            return 0;
        };
        let is_known = |m: &&Mismatch| !matches!(m.kind, MismatchKind::Unresolved(_));
        let mut count = 0;
        for mismatch in (&mismatches).into_iter().filter(is_known) {
            let leaf = leaf(at.tree(), node, &mismatch.path);
            let range = at.tree().node(leaf).range;
            // A null may have no text.
            let range = if range.is_empty() { key.key } else { range };
            let finding = self.report(range, sentence(parameter, mismatch), findings);
            finding.related.push(declared(parameter));
            count += 1;
        }
        count
    }

    /// Whether the value fits the type as it is written: most strings with tokens are for
    /// parameters that accept any string.
    pub(super) fn fits_as_written(&self) -> bool {
        let own = self.lookups.at.loaded().ok();
        own.and_then(|data| data.get(&self.key.name))
            .is_none_or(|own| {
                let is_another = own.as_str().is_some_and(has_alias);
                !is_another && datatype::check(&self.expected, own).is_ok()
            })
    }

    pub(super) fn class(&self) -> &'c str {
        split_key(&self.key.name).map_or("", |(class, _)| class)
    }

    /// Reports mismatches of merged, converted or interpolated values that the file contributes to:
    /// for nodes that read the file, and for those that read another file with the key. Returns
    /// whether all nodes that read the file certainly get the same value.
    pub(super) fn for_readers(
        &self,
        (is_merged, is_converted): (bool, bool),
        findings: &mut Findings<'_>,
    ) -> bool {
        let fits_as_written = !is_converted && self.fits_as_written();
        if !is_merged && fits_as_written {
            return true;
        }
        let analysis = self.lookups.at.checker.analysis();
        let is_for_readers = self.is_for_readers(is_merged);
        if is_for_readers && (fits_as_written || is_converted) && self.fits_for_readers() {
            return true;
        }
        let mut is_same = false;
        for (scope, other) in self.scopes(is_for_readers) {
            let ReaderLookups { at, reader, view } = self.lookups;
            let found = match other {
                None => at.in_first_scope(reader, |scoped| scoped.key_answer(&self.key.name)),
                Some(_) => view.key_answer(&self.key.name, &scope),
            };
            let result = found.answer.result.as_ref();
            is_same |= other.is_none()
                && result.is_ok_and(|value| !value.has_opaque())
                && found.is_sure(&analysis);
            for part in self.wrong_parts(&found, other) {
                if !findings.has(part.range) {
                    let finding = self.report(part.range, part.message, findings);
                    finding.related = part.related;
                }
            }
        }
        is_same
    }

    /// Whether only the nodes that read the file are checked.
    fn is_for_readers(&self, is_merged: bool) -> bool {
        !is_merged || self.lookups.at.snapshot().count_with(&self.key.name) > MAX_FILES
    }

    /// Whether the effective value for the nodes that read the file fits, or if Puppet fails there.
    fn fits_for_readers(&self) -> bool {
        let found = self.lookups.value(&self.key.name);
        let known = found.as_ref().ok().and_then(with_texts);
        known.is_none_or(|value| datatype::check(&self.expected, &value).is_ok())
    }

    /// The scopes of nodes that read the file, and of those that read another file with the key.
    fn scopes(&self, is_for_readers: bool) -> Vec<(Scope, Option<&'c Arc<File>>)> {
        let EffectiveKey { lookups, key, .. } = self;
        let ReaderLookups { at, view, .. } = lookups;
        let snapshot = at.snapshot();
        let is_seen = |reach: &&Reach| !at.checker.may_miss_variable(self.class(), reach);
        let mut scopes: Vec<(Scope, Option<&Arc<File>>)> = Vec::new();
        if is_for_readers {
            let reached = self.lookups.reader.reached().first().filter(is_seen);
            scopes.extend(reached.map(|reach| (reach.scope(), None)));
            return scopes;
        }
        let wrong = at
            .checker
            .wrong_for(self.lookups.reader.root.root, &key.name, || {
                let holders = snapshot.iter_files_with(&key.name);
                let wrong = holders.filter(|other| {
                    let reaches = view.reach(other.path());
                    let request = Request::key(&quoted(&key.name));
                    reaches.first().is_some_and(|reach| {
                        let answer = view.session().lookup(&reach.scope(), &request);
                        let value = answer.result.as_ref();
                        value.is_ok_and(|value| datatype::check(&self.expected, value).is_err())
                    })
                });
                wrong.map(|file| Arc::clone(file.path())).collect()
            });
        for other in wrong.iter().filter_map(|other| snapshot.file(other)) {
            let reaches = view.reach(other.path());
            let scope = reaches.first().filter(is_seen).map(Reach::scope);
            let of_others = (other.path() != at.file.path()).then_some(other);
            scopes.extend(scope.map(|scope| (scope, of_others)));
        }
        // Mismatches for all nodes that read the file come first.
        scopes.sort_by_key(|(_, other)| other.is_some());
        scopes
    }

    /// The certain mismatches of a value that the file contributes to, for the nodes that read it
    /// or another file.
    pub(super) fn wrong_parts(
        &self,
        found: &KeyAnswer,
        other: Option<&Arc<File>>,
    ) -> Vec<WrongPart> {
        let EffectiveKey { lookups, key, .. } = self;
        let ReaderLookups { at, view, .. } = lookups;
        let analysis = at.checker.analysis();
        let Ok(value) = &found.answer.result else {
            return Vec::new();
        };
        let options = found.options.as_ref();
        let is_converted = options.is_some_and(|it| it.value.get("convert_to").is_some());
        let gives = |source: &LevelValue| self.gives(source);
        let Some(own) = found.sources.iter().position(gives) else {
            return Vec::new();
        };
        // What is not known is not converted.
        let written = if is_converted && value.has_opaque() {
            None
        } else {
            with_texts(value)
        };
        let Some(Err(mismatches)) = written.map(|it| datatype::check(&self.expected, &it)) else {
            return Vec::new();
        };
        let Some(parameter) = self.parameter() else {
            return Vec::new();
        };
        let is_judged = counts(parameter, value) && !is_encrypted(value);
        // Keys without data here may be set in a file that is not here.
        let mut read = found.answer.reads.keys.iter();
        let is_unset = |key: &Arc<str>| at.snapshot().count_with(key) == 0;
        let may_be_elsewhere = view.lacks_file(&key.name) && read.any(is_unset);
        if !is_judged
            || may_be_elsewhere
            || !found.is_sure(&analysis)
            || is_given(at, self.lookups.reader.root.root, parameter)
        {
            return Vec::new();
        }
        let mut parts = Vec::new();
        for mismatch in &mismatches {
            if matches!(mismatch.kind, MismatchKind::Unresolved(_))
                || value.has_opaque() && !is_of_any_text(value, mismatch)
            {
                continue;
            }
            // A converted value may have other parts than the written one.
            let path_in = |source: &LevelValue| {
                if is_converted {
                    Some(Vec::new())
                } else {
                    own_path(&source.value, value, &mismatch.path)
                }
            };
            // The highest level that has the part provides it.
            let Some(path) = path_in(&found.sources[own]) else {
                continue;
            };
            if found.sources[..own].iter().any(|it| path_in(it).is_some()) {
                continue;
            }
            let Some((_, node)) = at.top_level(&key.name) else {
                continue;
            };
            let range = at.tree().node(leaf(at.tree(), node, &path)).range;
            let mut related = vec![declared(parameter)];
            let readers = other.map(|it| (it, "this is for the nodes that read this file"));
            let others = found.sources.iter().filter(|source| !gives(source));
            let others = others.filter_map(|source| at.snapshot().file(source.path.as_deref()?));
            let merged = others.map(|it| (it, "it is merged with this value"));
            for (file, message) in readers.into_iter().chain(merged) {
                related.extend(self.place_in(file, &related, message));
            }
            parts.push(WrongPart {
                // A null may have no text.
                range: if range.is_empty() { key.key } else { range },
                message: sentence(parameter, mismatch),
                related,
            });
        }
        parts
    }

    /// Whether a value of a level is from the file.
    pub(super) fn gives(&self, source: &LevelValue) -> bool {
        source.path.as_deref() == Some(self.lookups.at.file.path())
    }

    /// The key in another file, unless that file is already among the related places.
    fn place_in(&self, file: &File, known: &[Related], message: &str) -> Option<Related> {
        let fact = file.facts().key(&self.key.name)?;
        let is_new = known.iter().all(|known| known.path != *file.path());
        (is_new && file.path() != self.lookups.at.file.path()).then(|| Related {
            path: Arc::clone(file.path()),
            range: fact.key,
            message: message.to_owned(),
        })
    }
}

/// Whether a text calls `alias`, which can give a value of any type.
fn has_alias(text: &str) -> bool {
    tokens(text).iter().any(|token| {
        matches!(
            token.kind,
            TokenKind::Call {
                method: Method::Alias,
                ..
            }
        )
    })
}

/// The value with some text for each string with unknown variables, which Puppet turns into a
/// string in any case, except with `alias`. `None` if anything else is unknown.
fn with_texts(value: &Value) -> Option<Value> {
    if let Some(elements) = value.as_array() {
        let elements: Option<Vec<Value>> = elements.iter().map(with_texts).collect();
        return Some(Value::array(elements?));
    }
    if let Some(hash) = value.as_hash() {
        let mut known = hash.clone();
        for (key, value) in &mut known {
            *value = with_texts(value).filter(|_| !key.has_opaque())?;
        }
        return Some(Value::from(known));
    }
    let Value::Opaque(opaque) = value else {
        return (!value.has_opaque()).then(|| value.clone());
    };
    match &**opaque {
        Opaque::Unknown {
            text,
            because: Missing::Variable(_),
        } if !has_alias(text) => Some(Value::from(text.as_str())),
        Opaque::Unknown { .. } | Opaque::Secret { .. } => None,
    }
}

/// Whether a mismatch is at an unknown string, and no string would fit.
fn is_of_any_text(value: &Value, mismatch: &Mismatch) -> bool {
    let MismatchKind::Type { expected, .. } = &mismatch.kind else {
        return false;
    };
    let part = mismatch
        .path
        .iter()
        .try_fold(value, |value, step| match step {
            Step::Entry(key) => value.get(key),
            Step::Index(at) => value.as_array()?.get(*at),
            Step::Parameter(_) | Step::Alias(_) => Some(value),
            Step::EntryKey(_) | Step::Variant(_) | Step::Signature(_) => None,
        });
    part.is_some_and(|part| matches!(part, Value::Opaque(_))) && expected.takes_no_text()
}

/// The path to a part of the merged value within the value of one level; `None` if the level does not have it.
fn own_path(own: &Value, merged: &Value, path: &[Step]) -> Option<Vec<Step>> {
    let (mut own, mut merged) = (own, merged);
    let mut found = Vec::with_capacity(path.len());
    for step in path {
        match step {
            Step::Entry(name) => {
                (own, merged) = (own.get(name)?, merged.get(name)?);
                found.push(step.clone());
            }
            Step::EntryKey(name) => {
                own.get(name)?;
                found.push(step.clone());
                break;
            }
            Step::Index(at) => {
                merged = merged.as_array()?.get(*at)?;
                let elements = own.as_array()?;
                let at = elements.iter().position(|element| element == merged)?;
                own = &elements[at];
                found.push(Step::Index(at));
            }
            Step::Parameter(_) | Step::Variant(_) | Step::Signature(_) | Step::Alias(_) => {}
        }
    }
    Some(found)
}
