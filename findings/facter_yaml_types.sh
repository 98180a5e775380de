#!/usr/bin/env bash
# facter --yaml and facter --json: does 'puppet lookup --facts FILE' print the same with both files?
#
# A good guess: yes, they are two forms of the same facts. Facter 4.3.0 edits the YAML before it prints it: it puts quotes
# around scalars that have no letter, such as a negative number or nothing, and takes away those around keys.
# So -5 and null become texts, and the key "8080" becomes a number. Then '%{facts.app.ports.8080}', which
# looks for a number, has a value in the command. It has none with the JSON file, nor in an agent's catalog, as an
# agent sends its facts as JSON.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 \
  ruby-deep-merge=1.1.1-2 ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=env/production
mkdir -p facts.d "$production/data"
echo '{"app": {"nice": -5, "proxy": null, "ports": {"8080": "web"}}}' >facts.d/app.json
printf 'version: 5\nhierarchy: [{name: common, path: common.yaml}]\n' >"$production/hiera.yaml"
printf 'by_number: "[%%{facts.app.ports.8080}]"\nby_text: "[%%{facts.app.ports.'"'8080'"'}]"\n' >"$production/data/common.yaml"
facter() { ruby root/usr/bin/facter --external-dir facts.d "$@" app 2>/dev/null; }
facter --yaml >facts.yaml
facter --json >facts.json
lookup() {
  ruby root/usr/bin/puppet lookup "$1" --render-as s --node web1.example.com --facts "facts.$2" \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
types() { ruby -ryaml -rjson -e 'app = YAML.load_file(ARGV[0])["app"]; p app["nice"], app["proxy"], app["ports"]' "$1" | paste -sd' '; }
version=$(ruby root/usr/bin/facter --version)
echo "Facter $version"
for format in yaml json; do
  echo "$format: $(types "facts.$format") by number $(lookup by_number $format) by text $(lookup by_text $format)"
done | tee shown
[ "$version" = 4.3.0 ] && [ "$(cat shown)" = 'yaml: "-5" "" {8080=>"web"} by number [web] by text []
json: -5 nil {"8080"=>"web"} by number [] by text [web]' ]
