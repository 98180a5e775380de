//! The part about manifests: `$::osfamily`, `$facts['osfamily']`, and `$osfamily` where only the fact
//! can have that name.

use std::collections::BTreeSet;

use super::{differs_for_nodes, effect};
use crate::analysis::is_custom_fact;
use crate::rules::{FileContext, Findings, Fix, Safety};
use crate::scope::{CoreFact, core_fact};
use crate::syntax::puppet::{self, Dialect, Expression, ExpressionKind, without_colons};
use crate::text::{TextEdit, TextRange};

/// Facts that every agent has as hashes with all the parts that have a legacy name. A part of another
/// one (`$facts['dmi']['bios']`) is an error where the outer fact does not exist.
const ALWAYS: [&str; 7] = [
    "identity.",
    "networking.domain",
    "networking.fqdn",
    "networking.hostname",
    "os.family",
    "os.name",
    "os.release.",
];

/// A use of a legacy fact.
struct Use<'a> {
    name: &'a str,
    structured: Option<&'static str>,
    /// The text that a fix replaces.
    range: TextRange,
    form: Form,
    /// Whether it can only mean the fact.
    is_certain: bool,
    /// Whether it is a part of `$facts`.
    is_of_facts: bool,
}

/// How a variable is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `$name`, in code or within `${…}`.
    WithDollar,
    /// `name` of `${name}`.
    InBraces,
    /// `$name` in a string.
    InString,
}

/// Reports the legacy facts that a manifest reads.
pub(super) fn check(at: &FileContext<'_>, findings: &mut Findings<'_>) {
    let text = at.file.text();
    if !may_read_one(text) {
        return;
    }
    let parse = puppet::parse(text, Dialect::Manifest);
    let own = OwnNames::of(&parse.root);
    let mut uses = Vec::new();
    find(&parse.root, text, None, &mut uses);
    for found in uses {
        let may_be_fact = found.is_certain || own.may_be_fact(found.name);
        let is_set = || !found.is_of_facts && at.checker.top_variables().contains(found.name);
        if may_be_fact && !is_custom_fact(at.snapshot(), found.name) && !is_set() {
            report(at, &found, findings);
        }
    }
}

/// Whether some variable of the text has the name of a legacy fact. O(text), without parsing.
fn may_read_one(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('$') {
        let name = after.trim_start_matches(['{', '$', ':', ' ']);
        let name = match name.strip_prefix("facts") {
            Some(part) => part.trim_start_matches(['[', '\'', '"', ' ']),
            None => name,
        };
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &name[..end.unwrap_or(name.len())];
        if matches!(core_fact(name), CoreFact::Legacy(_)) {
            return true;
        }
        rest = after;
    }
    false
}

/// The names that a manifest gives a meaning of its own.
#[derive(Default)]
struct OwnNames {
    /// The variables that it sets, and parameters.
    names: BTreeSet<Box<str>>,
    /// Whether a class has a parent, of which it may have any variable.
    inherits: bool,
}

impl OwnNames {
    fn of(root: &Expression) -> OwnNames {
        let mut own = OwnNames::default();
        root.walk(&mut |node| {
            if let ExpressionKind::Binary("=", _) = &node.kind {
                node.each_assigned(&mut |name, _| {
                    own.names.insert(Box::from(name));
                });
            } else if let ExpressionKind::Parameter(parameter) = &node.kind {
                own.names.insert(parameter.name.clone());
            } else if let ExpressionKind::Class(class) = &node.kind {
                own.inherits |= class.parent.is_some();
            }
        });
        own
    }

    fn may_be_fact(&self, name: &str) -> bool {
        !self.inherits && !self.names.contains(name)
    }
}

/// Finds the legacy facts in an expression, but not in plans: these have no facts.
fn find<'a>(
    node: &'a Expression,
    text: &str,
    parent: Option<&'a Expression>,
    uses: &mut Vec<Use<'a>>,
) {
    if matches!(node.kind, ExpressionKind::Plan(_)) {
        return;
    }
    let of_facts = part_of_facts(node);
    let named = if let ExpressionKind::Variable(name) = &node.kind {
        match name.strip_prefix("::") {
            Some(top) => Some((top, true)),
            None => Some((&**name, false)),
        }
    } else {
        of_facts.map(|name| (name, true))
    };
    if let Some((name, is_certain)) = named
        && let CoreFact::Legacy(structured) = core_fact(name)
        && let Some(written) = text.get(node.range.as_usize())
    {
        let is_in_string =
            parent.is_some_and(|it| matches!(it.kind, ExpressionKind::Interpolation(_)));
        let before = text.get(..node.range.start as usize).unwrap_or_default();
        uses.push(Use {
            name,
            structured,
            range: node.range,
            form: match (written.starts_with('$'), is_in_string) {
                (false, _) => Form::InBraces,
                (true, true) if !before.trim_end().ends_with('{') => Form::InString,
                (true, _) => Form::WithDollar,
            },
            is_certain,
            is_of_facts: of_facts.is_some(),
        });
    }
    // An access to a variable of an interpolation is what the braces contain.
    node.kind
        .each(&mut |part| find(part, text, Some(node), uses));
}

