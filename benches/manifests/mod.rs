//! Manifests: parsing speed, and the cost of a keystroke for the index of code and the rules about
//! parameters.

use std::sync::Arc;
use std::time::Duration;

use hiera_ls::lookup::{ConfigCache, PuppetVersion, Settings};
use hiera_ls::rules::{Checker, Recheck, recheck};
use hiera_ls::syntax::puppet::{Dialect, parse};
use hiera_ls::workspace::{Change, Workspace};

use crate::events_of;
use crate::measure::{best, note, process_time, quantile, ratio, report};

/// Number of keystrokes for a quantile.
const SAMPLES: usize = 100;

/// Number of manifests of the site, and of data files.
const MANIFESTS: usize = 400;

/// A letter typed in one of many manifests, and one in a data file of about the same size: the
/// index, and the findings of every re-checked file.
pub(crate) fn keystrokes() {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/w".into()]));
    let configs = Arc::<ConfigCache>::default();
    let write = |path: &str, text: &str| workspace.apply(Change::open(path, text));
    write(
        "/w/hiera.yaml",
        "version: 5\nhierarchy:\n  - {name: node, path: \"nodes/%{trusted.certname}.yaml\"}\n  \
         - {name: common, path: common.yaml}\n",
    );
    write("/w/environment.conf", "modulepath = site\n");
    write(
        "/w/manifests/site.pp",
        "lookup('classes', Array[String], 'unique').include\n",
    );
    let names: Vec<String> = (0..MANIFESTS).map(|at| format!("p{at:03}")).collect();
    for (at, name) in names.iter().enumerate() {
        let other = &names[(at + 1) % MANIFESTS];
        write(
            &format!("/w/site/profile/manifests/{name}.pp"),
            &manifest(name, other),
        );
        write(
            &format!("/w/data/nodes/n{at:03}.yaml"),
            &data_of(&names, at),
        );
    }
    let mut common = String::from("---\n");
    for name in &names {
        common.push_str(&format!(
            "profile::{name}::port0: 80\nprofile::{name}::names0: [a, b]\n"
        ));
    }
    let snapshot = write("/w/data/common.yaml", &common);
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let checker = Checker::with_configs(&snapshot, settings, Arc::clone(&configs));
    let found = checker.all();
    assert!(found.is_empty(), "{found:?}");
    let middle = MANIFESTS / 2;
    let keystroke = |path: &str, before: &str| {
        let text = snapshot.file(path).unwrap().text().clone();
        let (p50, p99, files) = digits(&workspace, &configs, path, &text, before);
        let parse = best(20, || events_of(text.as_bytes()));
        note(
            &format!("a digit before '{before}' in {path}, {} bytes", text.len()),
            &format!(
                "p50 {p50:.1?}, p99 {p99:.1?} with the findings of {files} files; libyaml's events of it \
                 {parse:.1?}"
            ),
        );
        p50
    };
    let of_data = keystroke(&format!("/w/data/nodes/n{middle:03}.yaml"), "0\nprofile");
    let manifest = format!("/w/site/profile/manifests/p{middle:03}.pp");
    let in_body = keystroke(&manifest, "\":\n");
    keystroke(&manifest, ",\n  Array");
    report(
        &format!("keystroke in one of {MANIFESTS} manifests against one in a node's file"),
        &format!(
            "{in_body:.1?} against {of_data:.1?}: {:.2}×",
            ratio(in_body, of_data)
        ),
        "≤ 1.5×",
        ratio(in_body, of_data) <= 1.5,
    );
}

/// Parses manifests: generated ones, or all `*.pp` below the folder in `MANIFESTS`.
pub(crate) fn parsing() {
    let texts: Vec<String> = match std::env::var("MANIFESTS") {
        Ok(folder) => {
            let files = hiera_ls::disk::snapshot_of(&folder);
            let manifests = files.files().filter(|file| file.path().ends_with(".pp"));
            manifests.map(|file| file.text().to_string()).collect()
        }
        Err(_) => (0..MANIFESTS)
            .map(|at| manifest(&format!("p{at:03}"), "other"))
            .collect(),
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    let time = best(5, || {
        for text in &texts {
            std::hint::black_box(parse(text, Dialect::Manifest));
        }
    });
    let speed = bytes as f64 / 1e6 / time.as_secs_f64();
    report(
        &format!("parsing {} manifests of {bytes} bytes", texts.len()),
        &format!("{time:.1?}: {speed:.0} MB a second"),
        "≥ 20 MB a second",
        speed >= 20.0,
    );
}

/// A class of about 4 KB with parameters, resources and a class that it includes.
fn manifest(name: &str, other: &str) -> String {
    let mut text = format!("# What {name} does.\nclass profile::{name} (\n");
    for at in 0..12 {
        text.push_str(&format!(
            "  Integer[1, 65535] $port{at} = 80,\n  Array[String[1]] $names{at} = ['a', \"b${{port{at}}}\"],\n"
        ));
    }
    text.push_str(&format!(") {{\n  include profile::{other}\n"));
    for at in 0..24 {
        text.push_str(&format!(
            "  file {{ \"/etc/{name}/{at}\":\n    ensure  => file,\n    content => \"${{names{}}}\",\n  }}\n",
            at % 12
        ));
    }
    text + "}\n"
}

/// A node's file of about 4 KB.
fn data_of(names: &[String], node: usize) -> String {
    let mut text = format!("---\nclasses: [profile::{}]\n", names[node]);
    for name in names.iter().cycle().skip(node).take(4) {
        for at in 0..12 {
            text.push_str(&format!(
                "profile::{name}::port{at}: {}\nprofile::{name}::names{at}: [n{node}, b]\n",
                1_000 + node
            ));
        }
    }
    text
}

/// The cost of a digit typed into the middle of a file and deleted again, at p50 and p99, and the
/// number of re-checked files.
fn digits(
    workspace: &Workspace,
    configs: &Arc<ConfigCache>,
    path: &str,
    text: &str,
    before: &str,
) -> (Duration, Duration, usize) {
    let places: Vec<usize> = text.match_indices(before).map(|(at, _)| at).collect();
    let at = places[places.len() / 2];
    let typed = format!("{}0{}", &text[..at], &text[at..]);
    let mut times = Vec::with_capacity(SAMPLES);
    let mut files = 0;
    for version in 1..=SAMPLES {
        let text = if version % 2 == 0 { text } else { &typed };
        let change = Change::Open {
            path: path.into(),
            text: text.into(),
            version: version as i32,
        };
        let start = process_time();
        let snapshot = workspace.apply(change);
        let Recheck::Files(again) = recheck(&snapshot, &[]) else {
            panic!("all files are checked again after an edit of {path}");
        };
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let checker = Checker::with_configs(&snapshot, settings, Arc::clone(configs));
        let found = again.iter().filter_map(|path| checker.file(path));
        let found: usize = found.map(|found| found.len()).sum();
        times.push(process_time().saturating_sub(start));
        files = again.len();
        assert_eq!(found, 0);
    }
    let (p50, p99) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
    (p50, p99, files)
}
