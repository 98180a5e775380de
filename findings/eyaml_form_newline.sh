#!/usr/bin/env bash
# A file, such as a private key, encrypted by 'eyaml encrypt --file key --output string' and by '--output block': do both give
# a node the same value?
#
# A good guess: yes, the bytes of the file, as the output only says how the text in brackets is wrapped, and 'eyaml decrypt'
# prints the same secret for both. In Puppet 7.23.0 with hiera-eyaml 3.3.0 the string has lost the newline at the end of the
# file, and the block has it. The function that decrypts takes one newline off, for the one that YAML adds to a folded block.
# A string has none, so that it takes the secret's own. A secret without a newline is the same in both.
#
# It matters as some programs refuse a key file without its last newline, and as joining the lines of a block, to tidy a data
# file, changes the value on the nodes.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 hiera-eyaml=3.3.0-1 ruby-optimist=3.0.0-2 ruby-highline=2.0.3-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
gems=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$gems/lib:$gems/gems/hiera-eyaml-3.3.0/lib
RUBYLIB+=:$gems/gems/optimist-3.0.0/lib:$gems/gems/highline-2.0.3/lib
eyaml() { ruby -W0 "$gems/gems/hiera-eyaml-3.3.0/bin/eyaml" "$@" 2>/dev/null; }
production=env/production
mkdir -p "$production/data"
cat >"$production/hiera.yaml" <<YAML
version: 5
hierarchy:
  - name: secrets
    lookup_key: eyaml_lookup_key
    path: secrets.eyaml
    options:
      pkcs7_private_key: $work/keys/private_key.pkcs7.pem
      pkcs7_public_key: $work/keys/public_key.pkcs7.pem
YAML
echo '{"role": "web"}' >facts.json
eyaml createkeys >/dev/null
printf 'first\nlast\n' >key
printf 'first\nlast' >open
for form in string block; do
  for file in key open; do eyaml encrypt --output "$form" --label "${file}_$form" --file "$file"; done
done >"$production/data/secrets.eyaml"
lookup() {
  ruby "$work/root/usr/bin/puppet" lookup "$1" --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
secrets() { eyaml decrypt --eyaml "$production/data/secrets.eyaml" | tr -d '\n ' | grep -o '\[firstlast\]' | wc -l; }
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tool=$(ruby -W0 -e 'require "hiera/backend/eyaml"; puts Hiera::Backend::Eyaml::VERSION')
echo "Puppet $version, hiera-eyaml $tool"
{
  for name in key_string key_block open_string open_block; do echo "$name: $(lookup $name)"; done
} | tee shown
[ "$version" = 7.23.0 ] && [ "$tool" = 3.3.0 ] && [ "$(secrets)" = 4 ] && [ "$(cat shown)" = 'key_string: "first\nlast"
key_block: "first\nlast\n"
open_string: "first\nlast"
open_block: "first\nlast"' ]
