#!/usr/bin/env bash
# eyaml recrypt FILE: does the file keep its keys?
#
# A good guess: yes, as the command decrypts each value and encrypts it again. hiera-eyaml 3.3.0 goes through
# the text that 'eyaml edit' shows, DEC(1)::PKCS7[secret]!, and searches it for at least one character up to
# "]!". An empty secret has none, so that the match goes on to the end of the next secret: the next key is gone
# from the file, and the value of the first is the text in between with the next secret in it. The exit code is 0.
# 'eyaml decrypt -e' hides it, as it prints the same lines as before.
#
# Needs Debian 12 with Ruby 3.1. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq hiera-eyaml=3.3.0-1 ruby-optimist=3.0.0-2 ruby-highline=2.0.3-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
gems=$work/root/usr/share/rubygems-integration/all/gems
export HOME=$work RUBYLIB=$gems/hiera-eyaml-3.3.0/lib:$gems/optimist-3.0.0/lib:$gems/highline-2.0.3/lib:$work/root/usr/lib/ruby/vendor_ruby
eyaml() { ruby -W0 "$gems/hiera-eyaml-3.3.0/bin/eyaml" "$@" 2>/dev/null; }
keys() { ruby -ryaml -e 'puts YAML.load_file("data.eyaml").keys.join(" ")'; }
eyaml createkeys >/dev/null
{
  eyaml encrypt --output string --label proxy::password --string ''
  eyaml encrypt --output string --label db::password --string tiger
  echo 'db::host: db1.example.com'
} >data.eyaml
version=$(ruby -W0 -e 'require "hiera/backend/eyaml"; puts Hiera::Backend::Eyaml::VERSION')
before=$(keys)
status=0
eyaml recrypt data.eyaml >/dev/null || status=$?
after=$(keys)
secret=$(eyaml decrypt --string "$(sed -n 's/^proxy::password: //p' data.eyaml)")
echo "hiera-eyaml $version"
echo "keys before: $before"
echo "keys after:  $after (exit code $status)"
echo "proxy::password after: $secret"
[ "$version" = 3.3.0 ] && [ "$status" = 0 ] && [ "$before" = 'proxy::password db::password db::host' ] \
  && [ "$after" = 'proxy::password db::host' ] && [ "$secret" = ']!
db::password: DEC(3)::PKCS7[tiger' ]
