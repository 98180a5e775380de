#!/usr/bin/env bash
# Does Puppet Server read a YAML data file as 'puppet lookup' and 'puppet apply' of the same version do?
#
# A good guess: yes, as they share Puppet's code. But Debian 12's server 7.9.5 runs it on JRuby 9.3.9, whose Psych 3.3.4 parses by
# SnakeYAML, and the commands run on Ruby 3.1 with Psych 4.0.3 and libyaml. A tab between a key and its
# value is a syntax error for the server alone, and "8080,", with a comma left over from JSON, is the number 8080 there and a
# text here.
#
# Needs Debian 12 with Ruby and Java 17. Installs Debian's packages in a temporary folder and runs them there. Both run
# the function of Puppet 7.23.0 that reads data files.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 jruby=9.3.9.0+ds-8 libyaml-snake-java=1.33-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work
cat >read.rb <<'R'
$LOAD_PATH.unshift(File.expand_path('root/usr/lib/ruby/vendor_ruby'))
require 'rubygems'
require 'psych'
require 'yaml'
module Puppet; module Util; end; class Error < RuntimeError; def initialize(text, cause = nil); super(text); end; end; end
require 'puppet/util/yaml'
["port:\t8080", 'port: 8080,'].each do |text|
  value = begin
    Puppet::Util::Yaml.safe_load(text).inspect
  rescue Puppet::Util::Yaml::YamlLoadError
    'an error'
  end
  puts "#{text.inspect} is #{value}"
end
R
server() {
  java -XX:TieredStopAtLevel=1 -cp root/usr/share/java/jruby-core.jar:root/usr/share/java/snakeyaml.jar \
    "-Djruby.home=$work/root/usr/share/jruby" org.jruby.Main "$@" 2>/dev/null
}
commands=$(ruby read.rb)
server=$(server read.rb)
printf 'Ruby %s:\n%s\n' "$(ruby -rpsych -e 'puts "#{RUBY_VERSION}, Psych #{Psych::VERSION}"')" "$commands"
printf 'JRuby 9.3.9.0, Psych 3.3.4, SnakeYAML 1.33:\n%s\n' "$server"
[ "$commands" = '"port:\t8080" is {"port"=>8080}
"port: 8080," is {"port"=>"8080,"}' ] && [ "$server" = '"port:\t8080" is an error
"port: 8080," is {"port"=>8080}' ]
