#!/usr/bin/env bash
# The default_hierarchy of a module has lookup_options for the module's keys, with merge and convert_to: do both count?
#
# Good guesses: both, as in each other hierarchy; or neither, as the normal hierarchy is the place for options. Puppet 7.23.0
# takes merge alone from there. The default hierarchy is merged by its own options, but the conversion comes later, by the
# options of the environment and of the module's normal hierarchy. So a port stays the text "8443" and no message says why. In
# the normal hierarchy the same entries do the opposite: the default value is converted, and the default levels are not
# merged.
#
# It matters to authors of modules. Defaults and their options are often in one file, and half of these options do nothing. A
# module that needs both has to write its options twice, once in each hierarchy.
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
module=env/production/modules/web
mkdir -p "$module/data"
cat >"$module/hiera.yaml" <<'YAML'
version: 5
hierarchy: [{name: normal, path: normal.yaml}]
default_hierarchy: [{name: default, paths: [options.yaml, high.yaml, low.yaml]}]
YAML
printf 'web::port: "8443"\nweb::hosts: [a]\n' >"$module/data/high.yaml"
printf 'web::hosts: [b]\n' >"$module/data/low.yaml"
echo '{"role": "web"}' >facts.json
options='lookup_options: {"web::port": {convert_to: Integer}, "web::hosts": {merge: unique}}'
lookup() {
  ruby root/usr/bin/puppet lookup "$1" --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
values() {
  printf '%s\n' "$1" >"$module/data/options.yaml"
  printf '%s\n' "$2" >"$module/data/normal.yaml"
  echo "$(lookup web::port) $(lookup web::hosts)"
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
none=$(values '{}' '{}')
default=$(values "$options" '{}')
normal=$(values '{}' "$options")
both=$(values "$options" "$options")
echo "Puppet $version"
echo "no options:               $none"
echo "in the default hierarchy: $default"
echo "in the normal hierarchy:  $normal"
echo "in both:                  $both"
[ "$version" = 7.23.0 ] && [ "$none" = '"8443" ["a"]' ] && [ "$default" = '"8443" ["a","b"]' ] \
  && [ "$normal" = '8443 ["a"]' ] && [ "$both" = '8443 ["a","b"]' ]
