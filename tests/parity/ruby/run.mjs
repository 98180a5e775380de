// Runs a Ruby script in a Ruby of npm's @ruby/VERSION-wasm-wasi, with a folder at /w.
//
//   node --stack-size=200000 run.mjs VERSION SCRIPT FOLDER      (behind `ulimit -s 1000000`)
//
// The folder is read into memory first; afterwards the text files (.txt) of its top are written back. Node's own
// WASI is not used: it ends with a segmentation fault on long runs. Programs and threads do not exist there.
import fs from 'node:fs';
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import { RubyVM } from '@ruby/wasm-wasi';

const [, , version, script, folder] = process.argv;

const read = (at) =>
  new Map(
    fs.readdirSync(at, { withFileTypes: true }).map(({ name }) => {
      const inside = `${at}/${name}`;
      const isFolder = fs.statSync(inside).isDirectory();
      return [name, isFolder ? new Directory(read(inside)) : new File(fs.readFileSync(inside))];
    }),
  );

// Neither adds guesses or excerpts to Ruby's errors, as on a server.
const args = ['ruby.wasm', '-EUTF-8', '--disable=did_you_mean', '--disable=error_highlight', '-e_=0'];
const root = new PreopenDirectory('/w', read(folder));
const [out, err] = [console.log, console.error].map((print) => ConsoleStdout.lineBuffered((line) => print(line)));
const wasip1 = new WASI(args, [], [new OpenFile(new File([])), out, err, root], { debug: false });
const binary = new URL(`node_modules/@ruby/${version}-wasm-wasi/dist/ruby+stdlib.wasm`, import.meta.url);
const module = await WebAssembly.compile(fs.readFileSync(binary));
const { vm } = await RubyVM.instantiateModule({ module, wasip1, args });
try {
  vm.eval(fs.readFileSync(script, 'utf8'));
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
// Both streams are buffered.
vm.eval('$stdout.flush; $stderr.flush');
for (const [name, file] of root.dir.contents) {
  if (file instanceof File && name.endsWith('.txt')) fs.writeFileSync(`${folder}/${name}`, file.data);
}
