/**
 * What the server's commands want to know beside a place. Each question gets the place of the
 * cursor and returns the whole argument, or nothing when the user gives up.
 */

import * as vscode from "vscode";
import type { WorkspaceEdit } from "vscode-languageclient";

import {
  type Choices,
  counted,
  described,
  type Fact,
  type Facts,
  hasFacts,
  origins,
  problemOf,
  shown,
  summary,
  typedValue,
} from "./choices";
import { ofServer } from "./places";

/** The argument of a command, as docs/lsp-commands.md has it. */
export type Arguments = Record<string, unknown>;

/** Asks the server what there is to choose from at a place. */
export interface Ask {
  /** The nodes, with what tells them apart. */
  nodes(place: Arguments): Promise<Choices>;
  /** The facts that the hierarchy uses. */
  facts(place: Arguments): Promise<Facts>;
}

export type Question = (place: Arguments, ask: Ask) => Promise<Arguments | undefined>;

/** The extension's command that writes a file of nodes. */
export const CREATE_NODES = "hiera-ls.createNodes";

/** The extension's command that imports nodes in a terminal. */
export const IMPORT_NODES = "hiera-ls.importNodes";

/** The server's command that takes all facts of a what-if back. */
export const CLEAR_FACTS = "hiera.clearFacts";

type Named = vscode.QuickPickItem & { readonly name: string | null };

/** An item that runs a command instead of being a choice. */
type Way = vscode.QuickPickItem & { readonly run?: string };

const SELECT_NODE = "Hiera: Select Node";
const OVERRIDE = "Hiera: Override a Fact";
const COMPARE = "Hiera: Compare";
const UPGRADE = "Hiera: Preview Upgrade";
const SET_VALUE = "Hiera: Set Value for Nodes";
const WHY_NOT = "Hiera: Why Not This Value?";
const KNOWN_ARE_NONE = "No nodes are known";

