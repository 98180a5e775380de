//! `convert-to-arguments`: a `convert_to` in a list makes Puppet fail on keys of other modules.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{FileContext, Findings, Fix, OptionAt, Related, Safety, entry};
use crate::datatype::{self, NoAliases};
use crate::value::Value;
use crate::workspace::LOOKUP_OPTIONS;

rule!("convert-to-arguments", Warning, [Option(check)], WORKSPACE);

/// Puppet replaces the text of the type by the type, inside of the options of the global layer and
/// the environment, and then merges these with the options of the next module
/// (`pops/lookup/lookup_adapter.rb`).
fn check(file: &FileContext<'_>, at: &OptionAt<'_>, findings: &mut Findings<'_>) {
    let Some(options) = &at.options else { return };
    let convert_to = options.value.get("convert_to").and_then(Value::as_array);
    let Some([Value::String(target), arguments @ ..]) = convert_to else {
        return;
    };
    if target.contains("%{") || datatype::parse(target, &NoAliases).is_err() {
        return;
    }
    let mut readers = file.readers().iter();
    let is_outer = readers.all(|reader| reader.layer().module_name().is_none());
    let Some(own) = is_outer.then(|| converted(file, at)).flatten() else {
        return;
    };
    let Some((other, place)) = other_options(file, &own) else {
        return;
    };
    let written = entry(file.tree(), options.node, "convert_to");
    let range = written.map_or(options.range, |(_, node)| file.tree().node(node).range);
    let remedy = match (arguments, &own) {
        ([], _) => format!("write 'convert_to: {target}'"),
        ([_, ..], Converted::Of(module)) => {
            format!("move the entry to the data of module '{module}', or write the type alone")
        }
        ([_, ..], Converted::OfSeveral) => "write the type alone".to_owned(),
    };
    let message = format!(
        "a list in 'convert_to' breaks catalogs: once '{}' is converted, Puppet fails on keys of other modules with \
         lookup_options, such as '{other}': {remedy}",
        at.name
    );
    let finding = findings.report(range, message);
    finding.related = vec![place];
    if arguments.is_empty() && !target.contains(['\'', '\n']) {
        let text = format!("'{target}'");
        let is_plain = target.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let text = if is_plain { &**target } else { &text };
        finding.fixes.push(Fix::write(Safety::Safe, range, text));
    }
}

/// The modules of the keys that an entry converts.
enum Converted {
    /// This one, or the keys have no module.
    Of(Arc<str>),
    OfSeveral,
}

/// The modules whose keys an entry converts; `None` if no data has such a key.
fn converted(file: &FileContext<'_>, at: &OptionAt<'_>) -> Option<Converted> {
    let checker = file.checker;
    let module = |key: &str| Arc::from(key.split_once("::").map_or("", |(module, _)| module));
    if !at.name.starts_with('^') {
        return checker
            .has_data(at.name)
            .then(|| Converted::Of(module(at.name)));
    }
    let pattern = checker.pattern(at.name).ok()?;
    let names = file
        .snapshot()
        .key_names(super::option_list::literal_start(at.name));
    let matched = names.filter(|key| pattern.is_match(key).unwrap_or_default());
    let read = matched.filter(|key| ***key != *LOOKUP_OPTIONS && checker.has_data(key));
    let modules: BTreeSet<Arc<str>> = read.map(|key| module(key)).collect();
    match modules.len() {
        0 => None,
        1 => modules.into_iter().next().map(Converted::Of),
        _ => Some(Converted::OfSeveral),
    }
}

/// Another module of the environment with `lookup_options`, and their place.
fn other_options(file: &FileContext<'_>, own: &Converted) -> Option<(Arc<str>, Related)> {
    let entries = file.checker.all_options().iter();
    let mut others = entries.filter_map(|entry| {
        let module = entry.module()?;
        let is_other = match own {
            Converted::Of(own) => **own != *module,
            Converted::OfSeveral => true,
        };
        let has_module = |reader: &super::Reader<'_>| {
            let modules = &reader.root.root.modules;
            let dir = modules.get(module);
            dir.is_some_and(|dir| entry.path.starts_with(&**dir))
        };
        if !is_other || !file.readers().iter().any(has_module) {
            return None;
        }
        let place = Related {
            path: entry.path.clone(),
            range: entry.range,
            message: format!("options of module '{module}'"),
        };
        Some((Arc::from(module), place))
    });
    others.next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::marked::{check_rule, fixed};

    /// A workspace with the modules `a` and `b`, which has options of its own.
    fn workspace(common: &str) -> String {
        format!(
            "{common}#- environment.conf\nmodulepath = modules\n#- hiera.yaml\nversion: 5\nhierarchy: [{{name: c, \
             path: common.yaml}}]\n\
             #- modules/b/hiera.yaml\nversion: 5\nhierarchy: [{{name: c, path: common.yaml}}]\n\
             #- modules/b/data/common.yaml\nlookup_options:\n  b::y: {{convert_to: [Array, true]}}\nb::y: 1\n\
             #- modules/a/manifests/init.pp\nclass a($x) {{ }}\n"
        )
    }

    #[test]
    fn a_list_is_reported_where_another_module_has_options() {
        let report = |common: &str| check_rule(RULE, &workspace(common));
        let found = report(
            "lookup_options:\n  a::x: {convert_to: [Array, true]} #~ convert-to-arguments\na::x: 1\n",
        );
        assert_eq!(
            found[0].message,
            "a list in 'convert_to' breaks catalogs: once 'a::x' is converted, Puppet fails on keys of other modules \
             with lookup_options, such as 'b': move the entry to the data of module 'a', or write the type alone"
        );
        report(
            "lookup_options:\n  '^.*::x$': {convert_to: [Array]} #~ convert-to-arguments\na::x: 1\n",
        );
        report("lookup_options:\n  a::x: {convert_to: Array}\na::x: 1\n");
        // Nothing is converted, or only keys of the module that has the options.
        report("lookup_options:\n  a::x: {convert_to: [Array, true]}\n");
        report("lookup_options:\n  b::y: {convert_to: [Array, true]}\n");
        report("lookup_options:\n  '^b::': {convert_to: [Array, true]}\n");
        report("lookup_options:\n  a::x: {convert_to: ['Arr[', true]}\na::x: 1\n");
    }

    #[test]
    fn a_list_with_a_type_alone_is_unwrapped() {
        let text = workspace("lookup_options:\n  a::x: {convert_to: [Array]}\na::x: 1\n");
        let fixed = fixed("data/common.yaml", &text, Safety::Safe, |finding| {
            finding.code == RULE.code
        });
        assert!(fixed.contains("a::x: {convert_to: Array}"), "{fixed}");
    }
}
