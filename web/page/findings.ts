// What `hiera-ls check` reports, and what a change does.

import { count, details, h, inParts, table } from "./dom";
import type { Changes, Finding } from "./engine";
import { differences } from "./node";
import { note, place, short, type Context } from "./parts";

const SEVERITIES = ["error", "warning", "information", "hint"];

export function findingsView(context: Context): HTMLElement[] {
  const found = context.engine.ask<Finding[]>("findings");
  if (found.length === 0) return [h("h2", {}, "Findings"), note("hiera-ls check finds no mistake.")];
  const sorted = [...found].sort((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
  const body = h("tbody");
  const search = h("input", { type: "search", placeholder: "a rule, a file or a word" }) as HTMLInputElement;
  const status = h("p.count", { role: "status" });
  const show = (): void => {
    const words = search.value.trim().toLowerCase();
    const some = sorted.filter((one) => [one.code, one.path, one.message, one.severity].some((text) => text.toLowerCase().includes(words)));
    inParts(body, some, 200, (one) => h("tr", {},
      h("td", {}, h(`span.severity.${one.severity}`, {}, one.severity)),
      h("td", {}, h("code", {}, one.code)),
      h("td", {}, one.message),
      h("td", {}, one.line === undefined ? one.path
        : place(context, { file: one.path.startsWith("/") ? one.path : `${context.overview.folder}/${one.path}`, line: one.line }))));
    status.textContent = count(some.length, "finding");
  };
  search.addEventListener("input", show);
  show();
  const region = table("findings", ["Severity", "Rule", "What", "Where"], body);
  return [h("h2", {}, "Findings"), h("div.bar", {}, h("label.choice", {}, h("span", {}, "Search"), search), status), region];
}

/** Maximum number of changed lines that are named for a cause. */
const MOST_LINES = 12;

let known: Changes | undefined;

export function changesView(context: Context): HTMLElement[] {
  const against = context.overview.against ?? "";
  known ??= context.engine.ask<Changes>("changes");
  const { differences: found, causes, undecided, files } = known;
  const keys = new Set(found.map((one) => one.key)).size;
  const names = new Set(found.flatMap((one) => one.after.nodes ?? [])).size;
  const head = found.length === 0 ? "No value of a known node changes."
    : `${count(keys, "key")} ${keys === 1 ? "changes" : "change"} for ${names} of ${count(context.overview.nodes.length, "node")}.`;
  const cause = (one: Changes["causes"][number]): HTMLElement => {
    const own = one.differences.flatMap((at) => found[at] ?? []);
    const title = one.files.length > 0 ? one.files.map((file) => short(context, file)).join(" and ")
      : "Cause not known: no changed line is a part of these answers";
    const lines = h("ul.set", { "aria-label": "changed lines" }, one.lines.slice(0, MOST_LINES).map((line) =>
      h("li", {}, "changed: ", place(context, line, line.before), line.key !== null && h("code", {}, ` ${line.key}`))),
      one.lines.length > MOST_LINES && h("li", {}, `and ${count(one.lines.length - MOST_LINES, "more line")}`));
    return details(".cause", [h("b", {}, title), ` ${count(new Set(own.map((each) => each.key)).size, "key")}`], causes.length <= 3, () => [
      lines, differences(context, own, [`before (${against})`, "now"], true, `differences by ${title}`)]);
  };
  return [
    h("h2", {}, `What changes against ${against}`),
    h("p.lead", { role: "status" }, head),
    note(`${count(files.length, "file")} with changes: ${files.slice(0, 12).map((file) => short(context, file)).join(", ")}${files.length > 12 ? " …" : ""}`),
    ...causes.map(cause),
    ...undecided.slice(0, 20).map((text) => note(`Unknown: ${text}`)),
  ];
}
