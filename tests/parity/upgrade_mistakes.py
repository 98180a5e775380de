#!/usr/bin/env python3
"""Records what an upgrade changes in fixtures/acme and in each mistake of fixtures/acme/mistakes, by asking the real
versions, for tests/cli/upgrade_acme_cli.rs.

    tests/parity/upgrade_mistakes.py LIB8 LIB9 > tests/cases/upgrade-acme.jsonl

LIB8 and LIB9 are the folders `lib` of OpenVox 8 and 9; Puppet 7 is the installed one, and OpenVox 9 runs on Ruby 4.0
(`ruby/openvox.py`), but with hiera-eyaml on the installed one with the texts of hashes of 4.0. The first line has the versions and the nodes. Each other line is an environment: its folder in
fixtures/acme, the lines or files that are left out (a mistake that fails every lookup is tried alone), further files, the
keys, and for each pair of versions the changed lookups as [node, key, effect]; all others have the same outcome.

EXTRA has what neither acme nor its mistakes have: the settings that are gone, and legacy facts.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

os.environ["RUBY4"] = "1"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "ruby")]

import openvox  # noqa: E402
import upgrade  # noqa: E402

ACME = HERE / "../../fixtures/acme"
MISTAKES = ACME / "mistakes"
MARK = re.compile(r"(?:#|//)~ [a-z0-9-]+(?: ask \S+)?(?: as \S+)?\s*$")
NODES = ["web01.lon.acme.example", "db01.lon.acme.example"]
HIERARCHY = "version: 5\nhierarchy: [{name: c, paths: ['os/%{osfamily}.yaml', common.yaml]}]\n"
EXTRA = {
    "legacy facts": {
        "hiera.yaml": HIERARCHY,
        "data/os/Debian.yaml": "a: 1\nb: os\n",
        "data/os/RedHat.yaml": "a: 2\n",
        "data/common.yaml": "b: common\nc: '%{::hostname}'\nd: '%{facts.fqdn}'\ne: '%{facts.networking.fqdn}'\n",
    },
    "texts of values": {
        "hiera.yaml": "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n",
        "data/c.yaml": "h: {a: 1, b: [~, x]}\nl: [x, \"\\u0085\", \"\U0001fae8\"]\na: \"%{lookup('h')}\"\nb: \"%{lookup('l')}\"\n"
        "c: \"%{alias('h')}\"\nd: \"%{lookup('l.0')}\"\ne: \"%{lookup('h.b')}\"\nf: 'os: %{facts.os}'\n",
    },
    "environment_data_provider": {
        "environment.conf": "environment_data_provider = none\n",
        "hiera.yaml": "version: 4\nhierarchy: [{name: common, backend: yaml}]\n",
        "data/common.yaml": "a: 1\n",
    },
}


def environments():
    """The folders of environments with the marked lines that stay: all of them, or one of those that fail every lookup."""
    yield "", None
    for folder in ("values", "classes"):
        yield f"mistakes/{folder}", None
    for folder in sorted(MISTAKES.glob("configuration/*")) + [MISTAKES / "options", MISTAKES / "unreadable"]:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            for number, line in enumerate(file.read_text().split("\n")):
                if MARK.search(line):
                    yield str(folder.relative_to(ACME)), (file, number)


def kept_files(folder, only):
    """The texts of an environment, with one marked line alone."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if "mistakes" in file.relative_to(folder).parts:
            continue
        try:
            lines = file.read_text().split("\n")
        except UnicodeDecodeError:
            continue
        if only and any(MARK.search(line) for line in lines):
            if file != only[0]:
                continue
            lines = [line for at, line in enumerate(lines) if at == only[1] or not MARK.search(line)]
        yield str(file.relative_to(folder)), "\n".join(lines)


def keys_of(files):
    keys = set()
    for name, text in files.items():
        if name.endswith((".yaml", ".json")) and "data/" in name:
            keys.update(re.findall(r"^[\"' ]*([a-z0-9_]+(?:::[a-z0-9_]+)*)[\"']?:(?: |$)", text, re.M))
    return sorted(keys - {"lookup_options"})


def recorded(cases, nodes, libs):
    """The outcomes of each case in each version."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for at, (_, files, _) in enumerate(cases):
            for name, text in files.items():
                path = folder / str(at) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        requests = {
            version: [
                request
                for at, (_, _, keys) in enumerate(cases)
                for request in upgrade.requests_of(version, str(folder / str(at)), nodes, keys)
            ]
            for version in (7, 8, 9)
        }
        answers, versions = {}, {}
        for version, lib in ((7, None), (8, libs[0])):
            process = upgrade.oracle(lib, [])
            versions[version] = upgrade.ask(process, {"hello": True})["puppet"]
            answers[version] = [upgrade.ask(process, request) for request in requests[version]]
        # hiera-eyaml needs OpenSSL, which Ruby 4.0 does not have here.
        uses_eyaml = [any("eyaml" in text for name, text in files.items() if name.endswith("hiera.yaml")) for _, files, _ in cases]
        asks_eyaml = [uses for uses in uses_eyaml for _ in nodes]
        on_4_0 = [request for request, uses in zip(requests[9], asks_eyaml) if not uses]
        found, versions[9] = openvox.answers(libs[1], folder, on_4_0)
        with tempfile.NamedTemporaryFile("w", suffix=".rb") as preload:
            preload.write(upgrade.INSPECT)
            preload.flush()
            process = upgrade.oracle(libs[1], [preload.name])
            upgrade.ask(process, {"hello": True})
            found = iter(found)
            answers[9] = [
                upgrade.ask(process, request) if uses else next(found) for request, uses in zip(requests[9], asks_eyaml)
            ]
        return answers, versions


def main():
    all_nodes = json.loads((ACME / "nodes.json").read_text())
    nodes = {name: all_nodes[name] for name in NODES}
    for node, family in zip(nodes.values(), ("Debian", "RedHat")):
        node["facts"].update(osfamily=family, fqdn="host.acme.example")
    cases = []
    for folder, only in environments():
        files = dict(kept_files(ACME / folder, only))
        if folder.startswith("mistakes/configuration"):
            files.setdefault("data/common.yaml", "key: 1\n")
        line = f":{only[1] + 1}" if only else ""
        name = f"{folder or 'acme'}{'/' + str(only[0].relative_to(ACME / folder)) if only else ''}{line}"
        cases.append((name, files, keys_of(files) or ["key"]))
    cases += [(name, files, keys_of(files)) for name, files in EXTRA.items()]
    answers, versions = recorded(cases, nodes, sys.argv[1:3])
    print(json.dumps({"versions": versions, "nodes": nodes}))
    for at, (name, files, keys) in enumerate(cases):
        found = {
            version: upgrade.outcomes(answers[version][at * len(nodes) : (at + 1) * len(nodes)], nodes, keys)
            for version in (7, 8, 9)
        }
        changes = {}
        for old, new in ((7, 8), (8, 9), (7, 9)):
            pairs = ((pair, upgrade.effect(before, found[new][pair])) for pair, before in found[old].items())
            changes[f"{old} to {new}"] = [[*pair, effect] for pair, effect in pairs if effect]
        print(json.dumps({"name": name, "files": files, "keys": keys, "changes": changes}, ensure_ascii=False))


main()
