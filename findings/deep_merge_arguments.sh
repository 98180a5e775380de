#!/usr/bin/env bash
# The arguments of a command are a list in a hash: [-v, -v, -e, "A=1", -e, "B=2"]. A node adds two, [-e, "C=3"], and lookup_options say
# 'merge: deep'. Which arguments does the command get?
#
# A good guess: those of both files, one list behind the other, perhaps without what both have. But a deep merge of lists in Puppet
# 7.23.0 is a union of sets: also what one file has twice is there once. So the node's command is run with one -v, and "-e" stands
# only before the first of its values: [-v, -e, "A=1", "B=2", "C=3"]. A node without a list of its own has all of them. So the
# command works until a node adds something, and then the arguments of the other file are wrong.
#
# It matters as options of containers, kernels and rsync are often such lists, and nothing in the new file is wrong.
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
cat >"$production/hiera.yaml" <<'YAML'
version: 5
hierarchy:
  - {name: role, path: "%{facts.role}.yaml"}
  - {name: common, path: common.yaml}
YAML
cat >"$production/data/common.yaml" <<'YAML'
lookup_options: {job: {merge: deep}}
job: {args: [-v, -v, -e, "A=1", -e, "B=2"]}
YAML
echo 'job: {user: web}' >"$production/data/web.yaml"
echo 'job: {args: [-e, "C=3"]}' >"$production/data/db.yaml"
lookup() {
  echo "{\"role\": \"$1\"}" >facts.json
  ruby root/usr/bin/puppet lookup job.args --render-as json --node web1.example.com --facts facts.json \
    --environmentpath "$work/env" --confdir "$work/conf" --vardir "$work/var" 2>/dev/null
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
web=$(lookup web)
db=$(lookup db)
echo "Puppet $version"
echo "a node that adds a user:      $web"
echo "a node that adds an argument: $db"
[ "$version" = 7.23.0 ] && [ "$web" = '["-v","-v","-e","A=1","-e","B=2"]' ] && [ "$db" = '["-v","-e","A=1","B=2","C=3"]' ]
