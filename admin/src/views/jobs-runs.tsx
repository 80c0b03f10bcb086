// Runs of jobs: what each counted and changed, and taking one back after seeing what returns.
import { useState } from "preact/hooks";
import { write } from "../api/client";
import { rowsUnder, useLoad, usePages } from "../api/hooks";
import type { Brief, LedgerEvent } from "../api/types";
import type { Job, Run } from "../api/upkeep";
import { Diff } from "../parts/diff";
import { Choice, Form } from "../parts/form";
import { PagedList } from "../parts/list";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { Dialog, toast } from "../parts/overlay";
import { When } from "../parts/time";
import { go, link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { jobs } from "../words/jobs";
import { Status } from "./jobs";

const RUNS = rowsUnder<Run>("runs");

/** Events of a run that are listed before it is taken back. */
const SHOWN_MAX = 100;

/** Counts above zero, with their names. */
export function Counts(props: { counts: Record<string, number> }) {
  const t = useWords(jobs);
  const names: Record<string, string> = t.counts;
  const shown = Object.entries(props.counts).filter(([name, n]) => n > 0 && !isMark(name));
  if (shown.length === 0) return null;
  return (
    <span class="counts">
      {shown.map(([name, count]) => (
        <span key={name}>
          <strong>{count}</strong> {names[name] ?? name.replaceAll("_", " ")}
        </span>
      ))}
    </span>
  );
}

/** Why a run failed: a code and its meaning, in the reader's words where there are some. */
export function Failure(props: { error: string }) {
  const c = useWords(common);
  const [code = ""] = props.error.split(":", 1);
  const said = (c.errors as Record<string, string>)[code];
  return (
    <p class="note error small">
      {said && <strong>{said}</strong>} <span lang="en">{props.error}</span>
    </p>
  );
}

/** Marks that a job keeps for itself, such as `redone_2026-03-01`. */
function isMark(name: string): boolean {
  return name.startsWith("redone_");
}

function Facts(props: { run: Run }) {
  const t = useWords(jobs);
  const { run } = props;
  const ms = run.finished_at ? Date.parse(run.finished_at) - Date.parse(run.started_at) : null;
  return (
    <p class="meta">
      <Status status={run.status} />
      <span>
        <When at={run.started_at} />
      </span>
      <span>{t.starters[run.started_by]}</span>
      {ms !== null && <span>{t.took(Math.max(1, Math.round(ms / 1_000)))}</span>}
      {run.attempt > 1 && <span>{t.attempt(run.attempt)}</span>}
      {run.undone_at && (
        <span class="badge warn">
          {t.taken} <When at={run.undone_at} />
        </span>
      )}
    </p>
  );
}

export function Runs(props: { job: string }) {
  const t = useWords(jobs);
  const { data } = useLoad<{ jobs: Job[] }>("/v1/jobs");
  const pages = usePages<Run>("/v1/jobs/runs", RUNS, { job: props.job, limit: 25 });
  const names: Record<string, string> = t.names;
  const options: Record<string, string> = { "": t.allJobs };
  for (const job of data?.jobs ?? []) options[job.name] = names[job.name] ?? job.title;
  return (
    <>
      <div class="filters">
        <Choice
          label={t.job}
          value={props.job}
          options={options}
          onInput={(job) => go(link("jobs", "runs", { job }), { replace: true })}
        />
      </div>
      <PagedList
        pages={pages}
        keyOf={(run) => run.id}
        row={(run) => (
          <div class="row">
            <div class="row-main">
              <a href={link("jobs", "runs", run.id)}>{names[run.job] ?? run.job}</a>
              <Facts run={run} />
              <Counts counts={run.counts} />
              {run.error && <Failure error={run.error} />}
            </div>
          </div>
        )}
        empty={<Empty title={t.emptyRuns}>{t.emptyRunsHint}</Empty>}
      />
    </>
  );
}

export function OneRun(props: { id: string }) {
  const t = useWords(jobs);
  const c = useWords(common);
  const { data, error, reload } = useLoad<{ run: Run }>(`/v1/jobs/runs/${props.id}`);
  const changed = useLoad<{ events: LedgerEvent[] }>("/v1/history", {
    cause: props.id,
    limit: SHOWN_MAX,
  });
  const [isAsking, setAsking] = useState(false);
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const { run } = data;
  const events = changed.data?.events ?? [];
  const canUndo = run.status !== "running" && !run.undone_at && events.length > 0;
  return (
    <>
      <header class="page-head">
        <a class="button quiet" href={link("jobs", "runs")}>
          ← {c.back}
        </a>
        <h1>{(t.names as Record<string, string>)[run.job] ?? run.job}</h1>
        {canUndo && (
          <button type="button" onClick={() => setAsking(true)}>
            {t.undoRun}
          </button>
        )}
      </header>
      <Facts run={run} />
      <p class="section">
        <Counts counts={run.counts} />
      </p>
      {run.error && <Failure error={run.error} />}
      <p class="faint small section">{run.id}</p>
      <section class="section">
        <h2>{t.changes}</h2>
        {changed.error && <ErrorNote error={changed.error} onRetry={changed.reload} />}
        {changed.data && events.length === 0 && <p class="faint">{t.noChanges}</p>}
        <Returning events={events} />
      </section>
      {isAsking && (
        <Dialog title={t.undoTitle} onClose={() => setAsking(false)} isWide>
          <Form
            label={t.undoNow}
            onCancel={() => setAsking(false)}
            send={async () => {
              const path = `/v1/jobs/runs/${run.id}/undo`;
              const { data: done } = await write<{ undone: unknown[] }>("POST", path);
              setAsking(false);
              toast(t.undoneRun(done.undone.length));
              reload();
              changed.reload();
            }}
          >
            <p>{t.undoBody}</p>
            <Returning events={events} />
            {events.length === SHOWN_MAX && <p class="faint">{t.undoMore}</p>}
          </Form>
        </Dialog>
      )}
    </>
  );
}

/** What each event did, told as what taking it back brings. */
function Returning(props: { events: LedgerEvent[] }) {
  const ids = [...new Set(props.events.flatMap((event) => itemOf(event) ?? []))].slice(0, 100);
  const { data } = useLoad<{ items: Brief[] }>(ids.length > 0 ? "/v1/items" : null, {
    id: ids,
    limit: 100,
    include_deleted: true,
  });
  const titles = new Map((data?.items ?? []).map((item) => [item.id, item]));
  return (
    <ul class="plain-list">
      {props.events.map((event) => (
        <li key={event.position}>
          <Return event={event} item={titles.get(itemOf(event) ?? "")} />
        </li>
      ))}
    </ul>
  );
}

function itemOf(event: LedgerEvent): string | null {
  return event.stream.startsWith("item/") ? event.stream.slice("item/".length) : null;
}

function Return(props: { event: LedgerEvent; item: Brief | undefined }) {
  const t = useWords(jobs);
  const { event, item } = props;
  const restores: Record<string, string> = t.restores;
  const said = restores[event.kind] ?? t.otherChange(event.kind);
  const change = (name: string) => event.changes.find((each) => each.field === name);
  const text = change("content");
  const title = change("title");
  const name = String(
    item?.title ?? title?.after ?? (event.kind === "DigestSet" ? "" : text?.after) ?? "",
  );
  const edited =
    event.kind.endsWith("Created") || event.kind.endsWith("Filed") ? undefined : (text ?? title);
  return (
    <>
      <p>
        {name &&
          (item ? (
            <a href={link(`${item.kind === "task" ? "tasks" : "memories"}`, item.id)}>{name}</a>
          ) : (
            <span>{name}</span>
          ))}{" "}
        <span class="faint">{said}</span>
      </p>
      {edited && event.kind !== "PageWritten" && (
        <Diff before={String(edited.after ?? "")} after={String(edited.before ?? "")} />
      )}
    </>
  );
}
