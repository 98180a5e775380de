/** The extension's life: reaches the server, starts it, stops it, and starts it again. */

import * as vscode from "vscode";
import {
  type LanguageClientOptions,
  type Middleware,
  State,
  type StaticFeature,
  type WorkDoneProgressBegin,
  type WorkDoneProgressReport,
} from "vscode-languageclient";

import { announce, Commands, isOfCommand, MATRIX } from "./commands";
import { Documents } from "./documents";
import { chooseHierarchy, type Hierarchies, keepHierarchy } from "./hierarchies";
import { MatrixViews } from "./matrixView";
import { createNodes, importNodes } from "./nodesFile";
import { isServed, linked, ofServer, scheme } from "./places";
import type { Platform, Reached } from "./platform";
import { type Arguments, CREATE_NODES, IMPORT_NODES } from "./questions";
import { Status } from "./status";
import { WORD } from "./words";

const SECTION = "hiera-ls";

/** Settings of the section that are the client's own: the server has no use for them. */
const CLIENT_SETTINGS = ["server", "trace"];

/** Commands that links in hovers may run: they show a text or a choice, and change nothing by themselves. */
const LINKED = ["hiera.explain", "hiera.matrix", "hiera.reveal", "hiera.value", "hiera-ls.chooseHierarchy"];

/** Commands that work only with a setting that is off unless the user turns it on. */
const SWITCHES: Readonly<Record<string, string>> = { "hiera.reveal": "decrypt" };

/** The extension's own commands that the list of all commands offers. */
const OWN = [
  "hiera-ls.matrixAsText",
  CREATE_NODES,
  IMPORT_NODES,
  "hiera-ls.chooseHierarchy",
  "hiera-ls.openWalkthrough",
  "hiera-ls.showLog",
  "hiera-ls.restart",
];

/** How often, and with which pause (milliseconds), a setting that was changed is looked for in answers. */
const SETTING_TRIES = 20;
const SETTING_PAUSE = 100;

let session: Session | undefined;

export async function begin(context: vscode.ExtensionContext, platform: Platform): Promise<void> {
  const started = new Session(context, platform);
  session = started;
  context.subscriptions.push(
    vscode.commands.registerCommand("hiera-ls.showLog", () => {
      started.output.show();
    }),
    vscode.commands.registerCommand("hiera-ls.restart", () => started.restart()),
    vscode.commands.registerCommand("hiera-ls.menu", () => started.menu()),
    vscode.commands.registerCommand("hiera-ls.chooseHierarchy", () => started.chooseHierarchy()),
    vscode.commands.registerCommand("hiera-ls.useHierarchy", (file: vscode.Uri) => started.useHierarchy(file)),
    vscode.commands.registerCommand("hiera-ls.matrixAsText", () => started.matrixAsText()),
    vscode.commands.registerCommand(CREATE_NODES, () => started.createNodes()),
    vscode.commands.registerCommand(IMPORT_NODES, () => started.importNodes()),
    vscode.commands.registerCommand("hiera-ls.openWalkthrough", () =>
      vscode.commands.executeCommand(
        "workbench.action.openWalkthrough",
        `${context.extension.id}#hiera-ls.start`,
        false,
      ),
    ),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration(`${SECTION}.server`)) {
        await started.restart();
      }
    }),
  );
  context.subscriptions.push(
    vscode.languages.setLanguageConfiguration("yaml", { wordPattern: WORD }),
  );
  await vscode.commands.executeCommand("setContext", "hiera-ls.active", true);
  await started.restart();
}

/** How often a server is started again within a period, in milliseconds: as the client does where it sees it die. */
const MOST_DEATHS = 4;
const PERIOD = 180_000;

export async function deactivate(): Promise<void> {
  await session?.stop();
  session = undefined;
}

