// What the page shows, in its address: a link to a colleague shows the same.

export interface State {
  view: string;
  key: string;
  node: string;
  /** The second node of a comparison. */
  with: string;
  /** The file in the editor field. */
  file: string;
  /** What is searched. */
  q: string;
  /** The facts of a what-if, by their paths. */
  facts: Record<string, unknown>;
}

/** A value of a fact as it is typed: JSON where it is JSON, else the text itself. */
export function typed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const written = (value: unknown): string =>
  typeof value === "string" && typed(value) === value ? value : JSON.stringify(value);

export function read(): State {
  const given = new URLSearchParams(location.hash.slice(1));
  const facts: State["facts"] = {};
  for (const [name, value] of given) if (name.startsWith("fact.")) facts[name.slice(5)] = typed(value);
  const text = (name: string): string => given.get(name) ?? "";
  return { view: text("view"), key: text("key"), node: text("node"), with: text("with"), file: text("file"), q: text("q"), facts };
}

/** The address of a state; `change` is laid over it. */
export function address(state: State, change: Partial<State>): string {
  const { facts, ...rest } = { ...state, ...change };
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) if (value) all.set(name, value);
  for (const [path, value] of Object.entries(facts)) all.set(`fact.${path}`, written(value));
  return `#${all.toString()}`;
}
