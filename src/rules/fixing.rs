//! Applies fixes in rounds, as a fix can make another one possible. A round is only kept if it
//! removes its findings and there are no more errors than before. Single fixes are tested the same
//! way.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::finding::{Finding, Fix, Safety, Severity};
use super::fixes::{FindingIdentity, Made, Removed, fixes_together};
use super::recheck::{Recheck, recheck};
use crate::workspace::Snapshot;

/// Maximum number of rounds.
const MAX_ROUNDS: usize = 100;

/// Maximum number of checks of a file to test its fixes.
const MAX_LOOKS: usize = 12;

/// The findings of files, by path.
pub type FindingsByFile = Vec<(Arc<str>, Vec<Finding>)>;

/// The fixed files, by path.
type AllMade = BTreeMap<Arc<str>, Made>;

/// Which fixes to apply.
pub struct Fixing<'a> {
    /// The workspace before the fixes.
    pub snapshot: &'a Arc<Snapshot>,
    /// The files to fix, in order.
    pub paths: &'a [Arc<str>],
    /// Whether to apply safe fixes only, or all.
    pub most: Safety,
    /// The accepted findings of each file, which are not fixed.
    pub accepted: BTreeMap<Arc<str>, Vec<FindingIdentity>>,
}

/// A workspace after fixes.
pub struct AfterFixes {
    /// The workspace with the new texts.
    pub snapshot: Arc<Snapshot>,
    /// The paths of the fixed files.
    pub touched: BTreeSet<Arc<str>>,
}

impl Fixing<'_> {
    /// Applies fixes until there are none left. `find` returns all findings of the files at some
    /// paths, ordered by path; `is_fixed` selects the findings to fix.
    #[must_use]
    pub fn run(
        self,
        find: impl Fn(&Snapshot, &[Arc<str>]) -> FindingsByFile,
        is_fixed: impl Fn(&Finding) -> bool,
    ) -> AfterFixes {
        let mut snapshot = Arc::clone(self.snapshot);
        let mut found: BTreeMap<_, _> = find(&snapshot, self.paths).into_iter().collect();
        let mut useless = KnownFindings(self.accepted);
        // A finding that only appears after an unsafe fix depends on a guess: it is left for review.
        let mut certain: Option<KnownFindings> = None;
        let mut touched = BTreeSet::new();
        let mut at_once = usize::MAX;
        for _ in 0..MAX_ROUNDS {
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
            let made = fixes_together(
                &snapshot,
                &fixable.collect::<FindingsByFile>(),
                most,
                at_once,
            );
            if made.is_empty() && most == self.most {
                break;
            }
            if made.is_empty() {
                certain = Some(KnownFindings::all(&found));
                at_once = usize::MAX;
                continue;
            }
            let count: usize = made.values().map(|made| made.removed.len()).sum();
            let next = Arc::new(with_texts(&snapshot, &made));
            let concerned: Vec<Arc<str>> = match recheck(&next, &[]) {
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
            // Files that no level reads any more have no findings.
            concerned.iter().for_each(|path| drop(found.remove(path)));
            found.extend(after);
            snapshot = next;
            at_once = at_once.saturating_mul(2);
        }
        AfterFixes { snapshot, touched }
    }
}

