#!/usr/bin/env bash
# A Puppetfile has a module for tests inside of an 'if', another one with an 'if' behind it, and two that a loop names. g10k, which
# reads the Puppetfiles and settings of r10k, deploys it. Which modules does the environment have?
#
# Good guesses: those of r10k, which runs the file as Ruby; or an error, as g10k, a program in Go, cannot run it. r10k 3.15.4 takes
# base, web and db where STAGE is not set. g10k 0.9.7 looks for lines that start with 'mod' and a name in quotes, and passes
# over what it does not know. So it takes base and both modules for tests, debug and audit, whatever STAGE says, and neither web
# nor db. Lines between =begin and =end, a comment for Ruby, count as well. Its exit code is 0, and no message tells it.
#
# It matters as each module brings its own data and options for lookups, so that keys get other values, or none, on servers with
# the other tool.
#
# Needs Debian 12 with Ruby and git. Installs Debian's packages in a temporary folder and runs them there. The part of r10k that
# reads Puppetfiles says which modules it takes; g10k deploys them from repositories in the folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq g10k=0.9.7-1+b3 r10k=3.15.4-1 ruby-colored2=3.1.2-2 ruby-faraday=1.1.0-7 ruby-faraday-middleware=1.2.0-4 \
  ruby-fast-gettext=2.0.3-2 ruby-gettext-setup=0.34-2 ruby-jwt=2.5.0-1+deb12u1 ruby-locale=2.1.3-1 ruby-log4r=1.1.10-4.1 \
  ruby-minitar=0.9-1 ruby-multipart-post=2.0.0-2 ruby-puppet-forge=3.0.0-1 ruby-semantic-puppet=1.0.4-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$work/root/usr/lib/ruby/vendor_ruby
for folder in root/usr/share/rubygems-integration/all/gems/*/lib; do libraries+=:$work/$folder; done
export HOME=$work GIT_CONFIG_GLOBAL=$work/gitconfig
git config --global user.name admin
git config --global user.email admin@example.com
git config --global init.defaultBranch production
commit() { git -C "$1" add . && git -C "$1" commit -qm 'Add files'; }
for module in base debug audit web db old; do
  git init -q "$module"
  mkdir "$module/manifests"
  echo "class $module {}" >"$module/manifests/init.pp"
  commit "$module"
  git -C "$module" tag v1
done
git init -q control
cat >control/Puppetfile <<P
mod 'base', :git => '$work/base', :tag => 'v1'
if ENV['STAGE'] == 'test'
  mod 'debug', :git => '$work/debug', :tag => 'v1'
end
mod 'audit', :git => '$work/audit', :tag => 'v1' if ENV['STAGE'] == 'test'
%w[web db].each { |name| mod name, :git => "$work/#{name}", :tag => 'v1' }
=begin
mod 'old', :git => '$work/old', :tag => 'v1'
=end
P
commit control
mkdir environments
printf 'cachedir: %s/cache\nsources:\n  main: {remote: %s/control, basedir: %s/environments}\n' "$work" "$work" "$work" >g10k.yaml
unset STAGE
version=$(RUBYLIB=$libraries ruby -W0 -r r10k/version -e 'puts R10K::VERSION')
r10k=$(RUBYLIB=$libraries ruby -W0 -r r10k/module_loader/puppetfile -e '
  puts R10K::ModuleLoader::Puppetfile.new(basedir: "control").load[:modules].map(&:name).sort.join(" ")')
root/usr/bin/g10k -config g10k.yaml >messages 2>&1
g10k=$(find environments/production/modules -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | paste -sd' ')
echo "r10k $version: $r10k"
echo "g10k 0.9.7: $g10k, with exit code 0 and $(grep -ciE 'warn|error|fail' messages || true) warnings"
[ "$version" = 3.15.4 ] && [ "$r10k" = 'base db web' ] && [ "$g10k" = 'audit base debug old' ] \
  && ! grep -qiE 'warn|error|fail' messages