class Session {
  readonly output = vscode.window.createOutputChannel("Hiera Language Server", { log: true });
  private readonly documents = new Documents();
  private readonly matrices: MatrixViews;
  private readonly status = new Status();
  private reached: Reached | undefined;
  private commands: Commands | undefined;
  private announced: readonly string[] = [];
  /** When servers died lately. */
  private deaths: readonly number[] = [];
  /** Whether the server that runs is to be replaced by another. */
  private isLeaving = false;
  /** Restarts run one after the other. */
  private underway: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly platform: Platform,
  ) {
    this.matrices = new MatrixViews(context.extensionUri);
    context.subscriptions.push(
      this.output,
      this.documents,
      this.matrices,
      this.status,
      vscode.window.onDidChangeActiveTextEditor(() => {
        // Each folder of the workspace has a node of its own.
        if ((vscode.workspace.workspaceFolders ?? []).length > 1) {
          void this.refresh();
        }
        void this.refreshHierarchy();
      }),
    );
  }

  restart(): Promise<void> {
    this.isLeaving = true;
    this.underway = this.underway.then(async () => {
      await this.stop();
      this.isLeaving = false;
      await this.start();
    });
    return this.underway;
  }

  async stop(): Promise<void> {
    const reached = this.reached;
    this.reached = undefined;
    this.commands = undefined;
    if (reached !== undefined) {
      await reached.client.dispose().catch((error: unknown) => {
        this.output.warn(`the server did not stop cleanly: ${String(error)}`);
      });
      reached.dispose?.();
    }
    this.status.enter("stopped");
  }

  private async start(): Promise<void> {
    this.status.enter("starting");
    const reached = await this.platform.reach(this.context, this.options(), this.output);
    if (Array.isArray(reached)) {
      this.complain(reached);
      return;
    }
    await vscode.commands.executeCommand("setContext", "hiera-ls.schemes", [scheme()]);
    this.documents.rulePage = reached.page;
    const { client, version } = reached;
    client.registerFeature(ourCapabilities());
    this.reached = reached;
    reached.onDeath?.((why) => {
      if (this.reached === reached) {
        void this.died(why);
      }
    });
    client.onDidChangeState(({ newState }) => {
      if (this.reached === reached && newState === State.Stopped) {
        this.status.enter("failed");
      }
      if (this.reached === reached && newState === State.Running) {
        this.status.enter("running", version);
        // A server that died is started again, and remembers the node.
        void this.refresh();
      }
    });
    try {
      await client.start();
    } catch (error) {
      this.output.error(`the server did not start: ${String(error)}`);
      this.status.enter("failed");
      return;
    }
    this.commands = new Commands(client, this.documents, this.matrices, (choices) => {
      this.status.choose(choices);
      const hasFacts = Object.keys(choices.facts ?? {}).length > 0;
      void vscode.commands.executeCommand("setContext", "hiera-ls.hasOverrides", hasFacts);
    });
    const commands = client.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    this.announced = await announce(
      commands.filter((command) => !(command in this.platform.absent)),
      this.announced,
    );
    // The server remembers the node of the last time.
    void this.refresh();
    void this.refreshHierarchy();
  }

  /** Starts a server again that the client has not seen die, unless that happens again and again. */
  private async died(why: string): Promise<void> {
    this.output.error(`the server stopped: ${why}`);
    this.status.enter("failed");
    const now = Date.now();
    this.deaths = [...this.deaths.filter((at) => now - at < PERIOD), now];
    if (this.deaths.length <= MOST_DEATHS) {
      void vscode.window.showWarningMessage(
        "Hiera: the language server failed and is started again. Its log says why.",
      );
      await this.restart();
      return;
    }
    const restart = "Restart";
    const chosen = await vscode.window.showErrorMessage(
      `Hiera: the language server failed ${String(this.deaths.length)} times and stays off. Its log says why.`,
      restart,
    );
    if (chosen === restart) {
      this.deaths = [];
      await this.restart();
    }
  }

  private options(): LanguageClientOptions {
    const served = scheme();
    return {
      documentSelector: [
        { scheme: served, language: "yaml" },
        { scheme: served, language: "json" },
        { scheme: served, pattern: "**/*.eyaml" },
        { scheme: served, language: "puppet" },
        // Without an extension for Puppet, manifests are plain text.
        { scheme: served, pattern: "**/*.pp" },
      ],
      outputChannel: this.output,
      diagnosticCollectionName: SECTION,
      markdown: { isTrusted: { enabledCommands: LINKED } },
      middleware: this.middleware(),
    };
  }

  private middleware(): Middleware {
    return {
      executeCommand: (command, given) => {
        const absent = this.platform.absent[command];
        if (absent !== undefined) {
          void vscode.window.showInformationMessage(`Hiera: ${absent}`);
          return undefined;
        }
        return this.commands?.execute(command, (given as Arguments[])[0]);
      },
      provideHover: async (document, position, token, next) => {
        const hover = await next(document, position, token);
        for (const content of hover?.contents ?? []) {
          if (content instanceof vscode.MarkdownString) {
            content.value = linked(content.value);
          }
        }
        return hover;
      },
      handleWorkDoneProgress: (token, progress, next) => {
        if (!isOfCommand(token)) {
          this.status.read(progress.kind === "end" ? undefined : words(progress));
          if (progress.kind === "end") {
            void this.refresh();
            void this.refreshHierarchy();
          }
        }
        next(token, progress);
      },
      workspace: {
        didChangeConfiguration: async (sections, next) => {
          // A server that is being replaced needs to know nothing any more.
          if (!this.isLeaving) {
            await next(sections);
          }
        },
        configuration: async (parameters, token, next) => {
          const sections: unknown = await next(parameters, token);
          return Array.isArray(sections)
            ? sections.map((section) => this.withOrigins(withoutOurs(section)))
            : [];
        },
      },
    };
  }

  /** Tells the server which of the settings that may name places outside come from the workspace. */
  private withOrigins(section: unknown): unknown {
    if (typeof section !== "object" || section === null) {
      return section;
    }
    const settings = vscode.workspace.getConfiguration();
    const { restrictedConfigurations } = (
      this.context.extension.packageJSON as {
        capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
      }
    ).capabilities.untrustedWorkspaces;
    const fromWorkspace = restrictedConfigurations
      .filter((name) => {
        const found = settings.inspect(name);
        return found?.workspaceValue !== undefined || found?.workspaceFolderValue !== undefined;
      })
      .map((name) => name.slice(SECTION.length + 1));
    return { ...section, fromWorkspace };
  }

  private async refresh(): Promise<void> {
    await this.commands?.refresh().catch((error: unknown) => {
      this.output.warn(`the selected node is not known: ${String(error)}`);
    });
  }

  /** The matrix of the key under the cursor as a text. */
  async matrixAsText(): Promise<void> {
    await this.commands?.execute(MATRIX, undefined, true);
  }

  /** Shows how to get a file of nodes. */
  async createNodes(): Promise<void> {
    const known = await this.commands?.nodesFile();
    if (known !== undefined) {
      await createNodes(known.recipes, known.choices, known.facts, this.platform.hasTerminal);
    }
  }

  /** Imports nodes in a terminal. */
  async importNodes(): Promise<void> {
    if (!this.platform.hasTerminal) {
      void vscode.window.showInformationMessage("Hiera: nodes are imported where there is a terminal; a browser has none");
      return;
    }
    const known = await this.commands?.nodesFile();
    if (known?.import !== undefined) {
      await importNodes(known.import, this.reached?.program);
    }
  }

  /** Lets the user choose which `hiera.yaml` answers. */
  async chooseHierarchy(): Promise<void> {
    const about = fileInFront();
    const known = await this.commands?.hierarchies(about);
    if (known !== undefined && (await chooseHierarchy(known, about))) {
      await this.hierarchyChanges(known);
    }
  }

  /** Lets one `hiera.yaml` answer. */
  async useHierarchy(file: vscode.Uri): Promise<void> {
    const known = await this.commands?.hierarchies(fileInFront());
    if (known !== undefined && (await keepHierarchy(known, file))) {
      await this.hierarchyChanges(known);
    }
  }

  private async hierarchyChanges(known: Hierarchies): Promise<void> {
    // The server asks for its settings before it answers by them.
    for (let tries = 0; tries < SETTING_TRIES; tries += 1) {
      const now = await this.refreshHierarchy();
      if (now !== known.hierarchy) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, SETTING_PAUSE));
    }
  }

  /** Shows which configuration answers for the file in front. */
  private async refreshHierarchy(): Promise<string | null> {
    const about = fileInFront();
    const known = await this.commands?.hierarchies(about).catch(() => undefined);
    if (known === undefined) {
      return null;
    }
    const { hierarchy, hierarchies } = known;
    const others = hierarchies.filter(({ uri, reads }) => reads === true && uri !== hierarchy);
    const answering = hierarchies.find(({ uri }) => uri === hierarchy);
    this.status.answerBy({
      hierarchy: hierarchy === null ? undefined : vscode.workspace.asRelativePath(ofServer(hierarchy)),
      files: answering?.files ?? 0,
      variants: others.length,
    });
    const reads = answering?.reads === true;
    void vscode.commands.executeCommand("setContext", "hiera-ls.isData", reads);
    return hierarchy;
  }

  /** None of the programs works: says which were tried, why each failed and what to do. */
  private complain(failures: readonly string[]): void {
    for (const failure of failures) {
      this.output.error(failure);
    }
    this.status.enter("failed");
    const why = failures[0] ?? "";
    const message = `Hiera: no server program works. ${why}. Install hiera-ls, or name it in the setting 'hiera-ls.server.path'.`;
    void vscode.window
      .showErrorMessage(message, "Open Setting", "Show Log")
      .then(async (choice) => {
        if (choice === "Show Log") {
          this.output.show();
        } else if (choice === "Open Setting") {
          const setting = `${SECTION}.server.path`;
          await vscode.commands.executeCommand("workbench.action.openSettings", setting);
        }
      });
  }

  /** What a click on the status bar offers. */
  async menu(): Promise<void> {
    const contributed = (
      this.context.extension.packageJSON as {
        contributes: { commands: { command: string; title: string }[] };
      }
    ).contributes.commands;
    const settings = vscode.workspace.getConfiguration(SECTION);
    const isOn = (command: string) => {
      const setting = SWITCHES[command];
      return setting === undefined || settings.get(setting) === true;
    };
    const items = contributed
      .filter(({ command }) => OWN.includes(command) || this.announced.includes(command))
      .filter(({ command }) => isOn(command))
      .map(({ command, title }) => ({ label: title, command }));
    const picked = await vscode.window.showQuickPick(items, { title: "Hiera" });
    if (picked !== undefined) {
      await vscode.commands.executeCommand(picked.command);
    }
  }
}

/** The file that the user looks at. */
function fileInFront(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri !== undefined && isServed(uri) ? uri : undefined;
}

function words(progress: WorkDoneProgressBegin | WorkDoneProgressReport): string {
  return progress.message === undefined ? "reading files" : `reading files: ${progress.message}`;
}

/** The settings as the server knows them: forms have an empty text where the server has none. */
function withoutOurs(section: unknown): unknown {
  if (typeof section !== "object" || section === null) {
    return section;
  }
  return Object.fromEntries(
    Object.entries(section)
      .filter(([name]) => !CLIENT_SETTINGS.includes(name))
      .map(([name, value]) => [name, value === "" ? null : (value as unknown)]),
  );
}

/**
 * Tells the server that links in hovers may run commands, that the extension shows what they answer, and that
 * it says which settings come from the workspace.
 */
function ourCapabilities(): StaticFeature {
  return {
    fillClientCapabilities: (capabilities) => {
      const ours = { commandLinks: true, documents: true, rulePages: true, settingOrigins: true };
      capabilities.experimental = { ...(capabilities.experimental as object), ...ours };
    },
    initialize: () => undefined,
    getState: () => ({ kind: "static" }),
    clear: () => undefined,
  };
}
