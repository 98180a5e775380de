/** The matrix of a key as a table: rows with what is shown, filtered and sorted. It knows no editor and no page. */

/** A line that gives a value. */
export interface Source {
  readonly file: string;
  /** The file's path in the workspace. */
  readonly name: string;
  readonly line: number;
}

/** One answer. */
export interface Answer {
  /** The value as YAML, or what is said in its place. */
  readonly text: string;
  /** Whether `text` is a value. */
  readonly isValue: boolean;
  /** What makes it uncertain. */
  readonly notes: readonly string[];
  readonly nodes: readonly string[];
  /** What must hold of a node, where no nodes are known; else empty. */
  readonly condition: string;
  readonly sources: readonly Source[];
}

/** All answers of a key. */
export interface Matrix {
  readonly key: string;
  readonly answers: readonly Answer[];
  /** The node that answers are for elsewhere. */
  readonly selected: string | null;
  /** The facts of a what-if: `os.family = RedHat`. */
  readonly hypothetical: readonly string[];
}

/** How rows are made of answers: one for each answer, or one for each node. */
export type Grouping = "answers" | "nodes";

export type Column = "value" | "nodes" | "from";

export interface Order {
  readonly column: Column;
  readonly ascending: boolean;
}

export interface Row {
  readonly answer: Answer;
  /** Those of the answer's nodes that the filter leaves. */
  readonly nodes: readonly string[];
}

/** What `hiera.matrix` answers with, as docs/lsp-commands.md has it. */
export interface Reply {
  readonly data?: { key?: string; answers?: readonly Cell[]; by_facts?: readonly Cell[] } | null;
  /** The value of each answer as YAML. */
  readonly values?: readonly string[];
}

interface Cell {
  readonly found: boolean | null;
  readonly error?: string;
  readonly unknown?: string;
  readonly possible?: unknown;
  readonly unless?: string;
  readonly assumed?: readonly string[];
  readonly nodes?: readonly string[];
  readonly condition?: string;
  readonly sources: readonly { readonly file: string; readonly line: number }[];
}

/** The table of an answer of the server; nothing where it has no data. */
export function matrixOf(
  reply: Reply,
  name: (file: string) => string,
  chosen: { readonly selected: string | null; readonly facts: Readonly<Record<string, unknown>> },
): Matrix | undefined {
  const { data, values = [] } = reply;
  if (data?.key === undefined || data.answers === undefined) {
    return undefined;
  }
  const cells = [...data.answers, ...(data.by_facts ?? [])];
  const answers = cells.map((cell, at): Answer => {
    const isValue = cell.found === true || cell.possible !== undefined;
    return {
      text: isValue ? (values[at] ?? "") : inPlaceOf(cell),
      isValue,
      notes: notes(cell, isValue),
      nodes: cell.nodes ?? [],
      condition: cell.condition ?? "",
      sources: cell.sources.map(({ file, line }) => ({ file, line, name: name(file) })),
    };
  });
  const hypothetical = Object.entries(chosen.facts).map(
    ([path, value]) => `${path} = ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return { key: data.key, answers, selected: chosen.selected, hypothetical };
}

function inPlaceOf({ found, error, unknown }: Cell): string {
  if (found === null) {
    return `unknown: ${unknown ?? "it is not certain"}`;
  }
  return error === undefined || error.includes("did not find a value") ? "not set" : `Puppet fails: ${error}`;
}

function notes({ unknown, unless, assumed = [] }: Cell, isValue: boolean): string[] {
  const doubt = unless === undefined ? unknown : `unless ${unless}`;
  return [...(isValue && doubt !== undefined ? [doubt] : []), ...assumed];
}

/** The rows that a filter leaves, in order. A node is left if its name, or its answer, has every word of the filter. */
export function rows({ answers }: Matrix, grouping: Grouping, filter: string, order: Order): Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const left = answers.flatMap((answer): Row[] => {
    const said = [answer.text, answer.condition, ...answer.notes, ...answer.sources.map(place)].join("\n").toLowerCase();
    const missing = words.filter((word) => !said.includes(word));
    const nodes = missing.length === 0 ? answer.nodes : answer.nodes.filter((node) => missing.every((word) => node.includes(word)));
    if (missing.length > 0 && nodes.length === 0) {
      return [];
    }
    return grouping === "nodes" && nodes.length > 0 ? nodes.map((node) => ({ answer, nodes: [node] })) : [{ answer, nodes }];
  });
  const sign = order.ascending ? 1 : -1;
  return left.map((row, at) => ({ row, at })).sort((one, other) => sign * compare(one.row, other.row, order.column, grouping) || one.at - other.at).map(({ row }) => row);
}

function compare(one: Row, other: Row, column: Column, grouping: Grouping): number {
  const texts = new Intl.Collator("en", { numeric: true });
  switch (column) {
    case "value":
      return texts.compare(one.answer.text, other.answer.text);
    case "from":
      return texts.compare(one.answer.sources.map(place).join(" "), other.answer.sources.map(place).join(" "));
    case "nodes":
      return grouping === "answers"
        ? one.nodes.length - other.nodes.length
        : texts.compare(one.nodes[0] ?? one.answer.condition, other.nodes[0] ?? other.answer.condition);
  }
}

/** A source as people write it. */
export function place({ name, line }: Source): string {
  return `${name}:${line}`;
}

/** What all answers are, in a sentence. */
export function summary({ answers }: Matrix): string {
  const nodes = answers.reduce((sum, answer) => sum + answer.nodes.length, 0);
  const isOfNodes = answers.every(({ condition }) => condition === "");
  if (answers.length === 0) {
    return "no node is known";
  }
  if (isOfNodes) {
    return answers.length === 1 ? `the same value on ${counted(nodes)}` : `${answers.length} different values on ${counted(nodes)}`;
  }
  return answers.length === 1 ? "the same value on every node" : `${answers.length} different values, depending on a node's facts`;
}

/** What a filter leaves, in a sentence. */
export function leaves(left: readonly Row[], { answers }: Matrix): string {
  const all = answers.reduce((sum, answer) => sum + answer.nodes.length, 0);
  const nodes = left.reduce((sum, row) => sum + row.nodes.length, 0);
  const shown = new Set(left.map(({ answer }) => answer)).size;
  const values = `${shown} of ${answers.length} values`;
  return all === 0 ? values : `${values}, ${nodes} of ${counted(all)}`;
}

/** A number of nodes in words. */
export function counted(nodes: number): string {
  return nodes === 1 ? "1 node" : `${nodes.toLocaleString("en")} nodes`;
}
