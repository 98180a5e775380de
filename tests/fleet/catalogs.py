#!/usr/bin/python3
"""Compares answers for keys of three control repositories: in catalogs that a real Puppet Server compiles, by
`puppet lookup --node` over PuppetDB, and by `hiera-ls matrix` with imported nodes. Run by tests/fleet/run."""
import collections, json, os, re, shutil, subprocess, sys, time

import deploy
from fleet import *

code = f"{fleet}/code"
environments = f"{code}/environments"
NONE = "~none~"
began = time.time()


def stage(text):
    print(f"--- {text} ({time.time() - began:.0f} s)", flush=True)


# --- The repositories.
deploy.acme(f"{environments}/production", False)
deploy.acme(f"{environments}/staging", True)
corpus = os.path.isdir(deploy.CORPUS)
classes_of_lsst = deploy.lsst(f"{environments}/lsst") if corpus else {}
if not corpus:
    print(f"SKIPPED: {deploy.CORPUS} is not here: only fixtures/acme is compared")
names = ["production", "staging"] + (["lsst"] if corpus else [])

# --- The nodes: name -> the environment that is asked for, facts, trusted data. A classifier has the rest.
nodes, classified = {}, {}


def add(name, environment, facts, trusted, variables, assigned=None):
    nodes[name] = (environment, facts, trusted)
    classified[name] = {"classes": {}, "parameters": variables, "environment": assigned or environment}


def variables_of(at, role):
    found = {"owner": {"team": ["infra", "apps"][at % 2]}, "shard": at % 5, "pci": at % 3 == 0, "ratio": at + 0.5, "nothing": None}
    return dict(found, role=role) if role else found


acme = json.load(open("fixtures/acme/nodes.json"))
for at, (name, node) in enumerate(acme.items()):
    trusted = dict(trusted_of(name, {}), **node["trusted"])
    add(name, "production", node["facts"], trusted, variables_of(at, node["variables"]["role"]), "staging" if at % 4 == 3 else None)
