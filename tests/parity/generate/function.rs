//! Functions as backends, in the Puppet language and in Ruby: their values depend on facts,
//! options, other functions and the lookup's context.

use super::dice::Dice;
use super::repo::Repo;

const CONTEXT: &str = "Puppet::LookupContext $context";

/// The functions that levels name, below the folder of an environment or a module: `dh`, `lk` and
/// `dd` of the namespace `space`. Some refuse Puppet's call.
pub fn functions(dice: &mut Dice, repo: &mut Repo, folder: &str, space: &str) {
    let keys: Vec<String> = match space {
        "environment" => ["alpha", "beta", "list", "hash", "motd", "port"]
            .map(String::from)
            .to_vec(),
        _ => ["a", "list", "hash", "deep::k", "x"]
            .iter()
            .map(|name| format!("{space}::{name}"))
            .collect(),
    };
    // The functions of an environment have its name in their path.
    let below = match space {
        "environment" => format!("{folder}/functions/environment"),
        _ => format!("{folder}/functions"),
    };
    let mut body = Body {
        dice,
        keys: &keys,
        space,
        calls: false,
    };
    let bodies = [
        ("dh", "", body.data_hash()),
        ("lk", "String $key, ", body.lookup_key()),
        (
            "dd",
            "Array[Variant[String, Integer]] $segments, ",
            body.data_dig(),
        ),
    ];
    if body.calls {
        let text = format!(
            "function {space}::shared($name, $more = 'm') >> String {{\n  \"${{name}} ${{more}} ${{facts['os']['family']}}\"\n}}\n"
        );
        repo.files.insert(format!("{below}/shared.pp"), text);
    }
    for (name, first, body) in bodies {
        let is_in_puppet = dice.chance(80);
        let (parameters, returns) = parameters(dice, first);
        // An unknown variable would be Puppet's only error.
        let names = ["key", "segments", "options", "context"];
        let mut used = names.iter().filter(|name| {
            body.contains(&format!("${name}")) || body.contains(&format!("${{{name}"))
        });
        let body = if used.all(|name| parameters.contains(&format!("${name}"))) {
            body
        } else {
            "{ 'alpha' => 'from code', 'list' => ['code'] }".to_owned()
        };
        if is_in_puppet {
            dice.mark("backend: function in Puppet");
            let text =
                format!("function {space}::{name}({parameters}){returns} {{\n  {body}\n}}\n");
            repo.files.insert(format!("{below}/{name}.pp"), text);
            continue;
        }
        dice.mark("backend: function in Ruby");
        repo.ruby = true;
        let text = in_ruby(dice, space, name);
        let path = format!("{folder}/lib/puppet/functions/{space}/{name}.rb");
        repo.files.insert(path, text);
    }
}

/// The data of a module or an environment without a `hiera.yaml`: a function called `data`.
pub fn data(dice: &mut Dice, repo: &mut Repo, folder: &str, space: &str) {
    dice.mark("backend: function called data");
    repo.custom = true;
    let key = match space {
        "environment" => "alpha".to_owned(),
        _ => format!("{space}::a"),
    };
    let keys = [key];
    let mut body = Body {
        dice,
        keys: &keys,
        space,
        calls: false,
    };
    let value = body.value();
    let text = format!(
        "function {space}::data() {{\n  {{ '{}' => {value}, '{space}::list' => ['d'] }}\n}}\n",
        keys[0]
    );
    let path = match space {
        "environment" => format!("{folder}/functions/environment/data.pp"),
        _ => format!("{folder}/functions/data.pp"),
    };
    let text = text.replace("${options['extra']}", "none");
    repo.files
        .insert(path, text.replace("$options['extra']", "'none'"));
    if body.calls {
        let shared =
            format!("function {space}::shared($name, $more = 'm') {{ \"${{name}}${{more}}\" }}\n");
        let path = match space {
            "environment" => format!("{folder}/functions/environment/shared.pp"),
            _ => format!("{folder}/functions/shared.pp"),
        };
        repo.files.insert(path, shared);
    }
}

