// The packaged extension in VS Code's real workbench, on a copy of fixtures/acme.
// Run by tests/editors/run, which says what has to be in the environment.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { start, Workbench } from "./workbench.mjs";

/** What a hover says where three nodes get two values. */
const SEVERAL = /2 (different values on|answers over) 3 nodes/;

let bench;

before(
  async () => {
    // Few lines, so that a hover cuts a value of the fixture.
    bench = new Workbench(await start({
      "hiera-ls.hover.maxLines": 14,
      "diffEditor.useInlineViewWhenSpaceIsLimited": false,
      // Lenses are off by default.
      "hiera-ls.codeLens.overrides": true,
      "hiera-ls.codeLens.uses": true,
      "hiera-ls.codeLens.impact": true,
    }));
    nameAProgram();
    await bench.open("data/role/web.yaml");
    bench.mark("a file is open");
    await bench.running();
    bench.mark("the server runs");
  },
  { timeout: 300_000 },
);

after(async () => {
  await bench?.picture(join(process.env.OUT, "last.png")).catch(() => {});
  await bench?.stop();
});

/** What a workspace that means ill would do: name a program, to be run as soon as it is opened. */
function nameAProgram() {
  const program = join(bench.home, "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${program}.was-run\necho hiera-ls 6.6.6\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(bench.workspace, ".vscode"));
  const settings = JSON.stringify({ "hiera-ls.server.path": program });
  writeFileSync(join(bench.workspace, ".vscode/settings.json"), settings);
}

test("a workspace cannot name the server program", () => {
  assert.ok(!existsSync(join(bench.home, "program.was-run")));
});

test("hover shows the merged value and its levels", async () => {
  const hover = await bench.hover("profile::web::firewall", "merged as hash from 2 levels");
  const text = (await hover.textContent()).replaceAll(/\s+/g, " ");
  for (const part of ["port: 443", "common.yaml:102", "role/web.yaml:8"]) {
    assert.ok(text.includes(part), `'${part}' is missing in: ${text}`);
  }
  await bench.picture(join(process.env.OUT, "hover.png"));
  await bench.leaveHover();
  bench.mark("hover");
});

test("ten places show the same as in every other editor", async () => {
  const places = JSON.parse(readFileSync(new URL("../places.json", import.meta.url), "utf8"));
  for (const place of places) {
    const lines = readFileSync(join(bench.workspace, place.file), "utf8").split("\n");
    const line = lines.findIndex((text) => text.includes(place.line));
    assert.ok(line >= 0, place.what);
    await bench.openByName(place.file);
    const hover = await bench.hoverAt(line + 1, lines[line].indexOf(place.at) + 2, place.shows[0]);
    const text = (await hover.textContent()).replaceAll(/\s+/g, " ");
    for (const part of place.shows) {
      assert.ok(text.includes(part), `at ${place.what}: '${part}' is missing in: ${text}`);
    }
    for (const part of place.never ?? []) {
      assert.ok(!text.includes(part), `at ${place.what}: '${part}' is in: ${text}`);
    }
    await bench.leaveHover();
  }
  await bench.run("View: Close All Editors");
  await bench.openByName("data/role/web.yaml");
  bench.mark("ten places");
});

test("an edit changes a hover before it is saved", async () => {
  await bench.goTo(8, 17);
  await bench.page.keyboard.type("8");
  await bench.page.locator(".tab.active.dirty").waitFor();
  const hover = await bench.hover("profile::web::firewall", "port: 8443");
  assert.match(await hover.textContent(), /merged as hash from 2 levels/);
  await bench.leaveHover();
  await bench.run("File: Revert File");
  await bench.page.locator(".tab.active:not(.dirty)").waitFor();
  bench.mark("unsaved edit");
});

test("a healthy file has no squiggles, a loop has, with its other places", async () => {
  assert.equal(await bench.page.locator(".monaco-editor .squiggly-error").count(), 0);
  await bench.openByName("families/loops.yaml");
  await bench.page.locator(".monaco-editor .squiggly-error").first().waitFor();
  const rows = bench.page.locator(".markers-panel .monaco-list-row");
  await bench.run("Problems: Focus on Problems View");
  await rows.first().waitFor();
  await bench.page.locator(".panel .monaco-inputbox input").fill("loop::a → loop::b → loop::c");
  await rows.filter({ hasText: "lookup loop: loop::a" }).filter({ hasText: "interpolation-loop" }).waitFor();
  // Every other place of the loop is a row of its own below the problem.
  await rows.filter({ hasText: "loops.yaml[Ln 5" }).first().waitFor();
  await bench.picture(join(process.env.OUT, "problems.png"));
  await bench.run("View: Hide Panel");
  bench.mark("problems");
});

test("a quick fix, and all safe ones of a file", async () => {
  const path = join(bench.workspace, "data/node/fixes.acme.example.yaml");
  writeFileSync(path, "fix::mode: 0644\nfix::on: yes # really\nfix::most: 1_000\n");
  await bench.openByName("data/node/fixes.acme.example.yaml");
  await bench.page.locator(".monaco-editor .squiggly-warning").first().waitFor();
  await bench.goTo(1, 13);
  const action = bench.page.locator(".action-widget .monaco-list-row", { hasText: "Quote it" }).first();
  await bench.until(() => bench.page.keyboard.press("Control+."), action);
  await bench.picture(join(process.env.OUT, "fix.png"));
  await action.click();
  const line = (text) => bench.page.locator(".monaco-editor .view-line", { hasText: text });
  await line('fix::mode: "0644"').waitFor();
  await bench.until(() => bench.run("Fix All"), line("fix::on: true # really"));
  // What may change a meaning is left.
  await line("fix::most: 1_000").waitFor();
  await bench.run("File: Revert File");
  await bench.page.locator(".tab.active:not(.dirty)").waitFor();
  rmSync(path);
  bench.mark("fixes");
});

test("tokens and encrypted values have colours of their own, in dark and light", async () => {
  // A word that is drawn again in the meantime has no colour.
  const colour = async (text) => {
    let found = "";
    while (found === "") found = await bench.word(text).evaluate((span) => getComputedStyle(span).color);
    return found;
  };
  const seen = {};
  await bench.openByName("families/loops.yaml");
  for (const theme of ["Light 2026", "Dark 2026"]) {
    await bench.theme(theme);
    seen[theme] = { call: await colour(/^lookup$/), key: await colour(/^loop::a$/) };
    assert.notEqual(seen[theme].call, seen[theme].key, theme);
  }
  assert.notEqual(seen["Dark 2026"].call, seen["Light 2026"].call);
  await bench.openByName("data/secrets.eyaml");
  await bench.word(/^PKCS7$/).waitFor();
  bench.mark("colours");
});

test("only what the server announces is offered", async () => {
  // By their names: the list of all is longer than the screen.
  for (const name of ["Show Server Log", "Reload Workspace"]) {
    const rows = await bench.palette(`Hiera: ${name}`);
    await rows.filter({ hasText: `Hiera: ${name}` }).waitFor();
    await bench.page.keyboard.press("Escape");
  }
});

test("selecting a node changes a hover, and back", async () => {
  await bench.openByName("data/role/web.yaml");
  await bench.hover("profile::web::tags", SEVERAL);
  await bench.leaveHover();
  await bench.choose("Hiera: Select Node", "web01.nyc.acme.example");
  await bench.statusItem.filter({ hasText: "web01.nyc.acme.example" }).waitFor();
  const hover = await bench.hover("profile::web::tags", "frontend");
  assert.doesNotMatch(await hover.textContent(), /different values|2 answers/);
  await bench.leaveHover();
  await bench.choose("Hiera: Select Node", "All nodes");
  await bench.hover("profile::web::tags", SEVERAL);
  await bench.leaveHover();
  bench.mark("node selected");
});

/** The document that a command opens beside, once its tab says `title`, it has `text` and takes no typing. */
async function document(title, text) {
  await bench.page.locator(`.editor-group-container.active .tab.active:not([data-resource-name^="webview-"])`, { hasText: title }).waitFor();
  const lines = bench.page.locator(".editor-group-container.active .view-lines", { hasText: text });
  await lines.waitFor();
  await bench.page.keyboard.type("x");
  await bench.page.locator(".monaco-editor-overlaymessage", { hasText: "read-only" }).waitFor();
  return lines;
}

async function closeDocuments() {
  await bench.run("View: Close All Editors in Group");
  await bench.page.locator(".editor-group-container").nth(1).waitFor({ state: "detached" });
}

test("a link in a hover that cuts a value opens all of it", async () => {
  await bench.choose("Hiera: Select Node", "web01.nyc.acme.example");
  const hover = await bench.hover("accounts::users", "show all");
  await hover.locator("a", { hasText: /^show all \d+ lines$/ }).click();
  await bench.page.locator(".editor-group-container").nth(1).waitFor();
  await bench.leaveHover();
  const lines = await document("Value of accounts::users", "for web01.nyc.acme.example");
  const text = await lines.textContent();
  assert.doesNotMatch(text, /lines\smore/);
  assert.match(text, /uid:\s1102/, "what the hover leaves out");
  await bench.picture(join(process.env.OUT, "value.png"));
  await closeDocuments();
  await bench.choose("Hiera: Select Node", "All nodes");
  bench.mark("whole value");
});

test("an explanation opens as a document", async () => {
  await bench.goTo(7, 5);
  await bench.run("Hiera: Explain Key");
  await document("How profile::web::firewall is looked up", /profile::web::firewall/);
  await bench.picture(join(process.env.OUT, "explain.png"));
  await closeDocuments();
  bench.mark("explained");
});

/** The page of a matrix, once it is drawn. */
async function matrix(key) {
  await bench.page.locator(".tab.active", { hasText: `Values of ${key}` }).waitFor();
  const page = bench.webview();
  await page.locator("h1", { hasText: key }).waitFor();
  return page;
}

test("a matrix is a table that is sorted, filtered and leads to the lines that it names", async () => {
  await bench.openByName("data/role/web.yaml");
  await bench.goTo(6, 5);
  await bench.run("Hiera: Show Values of Key on All Nodes");
  const page = await matrix("profile::web::tags");
  const cells = (column) => page.locator(`#rows .${column}`);
  const texts = async (column) => (await cells(column).allTextContents()).map((text) => text.replaceAll(/\s+/g, " "));
  await page.locator("#summary", { hasText: "3 different values on 8 nodes" }).waitFor();
  const head = (title) => page.getByRole("columnheader", { name: title, exact: true });
  // The one of most nodes first, and a screen reader is told.
  assert.match((await texts("nodes"))[0], /^5 nodes/);
  assert.equal(await head("Nodes").getAttribute("aria-sort"), "descending");
  assert.equal(await head("Value").getAttribute("aria-sort"), "none");
  // By keyboard alone.
  await head("Nodes").getByRole("button").press("Enter");
  await page.locator("th[aria-sort=ascending]", { hasText: "Nodes" }).waitFor();
  assert.match((await texts("nodes"))[0], /^1 node/);
  await head("Value").getByRole("button").press("Space");
  await page.locator("th[aria-sort=ascending]", { hasText: "Value" }).waitFor();
  const filter = page.getByRole("searchbox", { name: "Filter nodes, values and files" });
  await filter.fill("web0 lon");
  await page.getByRole("status").filter({ hasText: "1 of 3 values, 2 of 8 nodes" }).waitFor();
  await page.getByRole("radio", { name: "node" }).check();
  await page.getByRole("rowheader", { name: "web02.lon.acme.example" }).waitFor();
  assert.equal(await page.getByRole("row").count(), 3);
  await filter.fill("nothing is so called");
  await page.getByText("Nothing matches the filter.").waitFor();
  await filter.fill("");
  await page.getByRole("radio", { name: "value" }).check();
  await bench.picture(join(process.env.OUT, "matrix.png"));
  // Nothing but what the page brings along may run or load.
  const policy = await page.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content");
  assert.match(policy, /^default-src 'none'; style-src 'nonce-[^']+'; script-src 'nonce-[^']+'; base-uri 'none'; form-action 'none'$/);
  await page.getByRole("button", { name: "data/role/web-lon.yaml:4" }).click();
  await bench.page.locator(".tab.active", { hasText: "web-lon.yaml" }).waitFor();
  await bench.page.locator(".statusbar-item", { hasText: "Ln 4, Col 1" }).waitFor();
  await bench.run("View: Close All Editors");
  bench.mark("matrix");
});

test("the matrix is there as a text too, and marks the selected node", async () => {
  await bench.openByName("data/role/web.yaml");
  await bench.choose("Hiera: Select Node", "web01.nyc.acme.example");
  await bench.goTo(6, 5);
  await bench.run("Hiera: Show Values of Key on All Nodes");
  const page = await matrix("profile::web::tags");
  const own = page.getByRole("row").filter({ hasText: "selected" });
  await own.waitFor();
  assert.match(await own.textContent(), /web01\.nyc\.acme\.example.*data\/role\/web\.yaml:6/s);
  await bench.picture(join(process.env.OUT, "matrix-selected.png"));
  await page.getByRole("button", { name: "Open as Text" }).click();
  const lines = await document("Values of profile::web::tags", "web01.nyc.acme.example");
  const text = (await lines.textContent()).replaceAll("\u00a0", " ");
  for (const part of ["# from data/role/web-lon.yaml:4", "- tls"]) {
    assert.ok(text.includes(part), `'${part}' is missing in: ${text}`);
  }
  await bench.run("View: Close All Editors");
  await bench.openByName("data/role/web.yaml");
  await bench.goTo(6, 5);
  await bench.run("Hiera: Show Values of Key on All Nodes as Text");
  const again = await document("Values of profile::web::tags", "web01.nyc.acme.example");
  const link = again.locator(".detected-link", { hasText: "web-lon.yaml:4" });
  await link.waitFor();
  await bench.follow(link, bench.page.locator(".tab.active", { hasText: "web-lon.yaml" }));
  await bench.run("View: Close All Editors");
  await bench.openByName("data/role/web.yaml");
  await bench.choose("Hiera: Select Node", "All nodes");
  bench.mark("matrix as text");
});

test("two nodes are compared in the editor's own comparison, chosen one after the other", async () => {
  await bench.choose("Hiera: Compare Two Nodes", "web01.lon.acme.example", "web01.nyc.acme.example");
  await bench.page.locator(".tab.active", { hasText: "web01.lon.acme.example → web01.nyc.acme.example" }).waitFor();
  const side = (name) => bench.page.locator(`.monaco-diff-editor .editor.${name} .view-line`);
  await side("original").filter({ hasText: /web01\.lon\.acme\.example\.yaml:6/ }).first().waitFor();
  await side("modified").filter({ hasText: /accounts::users/ }).first().waitFor();
  await bench.page.locator(".monaco-diff-editor .line-delete, .monaco-diff-editor .char-delete").first().waitFor({ state: "attached" });
  await bench.picture(join(process.env.OUT, "diff.png"));
  await bench.run("View: Close All Editors");
  bench.mark("compared");
});

test("the impact of an edit is there before it is saved", async () => {
  await bench.openByName("data/role/web.yaml");
  await bench.goTo(8, 17);
  await bench.page.keyboard.type("8");
  await bench.page.locator(".tab.active.dirty").waitFor();
  await bench.run("Hiera: Show Impact of Unsaved Edit");
  const lines = await document("What the edit of data", "changes 1 key for 3 of 8 nodes");
  const text = (await lines.textContent()).replaceAll("\u00a0", " ");
  assert.match(text, /port: 443[\s\S]*port: 8443/);
  await bench.picture(join(process.env.OUT, "impact.png"));
  await closeDocuments();
  await bench.run("File: Revert File");
  await bench.page.locator(".tab.active:not(.dirty)").waitFor();
  bench.mark("impact");
});

test("the doctor says what is known of the workspace", async () => {
  await bench.openByName("data/common.yaml");
  await bench.run("Hiera: Doctor");
  const lines = await document("Hiera doctor", "environment in");
  const text = (await lines.textContent()).replaceAll("\u00a0", " ");
  assert.match(text, /hiera\.yaml — environment in/);
  await bench.picture(join(process.env.OUT, "doctor.png"));
  await closeDocuments();
  bench.mark("doctor");
});

test("an upgrade is previewed with links, and hovers say what changes", async () => {
  const role = join(bench.workspace, "data/role/db.yaml");
  const before = readFileSync(role, "utf8");
  writeFileSync(role, `${before}profile::db::host: "%{::fqdn}"\n`);
  await bench.openByName("data/role/db.yaml");
  await bench.choose("Hiera: Preview Upgrade", "Puppet 8 from Puppet 7");
  const lines = await document("Upgrade from Puppet 7 to Puppet 8", "profile::db::host");
  const text = (await lines.textContent()).replaceAll("\u00a0", " ");
  assert.match(text, /1 key fails on 2 nodes: profile::db::host/);
  assert.match(text, /Undefined variable '::fqdn'/);
  await bench.page.locator(".editor-group-container.active .detected-link", { hasText: /data.role.db\.yaml:\d/ }).first().waitFor();
  await bench.picture(join(process.env.OUT, "upgrade.png"));
  await closeDocuments();
  const hover = await bench.hover("profile::db::host", "changes in 8");
  assert.match((await hover.textContent()).replaceAll("\u00a0", " "), /changes in 8: fails on 2 of 8 nodes/);
  await bench.picture(join(process.env.OUT, "upgrade-hover.png"));
  await bench.leaveHover();
  await bench.choose("Hiera: Preview Upgrade", "End the preview");
  writeFileSync(role, before);
  bench.mark("upgrade previewed");
});

test("another hiera.yaml is chosen and kept in the settings, and the usual one again", async () => {
  const lab = join(bench.workspace, "hiera-lab.yaml");
  const lines = ["version: 5", "defaults: {datadir: data, data_hash: yaml_data}", "hierarchy:", "- {name: Lab, path: common.yaml}"];
  writeFileSync(lab, `${lines.join("\n")}\n`);
  const answeredBy = (file) => bench.page.locator(`.statusbar-item [aria-label*="hierarchy: ${file}"]`).first().waitFor();
  const roots = () => JSON.parse(readFileSync(join(bench.workspace, ".vscode/settings.json"), "utf8"))["hiera-ls.roots"];
  await bench.openByName("data/common.yaml");
  await answeredBy("hiera.yaml");
  await bench.run("Hiera: Reload Workspace");
  await bench.choose("Hiera: Choose hiera.yaml", "hiera-lab.yaml");
  await answeredBy("hiera-lab.yaml");
  assert.deepEqual(roots(), [{ hierarchy: "hiera-lab.yaml", folder: "." }]);
  await bench.picture(join(process.env.OUT, "hierarchy.png"));
  await bench.choose("Hiera: Choose hiera.yaml", "Automatic");
  await answeredBy("hiera.yaml");
  assert.equal(roots(), undefined);
  rmSync(lab);
  bench.mark("hierarchy chosen");
});

test("a lens opens what it counts, and one above an unsaved edit its impact", async () => {
  await bench.openByName("data/role/web.yaml");
  const lens = (text) => bench.page.locator(".codelens-decoration a", { hasText: text }).first();
  await lens(/set in 1 file .*1/).click();
  await matrix("profile::web::tags");
  await bench.run("View: Close All Editors");
  await bench.openByName("data/role/web.yaml");
  await bench.goTo(8, 17);
  await bench.page.keyboard.type("8");
  await lens(/^changes 3 of 8 nodes$/).waitFor();
  await bench.picture(join(process.env.OUT, "lens.png"));
  await lens(/^changes 3 of 8 nodes$/).click();
  await document("What the edit of data", "changes 1 key for 3 of 8 nodes");
  await closeDocuments();
  await bench.run("File: Revert File");
  await bench.page.locator(".tab.active:not(.dirty)").waitFor();
  await lens(/^changes 3 of 8 nodes$/).waitFor({ state: "hidden" });
  bench.mark("lenses");
});

test("hints say what is overridden, and what a token is worth", async () => {
  await bench.openByName("data/common.yaml");
  const line = (text) => bench.page.locator(".view-line", { hasText: text });
  await bench.goTo(35, 1);
  await line("site::domain:").filter({ hasText: /↑\s7\/8\ssite\/lon\.yaml:2/ }).waitFor();
  await bench.goTo(56, 1);
  await line("lookup('site::name')").filter({ hasText: /Acme/ }).first().waitFor();
  await bench.picture(join(process.env.OUT, "hints.png"));
  bench.mark("hints");
});

test("a what-if changes hovers, is shown as long as it lasts, and can be taken back", async () => {
  await bench.openByName("data/role/web.yaml");
  await bench.hover("profile::web::workers", SEVERAL);
  await bench.leaveHover();
  const row = (text) => bench.page.locator(".quick-input-list .monaco-list-row", { hasText: text });
  const input = bench.page.locator(".quick-input-widget input");
  const accept = async (typed, label) => {
    await input.fill(typed);
    await bench.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: label }).waitFor();
    await bench.page.keyboard.press("Enter");
  };
  await bench.begin("Hiera: Override a Fact");
  // The facts that levels use, with what they are now.
  await row("os.family").filter({ hasText: "Debian on 5 nodes, RedHat on 3 nodes" }).waitFor();
  await bench.picture(join(process.env.OUT, "override.png"));
  assert.equal(await row("trusted.certname").count(), 0);
  await accept("Another", "Another fact…");
  await bench.page.locator(".quick-input-widget .quick-input-message", { hasText: "The fact, such as" }).waitFor();
  await input.fill("role");
  await bench.page.locator(".quick-input-widget", { hasText: "'role' is a variable" }).waitFor();
  await input.fill("processors.count");
  await bench.page.keyboard.press("Enter");
  await bench.page.locator('.quick-input-widget input[placeholder*="a value for processors.count"]').waitFor();
  await accept("16", "16");
  await bench.statusItem.filter({ has: bench.page.locator(".codicon-beaker") }).waitFor();
  await bench.hover("profile::web::workers", "16");
  await bench.leaveHover();
  await bench.begin("Hiera: Override a Fact");
  await accept("site", "site");
  await accept("nyc", "on 3 nodes");
  await bench.statusItem.filter({ hasText: "2" }).waitFor();
  await bench.run("Hiera: Clear All Overrides of Facts");
  await bench.statusItem.filter({ hasNot: bench.page.locator(".codicon-beaker") }).first().waitFor();
  await bench.hover("profile::web::workers", SEVERAL);
  await bench.leaveHover();
  bench.mark("what if");
});

