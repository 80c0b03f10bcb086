// The first page: does the work get done, what is known, and what a new conversation reads.
import type { ComponentChildren } from "preact";
import { rowsUnder, useLoad, usePages } from "../api/hooks";
import type { Boot, Health, Item } from "../api/types";
import { Facts } from "../parts/facts";
import { ItemMeta, TypeBadge, textOf } from "../parts/item";
import { PagedList } from "../parts/list";
import { Markdown } from "../parts/markdown";
import { Empty, ErrorNote } from "../parts/notes";
import { When } from "../parts/time";
import { link } from "../router";
import { useLanguage, useWords } from "../words";
import { overview } from "../words/overview";
import { reasonIn } from "../words/reasons";
import { StartupPreview } from "./startup";

const ITEMS = rowsUnder<Item>("items");

export default function Overview() {
  const t = useWords(overview);
  const boot = useLoad<Boot>("/v1/memory_boot");
  const open = useLoad<{ total: number }>("/v1/items", {
    kind: "task",
    state: ["active", "stale"],
    limit: 1,
  });
  const latest = usePages<Item>("/v1/items", ITEMS, {
    kind: "memory",
    current_only: true,
    sort: "-created_at",
    limit: 8,
  });
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      {boot.error && <ErrorNote error={boot.error} onRetry={boot.reload} />}
      {boot.data && <Numbers boot={boot.data} openTasks={open.data?.total ?? null} />}
      <Section title={t.digest}>
        {boot.data?.digest ? (
          <Markdown text={boot.data.digest.content} />
        ) : (
          <p class="faint">{t.noDigest}</p>
        )}
      </Section>
      <Section title={t.latest}>
        <PagedList
          pages={{ ...latest, hasMore: false }}
          keyOf={(item) => item.id}
          row={(item) => (
            <div class="row">
              <div class="row-main">
                <a class="plain" href={link("memories", item.id)}>
                  <span class="clamp">{textOf(item)}</span>
                </a>
                <ItemMeta item={{ ...item, updated_at: item.created_at }} />
              </div>
            </div>
          )}
          empty={
            <Empty title={t.empty}>
              <p>{t.emptyHint}</p>
              <p>
                <a href={link("memories")}>{t.write}</a>
              </p>
            </Empty>
          }
        />
      </Section>
      <Section title={t.startup}>
        <StartupPreview />
      </Section>
      <Section title={t.health}>
        <HealthDetails />
      </Section>
      <p class="section">
        <a href={link("history")}>{t.happened} →</a>
      </p>
    </>
  );
}

function Section(props: { title: string; children: ComponentChildren }) {
  return (
    <section class="section">
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

function Numbers(props: { boot: Boot; openTasks: number | null }) {
  const t = useWords(overview);
  const { stats } = props.boot;
  const counts = Object.entries(stats.memory_type_counts).sort((a, b) => b[1] - a[1]);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  return (
    <>
      <p class="numbers">
        <a href={link("memories")}>
          <strong>{total}</strong> {t.memories}
        </a>
        {props.openTasks !== null && (
          <a href={link("tasks")}>
            <strong>{props.openTasks}</strong> {t.tasks}
          </a>
        )}
        <a href={link("review")} class={stats.pending_candidates > 0 ? "wanting" : ""}>
          <strong>{stats.pending_candidates}</strong> {t.review}
        </a>
        <a href={link("conversations")}>
          <strong>{stats.today_raw_count}</strong> {t.messages}
        </a>
        <a href={link("library", "precious")}>
          <strong>{stats.precious_total}</strong> {t.precious}
        </a>
      </p>
      <p class="meta">
        {counts.map(([type, count]) => (
          <a key={type} class="plain" href={link("memories", { type })}>
            <TypeBadge type={type} /> {count}
          </a>
        ))}
      </p>
    </>
  );
}

/** How health names the moment at which a job last did its work. */
const SUCCESS = "_last_success_at";

function HealthDetails() {
  const t = useWords(overview);
  const { language } = useLanguage();
  const { data, error, reload } = useLoad<Health>("/health");
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return null;
  const parts: Record<string, string> = t.parts;
  const names: Record<string, string> = t.details;
  const statuses: Record<string, string> = t.statuses;
  const rows = Object.entries(data.details ?? {}).map(([part, { status, ...rest }]) => {
    const kind = status === "ok" ? "badge" : status === "off" ? "badge" : "badge warn";
    return [
      parts[part] ?? part,
      <>
        <span class={kind}>{statuses[String(status)] ?? status}</span>{" "}
        {Object.entries(rest).map(([name, value]) => (
          <span key={name} class="faint small detail">
            {name.endsWith(SUCCESS) ? (
              <>
                {t.succeeded(name.slice(0, -SUCCESS.length))} <When at={String(value)} />
              </>
            ) : (
              `${names[name] ?? name} ${value}`
            )}
          </span>
        ))}
      </>,
    ] as const;
  });
  return (
    <>
      {data.reasons.length > 0 && (
        <ul class="note warn reasons">
          {data.reasons.map((reason) => (
            <li key={reason}>{reasonIn(language, reason)}</li>
          ))}
        </ul>
      )}
      {rows.length > 0 ? <Facts rows={rows} /> : <p class="faint">{t.narrow}</p>}
    </>
  );
}
