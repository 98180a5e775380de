//! `nested-not-flat`: parameters of a class are in a hash under the class's name, where Puppet does
//! not look for them.

use std::sync::Arc;

use super::keys_in_code::may_be_looked_up;
use super::{FileContext, Findings, Fix, Related, Safety};
use crate::analysis::{Analysis, split_key};
use crate::edit::{flattened, flattened_in_braces};
use crate::syntax::NodeId;
use crate::workspace::{Format, KeyFact, KeyState, Root};

rule!("nested-not-flat", Warning, [Key(check)], WORKSPACE);

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    if key.state != KeyState::Read || key.value.is_empty() {
        return;
    }
    let analysis = at.checker.analysis();
    let classes = at.classes(&key.name).unwrap_or_default();
    let Some(class) = classes.first().copied() else {
        return;
    };
    let Some((_, value)) = at.top_level(&key.name) else {
        return;
    };
    let tree = at.tree();
    let pairs = tree.node(tree.resolve(value)).as_mapping();
    let Some(pairs) = pairs.filter(|pairs| !pairs.is_empty()) else {
        return;
    };
    let is_parameter = |&(name, _): &(NodeId, NodeId)| {
        let name = tree.scalar_text(name);
        name.is_some_and(|name| classes.iter().all(|class| class.parameter(name).is_some()))
    };
    let mut roots = at.roots_with_code();
    if !pairs.iter().all(is_parameter)
        || roots.any(|root| may_be_parameter(analysis, root, &key.name))
        || at.checker.options_for(&key.name).next().is_some()
        || may_be_looked_up(at.snapshot(), &key.name)
    {
        return;
    }
    let first = tree.scalar_text(pairs[0].0).map_or("", |name| &**name);
    let finding = findings.report(
        key.key,
        format!(
            "nothing looks up '{0}': for this class parameter Puppet looks up '{0}::{first}'",
            key.name
        ),
    );
    finding.related.push(Related {
        path: Arc::clone(class.file.path()),
        range: class.definition.place,
        message: format!("class '{}'", key.name),
    });
    let edit = match at.format() {
        Format::Yaml => flattened(tree, at.file.text(), value),
        Format::Json => flattened_in_braces(tree, at.file.text(), value),
        Format::Hocon => None,
    };
    if let Some(edit) = edit {
        let title = format!("Write '{}::{first}' …", key.name);
        let names = pairs.iter().filter_map(|(name, _)| tree.scalar_text(*name));
        let fix = Fix::new(Safety::Unsafe, title, edit);
        let fix = names.fold(fix, |fix, name| {
            fix.renaming(key.key, format!("{}::{name}", key.name))
        });
        finding.fixes.push(fix);
    }
}

/// Whether the key may be a parameter of the class in its name: the class declares it, or cannot be parsed.
fn may_be_parameter(analysis: Analysis<'_>, root: &Root, key: &str) -> bool {
    let Some((class, parameter)) = split_key(key) else {
        return false;
    };
    let class = analysis.autoloaded(root, class);
    class.is_some_and(|class| {
        let code = class.file.facts().code.as_deref();
        code.is_none_or(|code| code.is_broken) || class.parameter(parameter).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::marked::fixed;
    use crate::rules::{Finding, Safety};

    /// A file after the fix.
    fn flat(name: &str, text: &str) -> String {
        let workspace = format!(
            "{text}#- hiera.yaml\nversion: 5\nhierarchy:\n  - {{name: a, path: c.yaml}}\n  - {{name: b, \
             path: c.json, data_hash: json_data}}\n#- modules/ntp/manifests/init.pp\n\
             class ntp ($servers, $pool) {{ }}\n"
        );
        let is_own = |finding: &Finding| finding.code == RULE.code;
        fixed(&format!("data/{name}"), &workspace, Safety::Unsafe, is_own)
    }

    #[test]
    fn hashes_in_braces_are_written_flat() {
        for (name, nested, expected) in [
            (
                "c.yaml",
                "a: 1\nntp: {servers: [a, b], pool: &p {x: 1}}  # why\n",
                "a: 1\nntp::servers: [a, b]\nntp::pool: &p {x: 1}  # why\n",
            ),
            (
                "c.yaml",
                "'ntp': {\n  \"servers\": [\n    a],\n  pool: x,\n}\nb: 1\n",
                "\"ntp::servers\": [\n    a]\nntp::pool: x\nb: 1\n",
            ),
            (
                "c.yaml",
                "{ntp: {servers: 1, pool: 2}, b: 1}\n",
                "{ntp::servers: 1, ntp::pool: 2, b: 1}\n",
            ),
            (
                "c.json",
                "{\n  \"ntp\": {\"servers\": [1], \"pool\": null}\n}\n",
                "{\n  \"ntp::servers\": [1], \"ntp::pool\": null\n}\n",
            ),
        ] {
            assert_eq!(flat(name, nested), expected);
        }
        let commented = "ntp: {servers: 1, # one\n  pool: 2}\n";
        assert_eq!(flat("c.yaml", commented), commented);
    }
}
