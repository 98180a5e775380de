#!/usr/bin/env bash
# A YAML formatter of pre-commit and yamllint on the list ["127.0.0.1", "::1"]: does Puppet read the file afterwards?
#
# A good guess: yes, as a formatter leaves out quotes only where the text stays a text. pretty-format-yaml 2.16.0 (with
# ruamel.yaml 0.19.1) writes [127.0.0.1, ::1], and yamllint 1.38.0 with quoted-strings: only-when-needed demands the same.
# Both go by readers in Python, for which ::1 is a text. libyaml, which Puppet's Ruby uses, refuses it in a flow list, so that
# the whole file is lost. In a block list the file is read, but ::1 is a symbol there, which Puppet refuses as a value.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of PyPI in a temporary folder and runs them there. Ruby reads
# the values with Puppet's settings of Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
pip install --quiet --disable-pip-version-check --target site language-formatters-pre-commit-hooks==2.16.0 \
  ruamel.yaml==0.19.1 yamllint==1.38.0 2>/dev/null
export PYTHONPATH=$work/site
cat >data.yaml <<'YAML'
---
web::port: 8080
web::listen: ["127.0.0.1", "::1"]
YAML
cat >block.yaml <<'YAML'
---
web::listen:
  - "127.0.0.1"
  - "::1"
YAML
read_as_puppet() {
  ruby -rpsych -e 'begin; puts Psych.safe_load(File.read(ARGV[0]), permitted_classes: [Symbol], aliases: true).inspect
rescue Psych::SyntaxError => e; puts "an error: #{e.problem}"; end' "$1"
}
before=$(read_as_puppet data.yaml)
demands=$(python3 -m yamllint -d '{rules: {quoted-strings: {required: only-when-needed}}}' -f parsable data.yaml \
  | grep -c 'redundantly quoted' || true)
for file in data.yaml block.yaml; do python3 site/bin/pretty-format-yaml --autofix "$file" >/dev/null || true; done
flow=$(read_as_puppet data.yaml)
block=$(read_as_puppet block.yaml)
echo "pretty-format-yaml 2.16.0, ruamel.yaml 0.19.1, yamllint 1.38.0, libyaml $(ruby -rpsych -e 'puts Psych.libyaml_version.join(".")')"
echo "before: $before"
echo "quotes that yamllint calls redundant: $demands"
echo "flow list, formatted: $(tail -1 data.yaml): $flow"
echo "block list, formatted: $block"
[ "$before" = '{"web::port"=>8080, "web::listen"=>["127.0.0.1", "::1"]}' ] && [ "$demands" = 2 ] \
  && [ "$(tail -1 data.yaml)" = 'web::listen: [127.0.0.1, ::1]' ] && [ "${flow%%:*}" = 'an error' ] \
  && [ "$block" = '{"web::listen"=>["127.0.0.1", :":1"]}' ]
