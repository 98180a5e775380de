// What several views show: answers, places in files, nodes, and lines of a file.

import { count, details, h } from "./dom";
import type { Answer, Engine, Lines, Overview, Source } from "./engine";
import { address, type State } from "./state";

export interface Context {
  engine: Engine;
  overview: Overview;
  state: State;
  /** Goes to another state. */
  go(change: Partial<State>, replace?: boolean): void;
}

export function link(context: Context, change: Partial<State>, text: string, name = "a"): HTMLElement {
  return h(name, { href: address(context.state, change) }, text);
}

export function short(context: Context, file: string): string {
  const folder = `${context.overview.folder}/`;
  return file.startsWith(folder) ? file.slice(folder.length) : file;
}

/** A place that opens the lines of its file. */
export function place(context: Context, source: Source, before = false): HTMLElement {
  const name = `${short(context, source.file)}:${source.line}`;
  const show = (event: Event): void => { showLines(context, source, before, event.currentTarget as HTMLElement); };
  return h("button.place", { type: "button", click: show, "aria-haspopup": "dialog" }, name);
}

export function places(context: Context, sources: Source[], before = false): HTMLElement {
  return h("span.places", {}, sources.map((source) => place(context, source, before)));
}

function showLines(context: Context, source: Source, before: boolean, from: HTMLElement): void {
  let found: Lines;
  try {
    found = context.engine.ask<Lines>("source", { ...source, around: 12, before });
  } catch (error) {
    found = { first: 1, lines: [String(error)] };
  }
  const lines = found.lines.map((text, at) => {
    const line = found.first + at;
    return h(line === source.line ? "li.this" : "li", { value: line }, h("code", {}, text || " "));
  });
  const dialog = h("dialog", { "aria-labelledby": "place", close: () => { dialog.remove(); from.focus(); } },
    h("form.bar", { method: "dialog" },
      h("h2", { id: "place" }, `${short(context, source.file)}:${source.line}${before ? " (before)" : ""}`),
      h("button", {}, "Close")),
    h("ol.lines", { tabindex: 0, "aria-label": "lines of the file" }, lines)) as HTMLDialogElement;
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector(".this")?.scrollIntoView({ block: "center" });
}

/** An answer as a block: its value, what is uncertain of it, and where it is from. */
export function value(answer: Answer): HTMLElement {
  const kind = answer.unknown !== undefined ? "unknown" : answer.found ? "found" : "missing";
  return h("div.value", { "data-kind": kind },
    h("pre", { tabindex: answer.yaml.includes("\n") ? 0 : -1 }, answer.yaml.trimEnd()),
    answer.unless && h("p.unless", {}, `unless ${answer.unless}`));
}

/** Names of nodes: a few, and the rest when asked for. */
export function nodes(context: Context, names: string[], all: number, change: Partial<State> = {}): HTMLElement {
  const one = (name: string): HTMLElement => h("li", {}, link(context, { node: name, ...change }, name));
  if (names.length <= 3) return h("ul.nodes", {}, names.map(one));
  const title = names.length === all ? `all ${count(all, "node")}` : `${names.length} of ${count(all, "node")}`;
  return details("", [title], false, () => [h("ul.nodes", {}, names.map(one))]);
}

/** From how many nodes on a name is typed instead of chosen. */
const MANY = 200;

/** A choice of a node. */
export function nodeChoice(context: Context, label: string, chosen: string, pick: (name: string) => void): HTMLElement {
  const names = context.overview.nodes.map((node) => node.name);
  if (names.length <= MANY) {
    const select = h("select", { change: () => { pick(select.value); } },
      h("option", { value: "" }, "any node"),
      names.map((name) => h("option", { value: name, selected: name === chosen }, name))) as HTMLSelectElement;
    return h("label.choice", {}, h("span", {}, label), select);
  }
  const known = new Set(names);
  const input = h("input", { list: "nodes", value: chosen, placeholder: "part of a name", autocomplete: "off", spellcheck: "false",
    change: () => { const { value: name } = input; if (known.has(name) || name === "") pick(name); } }) as HTMLInputElement;
  return h("label.choice", {}, h("span", {}, label), input);
}

export function note(...children: (Node | string)[]): HTMLElement {
  return h("p.note", {}, ...children);
}
