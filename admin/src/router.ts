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

export function go(href: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", href);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = href;
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => read(location.hash));
  useEffect(() => {
    const follow = () => setRoute(read(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
