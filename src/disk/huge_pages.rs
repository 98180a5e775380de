//! Whether the kernel hands out memory in huge pages.
//!
//! Whoever touches a huge page first has two megabytes cleared. That is little for the texts and facts
//! of a whole workspace, which take hundreds of times as long in small pages, and much for an answer that
//! needs a few kilobytes: on a virtual machine, whose own memory may have to be found first, it is
//! milliseconds. So huge pages are for reading whole workspaces.

use std::sync::OnceLock;

/// What the kernel does by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfSystem {
    Small,
    Huge,
}

/// What it did before anybody asked for something else: this is never overruled.
static INHERITED: OnceLock<OfSystem> = OnceLock::new();

/// Asks for small pages from here on, for the whole process. What is there already stays.
pub(crate) fn deny() {
    INHERITED.get_or_init(kernel::asked);
    kernel::ask(OfSystem::Small);
}

/// Asks for what the kernel does by itself again: right for reading much.
pub(crate) fn allow() {
    if let Some(&inherited) = INHERITED.get() {
        kernel::ask(inherited);
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use super::OfSystem;

    pub(super) fn asked() -> OfSystem {
        match rustix::thread::transparent_huge_pages_are_disabled() {
            Ok(false) => OfSystem::Huge,
            Ok(true) | Err(_) => OfSystem::Small,
        }
    }

    pub(super) fn ask(pages: OfSystem) {
        // Old kernels do not know it: nothing is lost.
        let _ = rustix::thread::disable_transparent_huge_pages(pages == OfSystem::Small);
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use super::OfSystem;

    pub(super) fn asked() -> OfSystem {
        OfSystem::Small
    }

    pub(super) fn ask(_pages: OfSystem) {}
}
