#!/usr/bin/env python3
"""Records the cases in which OpenVox 9 answers otherwise than OpenVox 8, on standard output.

    tests/parity/openvox9_cases.py LIB8 LIB9 > tests/cases/openvox-9.0-differences.jsonl

LIB8 and LIB9 are the folders `lib` of both, run on the installed Ruby by `oracle.rb`: what its version changes
(see docs/upgrade.md) is not in this file. All stored cases are asked with the defaults of version 8, and those
below, which are about what was removed.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "../cases"
ROOT = "@@ROOT@@"
LINK = "@@LINK@@"
ADDRESS = re.compile("0x[0-9a-f]{16}")


def own_cases():
    """Every provider of `environment.conf` with every kind of `hiera.yaml`."""
    configs = {
        "no hiera.yaml": {},
        "version 3": {"env/hiera.yaml": ":backends: [yaml]\n:hierarchy: [common]\n"},
        "version 4": {"env/hiera.yaml": "version: 4\nhierarchy: [{name: common, backend: yaml}]\n"},
        "version 5": {"env/hiera.yaml": "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n"},
    }
    for provider in ("none", "hiera", "function", "nosuch"):
        for name, files in configs.items():
            files = {
                "env/environment.conf": f"environment_data_provider = {provider}\n",
                "env/data/common.yaml": "a: 1\n",
                **files,
            }
            yield {
                "id": f"nine-{provider}-{name.replace(' ', '-')}",
                "desc": f"environment_data_provider = {provider}, {name}",
                "files": files,
                "request": {"node": "n", "environment": "production", "facts": {}, "key": "a"},
            }
    for where, files in (
        ("a level", "version: 5\nhierarchy: [{name: c, path: c.yaml, options: {path: x}}]\n"),
        ("defaults", "version: 5\ndefaults: {options: {path: x}}\nhierarchy: [{name: c, path: c.yaml}]\n"),
    ):
        yield {
            "id": f"nine-reserved-{where.replace(' ', '-')}",
            "desc": f"a reserved option in {where}",
            "files": {"env/hiera.yaml": files},
            "request": {"node": "n", "environment": "production", "facts": {}, "key": "a"},
        }


def answers(lib, version, cases, folder):
    environment = dict(os.environ, RUBYLIB=lib, RUBYOPT="-rset")
    process = subprocess.Popen(
        ["ruby", str(HERE / "oracle.rb")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )

    def ask(request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    print(ask({"hello": True})["puppet"], file=sys.stderr)
    for case in cases:
        root = folder / case["id"]
        request = json.loads(json.dumps(case["request"]).replace(ROOT, str(root)))
        for name in ("strict", "strict_variables"):
            request.pop(name, None)
        has_global = "global/hiera.yaml" in case["files"]
        request.update(
            id=case["id"], puppet_version=version, environment_dir=str(root / "env"),
            global_hiera_yaml=str(root / "global/hiera.yaml") if has_global else None,
        )
        answer = ask(request)
        answer.pop("id")
        yield json.loads(json.dumps(answer).replace(str(root), ROOT))


def main():
    cases = {case["id"]: case for case in own_cases()}
    for file in ("puppet-7.23.jsonl", "own-7.23.jsonl", "openvox-8.28-differences.jsonl"):
        for line in (CASES / file).read_text().split("\n"):
            if line:
                case = json.loads(line)
                # With a plan or a compiled manifest other things count.
                if "compile" not in case["request"] and "keys" not in case["request"]:
                    cases.setdefault(case["id"], case)
    cases = list(cases.values())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in cases:
            for path, text in case["files"].items():
                at = folder / case["id"] / path
                at.parent.mkdir(parents=True, exist_ok=True)
                if text.startswith(LINK):
                    at.symlink_to(text[len(LINK):])
                else:
                    at.write_bytes(text.replace(ROOT, str(folder / case["id"])).encode())
            (folder / case["id"] / "env").mkdir(parents=True, exist_ok=True)
        both = [list(answers(lib, version, cases, folder)) for lib, version in zip(sys.argv[1:3], (8, 9))]
    count = 0
    for case, eight, nine in zip(cases, *both):
        # Ruby shows objects with their addresses.
        if ADDRESS.sub("", json.dumps(eight)) != ADDRESS.sub("", json.dumps(nine)):
            count += 1
            request = {name: value for name, value in case["request"].items() if not name.startswith("strict")}
            request["puppet_version"] = 9
            kept = {"id": f"{case['id']}-9", "desc": case["desc"], "files": case["files"], "request": request, "expected": nine}
            print(json.dumps(kept))
    print(f"{len(cases)} cases asked, {count} differ", file=sys.stderr)


main()
