#!/usr/bin/env bash
# 'hiera-gc --fix' removes an override with the value that the key would have anyway: does the node keep its value?
#
# A good guess: yes, as the tool is made for Hiera and compares the two values, not their texts. The common file has "ports:
# 80,443", a slip: for Psych a comma between digits separates thousands, and Puppet 7.23.0 reads the number 80443. The file of
# a node repairs it with quotes, "80,443". hiera-gc 0.1.0 reads both by PyYAML, for which a comma makes a text, with and
# without quotes. So it calls the repair redundant and removes it, and the node gets the number 80443. A number with an
# underscore is one for both readers, and its repair stays.
#
# It matters to each tool that compares Hiera data by another YAML library than Puppet's: equal there may not be equal here.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of Debian and PyPI in a temporary folder and runs them
# there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 \
  ruby-deep-merge=1.1.1-2 ruby-semantic-puppet=1.0.4-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
pip install --quiet --disable-pip-version-check --target site hiera-gc==0.1.0 pyyaml==6.0.4 2>/dev/null
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=code/environments/production
mkdir -p "$production/data/nodes" "$production/manifests" "$production/modules/web/manifests"
cat >"$production/hiera.yaml" <<'YAML'
version: 5
hierarchy:
  - {name: node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: common, path: common.yaml}
YAML
echo 'class web(String $ports, String $version, String $user) {}' >"$production/modules/web/manifests/init.pp"
echo "node 'web1.example.com' { include web }" >"$production/manifests/site.pp"
printf 'web::ports: 80,443\nweb::version: 1_0.5\nweb::user: www\n' >"$production/data/common.yaml"
printf 'web::ports: "80,443"\nweb::version: "1_0.5"\nweb::user: www\n' >"$production/data/nodes/web1.example.com.yaml"
cat >facts.json <<'JSON'
{"clientcert": "web1.example.com", "fqdn": "web1.example.com", "hostname": "web1", "domain": "example.com"}
JSON
values() {
  local key
  for key in ports version user; do
    ruby root/usr/bin/puppet lookup "web::$key" --render-as json --node web1.example.com --facts facts.json \
      --environmentpath "$work/code/environments" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
  done | paste -sd' '
}
gc() { PYTHONPATH=site python3 -m hiera_gc --code-dir code --env production --global-hiera none "$@" 2>/dev/null; }
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tool=$(PYTHONPATH=site python3 -m hiera_gc --version)
before=$(values)
removed=$(gc --fix --fix-kinds redundant | sed -n "s/^ *removed key '\([^']*\)'.*/\1/p" | sort | paste -sd' ')
after=$(values)
echo "Puppet $version, hiera-gc $tool"
echo "ports, version, user before: $before"
echo "removed: $removed"
echo "ports, version, user after:  $after"
[ "$version" = 7.23.0 ] && [ "$tool" = 0.1.0 ] && [ "$before" = '"80,443" "1_0.5" "www"' ] \
  && [ "$removed" = 'web::ports web::user' ] && [ "$after" = '80443 "1_0.5" "www"' ]
