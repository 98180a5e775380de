/** Shows texts that the server has made, as documents that nobody can edit or has to save. */

import * as vscode from "vscode";

const SCHEME = "hiera-ls";

/** A text that a command of the server answered with. */
export interface ServerDocument {
  /** What the text is about, for the tab's title; any URI. */
  readonly uri?: string;
  readonly language: string;
  readonly content: string;
}

export function isDocument(answer: unknown): answer is ServerDocument {
  const document = answer as Partial<ServerDocument> | null | undefined;
  return typeof document?.content === "string" && typeof document.language === "string";
}

/** The read-only documents of one session of the editor. */
export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly contents = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: vscode.Disposable[];
  readonly onDidChange = this.changed.event;

  constructor() {
    this.registrations = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.contents.delete(document.uri.toString());
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string | undefined {
    return this.contents.get(uri.toString());
  }

  /** Opens the text beside the active editor; the same `uri` again replaces what it showed. */
  async show(command: string, answer: ServerDocument): Promise<void> {
    const named = answer.uri === undefined ? undefined : vscode.Uri.parse(answer.uri);
    const title = named === undefined ? command : decodeURIComponent(named.path);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: title.replace(/^\/*/, "/") });
    this.contents.set(uri.toString(), answer.content);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const languages = await vscode.languages.getLanguages();
    if (languages.includes(answer.language)) {
      await vscode.languages.setTextDocumentLanguage(document, answer.language);
    }
    await vscode.window.showTextDocument(document, {
      preview: true,
      preserveFocus: false,
      viewColumn: vscode.ViewColumn.Beside,
    });
  }

  dispose(): void {
    for (const registration of this.registrations) {
      registration.dispose();
    }
    this.changed.dispose();
  }
}
