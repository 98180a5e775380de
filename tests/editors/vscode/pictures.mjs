// Makes the pictures of VS Code for the READMEs. Run by docs/images/make; PICTURES is the folder.

import { rmSync } from "node:fs";
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

/** Waits until nothing moves any more; an animation that is given up is none. */
function still(hover) {
  return hover.evaluate(async () => {
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  });
}

const THEMES = { dark: "Dark 2026", light: "Light 2026" };

for (const [theme, name] of Object.entries(THEMES)) {
  test(`problems, ${theme}`, async () => {
    await bench.theme(name);
    await bench.openByName("families/interpolation.yaml");
    await hideSideBar();
    await bench.page.locator(".monaco-editor .squiggly-error").first().waitFor();
    await bench.goTo(1, 1);
    const hover = await bench.hover(/^fqdn_rand$/, "unknown interpolation method");
    await still(hover);
    await bench.picture(join(PICTURES, `vscode-problem-${theme}.png`));
  });
}

test("the mistakes that are made on purpose are taken away", async () => {
  rmSync(join(bench.workspace, "mistakes"), { recursive: true });
  await bench.run("Hiera: Read All Files Again");
  await bench.page.locator(".statusbar-item", { hasText: "Hiera" }).filter({ hasNotText: /\d{2}/ }).first().waitFor();
});

for (const [theme, name] of Object.entries(THEMES)) {
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
    await bench.page.setViewportSize({ width: 980, height: 620 });
    await bench.goTo(53, 26);
    await bench.page.keyboard.type("Etc/");
    await bench.page.locator(".codelens-decoration a", { hasText: /^changes 1 of 8 nodes$/ }).waitFor();
    await bench.page.locator(".view-line", { hasText: /Etc.UTC/ }).filter({ hasText: "overridden" }).waitFor();
    await bench.page.locator(".view-line", { hasText: '"Acme"' }).first().waitFor();
    await bench.picture(join(PICTURES, `vscode-lenses-${theme}.png`));
    await bench.run("File: Revert File");
    await bench.page.locator(".tab.active:not(.dirty)").waitFor();
    await bench.page.setViewportSize(VIEW.viewport);
  });

  test(`a matrix, ${theme}`, async () => {
    await bench.theme(name);
    await bench.run("View: Close All Editors");
    await bench.openByName("data/role/web.yaml");
    await hideSideBar();
    await bench.page.setViewportSize({ width: 1440, height: 560 });
    await bench.goTo(6, 5);
    await bench.run("Hiera: Show Matrix of Key");
    await bench.page.locator(".tab.active", { hasText: "Matrix of profile::web::tags" }).waitFor();
    await bench.page.locator(".editor-group-container.active .detected-link").first().waitFor();
    await bench.picture(join(PICTURES, `vscode-matrix-${theme}.png`));
    await bench.run("View: Close All Editors");
    await bench.page.setViewportSize(VIEW.viewport);
  });
}

async function hideSideBar() {
  const bar = bench.page.locator(".part.sidebar");
  if (await bar.isVisible()) {
    await bench.page.keyboard.press("Control+b");
    await bar.waitFor({ state: "hidden" });
  }
}
