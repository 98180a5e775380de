// Which server program the extension takes, and what it says when none works.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { buildSync } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "hiera-ls-"));
after(() => {
  rmSync(folder, { recursive: true });
});

const source = new URL("../src/server.ts", import.meta.url).pathname;
const bundle = join(folder, "server.mjs");
buildSync({ entryPoints: [source], bundle: true, platform: "node", format: "esm", outfile: bundle });
const { candidates, find } = await import(bundle);

function program(path, body) {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const extension = join(folder, "extension");
mkdirSync(join(extension, "server"), { recursive: true });
program(join(extension, "server/hiera-ls"), "echo hiera-ls 0.1.0");
const other = program(join(folder, "other"), 'test "$1" = --version && echo hiera-ls 9.9.9');

test("the setting comes before the environment, that before the copy inside", async () => {
  const found = await find(candidates(other, { HIERA_LS_SERVER: "/nowhere" }, extension, "linux"));
  assert.deepEqual([found.program, found.version], [other, "9.9.9"]);
  const named = await find(candidates("", { HIERA_LS_SERVER: other }, extension, "linux"));
  assert.equal(named.program, other);
  const inside = await find(candidates("", {}, extension, "linux"));
  assert.deepEqual([inside.source, inside.version], ["this extension", "0.1.0"]);
});

test("a program that the user named is never silently replaced", async () => {
  const failures = await find(candidates("/nowhere/hiera-ls", {}, extension, "linux"));
  assert.deepEqual(failures, [
    "/nowhere/hiera-ls (from the setting 'hiera-ls.server.path'): there is no such program",
  ]);
});

test("why a program does not count is said in words", async () => {
  const stranger = program(join(folder, "stranger"), "echo something else");
  const fails = program(join(folder, "fails"), "exit 3");
  const text = join(folder, "text");
  writeFileSync(text, "no program");
  const why = async (path) => (await find([{ source: "x", program: path, chosen: true }]))[0];
  assert.match(await why(stranger), /it is not hiera-ls/);
  assert.match(await why(fails), /Command failed/);
  assert.match(await why(text), /it is not executable/);
});

test("without a copy inside, the search path counts", () => {
  const tried = candidates("", {}, "/none", "win32").map(({ program }) => program);
  assert.deepEqual(tried, [join("/none", "server", "hiera-ls.exe"), "hiera-ls.exe"]);
});
