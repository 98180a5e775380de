#!/usr/bin/env bash
# A list in a data file has a text whose lines are all indented: "  IdentityFile a" and so on, a piece of a configuration. Ruby wrote
# the file, and prettier or oxfmt formats it. Does the text stay?
#
# A good guess: yes, as a block that starts with '|' is a text, and nothing is kept as carefully by a formatter. As the text starts
# with spaces, the block has to say how far it is indented, '|2', and Psych writes it so. prettier 3.10.1 and oxfmt 0.79.0 indent
# the list, but take the block to be indented further than it is. So the text loses its two spaces, without an error. If a line of
# it has none, the line loses its first letter, and Puppet refuses the file. The other way round, a block under a key that was
# indented by four spaces gets two more. The YAML server of editors formats by prettier.
#
# It matters as such texts become parts of files on nodes, and as a file is formatted when it is saved.
#
# Needs Debian 12 with Ruby, node 20 and npm. Installs packages of npm in a temporary folder and runs them there. Ruby reads the
# values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' >package.json
npm install --no-audit --no-fund --silent --save-exact prettier@3.10.1 oxfmt@0.79.0
psych() {
  ruby -rpsych -rjson -e 'begin; puts JSON.generate(Psych.safe_load(File.read("data.yaml")))
rescue Psych::SyntaxError => e; puts "an error: #{e.problem}"; end'
}
formatted() { # The data is in original.yaml.
  cp original.yaml data.yaml
  echo "before:   $(psych)"
  node_modules/.bin/prettier --log-level silent --write data.yaml
  echo "prettier: $(psych)"
  cp original.yaml data.yaml
  node_modules/.bin/oxfmt data.yaml >/dev/null 2>&1
  echo "oxfmt:    $(psych)"
}
write() { ruby -rpsych -rjson -e 'puts Psych.dump(JSON.parse(ARGV[0]))' "$1" >original.yaml; }
tools=$(node -p '["prettier", "oxfmt"].map((name) => require(`./node_modules/${name}/package.json`).version).join(" ")')
libyaml=$(ruby -rpsych -e 'puts Psych::VERSION, Psych.libyaml_version.join(".")' | paste -sd' ')
echo "prettier and oxfmt $tools, Psych and libyaml $libyaml"
{
  write '{"ssh::extra": ["  User git\n  IdentityFile a\n"]}'
  cat original.yaml
  formatted
  write '{"ssh::extra": ["  User git\nHost *\n"]}'
  formatted
  printf 'ssh::hosts:\n    git: |2\n      User git\n' >original.yaml
  formatted
} | tee shown
refused="an error: did not find expected '-' indicator"
[ "$tools" = '3.10.1 0.79.0' ] && [ "$libyaml" = '4.0.3 0.2.5' ] && [ "$(cat shown)" = '---
ssh::extra:
- |2
    User git
    IdentityFile a
before:   {"ssh::extra":["  User git\n  IdentityFile a\n"]}
prettier: {"ssh::extra":["User git\nIdentityFile a\n"]}
oxfmt:    {"ssh::extra":["User git\nIdentityFile a\n"]}
before:   {"ssh::extra":["  User git\nHost *\n"]}
prettier: '"$refused"'
oxfmt:    '"$refused"'
before:   {"ssh::hosts":{"git":"User git\n"}}
prettier: {"ssh::hosts":{"git":"  User git\n"}}
oxfmt:    {"ssh::hosts":{"git":"  User git\n"}}' ]
