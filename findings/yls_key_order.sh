#!/usr/bin/env bash
# The YAML server of editors is set to keep keys in order (yaml.keyOrdering), and offers the fix "Fix key order for this map". Are
# all keys still there afterwards?
#
# A good guess: yes, as a mapping has no order, and the fix moves whole entries, with their comments. But yaml-language-server 1.25.0
# gives each entry the start and the end of the line that stood in its new place. An entry whose value is a list has no end of
# its own, so that the one that takes its place is joined with the next line. If it ends in a comment, the next key is in this comment,
# and gone: "admin: ops # pager 7  limit: 1024". Puppet reads the file without a message, and the next level or a default answers.
# Without the comment the file is refused. Comments on lines of their own stay in their places, over other keys. Without a list
# the fix is right. (2.0.0, which wants node 22, does the same.)
#
# It matters as the lines are all there, and a diff of a sorted mapping is one that nobody reads.
#
# Needs Debian 12 with Ruby, node 20 and npm. Installs packages of npm in a temporary folder and runs them there. Ruby reads the
# values as Puppet does, by Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' >package.json
npm install --no-audit --no-fund --silent --save-exact yaml-language-server@1.25.0 prettier@3.10.1
cat >fix.js <<'J'
// Opens data.yaml in the server and applies the first fix that it offers, as an editor does.
const fs = require('fs');
const rpc = require('vscode-languageserver/node');
const settings = { yaml: { validate: true, keyOrdering: true }, '[yaml]': { 'editor.tabSize': 2 } };
const server = require('child_process').spawn('node', ['node_modules/yaml-language-server/bin/yaml-language-server', '--stdio']);
const editor = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
editor.onRequest('workspace/configuration', ({ items }) => items.map(({ section }) => settings[section] ?? null));
editor.onRequest('client/registerCapability', () => null);
const found = new Promise((resolve) => {
  editor.onNotification('textDocument/publishDiagnostics', ({ diagnostics }) => diagnostics.length && resolve(diagnostics));
});
editor.listen();
(async () => {
  const capabilities = { workspace: { configuration: true }, textDocument: { publishDiagnostics: {} } };
  await editor.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities });
  await editor.sendNotification('initialized', {});
  await editor.sendNotification('workspace/didChangeConfiguration', { settings });
  const uri = 'file:///data.yaml';
  const text = fs.readFileSync('data.yaml', 'utf8');
  await editor.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
  const diagnostics = await found;
  const range = diagnostics[0].range;
  const [fix] = await editor.sendRequest('textDocument/codeAction', { textDocument: { uri }, range, context: { diagnostics } });
  const [edit] = fix.edit.changes[uri];
  const offset = ({ line, character }) => text.split('\n').slice(0, line).join('\n').length + (line ? 1 : 0) + character;
  fs.writeFileSync('data.yaml', text.slice(0, offset(edit.range.start)) + edit.newText + text.slice(offset(edit.range.end)));
  console.log(`${diagnostics[0].message}: ${fix.title}`);
  server.kill();
})();
J
psych() { ruby -rpsych -rjson -e 'puts JSON.generate(Psych.safe_load(File.read("data.yaml")).values[0].sort.to_h)'; }
fix() {
  printf '%s\n' 'profile::web:' "$@" >data.yaml
  echo "before: $(psych)"
  timeout 60 node fix.js
  echo "after:  $(psych)"
  sed -n '2,$p' data.yaml
}
server=$(node -p 'require("yaml-language-server/package.json").version')
libyaml=$(ruby -rpsych -e 'puts Psych::VERSION, Psych.libyaml_version.join(".")' | paste -sd' ')
echo "yaml-language-server $server, Psych and libyaml $libyaml"
{
  fix '  port: 80' '  # who is called' '  admin: ops # pager 7' '  limit: 1024'
  fix '  ports:' '    - 80' '  admin: ops # pager 7' '  limit: 1024'
} | tee shown
[ "$server" = 1.25.0 ] && [ "$libyaml" = '4.0.3 0.2.5' ] && [ "$(cat shown)" = 'before: {"admin":"ops","limit":1024,"port":80}
Wrong ordering of key "port" in mapping: Fix key order for this map
after:  {"admin":"ops","limit":1024,"port":80}
  admin: ops # pager 7
  # who is called
  limit: 1024
  port: 80
before: {"admin":"ops","limit":1024,"ports":[80]}
Wrong ordering of key "ports" in mapping: Fix key order for this map
after:  {"admin":"ops","ports":[80]}
  admin: ops # pager 7  limit: 1024
  ports:
    - 80' ]
