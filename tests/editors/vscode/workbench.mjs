// VS Code's real workbench: code-server, an isolated profile with the packaged extension, and
// Chromium to drive it. Nothing but the local server is ever asked for.
//
// In the environment: CODE_SERVER (the npm package's folder), NODE_FOR_CODE_SERVER, VSIX, FIXTURE,
// and OUT (a folder for logs and pictures).

import { execFileSync, spawn } from "node:child_process";
import { cpSync, createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { CODE_SERVER, NODE_FOR_CODE_SERVER, VSIX, FIXTURE, OUT } = process.env;

/** Longer than anything takes on two cores with much else to do, in milliseconds. */
const LIMIT = 45_000;

/** The same for the whole workbench to appear. */
const OPENING_LIMIT = 180_000;

/** So often code-server may give up its start. */
const MAX_STARTS = 6;

/** What a key press brings about has happened after this, or the press was lost; in milliseconds. */
const LOST = 5000;

/** Quiet, without animation, and the same in every run. */
const SETTINGS = {
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.reduceMotion": "on",
  "workbench.editor.enablePreview": false,
  "window.menuBarVisibility": "compact",
  "window.commandCenter": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "git.enabled": false,
  "files.autoSave": "off",
  "window.autoDetectColorScheme": false,
  "workbench.colorTheme": "Dark 2026",
  "editor.hover.delay": 100,
  "editor.accessibilitySupport": "off",
  "editor.minimap.enabled": false,
  "editor.cursorBlinking": "solid",
  "editor.quickSuggestions": false,
  "editor.autoClosingBrackets": "never",
  "editor.autoClosingQuotes": "never",
};

/**
 * Starts everything on a copy of the fixture; `settings` are laid over the quiet ones, `view` is
 * the browser page's, `extensions` are packages that are installed beside the one under test.
 */
export async function start(settings = {}, view = { viewport: { width: 1280, height: 800 } }, extensions = []) {
  const began = Date.now();
  const mark = (what) => {
    console.log(`# ${((Date.now() - began) / 1000).toFixed(1)}s ${what}`);
  };
  mkdirSync(OUT, { recursive: true });
  const home = mkdtempSync(join(tmpdir(), "hiera-ls-vscode-"));
  const workspace = join(home, "acme");
  const data = join(home, "data");
  cpSync(FIXTURE, workspace, { recursive: true });
  mkdirSync(join(data, "User"), { recursive: true });
  writeFileSync(join(home, "config.yaml"), "auth: none\n");
  writeFileSync(join(data, "User/settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));

  const nowhere = "http://127.0.0.1:9";
  const gallery = { serviceUrl: nowhere, itemUrl: nowhere, resourceUrlTemplate: nowhere };
  const environment = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: join(home, "xdg"),
    XDG_DATA_HOME: join(home, "xdg"),
    EXTENSIONS_GALLERY: JSON.stringify(gallery),
  };
  // The copy inside the package is what is tested.
  delete environment.HIERA_LS_SERVER;
  const entry = join(CODE_SERVER, "out/node/entry.js");
  const places = ["--config", join(home, "config.yaml"), "--user-data-dir", data];
  places.push("--extensions-dir", join(home, "extensions"));

  let server;
  let browser;
  const stop = async () => {
    await browser?.close().catch(() => {});
    if (server?.pid !== undefined && server.exitCode === null) {
      const gone = new Promise((resolve) => server.once("exit", resolve));
      process.kill(-server.pid, "SIGTERM");
      await gone;
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    for (const extension of [VSIX, ...extensions]) {
      install(extension, entry, places, environment);
    }
    mark("extension installed");
    const flags = ["--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-telemetry"];
    flags.push("--disable-update-check", "--disable-workspace-trust", "--disable-getting-started-override");
    let address;
    for (let attempt = 1; address === undefined; attempt += 1) {
      server = spawn(NODE_FOR_CODE_SERVER, [entry, ...places, ...flags], {
        env: environment,
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      address = await listening(server, join(OUT, "code-server.log")).catch((error) => {
        // It gives its own process ten seconds to start, which a busy machine may not.
        if (attempt === MAX_STARTS || server.exitCode === null) {
          throw error;
        }
        mark(`code-server starts again: ${error.message}`);
      });
    }
    mark("code-server listens");
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"].concat([
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-dev-shm-usage",
      ]),
    });
    const page = await browser.newPage(view);
    page.setDefaultTimeout(LIMIT);
    await page.route("**/*", (route) =>
      new URL(route.request().url()).hostname === "127.0.0.1" ? route.continue() : route.abort(),
    );
    return { page, home, workspace, data, address, mark, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function install(extension, entry, places, environment) {
  try {
    const flags = [entry, ...places, "--install-extension", extension];
    execFileSync(NODE_FOR_CODE_SERVER, flags, { env: environment, stdio: "pipe" });
  } catch (error) {
    // It quotes whole minified files on standard error: one sentence of that is enough.
    const sentence = /\w*Error: .{0,300}/.exec(String(error.stderr))?.[0];
    throw new Error(`the extension cannot be installed: ${sentence ?? error.message}`);
  }
}

function listening(server, log) {
  const file = createWriteStream(log);
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error("code-server does not listen")), OPENING_LIMIT);
    const seen = (bytes) => {
      file.write(bytes);
      const address = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(String(bytes));
      if (address !== null) {
        clearTimeout(limit);
        resolve(address[1]);
      }
    };
    server.stdout.on("data", seen);
    server.stderr.on("data", seen);
    server.once("exit", (code) => reject(new Error(`code-server ended with ${code}`)));
  });
}

