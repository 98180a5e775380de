//! Fixes in rounds: a fix can make room for another one. A round counts only if it removes the findings that
//! it is to remove, and there are no more errors after it. A single fix is judged the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::finding::{Finding, Fix, Safety, Severity};
use super::fixes::{Known, Made, fixes_together};
use super::recheck::{Recheck, recheck};
use crate::workspace::{Change, Snapshot};

/// Most rounds.
const MOST_ROUNDS: usize = 100;

/// The findings of files, by path.
pub type Found = Vec<(Arc<str>, Vec<Finding>)>;

/// Which fixes are to be made.
pub struct Fixing<'a> {
    /// The workspace before.
    pub snapshot: &'a Arc<Snapshot>,
    /// The files to be fixed, in order.
    pub paths: &'a [Arc<str>],
    /// Safe ones alone, or all.
    pub most: Safety,
    /// The findings of each file that stay as they are.
    pub accepted: BTreeMap<Arc<str>, Vec<Known>>,
}

/// A workspace after fixes.
pub struct AfterFixes {
    /// The workspace with the new texts.
    pub snapshot: Arc<Snapshot>,
    /// The paths of the files that fixes were made in.
    pub touched: BTreeSet<Arc<str>>,
}

impl Fixing<'_> {
    /// Makes the fixes of the findings that are to be fixed, over and over until nothing is left to fix.
    /// `find` gives all findings of the files at some paths, ordered by path.
    #[must_use]
    pub fn run(
        self,
        find: impl Fn(&Snapshot, &[Arc<str>]) -> Found,
        is_fixed: impl Fn(&Finding) -> bool,
    ) -> AfterFixes {
        let mut snapshot = Arc::clone(self.snapshot);
        let mut found: BTreeMap<_, _> = find(&snapshot, self.paths).into_iter().collect();
        let mut useless = Remembered(self.accepted);
        // What an unsafe fix makes room for rests on a guess: it waits for a person.
        let mut certain: Option<Remembered> = None;
        let mut touched = BTreeSet::new();
        let mut at_once = usize::MAX;
        for _ in 0..MOST_ROUNDS {
            let fixable = self.paths.iter().filter_map(|path| {
                let findings: &Vec<Finding> = found.get(path)?;
                let wanted = findings.iter().filter(|finding| is_fixed(finding));
                let wanted = wanted.filter(|finding| !useless.has(finding));
                let is_certain =
                    |finding: &&Finding| certain.as_ref().is_none_or(|known| known.has(finding));
                let wanted = wanted.filter(is_certain);
                Some((Arc::clone(path), wanted.cloned().collect()))
            });
            let most = certain.as_ref().map_or(Safety::Safe, |_| self.most);
            let made = fixes_together(&snapshot, &fixable.collect::<Found>(), most, at_once);
            if made.is_empty() && most == self.most {
                break;
            }
            if made.is_empty() {
                certain = Some(Remembered::all(&found));
                at_once = usize::MAX;
                continue;
            }
            let count: usize = made.values().map(|made| made.removed.len()).sum();
            let next = Arc::new(with_texts(&snapshot, &made));
            let concerned: Vec<Arc<str>> = match recheck(&next) {
                Recheck::All => next.files().map(|file| Arc::clone(file.path())).collect(),
                Recheck::Files(files) => files.into_iter().collect(),
            };
            let unknown = concerned.iter().filter(|path| !found.contains_key(*path));
            let unknown: Vec<Arc<str>> = unknown.cloned().collect();
            found.extend(find(&snapshot, &unknown));
            let after: BTreeMap<_, _> = find(&next, &concerned).into_iter().collect();
            if useless.learn(&made, &after) {
                continue;
            }
            if gained(&found, &after, &made) {
                if count > 1 {
                    at_once = count / 2;
                    continue;
                }
                if has_more_errors(&found, &after) {
                    useless.add(made);
                    continue;
                }
            }
            useless.moved(&made);
            certain.iter_mut().for_each(|known| known.moved(&made));
            touched.extend(made.into_keys());
            // What no level reads any more has no findings.
            concerned.iter().for_each(|path| drop(found.remove(path)));
            found.extend(after);
            snapshot = next;
            at_once = at_once.saturating_mul(2);
        }
        AfterFixes { snapshot, touched }
    }
}

