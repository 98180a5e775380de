//! The protocol: the only file that knows the official SDK and its runtime. Every call is answered on a thread
//! that may block.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::Served;
use super::resources;
use super::tools::{self, INSTRUCTIONS, ToolAnswer, ToolSpec};
use crate::cli::console::IsCancelled;

/// Maximum number of bytes of a message.
const MAX_MESSAGE: usize = 16 << 20;

/// Maximum number of calls that are answered at once; others wait.
const MAX_CALLS: usize = 4;

/// The media type of Markdown.
const MARKDOWN: &str = "text/markdown";

/// Answers a client on standard input and output until it closes them.
///
/// # Errors
/// The runtime cannot be started, or the client does not speak the protocol.
pub(super) fn serve(served: Served) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        // An idle thread would keep the memory that its last call has freed.
        .thread_keep_alive(Duration::ZERO)
        .build()
        .map_err(|error| format!("no threads: {}", crate::disk::failure(&error)))?;
    let result = runtime.block_on(async {
        let streams = AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout());
        let handler = Handler {
            served: Arc::new(served),
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
        };
        let running = handler
            .serve(streams.with_max_line_length(MAX_MESSAGE))
            .await
            .map_err(|error| error.to_string())?;
        running.waiting().await.map_err(|error| error.to_string())
    });
    // A call that is still underway must not keep the process.
    runtime.shutdown_background();
    result.map(|_| ())
}

struct Handler {
    served: Arc<Served>,
    calls: Arc<Semaphore>,
}

impl Handler {
    /// Answers on a thread that may block.
    async fn answer<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        find: impl FnOnce(&Served, IsCancelled) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let failed = |message: String| ErrorData::internal_error(message, None);
        let permit = Arc::clone(&self.calls).acquire_owned().await;
        let permit = permit.map_err(|error| failed(error.to_string()))?;
        let (served, token) = (Arc::clone(&self.served), context.ct.clone());
        let is_cancelled: IsCancelled = Arc::new(move || token.is_cancelled());
        let work = spawn_blocking(move || {
            let _permit = permit;
            find(&served, is_cancelled)
        });
        work.await.map_err(|error| failed(error.to_string()))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let program = Implementation::new("hiera-ls", env!("CARGO_PKG_VERSION"));
        let program = program.with_title("Hiera, the data of Puppet and OpenVox");
        ServerConfig::new(capabilities)
            .with_server_info(program)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = tools::all().iter().map(described).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (name, input) = (request.name, request.arguments.unwrap_or_default());
        let Some(tool) = tools::all().iter().find(|tool| *tool.name == *name) else {
            let message = format!("there is no tool '{name}'");
            return Err(ErrorData::invalid_params(message, None));
        };
        let find = |served: &Served, is_cancelled| tool.answer(served, input, is_cancelled);
        let result = match self.answer(&context, find).await? {
            Ok(ToolAnswer { summary, content }) => {
                let mut result = CallToolResult::structured(content);
                // The same as JSON follows, for clients that know no structured content.
                result.content.insert(0, ContentBlock::text(summary));
                result
            }
            Err(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = resources::all().map(|it| {
            Resource::new(it.uri, it.name)
                .with_description(it.about)
                .with_mime_type(it.media_type)
        });
        Ok(ListResourcesResult::with_all_items(all.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let rules = ResourceTemplate::new(resources::RULE_TEMPLATE, "rule")
            .with_description("The page of a rule: what it reports, why, and how to fix it")
            .with_mime_type(MARKDOWN);
        Ok(ListResourceTemplatesResult::with_all_items(vec![rules]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let find = move |served: &Served, is_cancelled| resources::read(served, &uri, is_cancelled);
        let read = self.answer(&context, find).await?;
        let found = read.map_err(|message| ErrorData::internal_error(message, None))?;
        let Some((media_type, text)) = found else {
            let message = format!("there is no resource '{}'", request.uri);
            return Err(ErrorData::resource_not_found(message, None));
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type(media_type);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

/// A tool for clients.
fn described(tool: &ToolSpec) -> Tool {
    let annotations = ToolAnnotations::with_title(&tool.title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(
        tool.name.clone(),
        tool.description.clone(),
        tool.input.clone(),
    )
    .with_title(&tool.title)
    .with_raw_output_schema(Arc::new(tool.output.clone()))
    .with_annotations(annotations)
}
