//! What a broken line costs, over every YAML file of real control repos: nothing but the
//! top-level entry it is in.
//!
//! The rule, exactly. An edit of one line *affects*
//! - the entry that owns the line before the edit: the last one whose key stands on it or above;
//! - if that line bore the entry's key and the new line cannot begin an entry (it is gone, blank,
//!   a comment, indented, an element of a list, a closing bracket, a colon), the entry above too,
//!   for the lines that follow are now its own;
//! - no entry at all, if the new line is inserted between two entries and begins an entry itself,
//!   well or badly.
//!
//! Every other entry keeps its spans, shifted by the edit, and its value, but for
//! - entries that an affected one really swallows: libyaml itself, reading on from the affected
//!   key, takes them for the inside of a quoted scalar or of brackets, and finds a good key behind;
//! - entries behind a line that the edit turned into a document marker, or in a second document:
//!   Puppet sees none of them;
//! - the value (not the spans) of an entry with an alias whose anchor is in an affected entry.
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hiera_ls::syntax::{NodeId, NodeKind, ProblemKind, Tree, parse_yaml};
use hiera_ls::text::TextRange;
use hiera_ls::value::{LoadError, Value, load_node};

/// The corpora next to the project; empty, with a message, without them.
fn yaml_files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let mut files = Vec::new();
    collect(&root, &mut files);
    if files.is_empty() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no corpora at {}",
            root.display()
        );
        println!("skipped: no corpora at {}", root.display());
    }
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            files.push((path, text));
        }
    }
}

struct Entry {
    key: TextRange,
    value: TextRange,
    /// Nodes of the entry, to find the anchors that its aliases need.
    targets: Vec<TextRange>,
    loaded: Result<Value, LoadError>,
}

fn entries(tree: &Tree) -> Vec<Entry> {
    let pairs: Vec<(NodeId, NodeId)> = tree.entries().collect();
    pairs
        .iter()
        .enumerate()
        .map(|(at, &(key, value))| {
            let until = pairs.get(at + 1).map_or(tree.len(), |next| next.0.index());
            Entry {
                key: tree.node(key).full_range(),
                value: tree.node(value).full_range(),
                targets: tree
                    .nodes()
                    .skip(key.index())
                    .take(until - key.index())
                    .filter_map(|(_, node)| match &node.kind {
                        NodeKind::Alias { target, .. } => target.map(|id| tree.node(id).range),
                        NodeKind::Scalar(_) | NodeKind::Mapping(_) | NodeKind::Sequence(_) => None,
                    })
                    .collect(),
                loaded: load_node(tree, value),
            }
        })
        .collect()
}

/// Small, fixed and good enough.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[derive(Default, Debug)]
struct Tally {
    edits: usize,
    kept: usize,
    swallowed: usize,
    unseen: usize,
    unresolved: usize,
    clean: usize,
    recovered: usize,
}

/// One edit: `line` of the old text, with its line break, becomes `new`, or `new` is inserted
/// before it.
struct Edit {
    line: Range<usize>,
    new: String,
    is_insertion: bool,
}

fn begins_entry(line: &str, column: usize) -> bool {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let alone = |sign: &str| {
        text.strip_prefix(sign)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    };
    !(indent > column
        || text.trim().is_empty()
        || text.starts_with(['#', '\t', ']', '}', ','])
        || alone("-")
        || alone(":"))
}

/// The entries whose ends an edit of the text before `end` may move.
fn affected(before: &[Entry], column: usize, edit: &Edit, end: usize) -> Vec<usize> {
    let is_key_line = |entry: &Entry| edit.line.contains(&(entry.key.start as usize));
    let begins = begins_entry(&edit.new, column);
    let owner = before
        .iter()
        .rposition(|entry| (entry.key.start as usize) < end);
    let mut affected: Vec<usize> = Vec::new();
    let between = edit.is_insertion && (edit.line.is_empty() || before.iter().any(is_key_line));
    if !(between && begins) {
        affected.extend(owner);
        if owner.is_some_and(|owner| is_key_line(&before[owner])) && !begins && !edit.is_insertion {
            affected.extend(owner.and_then(|owner| owner.checked_sub(1)));
        }
    }
    affected
}

