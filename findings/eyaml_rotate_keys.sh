#!/usr/bin/env bash
# 'eyaml-rotate-keys' decrypts the secrets of a data file with the old keys and encrypts them with the new ones. Do the nodes get
# the same secrets afterwards?
#
# A good guess: yes, and 'eyaml decrypt' with the new keys seems to prove it for the secrets in blocks. But yamlpath 3.9.1 puts
# an empty line after each line of such a block. In a folded block ('>') that is a line break in the value, and Puppet 7.23.0
# looks for the brackets of a secret in one line only: the node gets the encrypted text as its password, without an error. A
# secret in the middle of a text, such as a URL, is not seen, as the value does not start with "ENC[". It stays encrypted for
# the old key, and the lookup fails when that key is gone. The exit code is 0.
#
# It matters as keys are rotated in a hurry, in all files at once, and the diff of encrypted texts shows nothing.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of Debian and PyPI in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 hiera-eyaml=3.3.0-1 ruby-optimist=3.0.0-2 ruby-highline=2.0.3-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
pip install --quiet --disable-pip-version-check --target site yamlpath==3.9.1 ruamel.yaml==0.19.1 2>/dev/null
gems=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$gems/lib:$gems/gems/hiera-eyaml-3.3.0/lib
RUBYLIB+=:$gems/gems/optimist-3.0.0/lib:$gems/gems/highline-2.0.3/lib
printf '#!/bin/sh\nexec ruby -W0 %s "$@" 2>/dev/null\n' "$gems/gems/hiera-eyaml-3.3.0/bin/eyaml" >eyaml
chmod 755 eyaml
for keys in old new; do ./eyaml createkeys --pkcs7-private-key $keys.key --pkcs7-public-key $keys.pem >/dev/null; done
encrypt() { ./eyaml encrypt --quiet --pkcs7-private-key old.key --pkcs7-public-key old.pem "$@"; }
production=env/production
mkdir -p "$production/data"
{
  encrypt --label string --output string --string tiger
  encrypt --label block --output block --string tiger
  printf 'url: "db://app:%s@db1"\n' "$(encrypt --output string --string tiger)"
} >"$production/data/common.yaml"
echo '{"role": "web"}' >facts.json
values() {
  local key value
  cat >"$production/hiera.yaml" <<YAML
version: 5
hierarchy:
  - name: common
    lookup_key: eyaml_lookup_key
    path: common.yaml
    options: {pkcs7_private_key: $work/$1.key, pkcs7_public_key: $work/$1.pem}
YAML
  for key in string block url; do
    value=$(ruby root/usr/bin/puppet lookup $key --render-as json --node web1.example.com --facts facts.json \
      --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null) || value='no value'
    echo "$key: $value" | sed 's/ENC\[.*\]/ENC[...]/'
  done
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tool=$(PYTHONPATH=site python3 site/bin/eyaml-rotate-keys --version)
before=$(values old)
PYTHONPATH=site python3 site/bin/eyaml-rotate-keys --eyaml "$work/eyaml" --oldprivatekey old.key --oldpublickey old.pem \
  --newprivatekey new.key --newpublickey new.pem "$production/data/common.yaml"
after=$(values new)
sed '/^block/,/^url/!d; /^url/d' "$production/data/common.yaml" >block.yaml
decrypted=$(./eyaml decrypt --pkcs7-private-key new.key --pkcs7-public-key new.pem --eyaml block.yaml | tr -d ' \n')
echo "Puppet $version, $tool, hiera-eyaml 3.3.0"
printf 'with the old keys:\n%s\nrotated, with the new keys:\n%s\n' "$before" "$after"
echo "eyaml decrypt of the block: $decrypted"
[ "$version" = 7.23.0 ] && [ "$tool" = 'eyaml-rotate-keys 3.9.1' ] && [ "$before" = 'string: "tiger"
block: "tiger"
url: "db://app:tiger@db1"' ] && [ "$after" = 'string: "tiger"
block: "ENC[...]\n"
url: no value' ] && [ "$decrypted" = 'block:>DEC::PKCS7[tiger]!' ]
