// Moving through data and editing it over several files, with the packaged extension in VS Code's
// workbench on a copy of fixtures/acme. Run by tests/editors/run.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { start, Workbench } from "./workbench.mjs";

const { OUT } = process.env;

/** A data file of a node that is not known, made for these tests. */
const MOVES = "data/node/moves.acme.example.yaml";
const TEXT = `moves::name: "%{lookup('site::name')}"
moves::one: [alpha, beta]
moves::two: [alpha, beta]
`;

let bench;
let page;

before(
  async () => {
    bench = new Workbench(await start());
    page = bench.page;
    writeFileSync(join(bench.workspace, MOVES), TEXT);
    await bench.open(MOVES);
    await bench.running();
    bench.mark("the server runs");
  },
  { timeout: 300_000 },
);

after(async () => {
  await bench?.picture(join(OUT, "navigate-last.png")).catch(() => {});
  await bench?.stop();
});

/** A line of the editor in front. */
const line = (text) => page.locator(".editor-group-container.active .monaco-editor .view-line", { hasText: text }).first();

/** The number of the line of a file that begins with a text. */
function lineOf(file, text) {
  const lines = readFileSync(join(bench.workspace, file), "utf8").split("\n");
  const at = lines.findIndex((one) => one.startsWith(text));
  assert.ok(at >= 0, text);
  return at + 1;
}

/** Undoes what one step did, in all files if the editor asks for that. */
async function undo(effect) {
  const everywhere = page.locator(".monaco-dialog-box").getByRole("button", { name: /^Undo in \d Files$/ });
  await bench.until(async () => {
    await page.keyboard.press("Control+z");
    await everywhere.or(effect).first().waitFor({ timeout: 3000 });
    if (await everywhere.isVisible()) {
      await everywhere.click();
    }
  }, effect);
}

/** Agrees to every edit of the preview, and has them made. */
async function apply() {
  const preview = page.locator(".part.panel", { hasText: "Refactor Preview" });
  await preview.locator(".edit-checkbox").first().waitFor();
  // The box of a file ticks those of its edits, a moment later.
  const open = preview.locator('.edit-checkbox[aria-checked="false"]');
  for (let round = 0; round < 20 && (await open.count()) > 0; round += 1) {
    await open.first().click();
    await page.waitForTimeout(300);
  }
  await preview.getByRole("button", { name: "Apply" }).click();
}

test("from a token to the definition of its key, in another file", async () => {
  await bench.goTo(1, 28);
  const target = page.locator(".tab.active", { hasText: "common.yaml" });
  await bench.until(() => page.keyboard.press("F12"), target);
  const at = `Ln ${lineOf("data/common.yaml", "site::name:")}, Col 1`;
  await page.locator(".statusbar-item", { hasText: at }).waitFor();
  bench.mark("definition");
});

test("references of a key are peeked at", async () => {
  await bench.goTo(lineOf("data/common.yaml", "site::name:"), 3);
  await bench.run("Peek References");
  const rows = page.locator(".reference-zone-widget .ref-tree .monaco-list-row");
  await rows.filter({ hasText: "moves.acme.example.yaml" }).waitFor();
  await rows.filter({ hasText: "common.yaml" }).waitFor();
  await bench.picture(join(OUT, "references.png"));
  await page.keyboard.press("Escape");
  await page.locator(".reference-zone-widget").waitFor({ state: "hidden" });
  bench.mark("references");
});

test("a completion is accepted in half-typed text, and undone", async () => {
  await bench.openByName(MOVES);
  await bench.goTo(1, 1);
  await page.keyboard.press("Control+End");
  await page.keyboard.type("moves::half: \"%{lookup('site::na");
  const row = page.locator(".suggest-widget .monaco-list-row", { hasText: "site::name" });
  await bench.until(() => page.keyboard.press("Control+Space"), row.first());
  await bench.picture(join(OUT, "completion.png"));
  await page.keyboard.press("Enter");
  await line("moves::half: \"%{lookup('site::name'").waitFor();
  await bench.run("File: Revert File");
  await line("moves::half").waitFor({ state: "detached" });
  bench.mark("completion");
});

test("a rename goes through other files, and is undone in all", async () => {
  await bench.openByName("data/common.yaml");
  await bench.goTo(lineOf("data/common.yaml", "site::name:"), 3);
  const input = page.locator(".rename-box input");
  await bench.until(() => page.keyboard.press("F2"), input);
  await input.fill("site::title");
  await page.keyboard.press("Enter");
  await line("site::title: Acme").waitFor();
  await bench.openByName(MOVES);
  await line("lookup('site::title')").waitFor();
  await bench.picture(join(OUT, "renamed.png"));
  await undo(line("lookup('site::name')"));
  await bench.openByName("data/common.yaml");
  await bench.goTo(lineOf("data/common.yaml", "site::domain:"), 1);
  if (!(await line("site::name: Acme").isVisible())) {
    await undo(line("site::name: Acme"));
  }
  bench.mark("rename");
});