test("the status bar says for whom answers are, and picks a node with a click", async () => {
  await bench.statusItem.filter({ hasText: "Hiera: all nodes (8)" }).click();
  const row = (text) => bench.page.locator(".quick-input-list .monaco-list-row", { hasText: text });
  await row("web01.nyc.acme.example").filter({ hasText: "role = web" }).waitFor();
  await row("All nodes").filter({ hasText: "8 nodes · selected" }).waitFor();
  await bench.page.locator('.quick-input-widget input[placeholder="Show values for… (8 nodes from nodes.json)"]').waitFor();
  await bench.picture(join(process.env.OUT, "select.png"));
  // Roles are found as names are.
  await bench.page.locator(".quick-input-widget input").fill("role = db");
  await row("db01.lon.acme.example").waitFor();
  assert.equal(await row("web01.nyc.acme.example").count(), 0);
  await bench.page.keyboard.press("Escape");
  await bench.statusItem.hover();
  const tooltip = bench.page.locator(".monaco-hover", { hasText: "hierarchy: hiera.yaml, 19 data files" });
  await tooltip.filter({ hasText: "nodes: 8 nodes from nodes.json" }).waitFor();
  await bench.picture(join(process.env.OUT, "status.png"));
  await bench.page.mouse.move(1000, 300);
  bench.mark("status");
});

