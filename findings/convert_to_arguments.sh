#!/usr/bin/env bash
# lookup_options: convert_to with arguments, such as [Array, true]: does it matter which keys are looked
# up in the same compilation, and in which order?
#
# A good guess: no. Puppet 7.23.0 replaces the text of the type by the type itself inside of the merged
# options, and uses this object again when it merges them with those of the next module. So a value that
# takes a converted key first and a key of another module with lookup_options second fails, and the same
# two in the other order work. Without arguments (convert_to: Array) the first order works too. The command that fails
# ends with exit code 1 and prints no reason.
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
puppet=$work/root/usr/bin/puppet
production=env/production
for module in a b; do
  mkdir -p "$production/modules/$module/data"
  printf 'version: 5\nhierarchy: [{name: m, path: m.yaml}]\n' >"$production/modules/$module/hiera.yaml"
  printf '%s::x: 1\nlookup_options: {"%s::y": {merge: first}}\n' "$module" "$module" >"$production/modules/$module/data/m.yaml"
done
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: c, path: c.yaml}]\n' >"$production/hiera.yaml"
data() {
  cat >"$production/data/c.yaml" <<YAML
lookup_options: {'a::x': {convert_to: $1}}
converted_first: ["%{alias('a::x')}", "%{alias('b::x')}"]
converted_last: ["%{alias('b::x')}", "%{alias('a::x')}"]
YAML
}
lookup() {
  local status=0
  ruby "$puppet" lookup "$1" --render-as json --node n.example.com --facts facts.json --environmentpath "$work/env" \
    --confdir "$work/conf" --vardir "$work/var" >out 2>/dev/null || status=$?
  echo "$(tr -d ' \n' <out) (exit code $status)"
}
echo '{"role": "web"}' >facts.json
version=$(ruby "$puppet" --version 2>/dev/null)
data '[Array, true]'
first=$(lookup converted_first)
last=$(lookup converted_last)
data 'Array'
plain=$(lookup converted_first)
echo "Puppet $version"
echo "[Array, true], the converted key first: $first"
echo "[Array, true], the converted key last:  $last"
echo "Array,         the converted key first: $plain"
[ "$version" = 7.23.0 ] && [ "$first" = ' (exit code 1)' ] && [ "$last" = '[1,[1]] (exit code 0)' ] \
  && [ "$plain" = '[[0],1] (exit code 0)' ]
