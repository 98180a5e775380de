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

/** What the manifest must say, by the schema that the server prints. */
export function contributed(schema) {
  const properties = { ...schema.properties };
  for (const name of Object.keys(own)) {
    if (name in properties) {
      throw new Error(`the server and the extension both have a setting '${name}'`);
    }
  }
  const restricted = Object.entries(properties)
    .filter(([, property]) => property.scope === "window")
    .map(([name]) => name);
  return { configuration: { title: schema.title, properties: { ...properties, ...own } }, restricted };
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
