// The packaged extension in VS Code's workbench beside yaml-language-server: each says what it knows,
// once, and neither undoes what the other does. Run by tests/editors/run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { start, Workbench } from "./workbench.mjs";

const { EXTENSION, OUT } = process.env;
const folder = mkdtempSync(join(tmpdir(), "hiera-ls-beside-"));
let bench;

/** The extension that starts yaml-language-server, packed as one installs it. */
function yamlExtension() {
  const here = join(folder, "extension");
  const modules = join(EXTENSION, "node_modules");
  cpSync(new URL("yaml-extension", import.meta.url), here, { recursive: true });
  const bundle = ["--bundle", "--platform=node", "--external:vscode", "--outfile=dist/extension.js"];
  const environment = { ...process.env, NODE_PATH: modules };
  execFileSync(join(modules, ".bin/esbuild"), ["extension.js", "--log-level=error", ...bundle], { cwd: here, env: environment });
  const packed = join(folder, "yaml-server.vsix");
  const flags = ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", packed];
  execFileSync(process.execPath, [join(modules, "@vscode/vsce/vsce"), ...flags], { cwd: here, stdio: "pipe" });
  return packed;
}

before(
  async () => {
    const schema = join(folder, "schema.json");
    const properties = { "profile::web::firewall": { description: "from the schema" } };
    writeFileSync(schema, JSON.stringify({ type: "object", properties }));
    // Nothing is asked for in the network.
    const settings = {
      "yaml.schemaStore.enable": false,
      "yaml.schemas": { [schema]: "data/role/*.yaml" },
    };
    bench = new Workbench(await start(settings, undefined, [yamlExtension()]));
    await bench.open("data/role/web.yaml");
    await bench.running();
    bench.mark("the server runs");
  },
  { timeout: 300_000 },
);

after(async () => {
  await bench?.picture(join(OUT, "beside-last.png")).catch(() => {});
  await bench?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const occurrences = (text, part) => text.split(part).length - 1;

test("a hover shows what each knows, once", async () => {
  // The lens of the other server: it has read the file and its schema.
  await bench.page.locator(".codelens-decoration", { hasText: "schema.json" }).waitFor();
  await bench.hover("profile::web::firewall", "merged as hash from 2 levels");
  const box = bench.page.locator(".monaco-hover:not(.hidden)").filter({ hasText: "from the schema" });
  await box.waitFor();
  await bench.picture(join(OUT, "beside-hover.png"));
  const text = (await box.textContent()).replaceAll(/\s+/g, " ");
  for (const part of ["from the schema", "merged as hash from 2 levels", "port: 443"]) {
    assert.equal(occurrences(text, part), 1, `'${part}' is not there once: ${text}`);
  }
  await bench.picture(join(OUT, "beside-hover.png"));
  await bench.leaveHover();
});

test("healthy data has no problems, and a mistake one of each at most", async () => {
  const { page } = bench;
  const rows = page.locator(".markers-panel .monaco-list-row");
  await bench.run("Problems: Focus on Problems View");
  await page.locator(".panel .monaco-inputbox input").fill("web.yaml");
  await page.locator(".markers-panel", { hasText: "No results found with provided filter criteria" }).waitFor();
  await bench.goTo(1, 1);
  // The second of the same keys makes both speak, and so shows that both have looked.
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\ntwice: 1\ntwice: 2\n");
  const ours = rows.filter({ hasText: "dup-key" });
  const theirs = rows.filter({ hasText: "YAML" }).filter({ hasText: "unique" });
  await ours.first().waitFor();
  await theirs.first().waitFor();
  const lines = await rows.allTextContents();
  assert.equal(await ours.count(), 1, lines.join("\n"));
  assert.equal(await theirs.count(), 1, lines.join("\n"));
  await bench.picture(join(OUT, "beside-problems.png"));
});

test("a quick fix is there once and does what it says", async () => {
  const { page } = bench;
  await page.keyboard.press("Control+End");
  await page.keyboard.type("profile::web::mode: 0644\n");
  await page.locator(".markers-panel .monaco-list-row", { hasText: "yaml11-octal" }).waitFor();
  const line = readFileSync(join(bench.workspace, "data/role/web.yaml"), "utf8").split("\n").length + 3;
  await bench.goTo(line, 24);
  const menu = page.locator(".action-widget .monaco-list-row.action");
  await bench.until(() => page.keyboard.press("Control+."), menu.first());
  const offered = await menu.allTextContents();
  await bench.picture(join(OUT, "beside-actions.png"));
  assert.equal(new Set(offered).size, offered.length, offered.join("\n"));
  const fix = menu.filter({ hasText: "Quote it" });
  assert.equal(await fix.count(), 1, offered.join("\n"));
  await fix.click();
  await page.locator(".monaco-editor .view-line", { hasText: 'profile::web::mode: "0644"' }).waitFor();
  await page.locator(".markers-panel .monaco-list-row", { hasText: "yaml11-octal" }).waitFor({ state: "detached" });
});
