//! The `hiera-ls` program: arguments in, exit code out.

fn main() -> std::process::ExitCode {
    hiera_ls::cli::main()
}