test("a recipe for nodes.json, and one to fill in", async () => {
  await bench.choose("Hiera: Create nodes.json", "from PuppetDB");
  await bench.page.locator(".editor-group-container.active .view-lines", { hasText: "nodes import --puppetdb" }).waitFor();
  await bench.choose("Hiera: Create nodes.json", "written by hand");
  await bench.page.locator(".editor-group-container.active .view-lines", { hasText: '"variables": {' }).waitFor();
  await bench.picture(join(process.env.OUT, "nodes.png"));
  for (let open = 2; open > 0; open -= 1) {
    await bench.run("View: Revert and Close Editor");
    await bench.page.locator(".tab", { hasText: "Untitled" }).nth(open - 1).waitFor({ state: "detached" });
  }
  bench.mark("recipes");
});

test("the walkthrough has four steps", async () => {
  await bench.run("Hiera: Get Started");
  const steps = bench.page.locator(".gettingStartedContainer .getting-started-step");
  await steps.filter({ hasText: "See all nodes, and what an edit changes" }).waitFor();
  assert.equal(await steps.count(), 4);
  await steps.filter({ hasText: "Say which nodes there are" }).click();
  await bench.picture(join(process.env.OUT, "walkthrough.png"));
  await bench.run("View: Close All Editors");
  bench.mark("walkthrough");
});

