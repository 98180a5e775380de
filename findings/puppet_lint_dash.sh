#!/usr/bin/env bash
# A manifest picks an entry of a hash from Hiera by the text "$site-01", and 'puppet-lint --fix' tidies the manifest. Does it still
# pick the same entry?
#
# A good guess: yes, as the fixes are about style, and "$site-01" becomes "${site}-01". It does inside of a longer text. But
# puppet-lint 3.0.1 takes a dash for a part of the variable's name, which Puppet does not, so that for one of its checks the text
# is only a variable. That one removes the quotes. Another one then splits the name at the dash and gives the rest to what comes
# next. If that is the end of the line, the rest is lost: '$key = "$site-01"' becomes '$key = $site'. If it is a comma, the rest
# stays and is a subtraction: "$rack-01" with rack 7 becomes 6 instead of the text 7-01. Puppet 7.23.0 compiles both without an
# error. The output calls them fixed, and warns that the variables contain a dash.
#
# It matters as fixes are made for all files at once, in a hook or a large commit, and nodes then get the values of another key.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 puppet-lint=3.0.1-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
production=env/production
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: all, path: all.yaml}]\n' >"$production/hiera.yaml"
printf 'limits: {fra: 900, fra-01: 50}\n' >"$production/data/all.yaml"
cat >site.pp <<'P'
$site = 'fra'
$rack = 7
$key = "$site-01"
$unit = {
  'name' => "$rack-01",
  'path' => "/srv/$site-01",
}
notice('key', $key, 'limit', lookup('limits')[$key])
notice('name', $unit['name'], 'path', $unit['path'])
P
lint() { ruby -W0 -r puppet-lint -r puppet-lint/bin -e 'exit PuppetLint::Bin.new(ARGV).run' -- "$@"; }
values() {
  ruby root/usr/bin/puppet apply --color false --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" site.pp \
    2>/dev/null | sed -n 's/^Notice: Scope(Class\[main\]): //p' | paste -sd' '
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tool=$(lint --version)
before=$(values)
warned=$(lint --fix site.pp | grep -c '^WARNING: variable contains a dash')
fixed=$(grep -E 'key =|=>' site.pp | sed 's/^ *//' | paste -sd' ')
after=$(values)
echo "Puppet $version, $tool"
echo "before: $before"
echo "fixed:  $fixed"
echo "after:  $after"
[ "$version" = 7.23.0 ] && [ "$tool" = 'puppet-lint 3.0.1' ] && [ "$warned" -gt 0 ] \
  && [ "$before" = 'key fra-01 limit 50 name 7-01 path /srv/fra-01' ] \
  && [ "$fixed" = "\$key = \$site 'name' => \$rack-01, 'path' => \"/srv/\${site}-01\"," ] \
  && [ "$after" = 'key fra limit 900 name 6 path /srv/fra-01' ]
