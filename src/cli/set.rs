//! `hiera-ls set KEY=VALUE`: the smallest edits after which some nodes have a value, each with its
//! effects.

use std::cell::RefCell;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::Ended;
use super::key_value::{KeyValueArguments, refuse};
use super::suggestions::KnownKeys;
use super::terminal::{self, Layout, Paint, ProgressLine, complain, remark, shown};
use super::workspace::{Loaded, WorkspaceArguments, load};
use super::written::write_all;
use crate::analysis::{RootView, quoted};
use crate::ide::json::json;
use crate::plan::goal::{
    Goal, Outcome, OutcomeFields, Proposal, ProposalFields, SearchProgress, diff, nodes_of,
    proposals, value_of,
};

/// Exit code if there is no edit.
const NOTHING: u8 = 2;

/// The forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SetForm {
    /// For people; one proposal is what `patch -p0` takes
    Text,
    /// One JSON object
    Json,
}

/// What is wanted, for which nodes.
#[derive(Args)]
pub(super) struct SetArguments {
    #[command(flatten)]
    wanted: KeyValueArguments,
    /// The nodes: a certname, or VARIABLE=VALUE[,VALUE]; several conditions must all hold
    /// [default: every known node]
    #[arg(long = "for", value_name = "NODES")]
    target_nodes: Vec<String>,
    /// Every other node must keep what it has
    #[arg(long)]
    only: bool,
    /// Make the edits of the first proposal, or of --proposal
    #[arg(long)]
    write: bool,
    /// Which proposal is shown and written, from 1 [default: all are shown]
    #[arg(long, value_name = "NUMBER")]
    proposal: Option<usize>,
    /// What to print
    #[arg(long, value_enum, default_value_t = SetForm::Text)]
    format: SetForm,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// Runs the command: exit code 0 if there are edits or none are needed, 2 if there are none, 1 if
/// something could not be read or written.
pub(super) fn run(arguments: &SetArguments) -> Ended {
    let Some((key, value)) = arguments.wanted.read() else {
        return refuse("set");
    };
    let value = value_of(value)?;
    let which = nodes_of(&arguments.target_nodes)?;
    let loaded = load(&arguments.workspace, &[])?;
    let view = loaded.root(&loaded.here)?;
    loaded.note_known_nodes();
    let wanted = (Arc::from(key), value);
    let goal = Goal {
        name: (arguments.format == SetForm::Text).then_some(shown),
        ..Goal::of(view.analysis.nodes, wanted, &which, arguments.only)?
    };
    note_unknown_key(&loaded, &quoted(&goal.key));
    let progress = RefCell::new(ProgressLine::new());
    progress.borrow_mut().show("looking for edits");
    let mut outcome = proposals(&view, &goal, &|step| {
        let text = match step {
            SearchProgress::Tried(done, all) => format!("{done} of {all} edits tried"),
            SearchProgress::Proved(done) => format!("looking up what edit {} changes", done + 1),
        };
        progress.borrow_mut().show(&text);
    })?;
    drop(progress);
    if let (Outcome::Proposals(all), Some(number)) = (&mut outcome, arguments.proposal) {
        let wanted = number.checked_sub(1).and_then(|at| all.get(at)).cloned();
        let wanted = wanted
            .ok_or_else(|| format!("there is no proposal {number}: there are {}", all.len()))?;
        *all = vec![wanted];
    }
    print(arguments, &view, &goal, &outcome)?;
    match &outcome {
        Outcome::Proposals(all) => {
            if let Some(first) = all.first().filter(|_| arguments.write) {
                let changed = first.plan.changed(view.analysis.snapshot)?;
                let files = changed.iter().map(|file| (&*file.path, &*file.after));
                write_all(&loaded.here.folder, files)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Already => Ok(ExitCode::SUCCESS),
        Outcome::Nothing(_) => Ok(ExitCode::from(NOTHING)),
    }
}

/// Reports that a key is not set anywhere yet, in case another one was meant.
pub(super) fn note_unknown_key(loaded: &Loaded, key: &str) {
    let views = loaded.views(&loaded.here);
    let known = KnownKeys::of(&views);
    let (_, missing) = known.chosen(&[key.to_owned()]);
    let notes = missing.iter().map(|message| format!("note: {message}"));
    notes.for_each(|message| remark(&message));
}

fn print(
    arguments: &SetArguments,
    view: &RootView<'_>,
    goal: &Goal,
    outcome: &Outcome,
) -> Result<(), String> {
    let snapshot = view.analysis.snapshot;
    let text = match arguments.format {
        SetForm::Json => {
            let one = |proposal| ProposalFields::new(proposal, snapshot);
            json(&OutcomeFields::new(goal, outcome, one)) + "\n"
        }
        SetForm::Text => match outcome {
            Outcome::Already => {
                remark(&format!(
                    "these nodes already get this value of '{}'",
                    goal.written_key
                ));
                return Ok(());
            }
            Outcome::Nothing(reasons) => {
                complain(&format!(
                    "no edit gives these nodes this value of '{}'",
                    goal.written_key
                ));
                for reason in reasons {
                    complain(reason);
                }
                return Ok(());
            }
            Outcome::Proposals(all) => {
                let chosen = if arguments.write { &all[..1] } else { all };
                let mut text = String::new();
                for (at, proposal) in chosen.iter().enumerate() {
                    let number = arguments.proposal.unwrap_or(at + 1);
                    text += &one(proposal, number, view)?;
                }
                text
            }
        },
    };
    terminal::print(&text)
}

/// A proposal for people.
fn one(proposal: &Proposal, number: usize, view: &RootView<'_>) -> Result<String, String> {
    let layout = Layout::of_output();
    let title = format!("{number}. {}: {}", proposal.title, proposal.words());
    let title = layout.paragraph(Paint::Title, &title, 3);
    let name = |at: &str| shown(at).to_owned();
    let diff = diff(&proposal.plan, view.analysis.snapshot, &name)?;
    let text = title + &layout.diff(&diff);
    Ok(text + "\n")
}
