/**
 * The server's commands in the editor, as docs/lsp-commands.md describes them.
 *
 * Which commands there are is the server's word (`executeCommandProvider.commands`); the language
 * client registers each. This module gives a command its argument, shows what it answers (a
 * document or a sentence), shows how far a long one is and lets the user end it. So a new command
 * of the server needs no code here, only a title in `package.json`; unless it wants to know more
 * than a place: then it needs a question.
 */

import * as vscode from "vscode";
import {
  ExecuteCommandRequest,
  type BaseLanguageClient,
  LSPErrorCodes,
  ResponseError,
  Trace,
  WorkDoneProgress,
} from "vscode-languageclient";

import { type Choices, type Facts, FACTS, NODES, type Recipe, RECIPES } from "./choices";
import { type Documents, isDocument, type ServerDocument } from "./documents";
import { HIERARCHIES, type Hierarchies } from "./hierarchies";
import { matrixOf, type Reply } from "./matrixModel";
import type { MatrixViews } from "./matrixView";
import { isServed, ofPath } from "./places";
import { type Arguments, keyByName, type Proposal, pickProposal, question } from "./questions";

/** Where the extension's settings are. */
const SECTION = "hiera-ls";

/** A command that takes longer (milliseconds) shows how far it is. */
const PATIENCE = 500;

/** JSON-RPC's code for an argument that is missing or wrong. */
const INVALID_PARAMS = -32602;

/** Commands that are about one key. */
const ABOUT_A_KEY = ["hiera.explain", "hiera.matrix", "hiera.setValue", "hiera.uses", "hiera.value", "hiera.whyNot"];

/** Commands that change what answers are for. */
const CHOOSING = ["hiera.selectNode", "hiera.setFact", "hiera.clearFacts"];

/** The command whose answer is a table. */
export const MATRIX = "hiera.matrix";

/** The command whose answer is a comparison. */
const DIFF = "hiera.diff";

/** The command whose answer is a choice of edits. */
const SET_VALUE = "hiera.setValue";

/** What is asked for beside a text, by command. */
const MORE: Readonly<Record<string, Arguments>> = {
  [MATRIX]: { data: true, values: true },
  [DIFF]: { sides: true },
};

/** Commands whose answers hold secrets. */
const SECRET = ["hiera.reveal"];

/** Progress tokens are told apart by a number. */
const TOKEN = "hiera-ls-command-";
let tokens = 0;

/** Whether progress is that of a command, and not of the reading of files. */
export function isOfCommand(token: number | string): boolean {
  return String(token).startsWith(TOKEN);
}

/** The commands of one server. */
export class Commands {
  constructor(
    private readonly client: BaseLanguageClient,
    private readonly documents: Documents,
    private readonly matrices: MatrixViews,
    /** Hears what answers are for, whenever that may have changed. */
    private readonly onChoices: (choices: Choices) => void,
  ) {}

  /** Runs a command as the user asked for it: `given` from a lens, nothing from the palette. */
  async execute(command: string, given?: Arguments, asText = false): Promise<unknown> {
    const argument = given ?? (await this.argument(command));
    if (argument === undefined) {
      return undefined;
    }
    const answer = await this.ask(command, asText ? argument : { ...argument, ...MORE[command] });
    if (answer === undefined) {
      return undefined;
    }
    if (CHOOSING.includes(command)) {
      await this.refresh(argument);
    }
    await this.show(command, argument, answer);
    return answer;
  }

  /** Asks what answers are for at a place, and tells it on. */
  async refresh(place: Arguments = this.place()): Promise<void> {
    const { uri } = place;
    this.onChoices(await this.choices(uri === undefined ? {} : { uri }));
  }

  /** The configurations there are, and which of them answers for a file. */
  async hierarchies(about: vscode.Uri | undefined): Promise<Hierarchies> {
    const uri = about && this.client.code2ProtocolConverter.asUri(about);
    return (await this.request(HIERARCHIES, uri === undefined ? {} : { uri })) as Hierarchies;
  }

  /** What a file of nodes is made from where the user is. */
  async nodesFile(): Promise<{ recipes: readonly Recipe[]; import?: string; choices: Choices; facts: Facts }> {
    const place = this.place();
    const answer = (await this.request(RECIPES, place)) as { recipes: readonly Recipe[]; import?: string };
    return { ...answer, choices: await this.choices(place), facts: await this.facts(place) };
  }

  private async argument(command: string): Promise<Arguments | undefined> {
    const place = this.place();
    const asking = question(command);
    if (asking !== undefined) {
      return asking(place, {
        nodes: (at) => this.choices({ ...at, details: true }),
        facts: (at) => this.facts(at),
      });
    }
    return ABOUT_A_KEY.includes(command) && !("uri" in place) ? keyByName(place) : place;
  }

  private async facts(place: Arguments): Promise<Facts> {
    return (await this.request(FACTS, place)) as Facts;
  }

  private async choices(place: Arguments): Promise<Choices> {
    return (await this.request(NODES, place)) as Choices;
  }

  /** The answer; nothing if there is none to show, since the user has been told why. */
  private async ask(command: string, argument: Arguments): Promise<unknown> {
    const ask = () => this.patiently(command, argument);
    try {
      return (await (SECRET.includes(command) ? this.untraced(ask) : ask())) ?? null;
    } catch (error) {
      if (!(error instanceof ResponseError)) {
        throw error;
      }
      const { code } = error;
      if (code === LSPErrorCodes.RequestCancelled) {
        return undefined;
      }
      const isAboutKey = code === INVALID_PARAMS && ABOUT_A_KEY.includes(command);
      const offers = isAboutKey && !("key" in argument) ? ["Type a Key…"] : [];
      void this.complain(command, argument, error.message, offers);
      return undefined;
    }
  }

