//! Shrinks a differing case: drops files, lines, parts of lines, facts and request fields while the
//! difference stays in its class.

use std::path::Path;

use serde_json::{Map, Value};

use crate::case::{Case, full_request, write_files};
use crate::compare::{Difference, difference, normalised};
use crate::program::{Program, Session};

/// Maximum number of candidates for one case.
const BUDGET: usize = 600;
/// Number of candidates tried at once: one process of ours is started for each group.
const GROUP: usize = 16;

/// Both programs and a folder for candidates.
pub struct Shrinker<'a> {
    pub puppet: &'a mut Session,
    pub ours: &'a Program,
    pub folder: &'a Path,
    spent: usize,
    serial: usize,
}

impl<'a> Shrinker<'a> {
    /// Candidates are written below `folder`.
    pub fn new(puppet: &'a mut Session, ours: &'a Program, folder: &'a Path) -> Shrinker<'a> {
        Shrinker {
            puppet,
            ours,
            folder,
            spent: 0,
            serial: 0,
        }
    }

    /// The smallest case found whose difference has the class `class`, with Puppet's answer as the
    /// expected one, and our answer.
    pub fn shrink(&mut self, case: &Case, class: &str) -> (Case, Value) {
        self.spent = 0;
        let mut best = case.clone();
        loop {
            let before = (self.spent, size(&best));
            self.request_fields(&mut best, class);
            self.files(&mut best, class);
            self.lines(&mut best, class);
            self.parts_of_lines(&mut best, class);
            if size(&best) == before.1 || self.spent >= BUDGET {
                break;
            }
        }
        let (difference, puppet, ours) = self.try_group(std::slice::from_ref(&best)).remove(0);
        best.desc = difference.map_or_else(|| "no longer differs".into(), |d| d.class);
        best.expected = puppet;
        (best, ours)
    }

    fn request_fields(&mut self, best: &mut Case, class: &str) {
        let mut candidates = Vec::new();
        for name in best.request.keys() {
            if !matches!(
                name.as_str(),
                "key" | "node" | "environment" | "puppet_version"
            ) {
                let mut case = best.clone();
                case.request.shift_remove(name);
                candidates.push(case);
            }
        }
        self.keep_all(best, candidates, class, |best, tried| {
            best.request
                .retain(|name, _| tried.request.contains_key(name));
        });
        for field in [
            "facts",
            "variables",
            "trusted",
            "default_values_hash",
            "override",
            "merge",
        ] {
            let Some(Value::Object(map)) = best.request.get(field) else {
                continue;
            };
            let smaller: Vec<Case> = map
                .keys()
                .map(|name| {
                    let mut case = best.clone();
                    object(&mut case.request, field).shift_remove(name);
                    case
                })
                .collect();
            self.keep_all(best, smaller, class, |best, tried| {
                let kept = object(&mut tried.request.clone(), field).clone();
                object(&mut best.request, field).retain(|name, _| kept.contains_key(name));
            });
        }
    }

    fn files(&mut self, best: &mut Case, class: &str) {
        let candidates = best
            .files
            .keys()
            .map(|path| {
                let mut case = best.clone();
                case.files.shift_remove(path);
                case
            })
            .collect();
        self.keep_all(best, candidates, class, |best, tried| {
            best.files.retain(|path, _| tried.files.contains_key(path));
        });
    }

    /// Tries every candidate separately, then combines the ones that worked, one after the other.
    fn keep_all(
        &mut self,
        best: &mut Case,
        candidates: Vec<Case>,
        class: &str,
        apply: impl Fn(&mut Case, &Case),
    ) {
        let works = self.works(&candidates, class);
        for (candidate, works) in candidates.iter().zip(works) {
            if !works {
                continue;
            }
            let mut next = best.clone();
            apply(&mut next, candidate);
            if size(&next) < size(best) && self.works(std::slice::from_ref(&next), class)[0] {
                *best = next;
            }
        }
    }

    fn lines(&mut self, best: &mut Case, class: &str) {
        for path in best.files.keys().cloned().collect::<Vec<_>>() {
            let pieces: Vec<String> = best.files[&path]
                .split_inclusive('\n')
                .map(str::to_string)
                .collect();
            let pieces = self.fewest(pieces, |kept| with_text(best, &path, kept.concat()), class);
            *best = with_text(best, &path, pieces.concat());
        }
    }

    fn parts_of_lines(&mut self, best: &mut Case, class: &str) {
        for path in best.files.keys().cloned().collect::<Vec<_>>() {
            if best.files[&path].len() > 3_000 {
                continue;
            }
            for separator in [", ", "", "\u{1}"] {
                // First the elements of flow collections, then words, then characters of short
                // texts.
                let text = best.files[&path].clone();
                let pieces: Vec<String> = match separator {
                    ", " => text.split_inclusive(", ").map(str::to_string).collect(),
                    "" => text
                        .split_inclusive([' ', '\n', '.', '}', ','])
                        .map(str::to_string)
                        .collect(),
                    _ if text.len() <= 300 => text.chars().map(String::from).collect(),
                    _ => continue,
                };
                let pieces =
                    self.fewest(pieces, |kept| with_text(best, &path, kept.concat()), class);
                *best = with_text(best, &path, pieces.concat());
            }
        }
    }

    /// Drops runs of pieces, long ones first.
    fn fewest(
        &mut self,
        mut pieces: Vec<String>,
        build: impl Fn(&[String]) -> Case,
        class: &str,
    ) -> Vec<String> {
        let mut run = pieces.len().div_ceil(2);
        while run > 0 && !pieces.is_empty() && self.spent < BUDGET {
            let mut at = 0;
            while at < pieces.len() && self.spent < BUDGET {
                let starts: Vec<usize> = (at..pieces.len()).step_by(run).take(GROUP).collect();
                let without = |start: usize| -> Vec<String> {
                    let end = (start + run).min(pieces.len());
                    [&pieces[..start], &pieces[end..]].concat()
                };
                let candidates: Vec<Case> = starts.iter().map(|s| build(&without(*s))).collect();
                match self.works(&candidates, class).iter().position(|w| *w) {
                    Some(hit) => {
                        let start = starts[hit];
                        pieces = without(start);
                        at = start;
                    }
                    None => at = starts.last().map_or(pieces.len(), |s| s + run),
                }
            }
            run /= 2;
        }
        pieces
    }

    /// Which candidates still differ in the class.
    fn works(&mut self, candidates: &[Case], class: &str) -> Vec<bool> {
        let mut out = Vec::new();
        for group in candidates.chunks(GROUP) {
            if self.spent >= BUDGET {
                out.resize(candidates.len(), false);
                break;
            }
            let tried = self.try_group(group);
            out.extend(
                tried
                    .into_iter()
                    .map(|(d, ..)| d.is_some_and(|d| d.class == class)),
            );
        }
        out
    }

    fn try_group(&mut self, group: &[Case]) -> Vec<(Option<Difference>, Value, Value)> {
        self.spent += group.len();
        let mut roots = Vec::new();
        let mut requests = Vec::new();
        for case in group {
            self.serial += 1;
            let root = self.folder.join(format!("s{}", self.serial));
            write_files(&case.files, &root);
            requests.push(full_request(&case.files, &case.request, "shrink", &root));
            roots.push(root);
        }
        let puppet = self.puppet.ask(&requests);
        let ours = self.ours.answer_all(&requests);
        let mut out = Vec::new();
        for ((root, p), o) in roots.iter().zip(&puppet).zip(&ours) {
            let (p, o) = (normalised(p, root), normalised(o, root));
            out.push((difference(&p, &o), p, o));
            let _ = std::fs::remove_dir_all(root);
        }
        out
    }
}

fn with_text(case: &Case, path: &str, text: String) -> Case {
    let mut case = case.clone();
    case.files.insert(path.into(), text);
    case
}

fn object<'m>(request: &'m mut Map<String, Value>, field: &str) -> &'m mut Map<String, Value> {
    request
        .get_mut(field)
        .and_then(Value::as_object_mut)
        .expect("checked to be an object")
}

fn size(case: &Case) -> usize {
    let files: usize = case.files.iter().map(|(p, t)| 20 + p.len() + t.len()).sum();
    files + Value::Object(case.request.clone()).to_string().len()
}