/// Whether a fix of a finding removes it, and its file has no more errors after it. `find` gives the
/// findings of that file, before and after. Errors in other files are not looked for, for the time it
/// would take.
pub fn helps(
    snapshot: &Snapshot,
    findings: &[Finding],
    (finding, fix): (&Finding, &Fix),
    find: impl Fn(&Snapshot) -> Vec<Finding>,
) -> bool {
    let path = &finding.path;
    let mut alone = finding.clone();
    alone.fixes = vec![fix.clone()];
    let alone = [(Arc::clone(path), vec![alone])];
    let made = fixes_together(snapshot, &alone, Safety::Unsafe, 1);
    if made.is_empty() {
        return false;
    }
    let of_file = |findings| BTreeMap::from([(Arc::clone(path), findings)]);
    let before = of_file(findings.to_vec());
    let after = of_file(find(&with_texts(snapshot, &made)));
    let is_harmful = gained(&before, &after, &made) && has_more_errors(&before, &after);
    !is_harmful && !Remembered(BTreeMap::new()).learn(&made, &after)
}

/// Findings of each file, such as those that stay: accepted ones, and those whose fix does not help.
struct Remembered(BTreeMap<Arc<str>, Vec<Known>>);

impl Remembered {
    fn all(found: &BTreeMap<Arc<str>, Vec<Finding>>) -> Remembered {
        let of_file = |findings: &Vec<Finding>| findings.iter().map(Known::of).collect();
        let all = found.iter();
        let all = all.map(|(path, findings)| (Arc::clone(path), of_file(findings)));
        Remembered(all.collect())
    }

    fn has(&self, finding: &Finding) -> bool {
        let known = self.0.get(&finding.path).into_iter().flatten();
        known.into_iter().any(|known| known.is(finding))
    }

    /// Remembers the findings that are still there after their fixes; says whether there are any.
    fn learn(
        &mut self,
        made: &BTreeMap<Arc<str>, Made>,
        after: &BTreeMap<Arc<str>, Vec<Finding>>,
    ) -> bool {
        let mut has_any = false;
        for (path, made) in made {
            let now = after.get(path).map_or(&[][..], Vec::as_slice);
            let still = made.removed.iter();
            let mut still = still.filter(|one| one.is_still_among(now)).peekable();
            if still.peek().is_some() {
                has_any = true;
                let known = self.0.entry(Arc::clone(path)).or_default();
                known.extend(still.map(|one| one.finding.clone()));
            }
        }
        has_any
    }

    /// Remembers the findings of fixes after which there are more errors.
    fn add(&mut self, made: BTreeMap<Arc<str>, Made>) {
        for (path, made) in made {
            let removed = made.removed.into_iter().map(|removed| removed.finding);
            self.0.entry(path).or_default().extend(removed);
        }
    }

    /// Finds what it remembers at its new places, after edits.
    fn moved(&mut self, made: &BTreeMap<Arc<str>, Made>) {
        for (path, made) in made {
            if let Some(known) = self.0.get_mut(path) {
                let all = std::mem::take(known).into_iter();
                *known = all.filter_map(|one| one.after(&made.edits)).collect();
            }
        }
    }
}

/// Whether files have more errors of some rule than before; what Puppet refused to read hid its own.
fn gained(
    before: &BTreeMap<Arc<str>, Vec<Finding>>,
    after: &BTreeMap<Arc<str>, Vec<Finding>>,
    made: &BTreeMap<Arc<str>, Made>,
) -> bool {
    let was_loaded = |path: &Arc<str>| made.get(path).is_none_or(|made| !made.was_refused);
    after.iter().any(|(path, after)| {
        let before = before.get(path);
        let is_new = |finding: &Finding| {
            let of_rule = |other: &&Finding| is_error(other) && other.code == finding.code;
            let known = before.into_iter().flatten().filter(of_rule).count();
            is_error(finding) && after.iter().filter(of_rule).count() > known
        };
        was_loaded(path) && after.iter().any(is_new)
    })
}

fn is_error(finding: &Finding) -> bool {
    finding.severity == Severity::Error
}

/// Whether the files that were checked again have more errors than before.
fn has_more_errors(
    before: &BTreeMap<Arc<str>, Vec<Finding>>,
    after: &BTreeMap<Arc<str>, Vec<Finding>>,
) -> bool {
    errors(after.values()) > errors(after.keys().filter_map(|at| before.get(at)))
}

