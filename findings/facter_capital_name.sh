#!/usr/bin/env bash
# A file of external facts has 'Tier: gold' and 'App: {Level: 3}', and a level is "tiers/%{facts.Tier}.yaml". 'puppet lookup' with the same
# file as its facts prints the value of gold. Does the node get it?
#
# A good guess: yes, as names of facts are keys of YAML, and what is a capital letter in the file is one in the token. But Facter 4.3.0
# makes all letters of a fact's name small, and leaves those of the keys inside of a fact. So the node has tier, and app with the
# key Level. Puppet 7.23.0 asks for Tier, finds none, and reads no file, without a warning. 'puppet lookup --facts' takes the names
# as they are in its file, and shows a value that no node gets. A name for 'facter' on the command line has to be small, too.
#
# It matters as the level is skipped on all nodes, and the usual ways to try it out, a file of facts for the command or for a
# test, say that it works.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
production=env/production
mkdir -p "$production/data/tiers" facts.d
cat >"$production/hiera.yaml" <<'YAML'
version: 5
hierarchy:
  - {name: tier, path: "tiers/%{facts.Tier}.yaml"}
  - {name: common, path: common.yaml}
YAML
echo 'workers: 8' >"$production/data/tiers/gold.yaml"
cat >"$production/data/common.yaml" <<'YAML'
workers: 2
tokens: "Tier <%{facts.Tier}> tier <%{facts.tier}> App <%{facts.App.Level}> app <%{facts.app.Level}>"
YAML
printf 'Tier: gold\nApp: {Level: 3}\n' >facts.d/site.yaml
echo "notice(lookup('workers'), lookup('tokens'))" >site.pp
query() { ruby -W0 root/usr/bin/facter --external-dir facts.d "$1" 2>/dev/null || true; }
lookup() {
  ruby -W0 root/usr/bin/puppet lookup "$1" --render-as s --node web1.example.com --facts facts.d/site.yaml \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
node() {
  ruby -W0 root/usr/bin/puppet apply --color false --pluginfactdest "$work/facts.d" --environmentpath "$work/env" \
    --confdir "$work/conf" --vardir "$work/var" site.pp 2>warnings | sed -n 's/^Notice: Scope(Class\[main\]): //p'
  grep -i 'warning\|undefined' warnings || true
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
facter=$(ruby -W0 root/usr/bin/facter --version 2>/dev/null)
echo "Puppet $version, Facter $facter"
{
  echo "facter: Tier <$(query Tier)> tier <$(query tier)> App <$(query App.Level)> app <$(query app.Level)>"
  echo "puppet lookup: $(lookup workers) $(lookup tokens)"
  echo "the node:      $(node)"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$facter" = 4.3.0 ] && [ "$(cat shown)" = 'facter: Tier <> tier <gold> App <> app <3>
puppet lookup: 8 Tier <gold> tier <> App <3> app <>
the node:      2 Tier <> tier <gold> App <> app <3>' ]
