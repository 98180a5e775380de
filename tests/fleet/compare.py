#!/usr/bin/python3
"""Fills a real PuppetDB with more than a hundred nodes, imports them, and compares with what PuppetDB holds
and with what `puppet lookup --node` answers. Run by tests/fleet/run."""
import json, os, re, shutil, subprocess

from fleet import *

# --- The workspace: acme, and levels by an extension without a name and by facts with odd names.
shutil.rmtree(work, ignore_errors=True)
shutil.copytree("fixtures/acme", f"{work}/acme", ignore=shutil.ignore_patterns("mistakes"))
acme = json.load(open("fixtures/acme/nodes.json"))
os.remove(f"{work}/acme/nodes.json")
os.makedirs(f"{work}/odd/data", exist_ok=True)
open(f"{work}/odd/hiera.yaml", "w").write(
    "version: 5\nhierarchy:\n- name: All\n  paths: [\"%{trusted.certname}.yaml\", \"%{facts.os.family}/%{facts.os.release.major}.yaml\", "
    "\"oid-%{trusted.extensions.'1.3.6.1.4.1.34380.1.2.1'}.yaml\", common.yaml]\n")
open(f"{work}/odd/data/common.yaml", "w").write(
    "odd::values: \"%{facts.big} %{facts.float} %{facts.flag} %{facts.'dotted.name'} %{facts.list.1} %{facts.deep.a.b} %{facts.nothing}\"\n"
    "odd::pp: \"%{trusted.extensions.pp_role}|%{trusted.domain}|%{facts.unicode}|%{facts.absent}\"\n")
open(f"{work}/odd/data/oid-blue.yaml", "w").write("odd::oid: blue\n")

# --- The nodes: those of acme, and others with the facts of real systems.
bases = real_facts()
sent = {}
for name, node in acme.items():
    sent[name] = ("production", node["facts"], dict(trusted_of(name, {}), **node.get("trusted", {})))
for at in range(120):
    name = f"n{at:03}.{'lon' if at % 2 else 'nyc'}.acme.example"
    own = {"big": 12345678901234567890, "float": 0.1 + at, "flag": at % 3 == 0, "dotted.name": f"d{at}", "list": ["a", at], "unicode": "žluť ✓",
           "deep": {"a": {"b": [at]}}, "nothing": None, "site": "lon" if at % 2 else "nyc", "clientcert": name}
    extensions = {"1.3.6.1.4.1.34380.1.2.1": "blue"} if at % 4 == 0 else {"pp_role": "web"}
    sent[name] = ("staging" if at % 10 == 0 else "production", dict(bases[at % len(bases)], **own), trusted_of(name, extensions))
for name, (environment, facts, trusted) in sent.items():
    send(name, environment, facts, trusted)
wait_for(len(sent))
os.makedirs(f"{work}/enc", exist_ok=True)
for name in sent:
    variables = acme.get(name, {}).get("variables", {"role": "web"})
    json.dump({"classes": {}, "parameters": variables}, open(f"{work}/enc/{name}.yaml", "w"))


def value_at(facts, path):
    for name in path:
        if isinstance(facts, dict):
            facts = facts.get(name)
        elif isinstance(facts, list) and str(name).isdigit():
            facts = facts[int(name)] if int(name) < len(facts) else None
        else:
            return None
    return facts


def names(member):
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|([^.]+)', member)]


def importing(workspace, *more):
    found = run("nodes", "import", "--confdir", confdir, "--workspace", workspace, *more)
    return json.load(open(f"{work}/{workspace}/nodes.json")), found


# --- Every fact and extension as PuppetDB holds it, over TLS with the agent's certificate.
whole = {row["certname"]: row for row in query("inventory[certname, environment, facts, trusted] {}")}
json.dump(list(whole.values()), open(f"{work}/whole.json", "w"))
compared = 0
for workspace in ["acme", "odd"]:
    imported, _ = importing(workspace)
    header = imported.pop("hiera-ls/import")
    check(f"{workspace}: all {len(sent)} nodes", sorted(imported) == sorted(sent), header)
    wrong = []
    for name, entry in imported.items():
        row = whole[name]
        if entry.pop("environment") != row["environment"]:
            wrong.append((name, "environment"))
        for member, value in entry.items():
            compared += 1
            part, *path = names(member)
            if value != value_at(row[part], path):
                wrong.append((name, member, value))
    check(f"{workspace}: the same values as in PuppetDB ({sorted(entry)})", not wrong, wrong[:5])
print(f"{compared} values compared")

# --- The same answers as with all facts, and no other certain answer without the classifier.
def answers(workspace, *nodes):
    lines = run("matrix", "--all-keys", "--format", "json-lines", "--workspace", workspace, *nodes).stdout.splitlines()
    found = {}
    for line in lines:
        row = json.loads(line)
        for answer in row["answers"]:
            for node in answer["nodes"]:
                found[row["key"], node] = answer.get("value") if answer["found"] else answer["found"]
    return found


