#!/usr/bin/env python3
"""Compares `hiera-ls upgrade` with the real versions of Puppet.

    tests/parity/upgrade.py PROGRAM WORKSPACE NODES.json LIB8 LIB9 [MOST_NODES [MOST_KEYS]]

LIB8 and LIB9 are the folders `lib` of OpenVox 8 and 9; Puppet 7 is the installed one. Each key of the
data is looked up for each node in the three versions, as `oracle.rb` does it, with the node's facts and,
from 8 on, without legacy ones. The real change between two versions is then held against the one that
the program predicts, for every pair of a node and a key: what fails, what has another value. Pairs that the program says
to be unknown, since facts are missing, are counted apart.

Then `upgrade --fix` edits a copy of the workspace, and Puppet 7 must give each node the same as before.

WORKSPACE is the folder of one environment, with data directories inside of it: real Puppet knows no other
place for them.

OpenVox 9 runs on the installed Ruby, with the texts of hashes of Ruby 3.4 (see INSPECT); with RUBY4=1 it runs on Ruby
4.0 itself (`ruby/openvox.py`), which takes ten times as long.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "ruby"))

import openvox  # noqa: E402

# `Hash#inspect` as Ruby 3.4 and 4.0 have it.
INSPECT = r"""
class Hash
  def inspect
    return '{}' if empty?
    pairs = map do |key, value|
      next "#{key.inspect} => #{value.inspect}" unless key.is_a?(Symbol)
      name = key.inspect[1..]
      bare = name.match?(/\A[[:alpha:]_][[:alnum:]_]*[?!]?\z/)
      "#{bare || name.start_with?('"') ? name : name.inspect}: #{value.inspect}"
    end
    "{#{pairs.join(', ')}}"
  end
  alias to_s inspect
end
"""


def oracle(lib, preload):
    environment = dict(os.environ)
    if lib:
        environment["RUBYLIB"] = lib
        environment["RUBYOPT"] = " ".join(["-rset"] + [f"-r{file}" for file in preload])
    return subprocess.Popen(
        ["ruby", str(HERE / "oracle.rb")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )


def ask(process, request):
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def legacy_names():
    """The names of Facter's legacy facts, from the table in the source."""
    names = set()
    for line in (HERE / "../../src/scope/legacy.rs").read_text().splitlines():
        if line.strip().startswith('("'):
            names.add(line.split('"')[1])
    return names


def outcome(answer):
    if answer.get("found"):
        return ("value", json.dumps(answer.get("value"), sort_keys=False))
    return ("missing",) if "did not find a value" in answer.get("error", "") else ("failure",)


def effect(before, after):
    if before == after:
        return None
    if after[0] == "failure":
        return "fails"
    if before[0] == "failure":
        return "works"
    if after[0] == "missing":
        return "lost"
    return "changes"


def predicted(program, workspace, nodes, versions):
    command = [program, "upgrade", "--workspace", workspace, "--nodes", nodes, "--format", "json"]
    for flag, version in zip(("--from", "--to"), versions):
        command += [flag, str(version)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1, 3):
        sys.exit(f"{command}: {run.returncode}\n{run.stderr}")
    found = {}
    answer = json.loads(run.stdout)
    for cause in answer["causes"]:
        for change in cause["changes"]:
            # What calls in code look up is not what the key alone has; warnings and advice change no value.
            if "merge" in change or change["effect"] in ("warns", "deprecated"):
                continue
            for node in change["nodes"]:
                found[node, change["key"]] = change["effect"]
    return found, set(answer["undecidedKeys"])


def requests_of(version, workspace, nodes, keys):
    """A request for each node; from 8 on without legacy facts."""
    legacy = legacy_names() if version >= 8 else set()
    for name, node in nodes.items():
        facts = {fact: value for fact, value in node.get("facts", {}).items() if fact not in legacy}
        request = {
            "id": name, "node": name, "environment": "production", "environment_dir": workspace,
            "global_hiera_yaml": None, "puppet_version": version, "facts": facts, "keys": keys,
        }
        for field in ("trusted", "variables"):
            if field in node:
                request[field] = node[field]
        yield request


