// The playground: a file in an editor field, and what the language server says of it. The server is the one of editors;
// this is its client.

import { count, h } from "./dom";
import type { Engine, ReportFile } from "./engine";
import { note, short, type Context } from "./parts";
import { address } from "./state";

interface Position { line: number; character: number }
interface Diagnostic { range: { start: Position }; severity: number; code: string; message: string }
interface Message { id?: number; method?: string; params?: Record<string, unknown>; result?: unknown; error?: { message: string } }

const SEVERITIES = ["", "error", "warning", "information", "hint"];

/** A report has numbers in place of encrypted values, which are no faults of the files. */
const SETTINGS = { diagnostics: { severity: { "eyaml-blob": "off" } } };

/** What is typed is checked after a pause of so many milliseconds. */
const PAUSE = 120;

/** The file that is shown first. */
const FIRST = "data/role/web.yaml";

const uriOf = (path: string): string => `file://${path.split("/").map(encodeURIComponent).join("/")}`;
const pathOf = (uri: string): string => decodeURIComponent(uri.slice("file://".length));

class Client {
  readonly diagnostics = new Map<string, Diagnostic[]>();
  onDiagnostics: () => void = () => undefined;
  private readonly texts: Map<string, string | null>;
  private readonly versions = new Map<string, number>();
  private readonly waiting = new Map<number, (answer: Message) => void>();
  private readonly send: (message: string) => void;
  private next = 0;

  constructor(private readonly engine: Engine, readonly files: readonly ReportFile[], folder: string) {
    this.texts = new Map(files.map(({ path, text }) => [path, text]));
    this.send = engine.serve((message) => { this.heard(JSON.parse(message) as Message); });
    const capabilities = { workspace: { configuration: true }, textDocument: { hover: { contentFormat: ["plaintext"] }, publishDiagnostics: {} } };
    void this.ask("initialize", { processId: null, capabilities, workspaceFolders: [{ uri: uriOf(folder), name: folder }] });
    this.tell("initialized", {});
  }

  text(path: string): string {
    return this.texts.get(path) ?? "";
  }

  /** Gives a file a text, for the server and for the other views. */
  edit(path: string, text: string): void {
    const version = (this.versions.get(path) ?? 0) + 1;
    this.versions.set(path, version);
    if (version === 1) this.tell("textDocument/didOpen", { textDocument: { uri: uriOf(path), languageId: "yaml", version, text } });
    else this.tell("textDocument/didChange", { textDocument: { uri: uriOf(path), version }, contentChanges: [{ text }] });
    if (text === this.texts.get(path)) return;
    this.texts.set(path, text);
    this.engine.edit(path, text);
  }

  ask(method: string, params: object): Promise<Message> {
    const id = (this.next += 1);
    this.put({ id, method, params });
    return new Promise((resolve) => { this.waiting.set(id, resolve); });
  }

  private tell(method: string, params: object): void {
    this.put({ method, params });
  }

