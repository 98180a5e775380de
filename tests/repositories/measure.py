#!/usr/bin/env python3
"""How far hiera-ls answers in checked-out control repositories: a row of Markdown each.

  tests/repositories/measure.py [--server PROGRAM] [--hovers N] NAME=FOLDER…

For each: the hierarchy that is found, the share of data files that a level can read, the share of
random keys whose hover gives a value (asked as an editor asks), and the findings of `check` by
severity. With --declared, what `hiera-ls doctor` offers to declare of custom backends is declared
first, as a user would: in a `.hiera-ls.yaml` that is removed again. Nothing else is written into the
repositories.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time

KEY = re.compile(r"""^(['"]?)[a-z_][\w:]*\1:(\s|$)""")
NO_ANSWER = re.compile(r"no hierarchy reads this file|still being read")
UNKNOWN = re.compile(r"— unknown\b|unknown for every node")


class Server:
    """A server on pipes, and its answers."""

    def __init__(self, program, folder):
        command = [program, "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        parameters = {"processId": None, "rootUri": "file://" + folder, "capabilities": {}}
        self.ask("initialize", parameters)
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def notify(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while True:
            message = self.receive()
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": None})

    def hover(self, path, text, line):
        uri = "file://" + path
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        answer = self.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": 2}})
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        contents = (answer or {}).get("contents") or {}
        return contents.get("value", "") if isinstance(contents, dict) else str(contents)

    def end(self):
        self.ask("shutdown", None)
        self.notify("exit", None)
        self.process.wait()


def run(program, arguments, folder):
    return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True).stdout


def keys(paths, count):
    """Random places of top-level keys, the same in every run."""
    places = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            continue
        lines = [number for number, line in enumerate(text.split("\n")) if KEY.match(line)]
        lines = [number for number in lines if not text.split("\n")[number].startswith("lookup_options")]
        if lines:
            places.append((path, text, lines))
    random.Random(7).shuffle(places)
    return [(path, text, random.Random(path).choice(lines)) for path, text, lines in places[:count]]


def declarations(report):
    """What the doctor offers to declare of functions that it recognises, as settings."""
    declared = {}
    for advice in report["advice"]:
        for line in advice["paste"].splitlines():
            found = re.match(r'\s+([\w:]+): \{like: (\w+)(?:, path: "(.*)")?\}$', line)
            if found:
                name, like, path = found.groups()
                declared[name] = {"like": like, **({"path": path} if path else {})}
    return declared


def data_files(report, folder):
    """All files below the data directories of hierarchies that are not a module's."""
    extensions = (".yaml", ".yml", ".eyaml")
    folders = set()
    for hierarchy in report["hierarchies"]:
        if hierarchy["kind"] != "module":
            folders.update(level["datadir"] for level in hierarchy["levels"] if level["datadir"])
    inside = [base for base in folders if base.startswith(folder)]
    outermost = [base for base in inside if not any(base.startswith(other + "/") for other in inside)]
    for base in sorted(outermost):
        for root, _, files in os.walk(base):
            yield from (os.path.join(root, name) for name in sorted(files) if name.endswith(extensions))


def measure(program, name, folder, hovers, declared):
    folder = os.path.realpath(folder)
    began = time.monotonic()
    report = json.loads(run(program, ["doctor", "--format", "json"], folder))
    took = time.monotonic() - began
    configuration = None
    if declared:
        backends = declarations(report)
        if not backends:
            return
        configuration = os.path.join(folder, ".hiera-ls.yaml")
        if os.path.exists(configuration):
            raise SystemExit(f"{configuration} is there already")
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump({"backends": backends}, file)
    try:
        if declared:
            report = json.loads(run(program, ["doctor", "--format", "json"], folder))
        row(program, name, folder, report, hovers, took)
    finally:
        if configuration:
            os.remove(configuration)


def row(program, name, folder, report, hovers, took):
    files = report["files"]
    server = Server(program, folder)
    places = keys(data_files(report, folder), hovers)
    given = unknown = 0
    silent = []
    for path, text, line in places:
        hover = server.hover(path, text, line)
        if not hover or NO_ANSWER.search(hover):
            silent.append(f"{os.path.relpath(path, folder)}:{line + 1}")
        elif UNKNOWN.search(hover.split("\n")[0]):
            unknown += 1
        else:
            given += 1
    server.end()
    findings = run(program, ["check", "--format", "json"], folder)
    findings = json.loads(findings) if findings.strip() else []
    by_severity = {}
    for finding in findings:
        codes = by_severity.setdefault(finding["severity"], {})
        codes[finding["code"]] = codes.get(finding["code"], 0) + 1
    main = [one for one in report["hierarchies"] if one["kind"] != "module" and one["file"]]
    shown = ", ".join(f"`{os.path.relpath(one['file'], folder)}` ({one['version']})" for one in main[:3])
    reached = f"{files['reached']} of {files['data']}"
    if files["possible"]:
        reached += f", {files['possible']} more by functions that are never run"
    share = f"{given} of {len(places)}" + (f", {unknown} unknown" if unknown else "")
    nodes = report["nodes"]["count"]
    cells = [name, shown or "none", reached, share, str(nodes)]
    for severity in ("error", "warning", "information", "hint"):
        codes = sorted(by_severity.get(severity, {}).items(), key=lambda one: -one[1])
        cells.append(" ".join(f"{code}:{count}" for code, count in codes) or "–")
    print("| " + " | ".join(cells) + " |", flush=True)
    print(f"  doctor {took:.2f} s; silent: {silent[:5]}", flush=True, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="target/debug/hiera-ls")
    parser.add_argument("--hovers", type=int, default=60)
    parser.add_argument("--declared", action="store_true")
    parser.add_argument("repositories", nargs="+", metavar="NAME=FOLDER")
    arguments = parser.parse_args()
    program = os.path.realpath(arguments.server)
    for repository in arguments.repositories:
        name, _, folder = repository.partition("=")
        measure(program, name, folder, arguments.hovers, arguments.declared)


main()