fn parameters(dice: &mut Dice, first: &str) -> (String, &'static str) {
    let text = match dice.weighted(&[160, 10, 5, 5, 5, 5, 5, 5, 5]) {
        0 => return (format!("{first}Hash $options, {CONTEXT}"), ""),
        1 => format!("{first}Hash $options"),
        2 => format!("{first}Hash $options, {CONTEXT}, $more"),
        3 => "Integer $first, Hash $options, Any $context = 1".to_string(),
        4 => format!("{first}Struct[{{x => String}}] $options, {CONTEXT}"),
        5 => {
            dice.mark("backend: function that may refuse its call");
            return (
                format!("{first}Hash $options, {CONTEXT}"),
                " >> Hash[String, Any]",
            );
        }
        6 => format!("{first}Hash[String[9], Data] $options, {CONTEXT}"),
        7 => "String $options, *$context".to_owned(),
        _ => {
            dice.mark("backend: function that may refuse its call");
            return (
                "$first, /* ( */ $options = { 'a' => [1, ')'] }, # ,\n  *$context".to_owned(),
                " >> Data",
            );
        }
    };
    dice.mark("backend: function that may refuse its call");
    (text, "")
}

struct Body<'a> {
    dice: &'a mut Dice,
    keys: &'a [String],
    space: &'a str,
    calls: bool,
}

impl Body<'_> {
    fn key(&mut self) -> String {
        self.keys[self.dice.below(self.keys.len())].clone()
    }

    /// A return value of a function.
    fn value(&mut self) -> String {
        match self.dice.below(12) {
            0 => "'from code'".into(),
            1 => "['code', 'one']".into(),
            2 => "{ 'a' => 'code', 'n' => { 'x' => 1 } }".into(),
            3 => {
                self.dice.mark("backend: function reads facts");
                "\"on ${facts['os']['family']} ${facts['num']}\"".into()
            }
            4 => {
                self.dice.mark("backend: function reads facts");
                "$facts['os']['family'] ? { 'Debian' => 'apt', default => ['yum'] }".into()
            }
            5 => {
                self.dice.mark("backend: function reads options");
                "\"opt ${options['extra']}\"".into()
            }
            6 => {
                self.dice.mark("backend: function reads options");
                "$options['extra']".into()
            }
            7 => {
                self.dice.mark("backend: function calls another");
                self.calls = true;
                format!("{}::shared($trusted['hostname'])", self.space)
            }
            8 => {
                self.dice.mark("backend: function gives tokens");
                "'tok %{facts.os.family} %{environment}'".into()
            }
            9 => "5".into(),
            10 => "$facts['svcs']".into(),
            _ => "undef".into(),
        }
    }

    fn hash(&mut self) -> String {
        let mut entries = Vec::new();
        for _ in 0..self.dice.between(1, 3) {
            let (key, value) = (self.key(), self.value());
            if entries
                .iter()
                .all(|entry: &String| !entry.starts_with(&format!("'{key}'")))
            {
                entries.push(format!("'{key}' => {value}"));
            }
        }
        if self.dice.chance(8) {
            self.dice.mark("backend: function gives lookup_options");
            let (key, merge) = (self.key(), self.dice.pick(&["unique", "first", "deep"]));
            entries.push(format!(
                "'lookup_options' => {{ '{key}' => {{ 'merge' => '{merge}' }} }}"
            ));
        }
        format!("{{ {} }}", entries.join(", "))
    }

    fn data_hash(&mut self) -> String {
        match self.dice.below(6) {
            0 => {
                let (one, two) = (self.hash(), self.hash());
                format!("$base = {one}\n  $more = {two}\n  $base + $more")
            }
            1 => {
                let (one, two, three) = (self.hash(), self.hash(), self.hash());
                format!(
                    "$base = {one}\n  $more = case $facts['os']['family'] {{\n    'Debian': {{ {two} }}\n    default: {{ {three} }}\n  }}\n  $base + $more"
                )
            }
            2 => {
                let (one, two) = (self.hash(), self.hash());
                format!("if $facts['yes'] {{ return({one}) }}\n  $other = {two}\n  $other")
            }
            3 => {
                let keys = self.keys.iter().take(3);
                let list = keys
                    .map(|key| format!("'{key}'"))
                    .collect::<Vec<_>>()
                    .join(", ");
                let value = self.value();
                format!("Hash([{list}].map |$k| {{ [$k, {value}] }})")
            }
            4 => {
                self.dice.mark("backend: function explains");
                let hash = self.hash();
                format!("$all = {hash}\n  $context.explain || {{ 'said by code' }}\n  $all")
            }
            _ => self.hash(),
        }
    }

    fn lookup_key(&mut self) -> String {
        let (key, value) = (self.key(), self.value());
        match self.dice.below(8) {
            0 => format!("if $key == '{key}' {{ {value} }} else {{ $context.not_found() }}"),
            1 => {
                let (other, more) = (self.key(), self.value());
                format!(
                    "case $key {{\n    '{key}': {{ {value} }}\n    /{other}/: {{ {more} }}\n    default: {{ $context.not_found() }}\n  }}"
                )
            }
            2 => {
                self.dice.mark("backend: function uses its cache");
                format!(
                    "if $context.cache_has_key($key) {{ return($context.cached_value($key)) }}\n  unless $key in ['{key}', 'list'] {{ $context.not_found() }}\n  $value = {value}\n  $context.cache($key, $value)"
                )
            }
            3 => {
                self.dice.mark("backend: function uses its cache");
                let hash = self.hash();
                format!(
                    "unless $context.cache_has_key('done') {{\n    $context.cache_all({hash} + {{ 'done' => true }})\n  }}\n  if $context.cache_has_key($key) {{ $context.cached_value($key) }} else {{ $context.not_found }}"
                )
            }
            4 => {
                self.dice.mark("backend: function interpolates");
                let text = self.dice.pick(&[
                    "'no token'",
                    "'in %{facts.os.family}'",
                    "['%{facts.num}', { 'a' => '%{trusted.certname}' }]",
                    "\"%{facts.os.name} ${key}\"",
                    "'%{lookup(\"alpha\")}'",
                ]);
                format!(
                    "if $key != '{key}' {{ $context.not_found() }}\n  $context.interpolate({text})"
                )
            }
            5 => {
                self.dice.mark("backend: function explains");
                format!(
                    "$context.explain || {{ \"looks for ${{key}}\" }}\n  if $key == '{key}' {{ return({value}) }}\n  $context.not_found()"
                )
            }
            6 => {
                self.dice.mark("backend: function reads its context");
                format!(
                    "if $key == '{key}' {{ \"${{context.environment_name}} ${{context.module_name}}\" }} else {{ $context.not_found() }}"
                )
            }
            _ => {
                let hash = self.hash();
                format!(
                    "$all = {hash}\n  if $key in $all {{ $all[$key] }} else {{ $context.not_found() }}"
                )
            }
        }
    }

    fn data_dig(&mut self) -> String {
        let hash = self.hash();
        match self.dice.below(3) {
            0 => format!(
                "$found = {hash}.dig(*$segments)\n  if $found =~ Undef {{ $context.not_found() }}\n  $found"
            ),
            1 => {
                let value = self.value();
                let key = self.key();
                format!("if $segments[0] == '{key}' {{ {value} }} else {{ $context.not_found() }}")
            }
            _ => format!(
                "$all = {hash}\n  if size($segments) == 1 and $segments[0] in $all {{ $all[$segments[0]] }} else {{ $context.not_found() }}"
            ),
        }
    }
}

