//! Random workspaces and edits, for tests that an edit equals a fresh start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;

use crate::fixture::{FOLDER, Fixture};
use crate::workspace::{Change, Snapshot, Workspace};

/// Files that are not edited.
const FIXED: &str = "\
#- environment.conf
modulepath = modules
#- modules/m/hiera.yaml
version: 5
hierarchy: [{name: common, path: common.yaml}]
";

/// Data files; at first, those without a chain have random lines.
const DATA: [&str; 10] = [
    "data/node/n.yaml",
    "data/node/o.yaml",
    "data/node/web01.example.com.yaml",
    "data/os/Debian.yaml",
    "data/os/Debian.json",
    "data/common.yaml",
    "data/common.conf",
    "data/other.yaml",
    "modules/m/data/common.yaml",
    "modules/m/data/unread.yaml",
];

/// Other files, with their possible texts; an empty one means that there is no file.
const OTHERS: [(&str, &[&str]); 3] = [
    (
        "hiera.yaml",
        &[
            "version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: os, path: \"os/%{facts.os.family}.yaml\"}
  - {name: json, path: \"os/%{facts.os.family}.json\", data_hash: json_data}
  - {name: common, paths: [common.yaml, other.yaml]}
  - {name: hocon, path: common.conf, data_hash: hocon_data}
",
            "version: 5
hierarchy:
  - {name: node, path: \"node/%{trusted.certname}.yaml\"}
  - {name: common, path: common.yaml}
",
        ],
    ),
    (
        "nodes.yaml",
        &[
            "",
            "n: {facts: {os: {family: Debian}}}\no: {}\n",
            "n: {facts: {role: 1}}\n",
        ],
    ),
    (
        "modules/m/lib/facter/x.rb",
        &["", "# x\n", "Facter.add(:rol)\n"],
    ),
];

/// Lines in which values lead to others, in one file and over several.
const CHAINS: [&str; 9] = [
    "base: &x [\"%{alias('a')}\"]\nb: *x",
    "base: &x \"%{alias('a')}\"\nb: *x",
    "base: &x {k: \"%{lookup('c')}\"}\nb: {<<: *x}",
    "base: &x {a: \"%{alias('c')}\"}\n<<: *x",
    "base: &y [&x \"%{alias('m::q')}\"]\nb: [*y]\nm::r: *x",
    "m::p: \"%{alias('b')}\"",
    "m::q: [\"%{alias('b')}\"]",
    "c: \"%{alias('b')}\"",
    "lookup_options: {a: &x {merge: unique}, b: *x}",
];

/// Manifests, with their possible texts.
const MANIFESTS: [(&str, [&str; 13]); 4] = [
    (
        "manifests/site.pp",
        [
            "lookup('classes', Array, 'unique').include\n",
            "lookup('classes', {merge => unique}).include\ninclude m\n",
            "hiera_include('classes')\n",
            "node default { $tier = 'x' hiera_include('classes') }\n",
            "class { 'm': p => 1 }\nhiera_include('classes')\n",
            "$x = lookup('m:p')\nhiera_include('classes')\nclass { $x: }\n",
            "include m::other\n",
            "node 'n' { include m::other }\nnode default { hiera_include('classes') }\n",
            "node default { $tier = 'y' hiera_include('classes') }\n",
            "# x\nnode default { $tier  = 'y'\nhiera_include('classes') }\n",
            "function f() { 'x' }\n$tier = f()\ninclude m\n",
            "function f() { 'n' }\n$tier = f()\ninclude m\n",
            "$x = hiera_array('a')\ninclude m\n",
        ],
    ),
    (
        "modules/m/manifests/init.pp",
        [
            "class m(Integer $p, $q) { }\n",
            "class m(String $p, Array[String] $q = []) { }\n",
            "class m(M::T $p) { $x = lookup('m::r') }\n",
            "class m($q) { $x = lookup(\"m::${x}\") }\n",
            "class m(Numeric $p, $q) { $x = lookup($y) }\n",
            "class m(Hash $other) { }\nclass m::other(Integer $p) { }\n",
            "class m { include m::other }\n",
            "class m($p) { if $p { return() } include m::other }\n",
            "class m(Enum['x'] $p, $q) { }\n",
            "# x\nclass m(Integer $p, $q = 2) { }\n",
            "class m(Integer $p, $q) { include m::other\n",
            "class m(Integer $p, $q, $s = '') { include m::other lookup('a') }\n",
            "class m(Integer $p, $q) { $x = lookup('m::q', {merge => unique}) }\n",
        ],
    ),
    (
        "modules/m/manifests/other.pp",
        [
            "class m::other(Hash $p) { $x = lookup('m') }\n",
            "class m::other { $x = lookup($y) }\n",
            "class m::other { $x = lookup('m::q.k') }\n",
            "class m::other { $x = lookup(\"m${y}\") }\n",
            "class m::other($s) { class { 'm': p => 1 } }\n",
            "class m::other { include m }\n",
            "class m::other($r) { contain m class { $r: q => 1 } }\n",
            "class m::other(Enum['n'] $p) { }\n",
            "class m::other(Enum['n'] $p = 'm) { }\n",
            "# x\nclass m::other($p) { lookup('c') }\n",
            "class m::othe(Enum['n', 'x'] $p) { }\n",
            "# x\nclass m::other($p) { lookup('c', Array, 'unique') }\n",
            "",
        ],
    ),
    (
        "modules/m/types/t.pp",
        [
            "type M::T = Integer\n",
            "type M::T = String\n",
            "type M::T = M::U\n",
            "type M::T = Array[String]\n",
            "type M::T = \n",
            "# type M::T = String\n",
            "type M::T = Optional[String]\n",
            "type M::T = Enum['n', 'x']\n",
            "# x\ntype M::T = Integer\n",
            "type M::T = Boolean\n",
            "type M::T = Variant[Integer, M::T]\n",
            "type M::T = Hash\n",
            "",
        ],
    ),
];

const KEYS: [&str; 10] = [
    "a", "b", "c", "m", "m::p", "m::q", "m::r", "m:p", "m::other", "classes",
];

const VALUES: [&str; 28] = [
    "1",
    "\"1\"",
    "text",
    "~",
    "",
    "[x, y]",
    "[x, \"--y\"]",
    "[\"--x\", m, m::other]",
    "{k: 1, \"80\": 2}",
    "{k: x, l: {n: 2}}",
    "{\"--k\": ~}",
    "{p: 1, q: [x]}",
    "\"%{lookup('a')}\"",
    "\"%{lookup('b')}\"",
    "\"x%{lookup('c')}\"",
    "\"%{alias('a')}\"",
    "\"%{alias('b')}\"",
    "\"%{alias('m::q')}\"",
    "\"%{lookup('m:p')}\"",
    "\"%{lookup('c.k')}\"",
    "\"%{lookup('b.80')}\"",
    "\"%{lookup('b.1')}\"",
    "\"%{lookup('aa')}\"",
    "[\"%{alias('c')}\", \"%{lookup('m::p')}\"]",
    "{k: \"%{lookup('m::r')}\"}",
    "\"%{facts.role}\"",
    "\"%{tier}\"",
    "\"%{trusted.certname}\"",
];

const OPTIONS: [&str; 18] = [
    "a: {merge: unique}",
    "a: {convert_to: Integer}",
    "b: {merge: hash}",
    "b: {merge: deep}",
    "c: {convert_to: [Array, true]}",
    "c: {merge: \"%{lookup('a')}\"}",
    "a: {convert_to: \"%{lookup('b')}\"}",
    "'^m::.*': {merge: {strategy: deep, knockout_prefix: '--'}}",
    "'^m::': {convert_to: String}",
    "'^[abc]$': {convert_to: Integer}",
    "'^x::': {merge: hash}",
    "m::p: {merge: hash}",
    "m::p: {convert_to: Sensitive}",
    "m: {merge: hash}",
    "m::q: {merge: {strategy: deep, knockout_prefix: '--'}}",
    "m::q: deep",
    "classes: {merge: unique}",
    "b.k: {merge: deep}",
];

/// The data file that the values of [`LEADING`] lead to.
const LAST: usize = 7;

const COMMON: usize = 5;

/// Lists of classes.
const CLASSES: [&str; 3] = [
    "\"classes\": [m]",
    "\"classes\": [m::other]",
    "\"classes\": [x]",
];

/// Values for parameters of these classes, and another one.
const PARAMETERS: [&str; 7] = [
    "\"m::q\": 1",
    "\"m::p\": 1",
    "\"m::p\": [x]",
    "\"m::other::p\": 1",
    "\"a\": 1",
    "\"m::p\": \"%{alias('a')}\"",
    "\"m::p\": \"%{facts.role}\"",
];

/// A file, its lines that lead to the key `a`, and a line of another file that leads to them.
const LEADING: [(usize, &[&str], &str); 4] = [
    (
        5,
        &["base: &x \"%{alias('a')}\"\nb: *x"],
        "\"m::p\": \"%{alias('b')}\"",
    ),
    (
        5,
        &["base: &x {k: \"%{alias('a')}\"}\nb: {<<: *x}"],
        "\"m::p\": \"%{alias('b.k')}\"",
    ),
    (
        6,
        &["\"base\": \"%{alias('a')}\"", "\"b\": ${base}"],
        "\"m::p\": \"%{alias('b')}\"",
    ),
    (
        4,
        &["\"b\": {\"k\": [\"%{alias('a')}\"]}"],
        "\"m::p\": \"%{alias('b.k.0')}\"",
    ),
];

/// A line of a data file in YAML; JSON and HOCON files take those that they can have.
fn line() -> impl Strategy<Value = String> {
    let entry = (select(&KEYS[..]), select(&VALUES[..]));
    let options = prop::collection::vec(select(&OPTIONS[..]), 1..4);
    prop_oneof![
        8 => entry.prop_map(|(key, value)| format!("\"{key}\": {value}")),
        4 => select(&CHAINS[..]).prop_map(str::to_owned),
        2 => options.prop_map(|all| format!("lookup_options:\n  {}", all.join("\n  "))),
        1 => Just("\"a\": [".to_owned()),
    ]
}

/// The lines of all data files at first; `None` for a file that is not there. Some begin with a value
/// that leads over three files.
pub(crate) fn first() -> impl Strategy<Value = Vec<Option<Vec<String>>>> {
    let random = || prop::collection::vec(prop::option::weighted(0.8, lines()), DATA.len());
    let chained = (random(), select(&LEADING[..])).prop_map(|(mut files, (at, lines, end))| {
        let own = |lines: &[&str]| Some(lines.iter().map(|line| (*line).to_owned()).collect());
        files[at] = own(lines);
        files[3] = own(&[end]);
        files[LAST] = own(&["\"a\": 1"]);
        files
    });
    prop_oneof![random(), chained]
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 0..5)
}

/// The text of a data file with some lines.
fn text(path: &str, lines: &[String]) -> String {
    let is_plain = |line: &&String| {
        let is_of_yaml = line.contains(['~', '&', '*', '\n']) || line.contains("text");
        line.starts_with('"') && !line.ends_with(": ") && !is_of_yaml
    };
    let quoted = |line: &String| {
        let words = [
            "x", "y", "--x", "--y", "m", "m::other", "k", "l", "n", "p", "q",
        ];
        let parts = line.split_inclusive(['[', ']', '{', '}', ',', ':', ' ']);
        let parts = parts.map(|part| {
            let word = part.trim_end_matches(['[', ']', '{', '}', ',', ':', ' ']);
            if words.contains(&word) && !line.contains("%{") {
                format!("\"{word}\"{}", &part[word.len()..])
            } else {
                part.to_owned()
            }
        });
        parts.collect::<String>()
    };
    let plain = || {
        lines
            .iter()
            .filter(is_plain)
            .map(quoted)
            .collect::<Vec<_>>()
    };
    match path.rsplit('.').next() {
        Some("json") => format!("{{{}}}", plain().join(",\n")),
        Some("conf") if lines.len() > 2 => format!("{}\nm: ${{a}}\n", plain().join("\n")),
        Some("conf") => plain().join("\n"),
        _ => lines.iter().map(|line| format!("{line}\n")).collect(),
    }
}

/// An edit; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// A line of a data file is replaced.
    Line(usize, usize, String),
    /// A data file gets other lines, and appears if it was not there.
    Data(usize, Vec<String>),
    Vanishes(usize),
    /// Another file gets this text.
    Other(&'static str, &'static str),
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let manifest = |(path, texts): (&'static str, [&'static str; 13])| {
        select(texts.to_vec()).prop_map(move |text| Edit::Other(path, text))
    };
    let other = |(path, texts): (&'static str, &'static [&'static str])| {
        select(texts).prop_map(move |text| Edit::Other(path, text))
    };
    prop_oneof![
        8 => (0..DATA.len(), 0..5usize, line()).prop_map(|(file, at, line)| Edit::Line(file, at, line)),
        4 => select(&["1", "[x]", "{k: 1}"][..])
            .prop_map(|value| Edit::Line(LAST, 0, format!("\"a\": {value}"))),
        2 => (0..DATA.len(), lines()).prop_map(|(file, lines)| Edit::Data(file, lines)),
        1 => (0..DATA.len()).prop_map(Edit::Vanishes),
        3 => select(&MANIFESTS[..]).prop_flat_map(manifest),
        1 => select(&OTHERS[..]).prop_flat_map(other),
    ]
}

