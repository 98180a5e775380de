#!/usr/bin/env bash
# The YAML server of editors is set to forbid flow style, and offers the fix "Convert to block style map" for '{port: 80, tls: true}'.
# Does the data stay?
#
# A good guess: yes, as it is the server's own fix for its own message, it changes how a mapping is written, and the server knows
# the structure of the file. With yaml-language-server 1.25.0 it does for a key at the top. One level below, the fix puts each key of
# the mapping on a line of its own with one step of indentation, whatever the place of the mapping is. So they are no longer keys
# of "web" but its neighbours: "web" is null, and profile::sites has a "port" and a "tls". The file is good YAML, and Puppet reads
# it without a message. If there is a "port" already, one of the two is lost. (2.0.0, which wants node 22, does the same.)
#
# It matters as hashes of hashes are the usual form of sites, users and mounts, and as the fix is for those who tidy up.
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
const settings = { yaml: { validate: true, style: { flowMapping: 'forbid' } }, '[yaml]': { 'editor.tabSize': 2 } };
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
psych() { ruby -rpsych -rjson -e 'puts JSON.generate(Psych.safe_load(File.read("data.yaml")))'; }
fix() {
  printf "$1" >data.yaml
  echo "before: $(psych)"
  timeout 60 node fix.js
  echo "after:  $(psych)"
}
server=$(node -p 'require("yaml-language-server/package.json").version')
libyaml=$(ruby -rpsych -e 'puts Psych::VERSION, Psych.libyaml_version.join(".")' | paste -sd' ')
echo "yaml-language-server $server, Psych and libyaml $libyaml"
{
  fix 'web::site: {port: 80, tls: true}\n'
  fix 'profile::sites:\n  web: {port: 80, tls: true}\n  hosts: [a, b]\n'
  cat data.yaml
} | tee shown
forbidden='Flow style mapping is forbidden: Convert to block style map'
[ "$server" = 1.25.0 ] && [ "$libyaml" = '4.0.3 0.2.5' ] && [ "$(cat shown)" = "before: {\"web::site\":{\"port\":80,\"tls\":true}}
$forbidden
after:  {\"web::site\":{\"port\":80,\"tls\":true}}
before: {\"profile::sites\":{\"web\":{\"port\":80,\"tls\":true},\"hosts\":[\"a\",\"b\"]}}
$forbidden
after:  {\"profile::sites\":{\"web\":null,\"port\":80,\"tls\":true,\"hosts\":[\"a\",\"b\"]}}
profile::sites:
  web: 
  port: 80
  tls: true
  hosts: [a, b]" ]