for workspace, enc in [("acme", ["enc"]), ("acme", []), ("odd", [])]:
    importing(workspace, "--puppetdb", tls, *enc)
    own = answers(workspace)
    extra = [word for name in enc for word in ("--nodes", name)]
    all_facts = answers(workspace, "--nodes", "whole.json", *extra)
    differing = [key for key in all_facts if own.get(key) != all_facts[key]]
    unknown = sum(value is None for value in own.values())
    check(f"{workspace}{' with enc' if enc else ''}: {len(own)} answers as with all facts, {unknown} unknown", not differing and own.keys() == all_facts.keys(), differing[:5])

# --- Real Puppet with PuppetDB's facts.
def puppet(workspace, node, key):
    words = ["puppet", "lookup", "--node", node, key, "--hiera_config", f"{work}/{workspace}/hiera.yaml", "--confdir", confdir,
             "--render-as", "json"]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stdout.strip(), done.stderr


for environment in ["production", "staging"]:
    os.makedirs(f"{fleet}/code/environments/{environment}", exist_ok=True)
same = 0
for workspace, node, key in [(w, n, k) for w, keys, nodes in [
        ("odd", ["odd::values", "odd::pp", "odd::oid"], ["n001.lon.acme.example", "n004.nyc.acme.example", "n030.nyc.acme.example"]),
        ("acme", ["site::domain", "profile::base::motd", "profile::web::vhosts"], ["web01.lon.acme.example", "n001.lon.acme.example"])]
        for n in nodes for k in keys]:
    importing(workspace)
    code, value, error = puppet(workspace, node, key)
    done = subprocess.run([program, "lookup", key, "--node", node, "--workspace", workspace, "--render-as", "json"], capture_output=True, text=True, cwd=work)
    if done.returncode == 3:
        print(f"unknown {workspace} {node} {key}: {done.stderr.strip()[:120]}")
        continue
    missing = code != 0 and done.returncode == 1
    is_same = missing or (code == 0 and done.returncode == 0 and json.loads(value) == json.loads(done.stdout))
    same += is_same
    check(f"puppet lookup {workspace} {node} {key}: {'no value' if missing else value[:80]}", is_same, (code, value, error[-300:], done.stdout, done.stderr))
print(f"{same} answers of real Puppet are the same")

# --- Conditions, and what is refused.
imported, _ = importing("odd", "--environment", "staging")
check("only one environment", len(imported) - 1 == 12 and all(node["environment"] == "staging" for name, node in imported.items() if "/" not in name))
imported, _ = importing("odd", "--where", 'facts.site = "lon" and facts.flag = true')
check("a condition", len(imported) - 1 == len(query('inventory[certname] { facts.site = "lon" and facts.flag = true }')))
for words, rest in [
        (["--where", "nonsense ="], "PQL parse error"),
        (["--cacert", f"{confdir}/ssl/certs/admin.example.com.pem"], "certificate"),
        (["--puppetdb", tls.replace("localhost", "127.0.0.1")], "certificate")]:
    done = run("nodes", "import", "--confdir", confdir, "--workspace", "odd", *words, rc=1)
    check(f"refused: {words[0]}: {done.stderr.strip()[:150]}", rest in done.stderr, done.stderr)
os.makedirs(f"{fleet}/stranger/ssl/certs", exist_ok=True)
done = run("nodes", "import", "--confdir", f"{fleet}/stranger", "--cacert", f"{confdir}/ssl/certs/ca.pem", "--puppetdb", tls, "--workspace", "odd", rc=1)
check(f"refused without a certificate: {done.stderr.strip()[:150]}", "no client certificate" in done.stderr, done.stderr)

# --- The network: an import connects to PuppetDB alone, other commands to nothing.
def connections(*words):
    subprocess.run(["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-o", f"{fleet}/trace", program, *words], capture_output=True, cwd=work)
    found = re.findall(r"sin6?_port=htons\((\d+)\).*?(?:inet_addr\(\"|inet_pton\(AF_INET6, \")([^\"]+)", open(f"{fleet}/trace").read())
    return sorted(set(found))


node = "n001.lon.acme.example"
port = tls.rsplit(":", 1)[1]
if shutil.which("strace"):
    found = connections("nodes", "import", "--confdir", confdir, "--workspace", "odd")
    check(f"nodes import connects to {found}", found and all(at[0] == port and at[1] in ("127.0.0.1", "::1") for at in found), found)
    for words in [("lookup", "odd::pp", "--node", node), ("matrix", "odd::pp"), ("check",), ("doctor",), ("diff", node, "n002.nyc.acme.example"),
                  ("hover", "data/common.yaml:2"), ("set", "odd::pp", "1", "--node", node), ("why-not", "odd::pp", "1", "--node", node), ("test",)]:
        found = connections(*words, *([] if words[0] == "hover" else ["--workspace", "odd"]))
        check(f"{words[0]} connects to nothing", not found, found)
else:
    print("SKIPPED: no strace here, so connections are not seen")

finish()
