//! The command line: one file for each command.
//!
//! Answers go to standard output, everything else to standard error. Exit codes are documented in
//! `docs/exit-codes.md`.

mod batch;
mod check;
mod compiled;
mod console;
mod diff;
mod doctor;
mod encrypt;
mod hover;
#[cfg(feature = "import")]
mod import;
mod installation;
mod key_value;
mod keys;
mod log;
mod lookup;
mod matrix;
#[cfg(feature = "mcp")]
mod mcp;
mod nodes;
mod puppet;
mod render;
mod report;
mod rules;
mod set;
mod suggestions;
mod table;
mod terminal;
mod test;
mod upgrade;
mod usage;
mod why_not;
mod workspace;
mod written;
mod xml;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use std::io::IsTerminal as _;

use terminal::Color;

/// A language server for Hiera, the data of Puppet and OpenVox.
#[derive(Parser)]
#[command(name = "hiera-ls", version = installation::version(), about, max_term_width = 100)]
struct ProgramArguments {
    /// Speak the language server protocol on standard input and output (the default)
    #[arg(long)]
    stdio: bool,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        display_order = 900
    )]
    color: Color,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak the language server protocol on standard input and output
    Server {
        /// Accepted for editors that pass it; standard input and output are the only transport
        #[arg(long)]
        stdio: bool,
    },
    /// Print the effective value of a key, as `puppet lookup` does
    Lookup(Box<lookup::LookupArguments>),
    /// Print how the value of a key is found, as `puppet lookup --explain` does
    ExplainKey(Box<lookup::LookupArguments>),
    /// Print which nodes get which value of a key, and from where
    Matrix(Box<matrix::MatrixArguments>),
    /// Print which keys differ between two nodes, or between two checkouts
    Diff(Box<diff::DiffArguments>),
    /// Print which lookups fail or change for which nodes with another version of Puppet, and why
    Upgrade(Box<upgrade::UpgradeArguments>),
    /// Write one HTML file that answers for any node, with the engine in it: to look at without any
    /// installation
    Report(Box<report::ReportArguments>),
    /// Find the smallest edits after which nodes have a value, and say what each changes
    Set(Box<set::SetArguments>),
    /// Print which levels prevent a value
    WhyNot(Box<why_not::WhyNotArguments>),
    /// Report mistakes in the data, with excerpts of the sources
    Check(Box<check::CheckArguments>),
    /// Print what is known about a workspace (hierarchies, levels, variables, nodes, files that no level
    /// reads), and what would improve answers most
    Doctor(Box<doctor::DoctorArguments>),
    /// Get nodes with their facts
    #[cfg(feature = "import")]
    #[command(subcommand, disable_help_subcommand = true)]
    Nodes(import::NodesCommand),
    /// Answer agents and scripts: the Model Context Protocol on standard input and output, with read-only
    /// tools
    #[cfg(feature = "mcp")]
    Mcp(Box<mcp::McpArguments>),
    /// Check the expectations stored with the data
    Test(Box<test::TestArguments>),
    /// Encrypt a value in its file, or a text, for a certificate of hiera-eyaml
    Encrypt(encrypt::EncryptArguments),
    /// Print the page of a rule: what it reports, why, and how to fix it
    Explain {
        /// The code that `check` and editors show
        #[arg(value_name = "CODE")]
        code: String,
    },
    /// List all rules of `check`, one a line
    Rules,
    /// Print what an editor shows at a place: FILE:LINE or FILE:LINE:COLUMN
    Hover(Box<hover::HoverArguments>),
    /// Print the settings as JSON Schema: what editor extensions are generated from
    #[cfg(feature = "server")]
    SettingsSchema,
    /// Print the JSON schema of a workspace's .hiera-ls.yaml
    ProjectSchema,
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command
    Man {
        /// Write all pages into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<std::path::PathBuf>,
    },
}

/// How a command ends: with an exit code, or with a message and exit code 1.
type Ended = Result<ExitCode, String>;

