//! The library as its users call it: syntax, types, rules, hovers and the matrix.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests read files, measure and print what they compared"
)]

#[path = "../support/fixture.rs"]
mod fixture;
#[path = "../support/hover_forms.rs"]
mod hover_forms;
#[path = "../support/puppet_tree.rs"]
mod puppet_tree;

mod check_acme;
mod check_pages;
mod compare;
mod datatype_cases;
mod dump;
mod evaluate;
mod hover_acme;
mod manifests;
mod matrix;
mod puppet_code;
mod regexp_cases;
mod syntax_json;
mod syntax_psych;
mod syntax_robust;
mod tagged_json;
mod typed_data;
