// The language server as a WebAssembly module against the program: the same session with both, on fixtures/acme, and
// every answer is the same. Run by tests/editors/run.
//
// In the environment: VSIX (the package for the web), HIERA_LS_SERVER and FIXTURE.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const { VSIX, HIERA_LS_SERVER } = process.env;

// Nodes from a file that only a setting names.
const FIXTURE = join(mkdtempSync(join(tmpdir(), "hiera-ls-same-")), "acme");
cpSync(process.env.FIXTURE, FIXTURE, { recursive: true });
mkdirSync(join(FIXTURE, "fleet"));
renameSync(join(FIXTURE, "nodes.json"), join(FIXTURE, "fleet/known.json"));
const SETTINGS = { nodesFiles: ["fleet/known.json"], fromWorkspace: ["nodesFiles"] };

const PYTHON = "import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read('extension/dist/hiera-ls.wasm'))";

/** Longer than any answer takes, in milliseconds. */
const LIMIT = 30_000;

const folder = pathToFileURL(FIXTURE).href;
const uriOf = (file) => `${folder}/${file}`;
const textOf = (file) => readFileSync(join(FIXTURE, file), "utf8");

/** One side of the comparison: `send` gets messages to a server, which calls `heard` with its own. */
class Session {
  #next = 0;
  #waiting = new Map();
  diagnostics = new Map();
  handedOver = { folders: 0, files: 0 };

  constructor(connect) {
    this.send = connect((message) => this.#heard(message));
  }

  #heard(message) {
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (message.id !== undefined) {
      this.send({ jsonrpc: "2.0", id: message.id, result: this.#reply(message) });
    } else if (message.method === "textDocument/publishDiagnostics") {
      this.diagnostics.set(message.params.uri, message.params.diagnostics);
    }
  }

  #reply({ method, params }) {
    if (method === "workspace/configuration") {
      return params.items.map(() => SETTINGS);
    }
    if (method !== "hiera-ls/files") {
      return null;
    }
    const on = (ask) => (uri) => {
      try {
        return ask(join(FIXTURE, decodeURIComponent(uri.slice(folder.length))));
      } catch {
        return null;
      }
    };
    this.handedOver.folders += params.folders.length;
    this.handedOver.files += params.files.length;
    return {
      folders: params.folders.map(on((at) => readdirSync(at, { withFileTypes: true }).map((one) => [one.name, one.isDirectory()]))),
      files: params.files.map(on((at) => ({ text: readFileSync(at, "utf8") }))),
    };
  }

  tell(method, params) {
    this.send({ jsonrpc: "2.0", method, params });
  }

  ask(method, params) {
    const id = (this.#next += 1);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method} was not answered`)), LIMIT);
      this.#waiting.set(id, ({ result, error }) => {
        clearTimeout(late);
        resolve(error ?? result);
      });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }
}

/** The program, on a pipe. */
function program(heard) {
  const server = spawn(HIERA_LS_SERVER, ["--stdio"], { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, HOME: "/nowhere", XDG_STATE_HOME: "/nowhere" } });
  let rest = Buffer.alloc(0);
  server.stdout.on("data", (some) => {
    rest = Buffer.concat([rest, some]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(rest.subarray(0, Math.max(end, 0)).toString())?.[1]);
      if (end < 0 || rest.length < end + 4 + length) {
        return;
      }
      const body = rest.subarray(end + 4, end + 4 + length).toString();
      rest = rest.subarray(end + 4 + length);
      heard(JSON.parse(body));
    }
  });
  const send = (message) => {
    const body = Buffer.from(JSON.stringify(message));
    server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    server.stdin.write(body);
  };
  send.stop = () => server.kill();
  return send;
}

/** The module, called as the worker of the extension calls it. */
function module(compiled) {
  return (heard) => {
    const { exports } = new WebAssembly.Instance(compiled, {});
    const said = (length) => new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.output(), length));
    assert.equal(said(exports.start()), "");
    let timer;
    const run = () => {
      clearTimeout(timer);
      const next = exports.advance(performance.now());
      for (let length = exports.take(); length > 0; length = exports.take()) {
        heard(JSON.parse(said(length)));
      }
      timer = next < 0 ? undefined : setTimeout(run, next);
    };
    const send = (message) => {
      const bytes = new TextEncoder().encode(JSON.stringify(message));
      const at = exports.input(bytes.length);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      exports.receive();
      clearTimeout(timer);
      timer = setTimeout(run, 0);
    };
    send.stop = () => clearTimeout(timer);
    return send;
  };
}

