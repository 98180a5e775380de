//! From text to a tree with exact byte spans, plus problems: YAML as Psych reads it, JSON, HOCON.

pub mod hocon;
