// Draws a comment of `hiera-ls diff --format markdown`, as it is folded on a pull request:
// comment.mjs PICTURE <MARKDOWN, with the packages of editors/vscode and tests/editors/vscode.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const here = new URL("../../", import.meta.url);
const MarkdownIt = createRequire(new URL("editors/vscode/", here))("markdown-it");
const { chromium } = createRequire(new URL("tests/editors/vscode/", here))("playwright-core");

const STYLE = `
  body { margin: 0; padding: 24px; width: 760px; font: 14px/1.5 "DejaVu Sans", sans-serif; color: #1f2328; background: #fff; }
  article { border: 1px solid #d1d9e0; border-radius: 6px; padding: 4px 16px; }
  code { font: 12px/1.45 "DejaVu Sans Mono", monospace; background: #818b981f; border-radius: 6px; padding: 2px 5px; }
  pre { background: #f6f8fa; border-radius: 6px; padding: 12px; } pre code { background: none; padding: 0; }
  summary { padding: 3px 0; } .added { background: #dafbe1; display: block; } .removed { background: #ffebe9; display: block; }
`;

const markdown = new MarkdownIt({ html: true });
markdown.renderer.rules.fence = (tokens, at) => {
  const text = markdown.utils.escapeHtml(tokens[at].content.replace(/\n$/, ""));
  const lines = text.split("\n").map((line) => {
    const kind = { "+": "added", "-": "removed" }[line[0]];
    return kind === undefined ? `${line}\n` : `<span class="${kind}">${line}</span>`;
  });
  return `<pre><code>${lines.join("")}</code></pre>`;
};

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ deviceScaleFactor: 1.5, viewport: { width: 810, height: 400 } });
const comment = markdown.render(readFileSync(0, "utf8"));
await page.setContent(`<style>${STYLE}</style><article>${comment}</article>`);
// The last is unfolded, as a reader does.
await page.locator("details").last().evaluate((details) => (details.open = true));
await page.screenshot({ path: process.argv[2], fullPage: true });
await browser.close();
