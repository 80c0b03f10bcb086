// The frame: the health line first, the menu, and the view that is open.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "./api/client";
import { HealthLine } from "./health";
import { Empty, ErrorNote, Waiting } from "./parts/notes";
import { mayLeave } from "./parts/overlay";
import { isUnsaved } from "./parts/unsaved";
import { holdPage, link, type Route, useRoute } from "./router";
import { VIEWS, type ViewProps } from "./views";
import { useLanguage, useWords } from "./words";
import { common } from "./words/common";

export function Layout(props: { onLogout: () => void }) {
  const t = useWords(common);
  const { language, choose } = useLanguage();
  const route = useRoute();
  const [isOpen, setOpen] = useState(false);
  const current = route.view === "" ? (VIEWS[0]?.name ?? "") : route.view;
  useEffect(() => {
    setOpen(false);
    scrollTo(0, 0);
  }, [route.view, route.rest.join("/")]);
  useEffect(() => holdPage(isUnsaved, () => mayLeave(t)), [t]);
  const leave = async () => {
    if (await mayLeave(t)) props.onLogout();
  };
  const label = (t.nav as Record<string, string>)[current];
  useEffect(() => {
    document.title = label ? `${label} · ${t.product}` : t.product;
  }, [label]);
  return (
    <div class={isOpen ? "frame open" : "frame"}>
      <header class="top">
        <button
          type="button"
          class="quiet menu-button"
          aria-label={t.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          ☰
        </button>
        <HealthLine />
        <span class="top-actions">
          <button
            type="button"
            class="quiet"
            onClick={() => choose(language === "zh" ? "en" : "zh")}
          >
            {t.language}
          </button>
          <button type="button" class="quiet" onClick={leave}>
            {t.logout}
          </button>
        </span>
      </header>
      <nav class="menu" aria-label={t.menu}>
        <p class="brand">{t.product}</p>
        {VIEWS.map((view) => (
          <a
            key={view.name}
            href={link(view.name)}
            aria-current={view.name === current ? "page" : undefined}
            onClick={() => setOpen(false)}
          >
            {t.nav[view.name]}
          </a>
        ))}
      </nav>
      <main class="page">
        <Opened route={{ ...route, view: current }} />
      </main>
    </div>
  );
}

function Opened(props: { route: Route }) {
  const t = useWords(common);
  const { view } = props.route;
  const [opened, setOpened] = useState<{ name: string; Component: ComponentType<ViewProps> }>();
  const [error, setError] = useState<ApiError | null>(null);
  const found = VIEWS.find((each) => each.name === view);
  useEffect(() => {
    setError(null);
    let isLeft = false;
    found?.load().then(
      (module) => isLeft || setOpened({ name: view, Component: module.default }),
      // The server is away, or gives out a newer panel: loading the page again helps with both.
      () => isLeft || setError(new ApiError(0, "unreachable", t.stale, null, null)),
    );
    return () => {
      isLeft = true;
    };
  }, [view]);
  if (found === undefined) return <Empty title={t.notFoundTitle}>{t.notFoundHint}</Empty>;
  if (error) return <ErrorNote error={error} onRetry={() => location.reload()} />;
  if (opened?.name !== view) return <Waiting />;
  return <opened.Component route={props.route} />;
}
