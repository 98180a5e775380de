// The engine: opened once out of the page itself, then asked by name. What it answers is described in docs/report.md.

export interface Source { file: string; line: number }
export interface Answer {
  found: boolean | null;
  unknown?: string;
  value?: unknown;
  nodes?: string[];
  condition?: string;
  sources: Source[];
  unless?: string;
  text: string;
  yaml: string;
}
export interface Row { key: string; answers: Answer[]; by_facts?: Answer[] }
export interface Difference { key: string; before: Answer; after: Answer }
export interface LevelFile { file: string; keys: number; nodes: string[] }
export interface Level { level: string; layer: string; paths: string[]; files: LevelFile[] }
export interface KnownNode { name: string; values: (string | null)[] }
export interface Overview {
  title: string;
  made_by: string;
  folder: string;
  environment: string;
  puppet: number;
  against: string | null;
  left_out: string[];
  only_shapes: boolean;
  levels: Level[];
  variables: string[];
  nodes: KnownNode[];
  names_only: boolean;
  keys: number;
  findings: number;
}
export interface LevelResult { level: string; place: string; file: string | null; line: number | null; result: string }
export interface Explanation { message?: string; text?: string; data?: { levels: LevelResult[] } | null }
/** A changed line, and the key or entry of `lookup_options` that begins there; `before` if it is only on the other side. */
export interface ChangedLine extends Source { key: string | null; before: boolean }
export interface Changes {
  differences: Difference[];
  causes: { files: string[]; lines: ChangedLine[]; differences: number[] }[];
  undecided: string[];
  files: string[];
}
export interface Fact {
  path: string;
  name: string;
  settable: boolean;
  current: unknown;
  values: { value: unknown; nodes: number }[];
}
export interface Finding { code: string; severity: string; path: string; line?: number; column?: number; message: string }
export interface Lines { first: number; lines: string[] }
export type Facts = Record<string, unknown>;

interface Module extends Partial<ServerModule> {
  memory: WebAssembly.Memory;
  input(length: number): number;
  output(): number;
  open(): number;
  call(): number;
  edit(): number;
}

/** What a module with a language server has besides. */
interface ServerModule {
  start(): number;
  receive(): void;
  advance(now: number): number;
  take(): number;
}

/** A file of the report; without a text it is only known that it is there. */
export interface ReportFile { path: string; text: string | null }

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function unpacked(id: string): Promise<Uint8Array> {
  const element = document.getElementById(id);
  if (!element?.textContent) throw new Error(`this file has no ${id}: it is the empty page of a report`);
  const text = atob(element.textContent);
  element.remove();
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Engine {
  /** How many edits there were: what was asked before is old. */
  edits = 0;
  private isBroken = false;

  /** Whether the page was assembled as a playground: its module has a language server. */
  static readonly isPlayground = document.documentElement.dataset.page === "playground";

  private constructor(private readonly module: Module, private readonly data: Uint8Array) {}

  static async open(): Promise<Engine> {
    const [code, data] = await Promise.all([unpacked("engine"), unpacked("data")]);
    const { instance } = await WebAssembly.instantiate(code as BufferSource, {});
    const module = instance.exports as unknown as Module;
    const engine = new Engine(module, Engine.isPlayground ? data : new Uint8Array());
    engine.put(data);
    const words = engine.taken(engine.module.open());
    if (words) throw new Error(words);
    return engine;
  }

  /** Asks a question; what the engine says instead of an answer is thrown. */
  ask<T>(name: string, question: object = {}): T {
    const asked = `${name}\n${JSON.stringify(question)}`;
    const answer = JSON.parse(this.running(asked, () => this.module.call())) as { ok: T } | { error: string };
    if ("error" in answer) throw new Error(answer.error);
    return answer.ok;
  }

  /** Gives a file another text. */
  edit(path: string, text: string): void {
    const words = this.running(`${path}\n${text}`, () => this.module.edit());
    if (words) throw new Error(words);
    this.edits += 1;
  }

  /** The files as they were written. */
  files(): ReportFile[] {
    return (JSON.parse(decoder.decode(this.data)) as { files: ReportFile[] }).files;
  }

  /** Starts the language server, which calls `heard` with its messages; returns what sends it one. */
  serve(heard: (message: string) => void): (message: string) => void {
    const server = this.module as Module & ServerModule;
    const words = this.taken(server.start());
    if (words) throw new Error(words);
    let timer = 0;
    const run = (): void => {
      clearTimeout(timer);
      const next = server.advance(performance.now());
      for (let length = server.take(); length > 0; length = server.take()) heard(this.taken(length));
      if (next >= 0) timer = window.setTimeout(run, next);
    };
    return (message) => {
      this.put(encoder.encode(message));
      server.receive();
      // Not within `heard`.
      clearTimeout(timer);
      timer = window.setTimeout(run, 0);
    };
  }

  /** Gives the module an input, and takes its output. After a trap nothing in it can be relied on. */
  private running(input: string, run: () => number): string {
    try {
      if (!this.isBroken) {
        this.put(encoder.encode(input));
        return this.taken(run());
      }
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      console.warn(error);
      this.isBroken = true;
    }
    throw new Error("The engine in this page failed: load the page again for other answers. This is a mistake in hiera-ls, please report what was asked.");
  }

  private put(bytes: Uint8Array): void {
    const at = this.module.input(bytes.length);
    new Uint8Array(this.module.memory.buffer, at, bytes.length).set(bytes);
  }

  private taken(length: number): string {
    return decoder.decode(new Uint8Array(this.module.memory.buffer, this.module.output(), length));
  }
}
