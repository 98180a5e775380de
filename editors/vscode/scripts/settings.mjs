// Writes the settings in package.json from the server's own schema. With --check it changes nothing
// and fails if they differ. The server is the program in HIERA_LS_SERVER, or else the debug build.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const manifestPath = fileURLToPath(new URL("../package.json", import.meta.url));
const built = fileURLToPath(new URL("../../../target/debug/hiera-ls", import.meta.url));

// The extension's own settings; the server never sees them.
const own = {
  "hiera-ls.server.path": {
    type: "string",
    default: "",
    markdownDescription:
      "The server program. Empty: the one named by the environment variable `HIERA_LS_SERVER`, " +
      "else the one inside the extension, else `hiera-ls` on the search path.",
    scope: "machine",
  },
  "hiera-ls.trace.server": {
    type: "string",
    enum: ["off", "messages", "verbose"],
    default: "off",
    markdownDescription: "Writes the conversation with the server to its log.",
    scope: "window",
  },
};

/** The groups of the settings editor, in its order; a name that ends in a dot stands for all that begin so. */
const groups = [
  ["Answers", ["puppetVersion", "strict", "strictVariables", "rememberNode"]],
  ["Nodes and Facts", ["nodesFiles", "factsFile", "nodes"]],
  ["Hierarchies and Backends", ["roots", "globalHieraYaml", "pathMap", "backends"]],
  ["Problems", ["diagnostics."]],
  ["Hovers, Lenses and Hints", ["hover.", "codeLens.", "inlayHints."]],
  ["Encrypted Values", ["decrypt", "pkcs7PrivateKey", "pkcs7PublicKey"]],
  ["Server", ["logLevel", "server.", "trace."]],
];

/** What is said of a setting beside the server's words, where the editor has more to offer. */
const more = {
  "hiera-ls.nodesFiles": " [Create nodes.json…](command:hiera-ls.createNodes) shows where to get one.",
  "hiera-ls.roots": " [Choose hiera.yaml…](command:hiera-ls.chooseHierarchy) fills this in.",
  "hiera-ls.diagnostics.severity": " The rules are listed with **Add Item**.",
  "hiera-ls.codeLens.": " VS Code's own setting for all lenses is `#editor.codeLens#`.",
  "hiera-ls.inlayHints.": " VS Code's own settings for all hints are `#editor.inlayHints.enabled#` and `#editor.inlayHints.maximumLength#`.",
};

/** A setting as the settings editor has a form for it: an empty text or a first choice stands for null. */
export function form(name, property, rules) {
  const made = { ...property };
  const added = Object.entries(more).find(([start]) => name === start || (start.endsWith(".") && name.startsWith(start)));
  made.markdownDescription += added?.[1] ?? "";
  if (Array.isArray(made.type) && made.type.includes("null")) {
    const [type] = made.type.filter((one) => one !== "null");
    if (type === "string") {
      Object.assign(made, { type, default: made.default ?? "" });
    } else {
      delete made.type;
      Object.assign(made, { enum: [null, true, false], enumItemLabels: ["default", "on", "off"] });
    }
  } else if (made.enum?.includes(null)) {
    const choices = [null, ...made.enum.filter((one) => one !== null)];
    Object.assign(made, { enum: choices, enumItemLabels: choices.map((one) => one ?? "default") });
  }
  if (name === "hiera-ls.diagnostics.severity") {
    const severity = { type: "string", ...made.additionalProperties };
    const described = Object.entries(rules).map(([code, { description }]) => [code, { ...severity, description }]);
    Object.assign(made, { properties: Object.fromEntries(described), additionalProperties: false });
  }
  return made;
}

/** What the manifest must say, by the schema that the server prints. */
export function contributed(schema) {
  const rules = projectSchema().properties.diagnostics.properties.severity.properties;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [name, form(name, property, rules)]),
  );
  for (const name of Object.keys(own)) {
    if (name in properties) {
      throw new Error(`the server and the extension both have a setting '${name}'`);
    }
  }
  const restricted = Object.entries(properties)
    .filter(([, property]) => property.scope === "window")
    .map(([name]) => name);
  return { configuration: grouped({ ...properties, ...own }), restricted };
}

/** All settings by groups; one that no group names is an error. */
function grouped(properties) {
  const isOf = (name, starts) => starts.some((start) => name === start || (!/[a-z]$/.test(start) && name.startsWith(start)));
  const left = new Map(Object.entries(properties));
  const configuration = groups.map(([title, starts], order) => {
    const own = {};
    for (const [name, property] of left) {
      if (isOf(name.slice("hiera-ls.".length), starts)) {
        own[name] = { ...property, order: Object.keys(own).length };
        left.delete(name);
      }
    }
    return { title, order, properties: own };
  });
  if (left.size > 0) {
    throw new Error(`no group has the settings ${[...left.keys()].join(", ")}`);
  }
  return configuration;
}

/** The schema of .hiera-ls.yaml, which lists the rules. */
function projectSchema() {
  return JSON.parse(readFileSync(new URL("../schemas/hiera-ls.schema.json", import.meta.url), "utf8"));
}

export function serverSchema() {
  const server = process.env.HIERA_LS_SERVER || built;
  return JSON.parse(execFileSync(server, ["settings-schema"], { encoding: "utf8" }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(manifestPath, "utf8");
  const manifest = JSON.parse(before);
  const { configuration, restricted } = contributed(serverSchema());
  manifest.contributes.configuration = configuration;
  manifest.capabilities.untrustedWorkspaces.restrictedConfigurations = restricted;
  const after = `${JSON.stringify(manifest, null, 2)}\n`;
  if (!process.argv.includes("--check")) {
    writeFileSync(manifestPath, after);
  } else if (before !== after) {
    console.error("package.json differs from the server's settings: run `npm run settings`");
    process.exitCode = 1;
  }
}
