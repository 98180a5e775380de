//! `hiera-ls lookup`: one key for one node, for every known node, or for any node.

mod answers;
mod request;
mod workspace;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use answers::UNKNOWN;
use request::request;
use workspace::LookupWorkspace;

use crate::analysis::{DescribedBy, RootView};
use crate::cli::Ended;
use crate::cli::compiled::Compiled;
use crate::cli::console::Unfreed;
use crate::cli::keys::KeyArguments;
use crate::cli::nodes::NodeRequest;
use crate::cli::render::RenderFormat;
use crate::cli::suggestions::no_node;
use crate::cli::terminal::{self, complain, remark};
use crate::cli::usage::{SENSELESS, see_help};
use crate::cli::workspace::WorkspaceArguments;
use crate::lookup::{
    ConfigCache, PuppetVersion, Request, Session, Tracing, groups_of_nodes, groups_of_possible,
};
use crate::scope::{Completeness, KnownNodes, Node, Scope, Told, certname};
use crate::workspace::RootFiles;

/// The flags of `puppet lookup`, and ours.
#[derive(Args)]
pub(super) struct LookupArguments {
    /// Keys; the first one that has a value is printed
    keys: Vec<String>,
    /// Answer requests, one JSON object a line, from standard input
    #[arg(long)]
    pub(super) batch: bool,
    /// The node to answer for, by its certname
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// How to merge: first, unique, hash or deep
    #[arg(long)]
    merge: Option<String>,
    /// Prefix of elements to remove, with --merge deep
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    knock_out_prefix: Option<String>,
    /// Sort merged arrays, with --merge deep
    #[arg(long)]
    sort_merged_arrays: bool,
    /// Merge hashes in arrays by position, with --merge deep
    #[arg(long)]
    merge_hash_arrays: bool,
    /// Puppet data type that the value must have
    #[arg(long = "type", value_name = "TYPE")]
    value_type: Option<String>,
    /// Value to print where there is none
    #[arg(long)]
    default: Option<String>,
    /// Print how the value is found instead of the value
    #[arg(long)]
    pub(super) explain: bool,
    /// Print how lookup_options are found instead of the value
    #[arg(long)]
    explain_options: bool,
    /// Run the environment's manifests up to node blocks first, as far as they can be evaluated
    #[arg(long)]
    compile: bool,
    /// Format of the output [default: yaml; text where an explanation is asked for]
    #[arg(long, visible_alias = "format")]
    render_as: Option<RenderFormat>,
    #[command(flatten)]
    pub(super) secrets: KeyArguments,
    #[command(flatten)]
    pub(super) workspace: WorkspaceArguments,
}

/// Runs the command.
pub(super) fn run(arguments: &LookupArguments) -> Ended {
    let request = match request(arguments) {
        Ok(request) => request,
        Err(message) => {
            complain(&format!("{message}\n{}", see_help("lookup")));
            return Ok(ExitCode::from(SENSELESS));
        }
    };
    let flags = &arguments.workspace;
    let opened = flags.open()?;
    let mut settings = flags.puppet.settings(&opened.project);
    settings.keys = arguments.secrets.read();
    let configs = Unfreed::new(ConfigCache::default());
    let workspace = LookupWorkspace::open(&opened, arguments, &request, (&settings, &configs))?;
    let workspace = Unfreed::new(workspace);
    let sources = flags.request(&opened.project, (&settings, &configs));
    let no_nodes = KnownNodes::default();
    let view = workspace.view(arguments, (&settings, &configs), &no_nodes)?;
    let question = LookupQuestion {
        arguments,
        request,
        compiled: if arguments.compile {
            Compiled::new(&workspace.snapshot, view.root, &settings)
        } else {
            Compiled::default()
        },
        view: &view,
        deployed: view.files().deployed(),
        searched: view.files().deployed().searched(),
        workspace: &workspace,
        sources,
    };
    let node = arguments.node.as_deref();
    if flags.nodes.facts().is_some() && flags.nodes.are_for_one(node) {
        return question.with_facts();
    }
    match node {
        Some(name) => question.for_node(name),
        None => question.without_node(),
    }
}

