#!/usr/bin/env bash
# Somebody repairs a value in a data file of a deployed environment by hand, and another program keeps a data file there that is
# not in git. Then the environment is deployed again, by r10k or by g10k, which reads the same settings. What is left of both?
#
# A good guess: the same by both tools: the value of git is back, and what is not in git either stays or goes. r10k 3.15.4 brings
# the value of git back at the next run, warns that it does, and never removes the other file: by default it removes only what
# lies between environments and between modules. g10k 0.9.7 looks at the commit alone. Without a new one it leaves the repaired value, run
# after run, and calls it synced. With the next commit, whatever that changes, it lays out the whole environment again: the repair
# and the file are gone, without a warning.
#
# It matters as a repair that was forgotten, or a file of secrets, goes with a commit of somebody else, weeks later.
#
# Needs Debian 12 with Ruby and git. Installs Debian's packages in a temporary folder and runs them there. Both deploy from a
# repository in the folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq g10k=0.9.7-1+b3 r10k=3.15.4-1 ruby-colored2=3.1.2-2 ruby-cri=2.15.11-1 ruby-faraday=1.1.0-7 \
  ruby-faraday-middleware=1.2.0-4 ruby-fast-gettext=2.0.3-2 ruby-gettext-setup=0.34-2 ruby-jwt=2.5.0-1+deb12u1 \
  ruby-locale=2.1.3-1 ruby-log4r=1.1.10-4.1 ruby-minitar=0.9-1 ruby-multipart-post=2.0.0-2 ruby-puppet-forge=3.0.0-1 \
  ruby-semantic-puppet=1.0.4-1 >/dev/null 2>&1
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$work/root/usr/lib/ruby/vendor_ruby
for folder in root/usr/share/rubygems-integration/all/gems/*/lib; do libraries+=:$work/$folder; done
export HOME=$work GIT_CONFIG_GLOBAL=$work/gitconfig
git config --global user.name admin
git config --global user.email admin@example.com
git config --global init.defaultBranch production
git init -q control
mkdir control/data r10k g10k
commit() {
  echo "$1" >control/README
  git -C control add . && git -C control commit -qm "$1"
}
printf 'workers: 8\nlimit: 50\n' >control/data/common.yaml
commit 'Add data'
for tool in r10k g10k; do
  printf 'cachedir: %s/cache-%s\nsources:\n  main: {remote: %s/control, basedir: %s/%s}\n' "$work" "$tool" "$work" "$work" "$tool" \
    >"$tool.yaml"
done
deploy() {
  RUBYLIB=$libraries ruby -W0 root/usr/bin/r10k deploy environment --config r10k.yaml 2>r10k.messages
  root/usr/bin/g10k -config g10k.yaml >g10k.messages
  echo "$1"
  for tool in r10k g10k; do
    echo "  $tool: $(grep limit "$tool/production/data/common.yaml"), $(ls "$tool/production/data" | paste -sd' ')" \
      "$(grep -o 'Overwriting local modifications' "$tool.messages" || true)"
  done | sed 's/ $//'
}
version=$(RUBYLIB=$libraries ruby -W0 -r r10k/version -e 'puts R10K::VERSION')
echo "r10k $version, g10k 0.9.7"
{
  deploy 'the first time'
  for tool in r10k g10k; do
    sed -i 's/limit: 50/limit: 99/' "$tool/production/data/common.yaml"
    echo 'password: tiger' >"$tool/production/data/secrets.yaml"
  done
  deploy 'with changes by hand'
  commit 'Change the text'
  deploy 'after a commit'
} | tee shown
[ "$version" = 3.15.4 ] && [ "$(cat shown)" = 'the first time
  r10k: limit: 50, common.yaml
  g10k: limit: 50, common.yaml
with changes by hand
  r10k: limit: 50, common.yaml secrets.yaml Overwriting local modifications
  g10k: limit: 99, common.yaml secrets.yaml
after a commit
  r10k: limit: 50, common.yaml secrets.yaml
  g10k: limit: 50, common.yaml' ]
