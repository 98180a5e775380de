//! `unused-suppression`: a comment suppresses what is not reported. See the module `suppression`.

rule!("unused-suppression", Hint, []);