test("restart, and the server answers again", async () => {
  await bench.run("Hiera: Restart Server");
  await bench.running();
  await bench.openByName("data/role/web.yaml");
  await bench.hover("profile::web::firewall", "merged as hash from 2 levels");
  await bench.leaveHover();
  bench.mark("restarted");
});

/** The servers that run from this profile's extension. */
function servers() {
  const pattern = `^${join(bench.home, "extensions")}/.*/server/hiera-ls --stdio`;
  const found = spawnSync("pgrep", ["-f", pattern], { encoding: "utf8" });
  return found.stdout.split("\n").filter(Boolean).map(Number);
}

test("a server that dies is started again, and knows the node", async () => {
  await bench.choose("Hiera: Select Node", "web01.nyc.acme.example");
  const selected = bench.statusItem.filter({ hasText: "web01.nyc.acme.example" });
  await selected.waitFor();
  const [before, ...others] = servers();
  assert.deepEqual(others, []);
  process.kill(before, "SIGKILL");
  // The item without a node between them is shown for less time than a look at it takes.
  for (const end = Date.now() + 30_000; !servers().some((id) => id !== before); ) {
    assert.ok(Date.now() < end, "no server was started again");
    await bench.page.waitForTimeout(50);
  }
  await selected.waitFor();
  const hover = await bench.hover("profile::web::tags", "frontend");
  assert.doesNotMatch(await hover.textContent(), /different values|2 answers/);
  await bench.leaveHover();
  await bench.choose("Hiera: Select Node", "All nodes");
  await selected.waitFor({ state: "hidden" });
  bench.mark("died and started again");
});

