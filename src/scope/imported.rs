//! A nodes file that `nodes import` writes: where its nodes come from, and of each node the parts that
//! are needed, by their paths. What is left out stays unknown when the file is read.

use std::fmt::Write as _;
use std::sync::Arc;

use super::completeness::written;
use super::looked_up::{seconds_of, time_text};
use super::{Completeness, DEFAULT_ENVIRONMENT, LookupRecord, Node, Scope, Variable};
use crate::interpolation::Segment;
use crate::text::number_of;
use crate::value::{HashMap, JsonError, StrKey, Value, to_json};

/// The member of a nodes file that says where its nodes come from. Certnames have no slash
/// (puppet/ssl/base.rb).
pub const IMPORT: &str = "hiera-ls/import";

/// The text with which an imported file begins.
pub const IMPORT_BEGIN: &str = "{\n\"hiera-ls/import\": ";

/// Hosts of addresses that are this machine.
pub const OWN_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Seconds of a day.
const DAY: i64 = 86_400;

/// How long imported nodes are taken to be up to date, in seconds.
const FRESH: i64 = 7 * DAY;

/// Where and when nodes were imported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// The addresses and files, as they were named.
    pub from: Vec<Arc<str>>,
    /// When: seconds since 1970; `None` if the file tells none.
    pub at: Option<i64>,
    /// The environment whose nodes were asked for; `None` for all.
    pub environment: Option<Arc<str>>,
    /// The condition in PuppetDB's language that the nodes meet; `None` for all.
    pub condition: Option<Arc<str>>,
    /// What the latest catalogs of the nodes looked up; empty if that is not recorded.
    pub lookups: LookupRecord,
}

impl Imported {
    /// Reads the member; parts that are not understood are left out.
    pub(super) fn read(member: &Value) -> Imported {
        let text = |name: &str| member.get(name).and_then(Value::as_str).map(Arc::from);
        let from = member.get("from").and_then(Value::as_array);
        let from = from.unwrap_or_default().iter();
        Imported {
            from: from.filter_map(Value::as_str).map(Arc::from).collect(),
            at: member.get("at").and_then(seconds_of),
            environment: text("environment"),
            condition: text("where"),
            lookups: member
                .get("lookups")
                .map(LookupRecord::read)
                .unwrap_or_default(),
        }
    }

    /// Which nodes were asked for, as conditions in PuppetDB's language; empty for all.
    #[must_use]
    pub fn conditions(&self) -> Vec<String> {
        let environment = self.environment.as_deref();
        let environment = environment.map(|name| format!("environment = \"{name}\""));
        let condition = self.condition.as_deref().map(|it| format!("({it})"));
        environment.into_iter().chain(condition).collect()
    }

    /// The time as people and Puppet read it; `None` if unknown.
    #[must_use]
    pub fn time(&self) -> Option<String> {
        self.at.map(time_text)
    }

    /// How long ago that was, in words: `3 days ago`; `None` if a time is unknown.
    #[must_use]
    pub fn age(&self, now: Option<i64>) -> Option<String> {
        const UNITS: [(i64, &str); 3] = [(DAY, "day"), (3_600, "hour"), (60, "minute")];
        let seconds = now?.checked_sub(self.at?)?;
        let whole = UNITS.iter().find(|(unit, _)| seconds >= *unit);
        Some(whole.map_or_else(
            || "just now".to_owned(),
            |(unit, name)| {
                let count = usize::try_from(seconds / unit).unwrap_or_default();
                format!("{} ago", number_of(count, name))
            },
        ))
    }

    /// Since when the nodes are out of date, if they are.
    #[must_use]
    pub fn stale_since(&self, now: Option<i64>) -> Option<String> {
        let since = self.at?.checked_add(FRESH)?;
        (since <= now?).then(|| time_text(since))
    }

    fn value(&self) -> Value {
        let from = Value::array(self.from.iter().map(Value::string));
        let mut parts = vec![("from", from)];
        parts.extend(self.time().map(|time| ("at", Value::from(time))));
        let filter = [
            ("environment", &self.environment),
            ("where", &self.condition),
        ];
        parts.extend(filter.into_iter().filter_map(|(name, text)| {
            let text = text.as_ref()?;
            Some((name, Value::string(text)))
        }));
        if !self.lookups.is_empty() {
            parts.push(("lookups", self.lookups.value()));
        }
        Value::hash(parts)
    }
}

