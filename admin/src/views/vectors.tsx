// Vectors: whether index and memories agree, and mending it page by page with its progress.
import { useRef, useState } from "preact/hooks";
import { call } from "../api/client";
import { errorOf, useLoad } from "../api/hooks";
import type { Reindexed, VectorHealth } from "../api/upkeep";
import { Empty, ErrorNote, useReport } from "../parts/notes";
import { confirm } from "../parts/overlay";
import { useWords } from "../words";
import { vectors } from "../words/vectors";

export default function Vectors() {
  const t = useWords(vectors);
  const { data, error, isLoading, reload } = useLoad<VectorHealth>("/v1/debug/vector_health");
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
        <button type="button" disabled={isLoading} onClick={reload}>
          {t.check}
        </button>
      </header>
      <p class="faint lead">{t.about}</p>
      {error?.code === "forbidden" ? (
        <p class="note">{t.narrow}</p>
      ) : (
        error && <ErrorNote error={error} onRetry={reload} />
      )}
      {isLoading && (
        <p class="waiting" aria-busy="true">
          {t.checking}
        </p>
      )}
      {data?.status === "off" && <Empty title={t.statuses.off}>{t.offHint}</Empty>}
      {data && data.status !== "off" && (
        <>
          <Health health={data} />
          <Mending health={data} onDone={reload} />
        </>
      )}
    </>
  );
}

function Health(props: { health: VectorHealth }) {
  const t = useWords(vectors);
  const { health } = props;
  const { outbox, canary, next } = health;
  const isCanaryWell = canary?.written && canary.found && canary.deleted;
  return (
    <section class={health.status === "ok" ? "note" : "note warn"}>
      <h2>{t.statuses[health.status]}</h2>
      {health.reasons.map((reason) => (
        <p key={reason} lang="en">
          {reason}
        </p>
      ))}
      <dl class="facts section">
        <Fact name={t.model} value={health.model} />
        <Fact name={t.dims} value={health.dims} />
        <Fact name={t.items} value={health.items} />
        <Fact name={t.vectors} value={health.vectors} />
        <Fact name={t.index} value={health.index_count} />
        <Fact name={t.waiting} value={outbox?.waiting} />
        {outbox && outbox.removals > 0 && <Fact name={t.removals} value={outbox.removals} />}
        {outbox && outbox.failing > 0 && <Fact name={t.failing} value={outbox.failing} />}
        <Fact name={t.lastError} value={outbox?.last_error} />
        {canary && (
          <Fact
            name={t.canary}
            value={
              isCanaryWell
                ? t.canaryOk(canary.ms)
                : `${t.canaryNot} ${(["written", "found", "deleted"] as const)
                    .map((step) => `${canary[step] ? "✓" : "✗"} ${t.steps[step]}`)
                    .join(", ")}`
            }
          />
        )}
        {next && (
          <Fact name={t.next} value={`${next.model} · ${t.filled(next.vectors, next.total)}`} />
        )}
      </dl>
    </section>
  );
}

function Fact(props: { name: string; value: string | number | null | undefined }) {
  if (props.value === null || props.value === undefined) return null;
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.value}</dd>
    </>
  );
}

/** Items of one call: few enough that progress is seen to move. */
const PAGE = 50;

interface Sum {
  isDry: boolean;
  missing: number;
  orphans: number;
  embedded: number;
  queued: number;
  deleted: number;
  done: number;
  total: number;
  failure: string | null;
  isOver: boolean;
  isStopped: boolean;
}

const NOTHING: Sum = {
  isDry: true,
  missing: 0,
  orphans: 0,
  embedded: 0,
  queued: 0,
  deleted: 0,
  done: 0,
  total: 0,
  failure: null,
  isOver: false,
  isStopped: false,
};

function added(sum: Sum, page: Reindexed): Sum {
  return {
    ...sum,
    missing: sum.missing + page.missing,
    orphans: sum.orphans + page.orphans,
    embedded: sum.embedded + page.embedded,
    queued: sum.queued + page.queued,
    deleted: sum.deleted + page.deleted,
    done: page.progress.done,
    total: page.progress.total,
    failure: page.failure,
    isOver: page.next_cursor === null || page.failure !== null,
  };
}

function Mending(props: { health: VectorHealth; onDone: () => void }) {
  const t = useWords(vectors);
  const [sum, setSum] = useState<Sum | null>(null);
  const [isGoing, setGoing] = useState(false);
  const isStopped = useRef(false);
  const report = useReport();
  const walk = async (body: { dry_run: boolean; force?: boolean; index?: "next" }) => {
    isStopped.current = false;
    setGoing(true);
    let now: Sum = { ...NOTHING, isDry: body.dry_run };
    setSum(now);
    let cursor: string | null = null;
    try {
      while (!now.isOver && !isStopped.current) {
        const page: Reindexed = await call<Reindexed>("POST", "/v1/debug/vector_reindex", {
          body: { ...body, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
        });
        now = added(now, page);
        setSum(now);
        // The next model's index keeps its place itself.
        cursor = body.index === "next" ? null : page.next_cursor;
      }
      if (isStopped.current) setSum({ ...now, isStopped: true });
      else if (!body.dry_run) props.onDone();
    } catch (failure) {
      report(errorOf(failure));
    }
    setGoing(false);
  };
  const embedAll = async () => {
    const isSure = await confirm({
      title: t.againTitle,
      body: t.againBody(props.health.items ?? 0),
      action: t.again,
      isDangerous: true,
    });
    if (isSure) await walk({ dry_run: false, force: true });
  };
  const isCounted = sum?.isDry && sum.isOver && sum.missing + sum.orphans > 0;
  return (
    <section class="section">
      <h2>{t.mend}</h2>
      <p class="faint lead">{t.mendAbout}</p>
      <p class="actions start">
        <button
          type="button"
          class={isCounted ? "" : "primary"}
          disabled={isGoing}
          onClick={() => walk({ dry_run: true })}
        >
          {t.count}
        </button>
        <button
          type="button"
          class={isCounted ? "primary" : ""}
          disabled={isGoing || !isCounted}
          onClick={() => walk({ dry_run: false })}
        >
          {t.embed}
        </button>
        <button type="button" disabled={isGoing} onClick={embedAll}>
          {t.again}
        </button>
        {props.health.next && (
          <button
            type="button"
            disabled={isGoing}
            onClick={() => walk({ dry_run: false, index: "next" })}
          >
            {t.fillNext}
          </button>
        )}
        {isGoing && (
          <button
            type="button"
            onClick={() => {
              isStopped.current = true;
            }}
          >
            {t.stop}
          </button>
        )}
      </p>
      {sum && <Progress sum={sum} />}
    </section>
  );
}

function Progress(props: { sum: Sum }) {
  const t = useWords(vectors);
  const { sum } = props;
  return (
    <div class="section" role="status">
      <progress value={sum.done} max={Math.max(1, sum.total)} />
      <p class="faint">{t.going(sum.done, sum.total)}</p>
      {sum.isOver && sum.isDry && <p>{t.counted(sum.missing, sum.orphans)}</p>}
      {!sum.isDry && <p>{t.mended(sum.embedded, sum.queued, sum.deleted)}</p>}
      {sum.isStopped && <p>{t.stopped}</p>}
      {sum.failure && (
        <p class="note error">
          {t.failed} <span lang="en">{sum.failure}</span>
        </p>
      )}
    </div>
  );
}