fn check(path: &Path, old: &str, before: &[Entry], column: usize, edit: &Edit, tally: &mut Tally) {
    let removed = if edit.is_insertion {
        edit.line.start..edit.line.start
    } else {
        edit.line.clone()
    };
    let new = format!(
        "{}{}{}",
        &old[..removed.start],
        edit.new,
        &old[removed.end..]
    );
    let affected = affected(before, column, edit, removed.end);
    let parse = parse_yaml(&new);
    let shift = |range: TextRange| {
        if (range.start as usize) < removed.end {
            return range;
        }
        let by = |offset: u32| offset as usize + edit.new.len() - removed.len();
        TextRange::new(by(range.start), by(range.end))
    };
    tally.edits += 1;
    if parse.error().is_none() {
        tally.clean += 1;
    } else {
        tally.recovered += 1;
    }
    let after: HashMap<u32, (NodeId, NodeId)> = parse
        .tree
        .entries()
        .map(|(key, value)| (parse.tree.node(key).full_range().start, (key, value)))
        .collect();
    // An affected entry or the new line may swallow the following text.
    let hungry: Vec<TextRange> = after
        .values()
        .map(|&(key, value)| {
            parse
                .tree
                .node(key)
                .full_range()
                .cover(parse.tree.node(value).full_range())
        })
        .filter(|range| {
            let at = range.start as usize;
            affected
                .iter()
                .any(|&index| shift(before[index].key).start as usize == at)
                || (removed.start..removed.start + edit.new.len().max(1)).contains(&at)
        })
        .collect();
    let marker = ["---", "..."]
        .iter()
        .any(|marker| edit.new.starts_with(marker));
    let unseen_from = parse
        .problems
        .iter()
        .filter(|problem| problem.kind == ProblemKind::Ignored && parse.psych.is_none())
        .map(|problem| problem.range.start as usize)
        .chain(marker.then_some(removed.start))
        .min();
    for (index, entry) in before.iter().enumerate() {
        if affected.contains(&index) {
            continue;
        }
        let (key, value) = (shift(entry.key), shift(entry.value));
        if unseen_from.is_some_and(|from| key.start as usize >= from) {
            tally.unseen += 1;
            continue;
        }
        if hungry
            .iter()
            .any(|range| range.start < key.start && key.start < range.end)
        {
            tally.swallowed += 1;
            continue;
        }
        let context = || {
            format!(
                "{} at byte {}: {:?} became {:?}; entry {:?}; {:?}",
                path.display(),
                edit.line.start,
                &old[removed.clone()],
                edit.new,
                key.slice(&new),
                parse.problems
            )
        };
        let Some(&(new_key, new_value)) = after.get(&key.start) else {
            panic!("lost: {}", context());
        };
        let tree = &parse.tree;
        assert_eq!(tree.node(new_key).full_range(), key, "{}", context());
        assert_eq!(tree.node(new_value).full_range(), value, "{}", context());
        let needs_affected = entry.targets.iter().any(|target| {
            affected.iter().any(|&index| {
                before[index]
                    .key
                    .cover(before[index].value)
                    .contains(*target)
            }) || (target.end as usize) > removed.start && (target.start as usize) < removed.end
        });
        if needs_affected {
            tally.unresolved += 1;
            continue;
        }
        let loaded = load_node(tree, new_value);
        match (&loaded, &entry.loaded) {
            (Ok(new), Ok(old)) => assert_eq!(new, old, "{}", context()),
            (Err(new), Err(old)) => assert_eq!(new.message, old.message, "{}", context()),
            _ => panic!("{loaded:?} instead of {:?}: {}", entry.loaded, context()),
        }
        tally.kept += 1;
    }
}

fn check_structure(path: &Path, text: &str, tree: &Tree) {
    for (id, node) in tree.nodes() {
        let full = node.full_range();
        assert!(full.end as usize <= text.len() && text.get(full.as_usize()).is_some());
        if let Some(parent) = tree.parent(id) {
            let around = tree.node(parent).range;
            assert!(
                around.contains(full),
                "{} {node:?} in {around:?}",
                path.display()
            );
        }
        let touched = tree.path_at(full.start as usize);
        assert!(touched.contains(&tree.root().unwrap()));
    }
    for (a, b) in tree.comments().iter().zip(tree.comments().iter().skip(1)) {
        assert!(a.end <= b.start);
    }
    for comment in tree.comments() {
        assert!(
            comment.slice(text).starts_with('#'),
            "{} {comment:?}",
            path.display()
        );
    }
}

/// The lines of a text as ranges, line breaks included.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            at += line.len();
            at - line.len()..at
        })
        .collect()
}

struct File {
    path: PathBuf,
    text: String,
    entries: Vec<Entry>,
    column: usize,
}

