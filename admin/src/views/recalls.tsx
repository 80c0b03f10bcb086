// Recalls: which there were, and why each brought up what it did.
import { useCallback, useState } from "preact/hooks";
import { write } from "../api/client";
import { rowsUnder, useLateRow, useLoad, usePages } from "../api/hooks";
import type { ExplainedRecall, Recall, Weighed } from "../api/upkeep";
import { Form, TextArea } from "../parts/form";
import { PagedList } from "../parts/list";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { recalls } from "../words/recalls";
import type { ViewProps } from "./index";
import { Weighing } from "./recalls-weighing";

const RECALLS = rowsUnder<Recall>("recalls");

export default function Recalls(props: ViewProps) {
  const [id] = props.route.rest;
  return id ? <OneRecall id={id} /> : <AllRecalls />;
}

interface Tried {
  prompt?: string;
  meta: { recall_id: string; degraded: string[]; raw_count: number; filter_debug?: Weighed[] };
}

function AllRecalls() {
  const t = useWords(recalls);
  const pages = usePages<Recall>("/v1/recalls", RECALLS, { limit: 25 });
  const [message, setMessage] = useState("");
  const [tried, setTried] = useState<Tried | null>(null);
  const triedId = tried?.meta.recall_id;
  const isTried = useCallback((recall: Recall) => recall.id === triedId, [triedId]);
  useLateRow(pages, triedId ? isTried : null);
  const send = async () => {
    const { data } = await write<Tried>("POST", "/v1/search/memories", {
      body: { query: message, include_prompt: true, include_filter_debug: true },
    });
    setTried(data);
  };
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <p class="faint lead">{t.about}</p>
      <section class="note try">
        <h2>{t.tryTitle}</h2>
        <Form send={send} label={t.tryNow}>
          <TextArea
            label={t.tryLabel}
            value={message}
            onInput={setMessage}
            hint={t.tryHint}
            rows={2}
            isRequired
          />
        </Form>
        {tried && (
          <div class="tried">
            <Degraded reasons={tried.meta.degraded} />
            <Weighing candidates={tried.meta.filter_debug ?? []} found={tried.meta.raw_count} />
            {tried.prompt && (
              <section class="section">
                <h2>{t.prompt}</h2>
                <pre class="given">{tried.prompt}</pre>
              </section>
            )}
            <p class="faint small">{t.tryNote}</p>
          </div>
        )}
      </section>
      <PagedList
        pages={pages}
        keyOf={(recall) => recall.id}
        row={(recall) => (
          <div class="row">
            <div class="row-main">
              <a href={link("recalls", recall.id)}>{recall.query}</a>
              <Facts recall={recall} />
            </div>
          </div>
        )}
        empty={<Empty title={t.empty}>{t.emptyHint}</Empty>}
      />
    </>
  );
}

function Facts(props: { recall: Recall }) {
  const t = useWords(recalls);
  const { recall } = props;
  const { length } = recall.injected;
  return (
    <p class="meta">
      <span>
        <When at={recall.at} />
      </span>
      <span>{t.purposes[recall.purpose]}</span>
      <span class={length > 0 ? "badge" : ""}>{t.brought(length, recall.found)}</span>
      {recall.tokens > 0 && <span>{t.tokens(recall.tokens)}</span>}
      {recall.degraded.length > 0 && <Degraded reasons={recall.degraded} />}
    </p>
  );
}

/** What had no part in a recall, and why. */
export function Degraded(props: { reasons: string[] }) {
  const t = useWords(recalls);
  const names: Record<string, string> = t.degraded;
  if (props.reasons.length === 0) return null;
  return (
    <span class="badge warn wrap">
      {t.without} {props.reasons.map((reason) => names[reason] ?? reason).join(", ")}
    </span>
  );
}

function OneRecall(props: { id: string }) {
  const t = useWords(recalls);
  const c = useWords(common);
  const path = `/v1/recalls/${encodeURIComponent(props.id)}`;
  const { data, error, reload } = useLoad<{ recall: ExplainedRecall }>(path);
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const { recall } = data;
  return (
    <>
      <header class="page-head">
        <a class="button quiet" href={link("recalls")}>
          ← {c.back}
        </a>
        <h1 class="pre">{recall.query}</h1>
      </header>
      <Facts recall={recall} />
      <Weighing candidates={recall.candidates} found={recall.found} />
      <section class="section">
        <h2>{t.given}</h2>
        {recall.text ? <pre class="given">{recall.text}</pre> : <p class="faint">{t.givenNone}</p>}
      </section>
      <p class="faint small section">{recall.id}</p>
    </>
  );
}
