//! The protocol's methods, each forwarded to its file under `requests`, and the work after
//! initialization.

use std::sync::Arc;

use serde_json::{Value, json};
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{self as lsp, notification, request};

use super::capabilities;
use super::connection::{Again, Connection, Index};
use super::requests;
use super::settings::SECTION;

pub(crate) struct Backend {
    pub(crate) session: Arc<Connection>,
}

impl LanguageServer for Backend {
    async fn initialize(&self, _: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        // The parameters were read when the message arrived.
        Ok(capabilities::answer(self.session.facts()))
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        requests::hover::handle(&self.session, params).await
    }

    async fn completion(
        &self,
        params: lsp::CompletionParams,
    ) -> Result<Option<lsp::CompletionResponse>> {
        requests::completion::handle(&self.session, params).await
    }

    async fn completion_resolve(&self, item: lsp::CompletionItem) -> Result<lsp::CompletionItem> {
        requests::completion::resolve(&self.session, item).await
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        requests::definition::handle(&self.session, params).await
    }

    async fn goto_declaration(
        &self,
        params: request::GotoDeclarationParams,
    ) -> Result<Option<request::GotoDeclarationResponse>> {
        requests::definition::declared(&self.session, params).await
    }

    async fn goto_type_definition(
        &self,
        params: request::GotoTypeDefinitionParams,
    ) -> Result<Option<request::GotoTypeDefinitionResponse>> {
        requests::definition::of_type(&self.session, params).await
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        requests::references::handle(&self.session, params).await
    }

    async fn document_highlight(
        &self,
        params: lsp::DocumentHighlightParams,
    ) -> Result<Option<Vec<lsp::DocumentHighlight>>> {
        requests::document_highlight::handle(&self.session, params).await
    }

    async fn prepare_rename(
        &self,
        params: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        requests::rename::prepare(&self.session, params).await
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        requests::rename::handle(&self.session, params).await
    }

    async fn will_rename_files(
        &self,
        params: lsp::RenameFilesParams,
    ) -> Result<Option<lsp::WorkspaceEdit>> {
        requests::rename::files(&self.session, params).await
    }

    async fn folding_range(
        &self,
        params: lsp::FoldingRangeParams,
    ) -> Result<Option<Vec<lsp::FoldingRange>>> {
        requests::folding_range::handle(&self.session, params).await
    }

    async fn selection_range(
        &self,
        params: lsp::SelectionRangeParams,
    ) -> Result<Option<Vec<lsp::SelectionRange>>> {
        requests::folding_range::selection(&self.session, params).await
    }

    async fn semantic_tokens_full(
        &self,
        params: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        requests::semantic_tokens::full(&self.session, params).await
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: lsp::SemanticTokensDeltaParams,
    ) -> Result<Option<lsp::SemanticTokensFullDeltaResult>> {
        requests::semantic_tokens::delta(&self.session, params).await
    }

    async fn semantic_tokens_range(
        &self,
        params: lsp::SemanticTokensRangeParams,
    ) -> Result<Option<lsp::SemanticTokensRangeResult>> {
        requests::semantic_tokens::within(&self.session, params).await
    }

    async fn linked_editing_range(
        &self,
        params: lsp::LinkedEditingRangeParams,
    ) -> Result<Option<lsp::LinkedEditingRanges>> {
        requests::linked_editing::handle(&self.session, params).await
    }

    async fn signature_help(
        &self,
        params: lsp::SignatureHelpParams,
    ) -> Result<Option<lsp::SignatureHelp>> {
        requests::signature_help::handle(&self.session, params).await
    }

    async fn document_link(
        &self,
        params: lsp::DocumentLinkParams,
    ) -> Result<Option<Vec<lsp::DocumentLink>>> {
        requests::document_link::handle(&self.session, params).await
    }

    async fn diagnostic(
        &self,
        params: lsp::DocumentDiagnosticParams,
    ) -> Result<lsp::DocumentDiagnosticReportResult> {
        requests::diagnostic::handle(&self.session, params).await
    }

    async fn workspace_diagnostic(
        &self,
        params: lsp::WorkspaceDiagnosticParams,
    ) -> Result<lsp::WorkspaceDiagnosticReportResult> {
        requests::workspace_diagnostic::handle(&self.session, params).await
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        requests::document_symbol::handle(&self.session, params).await
    }

    async fn symbol(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
        requests::workspace_symbol::handle(&self.session, params).await
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        requests::code_action::handle(&self.session, params).await
    }

    async fn code_action_resolve(&self, action: lsp::CodeAction) -> Result<lsp::CodeAction> {
        requests::refactor::resolve(&self.session, action).await
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        requests::code_lens::handle(&self.session, params).await
    }

