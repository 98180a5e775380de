//! Known and explained differences, read from `known_differences.txt`. Every entry has a reason,
//! and an unused entry fails the test that owns it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

/// The entries of the file.
pub struct Known {
    entries: Vec<Entry>,
    used: RefCell<BTreeSet<usize>>,
}

struct Entry {
    line: String,
    name: Name,
}

enum Name {
    /// One case of a case file.
    Case(String),
    /// Any difference of a random run whose class matches.
    Class(Regex),
}

impl Known {
    /// Reads the file: a line is `case ID: reason` or `class /REGEX/: reason`; `#` starts a comment.
    pub fn read() -> Known {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity/known_differences.txt");
        let text = fs::read_to_string(&path).expect("the list of known differences");
        let lines = text
            .lines()
            .filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
        let entries = lines
            .map(|line| Entry {
                line: line.into(),
                name: name_of(line),
            })
            .collect();
        Known {
            entries,
            used: RefCell::default(),
        }
    }

    /// Whether a case of a case file may differ.
    pub fn explains_case(&self, id: &str) -> bool {
        self.find(|name| matches!(name, Name::Case(known) if known == id))
    }

    /// Whether a class of random differences is explained.
    pub fn explains_class(&self, class: &str) -> bool {
        self.find(|name| matches!(name, Name::Class(known) if known.is_match(class)))
    }

    fn find(&self, wanted: impl Fn(&Name) -> bool) -> bool {
        let at = self.entries.iter().position(|e| wanted(&e.name));
        if let Some(at) = at {
            self.used.borrow_mut().insert(at);
        }
        at.is_some()
    }

    /// Entries for cases that explained nothing.
    pub fn unused_cases(&self) -> Vec<&str> {
        self.unused(|name| matches!(name, Name::Case(_)))
    }

    /// Entries for classes that explained nothing.
    pub fn unused_classes(&self) -> Vec<&str> {
        self.unused(|name| matches!(name, Name::Class(_)))
    }

    /// The names of all cases that may differ.
    pub fn cases(&self) -> Vec<&str> {
        let names = self.entries.iter().filter_map(|e| match &e.name {
            Name::Case(id) => Some(&**id),
            Name::Class(_) => None,
        });
        names.collect()
    }

    fn unused(&self, of: impl Fn(&Name) -> bool) -> Vec<&str> {
        let used = self.used.borrow();
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(i, e)| of(&e.name) && !used.contains(i))
            .map(|(_, e)| &*e.line)
            .collect()
    }
}

fn name_of(line: &str) -> Name {
    let parts = Regex::new(r"^(?:case (\S+)|class /(.*)/): \S").expect("valid");
    let found = parts
        .captures(line)
        .unwrap_or_else(|| panic!("known_differences.txt: no reason or name in {line:?}"));
    match (found.get(1), found.get(2)) {
        (Some(id), _) => Name::Case(id.as_str().into()),
        (None, Some(class)) => Name::Class(Regex::new(class.as_str()).expect("a valid pattern")),
        (None, None) => unreachable!("one of the two groups matched"),
    }
}
