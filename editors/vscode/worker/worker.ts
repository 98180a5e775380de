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
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly code?: string };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let server: Module | undefined;
/** What came before the module was there. */
const early: Message[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

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
    postMessage(JSON.parse(taken(one, length)));
  }
  if (next >= 0) {
    timer = setTimeout(() => {
      run(one);
    }, next);
  }
}

function receive(one: Module, message: Message): void {
  if (message.method === "hiera-ls/page") {
    put(one, message.params?.code ?? "");
    postMessage({ jsonrpc: "2.0", id: message.id, result: taken(one, one.page()) });
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
    receive(one, message);
  }
}

addEventListener("message", ({ data }: MessageEvent<Message | { module: BufferSource }>) => {
  if ("module" in data) {
    start(data.module).catch((error: unknown) => {
      // Outside of the promise it is an error of the worker, which the extension hears.
      setTimeout(() => {
        throw error;
      });
    });
  } else if (server === undefined) {
    early.push(data);
  } else {
    receive(server, data);
  }
});