  private put(message: object): void {
    this.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  private heard({ id, method, params, ...answer }: Message): void {
    if (method === undefined && id !== undefined) {
      this.waiting.get(id)?.(answer);
      this.waiting.delete(id);
    } else if (id !== undefined) {
      const result = method === "hiera-ls/files" ? this.handOver(params as { folders: string[]; files: string[] })
        : method === "workspace/configuration" ? [SETTINGS] : null;
      this.put({ id, result });
    } else if (method === "textDocument/publishDiagnostics") {
      const { uri, diagnostics } = params as { uri: string; diagnostics: Diagnostic[] };
      this.diagnostics.set(pathOf(uri), diagnostics);
      this.onDiagnostics();
    }
  }

  private handOver({ folders, files }: { folders: string[]; files: string[] }): object {
    const entries = (folder: string): [string, boolean][] => {
      const found = new Map<string, boolean>();
      for (const path of this.texts.keys()) {
        if (!path.startsWith(`${folder}/`)) continue;
        const [name = "", ...below] = path.slice(folder.length + 1).split("/");
        found.set(name, below.length > 0);
      }
      return [...found];
    };
    const content = (path: string): object | null => {
      const text = this.texts.get(path);
      return text === undefined || text === null ? null : { text };
    };
    return { folders: folders.map((uri) => entries(pathOf(uri))), files: files.map((uri) => content(pathOf(uri))) };
  }
}

let client: Client | undefined;

function positionAt(field: HTMLTextAreaElement): Position {
  const before = field.value.slice(0, field.selectionStart).split("\n");
  return { line: before.length - 1, character: before[before.length - 1]?.length ?? 0 };
}

function moveTo(field: HTMLTextAreaElement, { line, character }: Position): void {
  const at = field.value.split("\n").slice(0, line).reduce((sum, text) => sum + text.length + 1, 0) + character;
  field.focus();
  field.setSelectionRange(at, at);
}

export function editView(context: Context): HTMLElement[] {
  const { engine, overview } = context;
  client ??= new Client(engine, engine.files().filter(({ text }) => text !== null), overview.folder);
  const server = client;
  const data = server.files.filter(({ path }) => /\.(ya?ml|eyaml|json)$/.test(path));
  const file = data.some(({ path }) => path === context.state.file) ? context.state.file : `${overview.folder}/${FIRST}`;

  const hover = h("pre", { tabindex: 0, id: "hover" });
  const matrix = h("pre", { tabindex: 0, id: "matrix" });
  const findings = h("ul.findings", { id: "problems" });
  const status = h("p.count", { role: "status", id: "checked" });
  const field = h("textarea", { id: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", rows: 26 }) as HTMLTextAreaElement;
  field.value = server.text(file);

  let asked = 0;
  const atCursor = async (): Promise<void> => {
    const mine = (asked += 1);
    const place = { textDocument: { uri: uriOf(file) }, position: positionAt(field) };
    const argument = { uri: uriOf(file), position: place.position };
    const [shown, all] = await Promise.all([
      server.ask("textDocument/hover", place),
      server.ask("workspace/executeCommand", { command: "hiera.matrix", arguments: [argument] }),
    ]);
    if (mine !== asked) return;
    hover.textContent = (shown.result as { contents: { value: string } } | null)?.contents.value ?? "Put the cursor on a key.";
    const answer = all.result as { content?: string; message?: string } | undefined;
    matrix.textContent = answer?.content ?? answer?.message ?? all.error?.message ?? "";
  };
  const showFindings = (): void => {
    const own = server.diagnostics.get(file) ?? [];
    const others = [...server.diagnostics].filter(([path, list]) => path !== file && list.length > 0);
    status.textContent = own.length === 0 ? "No findings in this file." : `${count(own.length, "finding")} in this file.`;
    findings.replaceChildren(
      ...own.map(({ range, severity, code, message }) => h("li", {},
        h("button.place", { type: "button", click: () => { moveTo(field, range.start); void atCursor(); } }, `line ${range.start.line + 1}`),
        ` ${SEVERITIES[severity] ?? ""}: ${message} `, h("small", {}, code))),
      ...others.map(([path, list]) => h("li", {}, `${count(list.length, "finding")} in `,
        h("a", { href: address(context.state, { view: "edit", file: path }) }, short(context, path)))));
    document.body.dataset["checked"] = String(own.length + others.length);
  };

  let timer = 0;
  const typed = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => { server.edit(file, field.value); void atCursor(); }, PAUSE);
  };
  field.addEventListener("input", typed);
  for (const moved of ["click", "keyup"]) field.addEventListener(moved, () => { void atCursor(); });
  server.onDiagnostics = () => { if (field.isConnected) showFindings(); };
  server.edit(file, field.value);
  const first = field.value.indexOf("profile::");
  field.setSelectionRange(Math.max(first, 0) + 2, Math.max(first, 0) + 2);
  void atCursor();
  showFindings();

  const choice = h("select", { change: () => { context.go({ view: "edit", file: choice.value }); } },
    data.map(({ path }) => h("option", { value: path, selected: path === file }, short(context, path)))) as HTMLSelectElement;
  const written = server.files.find(({ path }) => path === file)?.text ?? "";
  const undo = h("button", { type: "button", click: () => { field.value = written; typed(); } }, "As it was");
  return [
    note("Change a value, or break something: the same language server as in an editor answers here, and every other view uses the changed file. Nothing is saved or sent."),
    h("div.bar", {}, h("label.choice", {}, h("span", {}, "File"), choice), undo),
    h("div.edit", {},
      h("label.choice", {}, h("span", {}, "Text"), field),
      h("div", {},
        h("section", { "aria-labelledby": "problems-of" }, h("h2", { id: "problems-of" }, "Findings"), status, findings),
        h("section", { "aria-labelledby": "hover-of" }, h("h2", { id: "hover-of" }, "At the cursor"), hover),
        h("section", { "aria-labelledby": "matrix-of" }, h("h2", { id: "matrix-of" }, "On all nodes"), matrix))),
  ];
}
