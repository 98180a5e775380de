#!/usr/bin/env python3
"""Judges what `hiera-ls check` says of checked-out control repositories: four rules of a low severity, one of warnings.

  tests/repositories/hints.py [--server PROGRAM] FOLDER…

It shares nothing with hiera-ls: legacy and other facts are those of the installed Facter's source, variables those
that the installed Puppet sets in an empty catalog, keys and paths are read from every file of the checkout. Each
finding that does not hold is printed; at the end how many of each rule hold.

- legacy-fact: Facter gives the name as an alias or a fact of the type `legacy`, and the structured fact that is
  named instead is the one that has the alias.
- undefined-variable: no fact of Facter's, no variable of Puppet's has the name. How many the checkout sets itself,
  as the message allows for, is counted: custom and external facts, and assignments in manifests.
- interp-missing-key: no YAML or JSON file of the checkout has the key at its top.
- level-never-matches: no file below the level's data directory ends as the path does; none of the whole checkout
  where that directory is not there.
- unknown-parameter: by Puppet's parser the class has no such parameter; no file of the checkout looks the key up.
"""

import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys

import yaml

FACTER = "/usr/lib/ruby/vendor_ruby/facter/facts"
TOKEN = re.compile(r"%\{[^}]*\}")
LOOKUP = re.compile(r"(?:lookup|hiera|alias)\w*\W*\(?[\[\s\\]*['\"]([\w:]+)")
PUPPET = """
require 'puppet'
Puppet.initialize_settings(['--confdir=/nonexistent', '--vardir=/nonexistent'])
environment = Puppet::Node::Environment.create(:production, [])
node = Puppet::Node.new('node', environment: environment)
node.merge('clientcert' => '', 'clientversion' => '', 'clientnoop' => '')
node.trusted_data = {}
node.add_server_facts('serverversion' => '', 'servername' => '', 'serverip' => '', 'serverip6' => '')
Puppet.override(current_environment: environment, loaders: Puppet::Pops::Loaders.new(environment)) do
  compiler = Puppet::Parser::Compiler.new(node)
  compiler.send(:set_node_parameters)
  puts compiler.topscope.to_hash.keys
end
"""
PARAMETERS = """
require 'puppet'
program = Puppet::Pops::Parser::EvaluatingParser.new.parse_file(ARGV[0])
classes = program.definitions.grep(Puppet::Pops::Model::HostClassDefinition)
puts classes.find { |it| it.name == ARGV[1] }.parameters.map(&:name)
"""


