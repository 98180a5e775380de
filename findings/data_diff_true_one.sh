#!/usr/bin/env bash
# A change of data makes 'tls: 1' of 'tls: true', and 'workers: 4.0' of 'workers: 4'. Do tools that compare two data files by their
# values show it: yaml-diff, jdiff and deep diff?
#
# A good guess: yes, as they read the types, and Puppet 7.23.0 takes neither for a Boolean and an Integer. But yaml-diff of
# yamlpath 3.9.1 prints nothing and ends with exit code 0, and jdiff of jsondiff 2.2.1 prints {}. Both ask Python whether two
# values are equal, and there True is 1, False is 0, and 4 is 4.0. deepdiff 9.1.0 looks at the types first and shows both. But it
# compares lists by difflib of Python, which asks the same question, so that [0] in place of [false] is no change for it, either,
# unless it ignores the order of lists. All three show a text in place of a number.
#
# It matters as such tools are used where a diff of lines shows too much: after a formatter, a merge, or a move to another format.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of Debian and PyPI in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
pip install --quiet --disable-pip-version-check --target site yamlpath==3.9.1 ruamel.yaml==0.19.1 jsondiff==2.2.1 pyyaml==6.0.4 \
  deepdiff==9.1.0 2>/dev/null
export HOME=$work PYTHONPATH=site
export RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
production=env/production
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: all, path: all.yaml}]\n' >"$production/hiera.yaml"
echo '{"role": "web"}' >facts.json
lookup() { # The key, its type in the class.
  ruby root/usr/bin/puppet lookup "$1" --type "$2" --color false --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>&1 | grep -o 'expects.*\|^[a-z0-9]*$'
}
state() {
  cp "$1" "$production/data/all.yaml"
  echo "Puppet with $1: $(lookup tls Boolean), $(lookup workers Integer)"
}
deep() { python3 site/bin/deep diff "$@" | grep -o 'root[^:]*' | tr -d "\"'" | paste -sd' '; }
compare() {
  echo "yaml-diff: $(python3 site/bin/yaml-diff "$1" "$2" | paste -sd' ')"
  echo "jdiff: $(python3 site/bin/jdiff -f yaml "$1" "$2" | paste -sd' ')"
  echo "deep diff: $(deep "$1" "$2"), with --ignore-order: $(deep --ignore-order "$1" "$2")"
}
printf 'tls: true\nworkers: 4\nlist: [false]\n' >before.yaml
printf 'tls: 1\nworkers: 4.0\nlist: [0]\n' >after.yaml
printf 'tls: true\nworkers: "4"\nlist: [false]\n' >text.yaml
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tools=$(python3 -c 'from importlib.metadata import version as v; print(v("yamlpath"), v("jsondiff"), v("deepdiff"))')
echo "Puppet $version; yamlpath, jsondiff and deepdiff $tools"
{
  state before.yaml
  state after.yaml
  compare before.yaml after.yaml
  echo 'with a text:'
  compare before.yaml text.yaml
} | tee shown
[ "$version" = 7.23.0 ] && [ "$tools" = '3.9.1 2.2.1 9.1.0' ] && [ "$(cat shown)" = "Puppet with before.yaml: true, 4
Puppet with after.yaml: expects a Boolean value, got Integer, expects an Integer value, got Float
yaml-diff: 
jdiff: {}
deep diff: root[tls] root[workers], with --ignore-order: root[tls] root[workers] root[list][0]
with a text:
yaml-diff: c workers < 4 --- > \"4\"
jdiff: workers: '4'
deep diff: root[workers], with --ignore-order: root[workers]" ] \
  && python3 site/bin/yaml-diff before.yaml after.yaml
