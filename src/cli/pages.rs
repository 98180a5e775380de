//! Which pages of memory the kernel hands out.

/// What the system hands out by itself.
#[derive(Clone, Copy)]
pub(super) struct OfSystem {
    is_small: bool,
}

/// Asks for small pages from here on: a command that reads a few files and ends would have two
/// megabytes cleared for every size of allocation that it makes.
pub(super) fn small() -> OfSystem {
    let is_small = is_small();
    ask(true);
    OfSystem { is_small }
}

impl OfSystem {
    /// Asks for it again: right for what takes long or reads much.
    pub(super) fn again(self) {
        ask(self.is_small);
    }
}

#[cfg(target_os = "linux")]
fn is_small() -> bool {
    rustix::thread::transparent_huge_pages_are_disabled().unwrap_or(true)
}

#[cfg(target_os = "linux")]
fn ask(small: bool) {
    // Old kernels do not know it: nothing is lost.
    let _ = rustix::thread::disable_transparent_huge_pages(small);
}

#[cfg(not(target_os = "linux"))]
fn is_small() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn ask(_small: bool) {}
