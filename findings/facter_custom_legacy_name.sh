#!/usr/bin/env bash
# A module has a custom fact with the name of a legacy one, as many do since the days of Facter 2:
# 'Facter.add(:osfamily) { setcode { "Custom" } }'. What does an agent of Puppet 8 send, which asks Facter without its
# legacy facts ('Facter.resolve("")')?
#
# Good guesses: nothing, since legacy facts are hidden; or the value of the module. Facter 4.3.0 sends the fact, with
# its own value instead of the module's. A custom fact without a weight never replaces a fact of Facter, and the hidden
# one counts here, too. But as there is a custom fact of that name, the name is not hidden. So the module brings the
# legacy fact back, for all paths and manifests that use it; without the module it is gone. With a weight the module's
# value is sent. A name that only looks like a legacy one ('mtu_' before the name of an interface) stays, as expected.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
sent() {
  mkdir -p "$1"
  printf '%s\n' "$2" >"$1/custom.rb"
  ruby -e '
    require "facter"
    Facter.search(ARGV[0])
    facts = Facter.resolve("")
    family = facts["os"]["family"]
    shown = facts["osfamily"] == family ? "the value of os.family" : facts["osfamily"].inspect
    puts "#{ARGV[0]}: osfamily #{facts.key?("osfamily") ? shown : "not sent"}, mtu_lan #{facts["mtu_lan"].inspect}"
  ' "$1" 2>/dev/null | grep "^$1: " # Facter logs to the same output.
}
version=$(ruby root/usr/bin/facter --version)
echo "Facter $version"
{
  sent none ''
  sent plain 'Facter.add(:osfamily) { setcode { "Custom" } }'
  sent weighted 'Facter.add(:osfamily) { has_weight 1; setcode { "Custom" } }'
  sent similar 'Facter.add(:mtu_lan) { setcode { 9000 } }'
} | tee shown
[ "$version" = 4.3.0 ] && [ "$(cat shown)" = 'none: osfamily not sent, mtu_lan nil
plain: osfamily the value of os.family, mtu_lan nil
weighted: osfamily "Custom", mtu_lan nil
similar: osfamily not sent, mtu_lan 9000' ]
