// A word is a whole key.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { buildSync } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "hiera-ls-"));
after(() => {
  rmSync(folder, { recursive: true });
});

const source = new URL("../src/words.ts", import.meta.url).pathname;
const bundle = join(folder, "words.mjs");
buildSync({ entryPoints: [source], bundle: true, platform: "node", format: "esm", outfile: bundle });
const { WORD } = await import(bundle);

/** The words of a line. */
function words(line) {
  return line.match(new RegExp(WORD, "g"));
}

test("keys, facts and paths are words", () => {
  assert.deepEqual(words("profile::web::port: 443"), ["profile::web::port", "443"]);
  assert.deepEqual(words("'a::b': \"%{lookup('x::y.z')}\""), ["a::b", "lookup", "x::y.z"]);
  assert.deepEqual(words("%{::role} %{facts.os.family}"), ["::role", "facts.os.family"]);
  assert.deepEqual(words("  - path: nodes/%{trusted.certname}.yaml"), [
    "-",
    "path",
    "nodes/",
    "trusted.certname",
    ".yaml",
  ]);
});

test("a key that is being typed is a word", () => {
  assert.deepEqual(words("profile::"), ["profile::"]);
  assert.deepEqual(words("profile::web:"), ["profile::web"]);
});
