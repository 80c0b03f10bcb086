// Where the reader is: `#/view/rest?query`. The part behind # never reaches a server or its log.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  rest: string[];
  query: URLSearchParams;
}

export function read(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/").filter(Boolean).map(decoded);
  return { view, rest, query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a cut link; the view says that it finds nothing
  }
}

/** The address of a view, for `href` and `go`: `link("memories", id)`, `link("tasks", {q})`. */
export function link(view: string, ...parts: (string | Record<string, string | undefined>)[]) {
  const path = parts.filter((part) => typeof part === "string").map(encodeURIComponent);
  const query = new URLSearchParams();
  for (const part of parts) {
    if (typeof part === "string") continue;
    for (const [name, value] of Object.entries(part)) if (value) query.set(name, value);
  }
  const tail = query.size > 0 ? `?${query}` : "";
  return `#/${[view, ...path].join("/")}${tail}`;
}

let shown = location.hash;
let mayGo: () => Promise<boolean> = () => Promise.resolve(true);
let isHeld: () => boolean = () => false;

/** Ask before a link or the browser's way back leaves a page that is held. */
export function holdPage(next: typeof isHeld, ask: typeof mayGo): void {
  isHeld = next;
  mayGo = ask;
}

/** Go where the panel itself wants to, without a question. */
export function go(href: string, { replace = false } = {}): void {
  shown = href;
  if (replace) {
    history.replaceState(null, "", href);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = href;
  }
}

function ask(event: MouseEvent): void {
  const target = event.target instanceof Element ? event.target.closest("a") : null;
  const href = target?.getAttribute("href") ?? "";
  const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (!href.startsWith("#") || href === location.hash || isElsewhere || !isHeld()) return;
  event.preventDefault();
  void mayGo().then((isSure) => isSure && go(href));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => read(location.hash));
  useEffect(() => {
    const follow = () => {
      const wanted = location.hash;
      if (wanted !== shown && isHeld()) {
        // The browser's way back is gone already: what was left is put on top of it again.
        history.pushState(null, "", shown || "#");
        void mayGo().then((isSure) => isSure && go(wanted || "#"));
        return;
      }
      shown = wanted;
      setRoute(read(wanted));
    };
    addEventListener("hashchange", follow);
    addEventListener("click", ask, true);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("click", ask, true);
    };
  }, []);
  return route;
}