const QUESTIONS: Readonly<Record<string, Question>> = {
  "hiera.selectNode": async (place, ask) => {
    const choices = await ask.nodes(place);
    const { nodes, selected } = choices;
    const mark = (name: string | null) => (name === selected ? ["selected"] : []);
    const all: Named & Way = {
      label: "All nodes",
      description: [...(nodes.length === 0 ? [] : [counted(nodes.length)]), ...mark(null)].join(" · "),
      name: null,
    };
    const each = nodes.map((name, at): Named & Way => ({
      label: name,
      name,
      description: [...mark(name), ...described(choices.choices?.[at])].join(" · "),
    }));
    const picked = await vscode.window.showQuickPick<Named & Way>([all, ...each, ...waysToNodes(choices)], {
      title: SELECT_NODE,
      placeHolder: nodes.length === 0 ? KNOWN_ARE_NONE : `Show values for… (${origins(choices, fileName)})`,
      matchOnDescription: true,
    });
    if (picked?.run !== undefined) {
      await vscode.commands.executeCommand(picked.run);
      return undefined;
    }
    return picked === undefined ? undefined : { ...place, certname: picked.name };
  },

  "hiera.setFact": async (place, ask) => {
    const facts = await ask.facts(place);
    const path = await pickFact(facts);
    if (path === undefined) {
      return undefined;
    }
    const fact = facts.facts.find((one) => one.path === path);
    const value = await pickValue(path, facts.overrides[path], fact);
    return value === undefined ? undefined : { ...place, path, value };
  },

  "hiera.diff": async (place, ask) => {
    const choices = await ask.nodes(place);
    const { nodes, selected } = choices;
    // One environment alone compares with nothing.
    const known = choices.environments ?? [];
    const environments = known.length > 1 ? known : [];
    const from = await pickSide(choices, nodes, environments, "The one to compare", selected);
    if (from === undefined) {
      return undefined;
    }
    const others = (names: readonly string[]) => names.filter((name) => name !== from);
    // A node compares with a node, and an environment with an environment.
    const isNode = nodes.includes(from);
    const to = await pickSide(
      choices,
      isNode ? others(nodes) : [],
      isNode ? [] : others(environments),
      `${from} compared with`,
      null,
    );
    return to === undefined ? undefined : { ...withoutPosition(place), from, to };
  },

  "hiera.upgrade": async (place) => {
    const picked = await vscode.window.showQuickPick(
      [
        { label: "OpenVox 9", description: "from the configured version", to: { to: 9 } },
        { label: "OpenVox 9 from Puppet 7", to: { from: 7, to: 9 } },
        { label: "Puppet 8 from Puppet 7", to: { from: 7, to: 8 } },
        { label: "End the preview", description: "hovers show today's answers only", to: { to: null } },
      ],
      { title: UPGRADE, placeHolder: "Upgrade to…" },
    );
    return picked && { ...withoutPosition(place), ...picked.to };
  },

  "hiera.setValue": async (place, ask) => {
    const wanted = await keyAndValue(place, SET_VALUE, "Desired value");
    const whose = wanted && (await pickWhose(await ask.nodes(place), await ask.facts(place)));
    if (whose === undefined) {
      return undefined;
    }
    const picked = await vscode.window.showQuickPick(
      [
        { label: "Only these nodes", description: "all other nodes keep their values", only: true },
        { label: "Other nodes may change too", description: "each proposal says which", only: false },
      ],
      { title: SET_VALUE, placeHolder: "Which nodes may change?" },
    );
    return picked && { ...wanted, for: whose, only: picked.only };
  },

  "hiera.whyNot": async (place, ask) => {
    const wanted = await keyAndValue(place, WHY_NOT, "The value that is expected");
    if (wanted === undefined) {
      return undefined;
    }
    const choices = await ask.nodes(place);
    const node = await pickSide(choices, choices.nodes, [], "The node", choices.selected, WHY_NOT);
    return node === undefined ? undefined : { ...wanted, node };
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

/** The key under the cursor or by its name, and a value as YAML. */
async function keyAndValue(place: Arguments, title: string, what: string): Promise<Arguments | undefined> {
  const about = "uri" in place ? place : await keyByName(place);
  const prompt = `${what}, as YAML: 8080, [a, b] or {port: 443}`;
  const yaml = about && (await vscode.window.showInputBox({ title, prompt }));
  return yaml === undefined || yaml.trim() === "" ? undefined : { ...about, yaml };
}

/** The nodes that are to get a value: conditions that must all hold, none for all nodes. */
async function pickWhose(choices: Choices, { facts }: Facts): Promise<readonly string[] | undefined> {
  type Item = vscode.QuickPickItem & { readonly whose: readonly string[] };
  const items: Item[] = [{ label: "All nodes", description: counted(choices.nodes.length), whose: [] }];
  for (const { name, values } of facts) {
    for (const { value, nodes } of values.filter((count) => count.nodes > 0)) {
      const label = `${name}=${shown(value)}`;
      items.push({ label, description: counted(nodes), whose: [label] });
    }
  }
  choices.nodes.forEach((name, at) => {
    items.push({ label: name, description: described(choices.choices?.[at]).join(" · "), whose: [name] });
  });
  const typed = (text: string): Item => ({
    label: text,
    description: "as typed",
    whose: text.split(/\s+/),
  });
  const placeholder = "Pick nodes, or type a name or conditions such as role=web,db site=lon";
  return (await pickOrType(SET_VALUE, placeholder, items, typed))?.whose;
}

/** An item that is picked, or made of what is typed. */
async function pickOrType<Item extends vscode.QuickPickItem>(
  title: string,
  placeholder: string,
  known: readonly Item[],
  typed: (text: string) => Item,
): Promise<Item | undefined> {
  const picker = vscode.window.createQuickPick<Item>();
  picker.title = title;
  picker.placeholder = placeholder;
  picker.items = known;
  picker.onDidChangeValue((value) => {
    const text = value.trim();
    const isKnown = known.some(({ label }) => label === text);
    picker.items = text === "" || isKnown ? known : [typed(text), ...known];
  });
  try {
    return await new Promise<Item | undefined>((resolve) => {
      picker.onDidAccept(() => {
        const [item] = picker.selectedItems;
        if (item !== undefined) {
          resolve(item);
        }
      });
      picker.onDidHide(() => {
        resolve(undefined);
      });
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}

/** Edits after which nodes have a value, as docs/lsp-commands.md has them. */
export interface Proposal {
  readonly title: string;
  readonly proof: string;
  readonly diff: string;
  /** Null where the editor cannot make it. */
  readonly edit: WorkspaceEdit | null;
}

/** Lets the user choose one of several ways, the smallest first. */
export async function pickProposal(proposals: readonly Proposal[]): Promise<Proposal | undefined> {
  const items = proposals.map((proposal) => ({ label: proposal.title, detail: proposal.proof, proposal }));
  const placeHolder = "The smallest edit comes first; it is shown before it is made";
  const picked = items.length === 0 ? undefined : await vscode.window.showQuickPick(items, { title: SET_VALUE, placeHolder });
  return picked?.proposal;
}

/** What helps where nodes or their facts are missing. */
function waysToNodes(choices: Choices): (Named & Way)[] {
  if (hasFacts(choices)) {
    return [];
  }
  const why = choices.nodes.length === 0 ? "save what is known about your nodes" : "no facts for these nodes";
  return [
    { label: "", kind: vscode.QuickPickItemKind.Separator, name: null },
    { label: "$(new-file) Create nodes.json…", description: why, name: null, run: CREATE_NODES },
    { label: "$(cloud-download) Import Nodes…", description: "from PuppetDB", name: null, run: IMPORT_NODES },
  ];
}

/** The facts that the hierarchy uses, and those that are overridden already. */
async function pickFact({ node, facts, overrides }: Facts): Promise<string | undefined> {
  const overridden = Object.entries(overrides);
  const items: (Named & Way)[] = overridden.map(([name, now]) => ({
    label: name,
    name,
    description: `overridden: ${shown(now)}`,
  }));
  for (const fact of facts.filter(({ settable, path }) => settable && !(path in overrides))) {
    items.push({ label: fact.path, name: fact.path, description: summary(fact, node) });
  }
  items.push({ label: "Another fact…", description: "such as os.family", name: null });
  if (overridden.length > 0) {
    items.push({ label: "", kind: vscode.QuickPickItemKind.Separator, name: null });
    items.push({ label: "$(clear-all) Clear All Overrides", name: null, run: CLEAR_FACTS });
  }
  const picked = await vscode.window.showQuickPick(items, {
    title: OVERRIDE,
    placeHolder: "A fact that the hierarchy uses; only answers change, no file does",
    matchOnDescription: true,
  });
  if (picked?.run !== undefined) {
    await vscode.commands.executeCommand(picked.run);
    return undefined;
  }
  if (picked === undefined || picked.name !== null) {
    return picked?.name ?? undefined;
  }
  const typed = await vscode.window.showInputBox({
    title: OVERRIDE,
    prompt: "The fact, such as os.family",
    validateInput: (name) => problemOf(name.trim(), facts),
  });
  return typed === undefined || typed.trim() === "" ? undefined : typed.trim().replace(/^facts\./, "");
}

/** A known value, or what is typed; null takes the override back. */
async function pickValue(path: string, now: unknown, fact: Fact | undefined): Promise<unknown> {
  type Item = vscode.QuickPickItem & { readonly value: unknown };
  const known: Item[] = (fact?.values ?? []).map(({ value, nodes }) => ({
    label: shown(value),
    description: nodes === 0 ? "from the name of a file" : `on ${counted(nodes)}`,
    value,
  }));
  if (now !== undefined) {
    known.push({ label: "$(discard) Remove the Override", description: `now ${shown(now)}`, value: null });
  }
  const placeholder =
    known.length === 0 ? `Type a value for ${path}, plain or as JSON` : `Pick or type a value for ${path}, plain or as JSON`;
  const typed = (text: string): Item => ({ label: text, description: "as typed", value: typedValue(text) });
  return (await pickOrType(OVERRIDE, placeholder, known, typed))?.value;
}

async function pickSide(
  choices: Choices,
  nodes: readonly string[],
  environments: readonly string[],
  placeHolder: string,
  selected: string | null,
  title = COMPARE,
): Promise<string | undefined> {
  const known = new Map(choices.choices?.map((choice) => [choice.node, choice]));
  const items: (Named & Way)[] = nodes.map((name) => ({
    label: name,
    name,
    description: [...(name === selected ? ["selected"] : []), ...described(known.get(name))].join(" · "),
  }));
  // The selected node is the likeliest.
  items.sort((a, b) => Number(b.name === selected) - Number(a.name === selected));
  for (const name of environments) {
    items.push({ label: name, name, description: "environment" });
  }
  const isEmpty = items.length === 0;
  const picked = await vscode.window.showQuickPick(isEmpty ? waysToNodes(choices) : items, {
    title,
    placeHolder: isEmpty ? KNOWN_ARE_NONE : placeHolder,
    matchOnDescription: true,
  });
  if (picked?.run !== undefined) {
    await vscode.commands.executeCommand(picked.run);
  }
  return picked?.name ?? undefined;
}

function withoutPosition(place: Arguments): Arguments {
  return Object.fromEntries(Object.entries(place).filter(([name]) => name !== "position"));
}

/** A file's path in the workspace. */
function fileName(uri: string): string {
  return vscode.workspace.asRelativePath(ofServer(uri));
}