def looked_up(process, version, workspace, nodes, keys):
    """What a real Puppet gives each node for each key."""
    answers = (ask(process, request) for request in requests_of(version, workspace, nodes, keys))
    return outcomes(answers, nodes, keys)


def outcomes(answers, nodes, keys):
    found = {}
    for name, all_of_node in zip(nodes, answers):
        for key, answer in zip(keys, all_of_node["answers"]):
            found[name, key] = outcome(answer)
    return found


def real_outcomes(workspace, nodes, keys, lib8, lib9):
    """What the real versions give each node for each key, by version."""
    with tempfile.NamedTemporaryFile("w", suffix=".rb", delete=False) as preload:
        preload.write(INSPECT)
    oracles = {7: oracle(None, []), 8: oracle(lib8, []), 9: oracle(lib9, [preload.name])}
    real = {}
    for version, process in oracles.items():
        if version == 9 and os.environ.get("RUBY4"):
            asked = list(requests_of(9, workspace, nodes, keys))
            answers, versions = openvox.answers(lib9, workspace, asked)
            print(9, versions)
            real[9] = outcomes(answers, nodes, keys)
        else:
            print(version, ask(process, {"hello": True})["puppet"])
            real[version] = looked_up(process, version, workspace, nodes, keys)
        process.stdin.close()
    os.unlink(preload.name)
    return real


def fixed(program, workspace, nodes_file, nodes, keys, before):
    """How many lookups have another value in Puppet 7 after `upgrade --fix`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = str(pathlib.Path(folder) / "workspace")
        shutil.copytree(workspace, copy, symlinks=True)
        command = [program, "upgrade", "--workspace", copy, "--nodes", nodes_file, "--fix", "--format", "json"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode not in (0, 1, 3):
            sys.exit(f"{command}: {run.returncode}\n{run.stderr}")
        fixes = json.loads(run.stdout)["fixes"]
        process = oracle(None, [])
        ask(process, {"hello": True})
        after = looked_up(process, 7, copy, nodes, keys)
    different = [pair for pair, outcome in before.items() if after[pair] != outcome]
    for pair in different[:20]:
        print("CHANGED BY --fix", pair, before[pair], after[pair])
    print(
        f"--fix: {fixes['edits']} edits, {len(fixes['refused'])} refused; {len(before)} lookups in Puppet 7 compared, "
        f"{len(different)} changed"
    )
    return len(different)


def main():
    program, workspace, nodes_file, lib8, lib9 = sys.argv[1:6]
    most = int(sys.argv[6]) if len(sys.argv) > 6 else 20
    nodes = json.loads(pathlib.Path(nodes_file).read_text())
    names = list(nodes)[:most]
    matrix = [program, "matrix", "--workspace", workspace, "--nodes", nodes_file, "--all-keys", "--format", "json-lines"]
    rows = subprocess.run(matrix, capture_output=True, text=True, check=True).stdout.splitlines()
    keys = [json.loads(row)["key"] for row in rows]
    if len(sys.argv) > 7:
        # Evenly over the sorted keys.
        keys = keys[:: max(1, len(keys) // int(sys.argv[7]))]
    chosen = {name: nodes[name] for name in names}
    real = real_outcomes(workspace, chosen, keys, lib8, lib9)
    wrong = 0
    for versions in ((7, 8), (8, 9), (7, 9)):
        ours, undecided = predicted(program, workspace, nodes_file, versions)
        counts = {}
        for pair, before in real[versions[0]].items():
            truth = effect(before, real[versions[1]][pair])
            # Real Puppet takes these nodes' facts for all that there are.
            is_unknown = pair not in ours and pair[1] in undecided
            counted = "said to be unknown" if is_unknown else truth
            counts[counted] = counts.get(counted, 0) + 1
            if ours.get(pair) != truth and not is_unknown:
                wrong += 1
                if wrong <= 20:
                    print("DIFFERENT", versions, pair, "real", truth, "ours", ours.get(pair))
        print(f"{versions[0]} to {versions[1]}: {sum(counts.values())} compared: {counts}")
    wrong += fixed(program, workspace, nodes_file, chosen, keys, real[7])
    print(f"{wrong} different")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
