/**
 * What the server's commands want to know beside a place. Each question gets the place of the
 * cursor and returns the whole argument, or nothing when the user gives up.
 */

import * as vscode from "vscode";

/** The command that lists the choices there are; for pickers, not for people. */
export const NODES = "hiera.nodes";

/** The argument of a command, as docs/lsp-commands.md has it. */
export type Arguments = Record<string, unknown>;

/** What `hiera.nodes` answers. */
export interface Choices {
  readonly nodes: readonly string[];
  /** The node that answers are for; null for any. */
  readonly selected: string | null;
  /** The facts of a what-if, by path. */
  readonly facts?: Readonly<Record<string, unknown>> | null;
  readonly environments?: readonly string[];
}

/** Asks the server for the choices at a place. */
export type Ask = (place: Arguments) => Promise<Choices>;

export type Question = (place: Arguments, ask: Ask) => Promise<Arguments | undefined>;

type Named = vscode.QuickPickItem & { readonly name: string | null };

const NO_NODES = "No nodes are known: see the setting 'hiera-ls.nodesFiles'";

const SELECT_NODE = "Hiera: Select Node";
const WHAT_IF = "Hiera: What If a Fact Were Different";
const COMPARE = "Hiera: Compare";

const QUESTIONS: Readonly<Record<string, Question>> = {
  "hiera.selectNode": async (place, ask) => {
    const { nodes, selected } = await ask(place);
    const item = (label: string, name: string | null): Named => ({
      label,
      name,
      ...(name === selected ? { description: "selected" } : {}),
    });
    const items = [item("All nodes", null), ...nodes.map((name) => item(name, name))];
    const placeHolder = nodes.length === 0 ? NO_NODES : "Answer for";
    const picked = await vscode.window.showQuickPick(items, { title: SELECT_NODE, placeHolder });
    return picked === undefined ? undefined : { ...place, certname: picked.name };
  },

  "hiera.setFact": async (place, ask) => {
    const { facts } = await ask(place);
    const path = await pickFact(facts ?? {});
    if (path === undefined || path === "") {
      return undefined;
    }
    const prompt = `The value of ${path}, as JSON or plain text; empty takes it back`;
    const now = facts?.[path];
    const typed = await vscode.window.showInputBox({
      title: WHAT_IF,
      prompt,
      ...(now === undefined ? {} : { value: typeof now === "string" ? now : JSON.stringify(now) }),
    });
    return typed === undefined ? undefined : { ...place, path, value: value(typed) };
  },

  "hiera.diff": async (place, ask) => {
    const { nodes, selected, environments = [] } = await ask(place);
    const from = await pickSide(nodes, environments, "The one to compare", selected);
    if (from === undefined) {
      return undefined;
    }
    const others = (names: readonly string[]) => names.filter((name) => name !== from);
    // A node compares with a node, and an environment with an environment.
    const isNode = nodes.includes(from);
    const to = await pickSide(
      isNode ? others(nodes) : [],
      isNode ? [] : others(environments),
      `${from} compared with`,
      null,
    );
    return to === undefined ? undefined : { ...withoutPosition(place), from, to };
  },
};

/** The question of a command, if it has one. */
export function question(command: string): Question | undefined {
  return QUESTIONS[command];
}

/** Asks for the name of a key, where none is under the cursor. */
export async function keyByName(place: Arguments): Promise<Arguments | undefined> {
  const prompt = "The key, such as profile::web::port or users.alice.uid";
  const key = await vscode.window.showInputBox({ title: "Hiera", prompt });
  return key === undefined || key.trim() === ""
    ? undefined
    : { ...withoutPosition(place), key: key.trim() };
}

/** Facts that differ already can be picked; with none, the name is typed at once. */
async function pickFact(facts: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const type = () =>
    vscode.window.showInputBox({ title: WHAT_IF, prompt: "The fact, such as os.family" });
  const set = Object.entries(facts);
  if (set.length === 0) {
    return type();
  }
  const items: Named[] = set.map(([name, now]) => ({
    label: name,
    name,
    description: `now ${JSON.stringify(now)}`,
  }));
  items.push({ label: "Another fact…", name: null });
  const picked = await vscode.window.showQuickPick(items, { title: WHAT_IF });
  return picked === undefined ? undefined : (picked.name ?? type());
}

async function pickSide(
  nodes: readonly string[],
  environments: readonly string[],
  placeHolder: string,
  selected: string | null,
): Promise<string | undefined> {
  const items: (vscode.QuickPickItem & { name: string })[] = nodes.map((name) => ({
    label: name,
    name,
    ...(name === selected ? { description: "selected" } : {}),
  }));
  // The selected node is the likeliest.
  items.sort((a, b) => Number(b.name === selected) - Number(a.name === selected));
  for (const name of environments) {
    items.push({ label: name, name, description: "environment" });
  }
  const picked = await vscode.window.showQuickPick(items, {
    title: COMPARE,
    placeHolder: items.length === 0 ? NO_NODES : placeHolder,
  });
  return picked?.name;
}

function withoutPosition(place: Arguments): Arguments {
  return place["uri"] === undefined ? {} : { uri: place["uri"] };
}

/** Typed text as a value: JSON if it parses, else text; null for empty text. */
function value(typed: string): unknown {
  if (typed.trim() === "") {
    return null;
  }
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}
