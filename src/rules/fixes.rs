//! Which fixes can be applied together: they change neither each other's text nor entries of other
//! files that another fix depends on, and Puppet still loads the file as well as before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::context::FileContext;
use super::finding::{Finding, Fix, NewKey, Rest, Safety, Severity};
use crate::syntax::puppet::{self, Dialect};
use crate::syntax::{NodeId, Tree};
use crate::text::{TextEdit, TextRange};
use crate::workspace::{File, Format, Snapshot, load};

/// Fixes of one file that are applied together.
#[derive(Clone, Debug)]
pub struct Made {
    /// The file's text after the fixes.
    pub text: String,
    /// Their edits in text order.
    pub edits: Vec<TextEdit>,
    /// The findings that they should remove.
    pub removed: Vec<Removed>,
    /// Whether Puppet refused the file before.
    pub was_refused: bool,
}

/// A finding that a fix should remove.
#[derive(Clone, Debug)]
pub struct Removed {
    /// The finding before the fix.
    pub finding: FindingIdentity,
    /// Where it would start after the fix; `None` if its text is removed.
    after: Option<TextRange>,
}

/// The identity of a finding: its code, message and start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindingIdentity {
    code: &'static str,
    message: String,
    start: u32,
}

/// A finding and one of its fixes.
type Chosen<'a> = (&'a Finding, &'a Fix);

impl FindingIdentity {
    /// The identity of a finding.
    #[must_use]
    pub fn of(finding: &Finding) -> FindingIdentity {
        FindingIdentity {
            code: finding.code,
            message: finding.message.clone(),
            start: finding.range.start,
        }
    }

    /// Whether it identifies this finding.
    #[must_use]
    pub fn is(&self, finding: &Finding) -> bool {
        self.start == finding.range.start
            && self.code == finding.code
            && self.message == finding.message
    }

    /// The same finding after edits of its file; `None` if its text is removed.
    #[must_use]
    pub fn after(mut self, edits: &[TextEdit]) -> Option<FindingIdentity> {
        self.start = place_after(edits, self.start)?.end;
        Some(self)
    }
}

impl Removed {
    /// Whether the finding is still in its place after the fix.
    #[must_use]
    pub fn is_still_among(&self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| {
            self.after
                .is_some_and(|after| after.touches(finding.range.start as usize))
                && finding.code == self.finding.code
                && finding.message == self.finding.message
        })
    }
}

/// The fixes of several files that can be applied together, by path; at most `at_once` in all.
/// Fixes that depend on other files are only applied if there are no others.
#[must_use]
pub fn fixes_together(
    snapshot: &Snapshot,
    files: &[(Arc<str>, Vec<Finding>)],
    most: Safety,
    at_once: usize,
) -> BTreeMap<Arc<str>, Made> {
    for stands_alone in [true, false] {
        let mut choice = Choice::new(snapshot, most);
        for (_, findings) in files {
            choice.add(findings, |fix| fix.rests_on.is_empty() == stands_alone);
        }
        let mut left = at_once;
        let mut all = BTreeMap::new();
        for (path, chosen) in choice.chosen {
            let file = snapshot.file(path).filter(|_| left > 0);
            if let Some(made) = file.and_then(|file| made(file, &chosen, left)) {
                left = left.saturating_sub(made.removed.len());
                all.insert(Arc::clone(path), made);
            }
        }
        if !all.is_empty() {
            return all;
        }
    }
    BTreeMap::new()
}

/// Chooses the first allowed fix of each finding; of two conflicting fixes, the earlier.
struct Choice<'a> {
    snapshot: &'a Snapshot,
    most: Safety,
    chosen: BTreeMap<&'a Arc<str>, Vec<Chosen<'a>>>,
    rests: HashMap<&'a Arc<str>, BTreeSet<TextRange>>,
}

