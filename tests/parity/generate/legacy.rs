//! Configurations of versions 3 and 4, and files that are no configuration at all.

use super::config::{Config, Format, Layer};
use super::dice::Dice;
use super::scope::{Scope, fill};

/// A version 3 file for the global layer.
pub fn version_3(dice: &mut Dice, scopes: &[Scope]) -> Config {
    dice.mark("hiera.yaml: version 3, global");
    let colon = dice.pick(&[":", ":", ""]);
    let mut text = String::new();
    if dice.chance(15) {
        text.push_str("version: 3\n");
    }
    let backends: Vec<&str> = match dice.weighted(&[40, 20, 10, 10, 10, 5, dice.if_risky(8)]) {
        0 => vec!["yaml"],
        1 => vec!["json", "yaml"],
        2 => vec!["hocon", "yaml"],
        3 => vec!["eyaml", "yaml"],
        4 => vec![],
        5 => {
            dice.mark("hiera 3: unknown backend");
            vec!["nosuch", "yaml"]
        }
        _ => {
            dice.mark("hiera 3: backend named twice");
            vec!["yaml", "yaml"]
        }
    };
    if !backends.is_empty() {
        if backends.len() == 1 && dice.chance(40) {
            text.push_str(&format!("{colon}backends: {}\n", backends[0]))
        } else {
            text.push_str(&format!("{colon}backends: [{}]\n", backends.join(", ")))
        }
    }
    let mut dirs = Vec::new();
    for backend in if backends.is_empty() {
        vec!["yaml"]
    } else {
        backends.clone()
    } {
        let (x, format) = match backend {
            "json" => ("json", Format::Json),
            "hocon" => ("conf", Format::Hocon),
            "eyaml" => ("eyaml", Format::Yaml),
            _ => ("yaml", Format::Yaml),
        };
        if dice.chance(70) {
            let dir = dice.pick(&[
                "@@ROOT@@/global/hd",
                "@@ROOT@@/global/%{environment}",
                "@@ROOT@@/global/%{::nope}hd",
            ]);
            if !text.contains(&format!("\n{colon}{backend}:")) {
                text.push_str(&format!("{colon}{backend}:\n  {colon}datadir: \"{dir}\"\n"));
            }
            dirs.push((dir.to_string(), x, format));
        } else {
            dice.mark("hiera 3: default datadir");
            dirs.push((
                "@@ROOT@@/code/environments/production/hieradata".into(),
                x,
                format,
            ));
        }
    }
    let hierarchy: Vec<&str> = match dice.weighted(&[50, 20, 20, 10]) {
        0 => vec!["%{role}", "common"],
        1 => vec!["nodes/%{::trusted.certname}", "common.yaml", "common"],
        2 => vec!["%{calling_module}", "%{::facts.os.family}", "common"],
        _ => vec![],
    };
    let templates = if hierarchy.is_empty() {
        vec!["nodes/%{::trusted.certname}", "common"]
    } else {
        hierarchy.clone()
    };
    if !hierarchy.is_empty() {
        let quoted: Vec<String> = hierarchy.iter().map(|h| format!("'{h}'")).collect();
        text.push_str(&format!("{colon}hierarchy: [{}]\n", quoted.join(", ")));
    }
    match dice.weighted(&[70, 10, 10, dice.if_risky(6), dice.if_risky(6), 4]) {
        0 => {}
        1 => text.push_str(&format!("{colon}merge_behavior: deeper\n")),
        2 => text.push_str(&format!("{colon}logger: console\n")),
        3 => {
            dice.mark("hiera 3: structure error");
            text.push_str(&format!("{colon}foo: 1\n"));
        }
        4 => {
            dice.mark("hiera 3: structure error");
            text.push_str(&format!("{colon}merge_behavior: array\n"));
        }
        _ => text.push_str(&format!(
            "{colon}deep_merge_options: {{knockout_prefix: '--'}}\n"
        )),
    }
    let mut files = Vec::new();
    for (dir, x, format) in &dirs {
        for template in &templates {
            for scope in scopes {
                let dir = fill(dir, scope, "production").replace("@@ROOT@@/", "");
                let path = fill(template, scope, "production");
                let suffix = format!(".{x}");
                let path = if path.ends_with(&suffix) {
                    path
                } else {
                    format!("{path}{suffix}")
                };
                let whole = format!("{dir}/{path}").replace("//", "/");
                if !files.iter().any(|(p, _)| *p == whole) {
                    files.push((whole, *format));
                }
            }
        }
    }
    Config {
        text,
        files,
        custom: false,
    }
}

