"""Deploys control repositories as environments of Puppet Server: fixtures/acme as two, and lsst-control. Each
also has the module `seen`, whose class takes what the server knows of a node, one parameter for each thing."""
import json, os, shutil

CORPUS = "../shared/corpora/lsst-control"

# A key of acme that nothing looks up.
NEVER_READ = "nobody::reads_this"

# A parameter of the class without `its_`, which keeps it apart from the variables, and its value in the data.
SEEN = {
    "certname": "%{trusted.certname}",
    "authenticated": "%{trusted.authenticated}",
    "domain": "%{trusted.domain}",
    "hostname": "%{trusted.hostname}",
    "extension": "%{trusted.extensions.pp_role}",
    "extension_of_oid": "%{trusted.extensions.'1.3.6.1.4.1.34380.1.2.1'}",
    "external": "%{trusted.external}",
    "environment": "%{environment}",
    "top_environment": "%{::environment}",
    "server_environment": "%{server_facts.environment}",
    "server_name": "%{server_facts.servername}",
    "server_version": "%{server_facts.serverversion}",
    "top_server_version": "%{serverversion}",
    "agent_environment": "%{agent_specified_environment}",
    "tier": "%{tier}",
    "zone": "%{zone}",
    "answer": "%{answer}",
    "of_extension": "%{of_extension}",
    "of_server": "%{of_server}",
    "role": "%{role}",
    "team": "%{owner.team}",
    "shard": "%{shard}",
    "is_pci": "%{pci}",
    "ratio": "%{ratio}",
    "nothing": "%{nothing}",
    "unset": "%{unset}",
    "os": "%{facts.os.family} %{facts.os.release.major} %{os.name}",
    "legacy": "%{osfamily}",
    "legacy_fact": "%{facts.osfamily}",
    "fqdn": "%{fqdn} %{facts.fqdn}",
    "clientcert": "%{clientcert} %{facts.clientcert}",
    "big": "%{facts.big}",
    "float": "%{facts.float}",
    "flag": "%{facts.flag}",
    "dotted": "%{facts.'dotted.name'}",
    "list": "%{facts.list.1}",
    "deep": "%{facts.deep.a.b}",
    "unicode": "%{facts.unicode}",
    "null": "%{facts.null}x",
    "absent": "%{facts.absent}x",
    "trusted_fact": "%{facts.trusted.certname}x",
    "mixed": ["%{role}", {"%{shard}": "%{lookup('seen::its_tier')}"}],
    "level": "common",
}

# Levels of the module: their path, and the values of which there is a file.
LEVELS = {
    "extension/%{trusted.extensions.pp_role}": ["web", "db"],
    "oid/%{trusted.extensions.'1.3.6.1.4.1.34380.1.2.1'}": ["blue"],
    "server/%{server_facts.environment}": ["staging"],
    "tier/%{tier}": ["gold"],
    "of_extension/%{of_extension}": ["shelf-db", "shelf-"],
    "team/%{owner.team}": ["infra"],
    "shard/%{shard}": ["2", "3"],
    "pci/%{pci}": ["true"],
    "flag/%{facts.flag}": ["true"],
    "osfamily/%{osfamily}": ["RedHat", "Debian"],
    "environment/%{environment}": ["production"],
}

