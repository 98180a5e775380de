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
export interface Changes {
  differences: Difference[];
  causes: { files: string[]; differences: number[] }[];
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

interface Module {
  memory: WebAssembly.Memory;
  input(length: number): number;
  output(): number;
  open(): number;
  call(): number;
}

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
  private constructor(private readonly module: Module) {}

  static async open(): Promise<Engine> {
    const [code, data] = await Promise.all([unpacked("engine"), unpacked("data")]);
    const { instance } = await WebAssembly.instantiate(code as BufferSource, {});
    const engine = new Engine(instance.exports as unknown as Module);
    engine.put(data);
    const words = engine.taken(engine.module.open());
    if (words) throw new Error(words);
    return engine;
  }

  /** Asks a question; what the engine says instead of an answer is thrown. */
  ask<T>(name: string, question: object = {}): T {
    this.put(encoder.encode(`${name}\n${JSON.stringify(question)}`));
    const answer = JSON.parse(this.taken(this.module.call())) as { ok: T } | { error: string };
    if ("error" in answer) throw new Error(answer.error);
    return answer.ok;
  }

  private put(bytes: Uint8Array): void {
    const at = this.module.input(bytes.length);
    new Uint8Array(this.module.memory.buffer, at, bytes.length).set(bytes);
  }

  private taken(length: number): string {
    return decoder.decode(new Uint8Array(this.module.memory.buffer, this.module.output(), length));
  }
}