/// The name in `$facts['name']`.
fn part_of_facts(node: &Expression) -> Option<&str> {
    if let ExpressionKind::Access(left, keys) = &node.kind
        && let ExpressionKind::Variable(name) = &left.kind
        && without_colons(name) == "facts"
        && let [key] = keys.as_slice()
        && let ExpressionKind::Text(name) = &key.kind
    {
        return Some(name);
    }
    None
}

fn report(at: &FileContext<'_>, found: &Use<'_>, findings: &mut Findings<'_>) {
    let Use {
        name, structured, ..
    } = *found;
    let path = structured.map(|path| {
        let parts = path.split('.').map(|part| format!("['{part}']"));
        format!("facts{}", parts.collect::<String>())
    });
    let instead = match &path {
        Some(path) => format!("; use ${path}"),
        None => String::new(),
    };
    let finding = findings.report(
        found.range,
        format!("'{name}' is a legacy fact: {}{instead}", effect(at)),
    );
    finding.matters_later();
    if let Some((path, structured)) = path.zip(structured) {
        let is_always = ALWAYS.iter().any(|start| structured.starts_with(start));
        let variable = if found.is_of_facts {
            format!("facts.{name}")
        } else {
            name.to_owned()
        };
        // A class may inherit a variable of that name.
        let is_same = || !differs_for_nodes(at, &variable, structured);
        let safety = if found.is_certain && is_always && is_same() {
            Safety::Safe
        } else {
            Safety::Unsafe
        };
        let new = match found.form {
            Form::WithDollar => format!("${path}"),
            Form::InBraces => path.clone(),
            Form::InString => format!("${{{path}}}"),
        };
        let edit = TextEdit::replace(found.range, new);
        finding
            .fixes
            .push(Fix::new(safety, format!("Use '${path}'"), edit));
    }
}

#[cfg(test)]
mod tests {
    use super::super::RULE;
    use crate::rules::Safety;
    use crate::rules::marked::{check_rule, fixed};

    const WORKSPACE: &str = "#- hiera.yaml\nversion: 5\n#- modules/m/manifests/init.pp\n";

    /// The manifest after the fixes of its findings.
    fn fixed_code(code: &str, most: Safety) -> String {
        let path = "modules/m/manifests/init.pp";
        let text = format!("{code}\n#- hiera.yaml\nversion: 5\n");
        let text = fixed(path, &text, most, |finding| finding.code == RULE.code);
        text.trim_end().to_owned()
    }

    #[test]
    fn a_fix_is_not_safe_if_a_known_node_has_another_value_in_the_structured_fact() {
        let fixed_data = |domain: &str, most| {
            let text = format!(
                "k: \"%{{facts.domain}}\"\n#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n\
                 #- nodes.yaml\na: {{facts: {{domain: {domain}, networking: {{domain: ec2.internal}}}}}}\n"
            );
            fixed("data/common.yaml", &text, most, |finding| {
                finding.code == RULE.code
            })
        };
        let (before, after) = (
            "k: \"%{facts.domain}\"\n",
            "k: \"%{facts.networking.domain}\"\n",
        );
        assert_eq!(fixed_data("ec2.internal", Safety::Safe), after);
        assert_eq!(fixed_data("lon.example.com", Safety::Safe), before);
        assert_eq!(fixed_data("lon.example.com", Safety::Unsafe), after);
    }

    #[test]
    fn a_fact_of_a_module_is_no_legacy_fact() {
        let files = "#- modules/m/manifests/init.pp\n$a = $facts['network_primary_ip']\n\
             $b = $::osfamily #~ legacy-fact\n#- data/common.yaml\na: \"%{facts.network_primary_ip}\"\n\
             b: \"%{network_eth0}\" #~ legacy-fact\n#- hiera.yaml\nversion: 5\n\
             hierarchy: [{name: c, paths: ['%{network_primary_ip}.yaml', common.yaml]}]\n\
             #- modules/network/lib/facter/network.rb\nFacter.add(:network_primary_ip) do\nend\n";
        check_rule(RULE, files);
    }