/// Data of a node that includes a class by a list, with a value for one of its parameters.
pub(crate) fn first_with_classes() -> Vec<Option<Vec<String>>> {
    let mut files = vec![None; DATA.len()];
    files[COMMON] = Some(vec![PARAMETERS[0].to_owned()]);
    files[LAST] = Some(vec![CLASSES[0].to_owned()]);
    files
}

/// An edit, mostly of the list or of the value.
pub(crate) fn edit_of_classes() -> impl Strategy<Value = Edit> {
    let line = |file, line: &str| Edit::Line(file, 0, line.to_owned());
    prop_oneof![
        2 => edit(),
        1 => select(&CLASSES[..]).prop_map(move |text| line(LAST, text)),
        2 => select(&PARAMETERS[..]).prop_map(move |text| line(COMMON, text)),
    ]
}

/// A workspace with all files open.
pub(crate) struct Edited {
    pub(crate) workspace: Workspace,
    data: BTreeMap<&'static str, Vec<String>>,
    paths: BTreeSet<String>,
}

impl Edited {
    pub(crate) fn new(first: Vec<Option<Vec<String>>>) -> Edited {
        let mut edited = Edited {
            workspace: Workspace::new(),
            data: BTreeMap::new(),
            paths: BTreeSet::new(),
        };
        let folders = Change::Folders(vec![FOLDER.into()]);
        edited.workspace.apply(folders);
        for (path, text) in Fixture::new("hiera.yaml", FIXED).files {
            edited.write(&path, &text);
        }
        let others = OTHERS.map(|(path, texts)| (path, texts[0]));
        for (path, text) in others
            .into_iter()
            .chain(MANIFESTS.map(|(path, all)| (path, all[0])))
        {
            edited.write(path, text);
        }
        for (at, lines) in first.into_iter().enumerate() {
            if let Some(lines) = lines {
                edited.apply(&Edit::Data(at, lines));
            }
        }
        edited
    }

