#!/usr/bin/env python3
"""Holds the matrix of a checked-out control repository against real Puppet, key by key and node by node.

  tests/repositories/confirm.py [--server PROGRAM] --hierarchy FILE [--map FROM=TO]… --nodes FILE FOLDER

hiera-ls reads FOLDER as it is checked out, with the hierarchy that it finds. Puppet gets a copy in
which the hierarchy is deployed: FILE stands at the top as hiera.yaml, and the folders of the server
that it names (FROM) are those of the copy (TO). A hierarchy of version 3 is the global layer.
Answers that hiera-ls calls unknown are counted, and held against Puppet where it names the value
that counts unless something is there that cannot be seen.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ORACLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../parity/oracle.rb")


def deploy(folder, hierarchy, mapped, at):
    """The copy that Puppet reads; the request's fields that name it."""
    copy = os.path.join(at, "environments", "production")
    shutil.copytree(folder, copy, symlinks=True)
    with open(os.path.join(folder, hierarchy), encoding="utf-8") as file:
        text = file.read()
    for pair in mapped:
        deployed, _, here = pair.partition("=")
        text = text.replace(deployed, os.path.normpath(os.path.join(copy, here)))
    is_global = re.search(r"^version: *[45]", text, re.M) is None
    place = os.path.join(at if is_global else copy, "hiera.yaml")
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)
    if is_global and os.path.exists(os.path.join(copy, "hiera.yaml")):
        os.remove(os.path.join(copy, "hiera.yaml"))
    return {"environment_dir": copy, **({"global_hiera_yaml": place} if is_global else {})}


def answers_of_puppet(deployed, nodes, keys):
    """By node, the answers to all keys in their order."""
    requests = []
    for number, (name, known) in enumerate(nodes.items()):
        request = {
            "id": number,
            "environment": "production",
            "node": name,
            "facts": known.get("facts", {}),
            "variables": known.get("variables", {}),
            "keys": keys,
            "strict": "error",
            "strict_variables": True,
            "puppet_version": 8,
            **deployed,
        }
        requests.append(json.dumps(request))
    ran = subprocess.run(["ruby", "-W0", ORACLE], input="\n".join(requests) + "\n", capture_output=True, text=True, check=True)
    return {name: json.loads(line)["answers"] for name, line in zip(nodes, ran.stdout.splitlines())}


def answers_of_hiera_ls(program, folder, nodes_file):
    """By key, by node: the answer as the matrix has it."""
    command = [program, "matrix", "--all-keys", "--format", "json-lines", "--workspace", folder, "--nodes", nodes_file]
    ran = subprocess.run(command, capture_output=True, text=True)
    found = {}
    for line in ran.stdout.splitlines():
        row = json.loads(line)
        found[row["key"]] = {node: answer for answer in row["answers"] for node in answer["nodes"]}
    return found


def outcome(answer):
    """What both sides say of a key, in one form."""
    if answer.get("found"):
        return json.dumps(answer["value"], sort_keys=True)
    return "not found" if answer.get("not_found") else "error"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="target/debug/hiera-ls")
    parser.add_argument("--hierarchy", required=True)
    parser.add_argument("--map", action="append", default=[], metavar="FROM=TO")
    parser.add_argument("--nodes", required=True)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    folder = os.path.realpath(arguments.folder)
    with open(arguments.nodes, encoding="utf-8") as file:
        nodes = json.load(file)
    ours = answers_of_hiera_ls(os.path.realpath(arguments.server), folder, arguments.nodes)
    keys = sorted(ours)
    counts = {"equal": 0, "unknown, and the possible value is Puppet's": 0, "unknown": 0, "different": 0}
    with tempfile.TemporaryDirectory() as at:
        deployed = deploy(folder, arguments.hierarchy, arguments.map, at)
        puppet = answers_of_puppet(deployed, nodes, keys)
    for name in nodes:
        for key, theirs in zip(keys, puppet[name]):
            answer = ours[key].get(name)
            our_text, truth = ours_in_words(answer), outcome(theirs)
            if our_text == truth:
                kind = "equal"
            elif our_text.startswith("unknown"):
                possible = our_text == f"unknown: {truth}"
                kind = "unknown, and the possible value is Puppet's" if possible else "unknown"
            else:
                kind = "different"
                print(f"{name} {key}: hiera-ls {our_text[:200]}, Puppet {truth[:200]} {theirs.get('error', '')}")
            counts[kind] += 1
    print(f"{len(keys)} keys, {len(nodes)} nodes: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["different"] else 0


def ours_in_words(answer):
    if answer is None:
        return "not found"
    if answer["found"] is None:
        possible = json.dumps(answer["possible"], sort_keys=True) if "possible" in answer else "not found"
        return f"unknown: {possible}"
    text = json.dumps(answer["value"], sort_keys=True) if answer["found"] else "error"
    if "did not find a value for the name" in answer.get("error", ""):
        text = "not found"
    return f"unknown: {text}" if answer.get("certain") is False else text


sys.exit(main())
