/** Hands files of the workspace over to a server that has no disk. Which ones is the server's word. */

import * as vscode from "vscode";

import { ofServer } from "./places";

/** So many files are read at the same time. */
const TOGETHER = 50;

/** So often a file is tried that is there and cannot be read: it may be on another machine. */
const TRIES = 3;

/** Hears what could not be read. */
export type Complain = (words: string) => void;

/** What the server wants, as URIs. */
export interface Wanted {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** Files with more bytes are not handed over. */
  readonly largest: number;
}

/** A file: its text, its bytes if it is not UTF-8, or its size if it is too large. */
type Content = { readonly text: string } | { readonly base64: string } | { readonly size: number };

export async function handOver({ folders, files, largest }: Wanted, complain: Complain): Promise<unknown> {
  return {
    folders: await together(folders, complain, async (uri) => {
      const entries = await vscode.workspace.fs.readDirectory(inside(uri));
      return entries.map(([name, type]) => [name, (type & vscode.FileType.Directory) !== 0]);
    }),
    files: await together(files, complain, async (uri) => content(await vscode.workspace.fs.readFile(inside(uri)), largest)),
  };
}

async function patiently<T>(uri: string, complain: Complain, ask: (uri: string) => Promise<T>): Promise<T | null> {
  let why: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return await ask(uri);
    } catch (error) {
      if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") {
        return null;
      }
      why = error;
    }
  }
  complain(`${uri} is not read: ${String(why)}`);
  return null;
}

/** The address of what is in the workspace; nothing else is handed over. */
function inside(uri: string): vscode.Uri {
  const named = ofServer(uri);
  if (vscode.workspace.getWorkspaceFolder(named) === undefined) {
    throw new Error(`${uri} is outside of the workspace`);
  }
  return named;
}

function content(bytes: Uint8Array, largest: number): Content {
  if (bytes.length > largest) {
    return { size: bytes.length };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { base64: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")) };
  }
}

/** Asks for each, a few at the same time; null for what is not there. */
async function together<T>(
  uris: readonly string[],
  complain: Complain,
  ask: (uri: string) => Promise<T>,
): Promise<(T | null)[]> {
  const answers: (T | null)[] = [];
  for (let at = 0; at < uris.length; at += TOGETHER) {
    const some = uris.slice(at, at + TOGETHER);
    answers.push(...(await Promise.all(some.map((uri) => patiently(uri, complain, ask)))));
  }
  return answers;
}
