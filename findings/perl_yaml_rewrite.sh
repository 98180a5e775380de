#!/usr/bin/env bash
# A script in Perl sets one key of a data file: LoadFile, one assignment, DumpFile. What of the other keys does it change?
#
# A good guess: comments and quotes, and no value, least of all by YAML::XS, which is libyaml, as Puppet's Psych is. But Perl has not
# the types of Puppet, and each of five modules of Debian 12 changes other values. All write "08:30" as 08:30, which is the number
# 30600 for Puppet, and all but Syck write "no" as no, which is false. YAML::XS, YAML and YAML::PP take the quotes of ":a" away, which
# is a symbol then. YAML::PP writes true as 1 and false as ''. YAML::Tiny and YAML::Syck put quotes around true and false, so that both are
# texts, and a text counts as true in an 'if' of Puppet. YAML takes the quotes of "0644" and "12" away, and Syck those of "12".
#
# It matters as each module reads back what it wrote, so that a test of the script passes.
#
# Needs Debian 12 with Ruby and Perl. Installs Debian's packages in a temporary folder and runs them there. Ruby reads the values
# with Puppet's settings of Psych.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq libyaml-libyaml-perl=0.86+ds-1+deb12u1 libyaml-perl=1.30-2 libyaml-pp-perl=0.035-1 libyaml-tiny-perl=1.73-1 \
  libyaml-syck-perl=1.34-2+deb12u3 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
PERL5LIB=$work/root/usr/share/perl5:$(dirname "$(dirname "$(find "$work/root" -name XS.pm -path '*YAML/XS.pm')")")
export PERL5LIB
cat >data.yaml <<'YAML'
---
web::port: 8080
web::tls: true
web::debug: false
web::country: "no"
web::start: "08:30"
web::mode: "0644"
web::id: "12"
web::label: ":a"
YAML
cat >compare.rb <<'R'
require 'psych'
before, after = %w[data.yaml written.yaml].map { |file| Psych.safe_load(File.read(file), permitted_classes: [Symbol]) }
changed = before.reject { |key, value| value.eql?(after[key]) }
puts changed.map { |key, _| "#{key.delete_prefix('web::')} #{after[key].inspect}" }.join(', ')
R
rewritten() {
  perl -M"$1=LoadFile,DumpFile" -e 'my $data = LoadFile("data.yaml"); $data->{"web::port"} = 8443; DumpFile("written.yaml", $data)'
  perl -M"$1" -e 'printf "%s %s: ", $ARGV[0], $ARGV[0]->VERSION' "$1"
  ruby compare.rb
}
libyaml=$(ruby -rpsych -e 'puts Psych::VERSION, Psych.libyaml_version.join(".")' | paste -sd' ')
echo "Psych and libyaml $libyaml, $(perl -e 'print "Perl $^V"')"
{
  for module in YAML::XS YAML YAML::PP YAML::Tiny YAML::Syck; do rewritten "$module"; done
} | tee shown
[ "$libyaml" = '4.0.3 0.2.5' ] && [ "$(cat shown)" = 'YAML::XS 0.86: port 8443, country false, start 30600, label :a
YAML 1.30: port 8443, country false, start 30600, mode 420, id 12, label :a
YAML::PP 0.035: port 8443, tls 1, debug "", country false, start 30600, label :a
YAML::Tiny 1.73: port 8443, tls "true", debug "false", country false, start 30600
YAML::Syck 1.34: port 8443, tls "true", debug "false", start 30600, id 12' ]