    fn write(&mut self, path: &str, text: &str) -> Arc<Snapshot> {
        let at = format!("{FOLDER}/{path}");
        if text.is_empty() && self.paths.contains(path) {
            self.paths.remove(path);
            return self.workspace.apply(Change::Close { path: at.into() });
        }
        if !text.is_empty() {
            self.paths.insert(path.to_owned());
            self.workspace.apply(Change::open(at, text));
        }
        self.workspace.snapshot()
    }

    pub(crate) fn apply(&mut self, edit: &Edit) -> Arc<Snapshot> {
        let file = match edit {
            Edit::Other(path, text) => return self.write(path, text),
            Edit::Line(file, ..) | Edit::Data(file, _) | Edit::Vanishes(file) => DATA[*file],
        };
        match edit {
            Edit::Line(_, at, line) => {
                let lines = self.data.entry(file).or_default();
                match lines.len() {
                    0 => lines.push(line.clone()),
                    many => lines[at % many].clone_from(line),
                }
            }
            Edit::Data(_, lines) => drop(self.data.insert(file, lines.clone())),
            Edit::Vanishes(_) | Edit::Other(..) => {
                self.data.remove(file);
                return self.write(file, "");
            }
        }
        let text = text(file, &self.data[file]);
        // An empty text is a file too.
        self.write(file, if text.is_empty() { "\n" } else { &text })
    }

    /// The same texts in a new workspace, with files in the same order.
    pub(crate) fn fresh(&self) -> Arc<Snapshot> {
        let workspace = Workspace::new();
        workspace.apply(Change::Folders(vec![FOLDER.into()]));
        for file in self.workspace.snapshot().files() {
            workspace.apply(Change::open(&**file.path(), &**file.text()));
        }
        workspace.snapshot()
    }
}