test("a server program that is not there: a message that says what to do", async () => {
  const machine = join(bench.data, "Machine/settings.json");
  mkdirSync(join(bench.data, "Machine"), { recursive: true });
  writeFileSync(machine, JSON.stringify({ "hiera-ls.server.path": "/nowhere/hiera-ls" }));
  try {
    const toast = bench.page.locator(".notification-toast", { hasText: "no server program works" });
    await toast.waitFor();
    const text = await toast.textContent();
    for (const part of ["/nowhere/hiera-ls", "there is no such program", "Open Setting", "Show Log"]) {
      assert.ok(text.includes(part), `'${part}' is missing in: ${text}`);
    }
    await bench.statusItem.filter({ has: bench.page.locator(".codicon-error:first-child") }).waitFor();
    await bench.picture(join(process.env.OUT, "no-server.png"));
    const toasts = await bench.page.locator(".notification-toast").allTextContents();
    assert.equal(toasts.length, 1, toasts.join("\n"));
  } finally {
    writeFileSync(machine, "{}");
  }
  await bench.alive().waitFor();
  bench.mark("no program, and one again");
});

test("the plain text of an encrypted value is behind the link of its hover, once the user lets it be shown", async () => {
  const sealed = (name) => new URL(`../../eyaml/${name}`, import.meta.url).pathname;
  // What the real hiera-eyaml made of "hello".
  const rows = readFileSync(sealed("blobs.tsv"), "utf8").split("\n");
  const [blob] = rows.find((row) => row.endsWith("\t68656c6c6f")).split("\t");
  const text = `sealed::word: ${Buffer.from(blob, "hex").toString()}\n`;
  writeFileSync(join(bench.workspace, "data/node/sealed.acme.example.eyaml"), text);
  await bench.open("data/node/sealed.acme.example.eyaml");
  await bench.running();
  const title = "Hiera: Show Plain Text of Encrypted Value";
  const shut = await bench.hover(/^PKCS7$/, "encrypted with PKCS7");
  assert.doesNotMatch(await shut.textContent(), /plain text/);
  await bench.leaveHover();
  const rowsOffered = await bench.palette("Hiera: Show");
  await rowsOffered.filter({ hasText: "Hiera: Show Server Log" }).waitFor();
  assert.equal(await rowsOffered.filter({ hasText: title }).count(), 0);
  await bench.page.keyboard.press("Escape");
  const machine = join(bench.data, "Machine/settings.json");
  mkdirSync(join(bench.data, "Machine"), { recursive: true });
  const settings = {
    "hiera-ls.decrypt": true,
    "hiera-ls.pkcs7PrivateKey": sealed("test-only-first.private.pem"),
    "hiera-ls.pkcs7PublicKey": sealed("test-only-first.certificate.pem"),
  };
  writeFileSync(machine, JSON.stringify(settings));
  try {
    // The command is offered once VS Code has read the settings.
    const offered = bench.page.locator(".quick-input-list .monaco-list-row", { hasText: title });
    await bench.until(() => bench.palette(title), offered);
    await bench.page.keyboard.press("Escape");
    const hover = await bench.hover(/^PKCS7$/, "show the plain text");
    assert.doesNotMatch(await hover.textContent(), /hello/);
    await hover.getByText("show the plain text").click();
    const shown = await document("Plain text of sealed::word", "hello");
    assert.equal(await shown.textContent(), "hello");
    await closeDocuments();
    await bench.goTo(1, 20);
    await bench.run(title);
    await document("Plain text of sealed::word", "hello");
    await closeDocuments();
  } finally {
    writeFileSync(machine, "{}");
  }
  bench.mark("a secret");
});

