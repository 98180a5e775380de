/** The extension in a browser: the server is a WebAssembly module in a worker, and reads through the editor. */

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/browser";

import { begin } from "./extension";
import { type Wanted, handOver } from "./files";
import { ofServer, serve, toServer } from "./places";
import type { Platform } from "./platform";

export { deactivate } from "./extension";

/** What cannot be done here. */
const ABSENT = {
  "hiera.reveal": "encrypted values are not shown in a browser: the keys would be read from a disk",
};

/** The same in the log, with what no command stands for. */
const NOTES = [
  ABSENT["hiera.reveal"],
  "nodes are not imported from PuppetDB in a browser: 'hiera-ls nodes import' needs the command line",
  "files outside of the workspace are not read in a browser: there is no disk",
  "edits are not compared with revisions in a browser: 'hiera-ls diff --against' needs the repository on a disk",
  "the selected node is not remembered in a browser: there is no folder for it",
];

const platform: Platform = {
  absent: ABSENT,
  hasTerminal: false,
  async reach({ extensionUri, extension }, options, output) {
    const file = vscode.Uri.joinPath(extensionUri, "dist/hiera-ls.wasm");
    const bytes = await vscode.workspace.fs.readFile(file).then(
      (read) => read,
      () => undefined,
    );
    if (bytes === undefined) {
      return ["this package of the extension has no server for a browser: the one for the web has"];
    }
    const worker = new Worker(vscode.Uri.joinPath(extensionUri, "dist/worker.js").toString(true));
    // A copy: the editor may have other things in the same memory.
    const module = bytes.slice();
    worker.postMessage({ module }, [module.buffer]);
    const client = new LanguageClient("hiera-ls", "Hiera", worker, {
      ...options,
      uriConverters: { code2Protocol: toServer, protocol2Code: ofServer },
    });
    client.onRequest("hiera-ls/files", (wanted: Wanted) =>
      handOver(wanted, (words) => {
        output.warn(words);
      }),
    );
    for (const note of NOTES) {
      output.info(note);
    }
    return {
      client,
      version: (extension.packageJSON as { version: string }).version,
      page: (code) => client.sendRequest<string>("hiera-ls/page", { code }),
      onDeath: (heard) => {
        worker.addEventListener("error", (event) => {
          heard(event.message);
        });
      },
      dispose: () => {
        worker.terminate();
      },
    };
  },
};

export function activate(context: vscode.ExtensionContext): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder !== undefined) {
    serve(folder.uri);
  }
  return begin(context, platform);
}