/// Which fixes remove their finding and leave no more errors in the file. `find` returns the
/// findings of that file in a snapshot, or `None` to stop. As each call checks the whole file,
/// fixes are tested together, and in halves if they do harm. Fixes that are not tested after
/// `MAX_LOOKS` calls are left out. Errors in other files are not checked, to save time.
#[must_use]
pub fn helpful(
    snapshot: &Snapshot,
    findings: &[Finding],
    fixes: &[(&Finding, &Fix)],
    find: impl Fn(&Snapshot) -> Option<Vec<Finding>>,
) -> Vec<bool> {
    let Some((of_one, _)) = fixes.first() else {
        return Vec::new();
    };
    let path = &of_one.path;
    let of_file = |findings| BTreeMap::from([(Arc::clone(path), findings)]);
    let before = of_file(findings.to_vec());
    let mut helps = vec![false; fixes.len()];
    let mut open = VecDeque::from([(0..fixes.len()).collect::<Vec<usize>>()]);
    for _ in 0..MAX_LOOKS {
        let Some((made, tried)) = next_together(snapshot, fixes, &mut open) else {
            break;
        };
        let Some(after) = find(&with_texts(snapshot, &made)) else {
            break;
        };
        let removed = made.values().flat_map(|made| &made.removed);
        let (left, removed): (Vec<&Removed>, Vec<&Removed>) =
            removed.partition(|one| one.is_still_among(&after));
        let after = of_file(after);
        let does_harm = match tried.len() {
            1 => gained(&before, &after, &made) && has_more_errors(&before, &after),
            // An error that one fix removes must not hide a new error of another.
            _ => {
                let is_removed = |it: &Finding| removed.iter().any(|one| one.finding.is(it));
                let rest = findings.iter().filter(|it| !is_removed(it));
                gained(&of_file(rest.cloned().collect()), &after, &made)
            }
        };
        if !does_harm {
            for at in tried {
                helps[at] = !left.iter().any(|one| one.finding.is(fixes[at].0));
            }
        } else if tried.len() > 1 {
            let (first, second) = tried.split_at(tried.len() / 2);
            open.extend([first.to_vec(), second.to_vec()]);
        }
    }
    helps
}

/// The next fixes that can be applied together, with their indexes. Further fixes of the same
/// findings, and conflicting ones, are queued again.
fn next_together(
    snapshot: &Snapshot,
    fixes: &[(&Finding, &Fix)],
    open: &mut VecDeque<Vec<usize>>,
) -> Option<(AllMade, Vec<usize>)> {
    while let Some(group) = open.pop_front() {
        let (mut first, mut further): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for at in group {
            let is_same = |other: &usize| std::ptr::eq(fixes[*other].0, fixes[at].0);
            let is_further = first.iter().any(is_same);
            if is_further { &mut further } else { &mut first }.push(at);
        }
        let Some(&at) = first.first() else { continue };
        let alone = first.iter().map(|at| Finding {
            fixes: vec![fixes[*at].1.clone()],
            ..fixes[*at].0.clone()
        });
        let of_file = [(Arc::clone(&fixes[at].0.path), alone.collect())];
        let made = fixes_together(snapshot, &of_file, Safety::Unsafe, usize::MAX);
        let is_made = |at: &usize| {
            let mut removed = made.values().flat_map(|made| &made.removed);
            removed.any(|one| one.finding.is(fixes[*at].0))
        };
        let (tried, meeting): (Vec<usize>, Vec<usize>) = first.into_iter().partition(is_made);
        // If no fix can be applied, the reason is not a conflict.
        let meeting = Some(meeting).filter(|_| !tried.is_empty());
        let again = meeting.into_iter().chain([further]);
        open.extend(again.filter(|group| !group.is_empty()));
        if !tried.is_empty() {
            return Some((made, tried));
        }
    }
    None
}

/// A set of findings, by file.
struct KnownFindings(BTreeMap<Arc<str>, Vec<FindingIdentity>>);

impl KnownFindings {
    fn all(found: &BTreeMap<Arc<str>, Vec<Finding>>) -> KnownFindings {
        let of_file = |findings: &Vec<Finding>| findings.iter().map(FindingIdentity::of).collect();
        let all = found.iter();
        let all = all.map(|(path, findings)| (Arc::clone(path), of_file(findings)));
        KnownFindings(all.collect())
    }

    fn has(&self, finding: &Finding) -> bool {
        let known = self.0.get(&finding.path).into_iter().flatten();
        known.into_iter().any(|known| known.is(finding))
    }

