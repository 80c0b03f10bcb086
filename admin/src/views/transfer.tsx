// The memory as a file and back; whether its history is whole; making its tables anew.
import { useState } from "preact/hooks";
import { type ApiError, call, download } from "../api/client";
import { errorOf } from "../api/hooks";
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

/** Do something once at a time, and show why it was refused. */
export function useDoing(): {
  isDoing: boolean;
  error: ApiError | null;
  run: (work: () => Promise<void>) => Promise<void>;
} {
  const [isDoing, setDoing] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (work: () => Promise<void>) => {
    setDoing(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(errorOf(failure));
    }
    setDoing(false);
  };
  return { isDoing, error, run };
}

function Export() {
  const t = useWords(transfer);
  const { isDoing, error, run } = useDoing();
  const [hasKeys, setHasKeys] = useState(true);
  const [isAll, setAll] = useState(false);
  const save = () =>
    run(async () => {
      const file = await download("/v1/export", { all_namespaces: isAll, keys: hasKeys });
      const address = URL.createObjectURL(file);
      const anchor = document.createElement("a");
      anchor.href = address;
      anchor.download = `remembrancer-${new Date().toISOString().slice(0, 10)}.jsonl`;
      anchor.click();
      URL.revokeObjectURL(address);
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
  const { isDoing, error, run } = useDoing();
  const [found, setFound] = useState<Verified | null>(null);
  const verify = () =>
    run(async () => setFound(await call<Verified>("POST", "/v1/admin/verify", { body: {} })));
  return (
    <section class="note block">
      <h2>{t.verify}</h2>
      <p class="faint">{t.verifyAbout}</p>
      {error && <ErrorNote error={error} />}
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
  const { isDoing, error, run } = useDoing();
  const [cost, setCost] = useState<Rebuilt | null>(null);
  const ask = (isDry: boolean) =>
    call<Rebuilt>("POST", "/v1/admin/rebuild", { body: { dry_run: isDry } });
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
    await run(async () => {
      const done = await ask(false);
      toast(t.rebuilt(done.events));
      setCost(null);
    });
  };
  return (
    <section class="note block">
      <h2>{t.rebuild}</h2>
      <p class="faint">{t.rebuildAbout}</p>
      {error && <ErrorNote error={error} />}
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
          onClick={() => run(async () => setCost(await ask(true)))}
        >
          {t.cost}
        </button>
      )}
    </section>
  );
}