/** The workbench as a person's hands and eyes have it. */
export class Workbench {
  constructor(started) {
    const { page } = Object.assign(this, started);
    this.statusItem = page.locator('.statusbar-item[id="hiera-ls.hiera-ls.hiera-ls"]');
    this.hoverBox = page.locator(".monaco-hover:not(.hidden) .hover-contents");
  }

  /** Opens a file of a folder, or else of the workspace, in a fresh window on that folder. */
  async open(path, folder = this.workspace) {
    const file = `vscode-remote://${new URL(this.address).host}${folder}/${path}`;
    const payload = encodeURIComponent(JSON.stringify([["openFile", file]]));
    await this.page.goto(`${this.address}/?folder=${folder}&payload=${payload}`, { waitUntil: "commit" });
    await this.page.locator(".monaco-editor .view-line").first().waitFor({ timeout: OPENING_LIMIT });
    await this.page.locator(".tab.active", { hasText: path.split("/").at(-1) }).waitFor();
  }

  /**
   * The server runs, or one sentence about why not. Everything else waits much longer for signs of
   * life, so this comes first.
   */
  async running() {
    const alive = this.alive();
    const dead = this.statusItem.filter({ has: this.page.locator(".codicon-error:first-child") });
    const toast = this.page.locator(".notification-toast", { hasText: "Hiera: no server program" });
    await alive.or(dead).or(toast).first().waitFor();
    if (await dead.or(toast).first().isVisible()) {
      throw new Error("the server does not run in the workbench");
    }
  }

  /** The item of a server that runs and has read everything. */
  alive() {
    return this.statusItem.filter({ has: this.page.locator(".codicon-list-tree") });
  }

