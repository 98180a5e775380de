// One long session: the time from the start to the first answer, and calls without growth of memory: 350, or CALLS of
// them, a multiple of ten.
//
//   node tests/agents/session.mjs [FOLDER KEY NODE]     default: fixtures/acme
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { connect, root } from "./client.mjs";

const calls = Number(process.env.CALLS ?? 350);
const mostGrowth = 8;
const [folder, key, node] = process.argv.slice(2);
const at = folder ?? path.join(root, "fixtures/acme");
const asked = { key: key ?? "ntp::servers", node: node ?? "web01.lon.acme.example" };

const began = performance.now();
const agent = await connect(at);
await agent.call("lookup", asked);
const first = Math.round(performance.now() - began);

/** The memory of the server, in MiB. */
function memory() {
  const status = fs.readFileSync(`/proc/${agent.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) / 1024;
}

const { structuredContent } = await agent.call("matrix", { keys: [asked.key] });
const [{ file }] = structuredContent.answer[0].answers.flatMap((one) => one.sources);
const text = `${fs.readFileSync(file, "utf8")}\nnew::key: 1\n`;
const edit = { files: [{ path: path.relative(fs.realpathSync(at), file), text }] };
const kinds = [
  () => agent.call("lookup", asked),
  () => agent.call("lookup", { ...asked, explain: "levels" }),
  () => agent.call("matrix", { keys: [asked.key] }),
  () => agent.call("who_uses", { key: asked.key }),
  () => agent.call("why_not", { ...asked, value: "another" }),
  () => agent.call("impact", edit),
  () => agent.call("check", { paths: [edit.files[0].path] }),
];
let early;
const times = [];
for (let call = 0; call < calls; call += 1) {
  if (call === calls / 5) early = memory();
  const started = performance.now();
  await kinds[call % kinds.length]();
  times.push(performance.now() - started);
}
const late = memory();
await agent.close();
times.sort((one, other) => one - other);
const median = times[calls / 2].toFixed(1);
console.log(`first answer after ${first} ms; ${calls} calls, median ${median} ms, longest ${Math.round(times.at(-1))} ms`);
console.log(`memory ${early.toFixed(0)} MiB after ${calls / 5} calls, ${late.toFixed(0)} MiB after ${calls}`);
assert.ok(late - early < mostGrowth, "the memory grows");
