#!/usr/bin/env python3
"""Compares lookups after a compilation with real Puppet, on random site manifests that include classes.

    tests/parity/catalogs.py [--lib8 LIB8] PROGRAM SEED COUNT [FOLDER]

Puppet is the installed one, version 7; with LIB8 the folder `lib` of OpenVox 8, with its defaults or those of 7. COUNT repositories are made from the seed. Their site manifests and classes include and declare others,
with parameters from data, defaults, inherited variables, defined types, conditions on facts, calls of
Ruby functions, and mistakes: failures, unknown classes, wrong and missing parameters, declarations made
twice. Paths and tokens of their data use variables of the classes. Each key is looked up in the top scope,
as `puppet lookup --compile` does, and in the scope of the node's block, as an agent's catalog does.

An answer must be real Puppet's, or unknown. FOLDER keeps the repositories that differ, in `words` those that fail with other words.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent

CLASSES = ["base", "m", "m::sub", "m::deep::leaf", "n", "n::params", "o"]
VARIABLES = ["env", "tier", "zone"]
VALUES = ["'prod'", "'test'", "'a'", "'b'", "3", "undef", "true"]
TYPES = {
    "String": ["'prod'", "'test'", "'a'"],
    "Integer": ["3", "4"],
    "Optional[String]": ["undef", "'b'"],
    "Array[String]": ["['a']", "[]"],
    "Enum['prod', 'test']": ["'prod'", "'test'"],
    "Variant[Boolean, Integer]": ["true", "3"],
    "": VALUES,
}
FUNCTION = "Puppet::Functions.create_function(:'m::same') do\n  def same(value)\n    value\n  end\nend\n"


class Maker:
    """Writes one random repository."""

    def __init__(self, dice):
        self.dice = dice
        self.files = {}
        self.data = {}
        self.marks = Counter()

    def chance(self, percent):
        return self.dice.random() * 100 < percent

    def mark(self, what):
        self.marks[what] += 1

    def value(self, depth=1):
        dice = self.dice
        kind = dice.randrange(12)
        if kind < 4 or depth == 0:
            return dice.choice(VALUES[:4])
        if kind == 4:
            return "$facts['os']['family']"
        if kind == 5:
            return f"$facts['{dice.choice(['role', 'num', 'nope'])}']"
        if kind == 6:
            self.mark("variable of a class")
            return f"${dice.choice(CLASSES)}::{dice.choice(VARIABLES + ['title', 'p0'])}"
        if kind == 7:
            return f"${dice.choice(VARIABLES + ['role', 'title', 'module_name', 'p0'])}"
        if kind == 8:
            self.mark("lookup")
            return f"lookup('{dice.choice(self.keys)}', undef, undef, 'none')"
        if kind == 9 and self.chance(30):
            self.mark("Ruby function")
            return f"m::same({self.value(0)})"
        if kind == 10:
            return f"\"${{{dice.choice(VARIABLES + ['title'])}}}-x\""
        return f"($facts['os']['family'] ? {{ 'RedHat' => {self.value(0)}, default => {self.value(0)} }})"

    def test(self):
        dice = self.dice
        return dice.choice([
            "$facts['os']['family'] == 'RedHat'",
            "$facts['role'] == 'web'",
            "$facts['num'] > 3",
            f"{self.value(0)} == 'prod'",
            f"${dice.choice(CLASSES)}::env == 'prod'",
            "$trusted['certname'] =~ /^n1/",
            "m::same(true)" if self.chance(25) else "true",
            "defined(Class['m'])" if self.chance(15) else "false",
        ])

    def declaration(self, of):
        """A statement that includes or declares."""
        dice = self.dice
        name = dice.choice(CLASSES)
        kind = dice.randrange(16)
        if kind < 6:
            word = dice.choice(["include", "contain", "require", "include", "include"])
            other = f", {dice.choice(CLASSES)}" if self.chance(15) else ""
            self.mark(word)
            return f"{word} {dice.choice(['', '::'])}{name}{other}"
        if kind == 6 and self.chance(40):
            self.mark("class like a resource")
            given = "".join(
                f" p{at} => {self.value()}," for at in range(2) if self.chance(40)
            )
            extra = " p9 => 1," if self.chance(4) else ""
            return f"class {{ '{name}':{given}{extra} }}"
        if kind == 7:
            self.mark("resource")
            return f"notify {{ \"n${{{'title' if of else 'environment'}}}-{dice.randrange(400)}\": message => {self.value()} }}"
        if kind in (8, 9):
            self.mark("defined type")
            given = f" q0 => {self.value()}," if self.chance(30) else ""
            return f"m::thing {{ 't{dice.randrange(300)}':{given} }}"
        if kind == 10 and self.chance(50):
            self.mark("create_resources")
            return f"create_resources('m::thing', {{ 'c{dice.randrange(300)}' => {{ 'q0' => {self.value()} }} }})"
        if kind == 11 and self.chance(60):
            self.mark("list of classes")
            return dice.choice(["lookup('classes', Array[String], 'unique', []).include", "hiera_include('classes')"])
        if kind == 12 and self.chance(25):
            self.mark("fail")
            return f"if {self.test()} {{ fail('no {name}') }}"
        if kind == 13 and self.chance(12):
            self.mark("unknown class")
            return "include m::gone"
        if kind == 14 and self.chance(30):
            self.mark("virtual")
            return f"@m::thing {{ 'v{dice.randrange(300)}': }}" + dice.choice(["", "\nM::Thing <| |>"])
        if kind == 15 and self.chance(30):
            self.mark("defaults of a type")
            return f"M::Thing {{ q0 => {self.value()} }}"
        return f"include {name}"

    def statements(self, of, depth, indent, names):
        dice, lines = self.dice, []
        for _ in range(dice.randrange(1, 4)):
            kind = dice.randrange(10)
            if kind < 4 and names:
                name = names.pop(dice.randrange(len(names)))
                lines.append(f"{indent}${name} = {self.value()}")
            elif kind < 7:
                lines.append(indent + self.declaration(of))
            elif kind == 7 and depth:
                inner, other = list(names), list(names)
                yes = self.statements(of, depth - 1, indent + "  ", inner)
                no = self.statements(of, depth - 1, indent + "  ", other)
                for name in list(names):
                    if name not in inner or name not in other:
                        names.remove(name)
                lines.append(f"{indent}if {self.test()} {{\n{yes}{indent}}} else {{\n{no}{indent}}}")
            elif kind == 8 and depth:
                inner = list(names)
                body = self.statements(of, depth - 1, indent + "  ", inner)
                for name in list(names):
                    if name not in inner:
                        names.remove(name)
                lines.append(
                    f"{indent}case {self.value(0)} {{\n{indent}  'prod', 'RedHat': {{\n{body}{indent}  }}\n"
                    f"{indent}  default: {{ }}\n{indent}}}"
                )
            elif of and self.chance(8):
                lines.append(f"{indent}if {self.test()} {{ return() }}")
                self.mark("return")
            else:
                lines.append(indent + self.declaration(of))
        return "".join(line + "\n" for line in lines)

    def parameters(self, prefix, kind, name):
        dice, written = self.dice, []
        for at in range(dice.randrange(3)):
            expected = dice.choice(list(TYPES))
            good = TYPES[expected]
            default = ""
            if self.chance(75):
                value = dice.choice(good) if self.chance(94) else self.value()
                default = f" = {value}"
            written.append(f"{expected} ${prefix}{at}{default}".strip())
            if kind == "class" and self.chance(65 if default else 98):
                value = dice.choice(good)
                if self.chance(2):
                    value = dice.choice(VALUES)
                value = {"undef": None, "true": True}.get(value, value)
                if isinstance(value, str):
                    value = json.loads(value.replace("'", '"'))
                if isinstance(value, str) and self.chance(10):
                    value = f"%{{{dice.choice(CLASSES)}::env}}"
                self.data[f"{name}::{prefix}{at}"] = value
        return f"({', '.join(written)})" if written else ""

    def is_only_included(self, key):
        """Whether no manifest gives the class of a key its parameters."""
        name = key.rsplit("::", 1)[0]
        return name in CLASSES and not any(f"{{ '{name}':" in text for text in self.files.values())

    def repository(self):
        dice = self.dice
        self.keys = ["who", "k1", "k2", "classes_key"]
        for name in CLASSES:
            parts = name.split("::")
            path = "/".join(parts[1:]) or "init"
            inherits = ""
            if self.chance(20):
                parent = dice.choice(CLASSES[: CLASSES.index(name)] or ["o"])
                inherits = f" inherits {parent}"
                self.mark("inherits")
            parameters = self.parameters("p", "class", name)
            body = self.statements(True, 2, "  ", list(VARIABLES))
            text = f"class {name}{parameters}{inherits} {{\n{body}}}\n"
            self.files[f"modules/{parts[0]}/manifests/{path}.pp"] = text
        body = self.statements(True, 1, "  ", ["x"])
        self.files["modules/m/manifests/thing.pp"] = f"define m::thing{self.parameters('q', 'type', '')} {{\n{body}}}\n"
        self.files["modules/m/lib/puppet/functions/m/same.rb"] = FUNCTION
        names = ["role", "zone", "tier"]
        site = self.statements(False, 2, "", names)
        if self.chance(60):
            self.mark("node block")
            own = self.statements(False, 1, "  ", ["role", "place"])
            rest = self.statements(False, 1, "  ", ["role", "place"])
            site += f"node /^n1/ {{\n{own}}}\nnode default {{\n{rest}}}\n"
        self.files["manifests/site.pp"] = site
        paths = dice.sample(
            ["cls/%{base::env}.yaml", "cls/%{m::tier}.yaml", "role/%{role}.yaml", "cls/%{n::params::zone}.yaml",
             "cls/%{::m::sub::env}.yaml", "os/%{facts.os.family}.yaml", "cls/%{o::p0}.yaml"],
            dice.randrange(1, 4),
        )
        levels = "".join(f"  - {{name: l{at}, path: '{path}'}}\n" for at, path in enumerate(paths))
        self.files["hiera.yaml"] = f"version: 5\nhierarchy:\n{levels}  - {{name: common, path: common.yaml}}\n"
        common = {"who": "common", "k1": f"%{{{dice.choice(CLASSES)}::{dice.choice(VARIABLES)}}}-x",
                  "k2": f"%{{{dice.choice(['role', 'zone', 'place'])}}}"}
        if self.chance(60):
            common["classes"] = dice.sample(CLASSES, dice.randrange(1, 3))
        common.update(self.data)
        self.files["data/common.yaml"] = json.dumps(common)
        for folder, values in {"cls": ["prod", "test", "a", "b", "3", ""], "role": ["web", "prod", "a"],
                               "os": ["RedHat", "Debian"]}.items():
            for value in values:
                if self.chance(70):
                    data = {"who": f"{folder} {value}"}
                    if self.chance(15) and self.data:
                        key = dice.choice(list(self.data))
                        data[key] = self.data[key]
                    self.files[f"data/{folder}/{value}.yaml"] = json.dumps(data)
        return self


def answers(command, requests, **environment):
    text = "".join(json.dumps(request) + "\n" for request in requests)
    environment = {**os.environ, **environment}
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def parameter(request, answer):
    """The value of a class's parameter in a catalog, as an answer to its lookup."""
    if "parameters" not in answer:
        return answer
    name, leaf = request["key"].rsplit("::", 1)
    of = answer["parameters"].get(name)
    if of is None:
        return {"absent": True}
    return {"found": True, "value": of.get(leaf)}


