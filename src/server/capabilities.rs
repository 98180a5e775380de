//! `initialize`: the client's capabilities, and the server's.
//!
//! The client's capabilities are read from the raw JSON, field by field: an unusual form of one
//! capability is no reason to refuse the client.

use serde_json::Value;
use tower_lsp::ls_types as lsp;

use super::convert;
use super::requests::semantic_tokens;
use crate::ide::hover::HoverForm;
use crate::plan::refactor::RefactoringKind;
use crate::text::PositionEncoding;

/// The kind of the action that applies all safe fixes of a file.
pub(crate) const FIX_ALL: &str = "source.fixAll.hiera-ls";

/// Declares the commands, and the list of their names.
macro_rules! commands {
    ($($(#[$doc:meta])* $command:ident = $name:literal,)*) => {
        $($(#[$doc])* pub(crate) const $command: &str = $name;)*

        pub(crate) const COMMANDS: &[&str] = &[$($command,)*];
    };
}

commands! {
    /// The command that shows the whole effective value of a key: `{uri, position | key}`.
    VALUE = "hiera.value",
    /// The command that shows the plain text of an encrypted value: `{uri, position}`.
    REVEAL = "hiera.reveal",
    /// The command that explains a lookup: `{uri, position | key, node?}`.
    EXPLAIN = "hiera.explain",
    /// The command that shows a key's answers for all nodes: `{uri, position | key}`.
    MATRIX = "hiera.matrix",
    /// The command that shows the differences between two nodes or environments: `{uri, from?, to,
    /// key?}`.
    DIFF = "hiera.diff",
    /// The command that shows the impact of an unsaved edit: `{uri?}`.
    IMPACT = "hiera.impact",
    /// The command that shows what an upgrade of Puppet changes, and turns the preview in hovers on; with
    /// null as `to` it turns it off: `{uri?, from?, to?}`.
    UPGRADE = "hiera.upgrade",
    /// The command that shows a report of the workspace, with advice: `{uri?}`.
    DOCTOR = "hiera.doctor",
    /// The command that shows the values that look a key up: `{uri, position | key}`.
    USES = "hiera.uses",
    /// The command that finds edits after which nodes have a value: `{uri, key, value, for, only}`.
    SET_VALUE = "hiera.setValue",
    /// The command that names the levels in the way of a value: `{uri, key, value, node}`.
    WHY_NOT = "hiera.whyNot",
    /// The command that lists the known nodes, for pickers: `{uri?}`.
    NODES = "hiera.nodes",
    /// The command that lists the hierarchies' configurations, and which of them applies: `{uri?}`.
    HIERARCHIES = "hiera.hierarchies",
    /// The command that selects the node for hovers: `{certname, uri?}`, null for any node.
    SELECT_NODE = "hiera.selectNode",
    /// The command that sets a fact for a what-if: `{path, value, uri?}`; null resets it.
    SET_FACT = "hiera.setFact",
    /// The command that lists the facts used by the hierarchy, for pickers: `{uri?}`.
    FACTS = "hiera.facts",
    /// The command that resets all facts of a what-if: `{uri?}`.
    CLEAR_FACTS = "hiera.clearFacts",
    /// The command that explains how to get a nodes file: no argument.
    RECIPES = "hiera.recipes",
    /// The command that re-reads the whole workspace.
    RESCAN = "hiera-ls.rescan",
}

/// Trigger characters for completions, besides those of words: parts of keys, tokens, facts and
/// paths, and aliases.
const TRIGGERS: [&str; 7] = [":", ".", "{", "'", "\"", "/", "*"];

/// The relevant parts of the client's `initialize` parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientFacts {
    pub(crate) encoding: PositionEncoding,
    /// The workspace folders, absolute paths without a slash at the end.
    pub(crate) folders: Vec<String>,
    /// The client's process; the server exits when it ends.
    pub(crate) process: Option<u32>,
    /// Settings that came with `initialize`.
    pub(crate) options: Value,
    pub(crate) trace: Trace,
    pub(crate) markdown: bool,
    /// The client renders Markdown tables; elsewhere they are unreadable.
    pub(crate) tables: bool,
    /// Links in hovers may run commands (`command:NAME?ARGUMENTS`), announced by the client's
    /// extension in `experimental.commandLinks`.
    pub(crate) command_links: bool,
    /// The client opens files on request, and does not itself show the answers of commands, unlike
    /// an extension for this server, which announces that in `experimental.documents`.
    pub(crate) opens_files: bool,
    /// The client pulls diagnostics; pushing them too would show each twice.
    pub(crate) pulls: bool,
    /// The client can be asked to refresh pulled diagnostics.
    pub(crate) refreshes: bool,
    /// Fixes can be offered as edits; older clients only support commands.
    pub(crate) code_actions: bool,
    pub(crate) diagnostics: DiagnosticForm,
    pub(crate) nested_symbols: bool,
    /// Completions may be snippets with tab stops.
    pub(crate) snippets: bool,
    /// The documentation of a completion may be Markdown.
    pub(crate) completion_markdown: bool,
    /// Definitions may include the range of the link's origin, and the range to select at the
    /// target.
    pub(crate) definition_links: bool,
    /// The same for type definitions.
    pub(crate) type_links: bool,
    pub(crate) declaration_links: bool,
    pub(crate) edits: EditForm,
    pub(crate) watches: bool,
    /// The client answers `workspace/configuration`.
    pub(crate) configuration: bool,
    /// Those answers say which settings come from the workspace (`experimental.settingOrigins`).
    pub(crate) setting_origins: bool,
    /// Changes of the configuration must be registered for.
    pub(crate) configuration_registration: bool,
    /// The client shows progress started by the server.
    pub(crate) progress: bool,
    pub(crate) refreshes_lenses: bool,
    pub(crate) refreshes_hints: bool,
}

/// The optional parts of a diagnostic that the client supports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiagnosticForm {
    pub(crate) related: bool,
    /// Tags for faded and struck-out ranges.
    pub(crate) tags: bool,
    /// A link on the code.
    pub(crate) links: bool,
    /// A link to a rule's page, which only an extension for this server can open; it announces that
    /// in `experimental.rulePages`.
    pub(crate) pages: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Trace {
    #[default]
    Off,
    /// Requests with their durations.
    Messages,
    /// Also their parameters.
    Verbose,
}

impl Trace {
    /// Parses a trace level; unknown ones mean off.
    pub(crate) fn read(value: Option<&Value>) -> Trace {
        match value.and_then(Value::as_str) {
            Some("messages") => Trace::Messages,
            Some("verbose") => Trace::Verbose,
            _ => Trace::Off,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EditForm {
    /// Edits may include the document's version.
    pub(crate) document_changes: bool,
    pub(crate) creates_files: bool,
    /// Edits may have annotations, which the client shows before it applies them.
    pub(crate) annotates: bool,
    /// The edit of a code action can be resolved when it is chosen, with an annotation.
    pub(crate) resolves: bool,
    /// Code actions may be shown as disabled, with the reason.
    pub(crate) disables: bool,
}

impl ClientFacts {
    /// The form of hovers that the client supports.
    pub(crate) fn hover_form(&self) -> HoverForm {
        self.form(self.markdown)
    }

    /// The form of a completion's documentation that the client supports.
    pub(crate) fn completion_form(&self) -> HoverForm {
        self.form(self.completion_markdown)
    }

    fn form(&self, takes_markdown: bool) -> HoverForm {
        match (takes_markdown, self.tables) {
            (true, true) => HoverForm::Markdown,
            (true, false) => HoverForm::Aligned,
            (false, _) => HoverForm::Plain,
        }
    }

    pub(crate) fn read(params: &Value) -> ClientFacts {
        let can = |pointer: &str| {
            let at = params.pointer(&format!("/capabilities/{pointer}"));
            at.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        };
        let lists = |pointer: &str, wanted: &str| {
            let all = params.pointer(&format!("/capabilities/{pointer}"));
            let mut all = all.and_then(Value::as_array).into_iter().flatten();
            all.any(|one| one == wanted)
        };
        let document_changes = can("workspace/workspaceEdit/documentChanges");
        let annotates = document_changes && can("workspace/workspaceEdit/changeAnnotationSupport");
        ClientFacts {
            encoding: encoding(params),
            folders: folders(params),
            process: params
                .get("processId")
                .and_then(Value::as_u64)
                .and_then(|id| u32::try_from(id).ok()),
            options: params
                .get("initializationOptions")
                .cloned()
                .unwrap_or_default(),
            trace: Trace::read(params.get("trace")),
            markdown: lists("textDocument/hover/contentFormat", "markdown"),
            tables: params
                .pointer("/clientInfo/name")
                .and_then(Value::as_str)
                .is_some_and(draws_tables),
            command_links: can("experimental/commandLinks"),
            opens_files: can("window/showDocument/support") && !can("experimental/documents"),
            pulls: can("textDocument/diagnostic"),
            refreshes: can("workspace/diagnostics/refreshSupport"),
            code_actions: can("textDocument/codeAction/codeActionLiteralSupport"),
            diagnostics: DiagnosticForm {
                related: can("textDocument/publishDiagnostics/relatedInformation"),
                tags: can("textDocument/publishDiagnostics/tagSupport"),
                links: can("textDocument/publishDiagnostics/codeDescriptionSupport"),
                pages: can("experimental/rulePages"),
            },
            nested_symbols: can("textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            snippets: can("textDocument/completion/completionItem/snippetSupport"),
            completion_markdown: lists(
                "textDocument/completion/completionItem/documentationFormat",
                "markdown",
            ),
            definition_links: can("textDocument/definition/linkSupport"),
            type_links: can("textDocument/typeDefinition/linkSupport"),
            declaration_links: can("textDocument/declaration/linkSupport"),
            edits: EditForm {
                document_changes,
                creates_files: lists("workspace/workspaceEdit/resourceOperations", "create"),
                annotates,
                resolves: annotates
                    && can("textDocument/codeAction/dataSupport")
                    && lists("textDocument/codeAction/resolveSupport/properties", "edit"),
                disables: can("textDocument/codeAction/disabledSupport"),
            },
            watches: can("workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: can("workspace/configuration"),
            setting_origins: can("experimental/settingOrigins"),
            configuration_registration: can("workspace/didChangeConfiguration/dynamicRegistration"),
            progress: can("window/workDoneProgress"),
            refreshes_lenses: can("workspace/codeLens/refreshSupport"),
            refreshes_hints: can("workspace/inlayHint/refreshSupport"),
        }
    }
}

/// Whether the client of that name renders Markdown tables. Terminal editors don't, and an unknown
/// client may be one.
fn draws_tables(client: &str) -> bool {
    /// Parts of the names of clients that render Markdown in a browser engine, lower case.
    const BROWSERS: [&str; 10] = [
        "visual studio code",
        "vscode",
        "vscodium",
        "code-server",
        "code - oss",
        "code-oss",
        "cursor",
        "windsurf",
        "theia",
        "monaco",
    ];
    let client = client.to_lowercase();
    BROWSERS.iter().any(|part| client.contains(part))
}

/// UTF-8 if the client offers it, since then nothing has to be converted; else the first supported
/// entry of its list; UTF-16 without a list.
fn encoding(params: &Value) -> PositionEncoding {
    let offered = params
        .pointer("/capabilities/general/positionEncodings")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if offered.iter().any(|name| name == "utf-8") {
        return PositionEncoding::Utf8;
    }
    offered
        .iter()
        .find_map(|name| match name.as_str()? {
            "utf-16" => Some(PositionEncoding::Utf16),
            "utf-32" => Some(PositionEncoding::Utf32),
            _ => None,
        })
        .unwrap_or_default()
}

fn folders(params: &Value) -> Vec<String> {
    let listed = params.get("workspaceFolders").and_then(Value::as_array);
    let mut folders: Vec<String> = match listed {
        Some(folders) if !folders.is_empty() => folders.iter().filter_map(folder).collect(),
        _ => {
            let root = params.get("rootUri").and_then(Value::as_str);
            let old = params.get("rootPath").and_then(Value::as_str);
            root.and_then(convert::path)
                .or_else(|| old.map(str::to_owned))
                .map(trimmed)
                .into_iter()
                .collect()
        }
    };
    folders.retain(|folder| folder.starts_with('/'));
    folders
}

/// The absolute path of a `WorkspaceFolder`.
pub(crate) fn folder(value: &Value) -> Option<String> {
    convert::path(value.get("uri")?.as_str()?).map(trimmed)
}

fn trimmed(path: String) -> String {
    match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

/// The server's answer to `initialize`.
pub(crate) fn answer(client: &ClientFacts) -> lsp::InitializeResult {
    let encoding = match client.encoding {
        PositionEncoding::Utf8 => lsp::PositionEncodingKind::UTF8,
        PositionEncoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        PositionEncoding::Utf32 => lsp::PositionEncodingKind::UTF32,
    };
    let sync = lsp::TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
        save: Some(lsp::TextDocumentSyncSaveOptions::SaveOptions(
            lsp::SaveOptions {
                include_text: Some(false),
            },
        )),
        ..lsp::TextDocumentSyncOptions::default()
    };
    let folders = lsp::WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(lsp::OneOf::Left(true)),
    };
    let diagnostics = lsp::DiagnosticOptions {
        identifier: Some("hiera-ls".to_owned()),
        inter_file_dependencies: true,
        workspace_diagnostics: true,
        ..lsp::DiagnosticOptions::default()
    };
    lsp::InitializeResult {
        capabilities: lsp::ServerCapabilities {
            position_encoding: Some(encoding),
            text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(sync)),
            hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
            completion_provider: Some(lsp::CompletionOptions {
                resolve_provider: Some(true),
                trigger_characters: Some(TRIGGERS.map(str::to_owned).to_vec()),
                ..lsp::CompletionOptions::default()
            }),
            definition_provider: Some(lsp::OneOf::Left(true)),
            declaration_provider: Some(lsp::DeclarationCapability::Simple(true)),
            type_definition_provider: Some(lsp::TypeDefinitionProviderCapability::Simple(true)),
            references_provider: Some(lsp::OneOf::Left(true)),
            document_highlight_provider: Some(lsp::OneOf::Left(true)),
            document_link_provider: Some(lsp::DocumentLinkOptions {
                resolve_provider: Some(false),
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            }),
            rename_provider: Some(lsp::OneOf::Right(lsp::RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            })),
            folding_range_provider: Some(lsp::FoldingRangeProviderCapability::Simple(true)),
            selection_range_provider: Some(lsp::SelectionRangeProviderCapability::Simple(true)),
            linked_editing_range_provider: Some(lsp::LinkedEditingRangeServerCapabilities::Simple(
                true,
            )),
            semantic_tokens_provider: Some(
                lsp::SemanticTokensServerCapabilities::SemanticTokensOptions(semantic_tokens()),
            ),
            signature_help_provider: Some(lsp::SignatureHelpOptions {
                trigger_characters: Some(vec!["(".to_owned()]),
                ..lsp::SignatureHelpOptions::default()
            }),
            document_symbol_provider: Some(lsp::OneOf::Left(true)),
            workspace_symbol_provider: Some(lsp::OneOf::Left(true)),
            code_action_provider: Some(lsp::CodeActionProviderCapability::Options(
                lsp::CodeActionOptions {
                    code_action_kinds: Some(vec![
                        lsp::CodeActionKind::QUICKFIX,
                        lsp::CodeActionKind::from(RefactoringKind::Move.name()),
                        lsp::CodeActionKind::from(RefactoringKind::Extract.name()),
                        lsp::CodeActionKind::from(RefactoringKind::Inline.name()),
                        lsp::CodeActionKind::from(RefactoringKind::Rewrite.name()),
                        lsp::CodeActionKind::from(FIX_ALL),
                    ]),
                    resolve_provider: Some(true),
                    ..lsp::CodeActionOptions::default()
                },
            )),
            code_lens_provider: Some(lsp::CodeLensOptions {
                resolve_provider: Some(true),
            }),
            inlay_hint_provider: Some(lsp::OneOf::Left(true)),
            call_hierarchy_provider: Some(lsp::CallHierarchyServerCapability::Simple(true)),
            diagnostic_provider: Some(lsp::DiagnosticServerCapabilities::Options(diagnostics)),
            execute_command_provider: Some(lsp::ExecuteCommandOptions {
                commands: COMMANDS.iter().map(|&name| name.to_owned()).collect(),
                work_done_progress_options: lsp::WorkDoneProgressOptions {
                    work_done_progress: Some(true),
                },
            }),
            workspace: Some(lsp::WorkspaceServerCapabilities {
                workspace_folders: Some(folders),
                file_operations: Some(file_operations()),
            }),
            ..lsp::ServerCapabilities::default()
        },
        server_info: Some(lsp::ServerInfo {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        offset_encoding: None,
    }
}

fn semantic_tokens() -> lsp::SemanticTokensOptions {
    lsp::SemanticTokensOptions {
        legend: semantic_tokens::legend(),
        range: Some(true),
        full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
        ..lsp::SemanticTokensOptions::default()
    }
}

/// Files and folders of any name: data files can have any name, and so can their folders.
fn file_operations() -> lsp::WorkspaceFileOperationsServerCapabilities {
    let filter = lsp::FileOperationFilter {
        scheme: Some("file".to_owned()),
        pattern: lsp::FileOperationPattern {
            glob: "**/*".to_owned(),
            matches: None,
            options: None,
        },
    };
    lsp::WorkspaceFileOperationsServerCapabilities {
        will_rename: Some(lsp::FileOperationRegistrationOptions {
            filters: vec![filter],
        }),
        ..lsp::WorkspaceFileOperationsServerCapabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(capabilities: &Value) -> ClientFacts {
        ClientFacts::read(&json!({ "capabilities": capabilities }))
    }

    #[test]
    fn encodings_are_negotiated() {
        let negotiated = |offered: Value| {
            let client = facts(&json!({ "general": { "positionEncodings": offered } }));
            let answer = answer(&client).capabilities.position_encoding;
            answer.unwrap().as_str().to_owned()
        };
        assert_eq!(negotiated(json!(["utf-16", "utf-8"])), "utf-8");
        assert_eq!(negotiated(json!(["utf-32", "utf-16"])), "utf-32");
        assert_eq!(negotiated(json!(["utf-7"])), "utf-16");
        assert_eq!(negotiated(json!(null)), "utf-16");
    }

    #[test]
    fn completions_and_hovers_are_each_in_a_form_that_the_client_shows() {
        let forms = |hover: &str, completion: &str| {
            let client = facts(&json!({ "textDocument": {
                "hover": { "contentFormat": [hover] },
                "completion": { "completionItem": { "documentationFormat": [completion] } },
            } }));
            [client.hover_form(), client.completion_form()]
        };
        let [plain, markdown] = [HoverForm::Plain, HoverForm::Aligned];
        assert_eq!(forms("plaintext", "markdown"), [plain, markdown]);
        assert_eq!(forms("markdown", "plaintext"), [markdown, plain]);
        assert_eq!(facts(&json!({})).completion_form(), plain);
    }

    #[test]
    fn odd_parameters_do_not_refuse_the_client() {
        let odd = json!({
            "processId": "x", "rootUri": 7, "workspaceFolders": [{ "uri": "file:///a%20b/" }, 3],
            "capabilities": [], "trace": "loud",
        });
        let client = ClientFacts::read(&odd);
        assert_eq!(client.folders, ["/a b"]);
        assert_eq!(client.process, None);
        assert_eq!(client.trace, Trace::Off);
        assert_eq!(
            ClientFacts::read(&Value::Null).folders,
            Vec::<String>::new()
        );
    }

    #[test]
    fn older_fields_for_the_root_are_read() {
        let root = ClientFacts::read(&json!({ "rootUri": "file:///r/", "workspaceFolders": [] }));
        assert_eq!(root.folders, ["/r"]);
        let root = ClientFacts::read(&json!({ "rootPath": "/r", "rootUri": null }));
        assert_eq!(root.folders, ["/r"]);
    }
}
