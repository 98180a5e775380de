// Writes reports, opens them in Chromium, and compares what their engine answers with the command line.
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { gunzipSync } from "node:zlib";

const kept = resolve("target/report");
const { chromium } = createRequire(`${kept}/`)("playwright-core");
const axe = readFileSync(join(kept, "node_modules/axe-core/axe.min.js"), "utf8");
const program = resolve(process.env.HIERA_LS ?? "target/debug/hiera-ls");
const page = resolve(process.env.HIERA_LS_PAGE);
const images = process.env.UPDATE_IMAGES === "1" ? "docs/images" : null;

/** How many answers of a workspace are compared. */
const ANSWERS = 50;

/** The words of a command, its output and its exit code. */
function run(...words) {
  return runIn(".", ...words);
}

function runIn(cwd, ...words) {
  try {
    return [execFileSync(program, words, { cwd, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }), 0];
  } catch (error) {
    return [error.stdout ?? "", error.status];
  }
}

let failures = 0;
function check(what, isRight, detail = "") {
  if (isRight) return;
  failures += 1;
  console.log(`FAILED: ${what}: ${String(detail).slice(0, 1500)}`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** Opens a report; any request but for the file itself is a failure, and so is any message. */
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  tab.on("request", (request) => {
    const url = request.url();
    check("the page stays off the network", url.startsWith(`file://${file}`) || url.startsWith("data:"), url);
  });
  tab.on("pageerror", (error) => check("no error", false, error.message));
  tab.on("console", (message) => check("no message", message.type() !== "error", message.text()));
  await tab.goto(`file://${file}`);
  await tab.waitForFunction(() => document.body.dataset.opened, null, { timeout: 60_000 });
  return tab;
}

const go = async (tab, hash) => {
  await tab.evaluate((to) => { delete document.body.dataset.filled; location.hash = to; }, hash);
  await tab.waitForTimeout(150);
  if (/view=(keys|node&|compare)/.test(hash) && !/key=/.test(hash)) await tab.waitForFunction(() => document.body.dataset.filled);
};

/** A list of evenly spread elements. */
const spread = (all, most) => all.filter((_, at) => Math.floor((at * most) / all.length) !== Math.floor(((at - 1) * most) / all.length) || at === 0);

/** An answer without what a report hides. */
const isHidden = (text) => /ENC\[|\(a secret|hidden0/.test(text);

/** Times by the browser's own clock, in a new tab, in milliseconds: shown, not tested. What a view shows first is its answer. */
async function times(file, nodes, keys) {
  const tab = await open(file);
  const shown = async (hash) => {
    const all = await tab.evaluate(async (to) => {
      delete document.body.dataset.answered;
      delete document.body.dataset.filled;
      const began = performance.now();
      location.hash = to;
      while (!document.body.dataset.answered) await new Promise((next) => setTimeout(next, 1));
      // Data that comes in slices; other views have none.
      while (/view=node&/.test(to) && !document.body.dataset.filled) await new Promise((next) => setTimeout(next, 5));
      return performance.now() - began;
    }, hash);
    return [Math.round(Number(await tab.evaluate(() => document.body.dataset.answered))), Math.round(all)];
  };
  const key = keys[Math.floor(keys.length / 2)];
  const opened = Math.round(Number(await tab.evaluate(() => document.body.dataset.opened)));
  const parts = [`opened in ${opened} ms`, `a key for all nodes ${(await shown(`key=${key}`))[0]} ms`];
  if (nodes.length > 0) {
    const [node, other] = [nodes[0], nodes[nodes.length - 1]];
    parts.push(`explained ${(await shown(`key=${key}&node=${node}`))[0]} ms`);
    const [first, whole] = await shown(`view=node&node=${node}`);
    parts.push(`one node's data ${first} ms, all of it ${whole} ms`);
    parts.push(`two nodes ${(await shown(`view=compare&node=${node}&with=${other}`))[0]} ms`);
    parts.push(`a what-if ${(await shown(`key=${key}&node=${node}&fact.site=other`))[0]} ms`);
  }
  await tab.context().close();
  return parts.join(", ");
}

async function compare(name, folder, flags, limit) {
  const file = join(kept, `${name}.html`);
  const out = run("report", "--page", page, "--workspace", folder, ...flags, "--out", file);
  check(`${name}: a report is written`, out[1] === 0, out[0]);
  const size = statSync(file).size;
  // The tests' own engine is larger than the released one.
  if (process.env.ENGINE !== "tests") check(`${name}: at most ${limit / 1e6} MB`, size <= limit, size);
  const tab = await open(file);
  const ask = (question, input = {}) => tab.evaluate(([first, second]) => window.hiera.ask(first, second), [question, input]);
  const report = await ask("overview");
  const keys = spread(await ask("keys"), ANSWERS);
  const base = resolve(folder);
  const moved = (text) => text.replaceAll(base, report.folder);
  const [text] = run("matrix", "--workspace", folder, ...flags, "--format", "json", ...keys);
  const own = JSON.parse(moved(text));
  const found = await ask("matrix", { keys });
  const secret = new Set();
  let equal = 0;
  for (const [at, row] of own.entries()) {
    const [one, other] = [JSON.stringify(row), JSON.stringify(found[at])];
    if (isHidden(one) || isHidden(other)) { secret.add(row.key); continue; }
    check(`${name}: matrix of ${row.key}`, one === other, `${one}\n${other}`);
    equal += 1;
  }
  const nodes = spread(report.nodes.map((node) => node.name), 4);
  for (const node of nodes) {
    for (const key of spread(keys.filter((key) => !secret.has(key)), 5)) {
      const words = ["lookup", "--workspace", folder, ...flags, "--node", node, key, "--explain"];
      const [, code] = run(...words);
      const [value, status] = run("lookup", "--workspace", folder, ...flags, "--node", node, key, "--render-as", "json");
      const [row] = await ask("matrix", { keys: [key] });
      const answer = row.answers.find((answer) => answer.nodes?.includes(node));
      if (status === 0 && code === 0 && answer?.found) {
        check(`${name}: ${key} of ${node}`, JSON.stringify(JSON.parse(value)) === JSON.stringify(answer.value), `${value}\n${JSON.stringify(answer)}`);
        equal += 1;
      }
    }
  }
  if (nodes.length > 1) {
    const [from, to] = [nodes[0], nodes.at(-1)];
    const [different] = run("diff", "--workspace", folder, ...flags, "--format", "json", from, to);
    const sides = [JSON.parse(moved(different)), await ask("diff", { from, to })];
    const hidden = new Set(sides.flat().filter((one) => isHidden(JSON.stringify(one))).map((one) => one.key));
    const [one, other] = sides.map((all) => JSON.stringify(all.filter(({ key }) => !hidden.has(key))));
    check(`${name}: diff of ${from} and ${to}`, one === other, `${one}\n${other}`);
    equal += 1;
  }
  const [checked] = runIn(folder, "check", "--workspace", ".", ...flags, "--format", "json");
  const findings = [JSON.parse(checked), await ask("findings")];
  const unhidden = findings[0].flatMap((_, at) => (isHidden(JSON.stringify(findings.map((all) => all[at] ?? null))) ? [] : [at]));
  const [one, other] = findings.map((all) => JSON.stringify([all.length, unhidden.map((at) => all[at])]));
  check(`${name}: findings`, one === other, `${one}\n${other}`);
  equal += 1;
  // What the file says of itself, as a grep of what is in it would.
  const html = readFileSync(file, "utf8");
  const data = gunzipSync(Buffer.from(/id="data">([^<]*)</.exec(html)[1], "base64")).toString("utf8");
  check(`${name}: no encrypted value`, !/ENC\[[A-Z0-9]+,M[A-Za-z0-9+/]{20}/.test(data), /ENC\[[A-Z0-9]+,M.{40}/.exec(data));
  check(`${name}: no path of this machine`, !data.includes(base), base);
  console.log(`${name}: ${(size / 1e6).toFixed(1)} MB, ${report.nodes.length} nodes, ${report.keys} keys; ${await times(file, nodes, keys)}`);
  await tab.context().close();
  check(`${name}: ${ANSWERS} answers`, equal >= Math.min(ANSWERS, keys.length), equal);
  return equal;
}

/** The pictures in the docs. */
const PICTURES = ["key-wide", "key-narrow", "key-dark", "hierarchy-wide", "changes-wide"];

const kind = (width, colorScheme) => (width === 390 ? "narrow" : colorScheme === "dark" ? "dark" : "wide");

/** Every view without a violation of axe-core, wide and narrow, light and dark, and no wider than the screen. */
async function look(file, views) {
  let looked = 0;
  for (const [width, colorScheme] of [[1280, "light"], [390, "light"], [1280, "dark"]]) {
    const tab = await open(file, { viewport: { width, height: 900 }, colorScheme });
    await tab.evaluate(axe);
    for (const [name, hash] of views) {
      await go(tab, hash);
      const { violations } = await tab.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const found = violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" ")}`);
      check(`${name} at ${width}, ${colorScheme}: axe-core finds nothing`, found.length === 0, found.join("\n"));
      const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
      check(`${name} at ${width}: it fits`, wide <= width, wide);
      looked += 1;
      if (images && PICTURES.includes(`${name}-${kind(width, colorScheme)}`)) {
        await tab.screenshot({ path: join(images, `report-${name}-${kind(width, colorScheme)}.png`) });
      }
    }
    await tab.context().close();
  }
  return looked;
}

/** The width of an A4 page within margins of 1 cm, in CSS pixels. */
const PAPER = Math.floor((19 / 2.54) * 96);

const squeezed = (text) => text.replace(/\s+/g, "");

/** On paper all is shown that waits for a click on the screen, no part is cut off, and nothing is shown that only a click uses. */
async function print(file, hash, shown) {
  const tab = await open(file, { colorScheme: "dark", viewport: { width: PAPER, height: 1000 } });
  await go(tab, hash);
  const pdf = join(kept, "printed.pdf");
  await tab.pdf({ path: pdf, format: "A4", margin: { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" } });
  // The head of a table is repeated on each page, also within a value.
  const head = squeezed(await tab.evaluate(() => document.querySelector("thead")?.innerText ?? ""));
  const pages = execFileSync("pdftotext", ["-raw", pdf, "-"], { encoding: "utf8" }).split("\f").map(squeezed);
  const paper = pages.map((text, at) => (at > 0 && text.startsWith(head) ? text.slice(head.length) : text)).join("");
  await tab.emulateMedia({ media: "print" });
  const [words, cut, ink] = await tab.evaluate(() => {
    const all = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility());
    const cut = all.filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
      || (getComputedStyle(one).overflow !== "visible" && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)));
    // A value may go on on the next page.
    return [document.body.innerText.split(/[\s",:{}[\]]+/), cut.map((one) => one.outerHTML.slice(0, 200)), getComputedStyle(document.body).color];
  });
  const lost = words.filter((word) => !paper.includes(word));
  check(`printed ${hash}: all that is shown is on the paper`, lost.length === 0, lost.slice(0, 20).join(" "));
  check(`printed ${hash}: nothing is cut off`, cut.length === 0, cut.join("\n"));
  check(`printed ${hash}: dark on white`, ink === "rgb(27, 31, 36)", ink);
  for (const text of shown) check(`printed ${hash}: ${text}`, paper.includes(squeezed(text)), paper.slice(0, 1000));
  const clicked = /Skipto|CompareFindings|Tryit|Search|Show\d+of|\d+morefile/.exec(paper);
  check(`printed ${hash}: nothing that only a click uses`, clicked === null, clicked);
  await tab.context().close();
}

/** What a person does, with the keyboard. */
async function use(file) {
  const tab = await open(file);
  await tab.waitForFunction(() => document.body.dataset.filled);
  await tab.getByLabel("Search").fill("ntp-canary");
  await tab.waitForTimeout(300);
  const rows = await tab.locator("tbody tr").count();
  check("values are searched", rows === 1, rows);
  await tab.getByRole("link", { name: "ntp::servers" }).focus();
  await tab.keyboard.press("Enter");
  await tab.getByLabel("For the node").selectOption("web01.lon.acme.example");
  const address = await tab.evaluate(() => location.hash);
  check("the address has it all", address.includes("key=ntp%3A%3Aservers") && address.includes("node=web01"), address);
  const sets = await tab.locator("tr[data-result=sets]").innerText();
  check("the level that sets it", sets.includes("data/node/web01.lon.acme.example.yaml:4"), sets);
  await tab.locator("tr[data-result=sets] button").focus();
  await tab.keyboard.press("Enter");
  const line = await tab.locator("dialog .this").innerText();
  check("the line is shown", line.includes("ntp::servers"), line);
  await tab.keyboard.press("Escape");
  // It gives the focus back when it is closed.
  await tab.locator("dialog").waitFor({ state: "hidden" });
  await tab.locator("summary", { hasText: "What if" }).focus();
  await tab.keyboard.press("Enter");
  await tab.getByLabel("What if the fact").fill("site");
  await tab.getByLabel("were").fill("nyc");
  await tab.keyboard.press("Enter");
  await tab.waitForTimeout(200);
  const shared = await tab.evaluate(() => location.hash);
  check("a what-if is in the address", shared.includes("fact.site=nyc"), shared);
  const [before, after] = await tab.evaluate(() => [{}, { site: "nyc" }].map((facts) =>
    JSON.stringify(window.hiera.ask("matrix", { keys: ["ntp::servers"], facts }))));
  check("a what-if changes answers", before !== after, before);
  const again = await open(file);
  await go(again, shared.slice(1));
  check("an address shows the same", await again.locator("h2").innerText() === "ntp::servers");
  await tab.context().close();
  await again.context().close();
}

/** A page that tries to reach the network is found out, and its policy prevents it. */
async function strict(file) {
  const reached = [];
  const server = createServer((request, answer) => { reached.push(request.url); answer.end(); });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(`file://${file}`);
  await tab.waitForFunction(() => document.body.dataset.opened);
  const refused = await tab.evaluate(async (base) => {
    const refused = [];
    document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
    await fetch(`${base}/`).catch(() => undefined);
    const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    add("img", { src: `${base}/a.png` });
    add("script", { src: `${base}/a.js` });
    add("script", { textContent: "window.injected = true" });
    add("iframe", { src: `${base}/` });
    add("link", { rel: "stylesheet", href: `${base}/a.css` });
    await new Promise((done) => setTimeout(done, 500));
    return [...refused, String(window.injected)];
  }, `http://127.0.0.1:${server.address().port}`);
  for (const directive of ["connect-src", "img-src", "script-src-elem", "frame-src", "style-src-elem", "undefined"]) {
    check(`the policy refuses ${directive}`, refused.includes(directive), refused);
  }
  check("nothing was reached", reached.length === 0, reached);
  await context.close();
  server.close();
}

/** After a trap of the module every view says so, and nothing hangs. The module is told to take more memory than there is. */
async function broken(file) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  tab.on("pageerror", (error) => check("no error after a trap", false, error.message));
  await tab.addInitScript(() => {
    const made = WebAssembly.instantiate;
    WebAssembly.instantiate = async (...given) => {
      const { exports } = (await made(...given)).instance;
      return { instance: { exports: { ...exports, call: () => (window.traps ? exports.input(-1) : exports.call()) } } };
    };
  });
  await tab.goto(`file://${file}`);
  await tab.waitForFunction(() => document.body.dataset.opened);
  await tab.evaluate(() => { window.traps = true; });
  await go(tab, "key=ntp::servers");
  const said = await tab.locator("main").innerText();
  check("a trap is told", said.startsWith("The engine in this page failed: load the page again"), said);
  await tab.evaluate(() => { window.traps = false; });
  await go(tab, "view=hierarchy");
  check("the other views stay", (await tab.locator("h2").innerText()) === "Hierarchy");
  await go(tab, "key=site::name");
  const again = await tab.locator("main").innerText();
  check("a module that trapped is asked no more", again.startsWith("The engine in this page failed"), again);
  await context.close();
}

/** In the playground an edit changes a hover, a matrix and the other views, and makes a finding; a fix takes it away. */
async function play(file) {
  const tab = await open(file);
  const text = tab.getByLabel("Text");
  const finding = tab.locator("#problems li", { hasText: "yaml11-octal" });
  const has = async (what, locator, words) => {
    const found = await locator.filter({ hasText: words }).waitFor({ timeout: 20_000 }).then(() => true, () => false);
    check(`the playground: ${what}`, found, found ? "" : await locator.first().innerText().catch(() => "nothing"));
  };
  await tab.getByLabel("File").selectOption({ label: "data/common.yaml" });
  await tab.waitForFunction(() => location.hash.includes("common.yaml"));
  await has("nothing is wrong at first", tab.locator("#checked"), "No findings in this file.");
  const original = await text.inputValue();
  check("the playground has the file", original === readFileSync("fixtures/acme/data/common.yaml", "utf8"), original.slice(0, 200));
  const put = async (changed, at) => {
    await text.fill(changed);
    await text.evaluate((field, to) => field.setSelectionRange(to, to), changed.indexOf(at) + 3);
    await text.press("Shift");
  };
  await put(original, "site::name: Acme");
  await has("a hover", tab.locator("#hover"), "Acme");
  await put(original.replace("site::name: Acme", "site::name: Emca"), "site::name: Emca");
  await has("an edit changes the hover", tab.locator("#hover"), "Emca");
  await has("an edit changes the matrix", tab.locator("#matrix"), "Emca");
  const [row] = await tab.evaluate(() => window.hiera.ask("matrix", { keys: ["site::name"] }));
  check("the playground: an edit changes the other views", JSON.stringify(row).includes("Emca"), JSON.stringify(row));
  await put(`${original}playground::mode: 0644\n`, "playground::mode");
  await has("a mistake is found", finding, "0644");
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  check("the playground with a finding: axe-core finds nothing", violations.length === 0, JSON.stringify(violations.map(({ id }) => id)));
  await finding.getByRole("button").press("Enter");
  const line = await text.evaluate((field) => field.value.slice(0, field.selectionStart).split("\n").length);
  check("the playground: a finding leads to its line", line === original.split("\n").length, line);
  await tab.getByRole("button", { name: "As it was" }).click();
  await has("it is taken back", tab.locator("#checked"), "No findings in this file.");
  const wrong = await tab.locator("#problems li").allInnerTexts();
  check("the playground: nothing is wrong in other files", wrong.length === 0, wrong.join("\n"));
  check("the playground: all is as it was", (await text.inputValue()) === original);
  await tab.context().close();
}

mkdirSync(kept, { recursive: true });
const shared = "../shared/corpora";
const workspaces = [["acme", "fixtures/acme", [], 4e6]];
const lsst = resolve(shared, "lsst-control");
if (existsSync(lsst)) workspaces.push(["lsst-control", join(lsst, "workspace"), ["--nodes", join(lsst, "nodes.json")], 4e6]);
else console.log(`SKIPPED: no ${lsst} here`);
const others = (process.env.REPORT_WORKSPACES ?? "").split(":").filter(Boolean);
if (existsSync(join(shared, "himlar"))) others.push(join(shared, "himlar"));
if (!others.some((folder) => basename(folder) === "himlar")) console.log("SKIPPED: no himlar here, see REPORT_WORKSPACES");
for (const folder of others) workspaces.push([basename(folder), folder, [], 8e6]);

let equal = 0;
for (const workspace of workspaces) equal += await compare(...workspace);

// A change of acme, in a copy with another side.
const changed = join(kept, "changed/acme");
rmSync(dirname(changed), { recursive: true, force: true });
cpSync("fixtures/acme", changed, { recursive: true });
const git = (...words) => execFileSync("git", ["-C", changed, "-c", "user.name=a", "-c", "user.email=a@example.com", ...words], { stdio: "ignore" });
git("init", "-q", "-b", "main");
git("add", "-A");
git("commit", "-q", "-m", "first");
const common = join(changed, "data/common.yaml");
writeFileSync(common, readFileSync(common, "utf8").replace("ntp1.acme.example", "ntp9.acme.example"));
const web = join(changed, "data/role/web.yaml");
writeFileSync(web, readFileSync(web, "utf8").replace("[public, frontend]", "[public, edge]"));
const compared = join(kept, "compared.html");
const [, wrote] = run("report", "--page", page, "--workspace", changed, "--against", "main", "--out", compared);
check("a comparison is written", wrote === 0, wrote);
{
  const tab = await open(compared);
  const found = await tab.evaluate(() => window.hiera.ask("changes"));
  const [text] = run("diff", "--workspace", changed, "--against", "main", "--format", "json");
  const own = JSON.parse(text).map((one) => one.key);
  check("the keys of diff --against", JSON.stringify(found.differences.map((one) => one.key)) === JSON.stringify(own), own);
  const causes = found.causes.map((cause) => cause.files.join()).sort().join(" ");
  check("the causes", causes === "/acme/data/common.yaml /acme/data/role/web.yaml", causes);
  check("changes are shown first", (await tab.locator("h2").first().innerText()).startsWith("What changes"));
  const lines = await tab.getByLabel("changed lines").allInnerTexts();
  check("the changed lines", lines.join().includes("data/role/web.yaml:"), lines);
  await tab.context().close();
  equal += 1;
}
const acme = join(kept, "acme.html");
const node = "web01.lon.acme.example";
let looked = await look(acme, [
  ["keys", "view=keys"],
  ["key", `key=ntp::servers&node=${node}`],
  ["nodes", "view=node"],
  ["node", `view=node&node=${node}`],
  ["hierarchy", `view=hierarchy&node=${node}`],
  ["compare", `view=compare&node=${node}&with=db01.nyc.acme.example`],
  ["findings", "view=findings"],
  ["what-if", `key=ntp::servers&node=${node}&fact.site=nyc`],
]);
looked += await look(compared, [["changes", "view=changes"]]);
await print(acme, "view=keys", ["haproxy::options2answers{\"maxconn\":400,\"retries\":3}{\"maxconn\":800,\"retries\":3}"]);
await print(acme, `key=ntp::servers&node=${node}&fact.site=nyc`, ["answers below are for these facts", "site = nyc", "7 of 8 nodes", "mail01.ams.acme.example"]);
await print(acme, `view=node&node=${node}`, ["58 keys with a value"]);
await print(acme, "view=node", ["build01.lon.acme.example", "facts.os.release.major"]);
await print(acme, `view=hierarchy&node=${node}`, ["Operating system", "Debian.yaml"]);
await print(acme, `view=compare&node=${node}&with=db01.nyc.acme.example`, ["39 keys with different values", "Key web01.lon.acme.example db01.nyc.acme.example"]);
await print(acme, "view=findings", ["201 findings"]);
await print(compared, "view=changes", ["2 keys change for 6 of 8 nodes", "ntp9.acme.example"]);
// More keys than are shown at once.
const long = join(kept, "long");
mkdirSync(join(long, "data"), { recursive: true });
writeFileSync(join(long, "hiera.yaml"), "version: 5\nhierarchy:\n  - name: Common\n    path: common.yaml\n");
writeFileSync(join(long, "data/common.yaml"), Array.from({ length: 650 }, (_, at) => `long::key${at}: value${at}\n`).join(""));
run("report", "--page", page, "--workspace", long, "--out", `${long}.html`);
await print(`${long}.html`, "view=keys", ["long::key0 \"value0\"", "long::key649 \"value649\""]);
await use(acme);
await strict(acme);
await broken(acme);
const playground = resolve("target/web/playground.html");
looked += await look(playground, [["playground", "view=edit"], ["playground's keys", "view=keys"]]);
await play(playground);
await strict(playground);
await browser.close();
if (failures > 0) {
  console.log(`${failures} failures`);
  process.exit(1);
}
console.log(`${equal} answers in the browser equal the command line's`);
console.log(`${looked} views without a finding of axe-core`);
