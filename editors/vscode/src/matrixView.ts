/** The matrix of a key beside the editor: a page of its own, one for each key. */

import * as vscode from "vscode";

import type { Matrix } from "./matrixModel";
import { ofPath } from "./places";

const TYPE = "hiera-ls.matrix";

interface Shown {
  readonly panel: vscode.WebviewPanel;
  matrix: Matrix;
  openText: () => void;
}

/** What the page says. */
interface Message {
  readonly ready?: boolean;
  readonly text?: boolean;
  readonly open?: { readonly file: string; readonly line: number };
}

/** The pages of one session of the editor. */
export class MatrixViews implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();

  constructor(private readonly extension: vscode.Uri) {}

  /** Shows a matrix; the same key again replaces what its page shows. `openText` shows it as a text. */
  show(matrix: Matrix, openText: () => void): void {
    const known = this.shown.get(matrix.key);
    if (known !== undefined) {
      known.matrix = matrix;
      known.openText = openText;
      void known.panel.webview.postMessage({ matrix });
      known.panel.reveal(undefined, false);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      TYPE,
      `Values of ${matrix.key}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false },
      // The page is whole: it loads nothing.
      { enableScripts: true, enableFindWidget: true, localResourceRoots: [] },
    );
    const page: Shown = { panel, matrix, openText };
    this.shown.set(matrix.key, page);
    panel.onDidDispose(() => this.shown.delete(matrix.key));
    panel.webview.onDidReceiveMessage(async (message: Message) => {
      if (message.ready === true) {
        await panel.webview.postMessage({ matrix: page.matrix });
      } else if (message.text === true) {
        page.openText();
      } else if (message.open !== undefined) {
        await open(message.open, page.matrix);
      }
    });
    void this.html().then((html) => {
      panel.webview.html = html;
    });
  }

  dispose(): void {
    for (const { panel } of [...this.shown.values()]) {
      panel.dispose();
    }
  }

  private async html(): Promise<string> {
    const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
    const read = async (name: string) => {
      const file = vscode.Uri.joinPath(this.extension, "dist", name);
      return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    };
    return page(nonce, await read("matrix.css"), await read("matrix.js"));
  }
}

/** Opens a line that the matrix names, and no other file. */
async function open({ file, line }: { file: string; line: number }, matrix: Matrix): Promise<void> {
  const sources = matrix.answers.flatMap((answer) => answer.sources);
  if (!sources.some((source) => source.file === file && source.line === line)) {
    return;
  }
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(ofPath(file), {
    viewColumn: vscode.ViewColumn.One,
    selection: new vscode.Range(at, at),
  });
}

function page(nonce: string, style: string, script: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Matrix</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<header>
<h1 id="key"></h1>
<p id="summary"></p>
<p id="hypothetical" hidden></p>
<div class="tools">
<input type="search" id="filter" placeholder="Filter nodes, values and files" aria-label="Filter nodes, values and files" aria-controls="table">
<fieldset id="grouping"><legend>A row for each</legend>
<label><input type="radio" name="grouping" value="answers"> value</label>
<label><input type="radio" name="grouping" value="nodes"> node</label>
</fieldset>
<button type="button" class="action" id="text">Open as Text</button>
<span id="left" role="status"></span>
</div>
</header>
<main>
<table id="table">
<caption>The values of the key, the nodes that get each, and the lines that they come from</caption>
<thead><tr id="head"></tr></thead>
<tbody id="rows"></tbody>
</table>
<p id="empty" hidden>Nothing matches the filter.</p>
<p id="more" hidden></p>
</main>
<script nonce="${nonce}">${script}</script>
</body>
</html>`;
}
