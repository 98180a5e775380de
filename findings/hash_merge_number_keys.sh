#!/usr/bin/env bash
# A common file has a hash whose keys are numbers, such as ports. The file of a node adds a port, and lookup_options merge the
# two. What does the node get?
#
# Good guesses: the ports of both files; or an error, as keys in Puppet's data are texts. In Puppet 7.23.0 it depends. A node
# without a file of its own gets the hash, as nothing is merged and nothing is checked. The first node that adds a port fails
# with 'merge: hash': both sides of that merge must be Hash[String, Data], and 8080 is no text. With 'merge: deep' it works,
# as that one checks nothing. But if the node's file is JSON, where each key is a text, deep gives both 8080 and "8080": the
# value of the node is there, and does not replace the common one.
#
# It matters as the common file may work for years before a node needs another value.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 \
  ruby-deep-merge=1.1.1-2 ruby-semantic-puppet=1.0.4-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=env/production
mkdir -p "$production/data"
cat >"$production/hiera.yaml" <<'YAML'
version: 5
hierarchy:
  - {name: node, path: "%{facts.site}.yaml"}
  - {name: node in JSON, data_hash: json_data, path: "%{facts.site}.json"}
  - {name: common, path: common.yaml}
YAML
echo 'backends: {8080: red}' >"$production/data/yaml.yaml"
echo '{"backends": {"8080": "red"}}' >"$production/data/json.json"
lookup() {
  printf 'lookup_options: {backends: {merge: %s}}\nbackends: {8080: blue, 8081: blue}\n' "$2" >"$production/data/common.yaml"
  printf '{"site": "%s"}\n' "$1" >facts.json
  printf 'node: %s, merge: %s: ' "$1" "$2"
  ruby root/usr/bin/puppet lookup backends --node web1.example.com --facts facts.json --environmentpath "$work/env" \
    --confdir "$work/conf" --vardir "$work/var" >out 2>/dev/null && tail -n +2 out | paste -sd' ' || echo "no value (exit code $?)"
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version"
for node in none yaml json; do lookup "$node" hash; lookup "$node" deep; done | tee shown
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = "node: none, merge: hash: 8080: blue 8081: blue
node: none, merge: deep: 8080: blue 8081: blue
node: yaml, merge: hash: no value (exit code 1)
node: yaml, merge: deep: 8080: red 8081: blue
node: json, merge: hash: no value (exit code 1)
node: json, merge: deep: 8080: blue 8081: blue '8080': red" ]
