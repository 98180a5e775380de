#!/usr/bin/env bash
# 'yaml-set --change=web.port --value=8443' on a data file, where web has its port by '<<: *base', or by 'port: *port'. Which ports
# does the file have afterwards?
#
# A good guess: web has 8443 in both files, and nothing else changes: the tool is told the place of one value, and writes an own key or
# a plain value there. yamlpath 3.9.1 does neither. A value that comes by a merge key is not changed: the file has the port 80 as
# before, only with "---" at its top, and the exit code is 0. For an alias the tool changes the value at the anchor, and with it each
# key that uses it: db has the port 8443 as well. An element of a list that is an alias changes the list of the others, too. Only
# an own key is set as expected.
#
# It matters as scripts and pipelines look at the exit code, and as the one change is missing and the other one too many.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of PyPI in a temporary folder and runs them there. Ruby reads
# the values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
pip install --quiet --disable-pip-version-check --target site yamlpath==3.9.1 ruamel.yaml==0.19.1 2>/dev/null
export PYTHONPATH=site
psych() { ruby -rpsych -rjson -e 'puts JSON.generate(Psych.safe_load(File.read("data.yaml"), aliases: true).slice("web", "db"))'; }
set_value() { # The place, the value, and the data.
  printf "$3" >data.yaml
  echo "$1 before: $(psych)"
  python3 site/bin/yaml-set --change="$1" --value="$2" data.yaml && echo "$1 after:  $(psych)"
}
tools=$(python3 -c 'from importlib.metadata import version as v; print(v("yamlpath"), v("ruamel.yaml"))')
echo "yamlpath and ruamel.yaml $tools, Psych $(ruby -rpsych -e 'puts Psych::VERSION')"
{
  set_value web.port 8443 'base: &base {port: 80}\nweb: {<<: *base, port: 81}\ndb: {<<: *base}\n'
  set_value web.port 8443 'base: &base {port: 80}\nweb: {<<: *base}\ndb: {<<: *base}\n'
  set_value web.port 8443 'base: &port 80\nweb: {port: *port}\ndb: {port: *port}\n'
  set_value 'web[0]' c 'base: &hosts [a, b]\nweb: *hosts\ndb: *hosts\n'
} | tee shown
[ "$tools" = '3.9.1 0.19.1' ] && [ "$(cat shown)" = 'web.port before: {"web":{"port":81},"db":{"port":80}}
web.port after:  {"web":{"port":8443},"db":{"port":80}}
web.port before: {"web":{"port":80},"db":{"port":80}}
web.port after:  {"web":{"port":80},"db":{"port":80}}
web.port before: {"web":{"port":80},"db":{"port":80}}
web.port after:  {"web":{"port":8443},"db":{"port":8443}}
web[0] before: {"web":["a","b"],"db":["a","b"]}
web[0] after:  {"web":["c","b"],"db":["c","b"]}' ]
