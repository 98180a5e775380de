/** Shows texts from the server as read-only documents that need no saving. */

import * as vscode from "vscode";

import { links } from "./links";

const SCHEME = "hiera-ls";

/** How the server names a language for which editors have nothing better than plain text. */
const PLAIN = "text";

/** The extension's own colours for such texts. */
const REPORT = "hiera-report";

/** The address of a rule's page, which a diagnostic's code links to. */
const RULE_PAGE = /^\/rules\/([a-z0-9-]+)\.md$/;

/** For a secret: nothing colours it, and nothing looks for places in it. */
const PLAIN_TEXT = "plaintext";

/** A text that a command of the server answered with. */
export interface ServerDocument {
  /** For people. */
  readonly title?: string;
  /** The same question again has the same. */
  readonly uri?: string | undefined;
  readonly language: string;
  readonly content: string;
  /** The content is a secret. */
  readonly secret?: boolean;
  /** The two sides of a comparison, where they were asked for. */
  readonly sides?: readonly ServerDocument[];
}

interface Shown {
  readonly content: string;
  readonly isSecret: boolean;
  /** The file that the question was about. */
  readonly about: vscode.Uri | undefined;
}

export function isDocument(answer: unknown): answer is ServerDocument {
  const document = answer as Partial<ServerDocument> | null | undefined;
  return typeof document?.content === "string" && typeof document.language === "string";
}

/** The read-only documents of one session of the editor. */
export class Documents
  implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.Disposable
{
  private readonly shown = new Map<string, Shown>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: vscode.Disposable[];
  readonly onDidChange = this.changed.event;
  /** Gives the page of a rule; none before a server was found. */
  rulePage: ((code: string) => Promise<string>) | undefined;

  constructor() {
    this.registrations = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerDocumentLinkProvider({ scheme: SCHEME }, this),
      vscode.workspace.onDidCloseTextDocument((document) => {
        // A change of language closes a document and opens it again.
        const key = document.uri.toString();
        if (!vscode.workspace.textDocuments.some(({ uri }) => uri.toString() === key)) {
          this.shown.delete(key);
        }
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string | Promise<string> | undefined {
    const code = RULE_PAGE.exec(uri.path)?.[1];
    return code === undefined ? this.shown.get(uri.toString())?.content : this.rulePage?.(code);
  }

  provideDocumentLinks(document: vscode.TextDocument): Promise<vscode.DocumentLink[]> {
    const shown = this.shown.get(document.uri.toString());
    return shown?.isSecret === true ? Promise.resolve([]) : links(document, shown?.about);
  }

  /** Opens the text beside the active editor; the same question again replaces what it showed. */
  async show(command: string, answer: ServerDocument, about: vscode.Uri | undefined): Promise<void> {
    const uri = address(command, answer);
    this.shown.set(uri.toString(), { content: answer.content, isSecret: answer.secret === true, about });
    this.changed.fire(uri);
    let document = await vscode.workspace.openTextDocument(uri);
    const language = languageOf(answer);
    const languages = await vscode.languages.getLanguages();
    if (document.languageId !== language && languages.includes(language)) {
      document = await vscode.languages.setTextDocumentLanguage(document, language);
    }
    const active = vscode.window.activeTextEditor;
    const start = document.positionAt(beginning(answer.content));
    const editor = await vscode.window.showTextDocument(document, {
      preview: true,
      preserveFocus: false,
      viewColumn:
        active?.document.uri.scheme === SCHEME ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside,
      selection: new vscode.Range(start, start),
    });
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.AtTop);
  }

  /** Opens the two sides of a comparison in the editor's own. */
  async compare(answer: ServerDocument, about: vscode.Uri | undefined): Promise<void> {
    const [left, right] = (answer.sides ?? []).map((side) => {
      // The name's end makes it YAML.
      const uri = address("side", { ...side, title: `${side.title ?? ""}.yaml`, uri: undefined });
      this.shown.set(uri.toString(), { content: side.content, isSecret: false, about });
      this.changed.fire(uri);
      return uri;
    });
    if (left !== undefined && right !== undefined) {
      const title = answer.title ?? "Comparison";
      await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true });
    }
  }

  dispose(): void {
    for (const registration of this.registrations) {
      registration.dispose();
    }
    this.changed.dispose();
  }
}

function languageOf({ language, secret }: ServerDocument): string {
  if (secret === true) {
    return PLAIN_TEXT;
  }
  return language === PLAIN ? REPORT : language;
}

/** A tab shows what is behind the last slash of its document's path: so there is but one. */
function address(command: string, answer: ServerDocument): vscode.Uri {
  const named = answer.uri === undefined ? undefined : vscode.Uri.parse(answer.uri).path;
  const title = (named ?? answer.title ?? command).replace(/^\/+/, "");
  return vscode.Uri.from({ scheme: SCHEME, path: `/${title.replaceAll("/", "\u2215")}` });
}

/** An explanation begins with how `lookup_options` were found; the key itself comes last. */
function beginning(content: string): number {
  return content.lastIndexOf('\nSearching for "') + 1;
}