    async fn code_lens_resolve(&self, lens: lsp::CodeLens) -> Result<lsp::CodeLens> {
        requests::code_lens::resolve(&self.session, lens).await
    }

    async fn inlay_hint(
        &self,
        params: lsp::InlayHintParams,
    ) -> Result<Option<Vec<lsp::InlayHint>>> {
        requests::inlay_hint::handle(&self.session, params).await
    }

    async fn prepare_call_hierarchy(
        &self,
        params: lsp::CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyItem>>> {
        requests::call_hierarchy::prepare(&self.session, params).await
    }

    async fn incoming_calls(
        &self,
        params: lsp::CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyIncomingCall>>> {
        requests::call_hierarchy::incoming(&self.session, params).await
    }

    async fn outgoing_calls(
        &self,
        params: lsp::CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<lsp::CallHierarchyOutgoingCall>>> {
        requests::call_hierarchy::outgoing(&self.session, params).await
    }

    async fn execute_command(
        &self,
        params: lsp::ExecuteCommandParams,
    ) -> Result<Option<lsp::LSPAny>> {
        requests::execute_command::handle(&self.session, params).await
    }
}

/// The work after `initialized`: settings, folders, registrations. Everything that waits for the
/// client runs in separate tasks.
pub(crate) fn begin(session: &Arc<Connection>) {
    session.read_settings();
    if session.folders().is_empty() {
        // Only open files and what governs them have to be read.
        session.seek(Again::Yes);
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
        tokio::spawn(async move {
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
    tokio::spawn(async move {
        match client.configuration(vec![item]).await {
            Ok(mut sections) if !sections.is_empty() => {
                session.configure(turn, sections.swap_remove(0));
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("the client gave no configuration: {error}"),
        }
    });
}

/// The token of our progress with the client.
const PROGRESS: &str = "hiera-ls/reading";

/// Shows each full read of the workspace as progress with the client. If the user cancels it, the
/// progress ends; reading continues, since no answer is right without it.
pub(crate) async fn show_progress(session: Arc<Connection>) {
    let mut index = session.index.subscribe();
    let mut unwanted = session.unwanted_progress.subscribe();
    let token = || lsp::ProgressToken::String(PROGRESS.to_owned());
    loop {
        let worth_showing = |index: &Index| matches!(index, Index::Reading { of: 1.., .. });
        if index.wait_for(worth_showing).await.is_err() {
            return;
        }
        unwanted.mark_unchanged();
        // Stops waiting for a client that never replies when the read ends.
        let mut complete = session.index.subscribe();
        let mut is_shown = session.facts().progress
            && tokio::select! {
                created = session.client.create_work_done_progress(token()) => created.is_ok(),
                _ = complete.wait_for(|index| *index == Index::Complete) => false,
            };
        let send = |value| {
            let params = lsp::ProgressParams {
                token: token(),
                value: lsp::ProgressParamsValue::WorkDone(value),
            };
            session
                .client
                .send_notification::<notification::Progress>(params)
        };
        let end = || lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd::default());
        if is_shown {
            send(lsp::WorkDoneProgress::Begin(lsp::WorkDoneProgressBegin {
                title: "Reading Hiera data".to_owned(),
                cancellable: Some(true),
                percentage: Some(0),
                ..lsp::WorkDoneProgressBegin::default()
            }))
            .await;
        }
        loop {
            let now = *index.borrow_and_update();
            match now {
                Index::Reading { read, of } => {
                    if is_shown && read > 0 {
                        send(lsp::WorkDoneProgress::Report(lsp::WorkDoneProgressReport {
                            message: Some(format!("{read} of {of} files")),
                            cancellable: Some(true),
                            percentage: Some(percentage(read, of)),
                        }))
                        .await;
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
                    send(end()).await;
                }
            }
        }
        if is_shown {
            send(end()).await;
        }
    }
}

/// Asks a pulling client to refresh its diagnostics. The task ends when the client has replied.
pub(crate) fn ask_to_pull_again(session: &Connection) -> tokio::task::JoinHandle<()> {
    let client = session.client.clone();
    tokio::spawn(async move {
        let asked = client.send_request::<request::WorkspaceDiagnosticRefresh>(());
        if let Err(error) = asked.await {
            tracing::warn!("the client did not ask for diagnostics again: {error}");
        }
    })
}

fn percentage(read: usize, of: usize) -> u32 {
    let percentage = read.saturating_mul(100) / of.max(1);
    u32::try_from(percentage).map_or(100, |percentage| percentage.min(100))
}
