// Builds the panel into dist: one page, hashed files beside it, nothing inline, so that the
// server's content policy can be strict.
import { defineConfig } from "vite";

export default defineConfig({
  base: "/admin/",
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2022",
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // `npm run dev --workspace admin`: the panel from its sources, the API from a running server.
  server: { proxy: { "^/(v1|health|openapi.json|docs)": "http://127.0.0.1:8787" } },
});