/// The text of a nodes file, one line for each node, ordered by name: the parts of `wanted` that the
/// nodes' sources tell. O(nodes × paths).
///
/// # Errors
/// A node with a value that JSON cannot express.
pub fn nodes_file(
    nodes: &[Arc<Node>],
    wanted: &Completeness,
    imported: &Imported,
) -> Result<String, JsonError> {
    let mut nodes: Vec<&Arc<Node>> = nodes.iter().collect();
    nodes.sort_by(|one, other| one.certname.cmp(&other.certname));
    let mut text = format!("{IMPORT_BEGIN}{}", to_json(&imported.value())?);
    for node in nodes {
        let name = to_json(&Value::string(&node.certname))?;
        let entry = to_json(&Value::from(entry_of(node, wanted)))?;
        let _ = write!(text, ",\n{name}: {entry}");
    }
    text.push_str("\n}\n");
    Ok(text)
}

/// What is wanted of a node, as members of its entry. O(facts).
fn entry_of(node: &Node, wanted: &Completeness) -> HashMap {
    let mut entry = HashMap::default();
    if let Some(environment) = &node.environment {
        entry.insert("environment".into(), Value::String(environment.clone()));
    }
    let (told, facts) = (&node.told, node.facts.whole());
    let by_hand = node.from_file.then(|| node.scope(DEFAULT_ENVIRONMENT));
    for (name, values, told, wanted) in [
        ("facts", &*facts, &told.facts, &wanted.facts),
        ("trusted", &node.trusted, &told.trusted, &wanted.trusted),
        (
            "variables",
            &node.variables,
            &told.variables,
            &wanted.variables,
        ),
    ] {
        let Some(paths) = told.and(wanted).outermost() else {
            entry.insert(name.into(), Value::from(values.clone()));
            continue;
        };
        for path in paths {
            let member = format!("{name}.{}", written(&path));
            // A file that was written by hand lacks facts that the node has.
            let is_unknown = |scope: &Scope| scope.variable(&member) == Variable::Unknown;
            if by_hand.as_ref().is_some_and(is_unknown) {
                continue;
            }
            entry.insert(member.into(), value_at(values, &path));
        }
    }
    entry
}