const compiled = await WebAssembly.compile(execFileSync("python3", ["-c", PYTHON, VSIX], { maxBuffer: 1 << 28 }));
assert.deepEqual(WebAssembly.Module.imports(compiled), [], "the module asks its host for more than messages");
const both = [new Session(program), new Session(module(compiled))];
let compared = 0;

/** Asks both, and compares. */
async function same(method, params) {
  const [wanted, got] = await Promise.all(both.map((session) => session.ask(method, params)));
  assert.deepEqual(got, wanted, `${method} ${JSON.stringify(params).slice(0, 300)}`);
  compared += 1;
  return got;
}

const tell = (method, params) => both.forEach((session) => session.tell(method, params));

const capabilities = {
  general: { positionEncodings: ["utf-16"] },
  workspace: { configuration: true, didChangeWatchedFiles: { dynamicRegistration: true }, workspaceEdit: { documentChanges: true } },
  textDocument: {
    hover: { contentFormat: ["markdown"] },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: [] } }, resolveSupport: { properties: ["edit"] }, dataSupport: true },
    definition: { linkSupport: true },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
  },
};
await same("initialize", { processId: null, capabilities, workspaceFolders: [{ uri: folder, name: "acme" }] });
tell("initialized", {});
const files = readdirSync(join(FIXTURE, "data"), { recursive: true }).filter((file) => file.endsWith(".yaml")).map((file) => `data/${file}`);
for (const file of [...files, "hiera.yaml"]) {
  const uri = uriOf(file);
  const textDocument = { uri };
  const lines = textOf(file).split("\n");
  tell("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text: lines.join("\n") } });
  for (const method of ["documentSymbol", "foldingRange", "codeLens", "documentLink"]) {
    await same(`textDocument/${method}`, { textDocument });
  }
  const range = { start: { line: 0, character: 0 }, end: { line: lines.length, character: 0 } };
  await same("textDocument/inlayHint", { textDocument, range });
  await same("textDocument/codeAction", { textDocument, range, context: { diagnostics: [] } });
  for (const [line, text] of lines.entries()) {
    // A key, and what is behind it.
    for (const character of new Set([Math.max(text.search(/\S/), 0) + 1, text.indexOf("%{") + 3, text.length])) {
      const place = { textDocument, position: { line, character: Math.min(character, text.length) } };
      await same("textDocument/hover", place);
      await same("textDocument/definition", place);
      if (line % 4 === 0) {
        await same("textDocument/completion", place);
        await same("textDocument/references", { ...place, context: { includeDeclaration: true } });
      }
    }
  }
}
const uri = uriOf("data/common.yaml");
const line = textOf("data/common.yaml").split("\n").findIndex((text) => text.startsWith("site::name: Acme"));
const command = (name, argument) => same("workspace/executeCommand", { command: `hiera.${name}`, arguments: [{ uri, ...argument }] });
for (const key of ["site::name", "profile::web::port", "profile::web::firewall", "accounts::users"]) {
  await command("matrix", { key, data: true, values: true });
  await command("explain", { key, node: "web01.lon.acme.example" });
  await command("uses", { key });
}
await command("diff", { from: "web01.lon.acme.example", to: "web01.nyc.acme.example" });
const { nodes } = await command("nodes", { details: true });
assert.equal(nodes.length, 8);
await command("facts", {});
tell("textDocument/didChange", {
  textDocument: { uri, version: 2 },
  contentChanges: [{ range: { start: { line, character: 16 }, end: { line, character: 16 } }, text: " Corp" }],
});
const impact = await command("impact", { data: true });
assert.match(JSON.stringify(impact), /Acme Corp/);
await command("setFact", { path: "os.family", value: "Suse" });
await command("matrix", { key: "profile::base::packages", data: true });
await command("clearFacts", {});
await same("workspace/symbol", { query: "profile" });

const settled = () => both.every(({ diagnostics }) => diagnostics.size > 40);
for (let waited = 0; waited < LIMIT && !settled(); waited += 100) {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await new Promise((resolve) => setTimeout(resolve, 1500));
const found = ({ diagnostics }) => [...diagnostics].filter(([, list]) => list.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
assert.deepEqual(found(both[1]), found(both[0]), "the problems differ");
const problems = found(both[1]).flatMap(([, list]) => list).length;
assert.ok(problems > 50, `${problems} problems`);

const { handedOver } = both[1];
console.log(`# ${compared} answers and ${problems} problems are those of the program; ${handedOver.folders} folders and ${handedOver.files} files were handed over`);
console.log("1 passed, 0 failed");
for (const session of both) {
  session.send.stop();
}
rmSync(dirname(FIXTURE), { recursive: true });
