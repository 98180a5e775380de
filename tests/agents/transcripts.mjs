// The transcripts in docs/agents.md are what the tools answer on fixtures/acme: a block of text whose first line is
// `> TOOL INPUT` has the answer below it. UPDATE_EXPECT=1 writes the answers.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { connect, root } from "./client.mjs";

const width = 110;
const page = path.join(root, "docs/agents.md");
const acme = path.join(root, "fixtures/acme");

/** JSON with short values on one line. */
function laidOut(value, indent = "") {
  const line = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
  if (typeof value !== "object" || value === null || indent.length + line.length <= width) return line;
  const inner = `${indent}  `;
  const [open, close, parts] = Array.isArray(value)
    ? ["[", "]", value.map((one) => laidOut(one, inner))]
    : ["{", "}", Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${laidOut(one, inner)}`)];
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

/** A text with the example repository at /srv/acme. */
const moved = (text) => text.replaceAll(`${acme}/`, "/srv/acme/");

const agent = await connect(acme);
const text = fs.readFileSync(page, "utf8");
let count = 0;
const parts = text.split(/^(```text\n> [\s\S]*?^```$)/m);
for (const [at, part] of parts.entries()) {
  const call = /^```text\n> (\w+) (.*)\n/.exec(part);
  if (!call) continue;
  const [, tool, input] = call;
  const { content, structuredContent } = await agent.call(tool, JSON.parse(input));
  // Before it is laid out: how long the path of this checkout is must not decide where lines break.
  const { answer, notes } = JSON.parse(moved(JSON.stringify(structuredContent)));
  const lines = [moved(content[0].text), laidOut(answer), ...notes.map((note) => `note: ${note}`)];
  parts[at] = `\`\`\`text\n> ${tool} ${input}\n${lines.join("\n")}\n\`\`\``;
  count += 1;
}
await agent.close();
assert.ok(count >= 5, `${count} calls`);
if (process.env.UPDATE_EXPECT) fs.writeFileSync(page, parts.join(""));
else assert.equal(parts.join(""), text, "docs/agents.md is not what the tools answer: UPDATE_EXPECT=1 tests/agents/run");
console.log(`${count} answers in docs/agents.md are those of the tools`);
