//! `unknown-parameter`: data sets a parameter that the class does not have.

use std::sync::Arc;

use super::keys_in_code::{computing, is_looked_up, may_be_looked_up};
use super::{FileContext, Findings, Fix, Related};
use crate::analysis::{Defined, split_key};
use crate::text::{nearest, typing_error};
use crate::workspace::{File, KeyFact, path};

rule!("unknown-parameter", Warning, [Key(check)], WORKSPACE);

fn check(at: &FileContext<'_>, key: &KeyFact, findings: &mut Findings<'_>) {
    let Some((class, parameter)) = split_key(&key.name) else {
        return;
    };
    let Some(classes) = at.classes(class) else {
        report_class(at, key, (class, parameter), findings);
        return;
    };
    let lacks = |class: &Defined<'_>| {
        let code = class.file.facts().code.as_deref();
        code.is_some_and(|code| !code.is_broken) && class.parameter(parameter).is_none()
    };
    let Some(first) = classes.first().copied() else {
        return;
    };
    if !classes.iter().all(lacks) || is_looked_up(at.snapshot(), &key.name) {
        return;
    }
    let names = first.definition.parameters.iter().map(|p| &*p.name);
    let is_perhaps_read = computing(at.snapshot()).next().is_some();
    let suggestion = if is_perhaps_read {
        typing_error(parameter, names)
    } else {
        nearest(parameter, names)
    };
    // Code of other modules hardly ever computes a key that differs from a parameter of this class by a letter.
    let is_own = |file: &Arc<File>| classes.iter().any(|it| is_of_module(file, it));
    let is_typing_error = || {
        let is_set = |suggestion| at.facts().key(&format!("{class}::{suggestion}")).is_some();
        suggestion.is_some_and(|suggestion| !is_set(suggestion))
            && !computing(at.snapshot()).any(is_own)
    };
    if is_perhaps_read && !is_typing_error() {
        return;
    }
    let is_read = if is_perhaps_read {
        ""
    } else {
        ": Puppet never reads this key"
    };
    let finding = findings.report(
        key.key,
        format!("class '{class}' has no parameter '{parameter}'{is_read}"),
    );
    finding.related.push(Related {
        path: Arc::clone(first.file.path()),
        range: first.definition.place,
        message: format!("class '{class}'"),
    });
    if let Some(suggestion) = suggestion {
        finding.did_you_mean(suggestion);
        finding
            .fixes
            .extend(renamed(at, key, &format!("{class}::{suggestion}")));
    }
}

/// Reports a key of a class that does not exist, if the module has a class with a similar name and
/// such a parameter.
fn report_class(
    at: &FileContext<'_>,
    key: &KeyFact,
    (class, parameter): (&str, &str),
    findings: &mut Findings<'_>,
) {
    let Some((module, _)) = class.split_once("::") else {
        return;
    };
    let analysis = at.checker.analysis();
    let module = format!("{module}::");
    let has_it = |name: &&str, root| {
        let found = analysis.autoloaded(root, name);
        found.is_some_and(|class| class.parameter(parameter).is_some())
    };
    let names = at.snapshot().defined_names(&module).map(|name| &**name);
    let Some(suggestion) = typing_error(class, names) else {
        return;
    };
    let mut roots = at.roots_with_code();
    let is_in_every_environment = roots.all(|root| {
        let is_there = at.snapshot().files_defining(class).next().is_some();
        !is_there && has_it(&suggestion, root)
    });
    if !is_in_every_environment || may_be_looked_up(at.snapshot(), &key.name) {
        return;
    }
    let message = format!("there is no class '{class}': nothing looks up this key");
    let finding = findings.report(key.key, message);
    let suggestion = format!("{suggestion}::{parameter}");
    finding.did_you_mean(&suggestion);
    finding.fixes.extend(renamed(at, key, &suggestion));
}

/// Renames a key, within its quotes.
fn renamed(at: &FileContext<'_>, key: &KeyFact, suggestion: &str) -> Option<Fix> {
    let title = format!("Rename it to '{suggestion}'");
    at.renamed(key.key, (&key.name, suggestion), title)
}

/// Whether a file is in the module that defines a class.
fn is_of_module(file: &File, class: &Defined<'_>) -> bool {
    let defining = class.file.path();
    let module = defining.split_once("/manifests/").map(|(module, _)| module);
    module.is_none_or(|module| path::within(file.path(), module).is_some())
}

#[cfg(test)]
mod tests {
    use super::super::marked::{ONE_LEVEL, check_rule};
    use super::*;

    #[test]
    fn a_misspelt_parameter_is_reported_though_other_modules_compute_keys() {
        let check = |computing: &str| {
            let text = format!(
                "{ONE_LEVEL}#- modules/a/manifests/init.pp\nclass a($servers) {{ }}\n\
                 #- {computing}\n\
                 #- data/common.yaml\na::serverz: 1 #~ unknown-parameter\na::other: 1\n"
            );
            check_rule(RULE, &text).remove(0).message
        };
        assert_eq!(
            check("modules/b/manifests/init.pp\nclass b($k) { lookup($k) }"),
            "class 'a' has no parameter 'serverz'; did you mean 'servers'?"
        );
        let own = format!(
            "{ONE_LEVEL}#- modules/a/manifests/init.pp\nclass a($servers) {{ }}\n\
             #- modules/a/manifests/b.pp\ndefine a::b($k) {{ lookup($k) }}\n\
             #- data/common.yaml\na::serverz: 1\n"
        );
        check_rule(RULE, &own);
    }

