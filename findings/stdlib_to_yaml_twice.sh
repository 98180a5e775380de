#!/usr/bin/env bash
# A manifest looks up a list of hosts, uses it in two places of a hash, and writes that as a file by stdlib's to_yaml. What is in the
# file, and who can read it?
#
# A good guess: the list, twice, as nothing in the manifest or in the data has an anchor. But stdlib 8.5.0 leaves the writing to
# Psych, and that one writes a list that it meets again as "*1", with "&1" at the first. So the program that reads the file has to know
# aliases. Ruby itself refuses them since Psych 4, of Ruby 3.1, in YAML.load_file, and so does stdlib's own parseyaml: it takes
# its default for the text that to_yaml just wrote. Two lookups of the same key instead of one variable give two lists. An anchor in
# the data does not come out as one, as a lookup makes new lists.
#
# It matters as the file changes its form when a value is used once more, and the manifest and its data look the same.
#
# Needs Debian 12 with Ruby 3.1. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  puppet-module-puppetlabs-stdlib=8.5.0-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
production=env/production
mkdir -p "$production/data" "$production/modules"
ln -s "$work/root/usr/share/puppet/modules.available/puppetlabs-stdlib" "$production/modules/stdlib"
printf 'version: 5\nhierarchy: [{name: all, path: all.yaml}]\n' >"$production/hiera.yaml"
printf 'hosts: [a]\nanchor: {read: &hosts [a], write: *hosts}\n' >"$production/data/all.yaml"
cat >reader.rb <<'R'
require 'yaml'
begin
  puts YAML.load_file(ARGV[0]).inspect
rescue Psych::Exception, Psych::BadAlias => e
  puts e.class
end
R
written() {
  cat >site.pp <<PP
\$hosts = lookup('hosts')
\$text = to_yaml($1)
file { '$work/written.yaml': content => \$text }
notice(parseyaml(\$text, 'the default'))
PP
  ruby -W0 root/usr/bin/puppet apply --color false --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" site.pp \
    >out 2>/dev/null
  echo "$1"
  echo "  written: $(paste -sd' ' written.yaml)"
  echo "  parseyaml: $(sed -n 's/^Notice: Scope(Class\[main\]): //p' out), YAML.load_file: $(ruby -W0 reader.rb written.yaml)"
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
module=$(ruby -rjson -e 'puts JSON.parse(File.read(ARGV[0]))["version"]' "$production/modules/stdlib/metadata.json")
psych=$(ruby -rpsych -e 'puts Psych::VERSION')
echo "Puppet $version, stdlib $module, Psych $psych"
{
  written "{ 'read' => lookup('hosts'), 'write' => lookup('hosts') }"
  written "lookup('anchor')"
  written "{ 'read' => \$hosts, 'write' => \$hosts }"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$module" = 8.5.0 ] && [ "$psych" = 4.0.3 ] && [ "$(cat shown)" = "{ 'read' => lookup('hosts'), 'write' => lookup('hosts') }
  written: --- read: - a write: - a
  parseyaml: {read => [a], write => [a]}, YAML.load_file: {\"read\"=>[\"a\"], \"write\"=>[\"a\"]}
lookup('anchor')
  written: --- read: - a write: - a
  parseyaml: {read => [a], write => [a]}, YAML.load_file: {\"read\"=>[\"a\"], \"write\"=>[\"a\"]}
{ 'read' => \$hosts, 'write' => \$hosts }
  written: --- read: &1 - a write: *1
  parseyaml: the default, YAML.load_file: Psych::BadAlias" ]
