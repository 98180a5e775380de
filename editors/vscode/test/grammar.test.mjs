// Tokens and encrypted values are coloured, and nothing else is.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");
const { INITIAL, parseRawGrammar, Registry } = require("vscode-textmate");

await loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));

// As much of YAML's grammar as an injection can meet: comments, quoted scalars, and the rest.
const host = {
  scopeName: "source.yaml",
  patterns: [
    { match: "#.*$", name: "comment.line" },
    { begin: '"', end: '"', name: "string.quoted.double" },
  ],
};
const injection = readFileSync(new URL("../syntaxes/hiera.injection.json", import.meta.url), "utf8");
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (sources) => new OnigScanner(sources),
    createOnigString: (text) => new OnigString(text),
  }),
  loadGrammar: (scope) =>
    Promise.resolve(
      parseRawGrammar(scope === "source.yaml" ? JSON.stringify(host) : injection, `${scope}.json`),
    ),
  getInjections: (scope) => (scope === "source.yaml" ? ["hiera.injection"] : []),
});
const grammar = await registry.loadGrammar("source.yaml");

/** The pieces of the lines that have a scope of ours, with the innermost one. */
function coloured(...lines) {
  let stack = INITIAL;
  const found = [];
  for (const line of lines) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    for (const { startIndex, endIndex, scopes } of tokens) {
      const scope = scopes.at(-1);
      if (scope.endsWith(".hiera") && scope !== "meta.interpolation.hiera") {
        found.push([line.slice(startIndex, endIndex), scope.replace(/\.hiera$/, "")]);
      }
    }
  }
  return found;
}

test("a function call in a token", () => {
  assert.deepEqual(coloured(`a: "x %{lookup('site::name')} y"`), [
    ["%{", "punctuation.definition.template-expression.begin"],
    ["lookup", "support.function"],
    ["'site::name'", "string.quoted"],
    ["}", "punctuation.definition.template-expression.end"],
  ]);
});

test("a variable in a token", () => {
  assert.deepEqual(coloured("a: %{facts.os.family}"), [
    ["%{", "punctuation.definition.template-expression.begin"],
    ["facts", "variable.language"],
    [".", "punctuation.separator"],
    ["os", "variable.other"],
    [".", "punctuation.separator"],
    ["family", "variable.other"],
    ["}", "punctuation.definition.template-expression.end"],
  ]);
});

test("an encrypted value over several lines ends at its bracket", () => {
  assert.deepEqual(coloured("a: >", "  ENC[PKCS7,MIIB", "  eQYJ==]", "b: c"), [
    ["ENC", "keyword.other.encrypted"],
    ["[", "punctuation.definition.encrypted.begin"],
    ["PKCS7", "constant.language.encryption-method"],
    [",", "punctuation.separator"],
    ["MIIB", "comment.block.encrypted"],
    ["  eQYJ==", "comment.block.encrypted"],
    ["]", "punctuation.definition.encrypted.end"],
  ]);
});

test("what never closes does not colour the rest of the file", () => {
  const next = ["b: plain"];
  assert.equal(coloured('a: "%{facts.os', ...next).some(([text]) => text.includes("plain")), false);
  assert.equal(coloured("a: ENC[PKCS7,MIIB", ...next).some(([text]) => text.includes("plain")), false);
});

test("comments stay comments", () => {
  assert.deepEqual(coloured("# see %{facts.os} and ENC[PKCS7,x]"), []);
});

test("an explanation shows what was found, and dims what was not", async () => {
  const text = readFileSync(new URL("../syntaxes/hiera-report.json", import.meta.url), "utf8");
  const own = new Registry({
    onigLib: registry._options.onigLib,
    loadGrammar: () => Promise.resolve(parseRawGrammar(text, "text.hiera-report.json")),
  });
  const report = await own.loadGrammar("text.hiera-report");
  const scopes = (line, piece) => {
    const { tokens } = report.tokenizeLine(line, INITIAL);
    const at = line.indexOf(piece);
    const scope = tokens.find(({ startIndex, endIndex }) => startIndex <= at && at < endIndex);
    return scope.scopes.at(-1).replace(/\.hiera-report$/, "");
  };
  assert.equal(scopes('Searching for "a::b"', "Searching"), "entity.name.tag");
  assert.equal(scopes('        Found key: "a::b" value: 8080', "Found"), "markup.inserted");
  assert.equal(scopes('        Found key: "a::b" value: 8080', "8080"), "constant.numeric");
  assert.equal(scopes('      No such key: "a::b"', "No such"), "comment.line");
  assert.equal(scopes("# unknown: a backend", "unknown"), "comment.line.number-sign");
});
