// Reading an exported file: checked first, then written.
import { useId, useState } from "preact/hooks";
import { upload } from "../api/client";
import type { Imported } from "../api/upkeep";
import { ErrorNote } from "../parts/notes";
import { confirm, toast } from "../parts/overlay";
import { useWords } from "../words";
import { transfer } from "../words/transfer";
import { useDoing } from "./transfer";

/** What an export is. Source: the API. */
const MEDIA_TYPE = "application/x-ndjson";

export function Import() {
  const t = useWords(transfer);
  const id = useId();
  const { isDoing, error, run } = useDoing();
  const [file, setFile] = useState<File | null>(null);
  const [checked, setChecked] = useState<Imported | null>(null);
  const send = (isDry: boolean) => {
    if (file === null) throw new Error("no file was chosen");
    return upload<Imported>("/v1/admin/import", file, MEDIA_TYPE, { dry_run: isDry });
  };
  const write = async (found: Imported) => {
    const isSure = await confirm({
      title: t.importTitle(found.events),
      body: t.importBody,
      action: t.importNow,
      isDangerous: true,
    });
    if (!isSure) return;
    await run(async () => {
      const done = await send(false);
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
      {error?.code === "payload_too_large" && (
        <p>
          {t.fileTooLarge} <code>remembrancer import FILE</code>
        </p>
      )}
      {checked && (
        <p role="status">
          {checked.events === 0
            ? t.nothingNew
            : t.wouldImport(checked.events, checked.events_present)}{" "}
          {checked.events > 0 && !checked.positions_kept && t.renumbered}
        </p>
      )}
      {checked && checked.events > 0 ? (
        <button type="button" class="danger" disabled={isDoing} onClick={() => write(checked)}>
          {t.importNow}
        </button>
      ) : (
        <button
          type="button"
          disabled={isDoing || file === null}
          onClick={() => run(async () => setChecked(await send(true)))}
        >
          {t.checkFile}
        </button>
      )}
    </section>
  );
}
