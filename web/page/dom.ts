// Elements out of names, attributes and children. Texts are always texts: data can never become markup.

type Child = Node | string | false | null | undefined;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

/** What parts of tables are, also where a narrow screen shows them as blocks. */
const ROLES: Record<string, string> = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell" };

export function h(name: string, attributes: Attributes = {}, ...children: (Child | Child[])[]): HTMLElement {
  const [tag = "div", ...classes] = name.split(".");
  const element = document.createElement(tag);
  const role = tag === "th" ? (attributes["scope"] === "row" ? "rowheader" : "columnheader") : ROLES[tag];
  if (role) element.setAttribute("role", role);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, String(value));
  }
  element.append(...kept(children.flat()));
  return element;
}

const kept = (children: Child[]): (Node | string)[] =>
  children.filter((child) => child !== false && child !== null && child !== undefined);

/** A number with its noun. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** A table with a header row, around the rows. */
export function table(label: string, heads: string[], body: HTMLElement): HTMLElement {
  return h("div.scroll", { role: "region", "aria-label": label, tabindex: 0 },
    h("table", {},
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      body));
}

const WHOLE = "whole";

/** What an element does before it is printed: paper has no clicks, so what is shown when asked for is shown. */
export function forPaper(element: HTMLElement, show: () => void): HTMLElement {
  element.dataset[WHOLE] = "";
  element.addEventListener(WHOLE, show);
  return element;
}

/** Has everything shown that waits for a click, also what is in it. */
export function showWhole(): void {
  for (let all = waiting(); all.length > 0; all = waiting()) {
    for (const element of all) {
      delete element.dataset[WHOLE];
      element.dispatchEvent(new Event(WHOLE));
    }
  }
}

const waiting = (): NodeListOf<HTMLElement> => document.querySelectorAll(`[data-${WHOLE}]`);

/** Details that are filled when they are opened. */
export function details(name: string, summary: Child[], isOpen: boolean, fill: () => Child[]): HTMLElement {
  const inside = h("div");
  const show = (): void => { if (!inside.firstChild) inside.append(...kept(fill())); };
  const element = h(`details${name}`, { toggle: show, open: isOpen }, h("summary", {}, summary), inside) as HTMLDetailsElement;
  if (isOpen) show();
  return forPaper(element, () => { show(); element.open = true; });
}

/** Shows a long list instead of what is shown, in parts, so that the first ones are there at once. */
export function inParts<T>(into: HTMLElement, all: readonly T[], size: number, make: (one: T) => HTMLElement): void {
  let done = 0;
  const more = forPaper(h("tr.more", {}, h("td", { colspan: 9 }, h("button", { type: "button", click: () => { add(size); } }))),
    () => { add(all.length); });
  const add = (most: number): void => {
    more.remove();
    into.append(...all.slice(done, done + most).map(make));
    done = Math.min(done + most, all.length);
    if (done === all.length) return;
    more.querySelector("button")?.replaceChildren(`Show ${Math.min(size, all.length - done)} of ${all.length - done} more`);
    into.append(more);
  };
  into.replaceChildren();
  add(size);
}

/** How long a slice may take, in milliseconds: the page stays usable. */
const SLICE = 40;

/** Takes a list in slices, the first at once and the others while the page is used, as long as it is shown. */
export function inSlices(shown: HTMLElement, all: readonly string[], take: (some: string[], done: number) => void, end: () => void): void {
  delete document.body.dataset["filled"];
  let size = 8;
  const step = (from: number): void => {
    if (from > 0 && !shown.isConnected) return;
    const to = Math.min(from + size, all.length);
    const began = performance.now();
    try {
      take(all.slice(from, to), to);
    } catch (error) {
      // The first slice fails with its view.
      if (from === 0) throw error;
      document.querySelector("main")?.prepend(h("p.warning", { role: "alert" }, error instanceof Error ? error.message : String(error)));
      return;
    }
    size = Math.max(4, Math.min(400, Math.round((size * SLICE) / Math.max(performance.now() - began, 1))));
    if (to < all.length) {
      setTimeout(() => { step(to); }, 0);
      return;
    }
    document.body.dataset["filled"] = "all";
    end();
  };
  step(0);
}
