/** Which `hiera.yaml` answers: the picker that chooses one, and the setting that keeps the choice. */

import * as vscode from "vscode";

/** The command that lists the configurations there are; for pickers, not for people. */
export const HIERARCHIES = "hiera.hierarchies";

/** What `hiera.hierarchies` answers, as docs/lsp-commands.md has it. */
export interface Hierarchies {
  /** The configuration that answers for the file; null where none does. */
  readonly hierarchy: string | null;
  readonly hierarchies: readonly Configuration[];
}

interface Configuration {
  readonly uri: string;
  /** The folder that it serves. */
  readonly folder: string;
  /** Nothing where Puppet refuses it. */
  readonly version: number | null;
  /** How many files of data it can read. */
  readonly files: number;
  /** Whether it can read the file that was asked for; null where none was. */
  readonly reads: boolean | null;
  readonly used: boolean;
  readonly why: string;
}

type Item = vscode.QuickPickItem & { readonly root?: unknown; readonly isFile?: true };

const SECTION = "hiera-ls";
const TITLE = "Hiera: Choose hiera.yaml";

/**
 * Lets the user choose a configuration, and keeps the choice in the settings of the workspace folder. True
 * if the settings were changed.
 */
export async function chooseHierarchy(known: Hierarchies, about: vscode.Uri | undefined): Promise<boolean> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = (about && vscode.workspace.getWorkspaceFolder(about)) ?? folders[0];
  if (folder === undefined) {
    void vscode.window.showInformationMessage("Hiera: open the folder of the control repository first");
    return false;
  }
  const picked = await vscode.window.showQuickPick(items(known, folder), {
    title: TITLE,
    placeHolder: "Kept in the setting 'hiera-ls.roots' of this workspace",
    matchOnDescription: true,
  });
  const root = picked?.isFile === true ? await pickFile(folder) : picked?.root;
  if (picked === undefined || (picked.isFile === true && root === undefined)) {
    return false;
  }
  await keep(root, folder);
  return true;
}

/** Lets a file answer, and keeps that in the settings of its workspace folder. True if the settings were changed. */
export async function keepHierarchy(known: Hierarchies, file: vscode.Uri): Promise<boolean> {
  const folder = vscode.workspace.getWorkspaceFolder(file);
  if (folder === undefined) {
    return false;
  }
  const found = items(known, folder).find(({ root }) => isOf(root, relative(file.toString(), folder)));
  await keep(found?.root ?? relative(file.toString(), folder), folder);
  return true;
}

function isOf(root: unknown, file: string | undefined): boolean {
  return typeof root === "object" && root !== null && (root as { hierarchy?: unknown }).hierarchy === file;
}

async function keep(root: unknown, folder: vscode.WorkspaceFolder): Promise<void> {
  const several = (vscode.workspace.workspaceFolders ?? []).length > 1;
  const target = several ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace;
  const settings = vscode.workspace.getConfiguration(SECTION, folder);
  await settings.update("roots", root === undefined ? undefined : [root], target);
}

function items(known: Hierarchies, folder: vscode.WorkspaceFolder): Item[] {
  const configurations = known.hierarchies.flatMap((one): Item[] => {
    const file = relative(one.uri, folder);
    const serves = relative(one.folder, folder);
    if (file === undefined || serves === undefined) {
      return [];
    }
    const words = [
      ...(one.uri === known.hierarchy ? ["in use"] : one.used ? ["in use for other files"] : []),
      ...(one.version === null ? ["Puppet refuses it"] : [`version ${one.version}`, `${one.files} files`]),
    ];
    const root = { hierarchy: file, folder: serves };
    return [{ label: file, description: words.join(" · "), detail: one.why, root }];
  });
  return [
    { label: "Automatic", description: "those that read most data files" },
    ...configurations,
    { label: "Another file…", isFile: true },
  ];
}

/** A file of the workspace; the folder that it serves is found from it. */
async function pickFile(folder: vscode.WorkspaceFolder): Promise<string | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: TITLE,
      defaultUri: folder.uri,
      filters: { "hiera.yaml": ["yaml", "yml", "erb", "epp"] },
    })) ?? [];
  if (file === undefined) {
    return undefined;
  }
  const chosen = relative(file.toString(), folder);
  if (chosen === undefined) {
    void vscode.window.showWarningMessage(
      `Hiera: ${file.fsPath} is outside of ${folder.name}: name it in the user setting 'hiera-ls.roots'`,
    );
  }
  return chosen;
}

/** A path from the folder of the workspace; nothing for one outside of it. */
function relative(uri: string, folder: vscode.WorkspaceFolder): string | undefined {
  const { path } = vscode.Uri.parse(uri);
  const base = folder.uri.path.replace(/\/$/, "");
  if (path === base || path === `${base}/`) {
    return ".";
  }
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined;
}
