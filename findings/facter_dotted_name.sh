#!/usr/bin/env bash
# A file of external facts has the line 'app.tier=gold'. 'facter app.tier' prints gold, as 'facter os.family' prints Debian. Does
# Hiera find %{facts.app.tier}, as it finds %{facts.os.family}?
#
# A good guess: yes, as both use the same form for a part of a fact, and Facter answers it. But for Facter 4.3.0 "app.tier" is the
# name of a whole fact, with a dot in it. A query tries whole names, too, and so hides this. Puppet 7.23.0 takes each dot in a token
# as a step into a hash. So a text has nothing in place of the token, a level "tiers/%{facts.app.tier}.yaml" reads no file, and
# no warning is given. A fact app, a hash in another file, does not help: facter then prints app.port and app.tier alike, and
# Hiera finds only the port. With quotes, %{facts.'app.tier'}, it finds the tier. Without a dot, or as a hash in YAML, it works in
# all places.
#
# It matters as facter is the way to try a fact out before it is used in a path, and the common value replaces the right one.
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
  - {name: tier, path: "tiers/%{facts.app.tier}.yaml"}
  - {name: common, path: common.yaml}
YAML
echo 'workers: 8' >"$production/data/tiers/gold.yaml"
cat >"$production/data/common.yaml" <<'YAML'
workers: 2
plain: "<%{facts.app.tier}>"
quoted: "<%{facts.'app.tier'}>"
port: "<%{facts.app.port}>"
YAML
echo "notice(lookup('plain'), lookup('quoted'), lookup('port'), lookup('workers'))" >site.pp
query() { ruby -W0 root/usr/bin/facter --external-dir facts.d "$1" 2>/dev/null; }
node() {
  ruby -W0 root/usr/bin/puppet apply --color false --pluginfactdest "$work/facts.d" --environmentpath "$work/env" \
    --confdir "$work/conf" --vardir "$work/var" site.pp 2>warnings | sed -n 's/^Notice: Scope(Class\[main\]): //p'
  grep -i 'warning\|undefined' warnings || true
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
facter=$(ruby -W0 root/usr/bin/facter --version 2>/dev/null)
echo "Puppet $version, Facter $facter"
{
  echo app.tier=gold >facts.d/app.txt
  echo "facter: $(query app.tier), plain, quoted, port, workers: $(node)"
  echo 'app: {port: 8080}' >facts.d/port.yaml
  echo "facter: $(query app.tier) and $(query app.port), plain, quoted, port, workers: $(node)"
  rm facts.d/app.txt
  echo 'app: {port: 8080, tier: gold}' >facts.d/port.yaml
  echo "facter: $(query app.tier) and $(query app.port), plain, quoted, port, workers: $(node)"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$facter" = 4.3.0 ] && [ "$(cat shown)" = 'facter: gold, plain, quoted, port, workers: <> <gold> <> 2
facter: gold and 8080, plain, quoted, port, workers: <> <gold> <8080> 2
facter: gold and 8080, plain, quoted, port, workers: <gold> <> <8080> 8' ]
