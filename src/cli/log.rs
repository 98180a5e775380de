//! The log on standard error, filtered by `HIERA_LS_LOG` (`debug`, `hiera_ls=trace,warn`).

use tracing::{Event, Subscriber};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// These transports log whole messages, and an answer may hold a secret that the user asked for.
const SILENT: [&str; 2] = ["tower_lsp_server::codec", "rmcp"];

/// Starts the log of this process: with time and code location for a server, or as plain messages.
pub(crate) fn start(with_time: bool) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line reads the environment"
    )]
    let wanted = std::env::var("HIERA_LS_LOG").unwrap_or_default();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    let lines = if with_time {
        lines.boxed()
    } else {
        lines.event_format(AsMessages).boxed()
    };
    let log = tracing_subscriber::registry().with(lines.with_filter(filter(&wanted)));
    // An existing subscriber is fine.
    let _ = log.try_init();
}

/// Formats log lines like the other messages of a command.
struct AsMessages;

impl<S, N> FormatEvent<S, N> for AsMessages
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        write!(writer, "hiera-ls: ")?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// The log filter: warnings by default, changed by `HIERA_LS_LOG`.
fn filter(wanted: &str) -> Targets {
    let wanted: Targets = if wanted.is_empty() {
        Targets::new()
    } else {
        wanted.parse().unwrap_or_default()
    };
    let others = wanted.default_level().unwrap_or(LevelFilter::WARN);
    wanted
        .iter()
        .filter(|(target, _)| !SILENT.iter().any(|silent| target.starts_with(silent)))
        .collect::<Targets>()
        .with_targets(SILENT.map(|silent| (silent, LevelFilter::OFF)))
        .with_default(others)
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn whole_messages_are_never_written() {
        for wanted in [
            "",
            "trace",
            "tower_lsp_server::codec=trace",
            "rmcp::service=trace",
            "nonsense==",
        ] {
            let filter = filter(wanted);
            for silent in SILENT.into_iter().chain(["rmcp::service"]) {
                assert!(!filter.would_enable(silent, &Level::ERROR), "{wanted}");
            }
            assert!(
                filter.would_enable("hiera_ls::server", &Level::WARN),
                "{wanted}"
            );
        }
    }

    #[test]
    fn modules_can_be_logged_separately() {
        let filter = filter("hiera_ls::disk=debug,warn");
        assert!(filter.would_enable("hiera_ls::disk::scan", &Level::DEBUG));
        assert!(!filter.would_enable("hiera_ls::server", &Level::DEBUG));
        assert!(filter.would_enable("hiera_ls::server", &Level::WARN));
    }
}
