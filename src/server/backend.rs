//! The protocol's methods, each forwarded to its file under `requests`, and the work after
//! initialization.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types as lsp;
use tower_lsp::ls_types::request::{self, Request};

use super::capabilities;
use super::connection::{Connection, Index, Repeat};
use super::progress;
use super::requests::{self, Needs};
use super::runtime;
use super::settings::SECTION;

pub(crate) struct Handlers {
    pub(crate) session: Arc<Connection>,
}

/// The methods that answer requests, each forwarded to its handler.
macro_rules! answered {
    ($($method:ident($request:ident) => $file:ident::$handler:ident;)*) => {$(
        async fn $method(
            &self,
            params: <request::$request as Request>::Params,
        ) -> Result<<request::$request as Request>::Result> {
            requests::$file::$handler(&self.session, params).await
        }
    )*};
}

/// The methods about one file, each answered by a job, with what that needs.
macro_rules! about_files {
    ($($method:ident($request:ident, $needs:ident) => $file:ident::$handler:ident;)*) => {$(
        async fn $method(
            &self,
            params: <request::$request as Request>::Params,
        ) -> Result<<request::$request as Request>::Result> {
            let (method, job) = (request::$request::METHOD, requests::$file::$handler);
            requests::of_file(&self.session, method, Needs::$needs, params, job).await
        }
    )*};
}

