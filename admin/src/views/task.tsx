// One task: its details, steps and notes, and all that happened to it.
import { useEffect, useState } from "preact/hooks";
import { useLoad, useWhole } from "../api/hooks";
import type { Item, Relation, Step } from "../api/types";
import { useActs } from "../parts/acts";
import { useChanged } from "../parts/changes";
import { Form, TextField } from "../parts/form";
import { History } from "../parts/history";
import { ErrorNote, Waiting } from "../parts/notes";
import { confirm } from "../parts/overlay";
import { Relations } from "../parts/relations";
import { When } from "../parts/time";
import { go, link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { history } from "../words/history";
import { memories } from "../words/memories";
import { tasks } from "../words/tasks";
import { Snooze, TaskEditor } from "./task-dialogs";
import { completion, TaskMeta } from "./tasks";

interface Shown {
  item: Item;
  relations: Relation[];
}

export default function TaskPage(props: { id: string }) {
  const t = useWords(tasks);
  const m = useWords(memories);
  const loaded = useLoad<Shown>(`/v1/items/${encodeURIComponent(props.id)}`);
  const [round, setRound] = useState(0);
  const [open, setOpen] = useState<"edit" | "snooze" | null>(null);
  const refresh = () => {
    loaded.reload();
    setRound((before) => before + 1);
  };
  const act = useActs(refresh);
  const changed = useChanged(refresh);
  const found = loaded.data?.item;
  const whole = useWhole(found?.artifact_id, found?.content ?? "");
  const { text } = whole;
  const isMemory = found?.kind === "memory";
  useEffect(() => {
    // Whoever links to an item need not know of which kind it is.
    if (isMemory) go(link("memories", props.id), { replace: true });
  }, [isMemory]);
  const back = (
    <p class="lead">
      <a href={link("tasks")}>← {t.title}</a>
    </p>
  );
  if (loaded.data === null || text === null) {
    const failed = loaded.error ? loaded : whole;
    return (
      <>
        {back}
        {failed.error ? <ErrorNote error={failed.error} onRetry={failed.reload} /> : <Waiting />}
      </>
    );
  }
  const task = { ...loaded.data.item, content: text };
  if (isMemory) return <Waiting />;
  const path = `/v1/items/${task.id}`;
  return (
    <>
      {back}
      <article class="note sheet">
        <h1>{task.title}</h1>
        <TaskMeta task={task} />
        {task.content && <p class="pre long">{task.content}</p>}
        {task.steps && task.steps.length > 0 && (
          <Steps
            steps={task.steps}
            onMark={(id, done) => act("PATCH", path, { step_done: { [id]: done } }, t.saved)}
          />
        )}
        <Buttons task={task} act={act} onOpen={setOpen} />
      </article>
      <section class="section">
        <h2>{t.notes}</h2>
        <Notes task={task} onAdd={(text) => act("PATCH", path, { add_note: text }, t.saved)} />
      </section>
      {loaded.data.relations.length > 0 && (
        <section class="section">
          <h2>{m.relations}</h2>
          <Relations relations={loaded.data.relations} />
        </section>
      )}
      <HistorySection key={round} path={`${path}/history`} onChanged={loaded.reload} />
      {open === "snooze" && <Snooze task={task} act={act} onClose={() => setOpen(null)} />}
      {open === "edit" && (
        <TaskEditor
          task={task}
          onClose={() => setOpen(null)}
          onSaved={(cause) => {
            setOpen(null);
            if (cause) changed(t.saved, cause);
            refresh();
          }}
        />
      )}
    </>
  );
}

function HistorySection(props: { path: string; onChanged: () => void }) {
  const t = useWords(history);
  return (
    <section class="section">
      <h2>{t.title}</h2>
      <History path={props.path} onChanged={props.onChanged} />
    </section>
  );
}

function Buttons(props: {
  task: Item;
  act: ReturnType<typeof useActs>;
  onOpen: (what: "edit" | "snooze") => void;
}) {
  const t = useWords(tasks);
  const m = useWords(memories);
  const c = useWords(common);
  const { task, act } = props;
  const path = `/v1/items/${task.id}`;
  const turn = (action: string, said: string) =>
    act("POST", `${path}/state`, action === "complete" ? completion(task) : { action }, said);
  const remove = async () => {
    const question = { title: t.deleteTitle, body: t.deleteBody, action: c.remove };
    if (await confirm({ ...question, isDangerous: true })) {
      await act("DELETE", path, null, t.deleted);
    }
  };
  if (task.state === "deleted") {
    return (
      <footer class="actions">
        <button
          type="button"
          class="primary"
          onClick={() => act("POST", `${path}/restore`, null, m.restored)}
        >
          {m.restore}
        </button>
      </footer>
    );
  }
  const isOpen = ["active", "stale", "dormant"].includes(task.state);
  return (
    <footer class="actions">
      <button type="button" class="quiet bad" onClick={remove}>
        {c.remove}
      </button>
      {isOpen ? (
        <>
          <button type="button" class="quiet" onClick={() => turn("archive", c.states.archived)}>
            {t.archive}
          </button>
          <button type="button" class="quiet" onClick={() => props.onOpen("snooze")}>
            {t.snooze}
          </button>
          <button type="button" onClick={() => turn("complete", t.completed(task.title))}>
            ✓ {t.complete}
          </button>
        </>
      ) : (
        <button type="button" class="quiet" onClick={() => turn("reactivate", t.reopened)}>
          {t.reopen}
        </button>
      )}
      <button type="button" class="primary" onClick={() => props.onOpen("edit")}>
        {c.edit}
      </button>
    </footer>
  );
}

function Steps(props: { steps: Step[]; onMark: (id: string, done: boolean) => Promise<boolean> }) {
  // A tick shows at once; a refused one goes away again.
  const [marks, setMarks] = useState<Record<string, boolean>>({});
  useEffect(() => setMarks({}), [props.steps]);
  const mark = async (id: string, done: boolean) => {
    setMarks((before) => ({ ...before, [id]: done }));
    if (!(await props.onMark(id, done))) setMarks({});
  };
  return (
    <ul class="steps">
      {props.steps.map((step) => {
        const isDone = marks[step.id] ?? step.done;
        return (
          <li key={step.id}>
            <label>
              <input
                type="checkbox"
                checked={isDone}
                onInput={(event) => void mark(step.id, event.currentTarget.checked)}
              />{" "}
              <span class={isDone ? "faint" : ""}>{step.text}</span>
            </label>
            {step.steps && step.steps.length > 0 && (
              <Steps steps={step.steps} onMark={props.onMark} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Notes(props: { task: Item; onAdd: (text: string) => Promise<boolean> }) {
  const t = useWords(tasks);
  const c = useWords(common);
  const [text, setText] = useState("");
  const add = async () => {
    const isDone = await props.onAdd(text);
    if (isDone) setText("");
    return isDone;
  };
  return (
    <>
      {(props.task.notes ?? []).map((note) => (
        <p key={`${note.at}-${note.text}`}>
          <span class="faint small">
            <When at={note.at} />
          </span>{" "}
          {note.text}
        </p>
      ))}
      <Form send={add} label={c.add}>
        <TextField label={t.addNote} value={text} onInput={setText} isRequired />
      </Form>
    </>
  );
}
