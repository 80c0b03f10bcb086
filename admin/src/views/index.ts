// Every view of the panel, in the order of the menu; its code is loaded when it is opened.
import type { ComponentType } from "preact";
import type { Route } from "../router";
import type { common } from "../words/common";

export interface ViewProps {
  route: Route;
}

type Module = { default: ComponentType<ViewProps> };

export interface View {
  /** Its name in the address, and of its label in `words/common`. */
  name: keyof typeof common.en.nav;
  load: () => Promise<Module>;
}

export const VIEWS: View[] = [
  { name: "overview", load: () => import("./overview") },
  { name: "memories", load: () => import("./memories") },
  { name: "tasks", load: () => import("./tasks") },
  { name: "projects", load: () => import("./projects") },
  { name: "review", load: () => import("./review") },
  { name: "conversations", load: () => import("./conversations") },
  { name: "recalls", load: () => import("./recalls") },
  { name: "library", load: () => import("./library") },
  { name: "history", load: () => import("./history") },
  { name: "jobs", load: () => import("./jobs") },
  { name: "keys", load: () => import("./keys") },
  { name: "vectors", load: () => import("./vectors") },
  { name: "transfer", load: () => import("./transfer") },
  { name: "settings", load: () => import("./settings") },
];
