#!/usr/bin/env bash
# puppet lookup --node NAME: whose certificate is in %{trusted.certname}?
#
# A good guess: NAME, as in the catalog of that node. With --facts Puppet 7.23.0 takes the name from the
# fact 'clientcert' instead, whatever --node says; without that fact trusted.certname is empty, so a
# level "nodes/%{trusted.certname}.yaml" reads no file and the common value is printed. A facts file made
# with 'facter --json' has no 'clientcert'; one from 'puppet facts' has. A file with this fact must have
# 'hostname', 'domain' and 'fqdn' too, or the command fails.
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
mkdir -p env/production/data/nodes
cat >env/production/hiera.yaml <<'YAML'
version: 5
hierarchy:
  - {name: node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: common, path: common.yaml}
YAML
echo 'port: 8443' >env/production/data/nodes/web1.example.com.yaml
echo 'port: 8080' >env/production/data/common.yaml
echo '{"role": "web"}' >plain.json
cat >named.json <<'JSON'
{"role": "web", "clientcert": "web1.example.com", "fqdn": "web1.example.com", "hostname": "web1", "domain": "example.com"}
JSON
lookup() {
  HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib \
    ruby "$work/root/usr/bin/puppet" lookup "$@" --environmentpath "$work/env" --confdir "$work/conf" \
    --vardir "$work/var" 2>/dev/null
}
version=$(HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby ruby "$work/root/usr/bin/puppet" --version 2>/dev/null)
plain=$(lookup port --node web1.example.com --facts plain.json)
named=$(lookup port --node web1.example.com --facts named.json)
other=$(lookup port --node web2.example.com --facts named.json)
echo "Puppet $version"
echo "--node web1, facts without clientcert:   $plain"
echo "--node web1, fact clientcert is web1:    $named"
echo "--node web2, fact clientcert is web1:    $other"
[ "$version" = 7.23.0 ] && [ "$plain" = '--- 8080' ] && [ "$named" = '--- 8443' ] && [ "$other" = '--- 8443' ]