/// The value at a path; undef if there is none.
fn value_at(values: &HashMap, path: &[Segment]) -> Value {
    let Some((Segment::Name(first), rest)) = path.split_first() else {
        return Value::Undef;
    };
    let first = values.get(&StrKey(first));
    let mut rest = rest.iter();
    let found = first.and_then(|first| rest.try_fold(first, |part, at| at.part_of(part)));
    found.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Nodes, Told, read_json_nodes};
    use super::*;

    fn read(text: &str) -> Nodes {
        read_json_nodes(&Arc::from(text), "nodes", &HashMap::default()).unwrap()
    }

    fn state(nodes: &Nodes, path: &str) -> String {
        match nodes.all()[0].scope("production").variable(path) {
            Variable::Known(value) => value.to_s(),
            Variable::Undefined(_) => "undefined".into(),
            Variable::Unknown => "unknown".into(),
        }
    }

    fn wanted(facts: &[&str], trusted: &[&str], variables: &[&str]) -> Completeness {
        let told = |paths: &[&str]| {
            let mut told = Told::nothing();
            paths.iter().for_each(|path| told.add(path));
            told
        };
        Completeness {
            facts: told(facts),
            trusted: told(trusted),
            variables: told(variables),
        }
    }

    const WHOLE: &str = r#"{"b": {"facts": {"site": "lon", "os": {"family": "Suse", "n": 12345678901234567890}, "a.b": 1.5},
        "trusted": {"extensions": {"pp_role": "x", "1.3.6.1": "blue"}}, "variables": {"role": "web", "secret": "s"}, "environment": "qa"},
        "a": {"facts": {"site": "nyc"}}}"#;

    #[test]
    fn only_what_is_wanted_is_written_and_the_rest_is_unknown() {
        let nodes = read(WHOLE);
        let wanted = wanted(
            &["site", "os.n", "os.family", "os", "rack", "'a.b'"],
            &["extensions.'1.3.6.1'"],
            &["role"],
        );
        let imported = Imported {
            from: vec!["https://pdb:8081".into()],
            at: Some(1_700_000_000),
            environment: Some("qa".into()),
            condition: Some("facts.site = \"lon\"".into()),
            ..Imported::default()
        };
        let text = nodes_file(nodes.all(), &wanted, &imported).unwrap();
        assert_eq!(
            text,
            r#"{
"hiera-ls/import": {"from":["https://pdb:8081"],"at":"2023-11-14 22:13:20 UTC","environment":"qa","where":"facts.site = \"lon\""},
"a": {"facts.\"a.b\"":null,"facts.os":null,"facts.rack":null,"facts.site":"nyc"},
"b": {"environment":"qa","facts.\"a.b\"":1.5,"facts.os":{"family":"Suse","n":12345678901234567890},"facts.rack":null,"facts.site":"lon","trusted.extensions.\"1.3.6.1\"":"blue","variables.role":"web"}
}
"#
        );
        let mut again = read(&text);
        assert_eq!(again.imported.take().as_deref(), Some(&imported));
        let b: Nodes = std::iter::once(again.get("b").unwrap().clone()).collect();
        for (path, expected) in [
            ("facts.site", "lon"),
            ("site", "lon"),
            ("facts.os.n", "12345678901234567890"),
            ("facts.os.name", "undefined"),
            ("facts.rack", "undefined"),
            ("facts.zone", "unknown"),
            ("facts.'a.b'", "1.5"),
            ("trusted.extensions.'1.3.6.1'", "blue"),
            ("trusted.extensions.pp_role", "unknown"),
            ("trusted.certname", "b"),
            ("role", "web"),
            ("secret", "unknown"),
        ] {
            assert_eq!(state(&b, path), expected, "{path}");
        }
        let by_hand = read(r#"{"a": {"facts": {"os": {"family": "Suse"}}}}"#);
        let only_major = self::wanted(&["os.release.major", "os.family", "rack"], &[], &[]);
        let short = nodes_file(by_hand.all(), &only_major, &imported).unwrap();
        assert!(
            short.ends_with("\"a\": {\"facts.os.family\":\"Suse\",\"facts.rack\":null}\n}\n"),
            "{short}"
        );
        // Variables of a node without a classifier's answer are not told.
        let a: Nodes = std::iter::once(again.get("a").unwrap().clone()).collect();
        assert_eq!(state(&a, "role"), "unknown");
        let twice = nodes_file(again.all(), &wanted, &imported).unwrap();
        assert_eq!(twice, text);
    }

    #[test]
    fn conditions_are_those_of_an_import() {
        let imported = Imported {
            environment: Some("qa".into()),
            condition: Some("facts.x = 1 or facts.y = 2".into()),
            ..Imported::default()
        };
        assert_eq!(
            imported.conditions().join(" and "),
            "environment = \"qa\" and (facts.x = 1 or facts.y = 2)"
        );
        assert!(Imported::default().conditions().is_empty());
    }

    #[test]
    fn imported_nodes_grow_old() {
        let imported = Imported {
            at: Some(1_700_000_000),
            ..Imported::default()
        };
        let after = |seconds: i64| Some(1_700_000_000 + seconds);
        for (seconds, age) in [
            (1, "just now"),
            (61, "1 minute ago"),
            (7_200, "2 hours ago"),
            (7 * 86_400, "7 days ago"),
        ] {
            assert_eq!(imported.age(after(seconds)).as_deref(), Some(age));
        }
        assert_eq!(imported.stale_since(after(7 * 86_400 - 1)), None);
        assert_eq!(
            imported.stale_since(after(9 * 86_400)).as_deref(),
            Some("2023-11-21 22:13:20 UTC")
        );
        assert_eq!(Imported::default().age(after(0)), None);
        assert_eq!(imported.age(None), None);
        assert_eq!(imported.stale_since(None), None);
    }

    #[test]
    fn everything_can_be_written() {
        let nodes = read(WHOLE);
        let text = nodes_file(nodes.all(), &Completeness::default(), &Imported::default()).unwrap();
        let again = read(&text);
        for node in nodes.all() {
            assert_eq!(again.get(&node.certname), Some(node));
        }
        // What a source does not tell stays unknown: `and` leaves its paths.
        let some = nodes_file(
            nodes.all(),
            &wanted(&["os.family"], &[], &[]),
            &Imported::default(),
        );
        let some = read(&some.unwrap());
        let all = nodes_file(some.all(), &Completeness::default(), &Imported::default()).unwrap();
        assert_eq!(read(&all).all(), some.all());
        // A deeper path than that of a source is a part of it.
        let deeper = wanted(&["os.family.x"], &[], &[]);
        let deeper = nodes_file(some.all(), &deeper, &Imported::default()).unwrap();
        assert!(deeper.contains("\"facts.os.family.x\":null"), "{deeper}");
    }
}
