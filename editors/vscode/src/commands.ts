/**
 * The server's commands in the editor.
 *
 * Which commands there are is the server's word (`executeCommandProvider.commands`); the language
 * client registers each. This module gives a command its argument, where the cursor is, and shows
 * what it answers. A command may answer with
 *
 * - nothing,
 * - `{ "language", "content", "uri"? }`: a text, shown read-only,
 * - `{ "message" }`: a sentence for the user,
 * - `{ "choose": { "title"?, "items": [{ "label", "description"?, "detail"?, "value" }] } }` or
 *   `{ "ask": { "title"?, "prompt"?, "value"? } }`: a question; the command is called again with
 *   what was chosen or typed added to its argument as `answers`, a list, oldest first.
 *
 * So a new command of the server needs no code here, only a title in `package.json`.
 */

import * as vscode from "vscode";
import type { ExecuteCommandSignature, LanguageClient } from "vscode-languageclient/node";

import { Documents, isDocument } from "./documents";

/** A command that asks more questions than this is broken. */
const MAX_QUESTIONS = 16;

interface Choice {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly value: unknown;
}

interface Answer {
  readonly message?: string;
  readonly choose?: { readonly title?: string; readonly items: readonly Choice[] };
  readonly ask?: { readonly title?: string; readonly prompt?: string; readonly value?: string };
}

/** Runs one of the server's commands as the user asked for it, to the end of its questions. */
export async function execute(
  client: LanguageClient,
  documents: Documents,
  command: string,
  given: unknown[],
  next: ExecuteCommandSignature,
): Promise<unknown> {
  // A code lens or action brings its arguments; from the palette there are none.
  if (given.length > 0) {
    return present(documents, command, await next(command, given));
  }
  const answers: unknown[] = [];
  for (let questions = 0; questions <= MAX_QUESTIONS; questions += 1) {
    const parameters = { ...place(client), ...(answers.length > 0 ? { answers } : {}) };
    const answer: unknown = await next(command, [parameters]);
    const reply = await question(answer);
    if (reply === undefined) {
      return present(documents, command, answer);
    }
    if (reply === DISMISSED) {
      return undefined;
    }
    answers.push(reply.value);
  }
  return undefined;
}

/** Where the user is: what most commands are about. */
function place(client: LanguageClient): object {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== "file") {
    return {};
  }
  const { document, selection } = editor;
  return client.code2ProtocolConverter.asTextDocumentPositionParams(document, selection.active);
}

const DISMISSED = Symbol("dismissed");

async function question(
  answer: unknown,
): Promise<{ value: unknown } | typeof DISMISSED | undefined> {
  const { choose, ask } = (answer ?? {}) as Answer;
  if (choose !== undefined) {
    const options = { matchOnDescription: true, matchOnDetail: true, title: choose.title ?? "Hiera" };
    const picked = await vscode.window.showQuickPick([...choose.items], options);
    return picked === undefined ? DISMISSED : { value: picked.value };
  }
  if (ask !== undefined) {
    const typed = await vscode.window.showInputBox(ask);
    return typed === undefined ? DISMISSED : { value: typed };
  }
  return undefined;
}

async function present(documents: Documents, command: string, answer: unknown): Promise<unknown> {
  if (isDocument(answer)) {
    await documents.show(command, answer);
  } else {
    const { message } = (answer ?? {}) as Answer;
    if (typeof message === "string") {
      void vscode.window.showInformationMessage(message);
    }
  }
  return answer;
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
