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
  const { properties } = manifest.contributes.configuration;
  for (const name of ["server.path", "decrypt", "pkcs7PrivateKey", "pkcs7PublicKey", "globalHieraYaml"]) {
    assert.equal(properties[`hiera-ls.${name}`].scope, "machine", name);
  }
});

test("every contributed command is offered only while it works", () => {
  const guarded = manifest.contributes.menus.commandPalette.map(({ command }) => command);
  assert.deepEqual(manifest.contributes.commands.map(({ command }) => command), guarded);
  for (const { command, when } of manifest.contributes.menus.commandPalette) {
    if (when !== "hiera-ls.active") {
      const setting = command === "hiera.reveal" ? " && config.hiera-ls.decrypt" : "";
      assert.equal(when, `hiera-ls.announced.${command}${setting}`);
    }
  }
});
