// All nodes, one node's whole data, and the comparison of two.

import { count, h, inParts, inSlices, table } from "./dom";
import type { Difference, Row } from "./engine";
import { link, nodeChoice, note, places, value, type Context } from "./parts";

export function nodeView(context: Context): HTMLElement[] {
  return context.state.node ? one(context) : all(context);
}

function all(context: Context): HTMLElement[] {
  const { overview } = context;
  if (overview.nodes.length === 0) return [h("h2", {}, "Nodes"), note("No nodes are known in this report: see 'hiera-ls doctor'.")];
  const body = h("tbody");
  const search = h("input", { type: "search", placeholder: "a name or a value", spellcheck: "false" }) as HTMLInputElement;
  const status = h("p.count", { role: "status" });
  const show = (): void => {
    const words = search.value.trim().toLowerCase();
    const found = overview.nodes.filter((node) => [node.name, ...node.values].some((text) => text?.toLowerCase().includes(words)));
    inParts(body, found, 300, (node) => h("tr", {},
      h("th", { scope: "row" }, link(context, { node: node.name }, node.name)),
      node.values.map((text, at) => h("td", { "data-label": overview.variables[at] ?? "" }, text ?? "–"))));
    status.textContent = count(found.length, "node");
  };
  search.addEventListener("input", show);
  show();
  const region = table("nodes", ["Node", ...overview.variables], body);
  return [
    h("h2", {}, "Nodes"),
    h("div.bar", {}, h("label.choice", {}, h("span", {}, "Search"), search), status),
    overview.names_only ? note("Only their names are known, from the names of data files: values that depend on facts are unknown.") : "",
    region,
  ].filter((part) => typeof part !== "string");
}

function one(context: Context): HTMLElement[] {
  const { node, facts } = context.state;
  const set: Row[] = [];
  const body = h("tbody");
  const search = h("input", { type: "search", value: context.state.q, placeholder: "part of a key, or of a value" }) as HTMLInputElement;
  const status = h("p.count", { role: "status" });
  const show = (): void => {
    const words = search.value.trim().toLowerCase();
    const some = set.filter((row) => row.key.toLowerCase().includes(words)
      || row.answers.some((answer) => answer.text.toLowerCase().includes(words)));
    inParts(body, some, 200, (row) => h("tr", {},
      h("th", { scope: "row" }, link(context, { view: "keys", key: row.key }, row.key)),
      h("td", {}, row.answers.map(value)),
      h("td", {}, row.answers.map((answer) => places(context, answer.sources)))));
    status.textContent = `${count(some.length, "key")} with a value`;
  };
  search.addEventListener("input", () => { context.go({ q: search.value }, true); show(); });
  inSlices(body, context.engine.ask<string[]>("keys"), (keys, done) => {
    const { rows } = context.engine.ask<{ rows: Row[] }>("node", { node, keys, facts, texts: true });
    set.push(...rows.filter((row) => row.answers.some((answer) => answer.found || answer.unknown !== undefined)));
    // A screen is there at once; adding to a long list each time would take longer than the answers.
    if (set.length < 40 || done === keys.length) show();
    else status.textContent = `${count(done, "key")} looked up …`;
  }, show);
  const region = table(`the data of ${node}`, ["Key", "Value", "From"], body);
  return [
    h("p.path", {}, link(context, { node: "" }, "All nodes"), ` › ${node}`),
    h("h2", {}, node),
    h("div.bar", {}, h("label.choice", {}, h("span", {}, "Search"), search), status,
      link(context, { view: "hierarchy" }, "its way through the hierarchy")),
    region,
  ];
}

export function compareView(context: Context): HTMLElement[] {
  const { node, facts } = context.state;
  const other = context.state.with;
  const parts = [
    h("h2", {}, "Compare two nodes"),
    h("div.bar", {},
      nodeChoice(context, "First", node, (name) => { context.go({ node: name }); }),
      nodeChoice(context, "Second", other, (name) => { context.go({ with: name }); })),
  ];
  if (!node || !other) return [...parts, note("Choose two nodes: the keys with different values are listed.")];
  const found: Difference[] = [];
  const status = h("p.count", { role: "status" });
  const shown = h("div", {});
  const keys = context.engine.ask<string[]>("keys");
  inSlices(shown, keys, (some, done) => {
    found.push(...context.engine.ask<Difference[]>("diff", { from: node, to: other, keys: some, facts, texts: true }));
    status.textContent = `${done} of ${count(keys.length, "key")} compared`;
  }, () => {
    status.textContent = found.length === 0 ? "They get the same values." : `${count(found.length, "key")} with different values`;
    if (found.length > 0) shown.replaceChildren(differences(context, found, [node, other], false));
  });
  parts.push(status, shown);
  return parts;
}

export function differences(context: Context, found: Difference[], heads: [string, string], before: boolean, label = "differences"): HTMLElement {
  const body = h("tbody");
  const total = context.overview.nodes.length;
  inParts(body, found, 100, (one) => h("tr", {},
    h("th", { scope: "row" }, link(context, { view: "keys", key: one.key }, one.key),
      before && h("small", {}, one.after.nodes?.length === total ? `all ${count(total, "node")}` : (one.after.nodes ?? []).slice(0, 4).join(", ")
        + ((one.after.nodes?.length ?? 0) > 4 ? ` and ${(one.after.nodes?.length ?? 0) - 4} more` : ""))),
    h("td.old", {}, value(one.before), places(context, one.before.sources, before)),
    h("td.new", {}, value(one.after), places(context, one.after.sources))));
  const region = table(label, ["Key", ...heads], body);
  region.classList.add("pairs");
  return region;
}
