//! Values as `puppet lookup` prints them (`puppet/network/formats.rb`).

use clap::ValueEnum;

use crate::lookup::{TraceNode, explain, explain_data};
use crate::value::{self, Value};

/// The formats of `--render-as`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum RenderFormat {
    /// Plain text
    #[value(alias = "text")]
    S,
    /// YAML
    Yaml,
    /// JSON
    Json,
}

/// An explanation; YAML marks a value found in several places as one object, as Ruby does.
pub(super) fn render_trace(trace: &TraceNode, format: RenderFormat) -> Result<String, String> {
    let text = match format {
        RenderFormat::S => explain(trace),
        RenderFormat::Yaml => value::dump_shared(&explain_data(trace)),
        RenderFormat::Json => {
            value::to_json(&explain_data(trace)).map_err(|error| error.to_string())?
        }
    };
    Ok(format!("{}\n", text.trim_end_matches('\n')))
}

/// The output of Ruby's `puts` for a rendered value.
pub(super) fn render(value: &Value, format: RenderFormat) -> Result<String, String> {
    let text = match format {
        RenderFormat::S => value.to_s(),
        RenderFormat::Yaml => value::dump(value),
        RenderFormat::Json => value::to_json(value).map_err(|error| error.to_string())?,
    };
    Ok(if text.ends_with('\n') {
        text
    } else {
        text + "\n"
    })
}
