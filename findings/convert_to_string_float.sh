#!/usr/bin/env bash
# A version stands in the data without quotes, 11.4, and a class wants a String. lookup_options say 'convert_to: String'. Which text
# does the class get?
#
# A good guess: "11.4", as every text with the number in it has: "${version}" in a manifest, and a token in the data. But a number
# with a point that is converted on its own is printed with six digits after the point by Puppet 7.23.0: "11.400000". So a package
# or a path of this version does not exist. Digits beyond the sixth are gone, so that a small number becomes a zero. The same
# number inside of a list keeps its form, and so does a whole number. A token with the name of the converted key has the long
# form, too.
#
# It matters as the option is the usual answer to "expects a String value, got Float", and the new error is far from it.
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
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: all, path: all.yaml}]\n' >"$production/hiera.yaml"
cat >"$production/data/all.yaml" <<'YAML'
lookup_options: {'^web::': {convert_to: String}}
web::version: 11.4
web::ratio: 0.0000001
web::scale: 1.23456789
web::major: 11
web::all: [11.4]
plain: 11.4
path_plain: "/opt/web-%{lookup('plain')}"
path_web: "/opt/web-%{lookup('web::version')}"
YAML
echo '{"role": "web"}' >facts.json
lookup() {
  printf '%s: ' "$1"
  ruby root/usr/bin/puppet lookup "$1" --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version"
{
  for key in web::version web::ratio web::scale web::major web::all path_plain path_web; do lookup "$key"; done
} | tee shown
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = 'web::version: "11.400000"
web::ratio: "0.000000"
web::scale: "1.234568"
web::major: "11"
web::all: "[11.4]"
path_plain: "/opt/web-11.4"
path_web: "/opt/web-11.400000"' ]
