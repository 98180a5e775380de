// The page: opens the engine, and shows what the address says.

import { count, forPaper, h, showWhole } from "./dom";
import { Engine, type Fact, type Overview } from "./engine";
import { changesView, findingsView } from "./findings";
import { hierarchyView } from "./hierarchy";
import { keysView } from "./keys";
import { compareView, nodeView } from "./node";
import { note, type Context } from "./parts";
import { editView } from "./playground";
import { address, read, typed, type State } from "./state";

const EDIT: (typeof VIEWS)[number] = ["edit", "Edit", editView];

const VIEWS: [string, string, (context: Context) => HTMLElement[]][] = [
  ["changes", "Changes", changesView],
  ["keys", "Keys", keysView],
  ["node", "Nodes", nodeView],
  ["hierarchy", "Hierarchy", hierarchyView],
  ["compare", "Compare", compareView],
  ["findings", "Findings", findingsView],
];

/** A playground has an editor field, which has the findings too. */
const VIEWS_HERE = Engine.isPlayground ? [EDIT, ...VIEWS.filter(([name]) => name !== "findings")] : VIEWS;

const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
};

function navigation(context: Context, current: string): HTMLElement {
  const { overview } = context;
  const counts: Record<string, number> = { keys: overview.keys, node: overview.nodes.length, findings: overview.findings };
  const views = VIEWS_HERE.filter(([name]) => name !== "changes" || overview.against !== null);
  return h("nav", { "aria-label": "Views" }, h("ul", {}, views.map(([name, title]) => {
    const state: Partial<State> = { view: name, q: "", ...(name === "keys" ? { key: "" } : {}) };
    const number = counts[name];
    return h("li", {}, h("a", { href: address(context.state, state), ...(name === current ? { "aria-current": "page" } : {}) },
      title, number === undefined ? "" : h("small", {}, ` ${number}`)));
  })));
}

/** What if a fact had another value: the facts that are set, and a form for one more. */
function whatIf(context: Context): HTMLElement {
  const { state, engine, overview } = context;
  const set = Object.entries(state.facts).map(([path, value]) => h("li", {},
    h("code", {}, `${path} = ${typeof value === "string" ? value : JSON.stringify(value)}`),
    h("button", { type: "button", "aria-label": `Forget ${path}`, click: () => {
      context.go({ facts: Object.fromEntries(Object.entries(state.facts).filter(([other]) => other !== path)) });
    } }, "×")));
  const fact = h("input", { list: "facts", required: true, autocomplete: "off", spellcheck: "false", placeholder: "os.family" }) as HTMLInputElement;
  const to = h("input", { list: "values", required: true, autocomplete: "off", spellcheck: "false", placeholder: "a value" }) as HTMLInputElement;
  const facts = h("datalist", { id: "facts" });
  const values = h("datalist", { id: "values" });
  let known: Fact[] = [];
  fact.addEventListener("focus", () => {
    if (known.length > 0 || overview.nodes.length === 0) return;
    known = engine.ask<Fact[]>("facts", { node: state.node || (overview.nodes[0]?.name ?? ""), facts: state.facts }).filter((one) => one.settable);
    facts.append(...known.map((one) => h("option", { value: one.path })));
  });
  fact.addEventListener("change", () => {
    const found = known.find((one) => one.path === fact.value);
    values.replaceChildren(...(found?.values ?? []).map((one) => h("option", { value: typeof one.value === "string" ? one.value : JSON.stringify(one.value) })));
  });
  const form = h("form", { submit: (event) => {
    event.preventDefault();
    context.go({ facts: { ...state.facts, [fact.value.trim()]: typed(to.value) } });
  } },
    h("label.choice", {}, h("span", {}, "What if the fact"), fact), h("label.choice", {}, h("span", {}, "were"), to),
    h("button", {}, "Try it"), facts, values);
  const open = set.length > 0 ? { open: true } : {};
  const shown = h("details.whatif", open, h("summary", {}, set.length > 0 ? "What if (answers below are for these facts)" : "What if …"),
    set.length > 0 ? h("ul.set", {}, set) : "", form,
    note("Every node gets the value. Nothing is written anywhere."));
  return set.length > 0 ? forPaper(shown, () => { shown.setAttribute("open", ""); }) : shown;
}

function about(overview: Overview): HTMLElement[] {
  const parts = [count(overview.nodes.length, "node"), count(overview.keys, "key"), `environment ${overview.environment}`, `Puppet ${overview.puppet}`];
  return [
    h("h1", {}, h("small", {}, "Hiera data of "), overview.title),
    h("p", { id: "state" }, parts.join(" · ")),
    ...overview.left_out.map((text) => h("p.warning", { role: "note" }, `Left out of this report: ${text}`)),
  ];
}

function render(engine: Engine, overview: Overview): void {
  const state = read();
  const view = VIEWS_HERE.find(([name]) => name === state.view) ? state.view : state.key ? "keys" : state.node ? "node" : overview.against !== null ? "changes" : Engine.isPlayground ? "edit" : "keys";
  const go: Context["go"] = (change, replace) => {
    const next = address(read(), { view, ...change });
    if (replace) history.replaceState(null, "", next);
    else location.hash = next;
  };
  const context: Context = { engine, overview, state: { ...state, view }, go };
  document.title = [state.key || state.node, overview.title].filter(Boolean).join(" – ");
  byId("head").replaceChildren(h("div.title", {}, ...about(overview)), navigation(context, view), whatIf(context));
  const began = performance.now();
  let parts: HTMLElement[];
  try {
    parts = VIEWS_HERE.find(([name]) => name === view)?.[2](context) ?? [];
  } catch (error) {
    parts = [note(error instanceof Error ? error.message : String(error))];
  }
  byId("main").replaceChildren(...parts);
  document.body.dataset["answered"] = (performance.now() - began).toFixed(1);
}

async function start(): Promise<void> {
  const engine = await Engine.open();
  const overview = engine.ask<Overview>("overview");
  document.body.append(h("datalist", { id: "nodes" }, overview.nodes.map((node) => h("option", { value: node.name }))));
  byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
  byId("foot").append(h("p", {}, `Computed here by the engine of hiera-ls ${overview.made_by}, from the data in this file. Nothing is sent or loaded.`));
  window.addEventListener("hashchange", () => { render(engine, overview); });
  window.addEventListener("beforeprint", showWhole);
  // For tests and for people who like the console.
  Object.assign(window, { hiera: { ask: (name: string, question?: object) => engine.ask<unknown>(name, question) } });
  render(engine, overview);
  document.body.dataset["opened"] = performance.now().toFixed(1);
}

start().catch((error: unknown) => {
  byId("state").textContent = `This report cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
});
