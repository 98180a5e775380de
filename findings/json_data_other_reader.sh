#!/usr/bin/env bash
# json_data: does it matter which other Ruby libraries a server has, that nobody uses for Puppet?
#
# A good guess: no, Puppet reads JSON by the json library that comes with Ruby. But Puppet 7.23.0 takes the library multi_json
# if it is there, and that one takes Oj, if it is there, before json. Many Ruby programs bring both. The two readers agree on
# good JSON, but not on what people write. "\d+" with one backslash is the text d+ for json: the pattern is wrong on the
# nodes, and nobody is told. Oj refuses the file. A mode as the number 0644 is an error for json, and 644 for Oj. A line break
# inside of a text is an error for json, and a part of the text for Oj.
#
# It matters as a lookup that works, or fails, on a workstation may do the opposite on the server, with the same Puppet and
# the same data.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there, first without Oj and
# multi_json.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-oj=3.14.2-1+deb12u1 ruby-multi-json=1.14.1-2 >/dev/null 2>&1
for package in ./*.deb; do
  case $package in ./ruby-oj* | ./ruby-multi*) dpkg-deb -x "$package" more ;; *) dpkg-deb -x "$package" root ;; esac
done
oj=$(dirname "$(find more -name oj.rb | grep '/lib/oj.rb$')")
extension=$(dirname "$(dirname "$(find more -name oj.so)")")
export HOME=$work GEM_PATH=$work/root/usr/share/rubygems-integration/all
puppet=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=env/production
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: all, data_hash: json_data, path: "%%{facts.file}.json"}]\n' >"$production/hiera.yaml"
echo '{"value": "^\d+$"}' >"$production/data/pattern.json"
echo '{"value": 0644}' >"$production/data/mode.json"
printf '{"value": "first\nlast"}\n' >"$production/data/lines.json"
echo '{"value": "good"}' >"$production/data/good.json"
lookup() {
  local file found
  for file in good pattern mode lines; do
    echo "{\"file\": \"$file\"}" >facts.json
    found=$(RUBYLIB=$1 ruby root/usr/bin/puppet lookup value --render-as json --node web1.example.com --facts facts.json \
      --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null) || found='an error'
    echo "$2, $file: $found"
  done
}
version=$(RUBYLIB=$puppet ruby root/usr/bin/puppet --version 2>/dev/null)
versions=$(RUBYLIB=$work/$oj:$work/$extension ruby -rjson -roj -e 'puts "json #{JSON::VERSION}, Oj #{Oj::VERSION}"')
echo "Puppet $version, $versions"
{
  lookup "$puppet" alone
  lookup "$puppet:$work/more/usr/lib/ruby/vendor_ruby:$work/$oj:$work/$extension" 'with Oj'
} | tee shown
[ "$version" = 7.23.0 ] && [ "$versions" = 'json 2.6.1, Oj 3.14.2' ] && [ "$(cat shown)" = 'alone, good: "good"
alone, pattern: "^d+$"
alone, mode: an error
alone, lines: an error
with Oj, good: "good"
with Oj, pattern: an error
with Oj, mode: 644
with Oj, lines: "first\nlast"' ]
