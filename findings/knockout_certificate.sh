#!/usr/bin/env bash
# A deep merge with the usual knockout_prefix "--" over a hash of certificates and scripts: do the texts stay?
#
# A good guess: yes, as the prefix is for elements of lists, and no lower level has these keys. Puppet 7.23.0 lets deep_merge
# look for the prefix in each text of the higher levels, too, and at the start of every line of it. So a certificate, whose
# first line starts with five dashes, becomes an empty text, and so does a query with a comment in its second line. A text of
# several lines in a list is gone. The same certificate in the lowest level stays. With another prefix nothing is lost.
#
# It matters as "--" is the prefix of most examples, and certificates are often in a hash that is merged: a node gets an empty
# file, without a warning.
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
printf 'version: 5\nhierarchy: [{name: all, paths: [node.yaml, common.yaml]}]\n' >"$production/hiera.yaml"
echo '{"role": "web"}' >facts.json
cat >"$production/data/common.yaml" <<'YAML'
site:
  port: 443
  ca: "-----BEGIN CERTIFICATE-----\nMIIB\n"
  jobs: [backup]
YAML
lookup() {
  cat >"$production/data/node.yaml" <<YAML
lookup_options: {site: {merge: {strategy: deep, knockout_prefix: "$1"}}}
site:
  cert: "-----BEGIN CERTIFICATE-----\nMIIC\n"
  query: "SELECT 1\n--a comment\n"
  jobs: [report, "sort\n--unique\n"]
YAML
  ruby root/usr/bin/puppet lookup site --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
dashes=$(lookup --)
tildes=$(lookup '~~')
echo "Puppet $version"
echo "knockout_prefix '--': $dashes"
echo "knockout_prefix '~~': $tildes"
lowest='{"port":443,"ca":"-----BEGIN CERTIFICATE-----\nMIIB\n","jobs":["backup","report"'
[ "$version" = 7.23.0 ] && [ "$dashes" = "$lowest"'],"cert":"","query":""}' ] \
  && [ "$tildes" = "$lowest"',"sort\n--unique\n"],"cert":"-----BEGIN CERTIFICATE-----\nMIIC\n","query":"SELECT 1\n--a comment\n"}' ]
