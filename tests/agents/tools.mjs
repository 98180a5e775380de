// Every tool on fixtures/acme and on lsst-control: its answer is that of the command line.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { connect, json, printed, root } from "./client.mjs";

const hidden = "(a secret)";
let compared = 0;

/** Whether an answer is as expected; it may hide a secret. */
function same(answer, expected, what) {
  const shown = (value, other) => {
    if (value === hidden && typeof other === "string") return other;
    if (Array.isArray(value) && Array.isArray(other)) return value.map((one, at) => shown(one, other[at]));
    if (value && other && typeof value === "object" && typeof other === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shown(one, other[key])]));
    }
    return value;
  };
  assert.deepEqual(shown(answer, expected), expected, what);
  compared += 1;
}

/** All tools in one repository. */
async function compare(folder, flags, options) {
  const agent = await connect(folder, flags);
  assert.equal(agent.tools.length, 9);
  const known = await agent.answer("nodes_and_levels");
  const report = json(folder, ["doctor", ...flags]);
  same(known.hierarchies, report.hierarchies, "hierarchies");
  same(known.variables, report.variables, "variables");
  assert.equal(known.nodes.length, report.nodes.count);
  const keys = options.keys;
  const nodes = known.nodes.filter((_, at) => at % Math.ceil(known.nodes.length / options.nodes) === 0);
  for (const key of keys) {
    for (const node of nodes) {
      const words = ["lookup", key, "--node", node, "--render-as", "json", ...flags];
      const found = await agent.answer("lookup", { key, node });
      if (found.status === "found") same([found.value], [JSON.parse(printed(folder, words))], `${key} ${node}`);
      else assert.throws(() => printed(folder, words), `${key} ${node}: ${found.status}`);
    }
    const all = await agent.answer("lookup", { key });
    if (all.status === "several") {
      const words = ["lookup", key, "--render-as", "json", ...flags];
      same(all.answers, JSON.parse(printed(folder, words)), key);
    }
  }
  const [key, node] = [keys[0], nodes[0]];
  const explained = await agent.answer("lookup", { key, node, explain: "puppet" });
  const lines = printed(folder, ["explain-key", key, "--node", node, ...flags]).trimEnd().split("\n");
  same(explained.explanation, lines, "explanation");
  const levels = await agent.answer("lookup", { key, node, explain: "levels" });
  assert.ok(levels.explanation.join("\n").includes("levels, the highest first"));
  same(await agent.answer("matrix", { keys }), json(folder, ["matrix", ...keys, ...flags]), "matrix");
  same(await agent.answer("check"), json(folder, ["check", ".", ...flags]), "check");
  const { value } = options;
  const why = ["why-not", key, JSON.stringify(value), "--node", node];
  same(await agent.answer("why_not", { key, value, node }), json(folder, [...why, ...flags]), "why_not");
  const goal = ["set", key, JSON.stringify(value), "--for", node];
  same(await agent.answer("propose", { key, value, for: [node] }), json(folder, [...goal, ...flags]), "propose");
  same(await agent.answer("upgrade"), json(folder, ["upgrade", ...flags]), "upgrade");
  const uses = await agent.answer("who_uses", { key: options.used });
  const places = uses.uses.map((use) => `${path.relative(folder, use.file)}:${use.line}`);
  assert.deepEqual(places, options.uses(folder));

  // What a change changes is what differs once it is made.
  const { file, old, changed } = options.edit;
  const before = fs.readFileSync(path.join(folder, file), "utf8");
  const line = before.split("\n").indexOf(old) + 1;
  assert.ok(line > 0, old);
  const text = before.replace(old, changed);
  const copy = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "hiera-ls-")));
  fs.cpSync(folder, copy, { recursive: true });
  fs.writeFileSync(path.join(copy, file), text);
  const after = json(copy, ["diff", "--against", `${folder}/.`, ...flags]);
  fs.rmSync(copy, { recursive: true });
  const there = JSON.parse(JSON.stringify(after).replaceAll(copy, folder));
  assert.ok(there.length > 0);
  same(await agent.answer("impact", { files: [{ path: file, text }] }), there, "impact of contents");
  const patch = `--- a/${file}\n+++ b/${file}\n@@ -${line} +${line} @@\n-${old}\n+${changed}\n`;
  same(await agent.answer("impact", { patch }), there, "impact of a patch");

  const { resources } = await agent.client.listResources();
  for (const { uri } of resources.slice(0, 4)) {
    const [{ text }] = (await agent.client.readResource({ uri })).contents;
    if (uri === "hiera-ls://doctor") same(JSON.parse(text), report, uri);
    else same(text, printed(folder, ["explain", uri.split("/").at(-1)]), uri);
  }
  await agent.close();
}

/** The lines of data that look up a key, found by their text. */
function looking(folder, key) {
  const files = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".yaml"));
  const lines = files.sort().flatMap((name) => {
    const text = fs.readFileSync(path.join(folder, name), "utf8").split("\n");
    return text.flatMap((line, at) => (line.includes(`lookup('${key}`) ? [`${name}:${at + 1}`] : []));
  });
  assert.ok(lines.length > 0);
  return lines;
}

await compare(path.join(root, "fixtures/acme"), [], {
  keys: ["profile::base::timezone", "ntp::servers", "accounts::users", "profile::web::certificates", "no::such::key"],
  nodes: 4,
  value: "UTC",
  used: "ntp::servers",
  // The class parameter.
  uses: () => ["modules/ntp/manifests/init.pp:10"],
  edit: {
    file: "data/site/lon.yaml",
    old: "profile::base::timezone: Europe/London",
    changed: "profile::base::timezone: UTC",
  },
});
console.log(`${compared} answers on acme are those of the command line`);

const lsst = path.resolve(root, "../shared/corpora/lsst-control");
if (fs.existsSync(lsst)) {
  compared = 0;
  await compare(path.join(lsst, "workspace"), ["--nodes", path.join(lsst, "nodes.json")], {
    keys: ["ipa::ipa_master_fqdn", "nm::connections", "rsyslog::config::actions", "classes", "dhcp::nameservers"],
    nodes: 5,
    value: "ipa9.lsst.org",
    used: "dhcp::nameservers",
    uses: (folder) => looking(folder, "dhcp::nameservers"),
    edit: {
      file: "hieradata/site/cp.yaml",
      old: 'ipa::ipa_master_fqdn: "ipa1.cp.lsst.org"',
      changed: 'ipa::ipa_master_fqdn: "ipa9.cp.lsst.org"',
    },
  });
  console.log(`${compared} answers on lsst-control are those of the command line`);
} else {
  console.log("SKIPPED: lsst-control is not in ../shared/corpora");
}