fn errors<'f>(files: impl Iterator<Item = &'f Vec<Finding>>) -> usize {
    files.flatten().filter(|finding| is_error(finding)).count()
}

/// The workspace with the files' texts after fixes.
fn with_texts(snapshot: &Snapshot, made: &BTreeMap<Arc<str>, Made>) -> Snapshot {
    let changes = made.iter().map(|(path, made)| Change::Open {
        path: Arc::clone(path),
        text: made.text.as_str().into(),
        version: 1,
    });
    snapshot.with(Change::Batch(changes.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{FOLDER, Fixture};
    use crate::lookup::PuppetVersion;
    use crate::rules::Checker;
    use crate::text::{TextEdit, TextRange};

    /// The text of a workspace's data after all fixes of what `find` finds in each file.
    fn fixed(
        text: &str,
        most: Safety,
        find: impl Fn(&Snapshot, &Arc<str>) -> Option<Vec<Finding>>,
    ) -> String {
        let snapshot = Arc::new(Fixture::new("data/common.yaml", text).on_disk());
        let paths = snapshot.files().map(|file| Arc::clone(file.path()));
        let paths: Vec<Arc<str>> = paths.collect();
        let fixing = Fixing {
            snapshot: &snapshot,
            paths: &paths,
            most,
            accepted: BTreeMap::new(),
        };
        let find = |snapshot: &Snapshot, paths: &[Arc<str>]| {
            let found = paths.iter();
            let found = found.filter_map(|path| Some((Arc::clone(path), find(snapshot, path)?)));
            found.collect()
        };
        let after = fixing.run(find, |_| true).snapshot;
        let file = after.file(&format!("{FOLDER}/data/common.yaml"));
        file.expect("the file").text().to_string()
    }

    #[test]
    fn a_fix_that_does_not_help_is_not_made() {
        let text = fixed("a: 1\n", Safety::Safe, |_, path| {
            let mut finding = Finding::new(
                "x",
                Severity::Hint,
                Arc::clone(path),
                TextRange::new(3, 4),
                "",
            );
            let edit = TextEdit::insert(4, "}");
            finding.fixes.push(Fix::new(Safety::Safe, "", edit));
            path.ends_with("common.yaml").then(|| vec![finding])
        });
        assert_eq!(text, "a: 1\n");
    }

    #[test]
    fn nothing_is_fixed_that_rests_on_a_guess() {
        // The misspelt key above may be meant for 'pool'; the value below stays for whoever knows.
        let data = "ntp::pool: 2\nz: 1\n";
        let text = format!(
            "{data}#- hiera.yaml\nversion: 5\nhierarchy: [{{name: all, paths: [high.yaml, common.yaml]}}]\n\
             #- manifests/site.pp\n#- modules/ntp/manifests/init.pp\nclass ntp ($pool) {{ }}\n\
             #- data/high.yaml\nntp::pol: 1\n"
        );
        let text = fixed(&text, Safety::Unsafe, |snapshot, path| {
            Checker::new(snapshot, PuppetVersion::V8).file(path)
        });
        assert_eq!(text, data);
    }

    #[test]
    fn a_fix_after_which_there_are_more_errors_is_not_made() {
        let check = |most: Safety, entries: &str| {
            let text = format!(
                "m: 0644\nn: 22:22\na: [1]\nb: [1]\nlookup_options:\n{entries}#- hiera.yaml\nversion: 5\n\
                 hierarchy: [{{name: all, paths: [high.yaml, common.yaml]}}]\n#- data/high.yaml\na: [2]\nb: [2]\n"
            );
            let text = fixed(&text, most, |snapshot, path| {
                Checker::new(snapshot, PuppetVersion::V8).file(path)
            });
            let rest =
                text.strip_prefix("m: \"0644\"\nn: \"22:22\"\na: [1]\nb: [1]\nlookup_options:\n");
            rest.expect(&text).to_owned()
        };
        assert_eq!(
            check(Safety::Safe, "  a: hash\n  b: unique\n"),
            "  a: hash\n  b: {merge: unique}\n"
        );
        // One error in the place of another is no more than there was.
        assert_eq!(
            check(Safety::Unsafe, "  a: {merge: hahs}\n  b: {merge: unique}\n"),
            "  a: {merge: hash}\n  b: {merge: unique}\n"
        );
    }
}
