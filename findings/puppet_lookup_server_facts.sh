#!/usr/bin/env bash
# puppet lookup and %{server_facts.environment}, the form that Puppet's documentation recommends in paths:
# does the command print what an agent of that environment gets?
#
# A good guess: yes, as a level "env/%{server_facts.environment}.yaml" works for agents. In Puppet 7.23.0 the
# command has no server facts, with --compile neither: the level reads no file, and a string with the token has
# nothing in its place. %{environment} has the name in both.
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
mkdir -p env/production/data/env env/production/manifests
cat >env/production/hiera.yaml <<'YAML'
version: 5
hierarchy:
  - {name: server, path: "env/%{server_facts.environment}.yaml"}
  - {name: common, path: common.yaml}
YAML
echo 'port: 8443' >env/production/data/env/production.yaml
cat >env/production/data/common.yaml <<'YAML'
port: 8080
names: "[%{server_facts.environment}] [%{environment}]"
YAML
echo 'node default { }' >env/production/manifests/site.pp
echo '{"role": "web"}' >facts.json
lookup() {
  HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib \
    ruby "$work/root/usr/bin/puppet" lookup "$@" --environmentpath "$work/env" --confdir "$work/conf" \
    --vardir "$work/var" 2>/dev/null
}
version=$(HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby ruby "$work/root/usr/bin/puppet" --version 2>/dev/null)
common=(--node web1.example.com --facts facts.json --environment production)
port=$(lookup port "${common[@]}")
names=$(lookup names "${common[@]}")
compiled=$(lookup names --compile "${common[@]}")
echo "Puppet $version"
echo "port:             $port"
echo "names:            $names"
echo "names, --compile: $compiled"
[ "$version" = 7.23.0 ] && [ "$port" = '--- 8080' ] && [ "$names" = '--- "[] [production]"' ] \
  && [ "$compiled" = "$names" ]
