//! The scopes of a repository: facts, trusted data, variables of a classifier.

use serde_json::{Map, Value, json};

use super::dice::Dice;

/// The fields of a request that describe a node.
#[derive(Clone, Debug)]
pub struct Scope {
    pub node: String,
    pub facts: Map<String, Value>,
    pub trusted: Option<Value>,
    pub variables: Map<String, Value>,
}

/// A node with most of the facts that templates and tokens use; some are missing at times.
pub fn scope(dice: &mut Dice, number: usize) -> Scope {
    let all = json!({
        "role": dice.pick(&["web", "db", "web"]),
        "os": {"family": dice.pick(&["Debian", "RedHat"]), "name": "Debian", "release": {"major": dice.pick(&["11", "12"])}},
        "num": 5, "flt": 1.5, "yes": true, "nilf": null, "empty": "", "big": 12_345_678_901_234_567_890_u64, "uni": "é",
        "list": ["s1", "s2", {"k": "v"}], "svcs": ["s1", "s2"], "hash": {"a": 1, "b.c": 2, "n": {"x": "y"}},
        "dots": {"a.b": 1, "c": {"d": "e"}}, "inj": "%{facts.role}!", "inj2": "%{lookup('alpha')}", "self": "%{facts.self}",
        "cyc": "%{facts.cyc2}", "cyc2": "%{facts.cyc}", "strat": dice.pick(&["deep", "unique", "hash"]), "keyname": "beta",
        "abs": "/nonexistent", "ws": "a b",
    });
    let Value::Object(mut facts) = all else {
        unreachable!("an object")
    };
    for name in ["role", "svcs", "list", "uni", "dots"] {
        if dice.chance(6) {
            facts.shift_remove(name);
        }
    }
    if dice.has_site() && dice.chance(50) {
        // Manifests may set it.
        facts.shift_remove("role");
    }
    let mut variables = Map::new();
    if dice.chance(70) {
        dice.mark("scope: variables of a classifier");
        variables.insert("tier".into(), json!(dice.pick(&["gold", "1"])));
        variables.insert("enc".into(), json!({"site": "ams", "undef": null}));
    }
    let trusted = dice.chance(40).then(|| {
        dice.mark("scope: trusted extensions");
        json!({"extensions": {"pp_role": "web"}})
    });
    let node = if dice.chance(90) {
        format!("n{number}.example.com")
    } else {
        format!("n{number}")
    };
    Scope {
        node,
        facts,
        trusted,
        variables,
    }
}

impl Scope {
    /// The scope that a site manifest may leave behind.
    pub fn with_set(&self, value: &str) -> Scope {
        let mut scope = self.clone();
        let set = &mut scope.variables;
        set.insert("kind".into(), value.into());
        set.insert("place".into(), value.into());
        set.insert("spot".into(), json!({ "a": value }));
        if !scope.facts.contains_key("role") {
            set.insert("role".into(), value.into());
        }
        scope
    }
}

/// A path template filled in for this scope, accurate enough to decide which files to write.
pub fn fill(template: &str, scope: &Scope, environment: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("%{") {
        let Some((name, tail)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push_str(&variable(
            name.trim().trim_start_matches("::"),
            scope,
            environment,
        ));
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn variable(name: &str, scope: &Scope, environment: &str) -> String {
    let mut segments = name.split('.');
    let root = segments.next().unwrap_or_default();
    let facts = Value::Object(scope.facts.clone());
    let trusted = json!({"certname": scope.node, "extensions": scope.trusted.as_ref().map(|t| t["extensions"].clone())});
    let mut value = match root {
        "facts" => facts,
        "trusted" => trusted,
        "environment" => json!(environment),
        other => scope
            .variables
            .get(other)
            .or_else(|| scope.facts.get(other))
            .cloned()
            .unwrap_or(Value::Null),
    };
    for segment in segments {
        value = match (&value, segment.parse::<usize>()) {
            (Value::Array(list), Ok(i)) => list.get(i).cloned().unwrap_or(Value::Null),
            _ => value[segment].clone(),
        };
    }
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}
