// The hierarchy as a picture: a row for each level, a block for each file, as wide as the share of nodes that read it.

import { count, forPaper, h } from "./dom";
import type { Level, LevelFile } from "./engine";
import { link, nodeChoice, note, short, type Context } from "./parts";

/** Maximum number of files of a level that are drawn at once. */
const MOST = 24;

export function hierarchyView(context: Context): HTMLElement[] {
  const { overview, state } = context;
  const total = overview.nodes.length;
  const block = (file: LevelFile): HTMLElement => {
    const reads = file.nodes.includes(state.node);
    const share = total === 0 ? 0 : Math.round((100 * file.nodes.length) / total);
    const bar = h("span.share", {});
    bar.style.width = `${file.nodes.length > 0 ? Math.max(share, 2) : 0}%`;
    const name = short(context, file.file);
    const readers = file.nodes.length === 0 ? "no known node" : file.nodes.length === total
      ? `all ${count(total, "node")}` : count(file.nodes.length, "node");
    const kind = state.node === "" ? "" : reads ? ".reads" : ".passes";
    return h(`li.file${kind}`, {},
      h("b", {}, name.split("/").slice(-2).join("/")),
      h("span", {}, `${count(file.keys, "key")} · ${readers}`),
      h("span.track", { "aria-hidden": "true" }, bar));
  };
  const row = (level: Level, at: number): HTMLElement => {
    const files = [...level.files].sort((one, other) =>
      Number(other.nodes.includes(state.node)) - Number(one.nodes.includes(state.node)) || other.nodes.length - one.nodes.length);
    const list = h("ul.files", {}, files.slice(0, MOST).map(block));
    const rest = files.slice(MOST);
    if (rest.length > 0) {
      const show = (): void => { more.replaceWith(...rest.map(block)); };
      const more = forPaper(h("li", {}, h("button", { type: "button", click: show }, count(rest.length, "more file"))), show);
      list.append(more);
    }
    const isRead = state.node !== "" && files.some((file) => file.nodes.includes(state.node));
    return h(isRead ? "li.level.read" : "li.level", {},
      h("div.rank", { "aria-hidden": "true" }, String(at + 1)),
      h("div", {},
        h("h3", {}, level.level, level.layer && h("small", {}, ` ${level.layer}`)),
        h("p.template", {}, level.paths.slice(0, 6).map((path) => h("code", {}, path)),
          level.paths.length > 6 ? ` and ${level.paths.length - 6} more` : ""),
        files.length > 0 ? list : h("p.none", {}, "no file")));
  };
  const chosen = overview.nodes.find((node) => node.name === state.node);
  const says = chosen?.values
    .map((value, at) => (value === null ? null : `${overview.variables[at] ?? ""} = ${value}`))
    .filter((text) => text !== null);
  return [
    h("h2", {}, "Hierarchy"),
    note("Puppet asks the levels from the first to the last. The bar of a file is the share of the nodes that read it."),
    h("div.bar", {},
      total > 0 && nodeChoice(context, "Show the way of a node", state.node, (node) => { context.go({ node }); }),
      state.node !== "" && link(context, { view: "node" }, "its whole data")),
    says && says.length > 0 ? h("p.count", {}, says.join(" · ")) : "",
    h("ol.levels", {}, overview.levels.map(row)),
  ].filter((part) => typeof part !== "string");
}
