/**
 * The server's commands in the editor.
 *
 * Which commands there are is the server's word (`executeCommandProvider.commands`); the language
 * client registers each. This module gives a command its argument, an object with `uri` and
 * `position` of the cursor and what the user is asked for, and shows what it answers:
 *
 * - nothing,
 * - `{ "language", "content", "uri"? }`: a text, shown read-only,
 * - `{ "message" }`: a sentence for the user.
 *
 * So a new command of the server needs no code here, only a title in `package.json`; unless it
 * wants to know more than a place: then it needs an entry in `QUESTIONS`.
 */

import * as vscode from "vscode";
import type { ExecuteCommandSignature, LanguageClient } from "vscode-languageclient/node";

import { Documents, isDocument } from "./documents";

/** The command that lists the known nodes; for pickers, not for people. */
const NODES = "hiera.nodes";

interface Nodes {
  readonly nodes: readonly string[];
  readonly selected: string | null;
}

type Arguments = Record<string, unknown>;

/** Asks the user for what a command wants to know beside a place; nothing when they give up. */
type Question = (place: Arguments, next: ExecuteCommandSignature) => Promise<Arguments | undefined>;

const QUESTIONS: Readonly<Record<string, Question>> = {
  "hiera.selectNode": async (place, next) => {
    const { nodes, selected } = (await next(NODES, [place])) as Nodes;
    const current = (certname: string | null) =>
      certname === selected ? { description: "selected" } : {};
    const items: (vscode.QuickPickItem & { certname: string | null })[] = [
      { label: "All nodes", certname: null, ...current(null) },
      ...nodes.map((certname) => ({ label: certname, certname, ...current(certname) })),
    ];
    const placeHolder = nodes.length === 0 ? "No nodes are known: see the setting 'hiera-ls.nodesFiles'" : "Answer for";
    const picked = await vscode.window.showQuickPick(items, { title: "Hiera: Select Node", placeHolder });
    return picked === undefined ? undefined : { ...place, certname: picked.certname };
  },
  "hiera.setFact": async (place) => {
    const title = "Hiera: What If a Fact Were Different";
    const path = await vscode.window.showInputBox({ title, prompt: "The fact, such as os.family" });
    if (path === undefined || path === "") {
      return undefined;
    }
    const prompt = `The value of ${path}, as JSON or plain text; empty takes it back`;
    const typed = await vscode.window.showInputBox({ title, prompt });
    return typed === undefined ? undefined : { ...place, path, value: value(typed) };
  },
};

/** What somebody typed as a value: JSON where it is some, else text; null for nothing. */
function value(typed: string): unknown {
  if (typed.trim() === "") {
    return null;
  }
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}

/** Runs one of the server's commands as the user asked for it; returns what it answered. */
export async function execute(
  client: LanguageClient,
  documents: Documents,
  onNode: (certname: string | null) => void,
  command: string,
  given: readonly unknown[],
  next: ExecuteCommandSignature,
): Promise<unknown> {
  let argument = given[0] as Arguments | undefined;
  if (argument === undefined) {
    // A code lens or action brings its arguments; from the palette there are none.
    const place = placeOfCursor(client);
    const question = QUESTIONS[command];
    argument = question === undefined ? place : await question(place, next);
    if (argument === undefined) {
      return undefined;
    }
  }
  const answer: unknown = await next(command, [argument]);
  if (command === "hiera.selectNode") {
    onNode((argument["certname"] as string | null | undefined) ?? null);
  }
  if (isDocument(answer)) {
    await documents.show(command, answer);
  } else {
    const { message } = (answer ?? {}) as { message?: string };
    if (typeof message === "string") {
      void vscode.window.showInformationMessage(message);
    }
  }
  return answer;
}

/** Where the user is: what most commands are about. */
function placeOfCursor(client: LanguageClient): Arguments {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") {
    return {};
  }
  const { document, selection } = editor;
  const converter = client.code2ProtocolConverter;
  return { uri: converter.asUri(document.uri), position: converter.asPosition(selection.active) };
}

/**
 * Tells the command palette which commands the server announces, one context key each, and takes
 * back those of an earlier server. Returns the announced ones.
 */
export async function announce(
  commands: readonly string[],
  earlier: readonly string[],
): Promise<readonly string[]> {
  for (const command of earlier) {
    await vscode.commands.executeCommand("setContext", `hiera-ls.announced.${command}`, undefined);
  }
  for (const command of commands) {
    await vscode.commands.executeCommand("setContext", `hiera-ls.announced.${command}`, true);
  }
  return commands;
}
