// The packaged extension in VS Code's real workbench, on a copy of fixtures/acme.
// Run by tests/editors/run, which says what has to be in the environment.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { start, Workbench } from "./workbench.mjs";

let bench;

before(
  async () => {
    bench = new Workbench(await start());
    await bench.open("data/role/web.yaml");
    bench.mark("a file is open");
    await bench.running();
    bench.mark("the server runs");
  },
  { timeout: 240_000 },
);

after(async () => {
  await bench?.picture(join(process.env.OUT, "last.png")).catch(() => {});
  await bench?.stop();
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
  await bench.statusItem.filter({ has: bench.page.locator(".codicon-error") }).first().waitFor();
  await bench.run("View: Hide Panel");
  bench.mark("problems");
});

test("tokens and encrypted values have colours of their own, in dark and light", async () => {
  const colour = (text) => bench.word(text).evaluate((span) => getComputedStyle(span).color);
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
  const rows = await bench.palette("Hiera: ");
  await rows.filter({ hasText: "Hiera: Show Server Log" }).waitFor();
  await rows.filter({ hasText: "Hiera: Read All Files Again" }).waitFor();
  await bench.page.keyboard.press("Escape");
});

test("selecting a node changes a hover, and back", async () => {
  await bench.openByName("data/role/web.yaml");
  await bench.hover("profile::web::tags", "2 answers over 3 nodes");
  await bench.leaveHover();
  await bench.choose("Hiera: Select Node", "web01.nyc.acme.example");
  await bench.statusItem.filter({ hasText: "web01.nyc.acme.example" }).waitFor();
  const hover = await bench.hover("profile::web::tags", "frontend");
  assert.doesNotMatch(await hover.textContent(), /2 answers/);
  await bench.leaveHover();
  await bench.choose("Hiera: Select Node", "All nodes");
  await bench.hover("profile::web::tags", "2 answers over 3 nodes");
  await bench.leaveHover();
  bench.mark("node selected");
});

test("an explanation opens as a document that nobody can edit", async () => {
  await bench.goTo(7, 5);
  await bench.run("Hiera: Explain Key");
  await bench.page.locator(".tab.active", { hasText: "explain" }).waitFor();
  const text = bench.page.locator(".editor-group-container.active .view-lines", { hasText: "Searching for" });
  await text.waitFor();
  await bench.page.keyboard.type("x");
  await bench.page.locator(".monaco-editor-overlaymessage", { hasText: "read-only" }).waitFor();
  await bench.picture(join(process.env.OUT, "explain.png"));
  await bench.run("View: Close All Editors in Group");
  bench.mark("explained");
});

test("restart, and the server answers again", async () => {
  await bench.run("Hiera: Restart Server");
  await bench.running();
  await bench.openByName("data/role/web.yaml");
  await bench.hover("profile::web::firewall", "merged as hash from 2 levels");
  await bench.leaveHover();
  bench.mark("restarted");
});
