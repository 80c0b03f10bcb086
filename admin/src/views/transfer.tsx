// The memory as a file and back; whether its history is whole; making its tables anew.
import { useState } from "preact/hooks";
import { type ApiError, call } from "../api/client";
import { errorOf } from "../api/hooks";
import { exported, rebuild as rebuildAll, type Told, verify as verifyAll } from "../api/pieces";
import type { Rebuilt, Verified } from "../api/upkeep";
import { Check } from "../parts/form";
import { ErrorNote } from "../parts/notes";
import { confirm, toast } from "../parts/overlay";
import { useWords } from "../words";
import { transfer } from "../words/transfer";
import { Import } from "./transfer-import";

export default function Transfer() {
  const t = useWords(transfer);
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <Export />
      <Import />
      <Verify />
      <Rebuild />
    </>
  );
}

export interface Doing {
  isDoing: boolean;
  /** How much is done, and of how much (0: unknown); null before anything is. */
  going: { done: number; total: number } | null;
  error: ApiError | null;
  run: (work: (told: Told) => Promise<void>) => Promise<void>;
}

/** Do something once at a time, tell how far it is, and show why it was refused. */
export function useDoing(): Doing {
  const [isDoing, setDoing] = useState(false);
  const [going, setGoing] = useState<Doing["going"]>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (work: (told: Told) => Promise<void>) => {
    setDoing(true);
    setError(null);
    try {
      await work((done, total) => setGoing({ done, total }));
    } catch (failure) {
      setError(errorOf(failure));
    }
    setDoing(false);
    setGoing(null);
  };
  return { isDoing, going, error, run };
}

export function Going(props: { going: Doing["going"]; label: string }) {
  if (props.going === null) return null;
  const { done, total } = props.going;
  return (
    <p role="status">
      {total > 0 ? (
        <progress value={done} max={total} aria-label={props.label} />
      ) : (
        `${props.label} ${done}`
      )}
    </p>
  );
}

function Export() {
  const t = useWords(transfer);
  const { isDoing, error, run } = useDoing();
  const [hasKeys, setHasKeys] = useState(true);
  const [isAll, setAll] = useState(false);
  const save = () =>
    run(async () => {
      const file = await exported({ all_namespaces: isAll, keys: hasKeys });
      const address = URL.createObjectURL(file);
      const anchor = document.createElement("a");
      anchor.href = address;
      anchor.download = `remembrancer-${new Date().toISOString().slice(0, 10)}.jsonl`;
      anchor.click();
      // Some browsers begin to read it only a moment later.
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      toast(t.downloaded);
    });
  return (
    <section class="note block">
      <h2>{t.export}</h2>
      <p class="faint">{t.exportAbout}</p>
      <Check label={t.withKeys} isOn={hasKeys} onInput={setHasKeys} />
      <Check label={t.everyone} isOn={isAll} onInput={setAll} />
      {error && <ErrorNote error={error} />}
      <button type="button" class="primary" disabled={isDoing} onClick={save}>
        {isDoing ? t.downloading : t.download}
      </button>
    </section>
  );
}

function Verify() {
  const t = useWords(transfer);
  const { isDoing, going, error, run } = useDoing();
  const [found, setFound] = useState<Verified | null>(null);
  const verify = () => {
    setFound(null);
    return run(async (told) => setFound(await verifyAll(told)));
  };
  return (
    <section class="note block">
      <h2>{t.verify}</h2>
      <p class="faint">{t.verifyAbout}</p>
      {error && <ErrorNote error={error} />}
      <Going going={going} label={t.verifying} />
      {found?.ok && (
        <p role="status">
          {t.whole(found.events, found.streams)}{" "}
          {found.forgotten > 0 && t.forgotten(found.forgotten)}
        </p>
      )}
      {found?.first_break && (
        <p class="note error" role="alert">
          {t.broken} {found.first_break.namespace} · {found.first_break.stream} ·{" "}
          {found.first_break.version} · <span lang="en">{found.first_break.what}</span>
        </p>
      )}
      <button type="button" disabled={isDoing} onClick={verify}>
        {isDoing ? t.verifying : t.verifyNow}
      </button>
    </section>
  );
}

function Rebuild() {
  const t = useWords(transfer);
  const { isDoing, going, error, run } = useDoing();
  const [cost, setCost] = useState<Rebuilt | null>(null);
  const ask = () => call<Rebuilt>("POST", "/v1/admin/rebuild", { body: { dry_run: true } });
  const rebuild = async () => {
    const isSure = await confirm({
      title: t.rebuildTitle,
      body: (
        <>
          <p>{cost && t.costs(cost.events, cost.rows_written_estimate)}</p>
          <p>{t.rebuildBody}</p>
        </>
      ),
      action: t.rebuildNow,
      isDangerous: true,
    });
    if (!isSure) return;
    await run(async (told) => {
      const done = await rebuildAll(told);
      toast(t.rebuilt(done.events));
      setCost(null);
    });
  };
  return (
    <section class="note block">
      <h2>{t.rebuild}</h2>
      <p class="faint">{t.rebuildAbout}</p>
      {error && <ErrorNote error={error} />}
      <Going going={going} label={t.rebuilding} />
      {cost && (
        <p role="status">
          {t.costs(cost.events, cost.rows_written_estimate)}{" "}
          <span class="faint small">{t.costHint}</span>
        </p>
      )}
      {cost ? (
        <button type="button" class="danger" disabled={isDoing} onClick={rebuild}>
          {isDoing ? t.rebuilding : t.rebuildNow}
        </button>
      ) : (
        <button
          type="button"
          disabled={isDoing}
          onClick={() => run(async () => setCost(await ask()))}
        >
          {t.cost}
        </button>
      )}
    </section>
  );
}
