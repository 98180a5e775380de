//! Each rule must be able to fail: planted mistakes, and similar code without a mistake.

use super::*;

const MAP: [&str; 5] = ["cli", "server", "disk", "lookup", "text"];

fn found(path: &str, text: &str) -> Vec<String> {
    let map: Vec<String> = MAP.map(str::to_owned).to_vec();
    findings(&[Source::new(path, &format!("//! A room.\n{text}"))], &map)
}

fn assert_found(path: &str, text: &str, part: &str) {
    let found = found(path, text);
    assert!(
        found.len() == 1 && found[0].contains(part),
        "{text}: {found:?}"
    );
}

fn assert_clean(path: &str, text: &str) {
    assert_eq!(found(path, text), Vec::<String>::new(), "{text}");
}

#[test]
fn rules_that_name_others() {
    let rules = registered_rules("macro_rules! rules { } rules! { bad, worse, }");
    assert_eq!(rules.iter().collect::<Vec<_>>(), ["bad", "worse"]);
    let found = |path: &str, text: &str| rules_named(&[Source::new(path, text)], &rules).len();
    assert_eq!(found("rules/shared.rs", "use super::worse::check;"), 1);
    assert_eq!(found("rules/bad.rs", "use super::{context, worse};"), 1);
    assert_eq!(found("rules/bad/part.rs", "use crate::rules::bad;"), 0);
    assert_eq!(found("rules/bad.rs", "fn worse() { context::shown() }"), 0);
    assert_eq!(found("rules/mod.rs", "pub use worse::secret;"), 0);
}

#[test]
fn types_of_one_name() {
    let twice = |first: &str, second: &str| {
        let sources = [Source::new("a.rs", first), Source::new("b.rs", second)];
        types_defined_twice(&sources)
    };
    let found = twice("pub struct Node;", "pub(in crate::b) enum Node {}");
    assert_eq!(found, ["`Node`: a.rs, b.rs"]);
    assert_eq!(
        twice("pub type Id = u8;", "pub(super) trait Id {}").len(),
        1
    );
    assert_eq!(
        twice("pub struct Node;", "struct Node; pub use a::Id;").len(),
        1
    );
    assert!(twice("impl A for B { type Item = u8; }", "pub struct Item;").is_empty());
    assert!(twice("fn f() { a.union(Node) }", "struct Node;").is_empty());
    assert!(twice("pub struct Node;", "// pub enum Node {}").is_empty());
    assert!(twice("pub struct Node;", "pub struct Nodes(pub (Node, u8));").is_empty());
}

#[test]
fn the_network_elsewhere() {
    let words = "belongs into cli/import/client.rs";
    for code in ["use ureq::Agent;", "use rustls::crypto;"] {
        assert_found("server/a.rs", code, words);
        assert_found("cli/import/query.rs", code, words);
        assert_clean("cli/import/client.rs", code);
    }
    let code = "fn f() { std::net::TcpStream::connect(a); }";
    assert_found("server/a.rs", code, words);
    assert_found("lookup/a.rs", code, "belongs under server/, cli/, disk");
    assert_clean(
        "server/a.rs",
        &format!("#[cfg(test)]\nmod tests {{ {code} }}"),
    );
    assert_clean("server/a.rs", "// ureq\nfn f() { \"ureq\" }");
}

#[test]
fn arrows_that_run_up() {
    let up = "`text` may not use `lookup` above it";
    for text in [
        "use crate::lookup::Trace;",
        "use crate::{text, lookup::{Trace, Step}};",
        "use crate::{\n    text::{self, Line},\n    lookup,\n};",
        "fn f() { crate::lookup::explain() }",
        "use super::super::lookup;",
        "use hiera_ls::lookup;",
        "mod tests { use crate::lookup; }",
    ] {
        assert_found("text/line.rs", text, up);
    }
    assert_found("text/mod.rs", "use super::lookup;", up);
    assert_found(
        "server/mod.rs",
        "use crate::cli::run;",
        "`server` may not use `cli`",
    );
    assert_found("attic/mod.rs", "use crate::text;", "not in the code map");
    assert_found(
        "main.rs",
        "fn main() { hiera_ls::server::run() }",
        "not the top room",
    );
}

#[test]
fn arrows_that_run_down_or_stay() {
    assert_clean("cli/mod.rs", "use crate::{server, lookup::Trace, text};");
    assert_clean(
        "lookup/mod.rs",
        "use crate::lookup::Trace; use crate::text;",
    );
    assert_clean("lookup/trace.rs", "use super::disk;");
    assert_clean(
        "text/mod.rs",
        "// crate::lookup\n/* crate::lookup /* */ crate::lookup */",
    );
    assert_clean(
        "text/mod.rs",
        "const T: &str = \"crate::lookup \\\" crate::lookup\";",
    );
    assert_clean(
        "text/mod.rs",
        "const T: &str = r#\"crate::lookup \" crate::lookup\"#;",
    );
    assert_clean(
        "text/mod.rs",
        "const C: [char; 2] = ['\"', '\\'']; // crate::lookup",
    );
    assert_clean(
        "main.rs",
        "fn main() -> std::process::ExitCode { hiera_ls::cli::main() }",
    );
}

