// The diary: pages of days, weeks and months as Markdown, with their earlier versions.
import { useState } from "preact/hooks";
import { rowsUnder, useLoad, usePages } from "../api/hooks";
import type { LedgerEvent } from "../api/types";
import type { Page } from "../api/upkeep";
import { Diff } from "../parts/diff";
import { PagedList } from "../parts/list";
import { Markdown } from "../parts/markdown";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { Tabs } from "../parts/tabs";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { library } from "../words/library";

const PAGES = rowsUnder<Page>("data");
const KINDS = ["day", "week", "month"] as const;

export function Diary(props: { page: string | null; kind: string }) {
  return props.page ? <OnePage label={props.page} /> : <AllPages kind={props.kind} />;
}

function AllPages(props: { kind: string }) {
  const t = useWords(library);
  const kind = KINDS.find((each) => each === props.kind) ?? "day";
  const pages = usePages<Page>("/v1/days", PAGES, { kind, limit: 30 });
  return (
    <>
      <Tabs
        names={KINDS}
        chosen={kind}
        labels={t.kinds}
        href={(each) => link("library", "diary", { kind: each })}
        isQuiet
      />
      <PagedList
        pages={pages}
        keyOf={(page) => page.date}
        row={(page) => (
          <div class="row">
            <div class="row-main">
              <a href={link("library", "diary", page.date)}>
                {page.date} · {page.title}
              </a>
              <p class="clamp">{page.summary}</p>
            </div>
          </div>
        )}
        empty={<Empty title={t.emptyDiary}>{t.emptyDiaryHint}</Empty>}
      />
    </>
  );
}

/** Versions that are offered; older ones stay in the history. */
const VERSIONS_MAX = 50;

function OnePage(props: { label: string }) {
  const t = useWords(library);
  const c = useWords(common);
  const { label } = props;
  const { data, error, reload } = useLoad<{ data: Page }>(`/v1/days/${encodeURIComponent(label)}`);
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const page = data.data;
  return (
    <>
      <header class="page-head">
        <a class="button quiet" href={link("library", "diary", { kind: page.kind })}>
          ← {c.back}
        </a>
        <h2 class="grow">
          {page.date} · {page.title}
        </h2>
        <span class="faint small">
          {t.changed} <When at={page.updated_at} />
        </span>
      </header>
      <article class="note page-text">
        <Markdown text={page.content ?? ""} />
      </article>
      <Versions label={label} content={page.content ?? ""} />
    </>
  );
}

/** Earlier texts of a page, out of its history. */
function Versions(props: { label: string; content: string }) {
  const t = useWords(library);
  const { data, error, reload } = useLoad<{ events: LedgerEvent[] }>("/v1/history", {
    stream: `page/${props.label}`,
    limit: VERSIONS_MAX,
  });
  const [opened, setOpened] = useState<number | null>(null);
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return null;
  // An event without a change of the text left it as the one before it did.
  const texts = data.events.flatMap((event) => {
    const change = event.changes.find((each) => each.field === "content");
    return change ? [{ event, text: String(change.after ?? "") }] : [];
  });
  const earlier = texts.slice(1);
  return (
    <section class="section">
      <h2>{t.versions}</h2>
      {earlier.length === 0 && <p class="faint">{t.noVersions}</p>}
      <ul class="plain-list">
        {earlier.map(({ event, text }) => (
          <li key={event.version}>
            <button
              type="button"
              class="quiet"
              aria-expanded={opened === event.version}
              onClick={() => setOpened(opened === event.version ? null : event.version)}
            >
              {t.versionOf(event.version)} · <When at={event.at} />
            </button>
            {opened === event.version && (
              <>
                <p class="faint small">{t.whatChanged}</p>
                <Diff before={text} after={props.content} />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