impl<'a> Choice<'a> {
    fn new(snapshot: &'a Snapshot, most: Safety) -> Choice<'a> {
        Choice {
            snapshot,
            most,
            chosen: BTreeMap::new(),
            rests: HashMap::new(),
        }
    }

    fn add(&mut self, findings: &'a [Finding], is_next: impl Fn(&Fix) -> bool) {
        for finding in findings {
            let mut fixes = finding.fixes.iter();
            let wanted =
                fixes.find(|fix| fix.safety == Safety::Safe || self.most == Safety::Unsafe);
            let Some(fix) = wanted.filter(|fix| is_next(fix)) else {
                continue;
            };
            if self.is_free(finding, fix) {
                for rest in &fix.rests_on {
                    let range = self.range_of(rest);
                    self.rests.entry(&rest.path).or_default().extend(range);
                }
                let chosen = self.chosen.entry(&finding.path).or_default();
                chosen.push((finding, fix));
            }
        }
    }

    /// Whether a fix has no conflict with chosen fixes: it neither touches their edits or the
    /// entries that they depend on, nor depends on an edited entry.
    fn is_free(&self, finding: &Finding, fix: &Fix) -> bool {
        let is_edited = |path: &Arc<str>, range: TextRange| {
            let mut chosen = self.chosen.get(path).into_iter().flatten();
            chosen.any(|(_, other)| {
                other
                    .edits
                    .iter()
                    .any(|edit| overlap_or_touch(edit.range, range))
            })
        };
        let is_rested_on = |range: TextRange| {
            let mut rests = self.rests.get(&finding.path).into_iter().flatten();
            rests.any(|rest| overlap_or_touch(*rest, range))
        };
        let mut edits = fix.edits.iter().map(|edit| edit.range);
        let mut rests = fix.rests_on.iter();
        !edits.any(|range| is_edited(&finding.path, range) || is_rested_on(range))
            && !rests.any(|rest| {
                let range = self.range_of(rest);
                range.is_some_and(|range| is_edited(&rest.path, range))
            })
    }

    /// The range of an entry that a fix depends on.
    fn range_of(&self, rest: &Rest) -> Option<TextRange> {
        let file = self.snapshot.file(&rest.path)?;
        let key = file.facts().key(&rest.key)?;
        Some(key.key.cover(key.value))
    }
}

/// Whether two ranges overlap or touch.
fn overlap_or_touch(one: TextRange, other: TextRange) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// What Puppet loads from a file, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LoadedAs {
    Refused,
    Other,
    /// What data has to be; a manifest that Puppet accepts counts as one.
    Hash,
}

