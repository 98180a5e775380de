#!/usr/bin/env bash
# A list of users in the common file, another one in the file of a node, and lookup_options with merge_hash_arrays, the option of a
# deep merge that also merges hashes in lists. Which users does the node get?
#
# Good guesses: those of both files, where a user of the same name is one user; or the node's behind the common ones, as without
# the option. Puppet 7.23.0 goes by place: deep_merge 1.1.1 merges the first hash of one list with the first of the other, and so
# on, and looks at no name. So a node that adds carol gets a carol with the sudo right of alice, who stood there, and no alice.
# Only what carol does not set herself comes from alice. A node whose list has an entry for bob alone makes a second bob out of
# alice. If one of the lists has anything but hashes, such as one text, the users of both files are back.
#
# It matters as lists of users and of rules look made for the option, and a right of one gets to another without a message.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
production=env/production
mkdir -p "$production/data"
cat >"$production/hiera.yaml" <<'YAML'
version: 5
hierarchy:
  - {name: node, path: node.yaml}
  - {name: common, path: common.yaml}
YAML
echo '{"role": "web"}' >facts.json
users() { # The options of the key, the users of the node.
  cat >"$production/data/common.yaml" <<YAML
lookup_options: {users: {merge: {strategy: deep$1}}}
users: [{name: alice, sudo: true}, {name: bob, uid: 1002}]
YAML
  echo "users: $2" >"$production/data/node.yaml"
  ruby root/usr/bin/puppet lookup users --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
by_place=', merge_hash_arrays: true'
echo "Puppet $version"
{
  echo "without the option: $(users '' '[{name: carol}]')"
  echo "with it: $(users "$by_place" '[{name: carol}]')"
  echo "bob alone: $(users "$by_place" '[{name: bob, shell: zsh}]')"
  echo "with a text: $(users "$by_place" '[{name: carol}, nobody]')"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = 'without the option: [{"name":"alice","sudo":true},{"name":"bob","uid":1002},{"name":"carol"}]
with it: [{"name":"carol","sudo":true},{"name":"bob","uid":1002}]
bob alone: [{"name":"bob","sudo":true,"shell":"zsh"},{"name":"bob","uid":1002}]
with a text: [{"name":"alice","sudo":true},{"name":"bob","uid":1002},{"name":"carol"},"nobody"]' ]