    #[test]
    fn a_hierarchy_without_code_reports_all_parameters() {
        let check = |level: &str, mark: &str| {
            let text = format!(
                "{ONE_LEVEL}#- modules/a/manifests/init.pp\nclass a($x) {{ }}\n\
                 #- rake/hiera.yaml\nversion: 5\ndefaults: {{datadir: ../data, data_hash: yaml_data}}\n\
                 hierarchy: [{{name: common, path: common.yaml}}]\n#- {level}\n\n\
                 #- data/common.yaml\na::zz: 1{mark}\n"
            );
            check_rule(RULE, &text)
        };
        check("rake/helper.rb", " #~ unknown-parameter");
        // The module may be another one when these are deployed.
        check("rake/Puppetfile", "");
        check("rake/modules/b/manifests/init.pp", "");
    }

    #[test]
    fn a_key_that_code_may_look_up_is_not_reported() {
        let silent = [
            "modules/b/manifests/init.pp\nclass b { lookup(\"${x}::zz\") }",
            "modules/b/manifests/init.pp\nclass b { hiera(\"${x}z\") }",
            "modules/b/manifests/init.pp\nclass b { lookup(\"${x}::${y}\") }",
            "modules/b/manifests/init.pp\nclass b { lookup(\"a::zz.${y}\") }",
            "modules/b/manifests/init.pp\nclass b { lookup($k) }",
            "modules/b/manifests/init.pp\nclass b($module_name) { lookup(\"${module_name}::${k}\") }",
            "manifests/site.pp\n$k = 'a::zz'\nlookup($k)",
            "manifests/site.pp\n$k = 'a::yy'\nnode default { $k = $facts['k']\n lookup($k) }",
            "manifests/site.pp\n$k = \"a::${x}\"\nlookup($k)",
            "manifests/site.pp\n$k = \"${x}\"\nlookup($k)",
            "manifests/site.pp\n$m = 'a'\nlookup(\"${m}::zz\")",
            "manifests/site.pp\nif $x { $m = 'b' } else { $m = 'c' }\nlookup(\"${m}::zz\")",
            "manifests/site.pp\n$k = 'b'\n$l.each |$k| { lookup($k) }",
            "manifests/site.pp\n$l.each |$m| { $k = 'b' }\nlookup($k)",
            "modules/a/manifests/b.pp\nclass a::b { lookup($k) }",
            "modules/b/plans/p.pp\nplan b::p() { lookup('a::zz') }",
            "modules/b/lib/puppet/functions/b/f.rb\nx = call_function('lookup', 'a::zz')",
            "modules/b/lib/puppet/parser/functions/f.rb\nfunction_hiera(['a::zz'])",
            "modules/b/manifests/init.pp\nclass b { b::lookup('a::zz', {'default_value' => 1}) }",
            "modules/b/manifests/init.pp\nclass b { call('lookup', 'a::zz') }",
            "modules/b/manifests/init.pp\nclass b { $x = Deferred('lookup', ['a::zz']) }",
            "modules/b/manifests/init.pp\nclass b { inline_epp('<%= lookup(\"a::zz\") %>') }",
            "modules/b/manifests/init.pp\nclass b { inline_epp(\"<%= lookup(\\\"a::zz\\\") %>\") }",
            "modules/b/manifests/init.pp\nclass b { inline_template(\"<%= scope.function_hiera(['a::zz']) %>\") }",
            "modules/b/manifests/init.pp\nclass b { call('lookup', \"${x}::zz\") }",
            "modules/b/manifests/init.pp\nclass b { $k = 'a::zz' call('lookup', $k) }",
            "modules/b/manifests/init.pp\nclass b { b::lookup(\"${x}::zz\") }",
            "modules/b/manifests/init.pp\nclass b { b::lookup(['a::yy', 'a::zz']) }",
            "modules/b/manifests/init.pp\nclass b { call('lookup', {name => 'a::zz'}) }",
            "modules/b/manifests/init.pp\nclass b { $x = Deferred.new('lookup', [['a::zz']]) }",
            "modules/b/manifests/init.pp\nclass b { inline_epp(\"<%= lookup(\\\"${x}::zz\\\") %>\") }",
            "modules/b/functions/f.pp\nfunction b::f($context) { $context.interpolate(\"%{hiera('a::zz')}\") }",
        ];
        let reported = [
            "modules/b/manifests/init.pp\nclass b { lookup(\"${x}_y\") }",
            "modules/b/manifests/init.pp\nclass b { lookup(\"a::z.${y}\") }",
            "modules/b/manifests/init.pp\nclass b { lookup(\"${module_name}::${k}\") lookup(\"${name}::zz\") }",
            "modules/b/spec/fixtures/site.pp\nlookup($k)",
            "manifests/site.pp\n$k = 'a::yy'\nlookup($k)",
            "manifests/site.pp\n$k = 'a::yy'\nnode default { lookup($k) }",
            "manifests/site.pp\n$k = \"b::${x}\"\nlookup($k)",
            "manifests/site.pp\n$m = 'b'\nlookup(\"${m}::zz\")",
            "modules/b/manifests/init.pp\nclass b { notice('a::zz', \"lookup a::zz\") dns_lookup($x) }",
        ];
        for (code, mark) in silent
            .map(|it| (it, ""))
            .into_iter()
            .chain(reported.map(|it| (it, " #~ unknown-parameter")))
        {
            let text = format!(
                "{ONE_LEVEL}#- modules/a/manifests/init.pp\nclass a($x) {{ }}\n#- {code}\n\
                 #- data/common.yaml\na::zz: 1{mark}\n"
            );
            check_rule(RULE, &text);
        }
    }
}