  private async complain(command: string, place: Arguments, why: string, offers: string[]): Promise<void> {
    if ((await vscode.window.showWarningMessage(`Hiera: ${why}`, ...offers)) === undefined) {
      return;
    }
    const named = await keyByName(place);
    if (named !== undefined) {
      await this.execute(command, named);
    }
  }

  private async show(command: string, argument: Arguments, answer: unknown): Promise<void> {
    if (command === SET_VALUE && (await this.choose((answer as { proposals: readonly Proposal[] }).proposals))) {
      return;
    }
    if (isDocument(answer)) {
      const { uri } = argument;
      const about = typeof uri === "string" ? this.client.protocol2CodeConverter.asUri(uri) : undefined;
      if (command === DIFF && answer.sides?.length === 2) {
        await this.documents.compare(answer, about);
      } else if (command !== MATRIX || !(await this.showMatrix(argument, answer, about))) {
        await this.documents.show(command, answer, about);
      }
      return;
    }
    const { message } = (answer ?? {}) as { message?: unknown };
    if (typeof message === "string") {
      void vscode.window.showInformationMessage(`Hiera: ${message}`);
    }
  }

  /** Lets the user choose an edit, which the editor shows before it makes it; false where there is none. */
  private async choose(proposals: readonly Proposal[]): Promise<boolean> {
    const proposal = await pickProposal(proposals);
    if (proposal?.edit === null) {
      const { title, diff } = proposal;
      await this.documents.show(SET_VALUE, { title, language: "diff", content: diff }, undefined);
    } else if (proposal !== undefined) {
      const edit = await this.client.protocol2CodeConverter.asWorkspaceEdit(proposal.edit);
      await vscode.workspace.applyEdit(edit);
    }
    return proposals.length > 0;
  }

  /** Shows a matrix as a table; false where the answer has no data for one. */
  private async showMatrix(argument: Arguments, answer: ServerDocument, about: vscode.Uri | undefined): Promise<boolean> {
    const { selected, facts } = await this.choices(typeof argument["uri"] === "string" ? { uri: argument["uri"] } : {});
    const name = (file: string) => vscode.workspace.asRelativePath(ofPath(file));
    const matrix = matrixOf(answer as ServerDocument & Reply, name, { selected, facts: facts ?? {} });
    if (matrix === undefined) {
      return false;
    }
    this.matrices.show(matrix, () => void this.documents.show(MATRIX, answer, about));
    return true;
  }

  /** Keeps an answer out of the log, however much of the conversation is written there. */
  private async untraced(ask: () => Promise<unknown>): Promise<unknown> {
    if (this.client.traceOutputChannel.logLevel !== vscode.LogLevel.Trace) {
      return ask();
    }
    await this.client.setTrace(Trace.Off);
    try {
      return await ask();
    } finally {
      const wanted = vscode.workspace.getConfiguration(SECTION).get<string>("trace.server");
      await this.client.setTrace(wanted === "verbose" ? Trace.Verbose : Trace.Messages);
    }
  }

  /** A request that the user can watch and end once it takes long. */
  private async patiently(command: string, argument: Arguments): Promise<unknown> {
    const source = new vscode.CancellationTokenSource();
    const token = `${TOKEN}${(tokens += 1)}`;
    let said: (words: { message?: string; increment?: number }) => void = () => undefined;
    let title = "Hiera";
    let percentage = 0;
    const watching = this.client.onProgress(WorkDoneProgress.type, token, (progress) => {
      if (progress.kind === "begin") {
        title = progress.title;
      } else if (progress.kind === "report") {
        const increment = Math.max(0, (progress.percentage ?? percentage) - percentage);
        percentage += increment;
        said({ increment, ...(progress.message === undefined ? {} : { message: progress.message }) });
      }
    });
    const answer = this.request(command, argument, token, source.token);
    const settled = answer.then(
      () => undefined,
      () => undefined,
    );
    const timer = setTimeout(() => {
      const options = {
        location: vscode.ProgressLocation.Notification,
        title,
        cancellable: true,
      };
      void vscode.window.withProgress(options, async (progress, cancelled) => {
        cancelled.onCancellationRequested(() => {
          source.cancel();
        });
        said = (words) => {
          progress.report(words);
        };
        await settled;
      });
    }, PATIENCE);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      watching.dispose();
      source.dispose();
    }
  }

  private request(
    command: string,
    argument: Arguments,
    workDoneToken?: string,
    cancelled?: vscode.CancellationToken,
  ): Promise<unknown> {
    const parameters = {
      command,
      arguments: [argument],
      ...(workDoneToken === undefined ? {} : { workDoneToken }),
    };
    return this.client.sendRequest(ExecuteCommandRequest.type, parameters, cancelled);
  }

  /** Where the user is: what most commands are about. */
  private place(): Arguments {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || !isServed(editor.document.uri)) {
      return {};
    }
    const { document, selection } = editor;
    const converter = this.client.code2ProtocolConverter;
    return { uri: converter.asUri(document.uri), position: converter.asPosition(selection.active) };
  }
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
