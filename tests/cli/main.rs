//! The program on the command line: its commands, their exit codes, and its limits.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests drive the program, write folders and print what they compared"
)]

mod arguments_cli;
mod bolt_cli;
mod bounds;
mod catalogs_cli;
mod check_cli;
mod docs_cli;
mod doctor_cli;
mod encrypt_cli;
mod fix_cli;
mod import_cli;
mod looked_up_cli;
mod lookup_cli;
mod manifests_cli;
mod markdown_cli;
mod mcp_cli;
mod messages_cli;
mod nodes_cli;
mod pages_cli;
mod project_cli;
mod puppetdb;
mod reach_cli;
mod report_cli;
mod reported_cli;
mod rules_cli;
mod same_nodes_cli;
mod same_options_cli;
mod set_cli;
mod sources_cli;
mod terminal_cli;
mod test_cli;
mod unknown_cli;
mod upgrade_acme_cli;
mod upgrade_calls_cli;
mod upgrade_cli;
