//! The server over a real pipe, in raw JSON-RPC: the four rules of the transport, order and
//! liveness, and everything that a client can do wrong.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the clock, start the program and stop at what they did not expect"
)]

mod alone;
mod changes;
mod client;
mod order;
mod program;
mod robust;
mod rules;
mod session;
mod start;
mod storm;
