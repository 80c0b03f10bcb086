// Reading an exported file: checked first, then written.
import { useId, useState } from "preact/hooks";
import { imported } from "../api/pieces";
import type { Imported } from "../api/upkeep";
import { ErrorNote } from "../parts/notes";
import { confirm, toast } from "../parts/overlay";
import { useWords } from "../words";
import { transfer } from "../words/transfer";
import { Going, useDoing } from "./transfer";

export function Import() {
  const t = useWords(transfer);
  const id = useId();
  const { isDoing, going, error, run } = useDoing();
  const [file, setFile] = useState<File | null>(null);
  const [checked, setChecked] = useState<Imported | null>(null);
  const check = (chosen: File) =>
    run(async (told) => setChecked(await imported(chosen, true, told)));
  const write = async (chosen: File, found: Imported) => {
    const isSure = await confirm({
      title: t.importTitle(found.events),
      body: t.importBody,
      action: t.importNow,
      isDangerous: true,
    });
    if (!isSure) return;
    await run(async (told) => {
      const done = await imported(chosen, false, told);
      toast(t.imported(done.events));
      setChecked(null);
    });
  };
  return (
    <section class="note block">
      <h2>{t.import}</h2>
      <p class="faint">{t.importAbout}</p>
      <p class="field">
        <label for={id}>{t.file}</label>
        <input
          id={id}
          type="file"
          accept=".jsonl,.ndjson"
          onChange={(event) => {
            setFile(event.currentTarget.files?.[0] ?? null);
            setChecked(null);
          }}
        />
      </p>
      {error && <ErrorNote error={error} />}
      <Going going={going} label={t.sending} />
      {checked && (
        <p role="status">
          {checked.events === 0
            ? t.nothingNew
            : t.wouldImport(checked.events, checked.events_present)}{" "}
          {checked.events > 0 && !checked.positions_kept && t.renumbered}
        </p>
      )}
      {file && checked && checked.events > 0 ? (
        <button
          type="button"
          class="danger"
          disabled={isDoing}
          onClick={() => write(file, checked)}
        >
          {t.importNow}
        </button>
      ) : (
        <button
          type="button"
          disabled={isDoing || file === null}
          onClick={() => file && check(file)}
        >
          {t.checkFile}
        </button>
      )}
    </section>
  );
}