sets = real_facts()
for at in range(120):
    name = f"n{at:03}.{'lon' if at % 2 else 'nyc'}.acme.example"
    facts = dict(sets[at % len(sets)], big=12345678901234567890, float=0.1 + at, flag=at % 3 == 0, list=["a", at], unicode="žluť ✓", null=None,
                 deep={"a": {"b": [at]}}, site="lon" if at % 2 else "nyc", clientcert=name, **{"dotted.name": f"d{at}"})
    if at % 5 == 0:
        facts.update(osfamily=facts["os"]["family"], fqdn=name)
    extensions = {"1.3.6.1.4.1.34380.1.2.1": "blue"} if at % 4 == 0 else {"pp_role": ["web", "db", "none"][at % 3]}
    role = {"Debian": "web", "RedHat": "db"}.get(facts["os"]["family"])
    add(name, ["production", "staging"][at // 3 % 2], facts, trusted_of(name, extensions), variables_of(at, role), "staging" if at % 10 == 0 else None)
if corpus:
    base = json.load(open("../shared/corpora/facts/facterdb/4.4_almalinux-9-x86_64.json"))
    for at, (name, node) in enumerate(json.load(open(f"{deploy.CORPUS}/nodes.json")).items()):
        facts = dict(base, **dict(node["facts"], networking=dict(base["networking"], **node["facts"]["networking"])))
        add(name, "lsst", facts, dict(trusted_of(name, {}), **node["trusted"]), node["variables"])

# --- Agents of this machine, each with a certificate of its own.
agents = {
    "agent1.acme.example": ("production", {"pp_role": "web", "1.3.6.1.4.1.34380.1.2.1": "blue"}, "web", None),
    "agent2.acme.example": ("production", {"pp_role": "db", "pp_environment": "test"}, "db", "staging"),
    "agent3.acme.example": ("staging", {}, None, None),
}
for at, (name, (environment, _, role, assigned)) in enumerate(agents.items()):
    classified[name] = {"classes": {}, "parameters": variables_of(at, role), "environment": assigned or environment}
for name, output in classified.items():
    deploy.write(f"{fleet}/enc/{name}.yaml", json.dumps(output))
environment_of = {name: output["environment"] for name, output in classified.items()}
for folder, folders, _ in os.walk(code):
    os.chmod(folder, 0o755)


def import_nodes(workspace, *more):
    run("nodes", "import", "--confdir", confdir, "--puppetdb", tls, "--workspace", workspace, *more, f"{fleet}/enc")


def matrix(workspace, environment, *more):
    """(key, node) -> an answer."""
    lines = run("matrix", "--all-keys", "--format", "json-lines", "--puppet-version", "7", "--workspace", workspace, "--environment", environment, *more).stdout
    found = {}
    for line in lines.splitlines():
        row = json.loads(line)
        for answer in row["answers"]:
            for node in answer["nodes"]:
                found[row["key"], node] = answer
    return found


# --- Which keys there are: every catalog shows the value of each.
stage("facts")
os.makedirs(work, exist_ok=True)
known = {row["certname"] for row in query("inventory[certname] {}")}
for name, (environment, facts, trusted) in nodes.items():
    send(name, environment, facts, trusted)
wait_for(len(known | nodes.keys()))
stage("keys")
import_nodes(code)
keys = {}
for name in names:
    keys[name] = {key for key, _ in matrix(code, name)} - {"lookup_options", deploy.NEVER_READ}
    deploy.look_up(f"{environments}/{name}", keys[name])
    print(f"{name}: {len(keys[name])} keys")

# --- Catalogs.
stage("catalogs")
limit = int(os.environ.get("CATALOGS", "0"))
of_lsst = [name for name in nodes if environment_of[name] == "lsst"][::8]
chosen = [name for name in nodes if environment_of[name] != "lsst"][: limit or None] + of_lsst[: limit or None]
catalogs, refused = {}, {}


def compile_all(names):
    for name in names:
        environment, facts, trusted = nodes[name]
        found = catalog(name, environment, facts, trusted)
        if isinstance(found, str):
            refused[name] = found
        else:
            catalogs[name] = found


compile_all(chosen)
print(f"{len(catalogs)} catalogs, {len(refused)} refused")
for text, count in collections.Counter(text[:400] for text in refused.values()).most_common(5):
    print(f"  refused {count}: {text}")

stage("agents")
for name, (environment, extensions, _, _) in agents.items():
    folder = f"{fleet}/agents/{name}"
    deploy.write(f"{folder}/puppet/csr_attributes.yaml", json.dumps({"extension_requests": extensions}))
    words = ["puppet", "agent", "--onetime", "--no-daemonize", "--tags", "seen", "--no-pluginsync", "--verbose", "--confdir", f"{folder}/puppet", "--vardir", f"{folder}/var",
             "--ssldir", f"{folder}/ssl", "--rundir", f"{folder}/run", "--certname", name, "--server", "localhost", "--serverport", server.rsplit(":", 1)[1],
             "--environment", environment, "--waitforcert", "0"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env={**os.environ, "FACTER_site": "lon"})
    path = f"{folder}/var/client_data/catalog/{name}.json"
    check(f"agent {name} ran", os.path.exists(path), (done.stdout + done.stderr)[-2000:])
    if os.path.exists(path):
        catalogs[name] = json.load(open(path))
for name, found in catalogs.items():
    if found["environment"] != environment_of[name]:
        check(f"{name} is in {environment_of[name]}", False, found["environment"])


# --- Comparisons.
def text_of(value):
    """Hashes with another order are equal, to Puppet and in a matrix, which shows one of the orders. Orders differ on
    this server for a glob: JRuby up to 9.3 lists its files as the folder has them, and Ruby from 3.0 on by name."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def values_of(found):
    """What a catalog says of keys: the values of parameters of classes, those of looked-up keys, and its classes."""
    parameters, looked_up, classes = {}, {}, set()
    for resource in found["resources"]:
        given = resource.get("parameters", {})
        name = resource["title"].lower()
        if resource["type"] == "Seen::Value":
            looked_up[resource["title"]] = given.get("value")
        elif resource["type"] == "Class":
            classes.add(name)
            parameters.update((f"{name}::{parameter}", value) for parameter, value in given.items())
    return parameters, looked_up, classes


values = {name: values_of(found) for name, found in catalogs.items()}
# A parameter without a value is left out of a catalog: others tell which there are.
of_classes = {key for parameters, _, _ in values.values() for key in parameters}


def is_certain(answer):
    return answer["found"] is not None and answer.get("certain") is not False


def compare(what, names, own, environment):
    """Compares the answers of hiera-ls for nodes with their catalogs."""
    counts, differing, reasons = collections.Counter(), [], collections.Counter()
    for name in sorted(names):
        parameters, looked_up, classes = values[name]
        for key in sorted(keys[environment]):
            answer = own.get((key, name))
            if answer is None:
                counts["no answer"] += 1
                differing.append((name, key, "hiera-ls has no answer"))
                continue
            if not is_certain(answer):
                counts["unknown"] += 1
                reasons[str(answer.get("unknown") or answer.get("unless"))[:100]] += 1
                continue
            reals = [("lookups", looked_up[key])]
            if key.rpartition("::")[0] in classes and key in of_classes and answer["found"]:
                reals.append(("parameters", parameters.get(key)))
            for kind, real in reals:
                expected = answer["value"] if answer["found"] else NONE
                is_same = text_of(real) == text_of(expected)
                counts[f"{kind} the same" if is_same else "different"] += 1
                if not is_same:
                    differing.append((name, key, kind, real, expected))
    print(f"{what}: {len(names)} catalogs, {dict(counts)}")
    for reason, count in reasons.most_common(8):
        print(f"  unknown {count}: {reason}")
    for one in differing[:12]:
        print("  different:", str(one)[:400])
    if differing:
        print("  different keys:", collections.Counter(one[1] for one in differing).most_common(40))
    same = counts["lookups the same"] + counts["parameters the same"]
    check(f"{what}: {same} values as in {len(names)} catalogs, {counts['different']} different", not differing and same > 0)


def in_environment(environment):
    return [name for name in catalogs if environment_of[name] == environment]


stage("hiera-ls and catalogs")
import_nodes(code)
answers = {}
for name in names:
    answers[name] = matrix(code, name)
    compare(f"environment {name}", in_environment(name), answers[name], name)

# --- What catalogs looked up.
stage("catalog-inputs")
recorded = collections.Counter()
rows = endpoint("catalog-inputs")
for row in rows:
    looked_up = {re.split(r"\.", key)[0] for kind, key in row["inputs"] if kind == "hiera"}
    recorded.update((environment_of[row["certname"]], key) for key in looked_up)
imported = json.load(open(f"{code}/nodes.json"))["hiera-ls/import"]["lookups"]
own = {(environment, key): reads[0] for environment, catalogs_of in imported.items() for key, reads in catalogs_of["keys"].items()}
check(f"{len(own)} keys with the number of catalogs that looked them up, of {len(rows)} catalogs", own == dict(recorded), sorted(own.items() ^ recorded.items())[:10])
check(f"{len(catalogs)} compiled catalogs are in the record", {row["certname"] for row in rows} >= catalogs.keys())
found = subprocess.run([program, "check", "--select", "never-looked-up", "--format", "json", code], capture_output=True, text=True)
reported = {(os.path.relpath(one["path"], environments).split("/")[0], one["message"]) for one in json.loads(found.stdout)}
expected = [name for name in ("production", "staging")]
check(f"never read: {sorted(reported)}", sorted(name for name, message in reported if deploy.NEVER_READ in message) == expected and len(reported) == 2, found.stderr)
line = next(at for at, text in enumerate(open(f"{environments}/production/data/common.yaml"), 1) if text.startswith("profile::web::port:"))
hover = run("hover", f"{environments}/production/data/common.yaml:{line}", "--workspace", code).stdout
words = f"read by {recorded['production', 'profile::web::port']} nodes, last on {time.strftime('%Y-%m-%d', time.gmtime())}"
check(f"a hover says: {words}", words in hover, hover)

# A workspace that is one environment: with nodes of another one among the known nodes.
checkout = f"{work}/checkout"
shutil.copytree(f"{environments}/production", checkout, dirs_exist_ok=True)
import_nodes(checkout)
compare("a checkout of production", in_environment("production"), matrix(checkout, "production"), "production")
# The nodes of staging read these files once they are deployed there, as after a merge.
shutil.rmtree(f"{environments}/staging")
shutil.copytree(f"{environments}/production", f"{environments}/staging")
merged = [name for name in in_environment("staging") if name in nodes][:4]
stage("catalogs after a merge")
compile_all(merged)
values.update({name: values_of(catalogs[name]) for name in merged})
compare("nodes of staging in a checkout of production", merged, matrix(checkout, "production"), "production")
shutil.rmtree(f"{environments}/staging")
deploy.acme(f"{environments}/staging", True)
deploy.look_up(f"{environments}/staging", keys["staging"])

# --- The commands of docs/nodes.md, as they stand there, in a checkout.
stage("docs/nodes.md")
page = open("docs/nodes.md").read()
five_minutes = page[page.index("## A fleet in five minutes"):]
shims = f"{work}/bin"
deploy.write(f"{shims}/puppet", f'#!/bin/sh\nexec /usr/bin/puppet "$@" --confdir "{confdir}"\n')
deploy.write(f"{shims}/hiera-ls", f'#!/bin/sh\nexec "{program}" "$@"\n')
for name in os.listdir(shims):
    os.chmod(f"{shims}/{name}", 0o755)
home = f"{work}/home"
shutil.copytree(f"{environments}/production", f"{home}/control-repo")
# The agent's certificate is where the agent of a user has it.
os.makedirs(f"{home}/.puppetlabs/etc")
os.symlink(confdir, f"{home}/.puppetlabs/etc/puppet")
typed = re.findall(r"^\$ (.*)$", five_minutes, re.M)
saved = re.findall(r"^```sh\n(.*?)^```", five_minutes, re.M | re.S)
commands = [*typed[:4], saved[1], *typed[4:], saved[0], "hiera-ls nodes import inventory.json -o other.json"]
shell = {**os.environ, "HOME": home, "PATH": f"{shims}:{os.environ['PATH']}"}
at = home
for command in commands:
    command = command.replace("https://puppetdb.example.com:8081", tls)
    done = subprocess.run(["bash", "-c", f"set -e; {command}\npwd > {work}/pwd"], capture_output=True, text=True, cwd=at, env=shell)
    at = open(f"{work}/pwd").read().strip() if done.returncode == 0 else at
    said = (done.stdout + done.stderr).strip().splitlines()
    print(f"  $ {command.strip()}\n    " + "\n    ".join(line[:160] for line in said[:6]))
    check(f"docs/nodes.md: {command.strip().splitlines()[0][:60]}", done.returncode == 0, done.stderr[-500:])
check(f"{len(commands)} commands of the page", len(commands) >= 8, commands)

# --- `puppet lookup --node` with the facts of PuppetDB.
stage("puppet lookup")
# What the command does not have, and a catalog has: `puppet lookup` of version 7 has no server facts, and the
# facts that it gets from PuppetDB contain the trusted data.
NOT_IN_LOOKUPS = re.compile(r"^seen::its_(server_|top_server|of_server|at_server|trusted_fact|agent_environment|level)")


def lookup(name, environment, *flags):
    words = ["ruby", os.path.join(os.path.dirname(os.path.abspath(__file__)), "lookups.rb"), "--node", name, "--environment", environment,
             "--render-as", "json", "--confdir", confdir, *flags]
    given = "".join(f"{key}\n" for key in sorted(keys[environment]))
    done = subprocess.run(words, input=given, capture_output=True, text=True, timeout=600)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    check(f"puppet lookup for {name} answers", len(rows) == len(keys[environment]), done.stderr[-600:])
    return {row["key"]: row for row in rows}


counts, differing = collections.Counter(), []
asked = [in_environment(name)[:2] for name in names] + [[name for name in agents if name in catalogs][:1]]
for name in {name: None for some in asked for name in some}:
    environment = environment_of[name]
    for key, row in lookup(name, environment, "--compile").items():
        answer = answers[environment].get((key, name))
        if answer is None or not is_certain(answer):
            counts["unknown"] += 1
        elif NOT_IN_LOOKUPS.search(key):
            counts["of servers alone"] += 1
        else:
            real = json.loads(row["output"]) if row["status"] == 0 else NONE
            expected = answer["value"] if answer["found"] else NONE
            is_same = text_of(real) == text_of(expected)
            counts["same" if is_same else "different"] += 1
            if not is_same:
                differing.append((name, key, row, expected))
print(f"puppet lookup --compile: {dict(counts)}")
for one in differing[:12]:
    print("  different:", str(one)[:500])
check(f"{counts['same']} values of puppet lookup --node, {counts['different']} different", not differing and counts["same"] > 0)
finish()
