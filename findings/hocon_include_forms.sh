#!/usr/bin/env bash
# hocon_data reads a file with 'include "ports.conf"', and ports.conf lies beside it. Are its keys there?
#
# Good guesses: yes, as HOCON looks beside the file that includes it; or never, as Puppet gives the reader a text without a
# path. In Puppet 7.23.0 with hocon 1.3.1 the plain form finds nothing, and says nothing, as a missing file is no mistake in
# HOCON. But 'include file("ports.conf")' does read a file, in the folder in which the command was started, not beside the
# data. So 'puppet lookup' in the data folder prints the key, and elsewhere it is gone. A full path works everywhere. In the
# same way "${?PORT}" is the variable of the process that reads, of a shell or of the service: "port = 8080, port = ${?PORT}"
# is 8080 in one and a text in the other.
#
# It matters as the same data gives a server and a shell different values, and no line of it says so.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-concurrent=1.1.6+dfsg-5 \
  ruby-deep-merge=1.1.1-2 ruby-semantic-puppet=1.0.4-1 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
data=$work/env/production/data
mkdir -p "$data"
printf 'version: 5\nhierarchy: [{name: all, data_hash: hocon_data, path: site.conf}]\n' >env/production/hiera.yaml
echo '{"role": "web"}' >facts.json
echo 'port = 8443' >"$data/ports.conf"
lookup() { # The line of the data, the folder of the command, a variable for it.
  printf '%s\n' "$1" >"$data/site.conf"
  (cd "$2" && env ${3:+"$3"} ruby "$work/root/usr/bin/puppet" lookup port --render-as json --default none --node web1.example.com \
    --facts "$work/facts.json" --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null)
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
hocon=$(ruby -e 'require "hocon/version"; puts Hocon::Version::STRING')
echo "Puppet $version, hocon $hocon"
{
  echo "plain: $(lookup 'include "ports.conf"' "$data")"
  echo "file(), in the data folder: $(lookup 'include file("ports.conf")' "$data")"
  echo "file(), elsewhere: $(lookup 'include file("ports.conf")' "$work")"
  echo "file() with the full path: $(lookup "include file(\"$data/ports.conf\")" "$work")"
  echo "variable not set: $(lookup 'port = 8080, port = ${?PORT}' "$work")"
  echo "variable set: $(lookup 'port = 8080, port = ${?PORT}' "$work" PORT=9000)"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$hocon" = 1.3.1 ] && [ "$(cat shown)" = 'plain: "none"
file(), in the data folder: 8443
file(), elsewhere: "none"
file() with the full path: 8443
variable not set: 8080
variable set: "9000"' ]
