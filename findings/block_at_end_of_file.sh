#!/usr/bin/env bash
# The last key of a data file is a text in a block, '|', and the file does not end in a newline, as many editors leave it. A hook of
# pre-commit, end-of-file-fixer, adds the newline. Does the value stay?
#
# A good guess: yes. A block that starts with '|' has one newline at its end, the hook does not know YAML, and yamllint asks for
# that newline as a matter of style. For the packages yaml and js-yaml of npm the value is the same before and after. Not so for
# libyaml, by which Psych and so Puppet reads: the last line of the file has no newline, and so the text has none. With the newline
# of the hook, or a key added below, it has one. The other way round, '|+' keeps all empty lines below the text, and the hook
# removes those at the end of the file, so that the text loses them.
#
# It matters as a file on nodes lacks its last newline, without which cron, for one, refuses a table, until a commit that seems
# to change nothing changes the file on all nodes, and restarts what depends on it.
#
# Needs Debian 12 with Ruby, Python 3.11, pip, node 20 and npm. Installs packages of PyPI and npm in a temporary folder and runs
# them there. Ruby reads the values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
pip install --quiet --disable-pip-version-check --target site pre-commit-hooks==6.0.0 yamllint==1.38.0 2>/dev/null
echo '{"private": true}' >package.json
npm install --no-audit --no-fund --silent --save-exact yaml@2.9.1 js-yaml@5.5.0
cat >values.js <<'J'
const text = require('fs').readFileSync('data.yaml', 'utf8');
const values = [require('yaml').parse(text).table, require('js-yaml').load(text).table];
console.log(values.map((value) => JSON.stringify(value)).join(' '));
J
psych() { ruby -rpsych -rjson -e 'puts JSON.generate(Psych.safe_load(File.read("data.yaml"))["table"])'; }
values() { echo "$1: Psych $(psych), yaml and js-yaml $(node values.js)"; }
fix() { PYTHONPATH=site python3 site/bin/end-of-file-fixer data.yaml >/dev/null || true; }
tools=$(PYTHONPATH=site python3 -c 'from importlib.metadata import version as v; print(v("pre-commit-hooks"), v("yamllint"))')
libyaml=$(ruby -rpsych -e 'puts Psych::VERSION, Psych.libyaml_version.join(".")' | paste -sd' ')
echo "pre-commit-hooks and yamllint $tools, Psych and libyaml $libyaml"
{
  printf 'table: |\n  0 1 * * * a\n  0 2 * * * b' >data.yaml
  echo "yamllint: $(PYTHONPATH=site python3 -m yamllint -d '{rules: {new-line-at-end-of-file: enable}}' -f parsable data.yaml \
    | grep -o 'no new line.*')"
  values 'without a newline'
  fix
  values 'fixed'
  printf 'table: |+\n  0 1 * * * a\n\n' >data.yaml
  values 'all lines kept'
  fix
  values 'fixed'
} | tee shown
[ "$tools" = '6.0.0 1.38.0' ] && [ "$libyaml" = '4.0.3 0.2.5' ] && [ "$(cat shown)" = 'yamllint: no new line character at the end of file (new-line-at-end-of-file)
without a newline: Psych "0 1 * * * a\n0 2 * * * b", yaml and js-yaml "0 1 * * * a\n0 2 * * * b\n" "0 1 * * * a\n0 2 * * * b\n"
fixed: Psych "0 1 * * * a\n0 2 * * * b\n", yaml and js-yaml "0 1 * * * a\n0 2 * * * b\n" "0 1 * * * a\n0 2 * * * b\n"
all lines kept: Psych "0 1 * * * a\n\n", yaml and js-yaml "0 1 * * * a\n\n" "0 1 * * * a\n\n"
fixed: Psych "0 1 * * * a\n", yaml and js-yaml "0 1 * * * a\n" "0 1 * * * a\n"' ]
