#!/usr/bin/env bash
# A test with rspec-puppet says with_enabled(false) and with_port(8080), and the class takes both from Hiera. Does it fail if the
# data has the texts "false" and "8080"?
#
# A good guess: yes, as the catalog then has another value than the test names, and nodes act on it: the text "false" counts as
# true in an 'if' of Puppet. But rspec-puppet 2.9.0 compares the two as texts, at each depth of a list or hash, so that the test
# passes for both. It passes as well for one element in place of the list that the test names. Only a block in Ruby,
# with_enabled(proc { |value| value == false }), sees the type.
#
# It matters as such tests are meant to guard the data, and a quote too many or too few is the usual mistake in it.
#
# Needs Debian 12 with Ruby. Installs Debian's packages in a temporary folder and runs them there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 facter=4.3.0-2 ruby-concurrent=1.1.6+dfsg-5 ruby-deep-merge=1.1.1-2 \
  ruby-semantic-puppet=1.0.4-1 ruby-rspec-puppet=2.9.0+ds-1 ruby-rspec=3.12.0c0e1m1s0-1 ruby-rspec-core=3.12.0c0e1m1s0-1 \
  ruby-rspec-expectations=3.12.0c0e1m1s0-1 ruby-rspec-mocks=3.12.0c0e1m1s0-1 ruby-rspec-support=3.12.0c0e1m1s0-1 \
  ruby-diff-lcs=1.5.0-1 ruby-thor=1.2.1-2 ruby-hocon=1.3.1-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export GEM_PATH=$work/root/usr/share/rubygems-integration/all
export HOME=$work RUBYLIB=$work/root/usr/lib/ruby/vendor_ruby:$work/root/usr/share/rubygems-integration/all/lib
for folder in root/usr/share/rubygems-integration/all/gems/*/lib; do RUBYLIB+=:$work/$folder; done
module=modules/web
mkdir -p "$module/manifests" "$module/data" "$module/spec/classes"
printf 'version: 5\nhierarchy: [{name: common, path: common.yaml}]\n' >"$module/hiera.yaml"
cat >"$module/manifests/init.pp" <<'PP'
class web($enabled, $port, $hosts, $limits) {
  if $enabled { notify { 'the service is started': } }
}
PP
cat >"$module/spec/classes/web_spec.rb" <<'R'
require 'rspec-puppet'
RSpec.configure { |config| config.module_path = File.expand_path('modules') }
describe 'web' do
  let(:node) { 'web1.example.com' }
  let(:facts) { {} }
  it('enabled') { is_expected.to contain_class('web').with_enabled(false) }
  it('port') { is_expected.to contain_class('web').with_port(8080) }
  it('hosts') { is_expected.to contain_class('web').with_hosts(['a']) }
  it('limits') { is_expected.to contain_class('web').with_limits({ 'nofile' => 1024 }) }
  it('enabled by a block') { is_expected.to contain_class('web').with_enabled(proc { |value| value == false }) }
  it('started') { is_expected.to contain_notify('the service is started') }
end
R
test_with() {
  printf 'web::enabled: %s\nweb::port: %s\nweb::hosts: %s\nweb::limits: {nofile: %s}\n' "$@" >"$module/data/common.yaml"
  echo "data $*:"
  (ruby -W0 root/usr/bin/rspec --format json "$module/spec/classes/web_spec.rb" 2>/dev/null || true) | ruby -rjson -e '
    tests = JSON.parse($stdin.read[/^\{.*"examples".*\}/])["examples"]
    tests.group_by { |test| test["status"] }.each do |status, which|
      puts "  #{status}: #{which.map { |test| test["description"] }.join(", ")}"
    end'
}
version=$(ruby root/usr/bin/puppet --version 2>/dev/null)
echo "Puppet $version, rspec-puppet 2.9.0"
{
  test_with false 8080 '[a]' 1024
  test_with '"false"' '"8080"' a '"1024"'
  test_with true 8443 '[b]' 2048
} | tee shown
[ "$version" = 7.23.0 ] && [ "$(cat shown)" = 'data false 8080 [a] 1024:
  passed: enabled, port, hosts, limits, enabled by a block
  failed: started
data "false" "8080" a "1024":
  passed: enabled, port, hosts, limits, started
  failed: enabled by a block
data true 8443 [b] 2048:
  failed: enabled, port, hosts, limits, enabled by a block
  passed: started' ]
