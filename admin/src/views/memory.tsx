// One memory: what it says, what may be done with it, and all that happened to it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, write } from "../api/client";
import { errorOf, useLoad, useWhole } from "../api/hooks";
import type { Forgetting, Memory, Relation } from "../api/types";
import { useActs } from "../parts/acts";
import { useChanged } from "../parts/changes";
import { Facts } from "../parts/facts";
import { History } from "../parts/history";
import { ItemMeta } from "../parts/item";
import { ErrorNote, useReport, Waiting } from "../parts/notes";
import { confirm, toast } from "../parts/overlay";
import { Relations } from "../parts/relations";
import { When } from "../parts/time";
import { go, link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { history } from "../words/history";
import { memories } from "../words/memories";
import { MemoryEditor } from "./memory-editor";
import { ForgettingBody } from "./memory-forget";
import { Supersede } from "./memory-supersede";

/** Characters from which a text scrolls in a box of its own, which a keyboard must reach. */
const LONG = 2_000;

interface Shown {
  data: Memory;
  relations: Relation[];
}

export default function MemoryPage(props: { id: string }) {
  const t = useWords(memories);
  const h = useWords(history);
  const { id } = props;
  const loaded = useLoad<Shown>(`/v1/memories/${encodeURIComponent(id)}`);
  const [round, setRound] = useState(0);
  const [open, setOpen] = useState<"edit" | "supersede" | null>(null);
  const refresh = () => {
    loaded.reload();
    setRound((before) => before + 1);
  };
  const changed = useChanged(refresh);
  const found = loaded.data?.data;
  const whole = useWhole(found?.artifact_id, found?.content ?? "");
  const { text } = whole;
  const back = (
    <p class="lead">
      <a href={link("memories")}>← {t.title}</a>
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
  // What was cut for its length must not be edited as if that were all.
  const memory = { ...loaded.data.data, content: text };
  return (
    <>
      {back}
      <article class="note sheet">
        <p class="pre said" tabIndex={text.length > LONG ? 0 : undefined}>
          {memory.content}
        </p>
        <ItemMeta item={{ ...memory, state: memory.status }} />
        {memory.superseded_by && (
          <p>
            {t.replacedBy} <a href={link("memories", memory.superseded_by)}>→</a>
          </p>
        )}
        <Actions memory={memory} onOpen={setOpen} refresh={refresh} />
      </article>
      <About memory={memory} />
      {loaded.data.relations.length > 0 && (
        <section class="section">
          <h2>{t.relations}</h2>
          <Relations relations={loaded.data.relations} />
        </section>
      )}
      <section class="section">
        <h2>{h.title}</h2>
        <History key={round} path={`/v1/items/${memory.id}/history`} onChanged={loaded.reload} />
      </section>
      {open === "edit" && (
        <MemoryEditor
          memory={memory}
          onClose={() => setOpen(null)}
          onSaved={(_, cause) => {
            setOpen(null);
            if (cause) changed(t.saved, cause);
            refresh();
          }}
        />
      )}
      {open === "supersede" && (
        <Supersede
          memory={memory}
          onClose={() => setOpen(null)}
          onDone={(cause) => {
            setOpen(null);
            changed(t.superseded, cause);
            refresh();
          }}
        />
      )}
      <p class="faint small section">
        <code>{memory.id}</code>
      </p>
    </>
  );
}

function Actions(props: {
  memory: Memory;
  onOpen: (what: "edit" | "supersede") => void;
  refresh: () => void;
}) {
  const t = useWords(memories);
  const c = useWords(common);
  const report = useReport();
  const act = useActs(props.refresh);
  const { memory } = props;
  const item = `/v1/items/${memory.id}`;
  const remove = async () => {
    const title = t.deleteTitle;
    if (!(await confirm({ title, body: t.deleteBody, action: c.remove, isDangerous: true })))
      return;
    await act("DELETE", item, null, t.deleted);
  };
  const forget = async () => {
    try {
      const preview = await call<Forgetting>("GET", `${item}/forget`);
      const body = <ForgettingBody content={memory.content} preview={preview} />;
      const title = t.forgetTitle;
      if (!(await confirm({ title, body, action: t.forget, isDangerous: true }))) return;
      await write("POST", `${item}/forget`);
      toast(t.forgotten);
      go(link("memories"));
    } catch (failure) {
      report(errorOf(failure));
    }
  };
  const forgetting = (
    <button type="button" class="quiet bad" onClick={forget}>
      {t.forget}
    </button>
  );
  if (memory.status === "deleted") {
    return (
      <footer class="actions">
        {forgetting}
        <button
          type="button"
          class="primary"
          onClick={() => act("POST", `${item}/restore`, null, t.restored)}
        >
          {t.restore}
        </button>
      </footer>
    );
  }
  const pin = { pinned: !memory.pinned };
  const isActive = memory.status === "active";
  return (
    <footer class="actions">
      {forgetting}
      <button type="button" class="quiet bad" onClick={remove}>
        {c.remove}
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() =>
          act(
            "POST",
            `${item}/state`,
            { action: isActive ? "archive" : "reactivate" },
            isActive ? c.states.archived : c.states.active,
          )
        }
      >
        {isActive ? t.archive : t.reactivate}
      </button>
      <button type="button" class="quiet" onClick={() => props.onOpen("supersede")}>
        {t.supersede}
      </button>
      <button type="button" class="quiet" onClick={() => act("PATCH", item, pin, t.saved)}>
        {memory.pinned ? t.unpin : t.pin}
      </button>
      <button type="button" class="primary" onClick={() => props.onOpen("edit")}>
        {c.edit}
      </button>
    </footer>
  );
}

function About(props: { memory: Memory }) {
  const t = useWords(memories);
  const { memory } = props;
  const authors: Record<string, string> = t.authors;
  const share = (value: number | null) => (value === null ? null : value.toFixed(2));
  const rows: [string, ComponentChildren][] = [
    [t.author, authors[memory.authored_by] ?? memory.authored_by],
    [t.source, memory.source],
    [t.summary, memory.summary],
    [t.importance, share(memory.importance)],
    [t.confidence, share(memory.confidence)],
    [t.created, <When at={memory.created_at} />],
    [t.validFrom, memory.valid_from && <When at={memory.valid_from} />],
    [t.validTo, memory.valid_to && <When at={memory.valid_to} />],
    [t.expires, memory.expires_at && <When at={memory.expires_at} />],
    [t.recalled, memory.recall_count ? t.times(memory.recall_count) : t.never],
    [t.said, memory.seen_count ? t.times(memory.seen_count) : null],
  ];
  return (
    <section class="section">
      <Facts rows={rows} />
    </section>
  );
}
