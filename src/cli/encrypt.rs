//! `hiera-ls encrypt`: encrypts a value in its file, or a text from standard input, for a
//! certificate. No private key is needed.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::Ended;
use super::hover::{PlaceArgument, offset, place};
use super::puppet::PuppetArguments;
use super::terminal::{print, remark};
use super::workspace::read;
use crate::analysis::Analysis;
use crate::disk::{self, DiskFiles};
use crate::eyaml::{Encryptor, block, block_lines};
use crate::ide::KnownNodes;
use crate::lookup::ConfigCache;
use crate::plan::encrypt::{EncryptedForm, certificates, plan};
use crate::text::TextEdit;
use crate::workspace::{FileKind, Files as _};

/// Maximum number of bytes that are read from standard input.
const LARGEST_TEXT: u64 = 4 << 20;

/// Indentation of a block's lines, as `hiera-eyaml` writes them.
const INDENT: &str = "  ";

/// What is encrypted, and for whom.
#[derive(Args)]
pub(super) struct EncryptArguments {
    /// The value to encrypt in its file: FILE:LINE or FILE:LINE:COLUMN [default: the text on standard
    /// input]
    #[arg(value_name = "FILE:LINE[:COLUMN]", value_parser = place)]
    place: Option<PlaceArgument>,
    /// The certificate [default: what the file's level names, .eyaml/config.yaml, or
    /// keys/public_key.pkcs7.pem; inside the workspace]
    #[arg(long, value_name = "FILE")]
    pkcs7_public_key: Option<String>,
    /// How the encrypted value is written
    #[arg(short, long, value_enum, default_value_t = OutputForm::String)]
    output: OutputForm,
    /// With standard input: the key before the value
    #[arg(short, long, conflicts_with = "place")]
    label: Option<String>,
}

/// The forms of an encrypted value.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// On one line
    String,
    /// A folded block
    Block,
}

/// Runs the command: exit code 0 if the value is encrypted, else 1.
pub(super) fn run(arguments: &EncryptArguments) -> Ended {
    let done = match &arguments.place {
        Some(place) => in_file(arguments, place),
        None => from_input(arguments),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn encryptor(at: &str) -> Result<Encryptor, String> {
    let disk = DiskFiles::new();
    let path = disk::absolute(at);
    if disk.kind(&path) != Some(FileKind::File) {
        return Err(format!(
            "there is no certificate {at}: name one with --pkcs7-public-key"
        ));
    }
    let text = disk.text(&path).map_err(|error| error.message(at))?;
    Encryptor::from_pem(text.as_bytes()).map_err(|error| format!("{at}: {error}"))
}

/// Encrypts the text on standard input.
fn from_input(arguments: &EncryptArguments) -> Result<(), String> {
    let certificate = arguments.pkcs7_public_key.as_deref();
    let encryptor = encryptor(certificate.unwrap_or("keys/public_key.pkcs7.pem"))?;
    if std::io::stdin().is_terminal() {
        remark("reading the text to encrypt from standard input; end with Ctrl+D");
    }
    let mut plain = Vec::new();
    let read = std::io::stdin().take(LARGEST_TEXT).read_to_end(&mut plain);
    read.map_err(|error| format!("standard input: {}", disk::failure(&error)))?;
    // `eyaml_lookup_key` interpolates what it has decrypted.
    if plain.windows(2).any(|pair| pair == b"%{") {
        remark(
            "Puppet takes '%{' in the decrypted text for the start of a token: \
             to keep it, write %{literal('%')}{ in its place",
        );
    }
    let blob = encryptor.encrypt(&plain);
    let blob = blob.map_err(|error| error.to_string())?;
    // As `hiera-eyaml` writes it (`subcommands/encrypt.rb`): the block header is only written after
    // a key.
    let value = match (arguments.output, &arguments.label) {
        (OutputForm::String, _) => blob,
        (OutputForm::Block, Some(_)) => block(&blob, INDENT),
        (OutputForm::Block, None) => block_lines(&blob, INDENT),
    };
    let label = arguments.label.as_ref();
    let label = label.map_or_else(String::new, |label| format!("{label}: "));
    print(&format!("{label}{value}\n"))
}

/// Encrypts a value in its file.
#[allow(
    clippy::disallowed_methods,
    reason = "cli/ writes what it was asked to"
)]
fn in_file(arguments: &EncryptArguments, named: &PlaceArgument) -> Result<(), String> {
    let at = disk::absolute(&named.file);
    let folder = disk::workspace_of(&at, &disk::absolute(".")).to_string();
    let project = disk::project(&folder).project;
    let snapshot = read(&folder, &project.of_files());
    let settings = PuppetArguments::default().settings(&project).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
    let Some(file) = snapshot.file(&at) else {
        return Err(format!("{at}: no such file in {folder}"));
    };
    let offset = offset(file, named.line, named.column);
    let plan = plan(&analysis, &at, offset).map_err(|why| format!("{named}: {why}"))?;
    let encryptor = match &arguments.pkcs7_public_key {
        Some(certificate) => encryptor(certificate)?,
        None => {
            let disk = DiskFiles::new();
            let read = |at: &str| Some(disk.text(at).ok()?.to_string());
            let found = certificates(&analysis, &at, &read);
            let Some(certificate) = found.iter().find(|at| disk.kind(at).is_some()) else {
                return Err(format!(
                    "there is no certificate in {}: name one with --pkcs7-public-key",
                    found.join(", ")
                ));
            };
            encryptor(certificate)?
        }
    };
    let form = match arguments.output {
        OutputForm::String => EncryptedForm::String,
        OutputForm::Block => EncryptedForm::Block,
    };
    let edits = plan.edits(&encryptor, form);
    let edits = edits.map_err(|error| error.to_string())?;
    let text = TextEdit::apply(&edits, file.text());
    let text = text.ok_or_else(|| format!("{named}: cannot be changed"))?;
    std::fs::write(&at, text).map_err(|error| format!("{at}: {}", disk::failure(&error)))
}
