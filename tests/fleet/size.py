#!/usr/bin/python3
"""Imports SIZE nodes from a real PuppetDB: time, size and memory beside PuppetDB's own answers. Run by tests/fleet/run."""
import json, os, shutil, subprocess, sys, time

from fleet import *

size = int(os.environ["SIZE"])
bases = real_facts()
known = query("inventory[count()] {}")[0]["count"]
began = time.time()
for at in range(known, size):
    name = f"m{at:05}.big.example.com"
    send(name, "production", dict(bases[at % len(bases)], site=["lon", "nyc"][at % 2], clientcert=name), trusted_of(name, {"pp_role": "web"}))
wait_for(size)
print(f"{size} nodes sent in {time.time() - began:.0f} s")

acme = f"{work}/size"
shutil.rmtree(acme, ignore_errors=True)
shutil.copytree("fixtures/acme", acme, ignore=shutil.ignore_patterns("mistakes", "nodes.json"))
ssl = f"{confdir}/ssl"
identity = ["--cert", f"{ssl}/certs/admin.example.com.pem", "--key", f"{ssl}/private_keys/admin.example.com.pem", "--cacert", f"{ssl}/certs/ca.pem"]


def curl(pql):
    began = time.time()
    subprocess.run(["curl", "-sfG", *identity, f"{tls}/pdb/query/v4", "--data-urlencode", f"query={pql}", "-o", f"{fleet}/answer"], check=True)
    return time.time() - began, os.path.getsize(f"{fleet}/answer")


def timed(*words):
    """Seconds, and the most memory in MB, of a command that must succeed."""
    began = time.time()
    done = subprocess.run(["/usr/bin/time", "-f", "%M", program, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}\n{done.stderr}")
    return time.time() - began, int(done.stderr.strip().splitlines()[-1]) / 1024


def best(of, times=5):
    return min(of() for _ in range(times))


importing = ["nodes", "import", "--confdir", confdir, "--workspace", acme]
timed(*importing)
row = json.load(open(f"{acme}/nodes.json"))["web01.lon.acme.example"]
columns = ", ".join(member for member in row if "." in member)
part, part_bytes = best(lambda: curl(f"inventory[certname, environment, {columns}] {{}}"))
whole, whole_bytes = best(lambda: curl("inventory[certname, environment, facts, trusted] {}"), 3)
own, memory = best(lambda: timed(*importing))
without, _ = best(lambda: timed(*importing, "--no-lookups"))
ours = os.path.getsize(f"{acme}/nodes.json")
print(f"{size} nodes: import {own:.2f} s, {memory:.0f} MB of memory, {ours} bytes; without lookups {without:.2f} s; PuppetDB's answer for the "
      f"same {part:.2f} s, {part_bytes} bytes; whole inventory {whole:.2f} s, {whole_bytes} bytes")
check(f"an import takes {own / part:.2f} times as long as PuppetDB's own answer", own <= 3 * part)
check(f"nodes.json has 1/{whole_bytes / ours:.0f} of the whole inventory", ours * 20 <= whole_bytes)

# Opening: the server reads the workspace, and answers for a key.
opening = ["check", "--workspace", acme]
os.rename(f"{acme}/nodes.json", f"{fleet}/nodes.json")
bare, bare_memory = best(lambda: timed(*opening))
os.rename(f"{fleet}/nodes.json", f"{acme}/nodes.json")
full, full_memory = best(lambda: timed(*opening))
print(f"check: {bare:.3f} s, {bare_memory:.0f} MB without nodes; {full:.3f} s, {full_memory:.0f} MB with {size} nodes")
finish()
