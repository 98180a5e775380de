//! Site manifests: variables of the top scope and of node blocks, from certnames, facts and data.

use super::dice::Dice;
use super::scope::Scope;

/// The usual values of a manifest's variables: data files are written for these.
pub const VALUES: [&str; 3] = ["web", "db", "x"];

/// A manifest of an environment. `inner` is added at the end of every node block, or at the end of
/// a manifest without any.
pub fn site(dice: &mut Dice, keys: &[String], scopes: &[Scope], inner: &str) -> String {
    dice.mark("site: manifest");
    let may_set_role = !scopes.iter().any(|scope| scope.facts.contains_key("role"));
    let mut writer = Writer {
        dice,
        keys,
        set: Vec::new(),
        may_set_role,
    };
    let mut text = String::new();
    if writer.dice.chance(90) {
        text = writer.statements(2, "");
    }
    if !writer.dice.chance(75) {
        return text + inner;
    }
    let top = std::mem::take(&mut writer.set);
    writer.may_set_role = true;
    for matches in writer.blocks() {
        writer.set.clear();
        let own = if matches.contains('(') && writer.dice.chance(70) {
            writer.dice.mark("site: group of a node's pattern");
            writer.set.push("place".into());
            "  $place = \"p${1}\"\n"
        } else {
            ""
        };
        let rest = if writer.dice.chance(85) {
            writer.statements(2, "  ")
        } else {
            String::new()
        };
        text.push_str(&format!("node {matches} {{\n{own}{rest}  {inner}\n}}\n"));
    }
    if writer.dice.chance(15) {
        writer.set = top;
        writer.may_set_role = may_set_role;
        text.push_str(&writer.statements(1, ""));
    }
    text
}

/// A function in the Puppet language that manifests call.
pub fn function(dice: &mut Dice, keys: &[String]) -> String {
    let mut writer = Writer {
        dice,
        keys,
        set: Vec::new(),
        may_set_role: false,
    };
    let inner = loop {
        let inner = writer.value(2);
        // A recursive function would never end.
        if !inner.contains("environment::kind") {
            break inner;
        }
    };
    let parameters = writer
        .dice
        .pick(&["$name", "String $name", "$name, $more = 'm'"]);
    format!(
        "function environment::kind({parameters}) {{\n  $inner = {inner}\n  if $name =~ /^n0/ {{ return(\"${{inner}}\") }}\n  $name ? {{ /^n/ => 'db', default => $inner }}\n}}\n"
    )
}

struct Writer<'a> {
    dice: &'a mut Dice,
    keys: &'a [String],
    /// The variables set by the scope under construction.
    set: Vec<String>,
    may_set_role: bool,
}