/// Applies at most `most` of the chosen fixes of one file, without those that make Puppet refuse it
/// or load no hash any more. In a refused file, only errors are fixed.
fn made(file: &File, chosen: &[Chosen<'_>], most: usize) -> Option<Made> {
    let format = file.format().unwrap_or(Format::Yaml);
    let is_code = file.facts().code.is_some();
    let content = |text: &str| {
        if is_code {
            let problems = puppet::parse(text, Dialect::Manifest).problems;
            return if problems.is_empty() {
                LoadedAs::Hash
            } else {
                LoadedAs::Refused
            };
        }
        match load(text.as_bytes(), format).loaded {
            Ok(value) if value.as_hash().is_some() => LoadedAs::Hash,
            Ok(_) => LoadedAs::Other,
            Err(_) => LoadedAs::Refused,
        }
    };
    let before = content(file.text());
    let after = |chosen: &[Chosen<'_>]| {
        let edits = chosen.iter().flat_map(|(_, fix)| fix.edits.iter().cloned());
        let mut edits: Vec<TextEdit> = edits.collect();
        edits.sort_by_key(|edit| edit.range);
        Some((TextEdit::apply(&edits, file.text())?, edits))
    };
    let is_good =
        |chosen: &[Chosen<'_>]| after(chosen).is_some_and(|(text, _)| content(&text) >= before);
    let is_loaded = before != LoadedAs::Refused;
    let may_be_made = |(finding, _): &Chosen<'_>| is_loaded || finding.severity == Severity::Error;
    let mut kept: Vec<Chosen<'_>> = chosen.iter().copied().filter(may_be_made).collect();
    if is_loaded && !is_good(&kept) {
        let mut good: Vec<Chosen<'_>> = Vec::new();
        for one in kept {
            good.push(one);
            if !is_good(&good) {
                good.pop();
            }
        }
        kept = good;
    }
    kept.truncate(most);
    let (text, edits) = after(&kept)?;
    if text == **file.text() {
        return None;
    }
    let removed = kept.iter().map(|(finding, _)| Removed {
        finding: FindingIdentity::of(finding),
        after: place_after(&edits, finding.range.start),
    });
    Some(Made {
        removed: removed.collect(),
        text,
        edits,
        was_refused: !is_loaded,
    })
}

/// The position of `place` after edits in text order. If an edit writes text there, it is the range
/// of that text; `None` if the text at `place` is deleted.
fn place_after(edits: &[TextEdit], place: u32) -> Option<TextRange> {
    let (mut taken, mut added) = (0, 0);
    for edit in edits {
        let range = edit.range;
        if range.start > place {
            break;
        }
        if range.end > place || range.is_empty() && range.end == place {
            if edit.new_text.is_empty() {
                return None;
            }
            let start = range.start as usize + added - taken;
            return Some(TextRange::new(start, start + edit.new_text.len()));
        }
        taken += range.len();
        added += edit.new_text.len();
    }
    Some(TextRange::empty(place as usize + added - taken))
}

/// Removes fixes that write a key which the same hash already has, or which two fixes would write.
pub(super) fn without_collisions(file: &FileContext<'_>, findings: &mut [Finding]) {
    let fixes = || findings.iter().flat_map(|finding| &finding.fixes);
    if fixes().all(|fix| fix.new_keys.is_empty()) {
        return;
    }
    let tree = file.tree();
    let mut writers: HashMap<(NodeId, &str), BTreeSet<TextRange>> = HashMap::new();
    for key in fixes().flat_map(|fix| &fix.new_keys) {
        if let Some(mapping) = mapping_of(tree, key.old) {
            let olds = writers.entry((mapping, &key.name)).or_default();
            olds.insert(key.old);
        }
    }
    let mut colliding: Vec<NewKey> = Vec::new();
    for (&(mapping, name), olds) in &writers {
        let is_taken = |old: TextRange| {
            let pairs = tree.node(mapping).as_mapping().unwrap_or_default();
            let mut others = pairs.iter().filter(|(key, _)| tree.node(*key).range != old);
            let known = file.facts().key(name);
            others.any(|(key, _)| {
                let text = tree.scalar_text(*key);
                text.is_some_and(|text| **text == *name || text.strip_prefix(':') == Some(name))
            }) || tree.root() == Some(mapping) && known.is_some_and(|known| known.key != old)
        };
        let olds = olds.iter().filter(|old| olds.len() > 1 || is_taken(**old));
        colliding.extend(olds.map(|&old| NewKey {
            old,
            name: name.to_owned(),
        }));
    }
    for finding in findings {
        let is_free = |fix: &Fix| !fix.new_keys.iter().any(|key| colliding.contains(key));
        finding.fixes.retain(is_free);
    }
}

/// The mapping that has the key at a range.
fn mapping_of(tree: &Tree, key: TextRange) -> Option<NodeId> {
    let path = tree.path_at(key.start as usize);
    path.into_iter().rev().find(|id| {
        let pairs = tree.node(*id).as_mapping().unwrap_or_default();
        pairs.iter().any(|(at, _)| tree.node(*at).range == key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{FOLDER, Fixture};
    use crate::lookup::PuppetVersion;
    use crate::rules::{Checker, Severity};

    fn finding(safety: Safety, range: TextRange) -> Finding {
        let path: Arc<str> = format!("{FOLDER}/data/a.yaml").into();
        let mut finding = Finding::new("x", Severity::Hint, path, range, "");
        let edit = TextEdit::replace(range, "y");
        finding.fixes.push(Fix::new(safety, "", edit));
        finding
    }

    fn made_of(text: &str, findings: &[Finding], most: Safety) -> Option<Made> {
        let snapshot = Fixture::new("data/a.yaml", text).on_disk();
        let path: Arc<str> = format!("{FOLDER}/data/a.yaml").into();
        fixes_together(
            &snapshot,
            &[(Arc::clone(&path), findings.to_vec())],
            most,
            usize::MAX,
        )
        .remove(&path)
    }

    #[test]
    fn fixes_that_touch_wait_for_the_next_round() {
        let findings = [
            finding(Safety::Safe, TextRange::new(4, 6)),
            finding(Safety::Safe, TextRange::new(6, 7)),
            finding(Safety::Unsafe, TextRange::new(0, 2)),
        ];
        let starts = |most| {
            let made = made_of("abcdefghij", &findings, most).unwrap();
            let edits = made.edits.into_iter();
            edits.map(|edit| edit.range.start).collect::<Vec<_>>()
        };
        assert_eq!(starts(Safety::Safe), [4]);
        assert_eq!(starts(Safety::Unsafe), [0, 4]);
    }

    #[test]
    fn a_fix_that_breaks_the_file_is_left_out() {
        let mut breaks = finding(Safety::Safe, TextRange::new(3, 4));
        breaks.fixes[0].edits[0].new_text = "%{x}".to_owned();
        let good = finding(Safety::Safe, TextRange::new(8, 9));
        let made = |findings: &[Finding], text: &str| {
            made_of(text, findings, Safety::Safe).map(|made| made.text)
        };
        let both = [breaks.clone(), good];
        assert_eq!(made(&both, "a: 1\nb: 2\n"), Some("a: 1\nb: y\n".to_owned()));
        assert_eq!(made(&[breaks.clone()], "a: 1\n"), None);
        // A refused file can be fixed in steps, errors first.
        let broken = "a: 1\n\tb\n";
        assert_eq!(made(&[breaks.clone()], broken), None);
        breaks.severity = Severity::Error;
        assert_eq!(made(&[breaks], broken), Some("a: %{x}\n\tb\n".to_owned()));
    }

    #[test]
    fn a_finding_that_is_still_there_is_known() {
        let inserts = finding(Safety::Safe, TextRange::empty(3));
        let made = made_of("a: 1\n", std::slice::from_ref(&inserts), Safety::Safe).unwrap();
        let removed = &made.removed[0];
        let mut behind = inserts.clone();
        assert!(removed.is_still_among(std::slice::from_ref(&behind)));
        behind.range = TextRange::new(4, 5);
        assert!(removed.is_still_among(std::slice::from_ref(&behind)));
        behind.message = "another".to_owned();
        assert!(!removed.is_still_among(&[behind]));
        let moved = FindingIdentity::of(&inserts)
            .after(&[TextEdit::insert(0, "# x\n")])
            .unwrap();
        assert_eq!(moved.start, 7);
    }

    #[test]
    fn a_fix_does_not_remove_what_another_fix_depends_on() {
        let texts = ["high", "mid", "low"].map(|name| format!("#- data/{name}.yaml\ne: 1\n"));
        let snapshot = Fixture::new(
            "hiera.yaml",
            &format!(
                "version: 5\nhierarchy: [{{name: a, paths: [high.yaml, mid.yaml, low.yaml]}}]\n{}",
                texts.concat()
            ),
        )
        .on_disk();
        let checker = Checker::new(&snapshot, PuppetVersion::V8);
        let files: Vec<(Arc<str>, Vec<Finding>)> = snapshot
            .files()
            .filter_map(|file| Some((Arc::clone(file.path()), checker.file(file.path())?)))
            .collect();
        let all: usize = files.iter().map(|(_, findings)| findings.len()).sum();
        assert_eq!(all, 4);
        let made = fixes_together(&snapshot, &files, Safety::Unsafe, usize::MAX);
        assert!((1..3).contains(&made.len()), "{made:?}");
    }

    /// The titles of the fixes for the data of a workspace with a class.
    fn offered(data: &str) -> Vec<String> {
        let text = format!(
            "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n\
             #- manifests/site.pp\n#- modules/ntp/manifests/init.pp\n\
             class ntp ($servers, $pool) {{ }}\n#- data/common.yaml\n{data}"
        );
        let snapshot = Fixture::new("", &text).on_disk();
        let checker = Checker::new(&snapshot, PuppetVersion::V8);
        let found = checker.file(&format!("{FOLDER}/data/common.yaml")).unwrap();
        let fixes = found.iter().flat_map(|finding| &finding.fixes);
        fixes.map(|fix| fix.title.clone()).collect()
    }

    #[test]
    fn no_fix_writes_a_key_that_is_there() {
        for (alone, other) in [
            ("ntp:pool: 1\n", "ntp::pool: 2\n"),
            ("'::ntp::pool': 1\n", "ntp::pool: 2\n"),
            ("ntp:pool: 1\n", "'::ntp::pool': 2\n"),
            ("ntp::pol: 1\n", "ntp::pool: 2\n"),
            ("ntp::pol: 1\n", "ntp::poool: 2\n"),
            ("ntp:\n  servers: 1\n", "ntp::servers: 2\n"),
            ("m: {on: 1}\n", "m: {'on': 2, on: 1}\n"),
            ("m: {on: 1}\n", "m: {on: 2, on: 1}\n"),
        ] {
            assert_eq!(offered(alone).len(), 1, "{alone}");
            let both = if other.starts_with("m:") {
                other.to_owned()
            } else {
                format!("{alone}{other}")
            };
            assert_eq!(offered(&both), Vec::<String>::new(), "{both}");
        }
        let options = "ntp::a: {}\nm: {}\nlookup_options:\n";
        for (alone, other) in [
            ("  ntp::.*: {merge: deep}\n", "  ^ntp::.*: {merge: deep}\n"),
            ("  m.a: {merge: deep}\n", "  m.b: {merge: deep}\n"),
            ("  m.a: {merge: deep}\n", "  m: {merge: deep}\n"),
            ("  m: {merg: deep}\n", "  m: {merg: deep, merge: deep}\n"),
        ] {
            assert_eq!(offered(&format!("{options}{alone}")).len(), 1, "{alone}");
            let both = if other.contains("merg:") {
                format!("{options}{other}")
            } else {
                format!("{options}{alone}{other}")
            };
            assert_eq!(offered(&both), Vec::<String>::new(), "{both}");
        }
    }
}
