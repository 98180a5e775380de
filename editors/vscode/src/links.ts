/** Places in the server's texts that a click leads to: `data/common.yaml:12` and `Path "/…"`. */

import { stat } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

/** So many different files are looked for in one text; what comes after has no links. */
const MAX_FILES = 1000;

const PLACE = /(?<!Original path: ")(?<![\w./@+-])((?:[\w.@+-]*\/)*[\w.@+-]+\.(?:e?ya?ml|json|conf)):(\d+)/g;
const PATH = /^\s*(?:Path|Using configuration|Data provider) "([^"]+)"/g;

/** The links of a document; `about` is the file that its question was about. */
export async function links(
  document: vscode.TextDocument,
  about: vscode.Uri | undefined,
): Promise<vscode.DocumentLink[]> {
  const bases = folders(about);
  const known = new Map<string, Promise<vscode.Uri | undefined>>();
  const target = (name: string): Promise<vscode.Uri | undefined> => {
    let found = known.get(name);
    if (found === undefined) {
      found = known.size < MAX_FILES ? file(name, bases) : Promise.resolve(undefined);
      known.set(name, found);
    }
    return found;
  };
  const wanted: Promise<vscode.DocumentLink | undefined>[] = [];
  for (let number = 0; number < document.lineCount; number += 1) {
    const { text } = document.lineAt(number);
    for (const found of [...text.matchAll(PLACE), ...text.matchAll(PATH)]) {
      const [whole, name = "", line] = found;
      const start = found.index + whole.indexOf(name);
      const end = start + name.length + (line === undefined ? 0 : line.length + 1);
      const range = new vscode.Range(number, start, number, end);
      wanted.push(
        target(name).then((uri) =>
          uri === undefined
            ? undefined
            : new vscode.DocumentLink(range, line === undefined ? uri : uri.with({ fragment: `L${line}` })),
        ),
      );
    }
  }
  return (await Promise.all(wanted)).filter((link) => link !== undefined);
}

/** Where relative paths may start: the folders around the question's file, and the workspace's. */
function folders(about: vscode.Uri | undefined): string[] {
  const workspace = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  if (about === undefined) {
    return workspace;
  }
  const top = vscode.workspace.getWorkspaceFolder(about)?.uri.fsPath;
  const around: string[] = [];
  for (let at = path.dirname(about.fsPath); ; at = path.dirname(at)) {
    around.push(at);
    if (top === undefined || at === top || at === path.dirname(at)) {
      break;
    }
  }
  // The outermost first: that is where the server's paths start.
  return [...around.reverse(), ...workspace];
}

async function file(name: string, bases: readonly string[]): Promise<vscode.Uri | undefined> {
  const candidates = path.isAbsolute(name) ? [name] : bases.map((base) => path.join(base, name));
  for (const candidate of candidates) {
    const found = await stat(candidate).catch(() => undefined);
    if (found?.isFile() === true) {
      return vscode.Uri.file(candidate);
    }
  }
  return undefined;
}
