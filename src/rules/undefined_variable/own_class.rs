//! The part about variables of the class whose parameter a value is: a class has none while Puppet looks its parameters up
//! (`Resource::Type#set_resource_parameters`).

use crate::analysis::split_key;
use crate::rules::{FileContext, Findings, Severity};
use crate::syntax::puppet::without_colons;
use crate::workspace::{KeyFact, KeyState};

/// Reports tokens with a variable of the class whose parameter their key sets. O(variables of classes × keys).
pub(super) fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    for used in at.facts().variables() {
        let name = without_colons(&used.name);
        let Some((class, variable)) = split_key(name) else {
            continue;
        };
        let mut keys = at.facts().keys.iter();
        let key = keys.find(|key| key.value.contains(used.range));
        let Some(key) = key.filter(|key| key.state == KeyState::Read && at.is_last(key)) else {
            continue;
        };
        if split_key(&key.name).is_none_or(|(own, _)| own != class) || !is_parameter_alone(at, key)
        {
            continue;
        }
        let message = format!(
            "'{name}' is not set while the parameters of class '{class}' are looked up: {}",
            super::effect(at)
        );
        let finding = findings.report_as(Severity::Warning, used.range, message);
        finding.matters_later();
        let variable = variable.split('.').next().unwrap_or(variable);
        finding.did_you_mean(&format!("lookup('{class}::{variable}')"));
    }
}

/// Whether a key is only looked up as a class parameter.
fn is_parameter_alone(at: &FileContext<'_>, key: &KeyFact) -> bool {
    let analysis = at.checker.analysis();
    let is_parameter = at.readers().iter().any(|reader| {
        let root = reader.root.root;
        let parameter = analysis.autoloaded_parameter(root, &key.name);
        parameter.is_some_and(|it| {
            let class = &it.class.definition.name;
            !at.checker.may_be_given(root, (class, &it.parameter.name))
        })
    });
    is_parameter && at.snapshot().files_looking_up(&key.name).next().is_none()
}
