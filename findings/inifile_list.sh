#!/usr/bin/env bash
# A hash from Hiera goes into an ini file by inifile::create_ini_settings. One of its values is a list, [puppet,
# puppet.example.com]. What is in the file?
#
# Good guesses: the elements with a comma between them, as most ini files write a list; or an error, as a setting of an ini file is
# one text. With inifile 5.4.0 it is the first element alone. A property of a type in Puppet 7.23.0 that is made for one value
# takes the first of a list that it is given, without a message, and each further run finds the file right. A list of one element
# looks right, until somebody adds a second one, or a merge of two levels makes the list longer. An empty list writes a setting
# without a value.
#
# It matters as the catalog has the whole list: a test of the catalog passes, and PuppetDB shows what the file lacks.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 puppet-module-puppetlabs-inifile=5.4.0-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
production=env/production
mkdir -p "$production/data" modules
ln -s "$work/root/usr/share/puppet/modules.available/puppetlabs-inifile" modules/inifile
printf 'version: 5\nhierarchy: [{name: all, path: all.yaml}]\n' >"$production/hiera.yaml"
cat >"$production/data/all.yaml" <<'YAML'
settings:
  main:
    certname: puppet.example.com
    dns_alt_names: [puppet, puppet.example.com]
    one: [puppet]
    none: []
YAML
echo "inifile::create_ini_settings(lookup('settings'), { 'path' => '$work/puppet.conf' })" >site.pp
puppet() { # The command and its arguments.
  ruby -W0 root/usr/bin/puppet "$@" --color false --environmentpath "$work/env" --modulepath "$work/modules" \
    --confdir "$work/conf" --vardir "$work/var" 2>>messages
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
module=$(sed -n 's/^ *"version": "\([^"]*\)".*/\1/p' modules/inifile/metadata.json)
printf '[main]\n' >puppet.conf
puppet apply site.pp >first
puppet apply site.pp >second
catalog=$(puppet catalog compile --manifest "$work/site.pp" --render-as json | sed -n '/^{/p' | ruby -rjson -e '
  setting = JSON.parse(STDIN.read)["resources"].find { |resource| resource["title"].end_with?("dns_alt_names") }
  puts JSON.generate(setting["parameters"]["value"])')
echo "Puppet $version, inifile $module"
{
  echo "in the catalog: $catalog"
  echo 'in the file:'
  cat puppet.conf
  echo "changes of the second run: $(grep -c 'Ini_setting' second || true)"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$module" = 5.4.0 ] && [ "$(grep -c 'Ini_setting' first)" = 4 ] && ! grep -q dns_alt_names messages \
  && [ "$(cat shown)" = 'in the catalog: ["puppet","puppet.example.com"]
in the file:
[main]
certname = puppet.example.com
dns_alt_names = puppet
one = puppet
none = 
changes of the second run: 0' ]
