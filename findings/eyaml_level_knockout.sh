#!/usr/bin/env bash
# A level without secrets read by eyaml_lookup_key instead of yaml_data: does a class get the same values?
#
# A good guess: yes, it is the same YAML. But Puppet 7.23.0 keeps the values of an eyaml level for the rest of the compilation, and a
# deep merge with a knockout_prefix takes the element with the prefix out of that list itself. So only the first
# lookup of the key removes anything: the next one, in another class for example, has the element that was to go.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 hiera-eyaml=3.3.0-1 ruby-optimist=3.0.0-2 ruby-highline=2.0.3-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
gems=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$gems/lib:$gems/gems/hiera-eyaml-3.3.0/lib
RUBYLIB+=:$gems/gems/optimist-3.0.0/lib:$gems/gems/highline-2.0.3/lib
production=env/production
mkdir -p "$production/data"
cat >"$production/data/node.yaml" <<'YAML'
lookup_options: {packages: {merge: {strategy: deep, knockout_prefix: '--'}}}
packages: ['--telnet', curl]
twice: ["%{alias('packages')}", "%{alias('packages')}"]
YAML
echo 'packages: [telnet, vim]' >"$production/data/common.yaml"
echo '{"role": "web"}' >facts.json
lookup() {
  printf 'version: 5\ndefaults: {%s, datadir: data}\nhierarchy: [{name: all, paths: [node.yaml, common.yaml]}]\n' "$1" \
    >"$production/hiera.yaml"
  ruby "$work/root/usr/bin/puppet" lookup twice --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null | tr -d ' \n'
}
version=$(ruby "$work/root/usr/bin/puppet" --version 2>/dev/null)
yaml=$(lookup 'data_hash: yaml_data')
eyaml=$(lookup 'lookup_key: eyaml_lookup_key')
echo "Puppet $version, hiera-eyaml 3.3.0"
echo "the key twice, yaml_data:        $yaml"
echo "the key twice, eyaml_lookup_key: $eyaml"
[ "$version" = 7.23.0 ] && [ "$yaml" = '[["vim","curl"],["vim","curl"]]' ] \
  && [ "$eyaml" = '[["vim","curl"],["telnet","vim","curl"]]' ]
