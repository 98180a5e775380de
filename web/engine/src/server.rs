//! The language server behind five more functions: the host starts it, gives it the messages of a client and the time,
//! takes its messages, and gets the pages of rules. `docs/report.md` describes them.

use std::cell::RefCell;
use std::time::Duration;

use hiera_ls::rules;
use hiera_ls::server::{HostedServer, Options};

use super::{put, taken};

thread_local! {
    static SERVER: RefCell<Option<HostedServer>> = const { RefCell::new(None) };
}

/// Starts a server. Returns the length of the output: empty, or why it does not start.
#[unsafe(no_mangle)]
pub extern "C" fn start() -> usize {
    put(match HostedServer::start(Options::default()) {
        Ok(server) => {
            SERVER.set(Some(server));
            String::new()
        }
        Err(error) => error.to_string(),
    })
}

/// Takes the input as a message of the client.
#[unsafe(no_mangle)]
pub extern "C" fn receive() {
    let message = taken();
    SERVER.with_borrow(|server| {
        if let Some(server) = server {
            server.receive(&message);
        }
    });
}

/// Works, at `now` milliseconds of the host's clock. Returns in how many milliseconds to call again, less than zero for
/// after the next message.
#[unsafe(no_mangle)]
pub extern "C" fn advance(now: f64) -> f64 {
    let now = Duration::try_from_secs_f64(now / 1000.0).unwrap_or_default();
    let next = SERVER.with_borrow(|server| server.as_ref().and_then(|server| server.advance(now)));
    next.map_or(-1.0, |next| next.as_secs_f64() * 1000.0)
}

/// The next message for the client. Returns the length of the output: zero if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn take() -> usize {
    let message = SERVER.with_borrow(|server| server.as_ref().and_then(HostedServer::take));
    put(String::from_utf8(message.unwrap_or_default()).unwrap_or_default())
}

/// Takes the input as the code of a rule. Returns the length of the output: its page in Markdown, empty if there is no
/// such rule.
#[unsafe(no_mangle)]
pub extern "C" fn page() -> usize {
    let code = taken();
    let rule = std::str::from_utf8(&code).ok().and_then(rules::rule);
    put(rule.map(|rule| rule.page.to_owned()).unwrap_or_default())
}