/// What the files that describe a node do not tell of it; `None` if they tell everything.
fn untold(node: &Node) -> Option<String> {
    let told = &node.told;
    let parts = [
        (told.variables != Told::All, "what a node classifier sets"),
        (told.facts.is_nothing(), "the facts"),
        (
            told.facts != Told::All && !told.facts.is_nothing(),
            "all facts",
        ),
        (told.trusted != Told::All, "the trusted extensions"),
    ];
    let parts = parts.into_iter().filter(|(is_untold, _)| *is_untold);
    let parts: Vec<&str> = parts.map(|(_, part)| part).collect();
    (!parts.is_empty()).then(|| parts.join(" or "))
}

/// A request with the workspace that answers it.
struct LookupQuestion<'a> {
    arguments: &'a LookupArguments,
    request: Request,
    workspace: &'a LookupWorkspace,
    view: &'a RootView<'a>,
    /// The files as Puppet may see them: those outside of the workspace may exist.
    deployed: RootFiles<'a>,
    /// The same for nodes of which not all is known.
    searched: RootFiles<'a>,
    sources: NodeRequest<'a>,
    compiled: Compiled,
}

impl LookupQuestion<'_> {
    fn session(&self) -> Session<'_> {
        let view = self.view;
        view.analysis
            .session_over(&self.deployed, &view.environment)
    }

    /// The session for nodes. Only if some data of one is unknown, more files may be read for it
    /// than those that its known data names.
    fn session_for<'n>(&self, mut nodes: impl Iterator<Item = &'n Node>) -> Session<'_> {
        let view = self.view;
        let is_told = nodes.all(|node| node.told == Completeness::default());
        // What manifests set may be unknown.
        let files = if is_told && !self.arguments.compile {
            &self.deployed
        } else {
            &self.searched
        };
        view.analysis.session_over(files, &view.environment)
    }

    fn version(&self) -> PuppetVersion {
        self.view.analysis.settings.puppet_version
    }

    fn scope(&self, node: &Node) -> Scope {
        let environment = &self.view.environment.name;
        self.compiled.scope(node, environment, self.version())
    }

    fn answer_for(&self, node: &Node) -> Ended {
        let session = self.session_for(std::iter::once(node));
        let ended = self.one(&session, &self.scope(node));
        self.note_manifests(node);
        self.note_server(&session, node);
        self.note_environment(node);
        if ended == Ok(ExitCode::from(UNKNOWN))
            && let Some(untold) = untold(node)
        {
            remark(&format!(
                "note: no file tells {untold} for node '{}': add one with --nodes",
                node.certname
            ));
        }
        ended
    }

    /// For the node of `puppet lookup --facts`.
    fn with_facts(&self) -> Ended {
        let given = self.sources.given()?;
        let named = self.arguments.node.as_deref().or_else(|| certname(&given));
        let name = named.unwrap_or_default().to_owned();
        let own = NodeRequest {
            facts: None,
            ..self.sources
        };
        let known = own.of_files(&self.workspace.snapshot, &self.workspace.place(self.view))?;
        let known = &known.nodes;
        if given.is_empty() && known.get(&name).is_none() {
            return Err(format!("No facts available for target node: {name}"));
        }
        let node = own.looked_up(&name, &given, known);
        if node.is_nameless() {
            let agent = own.with_facts(&name, &given, known);
            let (one, other) = (self.scope(&node), self.scope(&agent));
            if self.differ(&self.session(), &one, &other) {
                let facts = self.arguments.workspace.nodes.facts().unwrap_or_default();
                remark(&format!(
                    "note: trusted.certname is empty, as in puppet lookup, since no fact 'clientcert' is in {}; an \
                     agent has '{name}' there",
                    terminal::shown(facts)
                ));
            }
        }
        self.answer_for(&node)
    }

    /// Whether the answers in two scopes differ; not for explanations.
    fn differ(&self, session: &Session<'_>, one: &Scope, other: &Scope) -> bool {
        let result = |scope: &Scope| session.lookup(scope, &self.request).result.ok();
        self.request.tracing == Tracing::Off && result(one) != result(other)
    }

    /// If a node is in another environment than the one that the lookup is in, says so.
    fn note_environment(&self, node: &Node) {
        let asked = &self.view.environment.name;
        let own = node.environment.as_ref().filter(|own| *own != asked);
        if let Some(own) = own.filter(|_| self.request.tracing == Tracing::Off) {
            remark(&format!(
                "note: node '{}' is in the environment '{own}'; this is its answer in '{asked}', as of puppet lookup: \
                 --environment {own} gives its own",
                node.certname
            ));
        }
    }

    /// If an agent gets another value because of what its server sets, says so.
    fn note_server(&self, session: &Session<'_>, node: &Node) {
        if self.version() >= PuppetVersion::V8 {
            return;
        }
        let environment = &self.view.environment.name;
        let agent = self.compiled.scope(node, environment, PuppetVersion::V8);
        if self.differ(session, &self.scope(node), &agent) {
            remark(
                "note: server_facts are empty, as in puppet lookup of Puppet 7; an agent has them: see 'hiera-ls matrix'",
            );
        }
    }

    /// For a node by its name. If no file describes it, anything that depends on its facts is
    /// unknown.
    fn for_node(&self, name: &str) -> Ended {
        let place = self.workspace.place(self.view);
        let described = self.sources.of_files(&self.workspace.snapshot, &place)?;
        if let Some(node) = described.nodes.get(name) {
            return self.answer_for(node);
        }
        let known = self.sources.known(&self.workspace.snapshot, &place)?;
        let of_data = known.nodes.get(name).cloned();
        let node = match of_data.or_else(|| self.sources.named_node(name).map(Arc::new)) {
            Some(node) => node,
            None if described.described_by == DescribedBy::Nothing => Arc::new(Node::named(name)),
            None => return Err(no_node(name, &described)),
        };
        let scope = self.scope(&node);
        let outside = if self.request.tracing == Tracing::Off {
            self.outside(&scope)
        } else {
            Vec::new()
        };
        if !outside.is_empty() {
            return self.possible(&scope, &outside);
        }
        let ended = self.one(&self.view.session(), &scope);
        if ended == Ok(ExitCode::from(UNKNOWN)) {
            self.note_variables(&scope);
            remark(&format!(
                "note: no facts are known of node '{name}': give them with --facts, or a file of nodes with --nodes"
            ));
        }
        ended
    }

    /// For all known nodes. If no file describes nodes, for any node: possible values come from the
    /// whole workspace.
    fn without_node(&self) -> Ended {
        let place = self.workspace.place(self.view);
        let known = self.sources.known(&self.workspace.snapshot, &place)?;
        let is_explained = self.request.tracing != Tracing::Off;
        if known.described_by == DescribedBy::Nothing {
            let scope = Scope::open();
            return if is_explained {
                self.one(&self.view.session(), &scope)
            } else {
                self.possible(&scope, &self.outside(&scope))
            };
        }
        let nodes = KnownNodes::in_environment(&known.nodes, &self.view.environment.name);
        let nodes = self.compiled.nodes(nodes);
        let session = match known.described_by {
            DescribedBy::NodesFile => self.session_for(known.nodes.all().iter().map(AsRef::as_ref)),
            DescribedBy::FactsOfTests | DescribedBy::Nothing => self.view.session(),
        };
        if is_explained && self.arguments.render_as.is_none() {
            return self.explained(&session, &nodes);
        }
        let request = self.request.clone().with_sources();
        let is_cancelled = self.view.analysis.is_cancelled;
        self.several(groups_of_nodes(&session, &nodes, &request, is_cancelled))
    }

    /// The answers for all nodes that match a scope, given the levels outside of the workspace.
    fn possible(&self, scope: &Scope, outside: &[Arc<str>]) -> Ended {
        let request = self.request.clone().with_sources();
        let mut groups = groups_of_possible(&self.view.session(), scope, &request);
        answers::restrict(&mut groups, outside);
        self.several(groups)
    }
}
