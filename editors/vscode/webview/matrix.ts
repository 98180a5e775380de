/**
 * The page of a matrix: a table that is filtered and sorted, in the editor's colours. What is in it comes from
 * `src/matrixModel.ts`; texts are set as text, never as markup.
 */

import { type Answer, type Column, counted, type Grouping, leaves, type Matrix, type Order, place, type Row, rows, type Source, summary } from "../src/matrixModel";

interface State {
  readonly matrix: Matrix;
  readonly grouping: Grouping;
  readonly filter: string;
  readonly order: Order;
}

declare function acquireVsCodeApi(): {
  postMessage(message: unknown): void;
  getState(): State | undefined;
  setState(state: State): void;
};

/** Longer values are cut until they are asked for, in lines. */
const MOST_LINES = 12;

/** So many rows are drawn at once. */
const MOST_ROWS = 500;

/** Of so many nodes the names are shown without being asked for. */
const FEW_NODES = 3;

const START = { grouping: "answers", filter: "", order: { column: "nodes", ascending: false } } as const;

const editor = acquireVsCodeApi();
let state = editor.getState();

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function byId(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

const search = byId("filter") as HTMLInputElement;

function change(changed: Partial<State>): void {
  if (state !== undefined) {
    state = { ...state, ...changed };
    editor.setState(state);
    draw();
  }
}

function draw(): void {
  if (state === undefined) {
    return;
  }
  const { matrix, grouping, filter, order } = state;
  document.title = `Values of ${matrix.key}`;
  byId("key").textContent = matrix.key;
  byId("summary").textContent = summary(matrix);
  const hypothetical = byId("hypothetical");
  hypothetical.hidden = matrix.hypothetical.length === 0;
  hypothetical.textContent = `what if: ${matrix.hypothetical.join(", ")}`;
  if (search.value !== filter) {
    search.value = filter;
  }
  const isOfNodes = matrix.answers.some(({ nodes }) => nodes.length > 0);
  byId("grouping").hidden = !isOfNodes;
  for (const choice of document.querySelectorAll<HTMLInputElement>("input[name=grouping]")) {
    choice.checked = choice.value === grouping;
  }
  const left = rows(matrix, grouping, filter, order);
  byId("left").textContent = filter.trim() === "" ? "" : leaves(left, matrix);
  byId("head").replaceChildren(...heads(isOfNodes, grouping, order));
  byId("rows").replaceChildren(...left.slice(0, MOST_ROWS).map((row) => line(row, matrix, grouping, isOfNodes)));
  const more = byId("more");
  more.hidden = left.length <= MOST_ROWS;
  more.textContent = `The first ${MOST_ROWS} of ${left.length.toLocaleString("en")} rows are shown: filter to see others.`;
  byId("empty").hidden = left.length > 0;
}

function heads(isOfNodes: boolean, grouping: Grouping, order: Order): HTMLElement[] {
  const whose: [Column, string] = ["nodes", isOfNodes ? (grouping === "nodes" ? "Node" : "Nodes") : "When"];
  const columns: [Column, string][] =
    grouping === "nodes" && isOfNodes ? [whose, ["value", "Value"], ["from", "From"]] : [["value", "Value"], whose, ["from", "From"]];
  return columns.map(([column, title]) => {
    const isSorted = order.column === column;
    const arrow = element("span", { className: "arrow" }, isSorted ? (order.ascending ? "▲" : "▼") : "");
    arrow.ariaHidden = "true";
    const button = element("button", { type: "button" }, title, arrow);
    button.dataset["column"] = column;
    button.addEventListener("click", () => {
      // Counts are wanted from the largest down, texts from A on.
      const isCount = column === "nodes" && grouping === "answers";
      change({ order: { column, ascending: isSorted ? !order.ascending : !isCount } });
      document.querySelector<HTMLElement>(`button[data-column=${column}]`)?.focus();
    });
    const head = element("th", { scope: "col", className: column }, button);
    head.ariaSort = isSorted ? (order.ascending ? "ascending" : "descending") : "none";
    return head;
  });
}

function line({ answer, nodes }: Row, { selected }: Matrix, grouping: Grouping, isOfNodes: boolean): HTMLElement {
  const isSelected = selected !== null && nodes.includes(selected);
  const value = element("td", { className: "value" }, ...valueOf(answer));
  const from = element("td", { className: "from" }, ...answer.sources.map(linkTo));
  if (grouping === "nodes" && isOfNodes) {
    const node = element("th", { scope: "row", className: "nodes" }, nodes[0] ?? answer.condition);
    if (isSelected) {
      node.append(element("span", { className: "badge" }, "selected"));
    }
    return element("tr", {}, node, value, from);
  }
  const whose = element("td", { className: "nodes" }, ...whoseOf(answer, nodes, isSelected ? selected : null));
  return element("tr", {}, value, whose, from);
}

function valueOf({ text, isValue, notes }: Answer): HTMLElement[] {
  const said = notes.map((note) => element("p", { className: "note" }, note));
  if (!isValue) {
    return [element("em", {}, text), ...said];
  }
  const all = text.split("\n");
  const code = element("code", {}, all.slice(0, MOST_LINES).join("\n"));
  const shown: HTMLElement[] = [element("pre", {}, code)];
  if (all.length > MOST_LINES) {
    const button = element("button", { type: "button", className: "link" }, `show all ${all.length} lines`);
    button.ariaExpanded = "false";
    button.addEventListener("click", () => {
      const isOpen = button.ariaExpanded === "true";
      button.ariaExpanded = String(!isOpen);
      button.textContent = isOpen ? `show all ${all.length} lines` : "show less";
      code.textContent = (isOpen ? all.slice(0, MOST_LINES) : all).join("\n");
    });
    shown.push(button);
  }
  return [...shown, ...said];
}

function whoseOf({ condition }: Answer, nodes: readonly string[], selected: string | null): HTMLElement[] {
  if (nodes.length === 0) {
    return [element("span", {}, condition)];
  }
  const names = element("ul", {}, ...nodes.map((node) => {
    const item = element("li", {}, node);
    if (node === selected) {
      item.append(element("span", { className: "badge" }, "selected"));
    }
    return item;
  }));
  const count = element("summary", {}, counted(nodes.length));
  return [element("details", { open: nodes.length <= FEW_NODES || selected !== null }, count, names)];
}

function linkTo(source: Source): HTMLElement {
  const button = element("button", { type: "button", className: "link" }, place(source));
  button.addEventListener("click", () => {
    editor.postMessage({ open: { file: source.file, line: source.line } });
  });
  return button;
}

search.addEventListener("input", () => {
  change({ filter: search.value });
});
for (const choice of document.querySelectorAll<HTMLInputElement>("input[name=grouping]")) {
  choice.addEventListener("change", () => {
    const grouping = choice.value as Grouping;
    change({ grouping, order: { column: "nodes", ascending: grouping === "nodes" } });
  });
}
byId("text").addEventListener("click", () => {
  editor.postMessage({ text: true });
});
window.addEventListener("message", ({ data }: MessageEvent<{ matrix?: Matrix }>) => {
  if (data.matrix !== undefined) {
    const isSame = state?.matrix.key === data.matrix.key;
    state = { ...(isSame && state !== undefined ? state : START), matrix: data.matrix };
    editor.setState(state);
    draw();
  }
});
draw();
editor.postMessage({ ready: true });
