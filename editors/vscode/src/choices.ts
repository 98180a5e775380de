/** What the server tells pickers of nodes, facts and recipes, and how that is put into words. */

/** The commands that list what there is to choose from; for pickers, not for people. */
export const NODES = "hiera.nodes";
export const FACTS = "hiera.facts";
export const RECIPES = "hiera.recipes";

/** What `hiera.nodes` answers, as docs/lsp-commands.md has it. */
export interface Choices {
  readonly nodes: readonly string[];
  readonly origins?: readonly Origin[];
  /** The node that answers are for; null for any. */
  readonly selected: string | null;
  /** The facts of a what-if, by path. */
  readonly facts?: Readonly<Record<string, unknown>> | null;
  readonly environments?: readonly string[];
  /** Of each node, in the same order; only where details were asked for. */
  readonly choices?: readonly Choice[];
}

/** A node as a picker shows it. */
export interface Choice {
  readonly node: string;
  /** `all` where its facts are known. */
  readonly known: string;
  /** Its environment, if a source tells it. */
  readonly environment?: string | null;
  /** What tells it from the others: `role = web · facts.site = lon`. */
  readonly says: string;
}

/** Where nodes come from. */
interface Origin {
  /** The file that describes them; null where data files are named after them. */
  readonly uri: string | null;
  readonly nodes: number;
  /** When they were imported, if they were. */
  readonly imported?: ImportTime | null;
}

/** When nodes were imported. */
interface ImportTime {
  readonly at: string | null;
  /** The same as `3 days ago`. */
  readonly age: string | null;
  /** Since when they are out of date, if they are. */
  readonly stale_since: string | null;
}

/** What `hiera.facts` answers. */
export interface Facts {
  /** The selected node. */
  readonly node: string | null;
  readonly facts: readonly Fact[];
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** A variable that the hierarchy uses. */
export interface Fact {
  readonly path: string;
  readonly name: string;
  /** Whether it is a fact, which alone can be overridden. */
  readonly settable: boolean;
  /** How many levels use it. */
  readonly levels: number;
  readonly override: unknown;
  /** The selected node's value. */
  readonly current: unknown;
  /** Those of most nodes first. */
  readonly values: readonly Count[];
  /** How many more values there are. */
  readonly more: number;
}

/** A value, and how many nodes have it. */
export interface Count {
  readonly value: unknown;
  readonly nodes: number;
}

/** A way to get a file of nodes. */
export interface Recipe {
  readonly title: string;
  readonly detail: string;
  /** A line for a shell. */
  readonly command: string;
}

/** So many nodes are written into a file that is begun by hand. */
const MAX_DRAFTED = 1000;

/** So many values of a fact are told in a line. */
const MAX_TOLD = 3;

/** Where the nodes come from: `8 nodes from nodes.json`. */
export function origins({ nodes, origins: all = [] }: Choices, name: (uri: string) => string): string {
  if (nodes.length === 0) {
    return "no nodes are known";
  }
  if (all.length === 0) {
    return counted(nodes.length);
  }
  return all
    .map(({ uri, nodes: count, imported }) => {
      const age = imported?.age ?? null;
      const from = uri === null ? "the names of data files" : name(uri);
      return `${counted(count)} from ${from}${age === null ? "" : `, imported ${age}`}`;
    })
    .join(", ");
}

/** What is out of date: `nodes.json is stale since 2026-11-29 10:00:00 UTC`. */
export function stale({ origins: all = [] }: Choices, name: (uri: string) => string): string[] {
  return all.flatMap(({ uri, imported }) => {
    const since = imported?.stale_since ?? null;
    return uri === null || since === null ? [] : [`${name(uri)} is stale since ${since}`];
  });
}

/** What tells a node from the others, for a picker: `staging · role = web`. */
export function described(choice: Choice | undefined): string[] {
  return choice === undefined ? [] : [choice.environment ?? "", choice.says].filter(Boolean);
}

/** Whether anything but the names of nodes is known. */
export function hasFacts({ nodes, origins: all }: Choices): boolean {
  return nodes.length > 0 && (all === undefined || all.some(({ uri }) => uri !== null));
}

/** What a fact is now, in a line: `lon on web01`, `Debian on 6 nodes, RedHat on 2 nodes`. */
export function summary({ values, more, current }: Fact, node: string | null): string {
  if (node !== null && current !== null) {
    return `${shown(current)} on ${node}`;
  }
  if (values.length === 0) {
    return "not known for any node";
  }
  const told = values
    .slice(0, MAX_TOLD)
    .map(({ value, nodes }) => (nodes === 0 ? shown(value) : `${shown(value)} on ${counted(nodes)}`));
  const rest = values.length - told.length + more;
  return rest > 0 ? `${told.join(", ")} and ${rest} more values` : told.join(", ");
}

/** Why a name that was typed cannot be overridden. */
export function problemOf(name: string, facts: readonly Fact[]): string | undefined {
  if (name === "trusted" || name.startsWith("trusted.")) {
    return "trusted facts come from the certificate and cannot be overridden";
  }
  return facts.some((fact) => fact.name === name && !fact.settable)
    ? `'${name}' is a variable that a manifest, a classifier or the file of nodes sets, not a fact`
    : undefined;
}

/** A value in a line: text as it is, the rest as JSON. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Typed text as a value: JSON if it parses, else text. */
export function typedValue(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}

/** A number of nodes in words. */
export function counted(nodes: number): string {
  return nodes === 1 ? "1 node" : `${nodes.toLocaleString("en")} nodes`;
}

/** A file of nodes to fill in: the known names, or an example, with what levels use. */
export function draft(choices: Choices | undefined, { facts }: Facts): string {
  const names = (choices?.nodes ?? []).slice(0, MAX_DRAFTED);
  const nodes = (names.length === 0 ? ["web01.example.com"] : names).map((name): [string, unknown] => {
    const own: Record<string, unknown> = {};
    const variables: Record<string, unknown> = {};
    for (const { name: variable, path, settable } of facts.filter(({ levels }) => levels > 0)) {
      if (settable && variable.includes(".")) {
        put(own, path.split("."), "");
      } else if (!["trusted", "environment", "facts"].includes(variable.split(".")[0] ?? "")) {
        variables[variable] = "";
      }
    }
    return [name, { facts: own, variables }];
  });
  return `${JSON.stringify(Object.fromEntries(nodes), null, 2)}\n`;
}

function put(hash: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head, ...rest] = path;
  if (head === undefined) {
    return;
  }
  if (rest.length === 0) {
    hash[head] = value;
    return;
  }
  const inner = hash[head];
  const next = typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>) : {};
  hash[head] = next;
  put(next, rest, value);
}
