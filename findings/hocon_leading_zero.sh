#!/usr/bin/env bash
# A HOCON data file has 'mode = 0644' and 'extension = 0200', without quotes. What does hocon_data give for them?
#
# Good guesses: the numbers 644 and 200, as HOCON's numbers are those of JSON, which are decimal; or the texts, as JSON allows no zero
# in front. The gem hocon 1.3.1, by which Puppet 7.23.0 reads HOCON, gives an unquoted word of digits to Integer() of Ruby, and that
# one takes a number with a zero in front as octal. So mode is 420, and extension is 128. 0800, whose digits are not octal, is no
# integer for Ruby, and so becomes the text "0800" next to them. In the library pyhocon 0.3.63 all three are decimal numbers.
#
# It matters as such numbers are extensions of telephones, codes of places, months and versions, and each has a value that looks
# like a plain number, but is another one.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of Debian and PyPI in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby GEM_PATH=$work/root/usr/share/rubygems-integration/all
pip install --quiet --disable-pip-version-check --target site pyhocon==0.3.63 2>/dev/null
production=env/production
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: all, path: all.conf, data_hash: hocon_data}]\n' >"$production/hiera.yaml"
printf 'numbers { mode = 0644, extension = 0200, other = 0800, month = 08.5, list = [010, 9] }\n' >"$production/data/all.conf"
echo '{"role": "web"}' >facts.json
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
gem=$(ruby -W0 -rhocon/version -e 'puts Hocon::Version::STRING')
puppet=$(ruby root/usr/bin/puppet lookup numbers --render-as json --node web1.example.com --facts facts.json \
  --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null)
python=$(PYTHONPATH=site python3 site/bin/pyhocon --input "$production/data/all.conf" --format json | tr -d ' \n')
echo "Puppet $version, hocon $gem, pyhocon 0.3.63"
echo "hocon_data: $puppet"
echo "pyhocon:    $python"
[ "$version" = 7.23.0 ] && [ "$gem" = 1.3.1 ] \
  && [ "$puppet" = '{"mode":420,"extension":128,"other":"0800","month":8.5,"list":[8,9]}' ] \
  && [ "$python" = '{"numbers":{"mode":644,"extension":200,"other":800,"month":8.5,"list":[10,9]}}' ]
