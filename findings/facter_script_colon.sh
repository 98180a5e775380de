#!/usr/bin/env bash
# A script for external facts prints one line, 'motd=Note: ask the web team'. Which fact does a node have?
#
# A good guess: motd, as a script prints name=value, and the value goes up to the end of the line. Facter 4.3.0 first reads what
# a script prints as YAML, and this line is good YAML: a hash with the key "motd=Note". So the node has a fact with this name, in
# small letters, and none that is called motd, and no message says so. A second line of the same form, such as 'tier=gold', makes
# the whole no YAML, and the fact motd is there. A file of text, motd.txt, with the single line is read as expected.
#
# It matters as the same script works with another note, or with one more fact, and a level or a token with the fact is empty
# on some nodes only. A colon and a space are in mail subjects, names with a title, and tags of clouds.
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
mkdir facts.d
facts() { # All external facts.
  (ruby -W0 root/usr/bin/facter --external-dir facts.d --json 2>messages || true) | ruby -rjson -e '
    puts JSON.generate(JSON.parse($stdin.read).select { |name, _| name =~ /motd|tier/ })'
  grep -iE 'warn|error' messages | grep -E 'motd|tier' || true
}
script() { # What it prints.
  rm -f facts.d/*
  { echo '#!/bin/sh' && printf "echo '%s'\n" "$@"; } >facts.d/site.sh
  chmod +x facts.d/site.sh
  printf '%s: ' "$(facts.d/site.sh | paste -sd'|')"
  facts
}
facter=$(ruby -W0 root/usr/bin/facter --version 2>/dev/null)
echo "Facter $facter"
{
  script 'motd=Note, ask the web team'
  script 'motd=Note: ask the web team'
  script 'motd=Note: ask the web team' 'tier=gold'
  rm facts.d/*
  echo 'motd=Note: ask the web team' >facts.d/site.txt
  echo "site.txt: $(facts)"
} | tee shown
[ "$facter" = 4.3.0 ] && [ "$(cat shown)" = 'motd=Note, ask the web team: {"motd":"Note, ask the web team"}
motd=Note: ask the web team: {"motd=note":"ask the web team"}
motd=Note: ask the web team|tier=gold: {"motd":"Note: ask the web team","tier":"gold"}
site.txt: {"motd":"Note: ask the web team"}' ]
