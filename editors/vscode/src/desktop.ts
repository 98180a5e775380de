/** The extension on a desktop, or on the machine of a remote workspace: the server is a program. */

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { begin } from "./extension";
import { candidates, find, page } from "./server";

export { deactivate } from "./extension";

export function activate(context: vscode.ExtensionContext): Promise<void> {
  return begin(context, {
    absent: {},
    hasTerminal: true,
    async reach({ extensionPath }, options, output) {
      const setting = vscode.workspace.getConfiguration("hiera-ls").get("server.path", "");
      const found = await find(candidates(setting, process.env, extensionPath, process.platform));
      if (Array.isArray(found)) {
        return found;
      }
      const { program, version, source } = found;
      output.info(`hiera-ls ${version}: ${program}, from ${source}`);
      const server = { command: program, args: ["--stdio"] };
      const client = new LanguageClient("hiera-ls", "Hiera", server, options);
      return { client, version, program, page: (code) => page(program, code) };
    },
  });
}
