#!/usr/bin/env bash
# A hash from Hiera has texts in quotes, such as the commit "1234e56". A manifest writes it to a file by stdlib's to_yaml. Does the
# program that reads this file get the same texts?
#
# A good guess: yes, since to_yaml knows which texts look like something else, and gives them quotes: "0644", "no", "17:30" and
# even "08". But Psych 4.0.3, by which stdlib 8.5.0 writes, goes by its own reader. For that one a number with an exponent needs
# a point and a sign, so that "1234e56" and "2e0" are written without quotes, and "0o17" as well. Readers of YAML 1.2 take them
# for numbers: for the package js-yaml of npm the commit is 1.234e+59, the version "2e0" is 2, and "0o17" is 15.
#
# It matters as such files are for other programs than Puppet. Nearly all commit ids have more letters, and one with a
# single "e" among digits is rare.
#
# Needs Debian 12 with Ruby, node 20 and npm. Installs packages of Debian and npm in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 puppet-module-puppetlabs-stdlib=8.5.0-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
echo '{"private": true}' >package.json
npm install --no-audit --no-fund --silent --save-exact js-yaml@4.1.0 yaml@2.9.1
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=env/production
mkdir -p "$production/data" "$production/manifests" "$production/modules"
cp -r root/usr/share/puppet/modules.available/puppetlabs-stdlib "$production/modules/stdlib"
echo 'version: 5' >"$production/hiera.yaml"
cat >"$production/data/common.yaml" <<'YAML'
release:
  mode: "0644"
  month: "08"
  stop: "17:30"
  beta: "no"
  commit: "1234e56"
  version: "2e0"
  id: "0o17"
YAML
echo "notify { 'file': message => to_yaml(lookup('release')) }" >"$production/manifests/site.pp"
cat >compile.rb <<'R'
require 'puppet'
Puppet.initialize_settings(['--confdir', 'conf', '--vardir', 'var', '--environmentpath', 'env'])
environment = Puppet.lookup(:environments).get!('production')
node = Puppet::Node.new('web1.example.com', environment: environment, facts: Puppet::Node::Facts.new('web1.example.com', {}))
catalog = Puppet.override(current_environment: environment) { Puppet::Parser::Compiler.compile(node) }
print catalog.resource('Notify[file]')[:message]
R
ruby -W0 compile.rb >release.yaml 2>/dev/null
read_by() {
  node -p "Object.entries($1(require('fs').readFileSync('release.yaml', 'utf8')))
    .map(([key, value]) => key + ' ' + JSON.stringify(value)).join(', ')"
}
psych=$(ruby -rpsych -e 'puts Psych.safe_load(File.read("release.yaml")).map { |key, value| "#{key} #{value.inspect}" }.join(", ")')
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version, stdlib 8.5.0, Psych $(ruby -rpsych -e 'puts Psych::VERSION')"
cat release.yaml
{
  echo "Psych: $psych"
  echo "js-yaml 4.1.0: $(read_by "require('js-yaml').load")"
  echo "yaml 2.9.1: $(read_by "require('yaml').parse")"
} | tee shown
rest='mode "0644", month "08", stop "17:30", beta "no", commit'
numbers='1.234e+59, version 2, id 15'
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = "Psych: $rest \"1234e56\", version \"2e0\", id \"0o17\"
js-yaml 4.1.0: $rest $numbers
yaml 2.9.1: $rest $numbers" ]
