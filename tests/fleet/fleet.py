"""What the scripts of tests/fleet share: hiera-ls, PuppetDB, Puppet Server, and the facts of real systems."""
import datetime, glob, json, os, ssl, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

program, fleet = os.environ["PROGRAM"], os.environ["FLEET"]
http, tls, server = os.environ["PDB_HTTP"], os.environ["PDB"], os.environ["SERVER"]
confdir = f"{fleet}/puppet"
work = f"{fleet}/work"
failures = []


def check(what, is_right, more=""):
    print(("ok      " if is_right else "FAILED  ") + what, more if not is_right else "", flush=True)
    if not is_right:
        failures.append(what)


def finish():
    sys.exit(f"{len(failures)} failures" if failures else 0)


def run(*words, rc=0, cwd=None):
    done = subprocess.run([program, *words], capture_output=True, text=True, cwd=cwd or work)
    if done.returncode != rc:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def query(pql):
    url = f"{http}/pdb/query/v4?" + urllib.parse.urlencode({"query": pql})
    return json.load(urllib.request.urlopen(url, timeout=120))


def endpoint(path, **parameters):
    url = f"{http}/pdb/query/v4/{path}?" + urllib.parse.urlencode(parameters)
    return json.load(urllib.request.urlopen(url, timeout=120))


def now():
    return datetime.datetime.utcnow().strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def send(name, environment, facts, trusted):
    """Stores the facts of a node in PuppetDB, as Puppet Server does."""
    at = now()
    body = {"certname": name, "environment": environment, "producer_timestamp": at, "producer": "test", "values": dict(facts, trusted=trusted)}
    words = urllib.parse.urlencode({"certname": name, "command": "replace_facts", "version": 5, "producer-timestamp": at})
    request = urllib.request.Request(f"{http}/pdb/cmd/v1?{words}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).read()


def wait_until(what, seconds, is_so):
    for _ in range(seconds * 2):
        if is_so():
            return
        time.sleep(0.5)
    sys.exit(f"not after {seconds} seconds: {what}")


def wait_for(count):
    """Waits until PuppetDB has so many nodes with facts."""
    wait_until(f"{count} nodes in PuppetDB", 120 + count // 5, lambda: query("inventory[count()] {}")[0]["count"] >= count)


def trusted_of(name, extensions):
    host, _, domain = name.partition(".")
    return {"authenticated": "remote", "certname": name, "hostname": host, "domain": domain, "extensions": extensions, "external": {}}


def real_facts():
    """Facts of real systems, each of another operating system; those of a fixture if there are none."""
    paths = sorted(glob.glob("../shared/corpora/facts/**/*.facts", recursive=True) + glob.glob("../shared/corpora/facts/**/*.json", recursive=True))
    sets = []
    for path in paths:
        try:
            found = json.load(open(path))
        except ValueError:
            continue
        if isinstance(found, dict) and "os" in found:
            sets.append(found)
    if not sets:
        print("SKIPPED: ../shared/corpora/facts is not here: only the facts of acme")
        sets = [node["facts"] for node in json.load(open("fixtures/acme/nodes.json")).values()]
    return sets


def catalog(name, environment, facts, trusted):
    """The catalog that Puppet Server compiles for a node, or the text of its error."""
    context = ssl.create_default_context(cafile=f"{confdir}/ssl/certs/ca.pem")
    context.load_cert_chain(f"{confdir}/ssl/certs/admin.example.com.pem", f"{confdir}/ssl/private_keys/admin.example.com.pem")
    body = {"certname": name, "environment": environment, "persistence": {"facts": True, "catalog": True},
            "trusted_facts": {"values": trusted}, "facts": {"values": facts}}
    request = urllib.request.Request(f"{server}/puppet/v4/catalog", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        answer = json.load(urllib.request.urlopen(request, context=context, timeout=300))
    except urllib.error.HTTPError as error:
        return error.read().decode()
    return answer.get("catalog", answer)