    /// Adds the findings that are still there after their fixes; returns whether there are any.
    fn learn(&mut self, made: &AllMade, after: &BTreeMap<Arc<str>, Vec<Finding>>) -> bool {
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

    /// Adds the findings of fixes that lead to more errors.
    fn add(&mut self, made: AllMade) {
        for (path, made) in made {
            let removed = made.removed.into_iter().map(|removed| removed.finding);
            self.0.entry(path).or_default().extend(removed);
        }
    }

    /// Moves the findings to their places after edits.
    fn moved(&mut self, made: &AllMade) {
        for (path, made) in made {
            if let Some(known) = self.0.get_mut(path) {
                let all = std::mem::take(known).into_iter();
                *known = all.filter_map(|one| one.after(&made.edits)).collect();
            }
        }
    }
}

/// Whether files have more errors of some rule than before. In a file that was refused, errors were
/// hidden: it is skipped.
fn gained(
    before: &BTreeMap<Arc<str>, Vec<Finding>>,
    after: &BTreeMap<Arc<str>, Vec<Finding>>,
    made: &AllMade,
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
    let earlier = after.keys().filter_map(|path| before.get(path)).flatten();
    let errors = after.values().flatten().filter(|it| is_error(it)).count();
    errors > earlier.filter(|it| is_error(it)).count()
}

/// The workspace with the files' texts after fixes.
fn with_texts(snapshot: &Snapshot, made: &AllMade) -> Snapshot {
    let texts = made.iter();
    crate::edit::with_texts(
        snapshot,
        texts.map(|(path, made)| (path.clone(), Arc::from(&*made.text))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{FOLDER, Fixture};
    use crate::lookup::PuppetVersion;
    use crate::rules::Checker;
    use crate::text::{TextEdit, TextRange};

    /// The text of a workspace's data after all fixes of the findings that `find` returns.
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

    /// Which fixes help in a list of `count` numbers, if some of them are `bad`, and the number of checks.
    fn helping(count: usize, bad: impl Fn(usize) -> bool) -> (Vec<bool>, usize) {
        let text = "- 0644\n".repeat(count);
        let text = format!("a:\n{text}b: 1\n");
        let snapshot = Arc::new(Fixture::new("data/common.yaml", &text).on_disk());
        let path: Arc<str> = format!("{FOLDER}/data/common.yaml").into();
        // A bad fix writes a number of ten digits, which is an error.
        let find = |snapshot: &Snapshot| {
            let text = snapshot.file(&path).expect("the file").text().to_string();
            let mut findings = Vec::new();
            let mut start = 0;
            for line in text.split_inclusive('\n') {
                let at = (start + 2, start + line.len() - 1);
                start += line.len();
                let new_finding = |severity| {
                    let range = TextRange::new(at.0, at.1);
                    Finding::new("x", severity, Arc::clone(&path), range, "")
                };
                findings.extend(match line {
                    "- 0644\n" => Some(new_finding(Severity::Warning)),
                    "- 9999999999\n" => Some(new_finding(Severity::Error)),
                    _ => None,
                });
            }
            findings
        };
        let mut findings = find(&snapshot);
        for (at, finding) in findings.iter_mut().enumerate() {
            let new = if bad(at) { "9999999999" } else { "\"0644\"" };
            let edit = TextEdit::replace(finding.range, new);
            finding.fixes.push(Fix::new(Safety::Safe, "", edit));
        }
        let looks = std::cell::Cell::new(0);
        let look = |snapshot: &Snapshot| {
            looks.set(looks.get() + 1);
            Some(find(snapshot))
        };
        let fixes: Vec<_> = findings.iter().map(|it| (it, &it.fixes[0])).collect();
        (helpful(&snapshot, &findings, &fixes, look), looks.get())
    }

    #[test]
    fn many_fixes_need_few_checks() {
        assert_eq!(helping(200, |_| false), (vec![true; 200], 1));
        let (helps, looks) = helping(200, |at| at == 150);
        assert!(looks <= MAX_LOOKS, "{looks}");
        assert!(!helps[150]);
        assert!(helps.iter().filter(|helps| **helps).count() > 190);
        let (helps, looks) = helping(200, |_| true);
        assert_eq!((helps, looks), (vec![false; 200], MAX_LOOKS));
        // A few fixes, as around a cursor.
        for bad in 0..4 {
            let (helps, looks) = helping(4, |at| at == bad);
            let expected: Vec<bool> = (0..4).map(|at| at != bad).collect();
            assert_eq!(helps, expected);
            assert!(looks <= 5, "{looks}");
        }
    }

    #[test]
    fn a_value_whose_override_may_be_misspelt_is_kept() {
        // The key of the higher level may be a misspelt 'pool', so the lower value is not removed.
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
        // One error may replace another.
        assert_eq!(
            check(Safety::Unsafe, "  a: {merge: hahs}\n  b: {merge: unique}\n"),
            "  a: {merge: hash}\n  b: {merge: unique}\n"
        );
    }
}
