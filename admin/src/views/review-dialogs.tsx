// Deciding with a change: edited before it is approved, merged into a memory, or in its place.
import { useEffect, useState } from "preact/hooks";
import { call, write } from "../api/client";
import { errorOf, useLoad } from "../api/hooks";
import type { Brief } from "../api/types";
import type { Alike, Candidate, MergePreview } from "../api/upkeep";
import { Diff } from "../parts/diff";
import { Choice, Form, TextArea, TextField } from "../parts/form";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { Dialog } from "../parts/overlay";
import { useWords } from "../words";
import { common } from "../words/common";
import { review } from "../words/review";
import { textOf } from "./review-card";

/** Types that a candidate may be given. */
const TYPES = [
  ..."fact event preference relationship boundary habit decision note world_fact".split(" "),
  ..."learning rule identity persona".split(" "),
];

/** Likeness from which a memory is offered to merge into. */
const ALIKE_MIN = 0.3;

export function EditDialog(props: {
  candidate: Candidate;
  onClose: () => void;
  onDone: (cause: string) => void;
}) {
  const t = useWords(review);
  const c = useWords(common);
  const { candidate } = props;
  const [content, setContent] = useState(candidate.content);
  const [type, setType] = useState(candidate.type);
  const [key, setKey] = useState(candidate.fact_key ?? "");
  const [tags, setTags] = useState(candidate.tags.join(", "));
  const [note, setNote] = useState("");
  const types = Object.fromEntries(
    TYPES.map((each) => [each, (c.types as Record<string, string>)[each] ?? each]),
  );
  const send = async () => {
    const { cause } = await write("POST", `/v1/candidates/${candidate.id}/approve`, {
      body: {
        content,
        type,
        fact_key: key.trim() || null,
        tags: listed(tags),
        decision_note: note.trim() || null,
      },
    });
    props.onDone(cause);
  };
  return (
    <Dialog title={t.editTitle} onClose={props.onClose}>
      <Form send={send} label={t.approve} onCancel={props.onClose}>
        <TextArea label={t.text} value={content} onInput={setContent} isRequired />
        <div class="fields">
          <Choice label={t.type} value={type} options={types} onInput={setType} />
          <TextField label={t.key} value={key} onInput={setKey} hint={t.keyHint} />
        </div>
        <TextField label={t.tags} value={tags} onInput={setTags} hint={t.tagsHint} />
        <TextField label={t.note} value={note} onInput={setNote} hint={t.noteHint} />
      </Form>
    </Dialog>
  );
}

/** Choose the memory, see both texts and the result, then decide. */
export function TargetDialog(props: {
  candidate: Candidate;
  action: "merge" | "supersede";
  known: Brief[];
  onClose: () => void;
  onDone: (cause: string) => void;
}) {
  const t = useWords(review);
  const { candidate, action } = props;
  const { offered, error } = useOffered(candidate, props.known);
  const [targetId, setTargetId] = useState("");
  const target = offered?.find((item) => item.id === targetId) ?? offered?.[0] ?? null;
  return (
    <Dialog
      title={action === "merge" ? t.mergeTitle : t.supersedeTitle}
      onClose={props.onClose}
      isWide
    >
      {error && <ErrorNote error={error} />}
      {!error && offered === null && <Waiting />}
      {offered?.length === 0 && <Empty title={t.noTargets}>{t.noTargetsHint}</Empty>}
      {offered && offered.length > 1 && (
        <Choice
          label={t.target}
          value={target?.id ?? ""}
          options={Object.fromEntries(offered.map((item) => [item.id, item.title]))}
          onInput={setTargetId}
        />
      )}
      {target && action === "merge" && (
        <Merge key={target.id} candidate={candidate} targetId={target.id} {...handlers(props)} />
      )}
      {target && action === "supersede" && (
        <Replace key={target.id} candidate={candidate} target={target} {...handlers(props)} />
      )}
    </Dialog>
  );
}

interface Handlers {
  onClose: () => void;
  onDone: (cause: string) => void;
}

function handlers(props: Handlers): Handlers {
  return { onClose: props.onClose, onDone: props.onDone };
}

/** What the candidate is about, then memories that say nearly the same. */
function useOffered(candidate: Candidate, known: Brief[]) {
  const [offered, setOffered] = useState<Brief[] | null>(null);
  const [error, setError] = useState<ReturnType<typeof errorOf> | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    call<Alike>("POST", "/v1/search/conflicts", {
      body: { query: candidate.content, threshold: ALIKE_MIN, limit: 10 },
      signal: stop.signal,
    }).then(
      ({ matches }) => {
        const found = [...known, ...matches.map((match) => match.item)];
        const memories = found.filter((item) => item.kind === "memory" && item.state === "active");
        setOffered([...new Map(memories.map((item) => [item.id, item])).values()]);
      },
      (failure: unknown) => stop.signal.aborted || setError(errorOf(failure)),
    );
    return () => stop.abort();
  }, [candidate.id]);
  return { offered, error };
}

function Merge(props: { candidate: Candidate; targetId: string } & Handlers) {
  const t = useWords(review);
  const path = `/v1/candidates/${props.candidate.id}`;
  const { data, error, reload } = useLoad<MergePreview>(`${path}/preview`, {
    target_id: props.targetId,
  });
  const [edited, setEdited] = useState<string | null>(null);
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const content = edited ?? data.result.content;
  const send = async () => {
    const body: Record<string, unknown> = { target_id: props.targetId };
    if (edited !== null) body.content = edited;
    const { cause } = await write("POST", `${path}/merge`, { body });
    props.onDone(cause);
  };
  return (
    <Form send={send} label={t.doMerge} onCancel={props.onClose}>
      <div class="two">
        <Quoted title={t.theMemory} text={data.target.content} />
        <Quoted title={t.theCandidate} text={data.data.content} />
      </div>
      <TextArea
        label={t.theResult}
        value={content}
        onInput={setEdited}
        hint={t.resultHint}
        isRequired
      />
      <div>
        <h3 class="small faint">{t.difference}</h3>
        <Diff before={data.target.content} after={content} />
        <p class="meta">
          {data.result.tags.map((tag) => (
            <span key={tag}>#{tag}</span>
          ))}
          {data.result.confidence !== null && <span>{t.sure(data.result.confidence)}</span>}
          {data.result.importance !== null && <span>{t.weight(data.result.importance)}</span>}
        </p>
      </div>
    </Form>
  );
}

function Replace(props: { candidate: Candidate; target: Brief } & Handlers) {
  const t = useWords(review);
  const { candidate, target } = props;
  const send = async () => {
    const { cause } = await write("POST", `/v1/candidates/${candidate.id}/supersede`, {
      body: { target_id: target.id },
    });
    props.onDone(cause);
  };
  return (
    <Form send={send} label={t.doSupersede} onCancel={props.onClose}>
      <div class="two">
        <Quoted title={t.theMemory} text={textOf(target)} />
        <Quoted title={t.theCandidate} text={candidate.content} />
      </div>
      <p class="faint">{t.supersedeBody}</p>
    </Form>
  );
}

function Quoted(props: { title: string; text: string }) {
  return (
    <section>
      <h3 class="small faint">{props.title}</h3>
      <p class="pre note">{props.text}</p>
    </section>
  );
}

/** Tags as typed, by commas of both languages. */
export function listed(text: string): string[] {
  return text
    .split(/[,，、]/)
    .map((part) => part.trim())
    .filter(Boolean);
}
