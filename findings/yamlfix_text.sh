#!/usr/bin/env bash
# A formatter, yamlfix, on data with texts in blocks that start with '|': a configuration of unbound and a message of the day. Do
# the texts stay?
#
# A good guess: yes, as such a block is a text, whatever is in it, and a formatter of YAML knows where it ends. yamlfix 1.19.1
# reads the file as YAML, but does part of its work by patterns over all lines of the file. A line that ends in ": no" gets
# ": false", in a text, too, so that "do-ip6: no" becomes "do-ip6: false", where unbound knows only yes and no. "Help: #ops" becomes
# "Help:  # ops", and empty lines of the text are gone. A value "no" in quotes stays. The exit code is 0.
#
# It matters as such texts become files on nodes as they are, and as a hook formats each data file that someone touches.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of PyPI in a temporary folder and runs them there. Ruby reads
# the values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
pip install --quiet --disable-pip-version-check --target site yamlfix==1.19.1 ruyaml==0.91.0 maison==2.0.2 2>/dev/null
cat >data.yaml <<'YAML'
---
dns::config: |
  server:
    do-ip6: no
    verbosity: 1
motd::text: |
  Help: #ops


  Bye
motd::colour: "no"
YAML
value() { ruby -rpsych -rjson -e 'puts JSON.generate(Psych.safe_load(File.read("data.yaml"))[ARGV[0]])' "$1"; }
values() { for key in dns::config motd::text motd::colour; do echo "$key $(value "$key")"; done; }
tool=$(PYTHONPATH=site python3 -c 'from importlib.metadata import version; print(version("yamlfix"))')
before=$(values)
PYTHONPATH=site python3 site/bin/yamlfix data.yaml >/dev/null 2>&1
after=$(values)
echo "yamlfix $tool, Psych $(ruby -rpsych -e 'puts Psych::VERSION')"
printf 'before:\n%s\nafter:\n%s\n' "$before" "$after"
[ "$tool" = 1.19.1 ] && [ "$before" = 'dns::config "server:\n  do-ip6: no\n  verbosity: 1\n"
motd::text "Help: #ops\n\n\nBye\n"
motd::colour "no"' ] && [ "$after" = 'dns::config "server:\n  do-ip6: false\n  verbosity: 1\n"
motd::text "Help:  # ops\nBye\n"
motd::colour "no"' ]