#[test]
fn the_protocol_outside_its_room() {
    assert_found(
        "cli/mod.rs",
        "use tokio::sync::Mutex;",
        "`tokio` belongs under server/",
    );
    assert_found("lookup/mod.rs", "use tower_lsp::Client;", "`tower_lsp`");
    let agents = "cli/mcp/protocol.rs";
    assert_clean(agents, "use tokio::sync::Semaphore; use rmcp::model::Tool;");
    assert_found(agents, "use tower_lsp::Client;", "`tower_lsp`");
    assert_found(
        "cli/mcp/tools.rs",
        "use rmcp::model::Tool;",
        "belongs into cli/mcp/protocol.rs",
    );
    assert_clean("server/mod.rs", "use tokio::sync::Mutex;");
    assert_clean("lookup/mod.rs", "/// Unlike tokio's.\nfn tokio_like() {}");
}

#[test]
fn unsafe_outside_its_file() {
    assert_found(
        "text/mod.rs",
        "fn f() { unsafe { g() } }",
        "`unsafe` belongs into",
    );
    assert_clean("syntax/libyaml.rs", "fn f() { unsafe { g() } }");
    assert_clean("text/mod.rs", "#![deny(unsafe_code)] // never unsafe");
}

#[test]
fn the_world_outside() {
    for text in [
        "use std::fs;",
        "use std::{collections::HashMap, env};",
        "use std::{\n    io::{self, Read},\n    fs::File,\n};",
        "fn f() { std::time::Instant::now(); }",
        "use std::process::ExitCode;",
        "#[cfg(test)] mod tests { use std::io; } use std::net::TcpStream;",
    ] {
        assert_found("lookup/mod.rs", text, "belongs under server/, cli/, disk");
    }
    assert_clean("disk/mod.rs", "use std::fs;");
    assert_clean("cli/mod.rs", "use std::process::ExitCode;");
    let called = "fn f() { std::process::Command::new(a); }";
    for (room, text) in [
        ("lookup/mod.rs", "use std::process::Command;"),
        ("disk/mod.rs", "use std::process::{Command, id};"),
        ("disk/mod.rs", called),
        ("cli/mod.rs", "use std::process;"),
    ] {
        assert_found(room, text, "starts a program");
    }
    assert_clean(
        "lookup/mod.rs",
        "use std::time::Duration; use std::collections::HashMap;",
    );
    assert_clean(
        "lookup/mod.rs",
        "fn f() {} #[cfg(test)] mod tests { use std::fs; fn g() {} }",
    );
    let mut sources = [
        Source::new("lookup/mod.rs", "//! It.\n#[cfg(test)]\nmod tests;"),
        Source::new("lookup/tests.rs", "//! Its tests.\nuse std::fs;"),
    ];
    mark_test_files(&mut sources);
    assert_eq!(findings(&sources, &MAP.map(str::to_owned)).len(), 0);
    sources[1].test_only = false;
    assert_eq!(findings(&sources, &MAP.map(str::to_owned)).len(), 1);
}

#[test]
fn messages_that_code_reads() {
    let text = "fn f(error: E) -> bool { error.message.starts_with(\"a\") }";
    assert_found("lookup/mod.rs", text, "`starts_with` on a message");
    let text = "fn f(error: E) -> bool { error.to_string().contains(\"a\") }";
    assert_found("lookup/mod.rs", text, "`contains` on a message");
    assert_clean(
        "lookup/mod.rs",
        "fn f(e: E) -> String { e.message.clone() }",
    );
    assert_clean(
        "lookup/mod.rs",
        "#[cfg(test)] mod tests { fn f(m: M) { m.message.contains('a'); } }",
    );
}

#[test]
fn long_files_and_missing_introductions() {
    assert_found("text/mod.rs", &"\n".repeat(MAX_LINES), "split it");
    assert_clean("text/mod.rs", &"\n".repeat(MAX_LINES - 1));
    let map: Vec<String> = MAP.map(str::to_owned).to_vec();
    let found = findings(&[Source::new("text/mod.rs", "use std::fmt;\n")], &map);
    assert!(found.len() == 1 && found[0].contains("//!"), "{found:?}");
}

#[test]
fn the_map_is_read_in_order() {
    let lib =
        "//! | room | what |\n//! | --- | --- |\n//! | [`cli`] | it |\n//! | [`text`] | it |\n";
    assert_eq!(rooms_of_the_map(lib), ["cli", "text"]);
}
