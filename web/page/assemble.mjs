// Puts the engine, the script and the style into the page, and allows exactly these in its policy:
// node assemble.mjs ENGINE SCRIPT STYLE OUT [playground]
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import process from "node:process";
import { gzipSync } from "node:zlib";

const [engine, script, style, out, kind = "report"] = process.argv.slice(2);
const texts = {
  script: (await readFile(script, "utf8")).trim(),
  style: (await readFile(style, "utf8")).trim(),
};
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
if (/<\/script|<!--/i.test(texts.script) || /<\/style/i.test(texts.style)) throw new Error("the page would end within itself");
const policy = [
  "default-src 'none'",
  `script-src ${hash(texts.script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(texts.style)}`,
  "base-uri 'none'",
  "form-action 'none'",
];
const values = {
  ...texts,
  kind,
  policy: policy.join("; "),
  engine: gzipSync(await readFile(engine), { level: 9 }).toString("base64"),
};
const page = await readFile(new URL("index.html", import.meta.url), "utf8");
await writeFile(out, page.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]));