    #[test]
    fn a_variable_that_the_site_manifest_sets_is_no_fact() {
        let files = "#- manifests/site.pp\n$osfamily = $facts['os']['family']\n\
             #- modules/m/manifests/init.pp\nclass m { $a = $::osfamily }\n\
             class m::b { $a = $facts['osfamily'] } #~ legacy-fact\n\
             #- data/common.yaml\na: \"%{osfamily} %{::osfamily}\"\nb: \"%{facts.osfamily}\" #~ legacy-fact\n\
             #- hiera.yaml\nversion: 5\nhierarchy: [{name: c, paths: ['%{osfamily}.yaml', common.yaml]}]\n";
        check_rule(RULE, files);
    }

    #[test]
    fn a_variable_of_some_nodes_or_of_one_environment_is_a_fact() {
        let data = "data/common.yaml\na: \"%{osfamily}\" #~ legacy-fact\n";
        let config = "hiera.yaml\nversion: 5\nhierarchy: [{name: c, path: common.yaml}]\n";
        let in_block = "node 'a' { $osfamily = 'x' }\n";
        check_rule(
            RULE,
            &format!("#- manifests/site.pp\n{in_block}#- {data}#- {config}"),
        );
        let environment =
            |name: &str| format!("#- environments/{name}/{config}#- environments/{name}/{data}");
        check_rule(
            RULE,
            &format!(
                "#- environments/a/manifests/site.pp\n$osfamily = 'x'\n{}{}",
                environment("a"),
                environment("b")
            ),
        );
    }

    #[test]
    fn every_way_to_read_a_fact_is_found_and_mended() {
        for (code, new) in [
            ("$::osfamily", "$facts['os']['family']"),
            ("$facts['osfamily']", "$facts['os']['family']"),
            ("$facts[\"fqdn\"]", "$facts['networking']['fqdn']"),
            ("$::facts['fqdn']", "$facts['networking']['fqdn']"),
            ("\"a ${::osfamily} b\"", "\"a ${facts['os']['family']} b\""),
            (
                "\"a ${facts['osfamily']} b\"",
                "\"a ${facts['os']['family']} b\"",
            ),
            ("\"a $::osfamily b\"", "\"a ${facts['os']['family']} b\""),
            (
                "\"${::osfamily.downcase}\"",
                "\"${facts['os']['family'].downcase}\"",
            ),
            ("\"${$::osfamily}\"", "\"${$facts['os']['family']}\""),
            ("$::fqdn[0,2]", "$facts['networking']['fqdn'][0,2]"),
            ("\"${::fqdn[0]}\"", "\"${facts['networking']['fqdn'][0]}\""),
            (
                "f(\"${f(\"$::fqdn\")}\")",
                "f(\"${f(\"${facts['networking']['fqdn']}\")}\")",
            ),
            (
                "$::osfamily ? { x => 1 }",
                "$facts['os']['family'] ? { x => 1 }",
            ),
        ] {
            let [code, new] = [code, new].map(|it| format!("class m {{ $x = {it} }}"));
            assert_eq!(fixed_code(&code, Safety::Safe), new);
            // What is written is not found again, and still a manifest.
            check_rule(RULE, &format!("{WORKSPACE}{new}\n"));
        }
    }

    #[test]
    fn a_name_of_the_manifest_itself_is_no_fact() {
        let quiet = [
            "class m($hostname) { $x = $hostname }",
            "class m { $hostname = 'a' $x = \"${hostname}\" }",
            "class m { [$hostname, $b] = [1, 2] $x = $hostname }",
            "class m { [1].each |$interfaces| { $x = $interfaces } }",
            "class m inherits base { $x = $hostname }",
            "plan m() { $x = $::hostname }",
            "class m { $x = $facts['os']['family'] }",
            "class m { $x = '$::osfamily' }",
            "class m { # $::osfamily\n }",
            "class m { $x = $role::hostname }",
            "class m { $x = $facts[$osfamily_name] }",
        ];
        for code in quiet {
            check_rule(RULE, &format!("{WORKSPACE}{code}\n"));
        }
        let found = check_rule(
            RULE,
            &format!("{WORKSPACE}class m {{ $x = $hostname }} #~ legacy-fact\n"),
        );
        // A node block or an ENC may set it.
        assert_eq!(found[0].fixes[0].safety, Safety::Unsafe);
        let found = check_rule(
            RULE,
            &format!("{WORKSPACE}class m($hostname) {{ $x = $::hostname }} #~ legacy-fact\n"),
        );
        assert_eq!(found[0].fixes[0].safety, Safety::Safe);
        // Not every machine has the outer fact.
        let found = check_rule(
            RULE,
            &format!("{WORKSPACE}class m {{ $x = $::manufacturer }} #~ legacy-fact\n"),
        );
        assert_eq!(found[0].fixes[0].safety, Safety::Unsafe);
        let found = check_rule(
            RULE,
            &format!("{WORKSPACE}class m {{ $x = $::interfaces }} #~ legacy-fact\n"),
        );
        assert!(found[0].fixes.is_empty());
    }
}
