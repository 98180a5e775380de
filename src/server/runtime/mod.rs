//! Tasks, pauses and the clock of the server. Where the system has threads they are tokio's; in a module of
//! WebAssembly they are a queue that the module's host runs (`hosted.rs`), with the same names.
//!
//! Only this module and [`super::serve`] know which of the two it is. tokio's channels, locks and `select!` work in both.

#[cfg(any(test, target_family = "wasm"))]
#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "tested where it is not used")
)]
pub(super) mod hosted;

#[cfg(target_family = "wasm")]
pub(super) use hosted::{
    Handle, Instant, JoinHandle, block_in_place, sleep, sleep_until, spawn, spawn_blocking, timeout,
};
#[cfg(not(target_family = "wasm"))]
pub(super) use tokio::{
    runtime::Handle,
    spawn,
    task::{JoinHandle, block_in_place, spawn_blocking},
    time::{Instant, sleep, sleep_until, timeout},
};
