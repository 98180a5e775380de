// Ten tasks that people had with their control repositories, each solved through the tools alone, in a small
// repository of our own. Real `puppet lookup` confirms every edit, and that nothing else has changed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { connect } from "./client.mjs";

const hierarchy = (...levels) =>
  "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\nhierarchy:\n" +
  levels.map(([name, at]) => `- name: ${name}\n  path: '${at}'\n`).join("");
const node = ["Node", "node/%{trusted.certname}.yaml"];
const role = ["Role", "role/%{facts.role}.yaml"];
const stage = ["Stage", "stage/%{facts.stage}.yaml"];
const common = ["Common", "common.yaml"];

const nodes = {
  "web1.example": { role: "web", stage: "production" },
  "web2.example": { role: "web", stage: "staging" },
  "db1.example": { role: "db", stage: "production" },
};

/** The tasks; `issue` is where people had one of this kind. */
const tasks = [
  {
    issue: "alphagov/pp-puppet#585",
    wish: "name the time servers, for all nodes",
    files: { "hiera.yaml": hierarchy(node, common), "data/common.yaml": "ntp::servers: [pool.example]\n" },
    async solve({ propose, apply }) {
      const [first] = await propose({ key: "ntp::servers", value: ["ntp1.example", "ntp2.example"] });
      assert.deepEqual(first.nodes.length, 3);
      apply(first.diff);
    },
    expected: { "ntp::servers": { "*": ["ntp1.example", "ntp2.example"] } },
  },
  {
    issue: "alphagov/pp-puppet#128",
    wish: "the setting of a stage is never used, since roles come first",
    files: {
      "hiera.yaml": hierarchy(node, role, stage, common),
      "data/role/web.yaml": "logstash::files: role\n",
      "data/stage/staging.yaml": "logstash::files: staging\n",
      "data/common.yaml": "logstash::files: common\n",
    },
    async solve({ answer, edit }) {
      const why = await answer("why_not", { key: "logstash::files", value: "staging", node: "web2.example" });
      const guilty = why.levels.filter((level) => level.in_the_way);
      assert.deepEqual(guilty.map((level) => level.file), ["data/role/web.yaml"]);
      await edit({ "hiera.yaml": hierarchy(node, stage, role, common) }, ["logstash::files: web2.example"]);
    },
    expected: { "logstash::files": { "web1.example": "role", "web2.example": "staging", "db1.example": "common" } },
  },
  {
    issue: "miraheze/puppet#3950",
    wish: "remove files of single nodes, now that their role has the same",
    files: {
      "hiera.yaml": hierarchy(node, role, common),
      "data/node/web1.example.yaml": "php::workers: 8\n",
      "data/node/web2.example.yaml": "php::workers: 12\n",
      "data/role/web.yaml": "php::workers: 8\n",
      "data/common.yaml": "php::workers: 1\n",
    },
    async solve({ answer, edit }) {
      // Only the file without an effect may go.
      const of = async (name) => answer("impact", { files: [{ path: name, text: null }] });
      assert.deepEqual(await of("data/node/web1.example.yaml"), []);
      assert.equal((await of("data/node/web2.example.yaml")).length, 1);
      await edit({ "data/node/web1.example.yaml": null }, []);
    },
    expected: { "php::workers": { "web1.example": 8, "web2.example": 12, "db1.example": 1 } },
  },
  {
    issue: "miraheze/puppet#4474",
    wish: "more memory for one node",
    files: {
      "hiera.yaml": hierarchy(node, role, common),
      "data/common.yaml": "puppetserver::heap: 2g\n",
      "data/role/db.yaml": "# Nothing yet.\nother: 1\n",
    },
    async solve({ propose, apply }) {
      const [first] = await propose({ key: "puppetserver::heap", value: "3g", for: ["db1.example"], only: true });
      assert.deepEqual([first.nodes, first.others], [["db1.example"], []]);
      apply(first.diff);
    },
    expected: { "puppetserver::heap": { "web1.example": "2g", "web2.example": "2g", "db1.example": "3g" } },
  },
  {
    issue: "alphagov/govuk-puppet#10895",
    wish: "other thresholds in production",
    files: {
      "hiera.yaml": hierarchy(node, stage, role, common),
      "data/common.yaml": "search::warning: 1500\nsearch::critical: 2000\n",
      "data/stage/staging.yaml": "search::warning: 1000\n",
      "data/stage/production.yaml": "search::warning: 1500\n",
    },
    async solve({ propose, apply }) {
      for (const [key, value] of [["search::warning", 3000], ["search::critical", 4000]]) {
        const [first] = await propose({ key, value, for: ["stage=production"], only: true });
        assert.deepEqual(first.others, []);
        apply(first.diff);
      }
    },
    expected: {
      "search::warning": { "web1.example": 3000, "web2.example": 1000, "db1.example": 3000 },
      "search::critical": { "web1.example": 4000, "web2.example": 2000, "db1.example": 4000 },
    },
  },
  {
    issue: "alphagov/govuk-puppet#7780",
    wish: "a lookup within a value is printed as it is written",
    files: {
      "hiera.yaml": hierarchy(node, common),
      "data/common.yaml": "app::domain: apps.example\napp::url: \"https://${hiera('app::domain')}/\"\n",
    },
    async solve({ answer, edit }) {
      const found = await answer("check", { paths: ["data/common.yaml"] });
      assert.deepEqual(found.map((one) => [one.code, one.line]), [["puppet-style-token", 2]]);
      const text = "app::domain: apps.example\napp::url: \"https://%{lookup('app::domain')}/\"\n";
      await edit({ "data/common.yaml": text }, ["app::url: web1.example web2.example db1.example"]);
      assert.deepEqual(await answer("check", { paths: ["data/common.yaml"] }), []);
    },
    expected: { "app::url": { "*": "https://apps.example/" } },
  },
  {
    issue: "alphagov/govuk-puppet#3958",
    wish: "remove a user who left, wherever it is set",
    files: {
      "hiera.yaml": hierarchy(node, role, common),
      "data/common.yaml":
        "lookup_options:\n  users: {merge: hash}\nusers:\n  ann: {shell: /bin/bash}\n  bob: {shell: /bin/bash}\n",
      "data/role/db.yaml": "users:\n  bob: {shell: /bin/zsh}\n",
    },
    async solve({ answer, edit }) {
      // The places where it is set.
      const [row] = await answer("matrix", { keys: ["users.bob"] });
      const places = new Set(row.answers.flatMap((one) => one.sources.map((source) => path.basename(source.file))));
      assert.deepEqual([...places].sort(), ["common.yaml", "db.yaml"]);
      const text = "lookup_options:\n  users: {merge: hash}\nusers:\n  ann: {shell: /bin/bash}\n";
      const changed = ["users: db1.example", "users: web1.example web2.example"];
      await edit({ "data/common.yaml": text, "data/role/db.yaml": null }, changed);
    },
    expected: { users: { "*": { ann: { shell: "/bin/bash" } } } },
  },
  {
    issue: "goodrobots/maverick#362",
    wish: "the local configuration should override everything else",
    files: {
      "hiera.yaml":
        hierarchy(node, ["Sample", "sample.yaml"]) + "- {name: Local, path: local.json, data_hash: json_data}\n" +
        "- {name: Common, path: common.yaml}\n",
      "data/local.json": '{"base::locale": "de_DE"}\n',
      "data/sample.yaml": "base::locale: en_US\n",
      "data/common.yaml": "base::locale: C\nbase::zone: UTC\n",
    },
    async solve({ answer, edit }) {
      const { explanation } = await answer("lookup", { key: "base::locale", node: "web1.example", explain: "levels" });
      assert.ok(explanation.join("\n").includes("data/sample.yaml:1"));
      const text =
        "version: 5\ndefaults: {datadir: data, data_hash: yaml_data}\nhierarchy:\n" +
        "- {name: Local, path: local.json, data_hash: json_data}\n" +
        hierarchy(node, ["Sample", "sample.yaml"], common).split("hierarchy:\n")[1];
      await edit({ "hiera.yaml": text }, ["base::locale: web1.example web2.example db1.example"]);
    },
    expected: { "base::locale": { "*": "de_DE" }, "base::zone": { "*": "UTC" } },
  },
  {
    issue: "puppetlabs-seteam/control-repo#76",
    wish: "sort the keys of a file without changing anything, and add one",
    files: {
      "hiera.yaml": hierarchy(node, role, common),
      "data/common.yaml": "web::port: 80\nntp::servers: &servers [a.example]\nchrony::servers: *servers\n",
      "data/role/web.yaml": "web::port: 443\n",
    },
    async solve({ answer, edit }) {
      // Sorted by hand, the alias stands before its anchor.
      const wrong = "chrony::servers: *servers\nntp::servers: &servers [a.example]\nweb::port: 80\n";
      const broken = await answer("impact", { files: [{ path: "data/common.yaml", text: wrong }] });
      assert.ok(broken.length > 0 && broken.every((one) => one.after.found === false), JSON.stringify(broken));
      const text = "chrony::servers: &servers [a.example]\ncmd::path: /usr/bin\nntp::servers: *servers\nweb::port: 80\n";
      await edit({ "data/common.yaml": text }, ["cmd::path: web1.example web2.example db1.example"]);
    },
    expected: {
      "cmd::path": { "*": "/usr/bin" },
      "chrony::servers": { "*": ["a.example"] },
      "ntp::servers": { "*": ["a.example"] },
      "web::port": { "web1.example": 443, "web2.example": 443, "db1.example": 80 },
    },
  },
  {
    issue: "wfsaxton/control-repo-ssdc#5",
    wish: "move all data to another folder",
    files: {
      "hiera.yaml": hierarchy(node, role, common).replace("datadir: data", "datadir: hieradata"),
      "hieradata/common.yaml": "port: 80\nname: x\n",
      "hieradata/role/web.yaml": "port: 443\n",
      "hieradata/node/web2.example.yaml": "port: 8443\n",
    },
    async solve({ answer, edit }) {
      const moved = { "hiera.yaml": hierarchy(node, role, common).replace("datadir: data", "datadir: hiera") };
      const old = { "common.yaml": "port: 80\nname: x\n", "role/web.yaml": "port: 443\n" };
      for (const [name, text] of Object.entries(old)) Object.assign(moved, { [`hieradata/${name}`]: null, [`hiera/${name}`]: text });
      // A file is forgotten, which the impact shows.
      const files = Object.entries(moved).map(([name, text]) => ({ path: name, text }));
      const forgotten = await answer("impact", { files });
      assert.deepEqual(forgotten.map((one) => [one.key, ...one.after.nodes]), [["port", "web2.example"]]);
      await edit({ ...moved, "hieradata/node/web2.example.yaml": null, "hiera/node/web2.example.yaml": "port: 8443\n" }, []);
    },
    expected: {
      port: { "web1.example": 443, "web2.example": 8443, "db1.example": 80 },
      name: { "*": "x" },
    },
  },
];

