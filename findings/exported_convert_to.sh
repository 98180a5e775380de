#!/usr/bin/env bash
# A node exports a resource with a token from Hiera, and lookup_options are given 'convert_to: Sensitive' for it. Does the node
# that collects the resource get the token?
#
# Good guesses: yes, as a secret; or an error, as PuppetDB must not keep secrets. The part of PuppetDB 7.12.1 that runs in
# Puppet 7.23.0 takes such a parameter out before it sends the catalog. So the resource arrives without it. If the parameter
# has a default, the collecting node uses that, without a warning. A secret inside of a hash arrives as a text with the word
# "redacted", which is then used as the token. Other types become texts again, too: a Binary is sent as its base64, so that a
# file has that as its content. All of this is right in a resource that is not exported.
#
# It matters as the change that hides a secret from logs is one line of data, and what it breaks is on other nodes.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there. No database is started: the
# script keeps what would be sent to it, and gives it back to the query of the second node.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 \
  ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 puppet-terminus-puppetdb=7.12.1-3 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
production=env/production
mkdir -p "$production/data" "$production/manifests"
echo 'version: 5' >"$production/hiera.yaml"
cat >"$production/manifests/site.pp" <<'PP'
define backup($token = 'anonymous', $login = {}, $logo = '') {}
node 'web1.example.com' {
  @@backup { 'web1': token => lookup('token'), login => { 'user' => 'web', 'token' => lookup('token') }, logo => lookup('logo') }
}
node 'store.example.com' {
  Backup <<| |>>
}
PP
cat >run.rb <<'R'
require 'puppet'
Puppet.initialize_settings(['--confdir', 'conf', '--vardir', 'var', '--environmentpath', 'env', '--storeconfigs',
  '--storeconfigs_backend', 'puppetdb'])
require 'puppet/util/puppetdb'
require 'puppet/indirector/catalog/puppetdb'
Answer = Struct.new(:body) do
  def success? = true
  def [](_) = nil
end
Puppet::Util::Puppetdb::Http.define_singleton_method(:action) { |*| Answer.new(JSON.generate($sent)) }
def compile(name)
  environment = Puppet.lookup(:environments).get!('production')
  node = Puppet::Node.new(name, environment: environment, facts: Puppet::Node::Facts.new(name, {}))
  Puppet.override(current_environment: environment) { Puppet::Parser::Compiler.compile(node) }
end
def show(catalog)
  backup = catalog.resource('Backup[web1]')
  [:token, :login, :logo].map { |name| "#{name} #{backup.to_hash.fetch(name, 'not given')}" }.join(', ')
end
web = compile('web1.example.com')
$sent = Puppet::Resource::Catalog::Puppetdb.new.munge_catalog(web, Time.now).first['resources'].select { |one| one['exported'] }
puts "sent to PuppetDB: #{$sent[0]['parameters'].map { |name, value| "#{name} #{value}" }.join(', ')}"
puts "collected: #{show(compile('store.example.com'))}"
R
exports() {
  printf 'lookup_options: {%s}\ntoken: tiger\nlogo: aGVsbG8=\n' "$1" >"$production/data/common.yaml"
  echo "lookup_options {$1}"
  ruby -W0 run.rb 2>/dev/null | sed 's/redacted\]:[0-9]*/redacted]/'
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version, puppet-terminus-puppetdb 7.12.1"
{
  exports ''
  exports 'token: {convert_to: Sensitive}, logo: {convert_to: Binary}'
} | tee shown
clear='{"user"=>"web", "token"=>"tiger"}'
hidden='{"user"=>"web", "token"=>"#<Sensitive [value redacted]>"}'
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = "lookup_options {}
sent to PuppetDB: token tiger, login $clear, logo aGVsbG8=
collected: token tiger, login $clear, logo aGVsbG8=
lookup_options {token: {convert_to: Sensitive}, logo: {convert_to: Binary}}
sent to PuppetDB: login $hidden, logo aGVsbG8=
collected: token anonymous, login $hidden, logo aGVsbG8=" ]
