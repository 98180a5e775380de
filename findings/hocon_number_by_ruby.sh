#!/usr/bin/env bash
# hocon_data: is `a = 1.` a text or a number?
#
# A good guess: a text, since HOCON's numbers are those of JSON and 1. is none of them. So it is in Ruby 3.1: the gem
# hocon 1.3.1 asks Float() whether an unquoted word of digits is a number, and Float("1.") is an error there. From Ruby
# 3.4 on it is 1.0, so that the same gem reads the number 1, and 100000 instead of the text 1.e5. A server that moves to
# OpenVox 9, whose Ruby is 4.0, gives nodes another type of value without a word.
#
# Needs Debian 12 with Ruby 3.1, node 20 and npm. Installs packages in a temporary folder and runs them there: the gem
# from Debian, Ruby 4.0 as a WebAssembly module from npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq ruby-hocon=1.3.1-2 >/dev/null 2>&1
dpkg-deb -x ./*.deb root
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --silent --save-exact @ruby/4.0-wasm-wasi@2.10.1 @ruby/wasm-wasi@2.10.1 \
  @bjorn3/browser_wasi_shim@0.4.2
cat >read.rb <<'R'
$VERBOSE = nil
$LOAD_PATH.unshift(Dir.exist?('/w/hocon') ? '/w/hocon' : ENV['HOCON'])
require 'hocon'
shown = Hocon.parse("a = 1.\nb = 1.e5\nc = 1.0\n").map { |key, value| "#{key}: #{value.class} #{value}" }
puts "Ruby #{RUBY_VERSION[/\d+\.\d+/]}: #{shown.join(', ')}"
$stdout.flush
R
cat >run.mjs <<'J'
import fs from 'node:fs';
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import { RubyVM } from '@ruby/wasm-wasi';
const read = (at) => new Map(fs.readdirSync(at, { withFileTypes: true }).map(({ name }) => {
  const inside = `${at}/${name}`;
  return [name, fs.statSync(inside).isDirectory() ? new Directory(read(inside)) : new File(fs.readFileSync(inside))];
}));
const args = ['ruby.wasm', '-EUTF-8', '-e_=0'];
const out = ConsoleStdout.lineBuffered(console.log);
const root = new PreopenDirectory('/w', new Map([['hocon', new Directory(read(process.argv[2]))]]));
const wasip1 = new WASI(args, [], [new OpenFile(new File([])), out, out, root], { debug: false });
const module = await WebAssembly.compile(fs.readFileSync('node_modules/@ruby/4.0-wasm-wasi/dist/ruby+stdlib.wasm'));
const { vm } = await RubyVM.instantiateModule({ module, wasip1, args });
vm.eval(fs.readFileSync('read.rb', 'utf8'));
J
HOCON=$(dirname "$(find root -name hocon.rb | head -1)")
export HOCON
old=$(ruby read.rb)
new=$(node --no-warnings run.mjs "$HOCON")
echo "hocon 1.3.1"
echo "$old"
echo "$new"
[ "$old" = 'Ruby 3.1: a: String 1., b: String 1.e5, c: Integer 1' ] \
  && [ "$new" = 'Ruby 4.0: a: Integer 1, b: Integer 100000, c: Integer 1' ]
