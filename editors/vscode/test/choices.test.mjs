// Where nodes come from, how old that is, and what tells nodes apart.

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

const source = new URL("../src/choices.ts", import.meta.url).pathname;
const bundle = join(folder, "choices.mjs");
buildSync({ entryPoints: [source], bundle: true, platform: "node", format: "esm", outfile: bundle });
const { described, origins, stale } = await import(bundle);

const name = (uri) => uri.split("/").at(-1);

function choices(imported) {
  return { nodes: ["a", "b"], origins: [{ uri: "file:///repo/nodes.json", nodes: 2, imported }], selected: null };
}

test("imported nodes have an age", () => {
  assert.equal(origins(choices(null), name), "2 nodes from nodes.json");
  const imported = { at: "2026-11-29 10:00:00 UTC", age: "9 days ago", stale_since: "2026-12-06 10:00:00 UTC" };
  assert.equal(origins(choices(imported), name), "2 nodes from nodes.json, imported 9 days ago");
  assert.deepEqual(stale(choices(imported), name), ["nodes.json is stale since 2026-12-06 10:00:00 UTC"]);
  assert.deepEqual(stale(choices({ ...imported, stale_since: null }), name), []);
  assert.deepEqual(stale({ nodes: [], selected: null }, name), []);
});

test("a node is described by its environment and its variables", () => {
  assert.deepEqual(described({ node: "a", known: "all", environment: "staging", says: "role = web" }), ["staging", "role = web"]);
  assert.deepEqual(described({ node: "a", known: "name", environment: null, says: "" }), []);
  assert.deepEqual(described(undefined), []);
});
