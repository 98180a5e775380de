//! What clients read without calling a tool: the pages of the rules, and the report of `doctor`.

use serde_json::Value;

use super::Served;
use super::called::Asked;
use super::secrets::HiddenSecrets;
use crate::cli::console::IsCancelled;
use crate::cli::doctor::DoctorArguments;
use crate::rules::{RULES, rule};

/// The report of `doctor`.
const DOCTOR: &str = "hiera-ls://doctor";

/// The beginning of a rule's page.
const RULE: &str = "hiera-ls://rules/";

/// All pages of rules.
pub(super) const RULE_TEMPLATE: &str = "hiera-ls://rules/{code}";

/// Something to read.
pub(super) struct ResourceSpec {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) about: &'static str,
    pub(super) media_type: &'static str,
}

/// All resources.
pub(super) fn all() -> impl Iterator<Item = ResourceSpec> {
    let doctor = ResourceSpec {
        uri: DOCTOR.to_owned(),
        name: "doctor".to_owned(),
        about: "What is known about the workspace, and what would improve answers most",
        media_type: "application/json",
    };
    let rules = RULES.iter().map(|rule| ResourceSpec {
        uri: format!("{RULE}{}", rule.code),
        name: rule.code.to_owned(),
        about: rule.summary(),
        media_type: "text/markdown",
    });
    std::iter::once(doctor).chain(rules)
}

/// The media type and the text of a resource; `None` if there is none of that name.
///
/// # Errors
/// The workspace cannot be read.
pub(super) fn read(
    served: &Served,
    uri: &str,
    is_cancelled: IsCancelled,
) -> Result<Option<(&'static str, String)>, String> {
    if uri == DOCTOR {
        let asked = Asked {
            served,
            workspace: served.workspace.clone(),
            is_cancelled,
        };
        let ran = asked.run::<DoctorArguments>(&["--format=json".to_owned()])?;
        let mut report = ran.json()?;
        HiddenSecrets::without(&Value::Null).hide(&mut report, None);
        return Ok(Some(("application/json", format!("{report:#}\n"))));
    }
    let page = uri.strip_prefix(RULE).and_then(rule);
    Ok(page.map(|rule| ("text/markdown", rule.page.to_owned())))
}
