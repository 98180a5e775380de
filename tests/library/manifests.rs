//! Random site manifests: the variables that real Puppet sets in the top scope and in the node's
//! block (`tests/parity/evaluate_cases.rb --requests`), compared with the values known here.

use std::io::Write as _;
use std::process::{Command, Stdio};

use hiera_ls::value::from_json;
use serde_json::{Value, json};

use crate::evaluate::{answers, assigned, differences};

/// Number of manifests, unless `MANIFESTS_COUNT` sets another; `MANIFESTS_SEED` sets the seed.
const COUNT: u64 = 200;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/parity/evaluate_cases.rb"
);

/// Random choices from a seed (SplitMix64).
struct Dice {
    state: u64,
    /// The names set by the scope under construction.
    set: Vec<&'static str>,
    /// The number of invented names.
    made_up: usize,
}

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 1) as usize % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

impl Dice {
    /// A variable to set: a name is rarely set twice, which Puppet refuses.
    fn target(&mut self) -> String {
        let name = NAMES[self.below(NAMES.len())];
        if self.below(60) > 0 && (self.set.contains(&name) || name == "site") {
            self.made_up += 1;
            return format!("$v{}", self.made_up);
        }
        self.set.push(name);
        format!("${name}")
    }
}

/// Names of variables; data reads the first three.
const NAMES: [&str; 8] = ["role", "tier", "local", "a", "b", "c", "d", "site"];

fn variable(dice: &mut Dice) -> String {
    let top = if dice.below(4) == 0 { "::" } else { "" };
    format!("${top}{}", dice.one(&NAMES))
}

fn expression(dice: &mut Dice, depth: usize) -> String {
    let leaf = dice.one(&[
        "'web'",
        "'db'",
        "'x'",
        "''",
        "1",
        "2",
        "7",
        "2.5",
        "true",
        "false",
        "undef",
        "['a', 'b']",
        "({ 'k' => 1, 'web' => 'w' })",
        "$facts['os']['family']",
        "$facts['size']",
        "$facts['mounts']",
        "$trusted['certname']",
        "$environment",
        "$site",
        "$facts['none']",
    ]);
    if depth == 0 {
        return leaf.to_owned();
    }
    let mut part = || expression(dice, depth - 1);
    let (one, two) = (part(), part());
    let name = variable(dice);
    match dice.below(22) {
        0 | 1 => leaf.to_owned(),
        2..=4 => name,
        5 => format!("\"${{{}}}-x\"", name.trim_start_matches('$')),
        6 => format!("({one}) ? {{ 'web' => {two}, /^[a-l]/ => \"m${{0}}\", default => {name} }}"),
        7 => format!("if {name} == ({one}) {{ {two} }} else {{ 'else' }}"),
        8 => format!(
            "case ({one}) {{ {leaf}: {{ 'same' }} String[1]: {{ 'text' }} default: {{ 'other' }} }}"
        ),
        9 => format!("[{one}, {two}]"),
        10 => format!("({{ 'k' => {one}, 'l' => {two} }})"),
        11 => format!("size([{one}, {two}]) + 2"),
        12 => format!("({one}) == ({two})"),
        13 => format!("[{one}, {two}].map |$x| {{ \"${{x}}\" }}"),
        14 => format!("[{one}, {two}].filter |$x| {{ $x =~ NotUndef }}"),
        15 => format!("m::f({one}, {two})"),
        16 => format!("dig({{ 'k' => {{ 'web' => {one} }} }}, 'k', {name})"),
        17 => format!(
            "lookup('{}')",
            dice.one(&["who", "show", "port", "greeting", "tier_of"])
        ),
        18 => format!(
            "lookup('{}', undef, undef, {one})",
            dice.one(&["none", "who", "settings.more"])
        ),
        19 => format!(
            "lookup('list', Array, '{}', [])",
            dice.one(&["unique", "first", "deep"])
        ),
        20 => format!("String({one})"),
        _ => format!("({one}) in ({two})"),
    }
}

fn statements(dice: &mut Dice, depth: usize, indent: &str) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(4) {
        let inner = format!("{indent}  ");
        let value = expression(dice, 2);
        let statement = match dice.below(if depth == 0 { 9 } else { 14 }) {
            0..=7 => format!("{} = {value}", dice.target()),
            8 => dice.one(&["include c", "notice('said')"]).to_owned(),
            9 | 10 => format!(
                "if ({value}) {{\n{}{indent}}} else {{\n{}{indent}}}",
                statements(dice, depth - 1, &inner),
                statements(dice, depth - 1, &inner)
            ),
            11 => format!(
                "case ({value}) {{\n{inner}'web', 'db': {{\n{}{inner}}}\n{inner}default: {{ }}\n{indent}}}",
                statements(dice, depth - 1, &inner)
            ),
            12 => format!(
                "unless ({value}) {{\n{}{indent}}}",
                statements(dice, depth - 1, &inner)
            ),
            _ => format!(
                "['web', 'db'].each |$e| {{\n{}{indent}}}",
                statements(dice, depth - 1, &inner)
            ),
        };
        text.push_str(&format!("{indent}{statement}\n"));
    }
    text
}

