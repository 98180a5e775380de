//! `lookup-options-namespace`: a module's data sets options for keys outside of its namespace.

use super::{FileContext, Findings, OptionAt};

rule!("lookup-options-namespace", Error, [Option(check)]);

fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    for reader in file.readers() {
        let Some(module) = reader.layer().module_name() else {
            continue;
        };
        let prefix = format!("{module}::");
        let message = match at.name.strip_prefix('^') {
            Some(pattern) if !pattern.starts_with(&prefix) => format!(
                "all lookup_options patterns of module '{module}' must start with \
                 '^{prefix}': every lookup of the module's keys fails"
            ),
            None if !at.name.starts_with(&prefix) => format!(
                "all lookup_options keys of module '{module}' must start with '{prefix}': every \
                 lookup of the module's keys fails"
            ),
            Some(_) | None => continue,
        };
        findings.report(at.key, message);
    }
}
