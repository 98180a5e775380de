#!/usr/bin/env bash
# A HOCON data file is moved to YAML by 'pyhocon --format yaml'. Does Puppet read the same values from it?
#
# A good guess: yes, as HOCON has only the types of JSON, and a converter knows them. But the YAML that pyhocon 0.3.63 writes has
# no quotes at all. So "0644" becomes the number 420 for Psych, "no" becomes false, "08:30" becomes 30600, and the file is
# refused as soon as a text starts with a token, %{...}. And a number with a unit is a duration for pyhocon, wherever it is:
# "30 s" without quotes is 30000, and "10 m", the way in which nginx writes ten megabytes, is 600000. Those come out in its JSON
# as well. The gem hocon 1.3.1, which Puppet uses, reads a text there. Only the program that uses a value knows its unit.
#
# It matters as the way from hocon_data to yaml_data looks like a matter of form, and most values are right.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of Debian and PyPI in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
pip install --quiet --disable-pip-version-check --target site pyhocon==0.3.63 2>/dev/null
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=env/production
data=$production/data
mkdir -p "$data"
printf 'version: 5\nhierarchy:\n' >"$production/hiera.yaml"
for format in hocon yaml json; do
  echo "  - {name: $format, data_hash: ${format}_data, path: \"%{facts.format}.$format\"}" >>"$production/hiera.yaml"
done
cat >"$data/hocon.hocon" <<'HOCON'
web {
  port = 8080
  user = www
  mode = "0644"
  answer = "no"
  start = "08:30"
  timeout = 30 s
  body = 10 m
}
HOCON
convert() { PYTHONPATH=site python3 site/bin/pyhocon --format "$1" --input "$data/hocon.hocon" --output "$data/$1.$1" 2>/dev/null; }
lookup() { # The format, the key.
  echo "{\"format\": \"$1\"}" >facts.json
  ruby root/usr/bin/puppet lookup "$2" --render-as json --node web1.example.com --facts facts.json --environmentpath "$work/env" \
    --confdir "$work/conf" --vardir "$work/var" 2>/dev/null || echo 'not read'
}
convert yaml
convert json
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version, hocon $(ruby -e 'require "hocon/version"; puts Hocon::Version::STRING'), pyhocon 0.3.63"
{
  for format in hocon yaml json; do echo "$format: $(lookup $format web)"; done
  echo 'host = "%{facts.format}1"' >>"$data/hocon.hocon"
  convert yaml
  echo "with a token: hocon $(lookup hocon host), as yaml $(lookup yaml host), another key $(lookup yaml web.user)"
} | tee shown
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = \
  'hocon: {"port":8080,"user":"www","mode":"0644","answer":"no","start":"08:30","timeout":"30 s","body":"10 m"}
yaml: {"port":8080,"user":"www","mode":420,"answer":false,"start":30600,"timeout":30000,"body":600000}
json: {"port":8080,"user":"www","mode":"0644","answer":"no","start":"08:30","timeout":30000,"body":600000}
with a token: hocon "hocon1", as yaml not read, another key not read' ]
