#!/usr/bin/env bash
# lookup_options say 'convert_to: Sensitive' for the key db, a hash. Another key has the text "db://%{lookup('db.host')}/app".
# What is in it?
#
# Good guesses: the name of the host, as the whole key is converted and not each of its parts; or an error, as a secret can
# not be put into a text. Puppet 7.23.0 applies the options of db to each part that is looked up by a dotted key, too, and a
# converted value goes into a text as its class prints it. So nodes get "db://Sensitive [value redacted]/app" as an address,
# without an error or a warning. With 'convert_to: Array', for a value that may be one element or a list, db as a whole is a
# list of pairs, and db.port, which is 5, is not [5] but [0, 1, 2, 3, 4], as an Array of a number counts up to it.
#
# It matters as the options and the text are often in different files, and each of them looks right.
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
production=env/production
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: common, path: common.yaml}]\n' >"$production/hiera.yaml"
echo '{"role": "web"}' >facts.json
lookup() {
  cat >"$production/data/common.yaml" <<YAML
lookup_options: {db: {$1}}
db: {host: db1, port: 5}
url: "db://%{lookup('db.host')}/app"
YAML
  printf '%s, %s: ' "$1" "$2"
  ruby root/usr/bin/puppet lookup "$2" --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version"
{
  lookup 'merge: first' url
  lookup 'convert_to: Sensitive' url
  lookup 'convert_to: Array' db
  lookup 'convert_to: Array' db.port
} | tee shown
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = 'merge: first, url: "db://db1/app"
convert_to: Sensitive, url: "db://Sensitive [value redacted]/app"
convert_to: Array, db: [["host","db1"],["port",5]]
convert_to: Array, db.port: [0,1,2,3,4]' ]
