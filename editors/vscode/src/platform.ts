/** What differs between a desktop and a browser: how the server is reached. */

import type * as vscode from "vscode";
import type { BaseLanguageClient, LanguageClientOptions } from "vscode-languageclient";

/** A server that can be started. */
export interface Reached {
  readonly client: BaseLanguageClient;
  readonly version: string;
  /** The program, where the server is one. */
  readonly program?: string;
  /** The page of a rule. */
  readonly page: (code: string) => Promise<string>;
  /** Hears that the server has died, where the client does not see it. */
  readonly onDeath?: (heard: (why: string) => void) => void;
  /** Ends what the client does not end. */
  readonly dispose?: () => void;
}

export interface Platform {
  /** Finds the server, or says why there is none: one sentence for each that was tried. */
  reach(context: vscode.ExtensionContext, options: LanguageClientOptions, output: vscode.LogOutputChannel): Promise<Reached | string[]>;
  /** Whether there are terminals. */
  readonly hasTerminal: boolean;
  /** Why a command cannot be here, in a sentence. */
  readonly absent: Readonly<Record<string, string>>;
}
