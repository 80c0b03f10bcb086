// Messages that a model refused to read: try again, or let go.
import { useState } from "preact/hooks";
import { write } from "../api/client";
import { errorOf, rowsUnder, usePages } from "../api/hooks";
import type { Ran, Skipped } from "../api/upkeep";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { confirm, toast } from "../parts/overlay";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { jobs } from "../words/jobs";

const SKIPPED = rowsUnder<Skipped>("skipped");

export function SkippedMessages() {
  const t = useWords(jobs);
  const pages = usePages<Skipped>("/v1/jobs/extract/skipped", SKIPPED);
  const report = useReport();
  const [busy, setBusy] = useState<string | null>(null);
  const act = async (message: Skipped, verb: "retry" | "drop") => {
    setBusy(message.message_id);
    try {
      const path = `/v1/jobs/extract/skipped/${message.message_id}/${verb}`;
      const { data } = await write<Ran>("POST", path);
      toast(verb === "drop" ? t.dropped : t.outcomes[data.status]);
    } catch (failure) {
      report(errorOf(failure));
    }
    setBusy(null);
    pages.reload();
  };
  const drop = async (message: Skipped) => {
    const isSure = await confirm({
      title: t.dropTitle,
      body: t.dropBody,
      action: t.drop,
      isDangerous: true,
    });
    if (isSure) await act(message, "drop");
  };
  return (
    <PagedList
      pages={pages}
      keyOf={(message) => message.message_id}
      row={(message) => (
        <article class="card">
          <p class="pre">{message.content}</p>
          <p class="meta">
            <span class="badge warn">{t.reasons[message.reason]}</span>
            <a href={link("conversations", message.conversation_id)}>
              <When at={message.said_at} />
            </a>
            <span>{t.tries(message.tries)}</span>
            <span>
              {t.letGo} <When at={message.goes_at} />
            </span>
            <a href={link("jobs", "runs", message.run_id)}>{t.run}</a>
          </p>
          <footer class="actions">
            <button type="button" class="quiet bad" onClick={() => drop(message)}>
              {t.drop}
            </button>
            <button
              type="button"
              class="primary"
              disabled={busy === message.message_id}
              onClick={() => act(message, "retry")}
            >
              {busy === message.message_id ? t.running : t.retry}
            </button>
          </footer>
        </article>
      )}
      empty={<Empty title={t.emptySkipped}>{t.emptySkippedHint}</Empty>}
    />
  );
}