fn site(dice: &mut Dice) -> String {
    dice.set.clear();
    let mut text = statements(dice, 2, "");
    let blocks = [
        "default",
        "/^web/",
        "/^([a-z]+)(\\d+)\\.(\\w+)/",
        "'web01.lon.example.com', 'other'",
    ];
    let first = dice.below(blocks.len());
    for at in 0..dice.below(4) {
        let matches = blocks[(first + at) % blocks.len()];
        let own = if matches.contains('(') && dice.below(2) == 0 {
            "  $role = $1\n  $place = \"${3}-${2}\"\n"
        } else {
            ""
        };
        dice.set.clear();
        let rest = statements(dice, 2, "  ");
        text.push_str(&format!("node {matches} {{\n{own}{rest}}}\n"));
    }
    if dice.below(3) == 0 {
        text.push_str(&statements(dice, 1, ""));
    }
    text
}

fn request(dice: &mut Dice, number: u64) -> Value {
    let certname = dice.one(&["web01.lon.example.com", "db2.ams.example.com", "x"]);
    let place = dice.one(&["lon", "ams"]);
    let mut inner = expression(dice, 1);
    // A recursive function would never end.
    while inner.contains("m::f") {
        inner = expression(dice, 1);
    }
    let function = format!(
        "function m::f($x, $y = 'y') {{\n  $inner = {inner}\n  if $x == 'web' {{ return(\"${{inner}}\") }}\n  [$y, $role]\n}}\n"
    );
    json!({
        "id": number.to_string(),
        "certname": certname,
        "strict_variables": dice.below(8) == 0,
        "facts": {
            "os": { "family": "Debian", "name": "Debian" }, "mounts": ["/", "/var"], "site": place, "size": 3,
        },
        "files": {
            "hiera.yaml": "version: 5\nhierarchy:\n  - {name: roles, path: \"role/%{role}.yaml\"}\n  - {name: tops, path: \
                \"top/%{::role}.yaml\"}\n  - {name: tiers, path: \"tier/%{tier}.yaml\"}\n  - {name: common, path: common.yaml}\n",
            "data/common.yaml": "port: 80\nlist: [a, b]\nsettings: {deep: 1}\ngreeting: \"hello %{facts.site}\"\n\
                who: common\nshow: \"role=%{role} top=%{::role} local=%{local}\"\ntier_of: none\n",
            "data/role/web.yaml": "who: role web\nlist: [w]\nsettings: {more: 2}\n",
            "data/role/db.yaml": "who: role db\n",
            "data/top/web.yaml": "who: top web\ntier_of: \"%{role}\"\n",
            "data/tier/x.yaml": "port: 81\ntier_of: x\n",
            "manifests/site.pp": site(dice),
            "modules/m/functions/f.pp": function,
            "modules/c/manifests/init.pp": "class c { $v = 'in c' }\n",
        },
    })
}

/// Puppet's answers; `None` if Puppet is not installed.
pub(crate) fn ask_puppet(requests: &[Value]) -> Option<Vec<String>> {
    let known = Command::new("ruby")
        .args(["-e", "require 'puppet'"])
        .output()
        .ok()?;
    if !known.status.success() {
        return None;
    }
    let mut child = Command::new("ruby")
        .args(["-W0", SCRIPT, "--requests"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let text: String = requests
        .iter()
        .map(|request| format!("{request}\n"))
        .collect();
    let writer = std::thread::spawn(move || to.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn random_manifests_set_what_puppet_sets() {
    let number = |name: &str, otherwise: u64| {
        let set = std::env::var(name).ok();
        set.map_or(otherwise, |set| set.parse().unwrap())
    };
    let (count, seed) = (
        number("MANIFESTS_COUNT", COUNT),
        number("MANIFESTS_SEED", 1),
    );
    let mut dice = Dice {
        state: seed,
        set: Vec::new(),
        made_up: 0,
    };
    let requests: Vec<Value> = (0..count).map(|at| request(&mut dice, at)).collect();
    let Some(lines) = ask_puppet(&requests) else {
        return;
    };
    assert_eq!(lines.len(), requests.len());
    let (mut problems, mut variables, mut known, mut failing) = (Vec::new(), 0, 0, 0);
    for line in &lines {
        let case = from_json(line).unwrap();
        let assigned = assigned(&case);
        let fails = case.get("error").is_some();
        failing += u32::from(fails);
        for (scope, ours) in [("top", &assigned.top), ("node", &assigned.node)] {
            let theirs = answers(case.get(scope).unwrap());
            let found = differences(ours, &theirs, fails);
            if !found.is_empty() {
                let id = case.get("id").unwrap().as_str().unwrap();
                let request = &requests[id.parse::<usize>().unwrap()];
                let site = request["files"]["manifests/site.pp"].as_str().unwrap();
                let error = case.get("error").map(|error| error.inspect());
                problems.push(format!(
                    "{id} {scope}: {found:#?} for {}, {error:?}\n{site}{}",
                    request["certname"],
                    request["files"]["modules/m/functions/f.pp"]
                        .as_str()
                        .unwrap()
                ));
            }
            let is_known = |name: &&String| ours.get(&***name).is_some_and(|it| it.value.is_ok());
            // A node without a catalog has no variables.
            if !fails {
                known += theirs.keys().filter(is_known).count();
                variables += theirs.len();
            }
        }
    }
    println!(
        "{count} random manifests, {failing} that fail, {known} of {variables} variables known as Puppet has them"
    );
    assert!(
        problems.is_empty(),
        "{} differ:\n{}",
        problems.len(),
        problems[..problems.len().min(8)].join("\n")
    );
    assert!(known * 10 > variables * 9, "{known} of {variables}");
}
