// Writing a memory, or changing one; a change that somebody else made first is shown, not lost.
import { useState } from "preact/hooks";
import { type ApiError, call, type Json, write } from "../api/client";
import { errorOf, whole } from "../api/hooks";
import type { Memory } from "../api/types";
import { Diff } from "../parts/diff";
import { Check, Choice, Form, TextArea, TextField } from "../parts/form";
import { useReport } from "../parts/notes";
import { Dialog, toast } from "../parts/overlay";
import { local, useZone } from "../parts/time";
import { useWords } from "../words";
import { common } from "../words/common";
import { memories } from "../words/memories";
import { memoryTypes } from "./memories";

interface Draft {
  content: string;
  type: string;
  fact_key: string;
  tags: string;
  pinned: boolean;
  importance: string;
  confidence: string;
  project: string;
  topic: string;
  summary: string;
  valid_from: string;
  valid_to: string;
  expires_at: string;
}

function draftOf(memory: Memory | null, zone: string): Draft {
  const text = (value: unknown) => (value === null || value === undefined ? "" : String(value));
  return {
    content: memory?.content ?? "",
    type: memory?.type ?? "fact",
    fact_key: text(memory?.fact_key),
    tags: memory?.tags.join(", ") ?? "",
    pinned: memory?.pinned ?? false,
    importance: text(memory?.importance),
    confidence: text(memory?.confidence),
    project: text(memory?.project?.slug),
    topic: text(memory?.topic?.slug),
    summary: text(memory?.summary),
    valid_from: local(memory?.valid_from, zone),
    valid_to: local(memory?.valid_to, zone),
    expires_at: local(memory?.expires_at, zone),
  };
}

/** The number; what is none goes to the server as it is, which says so. */
function numberOf(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

/** What differs, in the server's form: an emptied field is null, tags are a list. */
function changesOf(before: Draft, after: Draft): Record<string, Json> {
  const changes: Record<string, Json> = {};
  for (const name of Object.keys(after) as (keyof Draft)[]) {
    const value = after[name];
    if (value === before[name]) continue;
    if (typeof value === "boolean") changes[name] = value;
    else if (name === "tags")
      changes[name] = value
        .split(/[,，、]/)
        .map((tag) => tag.trim())
        .filter(Boolean);
    else if (value.trim() === "") changes[name] = null;
    else if (name === "importance" || name === "confidence") changes[name] = numberOf(value);
    else changes[name] = value;
  }
  return changes;
}

export function MemoryEditor(props: {
  memory: Memory | null;
  onClose: () => void;
  onSaved: (id: string, cause: string) => void;
}) {
  const t = useWords(memories);
  const c = useWords(common);
  const zone = useZone();
  const [draft, setDraft] = useState(() => draftOf(props.memory, zone));
  const [theirs, setTheirs] = useState<Memory | null>(null);
  const report = useReport();
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));

  const create = async () => {
    const body = {
      ...changesOf(draftOf(null, zone), draft),
      content: draft.content,
      type: draft.type,
    };
    const { data, cause } = await write<{ data: Memory; outcome: string }>("POST", "/v1/memories", {
      body,
    });
    const said: Record<string, string> = { seen: t.seenAgain, superseded: t.replaced };
    toast(said[data.outcome] ?? t.saved);
    props.onSaved(data.data.id, cause);
  };
  const change = async (memory: Memory, version: number) => {
    const body = changesOf(draftOf(memory, zone), draft);
    if (Object.keys(body).length === 0) {
      props.onClose();
      return;
    }
    const path = `/v1/memories/${memory.id}`;
    const { cause } = await write("PATCH", path, { body, version });
    props.onSaved(memory.id, cause);
  };
  const meetTheirs = (error: ApiError) => {
    if (error.code !== "version_conflict" || props.memory === null) return false;
    call<{ data: Memory }>("GET", `/v1/memories/${props.memory.id}`)
      .then((answer) => whole(answer.data))
      .then(setTheirs, (failure: unknown) => report(errorOf(failure)));
    return true;
  };

  const { memory } = props;
  if (memory !== null && theirs !== null) {
    return (
      <Dialog title={t.conflictTitle} onClose={props.onClose} isWritten>
        <Form
          isWritten
          send={() => change(memory, theirs.version)}
          label={t.useMine}
          onCancel={() => props.onSaved(memory.id, "")}
          cancelLabel={t.useTheirs}
          onRefused={meetTheirs}
        >
          <p>{t.conflictBody}</p>
          <Diff before={theirs.content} after={draft.content} />
        </Form>
      </Dialog>
    );
  }
  return (
    <Dialog title={memory ? t.editTitle : t.newTitle} onClose={props.onClose}>
      <Form
        send={memory ? () => change(memory, memory.version) : create}
        onCancel={props.onClose}
        onRefused={meetTheirs}
      >
        <TextArea
          label={t.text}
          rows={5}
          value={draft.content}
          onInput={(content) => set({ content })}
          isRequired
        />
        <div class="fields">
          <Choice
            label={t.type}
            value={draft.type}
            options={memoryTypes(c.types)}
            onInput={(type) => set({ type })}
          />
          <TextField
            label={t.tags}
            value={draft.tags}
            onInput={(tags) => set({ tags })}
            hint={t.tagsHint}
          />
        </div>
        <Check label={t.pin} isOn={draft.pinned} onInput={(pinned) => set({ pinned })} />
        <details>
          <summary>{t.furtherFields}</summary>
          <Further draft={draft} set={set} />
        </details>
      </Form>
    </Dialog>
  );
}

function Further(props: { draft: Draft; set: (change: Partial<Draft>) => void }) {
  const t = useWords(memories);
  const { draft, set } = props;
  const field = (name: Exclude<keyof Draft, "pinned">, label: string, hint?: string) => (
    <TextField
      label={label}
      value={draft[name]}
      onInput={(value) => set({ [name]: value })}
      {...(hint ? { hint } : {})}
    />
  );
  return (
    <div class="fields further">
      {field("fact_key", t.key, t.keyHint)}
      {field("summary", t.summary)}
      {field("importance", t.importance, t.share)}
      {field("confidence", t.confidence, t.share)}
      {field("project", t.project)}
      {field("topic", t.topic)}
      {field("valid_from", t.validFrom, t.dateHint)}
      {field("valid_to", t.validTo, t.dateHint)}
      {field("expires_at", t.expires, t.dateHint)}
    </div>
  );
}
