/** The item in the status bar: whether the server runs or reads, problems, the selected node. */

import * as vscode from "vscode";

type State = "starting" | "running" | "stopped" | "failed";

export class Status implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly registrations: { dispose(): unknown }[];
  private state: State = "starting";
  private version = "";
  private reading: string | undefined;
  private node: string | undefined;
  /** The facts of a what-if, in words. */
  private facts: readonly string[] = [];
  private hierarchy: string | undefined;
  /** How many other configurations can read the file. */
  private variants = 0;

  /** `isOurs` tells our diagnostics from others'. */
  constructor(private readonly isOurs: (diagnostic: vscode.Diagnostic) => boolean) {
    this.item = vscode.window.createStatusBarItem("hiera-ls", vscode.StatusBarAlignment.Left, 10);
    this.item.name = "Hiera";
    this.item.command = "hiera-ls.menu";
    this.registrations = [
      this.item,
      vscode.languages.onDidChangeDiagnostics(() => {
        this.show();
      }),
    ];
    this.show();
    this.item.show();
  }

  /** The server's life; `version` once it is known. */
  enter(state: State, version = this.version): void {
    this.state = state;
    this.version = version;
    if (state !== "running") {
      this.reading = undefined;
      this.node = undefined;
      this.facts = [];
    }
    this.show();
  }

  /** What of the reading of files is done; nothing when all is. */
  read(progress: string | undefined): void {
    this.reading = progress;
    this.show();
  }

  /** What answers are for from now on: a node, or null for all; and facts that are set over its own. */
  choose(certname: string | null, facts: readonly (readonly [string, unknown])[]): void {
    this.node = certname ?? undefined;
    this.facts = facts.map(([path, value]) => `${path} = ${JSON.stringify(value)}`);
    this.show();
  }

  /** Which configuration answers for the file in front, and how many others could. */
  answerBy(hierarchy: string | undefined, variants: number): void {
    this.hierarchy = hierarchy;
    this.variants = variants;
    this.show();
  }

  private show(): void {
    const counts = this.state === "running" ? this.problems() : { errors: 0, warnings: 0 };
    const parts = [this.icon(), "Hiera"];
    if (this.node !== undefined) {
      parts.push(`$(server) ${this.node}`);
    }
    if (this.facts.length > 0) {
      parts.push(`$(beaker) ${this.facts.length}`);
    }
    if (counts.errors > 0) {
      parts.push(`$(error) ${counts.errors}`);
    }
    if (counts.warnings > 0) {
      parts.push(`$(warning) ${counts.warnings}`);
    }
    this.item.text = parts.join(" ");
    this.item.tooltip = this.tooltip(counts);
    this.item.backgroundColor =
      this.state === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = { label: this.tooltip(counts), role: "button" };
  }

  private icon(): string {
    if (this.state === "failed") {
      return "$(error)";
    }
    if (this.state === "stopped") {
      return "$(debug-stop)";
    }
    return this.state === "starting" || this.reading !== undefined
      ? "$(loading~spin)"
      : "$(list-tree)";
  }

  private tooltip(counts: { errors: number; warnings: number }): string {
    switch (this.state) {
      case "starting":
        return "Hiera: the server is starting";
      case "stopped":
        return "Hiera: the server is stopped";
      case "failed":
        return "Hiera: the server does not run. Click for its log and to restart it";
      case "running": {
        const about = this.reading ?? "all files are read";
        const problems = `${counts.errors} errors, ${counts.warnings} warnings in all files`;
        const others = this.variants === 0 ? "" : ` (${this.variants} more can read this file)`;
        const hierarchy = `\nhierarchy: ${this.hierarchy ?? "none"}${others}`;
        const node = this.node === undefined ? "" : `\nselected node: ${this.node}`;
        const facts = this.facts.map((fact) => `\nwhat if ${fact}`).join("");
        return `Hiera: hiera-ls ${this.version}, ${about}\n${problems}${hierarchy}${node}${facts}`;
      }
    }
  }

  private problems(): { errors: number; warnings: number } {
    let errors = 0;
    let warnings = 0;
    for (const [, diagnostics] of vscode.languages.getDiagnostics()) {
      for (const diagnostic of diagnostics) {
        if (this.isOurs(diagnostic)) {
          errors += Number(diagnostic.severity === vscode.DiagnosticSeverity.Error);
          warnings += Number(diagnostic.severity === vscode.DiagnosticSeverity.Warning);
        }
      }
    }
    return { errors, warnings };
  }

  dispose(): void {
    for (const registration of this.registrations) {
      registration.dispose();
    }
  }
}
