#!/usr/bin/env bash
# Sorting the keys of a mapping that has a merge key (<<): does a value change?
#
# A good guess: no, as a mapping has no order, and own keys win over merged ones wherever << stands: so read the yaml package of
# npm, PyYAML and ruamel.yaml. Psych puts merged keys in at the place of <<, over the keys before it. So with
# "port: 8443" before "<<: *base" Puppet has base's port, and 'eslint --fix' with the rule yml/sort-keys, which moves << to the
# top, gives nodes another port.
#
# Needs Debian 12 with Ruby, node 20 and npm. Installs packages of npm in a temporary folder and runs them there. Ruby reads the
# values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' >package.json
npm install --no-audit --no-fund --silent --save-exact eslint@10.15.0 eslint-plugin-yml@3.10.0 yaml@2.9.1
cat >eslint.config.mjs <<'J'
import yml from 'eslint-plugin-yml';
export default [...yml.configs.base, { files: ['**/*.yaml'], rules: { 'yml/sort-keys': 'error' } }];
J
cat >data.yaml <<'YAML'
base: &base
  port: 80
  tls: false
web:
  port: 8443
  tls: true
  <<: *base
YAML
psych() { ruby -rpsych -e 'puts Psych.safe_load(File.read("data.yaml"), aliases: true)["web"]["port"]'; }
npm_yaml() { node -p 'require("yaml").parse(require("fs").readFileSync("data.yaml", "utf8"), { merge: true }).web.port'; }
before="$(npm_yaml) $(psych)"
node_modules/.bin/eslint --fix data.yaml
after="$(npm_yaml) $(psych)"
echo "eslint-plugin-yml 3.10.0, yaml 2.9.1, Psych $(ruby -rpsych -e 'puts Psych::VERSION')"
echo "web.port for yaml and for Psych, before: $before"
echo "web.port for yaml and for Psych, sorted: $after"
[ "$before" = '8443 80' ] && [ "$after" = '8443 8443' ]