impl LanguageServer for Handlers {
    async fn initialize(&self, _: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        // The parameters were read when the message arrived.
        Ok(capabilities::answer(self.session.facts()))
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    about_files! {
        hover(HoverRequest, Soon) => hover::handle;
        completion(Completion, Soon) => completion::handle;
        goto_definition(GotoDefinition, WholeWorkspace) => definition::handle;
        goto_declaration(GotoDeclaration, WholeWorkspace) => definition::declared;
        goto_type_definition(GotoTypeDefinition, WholeWorkspace) => definition::of_type;
        references(References, WholeWorkspace) => references::handle;
        document_highlight(DocumentHighlightRequest, Soon) => document_highlight::handle;
        folding_range(FoldingRangeRequest, Soon) => folding_range::handle;
        selection_range(SelectionRangeRequest, Soon) => folding_range::selection;
        semantic_tokens_full(SemanticTokensFullRequest, Soon) => semantic_tokens::full;
        semantic_tokens_full_delta(SemanticTokensFullDeltaRequest, Soon) => semantic_tokens::delta;
        semantic_tokens_range(SemanticTokensRangeRequest, Soon) => semantic_tokens::within;
        linked_editing_range(LinkedEditingRange, Soon) => linked_editing::handle;
        signature_help(SignatureHelpRequest, Soon) => signature_help::handle;
        document_link(DocumentLinkRequest, WholeWorkspace) => document_link::handle;
        document_symbol(DocumentSymbolRequest, WholeWorkspace) => document_symbol::handle;
        code_lens(CodeLensRequest, Settled) => code_lens::handle;
        inlay_hint(InlayHintRequest, Settled) => inlay_hint::handle;
        prepare_call_hierarchy(CallHierarchyPrepare, WholeWorkspace) => call_hierarchy::prepare;
    }

    answered! {
        completion_resolve(ResolveCompletionItem) => completion::resolve;
        prepare_rename(PrepareRenameRequest) => rename::prepare;
        rename(Rename) => rename::handle;
        will_rename_files(WillRenameFiles) => rename::files;
        diagnostic(DocumentDiagnosticRequest) => diagnostic::handle;
        workspace_diagnostic(WorkspaceDiagnosticRequest) => workspace_diagnostic::handle;
        symbol(WorkspaceSymbolRequest) => workspace_symbol::handle;
        code_action(CodeActionRequest) => code_action::handle;
        code_action_resolve(CodeActionResolveRequest) => refactor::resolve;
        code_lens_resolve(CodeLensResolve) => code_lens::resolve;
        incoming_calls(CallHierarchyIncomingCalls) => call_hierarchy::incoming;
        outgoing_calls(CallHierarchyOutgoingCalls) => call_hierarchy::outgoing;
        execute_command(ExecuteCommand) => execute_command::handle;
    }
}

/// The work after `initialized`: settings, folders, registrations. Everything that waits for the
/// client runs in separate tasks.
pub(crate) fn begin(session: &Arc<Connection>) {
    session.read_settings();
    if session.folders().is_empty() {
        // Only open files and what governs them have to be read.
        session.seek(Repeat::Yes);
    }
    session.send_folders();
    let facts = session.facts();
    if facts.configuration {
        ask_for_configuration(session);
    }
    let mut registrations = Vec::new();
    let mut register = |id: &str, options: Value| {
        registrations.push(lsp::Registration {
            id: id.to_owned(),
            method: id.to_owned(),
            register_options: Some(options),
        });
    };
    if facts.watches {
        // Folders too: moving one away moves its files without further events.
        register(
            "workspace/didChangeWatchedFiles",
            json!({ "watchers": [{ "globPattern": "**/*" }] }),
        );
    }
    if facts.configuration_registration {
        register(
            "workspace/didChangeConfiguration",
            json!({ "section": SECTION }),
        );
    }
    if !registrations.is_empty() {
        let client = session.client.clone();
        runtime::spawn(async move {
            if let Err(error) = client.register_capability(registrations).await {
                tracing::warn!("the client refused a registration: {error}");
            }
        });
    }
}

/// Asks the client for the settings' section; the answer takes effect when it arrives.
pub(crate) fn ask_for_configuration(session: &Connection) {
    let item = lsp::ConfigurationItem {
        scope_uri: None,
        section: Some(SECTION.to_owned()),
    };
    let client = session.client.clone();
    let Some(session) = session.myself() else {
        return;
    };
    let turn = session.turn();
    runtime::spawn(async move {
        match client.configuration(vec![item]).await {
            Ok(mut sections) if !sections.is_empty() => {
                session.configure(turn, sections.swap_remove(0));
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("the client gave no configuration: {error}"),
        }
    });
}

const PROGRESS: &str = "hiera-ls/reading";

/// Shows each full read of the workspace as progress with the client. If the user cancels it, the
/// progress ends; reading continues, since no answer is right without it.
pub(crate) async fn show_progress(session: Arc<Connection>) {
    let mut index = session.index.subscribe();
    let mut unwanted = session.unwanted_progress.subscribe();
    let token = lsp::ProgressToken::String(PROGRESS.to_owned());
    loop {
        let worth_showing = |index: &Index| matches!(index, Index::Reading { total: 1.., .. });
        if index.wait_for(worth_showing).await.is_err() {
            return;
        }
        unwanted.mark_unchanged();
        // Stops waiting for a client that never replies when the read ends.
        let mut complete = session.index.subscribe();
        let mut is_shown = session.facts().progress
            && tokio::select! {
                created = session.client.create_work_done_progress(token.clone()) => created.is_ok(),
                _ = complete.wait_for(|index| *index == Index::Complete) => false,
            };
        let send = |value| progress::send(&session.client, &token, value);
        if is_shown {
            send(progress::beginning("Reading Hiera data")).await;
        }
        loop {
            let now = *index.borrow_and_update();
            match now {
                Index::Reading { read, total } => {
                    if is_shown && read > 0 {
                        send(progress::report(read, total, "files")).await;
                    }
                }
                Index::Complete => break,
            }
            tokio::select! {
                changed = index.changed() => if changed.is_err() {
                    return;
                },
                _ = unwanted.changed(), if is_shown => {
                    is_shown = false;
                    send(progress::ending()).await;
                }
            }
        }
        if is_shown {
            send(progress::ending()).await;
        }
    }
}

/// Asks a pulling client to refresh its diagnostics. The task ends when the client has replied.
pub(crate) fn request_new_pull(session: &Connection) -> runtime::JoinHandle<()> {
    let client = session.client.clone();
    runtime::spawn(async move {
        let reply = client.send_request::<request::WorkspaceDiagnosticRefresh>(());
        if let Err(error) = reply.await {
            tracing::warn!("the client did not ask for diagnostics again: {error}");
        }
    })
}