class Known:
    """What Facter and Puppet set."""

    def __init__(self):
        self.aliases = collections.defaultdict(set)
        self.legacy = []
        self.core = set()
        for path in glob.glob(f"{FACTER}/**/*.rb", recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            name = re.search(r"FACT_NAME = '([^']+)'", text)
            if not name:
                continue
            name = name.group(1)
            if "TYPE = :legacy" in text:
                self.legacy.append(re.compile(name + r"\Z"))
            else:
                self.core.add(name.split(".")[0])
            found = re.search(r"ALIASES = (?:'([^']+)'|%w\[([^\]]+)\])", text)
            for alias in ((found.group(1) or found.group(2)).split() if found else []):
                self.aliases[alias].add(name)
                self.legacy.append(re.compile(alias + r"\Z"))
        ran = subprocess.run(["ruby", "-W0", "-e", PUPPET], capture_output=True, text=True, check=True)
        # In a class or a defined type Puppet sets these too (puppet/parser/resource.rb, resource/type.rb).
        self.puppet = set(ran.stdout.split()) | {"module_name", "caller_module_name", "name", "title"}

    def is_legacy(self, name):
        return any(pattern.match(name) for pattern in self.legacy)

    def sets(self, name):
        return name in self.core or name in self.puppet or self.is_legacy(name)


class Checkout:
    """All that stands in a checkout."""

    def __init__(self, folder):
        self.folder = folder
        self.files = []
        self.keys = set()
        self.assigned = set()
        self.facts = set()
        self.looked_up = set()
        for root, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                self.read(os.path.join(root, name))

    def read(self, path):
        # A link to what is only on the server leads nowhere here.
        if os.path.exists(path):
            self.files.append(os.path.relpath(path, self.folder))
        extension = os.path.splitext(path)[1]
        if extension not in (".yaml", ".yml", ".eyaml", ".json", ".pp", ".rb", ".erb", ".epp", ".py", ".sh", ".txt"):
            return
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            return
        if extension in (".yaml", ".yml", ".eyaml", ".json"):
            # Manifests fill templates in: they are not data.
            if "/templates/" not in path:
                self.keys.update(top_keys(text))
        self.looked_up.update(LOOKUP.findall(text))
        if extension == ".pp":
            self.assigned.update(re.findall(r"\$(\w+)\s*=[^=~>]", text))
        elif extension == ".rb":
            self.facts.update(re.findall(r"Facter\.add\(\s*[:'\"](\w+)", text))
        elif "facts.d" in path:
            self.facts.update(re.findall(r"^\W*(\w+)=", text, re.M))

    def fits(self, start, ending):
        """Whether some file's path starts and ends so; a token stands for any part of a path."""
        # Names of operating systems have no slashes.
        tokens = [*("[^/]*" if "os." in token else ".*" for token in TOKEN.findall(ending)), ""]
        pattern = "".join(globbed(part) + token for part, token in zip(TOKEN.split(ending), tokens))
        return any(path.startswith(start) and re.search(f"(^|/){pattern}\\Z", path[len(start):]) for path in self.files)


def globbed(text):
    return re.escape(text).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


def top_keys(text):
    """The keys at the top, by PyYAML and, since that refuses much that Ruby reads, by their look."""
    keys = {match[1] for match in re.findall(r"^(['\"]?)([^\s#'\"][^'\"\n]*?)\1\s*:(?:\s|$)", text, re.M)}
    try:
        for document in yaml.load_all(text, Loader=yaml.BaseLoader):
            keys.update(key for key in document if isinstance(key, str)) if isinstance(document, dict) else None
    except (yaml.YAMLError, TypeError, RecursionError):
        pass
    return keys


def legacy_fact(known, checkout, finding, counts):
    name = re.match(r"'([^']+)' is a legacy fact", finding["message"]).group(1)
    use = re.search(r"; use facts\.(\S+)$", finding["message"])
    if not known.is_legacy(name) or name in known.core:
        return "Facter has no such legacy fact"
    if use:
        own = known.aliases[name]
        # A part of a structured fact, as `os.release.major` is of `os.release`.
        if own and not any(use.group(1) == fact or use.group(1).startswith(fact + ".") for fact in own):
            return f"Facter has it as another name of {sorted(own)}"
        counts["with the structured fact named"] += 1
    return None


def undefined_variable(known, checkout, finding, counts):
    name = re.match(r"neither Puppet nor Facter sets '([^']+)'", finding["message"]).group(1)
    if known.sets(name):
        return "Puppet or Facter sets it"
    if name in checkout.facts:
        counts["a custom fact of the checkout has the name"] += 1
    elif name in checkout.assigned:
        counts["a manifest of the checkout assigns one of the name"] += 1
    else:
        counts["nothing in the checkout sets it"] += 1
    return None


def interp_missing_key(known, checkout, finding, counts):
    found = re.match(r"no data in this workspace has the key '([^']+)'", finding["message"])
    found = found or re.search(r"a part of the key '([^']+)'", finding["message"])
    return "a file of the checkout has the key" if found.group(1) in checkout.keys else None


def datadir(checkout, finding):
    """The data directory of the level that a finding stands in, as it is written."""
    with open(os.path.join(checkout.folder, finding["path"]), encoding="utf-8") as file:
        text = file.read()
    at = finding["line"] - 1
    written = {key.value.lstrip(":"): value for key, value in yaml.compose(text, Loader=yaml.BaseLoader).value}
    levels = [level for name in ("hierarchy", "default_hierarchy") for level in getattr(written.get(name), "value", [])]
    around = [level for level in levels if level.start_mark.line <= at <= level.end_mark.line and isinstance(level.value, list)]
    places = around[-1:] + [written[name] for name in ("defaults", "yaml", "eyaml") if name in written]
    for place in places:
        for key, value in place.value:
            if key.value.lstrip(":") == "datadir":
                return value.value
    return "data"


def level_never_matches(known, checkout, finding, counts):
    none = re.match(r"no level of this hierarchy finds a file: the data directory '(.+?)' is not there", finding["message"])
    if none:
        folder = os.path.join(checkout.folder, os.path.dirname(finding["path"]), none.group(1))
        counts["no data directory"] += 1
        return "the directory is there" if os.path.isdir(folder) else None
    path = re.match(r"no file of this workspace matches '(.+?)'(: |$)", finding["message"]).group(1)
    folder = os.path.normpath(os.path.join(os.path.dirname(finding["path"]), datadir(checkout, finding)))
    # What is deployed elsewhere may be any folder of the checkout.
    is_here = os.path.isdir(os.path.join(checkout.folder, folder)) or os.path.basename(finding["path"]) == "hiera.yaml"
    start = folder + "/" if is_here and not os.path.isabs(folder) else ""
    counts["in the level's own data directory" if start else "anywhere in the checkout"] += 1
    return "a file ends so" if checkout.fits(start, path.lstrip("/")) else None


def unknown_parameter(known, checkout, finding, counts):
    named = re.match(r"class '(.+?)' has no parameter '(.+?)'", finding["message"])
    if not named:
        return "not judged here"
    name, parameter = named.groups()
    manifest = os.path.join(checkout.folder, finding["related"][0]["path"])
    command = ["ruby", "-W0", "-e", PARAMETERS, manifest, name]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode or parameter in ran.stdout.split():
        return ran.stderr or "the class has it"
    return "a file of the checkout looks it up" if f"{name}::{parameter}" in checkout.looked_up else None


JUDGES = {
    "legacy-fact": legacy_fact,
    "undefined-variable": undefined_variable,
    "interp-missing-key": interp_missing_key,
    "level-never-matches": level_never_matches,
    "unknown-parameter": unknown_parameter,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="target/debug/hiera-ls")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    arguments = parser.parse_args()
    program = os.path.realpath(arguments.server)
    known = Known()
    true, false = collections.Counter(), collections.Counter()
    counts = collections.defaultdict(collections.Counter)
    repositories = collections.defaultdict(set)
    for folder in arguments.folders:
        folder = os.path.realpath(folder)
        command = [program, "check", "--format", "json-lines", "--exit-zero"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        checkout = Checkout(folder)
        for line in ran.stdout.splitlines():
            finding = json.loads(line)
            judge = JUDGES.get(finding["code"])
            if judge is None:
                continue
            code = finding["code"]
            repositories[code].add(folder)
            problem = judge(known, checkout, finding, counts[code])
            (false if problem else true)[code] += 1
            if problem:
                place = f"{os.path.basename(folder)}/{finding['path']}:{finding['line']}"
                print(f"{place}: {code}: {finding['message']}\n  {problem}")
    for code in JUDGES:
        total = true[code] + false[code]
        more = ", ".join(f"{count} {what}" for what, count in counts[code].items())
        print(f"{code}: {true[code]} of {total} hold, in {len(repositories[code])} repositories" + (f"; {more}" if more else ""))
    return 1 if false else 0


sys.exit(main())