test("a parameter is renamed in data and in code, which is shown first", async () => {
  await bench.openByName("data/common.yaml");
  await bench.goTo(lineOf("data/common.yaml", "profile::web::workers:"), 16);
  const input = page.locator(".rename-box input");
  await bench.until(() => page.keyboard.press("F2"), input);
  await input.fill("profile::web::processes");
  await page.keyboard.press("Enter");
  await page.locator(".part.panel .monaco-list-row", { hasText: "web.pp" }).first().waitFor();
  await bench.picture(join(OUT, "parameter.png"));
  await apply();
  await line("profile::web::processes:").waitFor();
  await bench.openByName("site-modules/profile/manifests/web.pp");
  await line("$processes").waitFor();
  await undo(line("$workers"));
  await bench.openByName("data/common.yaml");
  await bench.goTo(lineOf("data/common.yaml", "site::domain:"), 1);
  if (!(await line("profile::web::workers:").isVisible())) {
    await undo(line("profile::web::workers:"));
  }
  bench.mark("parameter");
});

/** Picks a refactoring from the menu of the editor in front. */
async function refactor(title) {
  const rows = page.locator(".action-widget .monaco-list-row");
  await bench.until(() => page.keyboard.press("Control+Shift+r"), rows.first());
  await bench.picture(join(OUT, "refactorings.png"));
  await rows.filter({ hasText: title }).first().click();
}

test("a refactoring that changes no value is made at once, and undone", async () => {
  await bench.openByName(MOVES);
  await bench.goTo(2, 3);
  await refactor("Extract this value");
  await line("moves::two: \"%{alias('moves::one_shared')}\"").waitFor();
  await line("moves::one_shared").last().waitFor();
  await bench.until(() => page.keyboard.press("Control+z"), line("moves::two: [alpha, beta]"));
  bench.mark("refactoring");
});

test("a refactoring that changes values says which before it is made", async () => {
  await bench.openByName(MOVES);
  await bench.goTo(3, 3);
  await refactor("down to");
  await page.locator(".part.panel .monaco-list-row", { hasText: "common.yaml" }).waitFor();
  await bench.picture(join(OUT, "preview.png"));
  await apply();
  await line("moves::two").waitFor({ state: "detached" });
  await undo(line("moves::two: [alpha, beta]"));
  bench.mark("preview");
});

/** Types or picks what a command asks, one after the other. */
async function answer(...answers) {
  const input = page.locator(".quick-input-widget input");
  for (const [title, text] of answers) {
    const prompt = page.locator(".quick-input-widget");
    const placeholder = page.locator(`input[placeholder*="${title}"]`);
    await prompt.filter({ hasText: title }).or(prompt.filter({ has: placeholder })).waitFor();
    await input.fill(text);
    const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text });
    if (await page.locator(".quick-input-list").isVisible()) {
      await row.waitFor();
    }
    await page.keyboard.press("Enter");
  }
}

test("the levels in the way of a value are shown", async () => {
  await bench.openByName("data/common.yaml");
  await bench.goTo(lineOf("data/common.yaml", "profile::web::port:"), 3);
  await bench.begin("Hiera: Why Not This Value");
  await answer(["The value that is expected, as YAML", "8080"], ["The node", "web01.lon.acme.example"]);
  await page.locator(".view-lines", { hasText: "sets it to 9443, which is used" }).waitFor();
  await bench.picture(join(OUT, "why-not.png"));
  bench.mark("why not");
});

test("a value is set for nodes, with what it changes shown first", async () => {
  await bench.openByName("data/common.yaml");
  await bench.goTo(lineOf("data/common.yaml", "profile::web::port:"), 3);
  await bench.begin("Hiera: Set Value for Nodes");
  await answer(
    ["Desired value, as YAML", "8443"],
    ["Pick nodes", "role=web"],
    ["Which nodes may change?", "Only these nodes"],
  );
  const row = page.locator(".quick-input-list .monaco-list-row", { hasText: "Set 'profile::web::port' in data/role/web" });
  await row.first().waitFor();
  await bench.picture(join(OUT, "proposals.png"));
  await row.first().click();
  await page.locator(".part.panel .monaco-list-row", { hasText: "8443" }).first().waitFor();
  await bench.picture(join(OUT, "set-value.png"));
  await apply();
  await bench.openByName("data/role/web.yaml");
  await line("profile::web::port: 8443").waitFor();
  await bench.run("File: Revert File");
  await line("profile::web::port: 8443").waitFor({ state: "detached" });
  bench.mark("a value is set");
});
