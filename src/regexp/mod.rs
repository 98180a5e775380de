//! Ruby regular expressions on Rust engines: translate, compile, match, and Ruby's error texts.