fn in_ruby(dice: &mut Dice, space: &str, name: &str) -> String {
    let takes = match dice.weighted(&[40, 15, 15, 15, 15]) {
        0 => "  dispatch :give do\n    required_repeated_param 'Any', :all\n  end",
        1 => "  dispatch :give do\n    param 'Hash[String, Data]', :options\n  end",
        2 => {
            "  dispatch :give do\n    param 'Array[String]', :key\n    param 'Hash', :options\n    \
             optional_param 'Puppet::LookupContext', :context\n  end\n  \
             dispatch :give do\n    param 'Enum[alpha]', :key\n    repeated_param 'Any', :all\n  end"
        }
        3 => "  # Without dispatches, the method of the function's name counts.",
        _ => {
            "  dispatch(:give) do\n    param('Any', :one)\n    param 'Any', :two\n    return_type 'Hash[String, String]'\n  end"
        }
    };
    let method = match dice.pick(&["(*all)", "(one, two)", "(one, two = {}, three = [1, 2])"]) {
        parameters if takes.contains("Without") => format!("{name}{parameters}"),
        _ => "give(*all)".into(),
    };
    format!(
        "# A data function.\nPuppet::Functions.create_function(:'{space}::{name}') do\n{takes}\n  \
         def {method}\n    {{ 'alpha' => 'ruby' }}\n  end\nend\n"
    )
}
