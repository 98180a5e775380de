//! Values as `puppet lookup` prints them (`puppet/network/formats.rb`).

use clap::ValueEnum;

use crate::value::{self, Value};

/// The formats of `--render-as`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// Plain text
    S,
    /// YAML
    Yaml,
    /// JSON
    Json,
}

/// The text that Ruby's `puts` writes for a rendered value.
pub(super) fn render(value: &Value, format: Format) -> Result<String, String> {
    let text = match format {
        Format::S => value.to_s(),
        Format::Yaml => value::dump(value),
        Format::Json => value::to_json(value).map_err(|error| error.to_string())?,
    };
    Ok(if text.ends_with('\n') {
        text
    } else {
        text + "\n"
    })
}
