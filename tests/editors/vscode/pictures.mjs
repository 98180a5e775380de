// Makes the pictures of VS Code for the READMEs. Run by docs/images/make; PICTURES is the folder.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { start, Workbench } from "./workbench.mjs";

const { PICTURES } = process.env;
const SETTINGS = {
  "workbench.activityBar.location": "hidden",
  "workbench.sideBar.location": "right",
  "breadcrumbs.enabled": true,
  "window.title": "${activeEditorShort}${separator}${rootName}",
  "remote.autoForwardPorts": false,
  "editor.fontSize": 14,
  "editor.stickyScroll.enabled": false,
  "editor.scrollbar.vertical": "hidden",
  "editor.scrollbar.horizontal": "hidden",
  "editor.overviewRulerBorder": false,
  "editor.hideCursorInOverviewRuler": true,
  "hiera-ls.nodesFiles": ["nodes.json"],
};
const VIEW = { viewport: { width: 900, height: 620 }, deviceScaleFactor: 1.5 };

let bench;

before(
  async () => {
    bench = new Workbench(await start(SETTINGS, VIEW));
    await bench.open("data/role/web.yaml");
    await bench.running();
  },
  { timeout: 300_000 },
);

after(() => bench?.stop());

/** A hover in its final form: it fades in, and grows when its code has been coloured. */
async function settled(hover) {
  await hover.locator(".monaco-tokenized-source [class^='mtk']:not(.mtk1)").first().waitFor();
  await still(hover);
}

/** Where a line is that may be drawn anew, as it is in other colours. */
async function placed(line) {
  for (;;) {
    await line.waitFor();
    const box = await line.boundingBox();
    if (box !== null) {
      return box;
    }
  }
}

/** Waits until nothing moves any more; an animation that is given up is none. */
function still(hover) {
  return hover.evaluate(async () => {
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  });
}

const THEMES = { dark: "Dark 2026", light: "Light 2026" };

test("the mistakes that are made on purpose are taken away", async () => {
  await bench.run("View: Close All Editors");
  rmSync(join(bench.workspace, "mistakes"), { recursive: true });
  await bench.run("Hiera: Reload Workspace");
  await bench.alive().waitFor();
  await bench.page.locator('.statusbar-item[id="status.problems"]').filter({ hasNotText: /\d{2}/ }).waitFor();
});

for (const [theme, name] of Object.entries(THEMES)) {
  test(`a problem, ${theme}`, async () => {
    await bench.theme(name);
    await bench.openByName("data/common.yaml");
    await hideSideBar();
    await bench.goTo(87, 41);
    await bench.page.keyboard.press("Backspace");
    await bench.page.locator(".monaco-editor .squiggly-error").first().waitFor();
    await bench.goTo(87, 38);
    const hover = bench.page
      .locator(".monaco-hover", { hasText: "unknown interpolation method" })
      .filter({ hasText: "Quick Fix" })
      .first();
    // A hover that was made before the fixes were known does not get them any more.
    await bench.until(async () => {
      await bench.page.keyboard.press("Control+k");
      await bench.page.keyboard.press("Control+i");
    }, hover);
    await still(hover);
    await bench.picture(join(PICTURES, `vscode-problem-${theme}.png`));
    await bench.run("File: Revert File");
    await bench.page.locator(".tab.active.dirty").first().waitFor({ state: "detached" });
  });

  test(`a hover, ${theme}`, async () => {
    await bench.theme(name);
    await bench.openByName("data/role/web.yaml");
    await hideSideBar();
    await bench.goTo(1, 1);
    const hover = await bench.hover("profile::web::firewall", "merged as hash");
    await settled(hover);
    await bench.picture(join(PICTURES, `vscode-hover-${theme}.png`));
  });

  test(`lenses and hints, ${theme}`, async () => {
    await bench.theme(name);
    await bench.openByName("data/common.yaml");
    await hideSideBar();
    await bench.page.setViewportSize({ width: 1180, height: 620 });
    await bench.goTo(53, 26);
    await bench.page.keyboard.type("Etc/");
    await bench.page.locator(".view-line", { hasText: /changes\s1\sof\s8\snodes/ }).waitFor();
    await bench.page.locator(".view-line", { hasText: /Etc.UTC/ }).filter({ hasText: /overridden|↑/ }).waitFor();
    await bench.page.locator(".view-line", { hasText: /Acme/ }).first().waitFor();
    await bench.picture(join(PICTURES, `vscode-lenses-${theme}.png`));
    await bench.run("File: Revert File");
    await bench.page.locator(".tab.active.dirty").first().waitFor({ state: "detached" });
    await bench.page.setViewportSize(VIEW.viewport);
  });

  test(`a matrix, ${theme}`, async () => {
    await bench.theme(name);
    await bench.run("View: Close All Editors");
    await bench.openByName("data/role/web.yaml");
    await hideSideBar();
    await bench.page.setViewportSize({ width: 1440, height: 560 });
    await bench.goTo(6, 5);
    await bench.run("Hiera: Show Values of Key on All Nodes");
    await bench.webview().locator("h1", { hasText: "profile::web::tags" }).waitFor();
    await bench.webview().locator("details:not([open]) summary").first().click();
    await bench.page.mouse.move(700, 500);
    await bench.picture(join(PICTURES, `vscode-matrix-${theme}.png`));
    await bench.run("View: Close All Editors");
    await bench.page.setViewportSize(VIEW.viewport);
  });
}