impl Writer<'_> {
    fn blocks(&mut self) -> Vec<&'static str> {
        let mut blocks = Vec::new();
        for (mark, all, chance) in [
            (
                "site: node by name",
                &[
                    "'n0.example.com'",
                    "'n1.example.com', 'n2'",
                    "n1",
                    "'N0.example.com'",
                ][..],
                45,
            ),
            (
                "site: node by pattern",
                &[
                    "/^n[01]/",
                    "/^n(\\d)\\./",
                    "/example/",
                    "/^n(\\d+)$/, 'another'",
                ],
                55,
            ),
            ("site: default node", &["default", "'other', default"], 88),
        ] {
            if self.dice.chance(chance) {
                self.dice.mark(mark);
                blocks.push(self.dice.pick(all));
            }
        }
        blocks
    }

    /// A variable to set; few are set twice, which Puppet refuses.
    fn target(&mut self) -> String {
        let names: &[&'static str] = if self.may_set_role {
            &["kind", "place", "spot", "role", "a", "b"]
        } else {
            &["kind", "place", "spot", "a", "b", "c"]
        };
        let free: Vec<&'static str> = names
            .iter()
            .copied()
            .filter(|name| self.set.iter().all(|set| set != name))
            .collect();
        let name = match free.is_empty() {
            _ if self.dice.rarely(6) => self.dice.pick(&["kind", "role", "facts"]).to_owned(),
            true => format!("v{}", self.set.len()),
            false => free[self.dice.below(free.len())].to_owned(),
        };
        self.set.push(name.clone());
        name
    }

    fn assignment(&mut self) -> String {
        let name = self.target();
        if name == "spot" {
            self.dice.mark("site: hash in a variable");
            let (one, two) = (self.value(1), self.value(1));
            return format!("$spot = {{ 'a' => {one}, 'n' => {{ 'x' => [{two}] }} }}");
        }
        let depth = self.dice.between(0, 2);
        format!("${name} = {}", self.value(depth))
    }

    fn statements(&mut self, depth: usize, indent: &str) -> String {
        let inner = format!("{indent}  ");
        let mut text = String::new();
        for _ in 0..self.dice.between(1, 3) {
            let weights = match depth {
                0 => [80, 0, 0, 0, 3],
                _ => [70, 12, 10, 8, 3],
            };
            let before = self.set.clone();
            let statement = match self.dice.weighted(&weights) {
                0 => self.assignment(),
                1 => {
                    self.dice.mark("site: if");
                    let test = self.test();
                    let yes = self.statements(depth - 1, &inner);
                    let after = std::mem::replace(&mut self.set, before);
                    let no = self.statements(depth - 1, &inner);
                    self.set.extend(after);
                    format!("if {test} {{\n{yes}{indent}}} else {{\n{no}{indent}}}")
                }
                2 => {
                    self.dice.mark("site: case");
                    let value = self.value(1);
                    let one = self.statements(depth - 1, &inner);
                    let after = std::mem::replace(&mut self.set, before);
                    let other = self.statements(depth - 1, &inner);
                    self.set.extend(after);
                    format!(
                        "case {value} {{\n{inner}'web', /^k/: {{\n{one}{inner}}}\n{inner}default: {{\n{other}{inner}}}\n{indent}}}"
                    )
                }
                3 => {
                    self.dice.mark("site: unless");
                    let test = self.test();
                    let body = self.statements(depth - 1, &inner);
                    format!("unless {test} {{\n{body}{indent}}}")
                }
                _ => self
                    .dice
                    .pick(&[
                        "notice('said')",
                        "debug(\"${facts}\")",
                        "[1].each |$i| { $l = $i }",
                    ])
                    .to_owned(),
            };
            text.push_str(&format!("{indent}{statement}\n"));
        }
        text
    }

    fn test(&mut self) -> String {
        let value = self.value(0);
        match self.dice.below(6) {
            0 => format!("{value} == 'web'"),
            1 if self.dice.chance(4) => format!("{value} =~ /^[a-w]/"),
            1 => format!("\"${{{value}}}\" =~ /^[a-w]/"),
            2 => format!("{value} in ['web', 'Debian', 'n0']"),
            3 => format!("$facts['num'] > 3 and {value} != 'db'"),
            4 => "$facts['yes']".to_owned(),
            _ => format!("!{value}"),
        }
    }

    /// An expression, mostly a text.
    fn value(&mut self, depth: usize) -> String {
        let weights = match depth {
            0 => [60, 25, 0, 0, 0, 0, 15, 0, 0, 0, 0],
            _ => [14, 8, 14, 8, 7, 7, 9, 12, 8, 7, 12],
        };
        match self.dice.weighted(&weights) {
            0 => self
                .dice
                .pick(&[
                    "'web'", "'db'", "'web'", "'x'", "'db'", "'other'", "5", "undef",
                ])
                .to_owned(),
            1 => {
                self.dice.mark("site: fact");
                let last = if self.dice.chance(8) {
                    self.dice
                        .pick(&["$tier", "$facts['svcs'][0]", "$facts['list'][2]['k']"])
                } else {
                    "$facts['num']"
                };
                self.dice
                    .pick(&[
                        "$facts['os']['family']",
                        "$trusted['hostname']",
                        "$trusted['certname']",
                        "$facts.dig('os', 'release', 'major')",
                        "$facts['hash']['a']",
                        "$environment",
                        "$facts['nope']",
                        "$facts['uni']",
                        last,
                    ])
                    .to_owned()
            }
            2 => {
                self.dice.mark("site: selector");
                let (one, two) = (self.value(depth - 1), self.value(depth - 1));
                let subject = self.dice.pick(&[
                    "$trusted['certname']",
                    "$facts['os']['family']",
                    "$trusted['hostname']",
                ]);
                let first = self.dice.pick(&["/^n0/", "'n1'", "'debian'", "/n(\\d)/"]);
                format!("({subject} ? {{ {first} => {one}, default => {two} }})")
            }
            3 => {
                self.dice.mark("site: groups of a match");
                let other = self.value(depth - 1);
                format!(
                    "($trusted['certname'] ? {{ /^([a-z]+)([0-1])/ => \"k${{2}}\", default => {other} }})"
                )
            }
            4 => {
                let (test, one, two) = (self.test(), self.value(depth - 1), self.value(0));
                format!("(if {test} {{ {one} }} else {{ {two} }})")
            }
            5 => {
                let (value, one) = (self.value(0), self.value(depth - 1));
                format!(
                    "(case {value} {{ 'web', 'debian': {{ {one} }} Integer: {{ 'number' }} /^n/: {{ 'web' }} default: {{ 'db' }} }})"
                )
            }
            6 => {
                self.dice.mark("site: interpolation");
                let inner = if self.set.is_empty() {
                    self.dice
                        .pick(&["facts['os']['family']", "environment"])
                        .to_owned()
                } else {
                    self.set[self.dice.below(self.set.len())].clone()
                };
                if self.dice.chance(60) {
                    format!("\"${{{inner}}}\"")
                } else {
                    format!("\"${{{inner}}}-x\"")
                }
            }
            7 => self.lookup(depth),
            8 => {
                self.dice.mark("site: function in Puppet");
                let name =
                    self.dice
                        .pick(&["$trusted['certname']", "$facts['os']['family']", "'n0'"]);
                format!("environment::kind({name})")
            }
            9 => {
                self.dice.mark("site: hash access");
                let (one, two) = (self.value(depth - 1), self.value(0));
                format!(
                    "({{ 'n0.example.com' => {one}, 'n1.example.com' => {two}, 'n2' => 'x' }})[$trusted['certname']]"
                )
            }
            _ => self.call(depth),
        }
    }

    fn lookup(&mut self, depth: usize) -> String {
        if self.keys.is_empty() {
            return "'web'".to_owned();
        }
        self.dice.mark("site: lookup");
        let key = &self.keys[self.dice.below(self.keys.len())];
        let default = self.value(depth - 1);
        match self.dice.below(7) {
            0 => format!("lookup('{key}', {{ 'default_value' => {default} }})"),
            1 => format!("lookup('{key}', Any, 'first', {default})"),
            2 => format!("lookup('{key}', Data, 'unique', [])"),
            3 => format!("\"${{lookup('{key}', undef, undef, 'web')}}\""),
            4 => format!("lookup(['none', '{key}'], Variant[String, Data], undef, 'web')"),
            5 if self.dice.rarely(200) => format!("lookup('{key}')"),
            _ => format!(
                "lookup('{key}', {{ 'default_value' => {default}, 'merge' => {{ 'strategy' => 'first' }} }})"
            ),
        }
    }

    fn call(&mut self, depth: usize) -> String {
        self.dice.mark("site: function of Puppet");
        let value = self.value(depth - 1);
        match self.dice.below(12) {
            0 => format!("downcase(\"${{{value}}}\")"),
            1 => "regsubst($trusted['certname'], '^n(\\d).*', 'k\\1')".to_owned(),
            2 => "split($trusted['certname'], '[.]')[0]".to_owned(),
            3 => format!("join(['a', {value}], '-')"),
            4 => format!("sprintf('%s', {value})"),
            5 => format!("[{value}, 'db'].filter |$x| {{ $x =~ String }}"),
            6 => format!("[{value}].map |$x| {{ \"${{x}}\" }}[0]"),
            7 => format!("String({value})"),
            8 => "String($facts['num'] + 2)".to_owned(),
            9 => format!("({value}).then |$x| {{ \"t${{x}}\" }}"),
            10 => format!("getvar('kind', {value})"),
            _ => format!("({{ 'web' => {value} }}).get('web')"),
        }
    }
}