/// The files that are mappings without errors.
fn sound_files() -> Vec<File> {
    let mut files = Vec::new();
    for (path, text) in yaml_files() {
        let parse = parse_yaml(&text);
        check_structure(&path, &text, &parse.tree);
        let before = entries(&parse.tree);
        if !parse.problems.is_empty() || before.is_empty() {
            continue;
        }
        let first = before[0].key.start as usize;
        let column = first - text[..first].rfind('\n').map_or(0, |at| at + 1);
        files.push(File {
            path,
            entries: before,
            column,
            text,
        });
    }
    files
}

/// Maximum number of bytes that one test parses; keeps it below half a minute unoptimized.
const BYTES_PER_TEST: usize = 600_000_000;

/// The number of edits for a file, so that all files together stay within the limit.
fn share(file: &File, files: usize) -> usize {
    (BYTES_PER_TEST / files.max(1) / file.text.len().max(1)).max(1)
}

#[test]
fn a_truncated_file_keeps_what_stands_before() {
    let files = sound_files();
    let mut tally = Tally::default();
    for file in &files {
        let lines = lines(&file.text);
        let step = (lines.len() / share(file, files.len()).max(1)).max(1);
        for line in lines.iter().step_by(step) {
            let cut = &file.text[..line.end];
            let kept = file
                .entries
                .iter()
                .rposition(|e| (e.key.start as usize) < line.end);
            let whole = &file.entries[..kept.unwrap_or(0)];
            let edit = Edit {
                line: line.end..line.end,
                new: String::new(),
                is_insertion: true,
            };
            check(&file.path, cut, whole, file.column, &edit, &mut tally);
            // Cut in the middle of the line, as typing leaves it.
            let half = line.start + (line.end - line.start) / 2;
            if cut.is_char_boundary(half) {
                let edit = Edit {
                    line: line.clone(),
                    new: file.text[line.start..half].to_owned(),
                    is_insertion: false,
                };
                let whole = &file.entries[..kept.map_or(0, |kept| kept + 1)];
                check(&file.path, cut, whole, file.column, &edit, &mut tally);
            }
        }
    }
    println!("{} files, truncated: {tally:?}", files.len());
}

#[test]
fn a_broken_line_costs_its_own_entry_only() {
    let files = sound_files();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut tally = Tally::default();
    for file in &files {
        let lines = lines(&file.text);
        for _ in 0..share(file, files.len()).min(4 * lines.len()) {
            let line = random.pick(&(0..lines.len()).collect::<Vec<_>>());
            let edit = mutation(&file.text, lines[line].clone(), &mut random);
            check(
                &file.path,
                &file.text,
                &file.entries,
                file.column,
                &edit,
                &mut tally,
            );
        }
    }
    println!("{} files, mutated: {tally:?}", files.len());
    if !files.is_empty() {
        assert!(tally.recovered > 3_000, "{tally:?}");
        assert!(tally.swallowed * 200 < tally.kept, "{tally:?}");
    }
}

fn mutation(text: &str, line: Range<usize>, random: &mut Random) -> Edit {
    let old = &text[line.clone()];
    let body = old.trim_end_matches(['\n', '\r']);
    let line_break = &old[body.len()..];
    let inserted_break = if line_break.is_empty() {
        "\n"
    } else {
        line_break
    };
    let places: Vec<usize> = body
        .char_indices()
        .map(|(at, _)| at)
        .chain([body.len()])
        .collect();
    let at = random.pick(&places);
    let signs = [
        "\"", "'", "[", "]", "{", "}", ":", ": ", "- ", "-", "#", " #", "&", "*", "!", "|", ">",
        "%", "@", "`", ",", "?", "\t", " ", "  ", "\\", "é", "<<: *x", "---", "x",
    ];
    let (new, is_insertion) = match random.below(12) {
        0..=3 => (
            format!("{}{}{}", &body[..at], random.pick(&signs), &body[at..]),
            false,
        ),
        4 => {
            let next = places.iter().copied().find(|&p| p > at).unwrap_or(at);
            (format!("{}{}", &body[..at], &body[next..]), false)
        }
        5 => (body[..at].to_owned(), false),
        6 => (
            format!("{}{body}", random.pick(&[" ", "  ", "\t", "# ", "- "])),
            false,
        ),
        7 => (body.trim_start().to_owned(), false),
        8 => (String::new(), false),
        9 => (body[at..].to_owned(), false),
        10 => {
            let typed = [
                "foo", "foo:", "foo: [", "foo: \"", "  foo", "  foo: {", "- ", "foo bar",
            ];
            (random.pick(&typed).to_owned(), true)
        }
        _ => (format!("{body}{}", random.pick(&signs)), false),
    };
    Edit {
        line,
        new: new
            + if is_insertion {
                inserted_break
            } else {
                line_break
            },
        is_insertion,
    }
}