for (const [theme, name] of Object.entries(THEMES)) {
  test(`nodes to choose from, ${theme}`, async () => {
    await bench.theme(name);
    await bench.openByName("data/role/web.yaml");
    await bench.goTo(1, 1);
    await bench.statusItem.click();
    await bench.page.locator(".quick-input-list .monaco-list-row", { hasText: "role = web" }).first().waitFor();
    await bench.picture(join(PICTURES, `vscode-select-${theme}.png`));
    await bench.page.keyboard.press("Escape");
    await bench.begin("Hiera: Create nodes.json");
    await bench.page.locator(".quick-input-list .monaco-list-row", { hasText: "from PuppetDB" }).first().waitFor();
    await bench.picture(join(PICTURES, `vscode-nodes-${theme}.png`));
    await bench.page.keyboard.press("Escape");
    await bench.begin("Hiera: Override a Fact");
    await bench.page.locator(".quick-input-list .monaco-list-row", { hasText: "os.family" }).first().waitFor();
    await bench.picture(join(PICTURES, `vscode-override-${theme}.png`));
    await bench.page.keyboard.press("Escape");
    bench.mark(`pickers, ${theme}`);
  });

  test(`two nodes compared, ${theme}`, async () => {
    await bench.theme(name);
    await bench.page.setViewportSize({ width: 1200, height: 620 });
    await bench.choose("Hiera: Compare Two Nodes", "web01.lon.acme.example", "web01.nyc.acme.example");
    await bench.page.locator(".monaco-diff-editor .line-delete, .monaco-diff-editor .char-delete").first().waitFor({ state: "attached" });
    await bench.picture(join(PICTURES, `vscode-compare-${theme}.png`));
    await bench.run("View: Close All Editors");
    await bench.page.setViewportSize(VIEW.viewport);
    bench.mark(`compared, ${theme}`);
  });

  test(`an upgrade previewed, ${theme}`, async () => {
    await bench.theme(name);
    await bench.page.setViewportSize({ width: 1440, height: 560 });
    const role = join(bench.workspace, "data/role/db.yaml");
    const before = readFileSync(role, "utf8");
    writeFileSync(role, `${before}profile::db::host: "%{::fqdn}"\nprofile::db::about: "runs on %{facts.os}"\n`);
    await bench.openByName("data/role/db.yaml");
    await hideSideBar();
    await bench.choose("Hiera: Preview Upgrade", "OpenVox 9 from Puppet 7");
    await bench.page.locator(".view-lines", { hasText: "profile::db::about" }).nth(1).waitFor();
    await bench.picture(join(PICTURES, `vscode-upgrade-${theme}.png`));
    await bench.choose("Hiera: Preview Upgrade", "End the preview");
    await bench.run("View: Close All Editors");
    writeFileSync(role, before);
    await bench.page.setViewportSize(VIEW.viewport);
    bench.mark(`an upgrade, ${theme}`);
  });
}

