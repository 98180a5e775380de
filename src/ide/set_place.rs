//! The places in an environment's manifests that set a variable.

use std::sync::Arc;

use super::file_place::FilePlace;
use crate::analysis::{Analysis, SiteManifests};
use crate::interpolation::Key;
use crate::scope::Assignment;
use crate::syntax::puppet::without_colons;
use crate::workspace::Root;

/// A line of a manifest that sets a variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Setter {
    /// The assignment for the first of its nodes.
    pub assignment: Assignment,
    /// The number of nodes.
    pub nodes: usize,
}

/// The name of a variable, without its dotted keys.
fn root_name(variable: &str) -> Option<Arc<str>> {
    let key = Key::parse(variable).ok()?;
    key.root.as_name().map(Arc::from)
}

/// The lines that set a variable for some nodes, the most frequent first. Evaluates the manifests
/// for new nodes.
#[must_use]
pub fn setters(analysis: Analysis<'_>, variable: &str, members: &[usize]) -> Vec<Setter> {
    let mut setters: Vec<Setter> = Vec::new();
    let Some(name) = root_name(variable).filter(|_| analysis.nodes.has_manifests()) else {
        return setters;
    };
    for &member in members {
        let assigned = analysis.nodes.assigned(member);
        let Some(set) = assigned.as_ref().and_then(|assigned| assigned.get(&name)) else {
            continue;
        };
        let is_it = |setter: &&mut Setter| {
            setter.assignment.file == set.file && setter.assignment.place == set.place
        };
        match setters.iter_mut().find(is_it) {
            Some(setter) => setter.nodes += 1,
            None => setters.push(Setter {
                assignment: set.clone(),
                nodes: 1,
            }),
        }
    }
    setters.sort_by_key(|setter| std::cmp::Reverse(setter.nodes));
    setters
}

/// The places where manifests set a variable: those in effect for the selected node, or else for
/// any node, then all others. O(text of the manifests).
#[must_use]
pub fn set_places(analysis: Analysis<'_>, root: &Root, variable: &str) -> Vec<FilePlace> {
    let selected = analysis.selected.and_then(|name| analysis.nodes.find(name));
    let members = match selected {
        Some(member) => vec![member],
        None => (0..analysis.nodes.len()).collect(),
    };
    let setters = setters(analysis, variable, &members);
    let set = setters.iter().map(|setter| &setter.assignment);
    let mut places: Vec<FilePlace> = set.map(|set| FilePlace::of(&set.file, set.place)).collect();
    for written in assigned_places(analysis, root, variable) {
        if !places.contains(&written) {
            places.push(written);
        }
    }
    places
}

/// The places where manifests set a variable for any nodes. O(text of the manifests).
pub(super) fn assigned_places(
    analysis: Analysis<'_>,
    root: &Root,
    variable: &str,
) -> Vec<FilePlace> {
    let Some(name) = root_name(variable) else {
        return Vec::new();
    };
    let manifests = SiteManifests::of(analysis.snapshot, root, analysis.settings);
    let places = manifests.assignments(without_colons(&name));
    let places = places.into_iter();
    places
        .map(|(file, range)| FilePlace::of(&file, range))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    use crate::analysis::with_manifest_variables;
    use crate::fixture::{FOLDER, Fixture};
    use crate::ide::definition::definition;
    use crate::ide::hover::{HoverOptions, hover};
    use crate::lookup::{ConfigCache, PuppetVersion, Request, Settings};
    use crate::scope::{KnownNodes, Node, Nodes};

    const SITE: &str = r"#- environment.conf
modulepath = modules
#- hiera.yaml
version: 5
hierarchy:
  - name: roles
    path: role/%{rol$0e}.yaml
  - name: common
    path: common.yaml
#- manifests/site.pp
$site = lookup('site')
node /^(web|db)\d+/ {
  $role = $1
}
node 'mail.example.com' {
  $role = foreign_role($site)
}
node default {
  $role = 'none'
}
#- data/common.yaml
site: lon
who: common
#- data/role/web.yaml
who: web
";

    struct Answers {
        hover: String,
        places: Vec<String>,
        values: Vec<String>,
    }

    fn answers(selected: Option<&str>) -> Answers {
        let fixture = Fixture::new("hiera.yaml", SITE);
        let (file, offset) = fixture.cursor.clone().expect("a cursor");
        let snapshot = fixture.on_disk();
        let root = snapshot.roots().environments().next();
        let root = root.expect("an environment");
        let settings = Settings::for_version(PuppetVersion::V8).for_editor();
        let configs = ConfigCache::default();
        let names = [
            "web1.example.com",
            "web2.example.com",
            "mail.example.com",
            "x",
        ];
        let nodes = names.map(|name| Arc::new(Node::new(name, &Default::default())));
        let nodes = KnownNodes::new(&nodes.into_iter().collect::<Nodes>());
        let nodes = with_manifest_variables(&nodes, &snapshot, root, &settings).expect("manifests");
        let analysis = Analysis {
            selected,
            ..Analysis::new(&snapshot, &settings, &configs, &nodes)
        };
        let at = format!("{FOLDER}/{file}");
        let page = hover(analysis, &at, offset, &HoverOptions::default()).expect("a hover");
        let found = definition(analysis, &at, offset, &[]).expect("a definition");
        let place = |place: FilePlace| {
            let file = snapshot.file(&place.path).expect("a file");
            let line = file.line(place.name.start as usize) + 1;
            let text = place.name.slice(file.text());
            format!("{}:{line} {text}", &place.path[FOLDER.len() + 1..])
        };
        let view = analysis.at(root);
        let value = |member: usize| {
            let answer = view
                .session()
                .lookup(&nodes.scope(member), &Request::key("who"));
            if answer.is_certain() {
                answer.result.expect("a value").to_s()
            } else {
                "?".to_owned()
            }
        };
        Answers {
            hover: page.plain,
            places: found.places.into_iter().map(place).collect(),
            values: (0..names.len()).map(value).collect(),
        }
    }

    #[test]
    fn a_variable_of_a_path_is_what_node_blocks_set() {
        let all = answers(None);
        assert_eq!(all.values, ["web", "web", "?", "common"]);
        expect![[r#"
            %{role} — web for 2 nodes, not known for 1 node, none for 1 node
            set by manifests/site.pp:3 for 2 nodes, manifests/site.pp:6 for 1 node (not known: the function
              'foreign_role' is not evaluated), manifests/site.pp:9 for 1 node
            role/%{role}.yaml — 1 file: data/role/web.yaml · facts needed to tell which nodes read these"#]].assert_eq(&all.hover);
        assert_eq!(
            all.places,
            [
                "manifests/site.pp:3 $role",
                "manifests/site.pp:6 $role",
                "manifests/site.pp:9 $role"
            ]
        );
    }

    #[test]
    fn the_selected_nodes_line_comes_first() {
        let one = answers(Some("x"));
        expect![[r#"
            %{role} — none for x
            set by manifests/site.pp:9
            role/%{role}.yaml — no file for x: role = none"#]]
        .assert_eq(&one.hover);
        assert_eq!(
            one.places,
            [
                "manifests/site.pp:9 $role",
                "manifests/site.pp:3 $role",
                "manifests/site.pp:6 $role"
            ]
        );
    }
}
