// The settings that the extension contributes are the server's own.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { contributed, serverSchema } from "../scripts/settings.mjs";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

test("the manifest's settings are those of the server (else: npm run settings)", () => {
  const { configuration, restricted } = contributed(serverSchema());
  assert.deepEqual(manifest.contributes.configuration, configuration);
  assert.deepEqual(
    manifest.capabilities.untrustedWorkspaces.restrictedConfigurations,
    restricted,
  );
});

test("no workspace may name a program or a key", () => {
  const properties = Object.assign({}, ...manifest.contributes.configuration.map((group) => group.properties));
  for (const name of ["server.path", "decrypt", "pkcs7PrivateKey", "pkcs7PublicKey", "globalHieraYaml"]) {
    assert.equal(properties[`hiera-ls.${name}`].scope, "machine", name);
  }
});

test("every contributed command is offered only while it works", () => {
  const guarded = manifest.contributes.menus.commandPalette.map(({ command }) => command);
  assert.deepEqual(manifest.contributes.commands.map(({ command }) => command), guarded);
  const own = {
    "hiera-ls.matrixAsText": "hiera-ls.announced.hiera.matrix",
    "hiera.clearFacts": "hiera-ls.announced.hiera.clearFacts && hiera-ls.hasOverrides",
    // It needs a file of the explorer.
    "hiera-ls.useHierarchy": "false",
  };
  for (const { command, when } of manifest.contributes.menus.commandPalette) {
    if (when !== "hiera-ls.active") {
      const setting = command === "hiera.reveal" ? " && config.hiera-ls.decrypt" : "";
      assert.equal(when, own[command] ?? `hiera-ls.announced.${command}${setting}`);
    }
  }
});

test("every menu and every step of the walkthrough names commands that there are", () => {
  const known = manifest.contributes.commands.map(({ command }) => command);
  for (const [menu, items] of Object.entries(manifest.contributes.menus)) {
    for (const { command } of items) {
      assert.ok(command === undefined || known.includes(command), `${menu}: ${command}`);
    }
  }
  const [walkthrough] = manifest.contributes.walkthroughs;
  assert.equal(walkthrough.steps.length, 4);
  for (const { description, media } of walkthrough.steps) {
    for (const [, command] of description.matchAll(/\(command:([^)]+)\)/g)) {
      assert.ok(known.includes(command) || command.startsWith("workbench."), command);
    }
    assert.ok(media.altText.length > 10);
  }
});

test("all settings are in a group, and most are forms", () => {
  const groups = manifest.contributes.configuration;
  assert.ok(groups.length > 4);
  const json = [];
  for (const { title, properties } of groups) {
    assert.match(title, /^[A-Z]/);
    for (const [name, property] of Object.entries(properties)) {
      assert.ok(property.markdownDescription.length > 10, name);
      if (!isForm(property)) {
        json.push(name);
      }
    }
  }
  assert.deepEqual(json, ["nodes", "roots", "backends", "diagnostics.paths"].map((name) => `hiera-ls.${name}`));
});

/** Whether the settings editor of VS Code draws it, and has no more than a link to settings.json. */
function isForm({ type, items, properties, additionalProperties, enum: choices }) {
  const simple = ["string", "boolean", "integer", "number"];
  if (choices !== undefined || simple.includes(type)) {
    return true;
  }
  if (type === "array") {
    return items.type === "string";
  }
  const each = [...Object.values(properties ?? {}), ...(typeof additionalProperties === "object" ? [additionalProperties] : [])];
  return type === "object" && each.length > 0 && each.every((property) => simple.includes(property.type));
}