/** Every kind of lens and hint: its setting, where it is seen, and what it says there. */
const KINDS = [
  { setting: "codeLens.overrides", file: "data/role/web.yaml", line: 6, lens: /set in/ },
  { setting: "codeLens.uses", file: "data/common.yaml", line: 35, lens: /\d use/ },
  { setting: "codeLens.impact", file: "data/common.yaml", line: 53, lens: /changes 1 of 8 nodes/, types: [53, 26, "Etc/"] },
  { setting: "inlayHints.overridden", file: "data/common.yaml", line: 35, hint: /site::domain:.*(overridden|↑)/ },
  { setting: "inlayHints.merged", file: "data/role/web.yaml", line: 7, hint: /firewall:.*merged/, node: "web01.lon.acme.example" },
  {
    setting: "inlayHints.neverUsed",
    file: "data/role/db.yaml",
    line: 2,
    hint: /port:\s5432.*never/,
    writes: {
      "data/role/db.yaml": "# What database servers get.\npostgresql::port: 5432\npostgresql::workers: 2\n",
      "data/node/db01.lon.acme.example.yaml": "postgresql::port: 6432\n",
      "data/node/db01.nyc.acme.example.yaml": "postgresql::port: 6433\n",
    },
  },
  { setting: "inlayHints.tokenValues", file: "data/common.yaml", line: 57, hint: /site::name.*Acme/ },
  { setting: "inlayHints.impact", file: "data/common.yaml", line: 53, hint: /changes\s1\sof\s8\snodes/, types: [53, 26, "Etc/"] },
];

for (const kind of KINDS) {
  test(`the kind ${kind.setting}`, async () => {
    const only = Object.fromEntries(KINDS.map(({ setting }) => [`hiera-ls.${setting}`, setting === kind.setting]));
    mkdirSync(join(bench.data, "Machine"), { recursive: true });
    writeFileSync(join(bench.data, "Machine/settings.json"), JSON.stringify(only));
    for (const [path, text] of Object.entries(kind.writes ?? {})) {
      writeFileSync(join(bench.workspace, path), text);
    }
    await bench.openByName(kind.file);
    await hideSideBar();
    if (kind.node !== undefined) {
      await bench.choose("Hiera: Select Node", kind.node);
    }
    await bench.goTo(kind.line, 1);
    if (kind.types !== undefined) {
      const [line, column, text] = kind.types;
      await bench.goTo(line, column);
      await bench.page.keyboard.type(text);
    }
    const line = bench.page.locator(".monaco-editor .view-line");
    const seen =
      kind.lens === undefined
        ? line.filter({ hasText: kind.hint }).first()
        : bench.page.locator(".codelens-decoration a", { hasText: kind.lens }).first();
    await seen.waitFor();
    for (const [theme, name] of Object.entries(THEMES)) {
      await bench.theme(name);
      await placed(seen);
      if (kind.lens === undefined) {
        // VS Code draws lenses that it remembers, until the server says that there are none.
        await bench.page.locator(".codelens-decoration a").first().waitFor({ state: "detached" });
      }
      const { y } = await placed(seen);
      const clip = { x: 0, y: Math.max(80, y - 50), width: 720, height: 120 };
      await bench.picture(join(PICTURES, `vscode-${kind.setting.replace(".", "-").toLowerCase()}-${theme}.png`), clip);
    }
    if (kind.types !== undefined) {
      await bench.run("File: Revert File");
      await bench.page.locator(".tab.active.dirty").first().waitFor({ state: "detached" });
    }
    if (kind.node !== undefined) {
      await bench.choose("Hiera: Select Node", "All nodes");
    }
    bench.mark(kind.setting);
  });
}

async function hideSideBar() {
  const bar = bench.page.locator(".part.sidebar");
  if (await bar.isVisible()) {
    await bench.page.keyboard.press("Control+b");
    await bar.waitFor({ state: "hidden" });
  }
}
