// The keys with their answers for all nodes, and one key in full.

import { count, forPaper, h, inParts, inSlices, table } from "./dom";
import type { Answer, Explanation, Row } from "./engine";
import { link, nodeChoice, nodes, note, place, places, value, type Context } from "./parts";
import { address } from "./state";

const seen = new Map<string, Row>();
let seenFor = "";

function rows(context: Context, keys: string[]): Row[] {
  const facts = `${context.engine.edits} ${JSON.stringify(context.state.facts)}`;
  if (facts !== seenFor) {
    seen.clear();
    seenFor = facts;
  }
  const missing = keys.filter((key) => !seen.has(key));
  if (missing.length > 0) {
    const found = context.engine.ask<Row[]>("matrix", { keys: missing, facts: context.state.facts, texts: true });
    for (const row of found) seen.set(row.key, row);
  }
  return keys.flatMap((key) => seen.get(key) ?? []);
}

export function keysView(context: Context): HTMLElement[] {
  return context.state.key ? one(context) : all(context);
}

function all(context: Context): HTMLElement[] {
  const keys = context.engine.ask<string[]>("keys");
  const body = h("tbody");
  const status = h("p.count", { role: "status" });
  const search = h("input", { type: "search", value: context.state.q, placeholder: "part of a key, or of a value",
    spellcheck: "false" }) as HTMLInputElement;
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => { context.go({ q: search.value }, true); show(); }, 150);
  });
  const matches = (key: string, words: string): boolean => {
    if (key.toLowerCase().includes(words)) return true;
    const known = seen.get(key);
    return known?.answers.some((answer) => answer.text.toLowerCase().includes(words)) ?? false;
  };
  const cells = (row: Row): HTMLElement[] => {
    const [first] = row.answers;
    const several = row.answers.length > 1;
    const files = new Set(row.answers.flatMap((answer) => answer.sources.map((source) => source.file)));
    const text = h("td.text", { "data-kind": first?.unknown !== undefined ? "unknown" : first?.found ? "found" : "missing" },
      several ? h("b", {}, `${row.answers.length} answers`) : "", several ? " " : "", first?.text ?? "");
    if (several) forPaper(text, () => { text.append(h("ul.rest", {}, row.answers.slice(1).map((answer) => h("li", {}, answer.text)))); });
    return [
      text,
      h("td", {}, several || !first ? count(files.size, "file") : places(context, first.sources.slice(0, 2))),
    ];
  };
  const line = (key: string): HTMLElement => {
    const known = seen.get(key);
    const line = h("tr", { "data-key": key },
      h("th", { scope: "row" }, h("a", { href: address(context.state, { key, view: "keys" }) }, key)));
    if (known) line.append(...cells(known));
    else line.append(h("td.text", {}, "…"), h("td"));
    return line;
  };
  const show = (): void => {
    const words = search.value.trim().toLowerCase();
    const found = keys.filter((key) => matches(key, words));
    inParts(body, found, 300, line);
    status.textContent = words ? `${count(found.length, "key")} of ${keys.length}` : count(keys.length, "key");
  };
  show();
  // Values come while the page can be used already.
  inSlices(body, keys, (some) => {
    for (const row of rows(context, some)) body.querySelector(`tr[data-key="${CSS.escape(row.key)}"]`)?.replaceWith(line(row.key));
  }, () => { if (search.value) show(); });
  const region = table("keys", ["Key", "Answer", "From"], body);
  return [h("div.bar", {}, h("label.choice", {}, h("span", {}, "Search"), search), status), region];
}

function one(context: Context): HTMLElement[] {
  const { key, node } = context.state;
  const { overview } = context;
  const row = rows(context, [key])[0];
  if (!row) return [note(`nothing is known of ${key}`)];
  const total = overview.nodes.length;
  const card = (answer: Answer): HTMLElement => {
    const own = node !== "" && (answer.nodes?.includes(node) ?? false);
    return h(own ? "li.card.own" : "li.card", {},
      value(answer),
      h("div.meta", {},
        answer.nodes ? nodes(context, answer.nodes, total) : h("p", {}, `where ${answer.condition ?? "anything"}`),
        answer.sources.length > 0 && h("p", {}, "from ", places(context, answer.sources))));
  };
  const answers = h("ol.cards", {}, row.answers.map(card));
  const facts = row.by_facts?.length
    ? [h("h3", {}, "By facts"), h("ol.cards", {}, row.by_facts.map(card))] : [];
  return [
    h("p.path", {}, link(context, { key: "" }, "All keys"), ` › ${key}`),
    h("h2", {}, h("code", {}, key)),
    h("div.columns", {},
      h("section", { "aria-labelledby": "answers" },
        h("h3", { id: "answers" }, row.answers.length === 1 ? "One answer" : count(row.answers.length, "answer")),
        answers, ...facts),
      explained(context, key)),
  ];
}

function explained(context: Context, key: string): HTMLElement {
  const { node, facts } = context.state;
  const asked = { key, facts, ...(node ? { node } : {}) };
  const found = context.engine.ask<Explanation>("explain", asked);
  const levels = (found.data?.levels ?? []).map((level) => h("tr", { "data-result": level.result.split(/[ ,:]/)[0] ?? "" },
    h("td", {}, level.level),
    h("td", {}, level.file !== null && level.line !== null
      ? place(context, { file: level.file, line: level.line }) : h("code", {}, level.place)),
    h("td", {}, level.result)));
  const puppet = h("pre", { tabindex: 0 });
  const whole = h("details", { toggle: () => {
    if (!puppet.textContent) puppet.textContent = context.engine.ask<Explanation>("explain", { ...asked, puppet: true }).text ?? "";
  } }, h("summary", {}, "As puppet lookup --explain says it"), puppet);
  return h("section", { "aria-labelledby": "levels" },
    h("h3", { id: "levels" }, node ? `Level by level, for ${node}` : "Level by level, for any node"),
    context.overview.nodes.length > 0
      && nodeChoice(context, "For the node", node, (name) => { context.go({ node: name }); }),
    found.message ? note(found.message) : table("levels, the highest first", ["Level", "File", "What it has"], h("tbody", {}, levels)),
    node ? whole : "");
}
