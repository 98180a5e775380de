#!/usr/bin/env bash
# Two levels have a pattern in lookup_options that matches a key: '^web::hosts$' in the file of a node, '^web::' in the common
# file. Which options count?
#
# Good guesses: those of the node, as it is the higher level; or those of the longer pattern. Both say the same here. Puppet
# 7.23.0 takes those of the common file. It merges the lookup_options as hashes and takes the first pattern that matches, and
# a merged hash has the entries of the lowest level first. In the same way a pattern of a module wins over one of the
# environment, which is meant to change what modules say. Only a plain name, or the very same pattern, of the higher level
# counts. And if the common file has the node's pattern, too, above its own and with any options, then those of the node
# count.
#
# It matters as the usual way to change the merge for some nodes or keys does nothing, without a message.
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
module=$production/modules/web
mkdir -p "$production/data" "$module/data"
printf 'version: 5\nhierarchy: [{name: all, paths: [node.yaml, common.yaml]}]\n' >"$production/hiera.yaml"
printf 'version: 5\nhierarchy: [{name: all, path: module.yaml}]\n' >"$module/hiera.yaml"
echo '{"role": "web"}' >facts.json
lookup() {
  printf 'lookup_options: {%s}\nweb::hosts: [a]\n' "$1" >"$production/data/node.yaml"
  printf 'lookup_options: {%s}\nweb::hosts: [b]\n' "$2" >"$production/data/common.yaml"
  printf 'lookup_options: {%s}\n' "$3" >"$module/data/module.yaml"
  printf 'node {%s} common {%s} module {%s}: ' "$1" "$2" "$3"
  ruby root/usr/bin/puppet lookup web::hosts --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version"
{
  lookup "'^web::hosts\$': {merge: first}" "'^web::': {merge: unique}" ''
  lookup "'^web::hosts\$': {merge: first}" '' "'^web::': {merge: unique}"
  lookup "'web::hosts': {merge: first}" "'^web::': {merge: unique}" ''
  lookup "'^web::': {merge: first}" "'^web::': {merge: unique}" ''
  lookup "'^web::hosts\$': {merge: first}" "'^web::hosts\$': {merge: deep}, '^web::': {merge: unique}" ''
} | tee shown
[ "$version" = 7.23.0 ] && [ "$(sed 's/.*: //' shown | paste -sd' ')" = '["a","b"] ["a","b"] ["a"] ["a"] ["a"]' ]