impl Command {
    /// Whether it reads files, which may be named by relative paths.
    fn reads_files(&self) -> bool {
        let needs_none = matches!(
            self,
            Command::Explain { .. }
                | Command::Rules
                | Command::ProjectSchema
                | Command::Completions { .. }
                | Command::Man { .. }
        );
        #[cfg(feature = "server")]
        let needs_none = needs_none || matches!(self, Command::SettingsSchema);
        !needs_none
    }
}

/// Runs the program on the process's arguments and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    run().unwrap_or_else(|message| terminal::failed(&message))
}

fn run() -> Ended {
    let arguments = match usage::read() {
        Ok(arguments) => arguments,
        Err(error) => return usage::refuse(&error),
    };
    terminal::choose_color(arguments.color);
    let is_server = matches!(arguments.command, None | Some(Command::Server { .. }));
    log::start(is_server);
    if !is_server && arguments.command.as_ref().is_some_and(Command::reads_files) {
        crate::disk::check_current_folder()?;
    }
    match arguments.command {
        None if !arguments.stdio && std::io::stdin().is_terminal() => {
            let help = ProgramArguments::command().render_help();
            let _ = write!(std::io::stderr(), "{help}");
            Ok(ExitCode::from(2))
        }
        None | Some(Command::Server { .. }) => {
            if std::io::stdin().is_terminal() {
                terminal::remark("waiting for an editor on standard input; end with Ctrl+C");
            }
            Ok(serve())
        }
        Some(Command::Completions { shell }) => installation::completions(shell),
        Some(Command::Man { out }) => installation::manual(out.as_deref()),
        #[cfg(feature = "server")]
        Some(Command::SettingsSchema) => {
            print_schema(&crate::server::settings::UserSettings::schema())
        }
        Some(Command::ProjectSchema) => print_schema(&project_schema()),
        Some(Command::Explain { code }) => rules::explain(&code),
        Some(Command::Rules) => rules::list(),
        Some(Command::Check(arguments)) => Ok(check::run(&arguments)),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        #[cfg(feature = "import")]
        Some(Command::Nodes(import::NodesCommand::Import(arguments))) => import::run(&arguments),
        #[cfg(feature = "mcp")]
        Some(Command::Mcp(arguments)) => mcp::run(&arguments),
        Some(Command::Encrypt(arguments)) => encrypt::run(&arguments),
        Some(Command::Test(arguments)) => Ok(test::run(&arguments)),
        Some(Command::Hover(arguments)) => hover::run(&arguments),
        Some(Command::ExplainKey(mut arguments)) => {
            arguments.explain = true;
            lookup::run(&arguments)
        }
        Some(Command::Matrix(arguments)) => matrix::run(&arguments),
        Some(Command::Diff(arguments)) => diff::run(&arguments),
        Some(Command::Upgrade(arguments)) => Ok(upgrade::run(&arguments)),
        Some(Command::Report(arguments)) => report::run(&arguments),
        Some(Command::Set(arguments)) => set::run(&arguments),
        Some(Command::WhyNot(arguments)) => why_not::run(&arguments),
        Some(Command::Lookup(arguments)) if arguments.batch => {
            Ok(batch::run(arguments.secrets.read()))
        }
        Some(Command::Lookup(arguments)) => lookup::run(&arguments),
    }
}

#[cfg(feature = "server")]
fn serve() -> ExitCode {
    crate::server::run()
}

#[cfg(not(feature = "server"))]
fn serve() -> ExitCode {
    terminal::complain("this program was built without the server");
    ExitCode::from(usage::SENSELESS)
}

fn project_schema() -> serde_json::Value {
    let rules = crate::rules::RULES.iter();
    let rules: Vec<_> = rules.map(|rule| (rule.code, rule.summary())).collect();
    crate::analysis::project_schema(&rules)
}

fn print_schema(schema: &serde_json::Value) -> Ended {
    printed(&format!("{schema:#}\n"))
}

/// Prints a text as the whole answer of a command.
fn printed(text: &str) -> Ended {
    terminal::print(text).map(|()| ExitCode::SUCCESS)
}