/// A version 4 file for an environment or module in the folder `root`.
pub fn version_4(dice: &mut Dice, root: &str, scopes: &[Scope]) -> Config {
    dice.mark("hiera.yaml: version 4");
    let mut text = String::from("version: 4\n");
    let mut datadir = "data";
    if dice.chance(40) {
        datadir = dice.pick(&["data", "hieradata"]);
        text.push_str(&format!("datadir: {datadir}\n"));
    }
    let mut reached = Vec::new();
    if dice.chance(80) {
        text.push_str("hierarchy:\n");
        for i in 0..dice.between(1, 3) {
            let (backend, x, format) = *dice.pick(&[
                &("yaml", "yaml", Format::Yaml),
                &("yaml", "yaml", Format::Yaml),
                &("json", "json", Format::Json),
                &("hocon", "conf", Format::Hocon),
            ]);
            let backend = if dice.risk(60) { "eyaml" } else { backend };
            text.push_str(&format!("  - name: L{i}\n    backend: {backend}\n"));
            let paths: Vec<&str> = match dice.below(4) {
                0 => {
                    reached.push((format!("L{i}"), x, format));
                    vec![]
                }
                1 => vec!["role/%{role}"],
                2 => vec!["common.yaml", "common"],
                _ => vec!["os/%{facts.os.family}", "common"],
            };
            match paths.len() {
                0 => {}
                1 => text.push_str(&format!("    path: '{}'\n", paths[0])),
                _ => text.push_str(&format!("    paths: ['{}']\n", paths.join("', '"))),
            }
            reached.extend(paths.iter().map(|p| (p.to_string(), x, format)));
            if dice.risk(60) {
                dice.mark("hiera 4: structure error");
                text.push_str("    glob: x\n");
            }
        }
    } else {
        reached.push(("common".into(), "yaml", Format::Yaml));
    }
    let mut files: Vec<(String, Format)> = Vec::new();
    for (template, x, format) in &reached {
        for scope in scopes {
            let path = fill(template, scope, "production");
            let suffix = format!(".{x}");
            let path = if path.ends_with(&suffix) {
                path
            } else {
                format!("{path}{suffix}")
            };
            let whole = format!("{root}/{datadir}/{path}")
                .trim_start_matches('/')
                .to_string();
            if !files.iter().any(|(p, _)| *p == whole) {
                files.push((whole, *format));
            }
        }
    }
    Config {
        text,
        files,
        custom: false,
    }
}

/// A `hiera.yaml` with other content.
pub fn no_configuration(dice: &mut Dice, layer: Layer) -> Config {
    dice.mark("hiera.yaml: not a configuration");
    let text = dice.pick(&[
        "- a\n",
        "",
        "text\n",
        "hierarchy: []\n",
        "version: 3\n",
        "---\n:backends: yaml\n",
        "version: 5\nhierarchy: [\n",
        "a: 2001-02-03\nversion: 5\n",
        "version: 5\n\thierarchy: x\n",
        "version: 7\n",
        "version: true\n",
        "version: '5x'\n",
        "version: 5\nhierarchy: *nowhere\n",
        "version: 4\nfoo: 1\n",
    ]);
    let text = match layer {
        Layer::Global if text.contains("version: 4") => "version: 4\n",
        _ => text,
    };
    Config {
        text: text.into(),
        files: Vec::new(),
        custom: false,
    }
}