  /** A file by name, in the window that is open. */
  async openByName(path) {
    const name = path.split("/").at(-1);
    const input = this.page.locator(".quick-input-widget input");
    const row = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name });
    const tabs = this.page.locator(".tab.active", { hasText: name });
    await this.until(async () => {
      await this.until(() => this.page.keyboard.press("Control+p"), input);
      await input.fill(path);
      await row.waitFor({ timeout: LOST });
      await this.page.keyboard.press("Enter");
    }, tabs.first());
    await input.waitFor({ state: "hidden" });
    if ((await tabs.count()) > 1) {
      // A second try opened it beside.
      await this.run("View: Join All Editor Groups");
    }
  }

  /**
   * Does a step, looks for its effect, and does it again if it was lost: key presses race with
   * changes of focus, which no event announces.
   */
  async until(step, effect, undo = () => this.page.keyboard.press("Escape"), tries = 8) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await step();
        await effect.waitFor({ timeout: LOST });
        if (attempt > 1) {
          this.mark(`needed ${attempt} tries: ${effect}`);
        }
        return effect;
      } catch (error) {
        if (attempt === tries) {
          throw error;
        }
        await undo();
      }
    }
  }

  /** What is inside the page of the active tab, which the editor puts into two frames. */
  webview() {
    return this.page.locator("iframe.webview.ready").last().contentFrame().locator("#active-frame").contentFrame();
  }

  /** A word of the text, as it stands coloured in the editor. */
  word(text) {
    return this.page.locator(".monaco-editor .view-line span span", { hasText: text }).first();
  }

  /** Points at a word until a hover says `expected`; returns the hover. */
  async hover(text, expected) {
    const box = this.hoverBox.filter({ hasText: expected }).first();
    const away = () => this.page.mouse.move(1000, 760);
    await away();
    return this.until(() => this.word(text).hover({ position: { x: 20, y: 8 } }), box, away);
  }

  /** Puts the cursor there, and has its hover shown by keys; returns the hover once it has `expected`. */
  async hoverAt(line, column, expected) {
    await this.goTo(line, column);
    const box = this.hoverBox.filter({ hasText: expected }).first();
    return this.until(async () => {
      await this.page.keyboard.press("Control+k");
      await this.page.keyboard.press("Control+i");
    }, box);
  }

  /**
   * Clicks with Control on a link of a document. The line is drawn anew as soon as the pointer with
   * the key is over it, so it is the place that is clicked.
   */
  async follow(link, effect) {
    const { keyboard, mouse } = this.page;
    const click = async () => {
      const { x, y, width, height } = await link.boundingBox();
      await mouse.move(x + width / 2, y + height / 2);
      await keyboard.down("Control");
      try {
        await mouse.move(x + width / 2 + 1, y + height / 2);
        await this.page.locator(".detected-link-active").waitFor({ timeout: LOST });
        await mouse.click(x + width / 2 + 1, y + height / 2);
      } finally {
        await keyboard.up("Control");
      }
    };
    await this.until(click, effect, () => this.page.mouse.move(1000, 760));
  }

  async leaveHover() {
    await this.page.mouse.move(1000, 760);
    await this.page.keyboard.press("Escape");
    await this.page.locator(".monaco-hover:not(.hidden)").waitFor({ state: "hidden" });
  }

  /** Puts the cursor there; lines and columns as the status bar counts them. */
  async goTo(line, column) {
    const input = this.page.locator(".quick-input-widget input");
    // On the numbers of the lines: in the text, a lens could take the click.
    await this.page.locator(".monaco-editor .overflow-guard").first().click({ position: { x: 30, y: 60 } });
    await this.until(() => this.page.keyboard.press("Control+g"), input);
    await input.fill(`:${line}:${column}`);
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
    // Else the next key races with the jump.
    await this.page.locator(".statusbar-item", { hasText: `Ln ${line}, Col ${column}` }).waitFor();
  }

  /** The rows that the command palette offers for what was typed. */
  async palette(typed) {
    const input = this.page.locator(".quick-input-widget input");
    await this.until(() => this.page.keyboard.press("F1"), input);
    await input.fill(`>${typed}`);
    return this.page.locator(".quick-input-list .monaco-list-row");
  }

  /** Runs a command that asks nothing. */
  async run(title) {
    await this.begin(title);
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Runs a command of the palette; what it asks is still to be answered. */
  async begin(title) {
    const first = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title });
    await this.until(() => this.palette(title), first);
    await this.page.keyboard.press("Enter");
  }

  /** Changes the colour theme to one such as "Dark 2026" or "Light 2026". */
  async theme(name) {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name });
    await this.until(async () => {
      await this.page.keyboard.press("Control+k");
      await this.page.keyboard.press("Control+t");
    }, this.page.locator(".quick-input-widget input"));
    await this.page.locator(".quick-input-widget input").fill(name);
    await row.and(this.page.locator(".focused")).waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    const kind = name.includes("Dark") ? "vs-dark" : "vs";
    await this.page.locator(`.monaco-workbench.${kind}`).first().waitFor();
  }

  /** Runs a command and picks the labels from what it offers, one after the other. */
  async choose(title, ...labels) {
    await this.begin(title);
    for (const label of labels) {
      // The palette has no title, and a list of thousands has only its first rows on the page.
      await this.page.locator(".quick-input-title", { hasText: "Hiera:" }).waitFor();
      await this.page.locator(".quick-input-list .monaco-list-row").first().waitFor();
      await this.page.locator(".quick-input-widget input").fill(label);
      const row = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: label });
      await row.waitFor();
      await this.page.keyboard.press("Enter");
      await row.waitFor({ state: "hidden" });
    }
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  async picture(path, clip) {
    await this.page.screenshot({ path, ...(clip === undefined ? {} : { clip }) });
  }
}
