// A client of the official SDK for `hiera-ls mcp`. The SDK holds every answer against the schema of its tool.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const kept = path.join(root, "target/agents");
const require = createRequire(path.join(kept, "package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

/** The program that is tested. */
export const program = process.env.HIERA_LS ?? path.join(root, "target/debug/hiera-ls");

/** The main list of each tool: a member of the answer, or the members of that name of its elements. */
const lists = { who_uses: "uses", why_not: "levels", propose: "proposals", upgrade: "causes", nodes_and_levels: "nodes" };

/** Starts the server in a folder. */
export async function connect(folder, flags = []) {
  const client = new Client({ name: "hiera-ls-tests", version: "1.0.0" });
  const transport = new StdioClientTransport({ command: program, args: ["mcp", ...flags], cwd: folder, stderr: "ignore" });
  await client.connect(transport);
  const { tools } = await client.listTools();

  /** One answer. */
  async function call(name, input) {
    // The program is not optimized.
    const result = await client.callTool({ name, arguments: input }, undefined, { timeout: 300_000 });
    if (result.isError) throw new Error(`${name} ${JSON.stringify(input)}: ${result.content[0].text}`);
    return result;
  }

  /** The whole answer of a tool, part by part. */
  async function answer(name, input = {}) {
    let whole;
    let offset = 0;
    while (offset !== null) {
      const limits = { limit: 40, list_limit: 1_000_000, text_limit: 10_000_000, offset };
      const { structuredContent: part } = await call(name, { ...input, ...limits });
      if (part.left_out.length > 0) throw new Error(`${name}: ${JSON.stringify(part.left_out)}`);
      whole = whole === undefined ? part.answer : joined(name, whole, part.answer);
      offset = part.next_offset;
    }
    return whole;
  }

  return { client, pid: transport.pid, tools, call, answer, close: () => client.close() };
}

function joined(name, first, second) {
  if (name === "matrix") {
    const rows = [...first];
    for (const row of second) {
      const known = rows.find((one) => one.key === row.key);
      if (known) known.answers.push(...row.answers);
      else rows.push(row);
    }
    return rows;
  }
  if (Array.isArray(first)) return [...first, ...second];
  const list = lists[name] ?? ("explanation" in first ? "explanation" : "answers");
  return { ...first, [list]: [...first[list], ...second[list]] };
}

/** What a command of the program prints, whatever its exit code. */
export function printed(folder, words) {
  const options = { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] };
  try {
    return execFileSync(program, words, options);
  } catch (error) {
    if (error.stdout === undefined || error.stdout === "") throw new Error(`${words.join(" ")}: ${error.stderr}`);
    return error.stdout;
  }
}

/** The same as JSON. */
export const json = (folder, words) => JSON.parse(printed(folder, [...words, "--format", "json"]));
