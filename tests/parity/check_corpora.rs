//! Real control repositories: exactly the findings that were reviewed and found correct, kept in
//! `tests/snapshots` as rule, file and line.
//!
//! `UPDATE_EXPECT=1 cargo test --test parity check_corpora` regenerates them.
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect_file;
use hiera_ls::disk::{Ignore, scan};
use hiera_ls::lookup::PuppetVersion;
use hiera_ls::rules::Checker;
use hiera_ls::workspace::{Change, Workspace};

fn findings(corpus: &str) -> Option<String> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = project.join("../shared/corpora").join(corpus);
    let Ok(root) = root.join("workspace").canonicalize() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "no corpus at {}",
            root.display()
        );
        println!("skipped: no corpus at {}", root.display());
        return None;
    };
    let folder: Arc<str> = Arc::from(root.to_str().unwrap());
    let found = scan(std::slice::from_ref(&folder), &Ignore::default(), &|_| {
        ControlFlow::Continue(())
    });
    let snapshot = Workspace::new().apply(Change::Batch(vec![
        Change::Folders(vec![folder.clone()]),
        found.change,
    ]));
    let checker = Checker::new(&snapshot, PuppetVersion::V8);
    let mut text = String::new();
    for finding in checker.all() {
        let file = snapshot.file(&finding.path).unwrap();
        let line = file.lines().line(finding.range.start as usize) + 1;
        let path = finding.path.strip_prefix(&*folder).unwrap();
        writeln!(text, "{} {}:{line}", finding.code, &path[1..]).unwrap();
    }
    let read = snapshot
        .files()
        .filter(|file| checker.file(file.path()).is_some())
        .count();
    writeln!(text, "{read} files are checked").unwrap();
    Some(text)
}

#[test]
fn lsst_control() {
    if let Some(found) = findings("lsst-control") {
        expect_file!["../snapshots/check_lsst-control.txt"].assert_eq(&found);
    }
}

#[test]
fn magic_castle() {
    if let Some(found) = findings("magic_castle") {
        expect_file!["../snapshots/check_magic_castle.txt"].assert_eq(&found);
    }
}
