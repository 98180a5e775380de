//! The `hiera-ls` program: arguments in, exit code out.

/// Trees and values are many small allocations, for which the system's allocator is slow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    hiera_ls::cli::main()
}