VARIABLES = """$tier = $facts['os']['family'] ? { 'Debian' => 'gold', 'RedHat' => 'silver', default => 'none' }
$zone = $facts['site'] ? { undef => 'nowhere', default => "zone-${facts['site']}" }
$answer = 1 + 41
$of_extension = "shelf-${trusted['extensions']['pp_role']}"
$of_server = "on-${server_facts['environment']}"
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def add_seen(root, includes):
    """Adds the module, and a manifest that declares the classes for every node."""
    module = f"{root}/modules/seen"
    hierarchy = [{"name": path.split("/")[0], "path": f"{path}.yaml"} for path in LEVELS] + [{"name": "common", "path": "common.yaml"}]
    write(f"{module}/hiera.yaml", json.dumps({"version": 5, "hierarchy": hierarchy}))
    write(f"{module}/metadata.json", json.dumps({"name": "test-seen", "version": "1.0.0", "author": "test", "license": "MIT", "summary": "", "source": "", "dependencies": []}))
    write(f"{module}/data/common.yaml", json.dumps({f"seen::its_{name}": value for name, value in SEEN.items()}))
    for path, values in LEVELS.items():
        folder = path.split("/")[0]
        for value in values:
            write(f"{module}/data/{folder}/{value}.yaml", json.dumps({"seen::its_level": f"{folder} {value}", f"seen::its_at_{folder}": value}))
    names = [*SEEN, *(f"at_{path.split('/')[0]}" for path in LEVELS)]
    parameters = ", ".join(f"$its_{name} = '~none~'" for name in names)
    write(f"{module}/manifests/init.pp", f"class seen({parameters}) {{ }}\n")
    write(f"{module}/manifests/value.pp", "define seen::value(Any $value) { }\n")
    write(f"{root}/manifests/a_seen.pp", VARIABLES + "".join(f"include {name}\n" for name in includes))


def look_up(root, keys):
    """Lets every catalog have the value of every key, as a resource."""
    listed = "".join(f"  '{key}',\n" for key in sorted(keys))
    write(f"{root}/manifests/z_values.pp", f"[\n{listed}].each |$key| {{\n  seen::value {{ $key: value => lookup($key, {{ default_value => '~none~' }}) }}\n}}\n")


def acme(root, is_staging):
    shutil.copytree("fixtures/acme", root, ignore=shutil.ignore_patterns("mistakes", "nodes.json", "EXPECTED.json", "spec", "facts"), dirs_exist_ok=True)
    keys = f"{os.path.dirname(os.path.dirname(os.path.dirname(root)))}/keys"
    for kind in ("private", "public"):
        os.makedirs(keys, exist_ok=True)
        shutil.copy(f"fixtures/test-only-keys/test-only-{kind}_key.pkcs7.pem", f"{keys}/{kind}_key.pkcs7.pem")
    text = open(f"{root}/hiera.yaml").read().replace("/etc/puppetlabs/puppet/keys", keys)
    write(f"{root}/hiera.yaml", text)
    if is_staging:
        for path, old, new in [("data/role/web-lon.yaml", "8443", "8444"), ("data/common.yaml", "timezone: UTC", "timezone: Europe/London")]:
            text = open(f"{root}/{path}").read()
            assert old in text, (path, old)
            write(f"{root}/{path}", text.replace(old, new))
    with open(f"{root}/data/common.yaml", "a") as file:
        file.write(f"\n{NEVER_READ}: 1\n")
    add_seen(root, ["seen", "inventory"])


def lsst(root):
    """The data of a real control repository, and a class for each of its classes, with their parameters."""
    shutil.copytree(f"{CORPUS}/workspace", root, dirs_exist_ok=True)
    os.chmod(root, 0o755)
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            os.chmod(f"{folder}/{name}", 0o755 if name in folders else 0o644)
    text = open(f"{root}/hiera.yaml").read()
    text = text.replace("/etc/puppetlabs/code", os.path.dirname(os.path.dirname(root)))
    write(f"{root}/hiera.yaml", text)
    classes = {one["name"]: one["params"] for one in json.load(open(f"{CORPUS}/class_params.json"))["classes"] if one["kind"] == "class"}
    for name, parameters in classes.items():
        module, *rest = name.split("::")
        base = "site" if module == "profile" else "modules"
        listed = ", ".join(f"${one['name']} = '~none~'" for one in parameters)
        write(f"{root}/{base}/{module}/manifests/{'/'.join(rest) or 'init'}.pp", f"class {name}({listed}) {{ }}\n")
    add_seen(root, ["seen", *classes])
    return classes
