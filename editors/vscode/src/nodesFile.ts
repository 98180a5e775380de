/** Ways to a file of nodes: recipes to paste into a terminal, and a file that is begun by hand. */

import * as vscode from "vscode";

import { type Choices, draft, type Facts, type Recipe } from "./choices";

/** The name under which a file of nodes is found without a setting. */
const NAME = "nodes.json";

/** Shows how to get a file of nodes, or begins one. */
export async function createNodes(recipes: readonly Recipe[], choices: Choices, facts: Facts, hasTerminal: boolean): Promise<void> {
  type Item = vscode.QuickPickItem & { readonly recipe?: Recipe };
  const items: Item[] = recipes.map((recipe) => ({
    label: `$(terminal) ${recipe.title}`,
    detail: recipe.detail,
    recipe,
  }));
  items.push({
    label: "$(edit) written by hand",
    detail: "a new file with the names that are known and the variables that the hierarchy uses",
  });
  const picked = await vscode.window.showQuickPick(items, {
    title: `Hiera: Create ${NAME}`,
    placeHolder: "Where do the facts of your nodes come from?",
    matchOnDetail: true,
  });
  if (picked === undefined) {
    return;
  }
  if (picked.recipe !== undefined) {
    await offer(picked.recipe, hasTerminal);
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: "json", content: draft(choices, facts) });
  await vscode.window.showTextDocument(document);
  void vscode.window.showInformationMessage(`Hiera: fill it in, and save it as ${NAME} beside hiera.yaml`);
}

/** Shows a command, to be copied or put into a terminal; it is never run from here. */
async function offer({ title, detail, command }: Recipe, hasTerminal: boolean): Promise<void> {
  const content = `# A file of nodes ${title}: ${detail}.\n# Facts can hold what should not be published: think of .gitignore.\n${command}\n`;
  const document = await vscode.workspace.openTextDocument({ language: "shellscript", content });
  await vscode.window.showTextDocument(document);
  const message = hasTerminal
    ? "Hiera: run the command yourself; the extension does not run it"
    : "Hiera: run the command where there is a terminal; a browser has none";
  const ways = hasTerminal ? ["Copy", "Put into a Terminal"] : ["Copy"];
  const chosen = await vscode.window.showInformationMessage(message, ...ways);
  if (chosen === "Copy") {
    await vscode.env.clipboard.writeText(command);
  } else if (chosen !== undefined) {
    const terminal = vscode.window.createTerminal({ name: "Hiera" });
    terminal.show();
    terminal.sendText(command, false);
  }
}

/** The name with which the server's command line begins. */
const PROGRAM = "hiera-ls";

/** Lets the user complete the command that imports nodes, and runs it in a terminal. */
export async function importNodes(command: string, program = PROGRAM): Promise<void> {
  const line = await vscode.window.showInputBox({
    title: "Hiera: Import Nodes",
    prompt: "Runs in a terminal. Without --puppetdb the address is that in puppetdb.conf; a folder of a classifier's output can be added",
    value: command,
    valueSelection: [command.length, command.length],
    ignoreFocusOut: true,
  });
  if (line === undefined) {
    return;
  }
  const own = program.includes(" ") ? `"${program}"` : program;
  const terminal = vscode.window.createTerminal({ name: "Hiera" });
  terminal.show();
  terminal.sendText(line.startsWith(`${PROGRAM} `) ? `${own}${line.slice(PROGRAM.length)}` : line, true);
}
