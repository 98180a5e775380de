#!/usr/bin/env bash
# 'yq -y --in-place' changes one key of a data file. Other keys have texts in quotes: "17:30", "08:30", "00:00". What does Puppet
# read afterwards?
#
# Good guesses: the same texts, as the tool writes YAML 1.1 by default, for readers such as Puppet's, and puts quotes around "no"
# and "0644"; or a number for each time, as 17:30 without quotes is one in YAML 1.1. With yq 4.4.5 of PyPI the afternoon stays and
# the morning does not. It writes by PyYAML, for which a number of this form cannot start with 0, as YAML 1.1 says. So "17:30"
# keeps its quotes and "08:30" loses them. Psych takes any digit: Puppet 7.23.0 reads the number 30600 instead of 08:30, and 0
# instead of 00:00. "80,443" becomes 80443 in the same way, as only Psych reads commas in numbers.
#
# It matters as each program that writes Hiera data or the answer of a node classifier by PyYAML does this.
#
# Needs Debian 12 with Ruby, Python 3.11 and pip. Installs packages of Debian and PyPI in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 jq=1.6-2.1+deb12u3 libjq1=1.6-2.1+deb12u3 libonig5=6.9.8-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
pip install --quiet --disable-pip-version-check --target site yq==4.4.5 pyyaml==6.0.3 2>/dev/null
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
libraries=$(dirname "$(find root -name 'libjq.so.1')")
production=env/production
mkdir -p "$production/data"
printf 'version: 5\nhierarchy: [{name: common, path: common.yaml}]\n' >"$production/hiera.yaml"
cat >"$production/data/common.yaml" <<'YAML'
web::port: 8080
backup:
  stop: "17:30"
  start: "08:30"
  midnight: "00:00"
  mode: "0644"
  answer: "no"
  ports: "80,443"
YAML
echo '{"role": "web"}' >facts.json
lookup() {
  ruby root/usr/bin/puppet lookup backup --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
yq() { LD_LIBRARY_PATH=$work/$libraries PATH=$work/root/usr/bin:$PATH PYTHONPATH=site python3 site/bin/yq "$@"; }
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
tool=$(yq --version | sed -n 1p)
before=$(lookup)
yq -y --in-place '."web::port" = 8443' "$production/data/common.yaml"
after=$(lookup)
echo "Puppet $version, $tool, PyYAML $(PYTHONPATH=site python3 -c 'import yaml; print(yaml.__version__)')"
cat "$production/data/common.yaml"
printf 'before: %s\nafter:  %s\n' "$before" "$after"
[ "$version" = 7.23.0 ] && [ "$tool" = 'yq 4.4.5' ] \
  && [ "$before" = '{"stop":"17:30","start":"08:30","midnight":"00:00","mode":"0644","answer":"no","ports":"80,443"}' ] \
  && [ "$after" = '{"stop":"17:30","start":30600,"midnight":0,"mode":"0644","answer":"no","ports":80443}' ]
