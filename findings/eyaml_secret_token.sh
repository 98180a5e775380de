#!/usr/bin/env bash
# A secret that has "%{" in it, such as a generated password or a format for a log, encrypted by 'eyaml encrypt'. Does a node get
# what 'eyaml decrypt' prints?
#
# A good guess: yes, as nobody sees into an encrypted text, and tokens such as %{role} are for the text around it. But the
# function of Puppet 7.23.0 for hiera-eyaml first decrypts a value and then looks for tokens in it. So the password "k%{9x}Q" is
# "kQ" on the nodes, and the log has "i" in place of "%{User-Agent}i". The only message is a warning about a variable of this
# name, without a file or a key. A secret with "%{lookup('port')}" gets the value of another key. 'eyaml decrypt' and 'eyaml
# edit' show the right secret. To keep it, the text that is encrypted has to be "k%{literal('%')}{9x}Q", which is then wrong for
# everybody who decrypts it in another way.
#
# It matters as a wrong password is looked for everywhere but in the tool that shows it right.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 hiera-eyaml=3.3.0-1 \
  ruby-optimist=3.0.0-2 ruby-highline=2.0.3-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
eyaml() { ruby -W0 "$GEM_PATH/gems/hiera-eyaml-3.3.0/bin/eyaml" "$@" 2>/dev/null; }
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
{
  echo 'port: 8443'
  eyaml encrypt --output string --label password --string 'k%{9x}Q'
  eyaml encrypt --output string --label format --string '%h %{User-Agent}i'
  eyaml encrypt --output string --label key --string "%{lookup('port')}"
  eyaml encrypt --output string --label literal --string "k%{literal('%')}{9x}Q"
} >"$production/data/secrets.eyaml"
lookup() {
  ruby root/usr/bin/puppet lookup "$1" --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tool=$(ruby -W0 -e 'require "hiera/backend/eyaml"; puts Hiera::Backend::Eyaml::VERSION')
eyaml decrypt --eyaml "$production/data/secrets.eyaml" >plain
echo "Puppet $version, hiera-eyaml $tool"
{
  for name in password format key literal; do
    echo "$name: $(sed -n "s/^$name: DEC::PKCS7\[\(.*\)\]!/\1/p" plain) is $(lookup $name)"
  done
} | tee shown
[ "$version" = 7.23.0 ] && [ "$tool" = 3.3.0 ] && [ "$(cat shown)" = "password: k%{9x}Q is \"kQ\"
format: %h %{User-Agent}i is \"%h i\"
key: %{lookup('port')} is \"8443\"
literal: k%{literal('%')}{9x}Q is \"k%{9x}Q\"" ]
