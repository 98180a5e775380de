#!/usr/bin/env bash
# 'yaml-set --value=10.0' on a key of a data file: which number does Puppet read then?
#
# A good guess: 10.0, or 10, or perhaps the text "10.0". The tool is of yamlpath, which knows eyaml and is made for such data.
# But yamlpath 3.9.1 makes a number of the value and gives its YAML library a wrong number of digits. So 10.0 becomes 1.0,
# 100.0 becomes 10.00 and 1e3 becomes 100.000: the point goes one place to the left in a whole number that ends in 0. 15.0
# and 12.5 are right, so that a first try looks good. An id such as 2e4, which is a text for Puppet, is a number for the tool,
# and becomes another one. With --format=dquote the value is kept. The exit code is 0 each time.
#
# It matters to scripts and pipelines that set a version, a limit or a weight in data.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of PyPI in a temporary folder and runs them there. Ruby
# reads the values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
pip install --quiet --disable-pip-version-check --target site yamlpath==3.9.1 ruamel.yaml==0.19.1 2>/dev/null
export PYTHONPATH=$work/site
read_as_puppet() { ruby -rpsych -e 'p Psych.safe_load(File.read(ARGV[0]))["db::value"]' "$1"; }
value() { # The value, and options.
  local before after
  printf 'db::value: %s\n' "$1" >typed.yaml
  before=$(read_as_puppet typed.yaml)
  echo 'db::value: old' >data.yaml
  python3 site/bin/yaml-set --nostdin --change='db::value' --value="$1" "${@:2}" data.yaml
  after=$(sed -n 's/^db::value: //p' data.yaml)
  echo "${*}: typed by hand it is $before, the tool writes $after, which is $(read_as_puppet data.yaml)"
}
version=$(python3 site/bin/yaml-set --version)
echo "$version, Psych $(ruby -rpsych -e 'puts Psych::VERSION')"
{
  for number in 15.0 12.5 10.0 20.0 100.0 1e3 2e4; do value "$number"; done
  value 10.0 --format=dquote
} | tee shown
[ "$version" = 'yaml-set 3.9.1' ] && [ "$(sed 's/ typed by hand it is//; s/ the tool writes//; s/ which is//' shown)" = \
  '15.0: 15.0, 15.0, 15.0
12.5: 12.5, 12.5, 12.5
10.0: 10.0, 1.0, 1.0
20.0: 20.0, 2.0, 2.0
100.0: 100.0, 10.00, 10.0
1e3: "1e3", 100.000, 100.0
2e4: "2e4", 2000.0000, 2000.0
10.0 --format=dquote: 10.0, "10.0", "10.0"' ]
