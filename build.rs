//! What `hiera-ls --version` says of the program: the target, and the commit that it was built from. And the page of
//! `hiera-ls report`, if the environment names one.

#![allow(
    clippy::disallowed_methods,
    reason = "a build asks Cargo and git, not a workspace"
)]

use std::path::Path;
use std::process::Command;

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=HIERA_LS_TARGET={target}");
    println!("cargo::rerun-if-env-changed=HIERA_LS_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    report_page();
    let commit = std::env::var("HIERA_LS_COMMIT").ok().or_else(commit);
    println!(
        "cargo::rustc-env=HIERA_LS_COMMIT={}",
        commit.unwrap_or_default()
    );
}

/// Puts the page that `HIERA_LS_REPORT_PAGE` names where the program includes it, else an empty file.
fn report_page() {
    println!("cargo::rerun-if-env-changed=HIERA_LS_REPORT_PAGE");
    let page = match std::env::var("HIERA_LS_REPORT_PAGE") {
        Ok(named) => {
            println!("cargo::rerun-if-changed={named}");
            std::fs::read(&named).unwrap_or_else(|error| panic!("{named}: {error}"))
        }
        Err(_) => Vec::new(),
    };
    let folder = std::env::var("OUT_DIR").unwrap_or_default();
    let at = Path::new(&folder).join("report_page");
    if let Err(error) = std::fs::write(&at, page) {
        panic!("{}: {error}", at.display());
    }
}

/// The commit of an optimized build: by git, or as `cargo package` wrote it down. Others have none, so
/// that a commit does not make all of them anew.
fn commit() -> Option<String> {
    if std::env::var("PROFILE").as_deref() == Ok("debug") {
        return None;
    }
    if let Ok(packaged) = std::fs::read_to_string(".cargo_vcs_info.json") {
        let (_, rest) = packaged.split_once("\"sha1\": \"")?;
        return rest.get(..10).map(str::to_owned);
    }
    // The log of HEAD changes with every commit and every checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    // A package that lies in another project's repository is not built from its commits.
    let own = git(&["ls-files", "build.rs"]).filter(|file| !file.is_empty());
    own.and_then(|_| git(&["rev-parse", "--short=10", "HEAD"]))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