/** Of each large environment: 3,000 in all are read before a busy client has agreed to be shown that. */
const FILES = 12_000;

/** Two environments with many keys over many nodes: comparing them takes a while on any machine. */
function large() {
  const folder = join(bench.home, "large");
  const write = (path, text) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const range = (count, text) => Array.from({ length: count }, (_, number) => text(number));
  const levels = "hierarchy:\n  - name: node\n    path: node/%{facts.n}.yaml\n  - name: common\n    path: common.yaml\n";
  const keys = range(2000, (key) => `key${key}: "%{facts.n}-${key}"\n`).join("");
  for (const environment of ["production", "staging"].map((name) => `environments/${name}`)) {
    write(`${environment}/hiera.yaml`, `version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\n${levels}`);
    write(`${environment}/environment.conf`, "");
    write(`${environment}/data/common.yaml`, keys);
    range(FILES, (node) => write(`${environment}/data/node/${node}.yaml`, `own: ${node}\n`));
  }
  const nodes = range(1000, (n) => [`n${n}.example`, { facts: { n } }]);
  write("nodes.json", JSON.stringify(Object.fromEntries(nodes)));
  return folder;
}

test("what takes long shows how far it is, and can be ended", async () => {
  await bench.open("environments/production/data/common.yaml", large());
  await bench.running();
  await bench.choose("Hiera: Compare Two Nodes", "production", "staging");
  const toast = bench.page.locator(".notification-toast");
  await toast.filter({ hasText: /[1-9]\d* of 200\d keys/ }).waitFor();
  await bench.picture(join(process.env.OUT, "progress.png"));
  await toast.hover();
  await toast.getByRole("button", { name: "Cancel" }).click();
  await toast.waitFor({ state: "hidden" });
  assert.equal(await bench.page.locator(".tab", { hasText: "production" }).count(), 0);
  bench.mark("progress, and cancelled");
});

