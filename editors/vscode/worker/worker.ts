// The language server in a worker: messages of the client go into its WebAssembly module, and its messages come out.
// The first message has the module; docs/report.md describes what it exports.

interface Module {
  memory: WebAssembly.Memory;
  input(length: number): number;
  output(): number;
  start(): number;
  receive(): void;
  advance(now: number): number;
  take(): number;
  page(): number;
}

interface Message {
  readonly jsonrpc?: string;
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly code?: string };
}

/** The code of the protocol for an error of the server. */
const INTERNAL_ERROR = -32603;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let server: Module | undefined;
/** What came before the module was there. */
const early: Message[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
/** The requests of the client that are not answered yet. */
const open = new Set<number | string>();
/** Why there is no server any more: its module trapped. */
let dead: string | undefined;

function put(to: Module, text: string): void {
  const bytes = encoder.encode(text);
  const at = to.input(bytes.length);
  new Uint8Array(to.memory.buffer, at, bytes.length).set(bytes);
}

function taken(from: Module, length: number): string {
  return decoder.decode(new Uint8Array(from.memory.buffer, from.output(), length));
}

/** Works, sends what there is to send, and comes again when the server wants to. */
function run(one: Module): void {
  clearTimeout(timer);
  const next = one.advance(performance.now());
  for (let length = one.take(); length > 0; length = one.take()) {
    const message = JSON.parse(taken(one, length)) as Message;
    if (message.method === undefined && message.id !== undefined) {
      open.delete(message.id);
    }
    postMessage(message);
  }
  if (next >= 0) {
    timer = setTimeout(() => {
      guarded(() => {
        run(one);
      });
    }, next);
  }
}

/** Does something with the module. After a trap nothing in it can be relied on: every request gets an error, and the
 * extension hears of it. */
function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    server = undefined;
    dead = `the language server failed: ${error instanceof Error ? error.message : String(error)}`;
    clearTimeout(timer);
    for (const id of open) {
      refuse(id, dead);
    }
    open.clear();
    for (const message of early.splice(0)) {
      receiveAfterDeath(message, dead);
    }
    // Outside of any caller it is an error of the worker, which the extension hears.
    setTimeout(() => {
      throw error;
    });
  }
}

function refuse(id: number | string, message: string): void {
  postMessage({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } });
}

/** What is asked of a server that is no more. A client that stops waits for an answer. */
function receiveAfterDeath({ id, method }: Message, why: string): void {
  if (id === undefined || method === undefined) {
    return;
  }
  if (method === "shutdown") {
    postMessage({ jsonrpc: "2.0", id, result: null });
  } else {
    refuse(id, why);
  }
}

function receive(one: Module, message: Message): void {
  if (message.method !== undefined && message.id !== undefined) {
    open.add(message.id);
  }
  if (message.method === "hiera-ls/page") {
    put(one, message.params?.code ?? "");
    postMessage({ jsonrpc: "2.0", id: message.id, result: taken(one, one.page()) });
    open.delete(message.id ?? "");
    return;
  }
  put(one, JSON.stringify(message));
  one.receive();
  run(one);
}

async function start(bytes: BufferSource): Promise<void> {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const one = instance.exports as unknown as Module;
  const why = taken(one, one.start());
  if (why !== "") {
    throw new Error(why);
  }
  server = one;
  for (const message of early.splice(0)) {
    handle(message);
  }
}

function handle(message: Message): void {
  const one = server;
  if (one !== undefined) {
    guarded(() => {
      receive(one, message);
    });
  } else if (dead !== undefined) {
    receiveAfterDeath(message, dead);
  } else {
    early.push(message);
  }
}

addEventListener("message", ({ data }: MessageEvent<Message | { module: BufferSource }>) => {
  if ("module" in data) {
    start(data.module).catch((error: unknown) => {
      guarded(() => {
        throw error;
      });
    });
  } else {
    handle(data);
  }
});
