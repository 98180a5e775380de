/** Places in the server's texts that a click leads to: `data/common.yaml:12` and `Path "/…"`. */

import * as vscode from "vscode";

import { ofPath } from "./places";

/** So many different files are looked for in one text; what comes after has no links. */
const MAX_FILES = 1000;

const PLACE = /(?<!Original path: ")(?<![\w./@+-])((?:[\w.@+-]*\/)*[\w.@+-]+\.(?:e?ya?ml|json|conf)):(\d+)/g;
/** A path from the root, also on Windows. */
const ABSOLUTE = /^([\\/]|[A-Za-z]:)/;

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
function folders(about: vscode.Uri | undefined): vscode.Uri[] {
  const workspace = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri);
  if (about === undefined) {
    return workspace;
  }
  const top = vscode.workspace.getWorkspaceFolder(about)?.uri.path.replace(/(?<=.)\/$/, "");
  const above = (at: vscode.Uri) => vscode.Uri.joinPath(at, "..");
  const around: vscode.Uri[] = [];
  for (let at = above(about); ; at = above(at)) {
    around.push(at);
    if (top === undefined || at.path === top || at.path === above(at).path) {
      break;
    }
  }
  // The outermost first: that is where the server's paths start.
  return [...around.reverse(), ...workspace];
}

async function file(name: string, bases: readonly vscode.Uri[]): Promise<vscode.Uri | undefined> {
  const candidates = ABSOLUTE.test(name) ? [ofPath(name)] : bases.map((base) => vscode.Uri.joinPath(base, name));
  for (const candidate of candidates) {
    try {
      const { type } = await vscode.workspace.fs.stat(candidate);
      if ((type & vscode.FileType.File) !== 0) {
        return candidate;
      }
    } catch {
      // It is not there.
    }
  }
  return undefined;
}
