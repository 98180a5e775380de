#!/usr/bin/env bash
# In which order does a level with 'glob' read its files on Puppet Server: in that of 'puppet lookup', by name?
#
# A good guess: yes, as they share Puppet's code, and Ruby 3 sorts what a pattern matches. But Debian 12's server 7.9.5 runs it on
# JRuby 9.3.9, which is Ruby 2.6 and gives the files in the order in which the folder has them. If two of the files
# set a key, the first one wins: catalogs get another value than 'puppet lookup' prints, and a copy of the same
# folder may give a third one.
#
# Needs Debian 12 with Ruby and Java 17. Installs Debian's packages in a temporary folder and runs them there. Both run
# the code of Puppet 7.23.0 that expands globs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 hiera=3.10.0-1 jruby=9.3.9.0+ds-8 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work
mkdir -p data/roles.d
# Many names that are not made in order: no folder has them sorted by chance.
for number in $(seq 1 60); do echo "port: $number" >"data/roles.d/$((number * 7919 % 61)).yaml"; done
cat >glob.rb <<'R'
$LOAD_PATH.unshift(File.expand_path('root/usr/lib/ruby/vendor_ruby'))
require 'rubygems'
require 'pathname'
module Puppet; module Pops; module Lookup; end; end; end
require 'puppet/pops/lookup/location_resolver'
resolver = Object.new.extend(Puppet::Pops::Lookup::LocationResolver)
puts resolver.expand_globs(Pathname.new('data'), ['roles.d/*.yaml'], nil).map { |found| found.location.basename }
R
ruby glob.rb >commands
java -XX:TieredStopAtLevel=1 -cp root/usr/share/java/jruby-core.jar "-Djruby.home=$work/root/usr/share/jruby" \
  org.jruby.Main glob.rb >server 2>/dev/null
ls -U data/roles.d >folder
LC_ALL=C sort folder >sorted
as() { cmp -s "$1" sorted && echo 'by name' || { cmp -s "$1" folder && echo "as the folder has them"; } || echo 'in another order'; }
printf 'Ruby %s: %s\n' "$(ruby -e 'print RUBY_VERSION')" "$(as commands)"
printf 'JRuby 9.3.9.0: %s\n' "$(as server)"
[ "$(wc -l <server)" = 60 ] && [ "$(as commands)" = 'by name' ] && [ "$(as server)" = 'as the folder has them' ]