test("the status bar shows that files are read", async () => {
  await bench.page.evaluate(() => {
    // Reading may take less time than looking once does.
    window.shown = new Set();
    const look = () => {
      for (const item of document.querySelectorAll('[id="hiera-ls.hiera-ls.hiera-ls"] a')) {
        window.shown.add(`${item.querySelector(".codicon")?.className} ${item.getAttribute("aria-label")}`);
      }
    };
    new MutationObserver(look).observe(document.querySelector(".part.statusbar"), {
      subtree: true,
      childList: true,
      attributes: true,
    });
  });
  const isShown = () => [...window.shown].some((item) => /loading.*reading files: [1-9]/.test(item));
  const effect = { waitFor: (limit) => bench.page.waitForFunction(isShown, undefined, limit), toString: () => "reading" };
  await bench.until(() => bench.run("Hiera: Reload Workspace"), effect);
  await bench.running();
  bench.mark("read again");
});

test("where there is no hiera.yaml, nothing is started", async () => {
  const folder = join(bench.home, "plain");
  mkdirSync(folder);
  writeFileSync(join(folder, "plain.yaml"), "a: 1\n");
  await bench.open("plain.yaml", folder);
  // The list comes from the same process that would run the extension.
  await bench.run("Developer: Show Running Extensions");
  await bench.page.locator(".runtime-extensions-editor .monaco-list-row").first().waitFor();
  const rows = await bench.page.locator(".runtime-extensions-editor .monaco-list-row").allTextContents();
  assert.ok(rows.length > 0 && !rows.some((row) => row.includes("hiera-ls")), rows.join("\n"));
  assert.equal(await bench.statusItem.count(), 0);
  const offered = await bench.palette("Hiera: ");
  await bench.page.locator(".quick-input-list .monaco-list-row", { hasText: "No matching" }).waitFor();
  assert.equal(await offered.filter({ hasText: "Hiera:" }).count(), 0);
  await bench.page.keyboard.press("Escape");
  bench.mark("nothing where nothing is");
});
