/** The item in the status bar: whether the server runs or reads, and for which nodes answers are. */

import * as vscode from "vscode";

import { ofServer } from "./places";
import { type Choices, counted, hasFacts, origins, shown, stale } from "./choices";

type State = "starting" | "running" | "stopped" | "failed";

/** The command behind a click: for whom answers are. */
const SELECT_NODE = "hiera.selectNode";

/** The commands that the tooltip offers. */
const OFFERED = {
  select: SELECT_NODE,
  override: "hiera.setFact",
  clear: "hiera.clearFacts",
  create: "hiera-ls.createNodes",
  import: "hiera-ls.importNodes",
  hierarchy: "hiera-ls.chooseHierarchy",
  doctor: "hiera.doctor",
  menu: "hiera-ls.menu",
  log: "hiera-ls.showLog",
} as const;

/** The configuration that answers for the file in front. */
export interface Answering {
  /** Its path in the workspace; none where no configuration covers the file. */
  readonly hierarchy: string | undefined;
  /** How many files of data it can read. */
  readonly files: number;
  /** How many other configurations can read the file. */
  readonly variants: number;
}

export class Status implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private state: State = "starting";
  private version = "";
  private reading: string | undefined;
  private choices: Choices | undefined;
  private answering: Answering | undefined;

  constructor() {
    this.item = vscode.window.createStatusBarItem("hiera-ls", vscode.StatusBarAlignment.Left, 10);
    this.item.name = "Hiera";
    this.show();
    this.item.show();
  }

  /** The server's life; `version` once it is known. */
  enter(state: State, version = this.version): void {
    this.state = state;
    this.version = version;
    if (state !== "running") {
      this.reading = undefined;
      this.choices = undefined;
      this.answering = undefined;
    }
    this.show();
  }

  /** What of the reading of files is done; nothing when all is. */
  read(progress: string | undefined): void {
    this.reading = progress;
    this.show();
  }

  /** What answers are for from now on. */
  choose(choices: Choices): void {
    this.choices = choices;
    this.show();
  }

  /** Which configuration answers for the file in front. */
  answerBy(answering: Answering): void {
    this.answering = answering;
    this.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(): void {
    const facts = Object.keys(this.choices?.facts ?? {}).length;
    const parts = [`${this.icon()} ${this.words()}`];
    if (facts > 0) {
      parts.push(`$(beaker) ${facts}`);
    }
    this.item.text = parts.join(" ");
    this.item.command = this.command();
    const plain = this.lines();
    this.item.tooltip = this.state === "running" ? this.tooltip(plain) : plain.join("\n");
    this.item.backgroundColor =
      this.state === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = { label: [this.words(), ...plain].join(", "), role: "button" };
  }

  /** For whom answers are, in the fewest words. */
  private words(): string {
    if (this.state !== "running" || this.choices === undefined || this.reading !== undefined) {
      return "Hiera";
    }
    if (this.hasNoHierarchy()) {
      return "Hiera: no hiera.yaml";
    }
    const { nodes, selected } = this.choices;
    if (selected !== null) {
      return `Hiera: ${selected}`;
    }
    return nodes.length === 0 ? "Hiera: no nodes known" : `Hiera: all nodes (${nodes.length.toLocaleString("en")})`;
  }

  private command(): string {
    if (this.state !== "running") {
      return OFFERED.menu;
    }
    return this.hasNoHierarchy() ? OFFERED.hierarchy : SELECT_NODE;
  }

  private hasNoHierarchy(): boolean {
    return this.answering !== undefined && this.answering.hierarchy === undefined;
  }

  private icon(): string {
    if (this.state === "failed") {
      return "$(error)";
    }
    if (this.state === "stopped") {
      return "$(debug-stop)";
    }
    return this.state === "starting" || this.reading !== undefined ? "$(loading~spin)" : "$(list-tree)";
  }

  private lines(): string[] {
    switch (this.state) {
      case "starting":
        return ["the server is starting"];
      case "stopped":
        return ["the server is stopped"];
      case "failed":
        return ["the server is not running: click for its log and to restart it"];
      case "running":
        return this.running();
    }
  }

  private running(): string[] {
    const lines = [];
    if (this.reading !== undefined) {
      lines.push(this.reading);
    }
    const { answering, choices } = this;
    if (answering !== undefined) {
      const { hierarchy, files, variants } = answering;
      const others = variants === 0 ? "" : `; ${variants} more can read this file`;
      const which = hierarchy === undefined ? "none covers this file" : `${hierarchy}, ${files.toLocaleString("en")} data files`;
      lines.push(`hierarchy: ${which}${others}`);
    }
    if (choices !== undefined) {
      const named = (uri: string) => vscode.workspace.asRelativePath(ofServer(uri));
      lines.push(`nodes: ${origins(choices, named)}`, ...stale(choices, named));
      const whom = choices.selected ?? (choices.nodes.length === 0 ? "any node" : `all ${counted(choices.nodes.length)}`);
      lines.push(`answers are for: ${whom}`);
      for (const [path, value] of Object.entries(choices.facts ?? {})) {
        lines.push(`what if: ${path} = ${shown(value)}`);
      }
    }
    return lines;
  }

  /** What is said, with what can be done about it. */
  private tooltip(lines: readonly string[]): vscode.MarkdownString {
    const text = new vscode.MarkdownString("", true);
    text.isTrusted = { enabledCommands: Object.values(OFFERED) };
    for (const line of lines) {
      text.appendText(line);
      text.appendMarkdown("  \n");
    }
    const { choices } = this;
    const links = [link("Select Node…", OFFERED.select), link("Override a Fact…", OFFERED.override)];
    if (Object.keys(choices?.facts ?? {}).length > 0) {
      links.push(link("Clear Overrides", OFFERED.clear));
    }
    if (choices !== undefined && !hasFacts(choices)) {
      links.push(link("Create nodes.json…", OFFERED.create));
    }
    if (choices?.origins?.some(({ imported }) => (imported ?? null) !== null) === true) {
      links.push(link("Import Nodes…", OFFERED.import));
    }
    links.push(link("Choose hiera.yaml…", OFFERED.hierarchy), link("Doctor", OFFERED.doctor));
    links.push(link("All Commands", OFFERED.menu), link("Log", OFFERED.log));
    text.appendMarkdown(`\n\n${links.join(" · ")}  \n`);
    text.appendText(`hiera-ls ${this.version}`);
    return text;
  }
}

function link(title: string, command: string): string {
  return `[${title}](command:${command})`;
}
