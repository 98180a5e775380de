#!/usr/bin/env bash
# A data file has an anchor and '<<: *defaults', and Hiera reads it. A manifest reads the same file by stdlib's
# loadyaml('site.yaml', {}). Does it get the same data?
#
# A good guess: yes, as both use Psych, and the second argument is for a file that is missing or broken. But loadyaml of stdlib
# 8.5.0 calls YAML.load_file, and since Psych 4, of Ruby 3.1, that refuses aliases. Hiera asks for them. So with Ruby 3.1 the
# function gives the default, {} here, without a warning. On Debian 12's Puppet Server, whose JRuby 9.3.9 is Ruby 2.6 with Psych
# 3.3.4, it gives the data. Then tests and 'puppet apply' compile another catalog than the server, and a server with a newer
# JRuby another one than before. Without the anchor all are the same. parseyaml does the same. (The source of stdlib 9.7.0
# mends loadyaml, and not parseyaml.)
#
# It matters as an anchor is added to tidy up a file, far away from the manifest that reads it.
#
# Needs Debian 12 with Ruby and Java 17. Installs Debian's packages in a temporary folder and runs them there. Both run the code
# of stdlib 8.5.0, and the function of Puppet 7.23.0 that reads data files.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq puppet-agent=7.23.0-1+deb12u1 puppet-module-puppetlabs-stdlib=8.5.0-1 jruby=9.3.9.0+ds-8 \
  libyaml-snake-java=1.33-2 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
export HOME=$work
printf 'defaults: {port: 80}\nweb: {port: 80}\n' >plain.yaml
printf 'defaults: &defaults {port: 80}\nweb: {<<: *defaults}\n' >anchor.yaml
cat >read.rb <<'R'
$LOAD_PATH.unshift(File.expand_path('root/usr/lib/ruby/vendor_ruby'))
require 'rubygems'
require 'psych'
require 'yaml'
require 'puppet/version'
module Puppet
  class Error < RuntimeError; def initialize(text, cause = nil); super(text); end; end
  module Util; end
  module Parser; module Functions
    def self.newfunction(name, **_, &code); define_singleton_method(name) { |*given| code.call(given) }; end
  end; end
end
require 'puppet/util/yaml'
Dir.glob('root/**/parser/functions/{load,parse}yaml.rb') { |file| load file }
call = Puppet::Parser::Functions
['plain.yaml', 'anchor.yaml'].each do |file|
  text = File.read(file)
  read = [Puppet::Util::Yaml.safe_load(text), call.loadyaml(file, {}), call.parseyaml(text, {})]
  puts "#{file}: Hiera #{read[0]['web'].inspect}, loadyaml #{read[1]['web'].inspect}, parseyaml #{read[2]['web'].inspect}"
end
R
here=$(ruby -W0 read.rb)
server=$(java -XX:TieredStopAtLevel=1 -cp root/usr/share/java/jruby-core.jar:root/usr/share/java/snakeyaml.jar \
  "-Djruby.home=$work/root/usr/share/jruby" org.jruby.Main read.rb 2>/dev/null)
printf 'Ruby %s:\n%s\n' "$(ruby -rpsych -e 'puts "#{RUBY_VERSION}, Psych #{Psych::VERSION}"')" "$here"
printf 'JRuby 9.3.9.0, Psych 3.3.4, SnakeYAML 1.33:\n%s\n' "$server"
[ "$here" = 'plain.yaml: Hiera {"port"=>80}, loadyaml {"port"=>80}, parseyaml {"port"=>80}
anchor.yaml: Hiera {"port"=>80}, loadyaml nil, parseyaml nil' ] && [ "$server" = \
  'plain.yaml: Hiera {"port"=>80}, loadyaml {"port"=>80}, parseyaml {"port"=>80}
anchor.yaml: Hiera {"port"=>80}, loadyaml {"port"=>80}, parseyaml {"port"=>80}' ]
