// The table of a matrix: what is in its rows, how they are filtered and sorted.

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

async function load(name) {
  const outfile = join(folder, `${name}.mjs`);
  const source = new URL(`../src/${name}.ts`, import.meta.url).pathname;
  buildSync({ entryPoints: [source], bundle: true, platform: "node", format: "esm", outfile });
  return import(outfile);
}

const { leaves, matrixOf, rows, summary } = await load("matrixModel");
const { draft, hasFacts, origins, problemOf, summary: said, typedValue } = await load("choices");

const source = (file, line) => ({ file: `/repo/${file}`, line });
const REPLY = {
  data: {
    key: "port",
    answers: [
      { found: true, value: 8080, nodes: ["b.x", "c.x"], sources: [source("data/common.yaml", 10)] },
      { found: true, value: 9, nodes: ["a.x"], sources: [source("data/node/a.x.yaml", 1)] },
      { found: false, error: "Function lookup() did not find a value for the name 'port'", nodes: ["d.x"], sources: [] },
      { found: null, unknown: "vault", possible: 1, unless: "vault has the key", nodes: ["e.x"], sources: [] },
    ],
  },
  values: ["8080", "9", "", "1"],
};
const name = (file) => file.replace("/repo/", "");
const matrix = matrixOf(REPLY, name, { selected: "a.x", facts: { site: "lon", "os.release": { major: 9 } } });
const BY_COUNT = { column: "nodes", ascending: false };
const texts = (...of) => rows(matrix, ...of).map(({ answer, nodes }) => `${nodes.join(" ")}: ${answer.text}`);

test("an answer without data is no table", () => {
  assert.equal(matrixOf({ content: "" }, name, { selected: null, facts: {} }), undefined);
});

test("what is no value is said, and what is uncertain", () => {
  assert.deepEqual(texts("answers", "", BY_COUNT), ["b.x c.x: 8080", "a.x: 9", "d.x: not set", "e.x: 1"]);
  assert.deepEqual(matrix.answers[3].notes, ["unless vault has the key"]);
  assert.deepEqual(matrix.hypothetical, ["site = lon", 'os.release = {"major":9}']);
  assert.equal(summary(matrix), "4 different values on 5 nodes");
});

test("every word of a filter is in the answer or in the node's name", () => {
  assert.deepEqual(texts("answers", "common", BY_COUNT), ["b.x c.x: 8080"]);
  assert.deepEqual(texts("answers", "COMMON c.x", BY_COUNT), ["c.x: 8080"]);
  assert.deepEqual(texts("answers", "a.x nothing", BY_COUNT), []);
  assert.equal(leaves(rows(matrix, "answers", "c.x", BY_COUNT), matrix), "1 of 4 values, 1 of 5 nodes");
});

test("rows are sorted by numbers as numbers, and as they came where they are alike", () => {
  assert.deepEqual(texts("answers", "", { column: "value", ascending: true }), [
    "e.x: 1",
    "a.x: 9",
    "b.x c.x: 8080",
    "d.x: not set",
  ]);
  const names = { column: "nodes", ascending: false };
  assert.deepEqual(texts("nodes", "80", names), ["c.x: 8080", "b.x: 8080"]);
});

test("without nodes there are conditions", () => {
  const open = matrixOf(
    { data: { key: "k", answers: [{ found: true, condition: "site = lon", sources: [] }] }, values: ["1"] },
    name,
    { selected: null, facts: {} },
  );
  assert.deepEqual(rows(open, "nodes", "lon", BY_COUNT).map(({ answer }) => answer.condition), ["site = lon"]);
  assert.equal(summary(open), "the same value on every node");
});

const FACTS = {
  node: null,
  overrides: {},
  facts: [
    { path: "site", name: "facts.site", settable: true, levels: 2, current: null, values: [{ value: "lon", nodes: 4 }, { value: "nyc", nodes: 1 }], more: 0 },
    { path: "role", name: "role", settable: false, levels: 1, current: null, values: [], more: 0 },
    { path: "os.name", name: "facts.os.name", settable: true, levels: 0, current: null, values: [], more: 0 },
  ],
};

test("facts say what they are now, and which cannot be overridden", () => {
  assert.equal(said(FACTS.facts[0], null), "lon on 4 nodes, nyc on 1 node");
  assert.equal(said({ ...FACTS.facts[0], current: "nyc" }, "a.x"), "nyc on a.x");
  assert.equal(said(FACTS.facts[2], null), "not known for any node");
  assert.match(problemOf("role", FACTS.facts), /not a fact/);
  assert.match(problemOf("trusted.certname", FACTS.facts), /certificate/);
  assert.equal(problemOf("os.name", FACTS.facts), undefined);
  assert.deepEqual([typedValue("16"), typedValue("lon"), typedValue('{"a":1}')], [16, "lon", { a: 1 }]);
});

test("where nodes come from, in words", () => {
  const known = { nodes: ["a.x", "b.x"], selected: null, origins: [{ uri: "/repo/nodes.json", nodes: 1 }, { uri: null, nodes: 1 }] };
  assert.equal(origins(known, name), "1 node from nodes.json, 1 node from the names of data files");
  assert.equal(hasFacts(known), true);
  assert.equal(hasFacts({ ...known, origins: [{ uri: null, nodes: 2 }] }), false);
  assert.equal(origins({ nodes: [], selected: null }, name), "no nodes are known");
});

test("a file of nodes to fill in has the names and the variables of levels, and guesses nothing", () => {
  const written = JSON.parse(draft({ nodes: ["a.x"], selected: null }, FACTS));
  assert.deepEqual(written, { "a.x": { facts: { site: "" }, variables: { role: "" } } });
});
