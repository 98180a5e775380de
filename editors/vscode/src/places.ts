/**
 * The files that the server sees as its disk. On a desktop they are the disk; in a browser they are those of one file
 * system of the editor, such as a repository on a forge, and the server knows them by their paths.
 */

import * as vscode from "vscode";

/** The file system in place of the disk; none on a desktop. */
let virtual: vscode.Uri | undefined;

/** Serves the file system of a folder in place of the disk. */
export function serve(folder: vscode.Uri): void {
  virtual = folder;
}

/** The scheme of the files that are served. */
export function scheme(): string {
  return virtual?.scheme ?? "file";
}

/** Whether the server can know a file. */
export function isServed(uri: vscode.Uri): boolean {
  return uri.scheme === scheme() && (virtual === undefined || uri.authority === virtual.authority);
}

/** A file as the server names it. */
export function toServer(uri: vscode.Uri): string {
  return (virtual !== undefined && isServed(uri) ? vscode.Uri.from({ scheme: "file", path: uri.path }) : uri).toString();
}

/** A file that the server names. */
export function ofServer(uri: string): vscode.Uri {
  const named = vscode.Uri.parse(uri);
  return named.scheme === "file" && virtual !== undefined ? virtual.with({ path: named.path, fragment: named.fragment }) : named;
}

/** A text in Markdown with its links to files. */
export function linked(text: string): string {
  const link = /\]\((file:\/\/\/[^)\s]*)\)/g;
  return virtual === undefined ? text : text.replace(link, (_, uri: string) => `](${ofServer(uri).toString()})`);
}

/** A path that the server writes in its texts. */
export function ofPath(path: string): vscode.Uri {
  return virtual === undefined ? vscode.Uri.file(path) : virtual.with({ path });
}
