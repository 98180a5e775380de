//! Sessions of editors with the server.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests drive the program, write folders and print what they compared"
)]

mod incremental_files;
mod lsp_incremental;
mod lsp_session;