/** What `puppet lookup` prints for a node. */
function puppetLookup(folder, key, certname) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "puppet-"));
  const facts = path.join(home, "facts.json");
  const [hostname, domain] = certname.split(".");
  const names = { hostname, domain, fqdn: certname, clientcert: certname };
  fs.writeFileSync(facts, JSON.stringify({ ...nodes[certname], ...names }));
  const words = ["lookup", key, "--node", certname, "--facts", facts, "--render-as", "json"];
  words.push("--environment", "production", "--environmentpath", path.dirname(folder));
  for (const name of ["conf", "var", "code"]) words.push(`--${name}dir`, path.join(home, name));
  const text = execFileSync("puppet", words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  fs.rmSync(home, { recursive: true });
  return JSON.parse(`[${text}]`)[0];
}

let confirmed = 0;
for (const { issue, wish, files, solve, expected } of tasks) {
  const above = fs.mkdtempSync(path.join(os.tmpdir(), "hiera-ls-"));
  const folder = path.join(above, "production");
  const write = (name, text) => {
    const at = path.join(folder, name);
    fs.mkdirSync(path.dirname(at), { recursive: true });
    if (text === null) fs.rmSync(at);
    else fs.writeFileSync(at, text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const known = Object.entries(nodes).map(([name, facts]) => [name, { facts }]);
  write("nodes.json", JSON.stringify(Object.fromEntries(known)));
  const agent = await connect(folder);
  await solve({
    answer: agent.answer,
    propose: async (goal) => (await agent.answer("propose", goal)).proposals,
    apply: (diff) => execFileSync("patch", ["-p0", "--quiet"], { cwd: folder, input: diff }),
    /** Makes an edit whose impact is as expected: 'key: nodes'. */
    edit: async (texts, changed) => {
      const edited = Object.entries(texts).map(([name, text]) => ({ path: name, text }));
      const impact = await agent.answer("impact", { files: edited });
      const lines = impact.map((one) => `${one.key}: ${one.after.nodes.join(" ")}`);
      assert.deepEqual(lines.sort(), changed, issue);
      for (const [name, text] of Object.entries(texts)) write(name, text);
    },
  });
  for (const [key, values] of Object.entries(expected)) {
    for (const certname of Object.keys(nodes)) {
      const wanted = values[certname] ?? values["*"];
      assert.deepEqual(puppetLookup(folder, key, certname), wanted, `${issue}: ${key} of ${certname}`);
      const { value } = await agent.answer("lookup", { key, node: certname });
      assert.deepEqual(value, wanted, `${issue}: ${key} of ${certname}`);
      confirmed += 1;
    }
  }
  await agent.close();
  fs.rmSync(above, { recursive: true });
  console.log(`solved: ${wish} (${issue})`);
}
console.log(`${tasks.length} tasks solved, ${confirmed} values confirmed by puppet lookup`);
