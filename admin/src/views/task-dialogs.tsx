// Putting a task off, and changing one.
import { useState } from "preact/hooks";
import { type ApiError, call, type Json, write } from "../api/client";
import { errorOf, whole } from "../api/hooks";
import type { Item, Step } from "../api/types";
import type { Act } from "../parts/acts";
import { Diff } from "../parts/diff";
import { Choice, Form, TextArea, TextField } from "../parts/form";
import { useReport } from "../parts/notes";
import { Dialog } from "../parts/overlay";
import { local, useZone } from "../parts/time";
import { useWords } from "../words";
import { tasks } from "../words/tasks";

export function Snooze(props: { task: Item; act: Act; onClose: () => void }) {
  const t = useWords(tasks);
  const [until, setUntil] = useState("");
  const put = async (when: string) => {
    const path = `/v1/items/${props.task.id}/state`;
    const body = { action: "snooze", ...(when ? { until: when } : {}) };
    const isDone = await props.act("POST", path, body, t.snoozed);
    if (isDone) props.onClose();
    return isDone;
  };
  return (
    <Dialog title={t.snoozeTitle} onClose={props.onClose}>
      <p class="tabs">
        {Object.entries(t.snoozes).map(([when, label]) => (
          <button key={when} type="button" onClick={() => put(when)}>
            {label}
          </button>
        ))}
      </p>
      <Form send={() => put(until)} label={t.snooze} onCancel={props.onClose}>
        <TextField label={t.until} value={until} onInput={setUntil} hint={t.dateHint} isRequired />
      </Form>
    </Dialog>
  );
}

interface Draft {
  title: string;
  content: string;
  due: string;
  priority: string;
  progress: string;
  recurrence_kind: string;
  project: string;
  topic: string;
  tags: string;
  steps: string;
}

function draftOf(task: Item, zone: string): Draft {
  return {
    title: task.title,
    content: task.content,
    due: local(task.due_at, zone),
    priority: String(task.priority),
    progress: task.progress ?? "pending",
    recurrence_kind: task.recurrence_kind ?? "",
    project: task.project?.slug ?? "",
    topic: task.topic?.slug ?? "",
    tags: task.tags.join(", "),
    steps: (task.steps ?? []).map((step) => step.text).join("\n"),
  };
}

function changesOf(task: Item, draft: Draft, zone: string): Record<string, Json> {
  const before = draftOf(task, zone);
  const changes: Record<string, Json> = {};
  for (const name of Object.keys(draft) as (keyof Draft)[]) {
    const value = draft[name].trim();
    if (value === before[name].trim()) continue;
    if (name === "priority") changes[name] = Number(value);
    else if (name === "steps") changes[name] = stepsOf(value, task.steps ?? []) as unknown as Json;
    else if (name === "tags")
      changes[name] = value
        .split(/[,，、]/)
        .map((tag) => tag.trim())
        .filter(Boolean);
    else if (name === "content") changes[name] = value;
    else changes[name] = value === "" ? null : value;
  }
  return changes;
}

/** The lines as steps; a line that was there keeps its id, its mark and what is below it. */
function stepsOf(lines: string, before: Step[]): unknown[] {
  const left = [...before];
  return lines
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((text) => {
      const at = left.findIndex((step) => step.text === text);
      const [found] = at < 0 ? [] : left.splice(at, 1);
      return found ? sent(found) : text;
    });
}

function sent(step: Step): unknown {
  const steps = step.steps?.map(sent) ?? [];
  const { id, text, done } = step;
  return steps.length > 0 ? { id, text, done, steps } : { id, text, done };
}

export function TaskEditor(props: {
  task: Item;
  onClose: () => void;
  onSaved: (cause: string) => void;
}) {
  const t = useWords(tasks);
  const { task } = props;
  const zone = useZone();
  const [draft, setDraft] = useState(() => draftOf(task, zone));
  const [theirs, setTheirs] = useState<Item | null>(null);
  const report = useReport();
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const send = async (version: number) => {
    const body = changesOf(task, draft, zone);
    if (Object.keys(body).length === 0) {
      props.onClose();
      return;
    }
    const { cause } = await write("PATCH", `/v1/items/${task.id}`, { body, version });
    props.onSaved(cause);
  };
  const meetTheirs = (error: ApiError) => {
    if (error.code !== "version_conflict") return false;
    call<{ item: Item }>("GET", `/v1/items/${task.id}`)
      .then((answer) => whole(answer.item))
      .then(setTheirs, (failure: unknown) => report(errorOf(failure)));
    return true;
  };
  if (theirs !== null) {
    const text = (one: Draft) => Object.values(one).filter(Boolean).join("\n");
    return (
      <Dialog title={t.editTitle} onClose={props.onClose} isWritten>
        <Form
          isWritten
          send={() => send(theirs.version)}
          label={t.overwrite}
          onCancel={() => props.onSaved("")}
          cancelLabel={t.keepTheirs}
          onRefused={meetTheirs}
        >
          <p>{t.conflict}</p>
          <Diff before={text(draftOf(theirs, zone))} after={text(draft)} />
        </Form>
      </Dialog>
    );
  }
  return (
    <Dialog title={t.editTitle} onClose={props.onClose}>
      <Form send={() => send(task.version)} onCancel={props.onClose} onRefused={meetTheirs}>
        <TextField
          label={t.text}
          value={draft.title}
          onInput={(title) => set({ title })}
          isRequired
        />
        <TextArea
          label={t.details}
          value={draft.content}
          onInput={(content) => set({ content })}
          rows={3}
        />
        <Fields draft={draft} set={set} />
        <TextArea
          label={t.steps}
          value={draft.steps}
          onInput={(steps) => set({ steps })}
          hint={t.stepsHint}
          rows={3}
        />
      </Form>
    </Dialog>
  );
}

function Fields(props: { draft: Draft; set: (change: Partial<Draft>) => void }) {
  const t = useWords(tasks);
  const { draft, set } = props;
  const choice = (name: "priority" | "progress" | "recurrence_kind", label: string) => {
    const options = {
      priority: t.priorities,
      progress: t.progresses,
      recurrence_kind: t.recurrences,
    }[name];
    return (
      <Choice
        label={label}
        value={draft[name]}
        options={options}
        onInput={(value) => set({ [name]: value })}
      />
    );
  };
  const field = (name: "due" | "project" | "topic" | "tags", label: string, hint = "") => (
    <TextField
      label={label}
      value={draft[name]}
      onInput={(value) => set({ [name]: value })}
      hint={hint}
    />
  );
  return (
    <div class="fields">
      {field("due", t.due, t.dateHint)}
      {choice("priority", t.priority)}
      {choice("progress", t.progress)}
      {choice("recurrence_kind", t.recurrence)}
      {field("project", t.project)}
      {field("topic", t.topic)}
      {field("tags", t.tags)}
    </div>
  );
}