def outcome(answer):
    if "oracle_error" in answer:
        raise SystemExit(f"the reference could not take a request: {answer}")
    if "absent" in answer:
        return "absent", ""
    if "no_catalog" in answer:
        return "no catalog", answer["no_catalog"]
    if answer.get("unknown"):
        return "unknown", answer["unknown"]
    if answer.get("found"):
        return "value", json.dumps(answer["value"], sort_keys=True)
    if answer.get("not_found"):
        return "not found", ""
    return "error", answer.get("error", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib8", help="the folder `lib` of OpenVox 8")
    parser.add_argument("program")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    given = parser.parse_args()
    program, seed, count, kept = given.program, given.seed, given.count, given.folder
    version = 8 if given.lib8 else 7
    dice = random.Random(seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="catalogs"))
    requests, roots, marks = [], {}, Counter()
    for at in range(count):
        made = Maker(dice).repository()
        marks.update(made.marks)
        root = folder / f"r{at}"
        roots[at] = root
        for path, text in made.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        facts = {"os": {"family": dice.choice(["RedHat", "Debian"])}, "role": dice.choice(["web", "db"]),
                 "num": dice.choice([2, 5])}
        facts.pop("role") if dice.random() < 0.7 else None
        node = dice.choice(["n1.example.com", "n2.example.com"])
        strict = dice.random() < 0.15
        base = {"environment_dir": str(root), "environment": "production", "modulepath": [str(root / "modules")],
                "node": node, "facts": facts, "trusted": {"certname": node}, "puppet_version": version,
                "strict_variables": strict}
        if version == 8:
            base["strict"] = "error" if strict else "warning"
        for compile in ("lookup", "agent"):
            for key in ("who", "k1", "k2"):
                requests.append({"id": f"{at}-{compile}-{key}", "key": key, "compile": compile, **base})
        for key in made.data:
            if made.is_only_included(key):
                requests.append({"id": f"{at}-{key}", "key": key, "compile": "agent", "facet": "search_and_merge",
                                 "parameter": True, **base})
    for_ours = [{name: value for name, value in request.items() if name != "parameter"} for request in requests]
    ours = answers([program, "lookup", "--batch"], for_ours)
    library = {"RUBYLIB": given.lib8, "RUBYOPT": "-rset"} if given.lib8 else {}
    oracle = ["ruby", str(HERE / "oracle.rb")]
    print("beside Puppet", answers(oracle, [{"hello": True}], **library)[0]["puppet"])
    theirs = answers(oracle, [
        {**request, "compile": "catalog"} if "parameter" in request else request for request in requests
    ], **library)
    theirs = [parameter(request, answer) for request, answer in zip(requests, theirs)]
    totals, words, wrong, others, reasons, refused = Counter(), Counter(), [], [], Counter(), Counter()
    for request, our, their in zip(requests, ours, theirs):
        (we, what), (they, really) = outcome(our), outcome(their)
        totals[f"puppet: {they}"] += 1
        if they == "no catalog":
            refused[re.sub(r"'[^']*'|\\[.*?\\]|\(file.*", "…", really)[:90]] += 1
        if we == "unknown":
            totals["unknown"] += 1
            totals[f"unknown where puppet has: {they}"] += 1
            reasons[what[:70]] += 1
        elif they == "no catalog":
            if we == "error":
                totals["certain and right"] += 1
                inner = really.split(" (file:")[0]
                for prefix in ("Evaluation Error: ", "Error while evaluating a Function Call, ",
                               "Error while evaluating a Resource Statement, ", "Error while evaluating a Method Call, "):
                    inner = inner.replace(prefix, "")
                if inner.strip() not in what and what.split(" (file:")[0] not in really:
                    words[f"{inner[:110]} <> {what[:110]}"] += 1
                    others.append((request, our, their))
            else:
                wrong.append((request, our, their))
        elif they == "absent" or (we == "value" and what == "null"):
            totals["not comparable"] += 1
        elif (we, what) == (they, really) or (we == they == "error"):
            totals["certain and right"] += 1
        else:
            wrong.append((request, our, their))
    print(f"{len(requests)} lookups in {count} repositories, seed {seed}: {dict(totals)}")
    print(f"  reached: {dict(marks)}")
    for why, times in reasons.most_common(12):
        print(f"  unknown {times:>5}: {why}")
    for why, times in refused.most_common(20):
        print(f"  refused {times:>5}: {why}")
    for why, times in words.most_common(12):
        print(f"  other words {times:>4}: {why}")
    for request, our, their in wrong[:8]:
        print(f"  WRONG {request['id']} ({request['node']}, {request['facts']}, strict {request['strict_variables']}):\n    ours   {our}\n    puppet {their}")
        if kept:
            shutil.copytree(request["environment_dir"], kept / request["id"], dirs_exist_ok=True)
            (kept / request["id"] / "request.json").write_text(json.dumps(request))
    for request, *_ in others if kept else []:
        shutil.copytree(request["environment_dir"], kept / "words" / request["id"].split("-")[0], dirs_exist_ok=True)
    print(f"  {len(wrong)} certain and wrong")
    shutil.rmtree(folder)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
