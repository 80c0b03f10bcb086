// What is to be done: noted down in a line, listed, completed, put off.
import { useState } from "preact/hooks";
import { write } from "../api/client";
import { errorOf, rowsUnder, useLoad, usePages } from "../api/hooks";
import type { Item } from "../api/types";
import { type Act, useActs } from "../parts/acts";
import { useChanged } from "../parts/changes";
import { Choice, TextField } from "../parts/form";
import { StateBadge } from "../parts/item";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { toast } from "../parts/overlay";
import { When } from "../parts/time";
import { useUnsaved } from "../parts/unsaved";
import { go, link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { tasks } from "../words/tasks";
import type { ViewProps } from "./index";
import TaskPage from "./task";
import { Snooze } from "./task-dialogs";

const ITEMS = rowsUnder<Item>("items");

export default function Tasks(props: ViewProps) {
  const [id] = props.route.rest;
  return id ? <TaskPage key={id} id={id} /> : <TaskList {...props} />;
}

function TaskList(props: ViewProps) {
  const t = useWords(tasks);
  const c = useWords(common);
  const { query } = props.route;
  const state = query.get("state") ?? "open";
  const sort = query.get("sort") ?? "due_at";
  const [typed, setTyped] = useState(query.get("q") ?? "");
  const [put, setPut] = useState<Item | null>(null);
  const next = useLoad<{ item: Item | null; reason: string | null }>("/v1/focus/task");
  const pages = usePages<Item>("/v1/items", ITEMS, {
    kind: "task",
    sort,
    limit: 30,
    q: query.get("q"),
    state: { open: ["active", "stale"], all: null }[state] ?? [state],
    include_deleted: state === "deleted" || null,
    project: query.get("project"),
    topic: query.get("topic"),
    tag: query.get("tag"),
  });
  const refresh = () => {
    pages.reload();
    next.reload();
  };
  const act = useActs(refresh);
  const set = (name: string, value: string) =>
    go(link("tasks", { ...Object.fromEntries(query), [name]: value }), { replace: true });
  const { completed, archived, superseded, deleted } = c.states;
  const states = { open: t.open, completed, archived, superseded, deleted };
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <Capture onDone={refresh} />
      {next.data?.item && state === "open" && (
        <section class="note next">
          <p class="faint small">{t.next}</p>
          <TaskRow task={next.data.item} act={act} onSnooze={setPut} />
        </section>
      )}
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          set("q", typed.trim());
        }}
      >
        <Choice
          label={t.state}
          value={state}
          options={{ ...states, all: c.all }}
          onInput={(value) => set("state", value === "open" ? "" : value)}
        />
        <Choice
          label={t.sort}
          value={sort}
          options={t.sorts}
          onInput={(value) => set("sort", value)}
        />
        <TextField label={t.words} type="search" value={typed} onInput={setTyped} />
        <button type="submit">{c.search}</button>
      </form>
      <PagedList
        pages={pages}
        keyOf={(task) => task.id}
        row={(task) => <TaskRow task={task} act={act} onSnooze={setPut} />}
        empty={
          state === "open" && !query.get("q") ? (
            <Empty title={t.empty}>{t.emptyHint}</Empty>
          ) : (
            <Empty title={t.emptyFiltered} />
          )
        }
      />
      {put && <Snooze task={put} act={act} onClose={() => setPut(null)} />}
    </>
  );
}

function Capture(props: { onDone: () => void }) {
  const t = useWords(tasks);
  const c = useWords(common);
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const changed = useChanged(props.onDone);
  const report = useReport();
  useUnsaved(text.trim() !== "");
  const send = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === "" || isSending) return;
    setSending(true);
    try {
      const { data, cause } = await write<{ item: Item }>("POST", "/v1/capture", {
        body: { text },
      });
      setText("");
      if (data.item.kind === "memory") toast(t.capturedMemory);
      else changed(t.captured, cause);
      props.onDone();
    } catch (failure) {
      report(errorOf(failure));
    } finally {
      setSending(false);
    }
  };
  return (
    <form class="asking" onSubmit={send}>
      <TextField label={t.capture} value={text} onInput={setText} hint={t.captureHint} />
      <button type="submit" class="primary" disabled={isSending}>
        {c.add}
      </button>
    </form>
  );
}

function TaskRow(props: { task: Item; act: Act; onSnooze: (task: Item) => void }) {
  const t = useWords(tasks);
  const { task, act } = props;
  const path = `/v1/items/${task.id}/state`;
  const isOpen = task.state === "active" || task.state === "stale" || task.state === "dormant";
  const complete = () => void act("POST", path, completion(task), t.completed(task.title));
  return (
    <div class="row">
      <div class="row-main">
        <a href={link("tasks", task.id)}>{task.title}</a>
        <TaskMeta task={task} />
      </div>
      <span class="row-actions">
        {isOpen ? (
          <>
            <button type="button" class="quiet" onClick={() => props.onSnooze(task)}>
              {t.snooze}
            </button>
            <button type="button" onClick={complete}>
              ✓ {t.complete}
            </button>
          </>
        ) : (
          task.state !== "deleted" && (
            <button
              type="button"
              class="quiet"
              onClick={() => act("POST", path, { action: "reactivate" }, t.reopened)}
            >
              {t.reopen}
            </button>
          )
        )}
      </span>
    </div>
  );
}

/** What completes a task: of a series the occurrence that is shown, not one that began since. */
export function completion(task: Item): Record<string, string> {
  const occurrence = task.recurrence_kind ? task.due_at : null;
  return { action: "complete", ...(occurrence ? { occurrence_due_at: occurrence } : {}) };
}

export function TaskMeta(props: { task: Item }) {
  const t = useWords(tasks);
  const { task } = props;
  const priorities: Record<string, string> = t.priorities;
  const recurrences: Record<string, string> = t.recurrences;
  const isLate = task.state === "active" && task.due_at && new Date(task.due_at) < new Date();
  return (
    <p class="meta">
      {task.priority === 3 && (
        <span class="badge warn">
          {t.priority}: {priorities[task.priority]}
        </span>
      )}
      <StateBadge state={task.state} />
      {task.due_at && (
        <span class={isLate ? "badge bad" : ""}>
          {isLate ? t.overdue : t.due} <When at={task.due_at} />
        </span>
      )}
      {task.snoozed_until && (
        <span>
          {t.snoozedUntil} <When at={task.snoozed_until} />
        </span>
      )}
      {task.recurrence_kind && (
        <span>
          {t.every}: {recurrences[task.recurrence_kind]}
        </span>
      )}
      {task.project && (
        <a href={link("tasks", { project: task.project.slug })}>{task.project.name}</a>
      )}
      {task.topic && <a href={link("tasks", { topic: task.topic.slug })}>{task.topic.name}</a>}
      {task.tags.map((tag) => (
        <a key={tag} href={link("tasks", { tag })}>
          #{tag}
        </a>
      ))}
    </p>
  );
}
