// What a recall brings up for some words, how sure it is, and what it left out.
import { useEffect, useState } from "preact/hooks";
import { type ApiError, call } from "../api/client";
import { errorOf, useLoad } from "../api/hooks";
import type { Candidate, Found, Item } from "../api/types";
import { ItemMeta, textOf } from "../parts/item";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { link } from "../router";
import { useWords } from "../words";
import { memories } from "../words/memories";

const DROPPED_MAX = 20;

export function SearchResults(props: { query: string }) {
  const t = useWords(memories);
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const body = { query: props.query, include_filter_debug: true };
    call<Found>("POST", "/v1/search/memories", { body, signal: stop.signal }).then(
      setFound,
      (failure: unknown) => stop.signal.aborted || setError(errorOf(failure)),
    );
    return () => stop.abort();
  }, [props.query]);
  if (error) return <ErrorNote error={error} />;
  if (found === null) return <Waiting />;
  const considered = new Map(found.meta.filter_debug?.map((each) => [each.id, each]));
  const dropped = [...considered.values()].filter((each) => each.gate !== null);
  return (
    <>
      {found.data.length === 0 ? (
        <Empty title={t.foundNone}>{t.foundNoneHint}</Empty>
      ) : (
        <>
          <p class="faint small lead">{t.found(found.data.length)}</p>
          <ul class="rows">
            {found.data.map((each) => (
              <li key={each.id} class="row">
                <div class="row-main">
                  <a class="plain" href={link("memories", each.id)}>
                    <span class="clamp">{each.content}</span>
                  </a>
                  <ItemMeta item={{ ...each, state: each.status }} />
                </div>
                <Scores score={each.score} candidate={considered.get(each.id)} />
              </li>
            ))}
          </ul>
        </>
      )}
      {found.meta.degraded.length > 0 && (
        <p class="note warn section">{t.degraded(found.meta.degraded.join(", "))}</p>
      )}
      {dropped.length > 0 && <Dropped candidates={dropped} />}
    </>
  );
}

function Dropped(props: { candidates: Candidate[] }) {
  const t = useWords(memories);
  const [isOpen, setOpen] = useState(false);
  const shown = props.candidates.slice(0, DROPPED_MAX);
  const texts = useLoad<{ items: Item[] }>(isOpen ? "/v1/items" : null, {
    id: shown.map((each) => each.id),
    limit: DROPPED_MAX,
  });
  const byId = new Map(texts.data?.items.map((item) => [item.id, item]));
  const gates: Record<string, string> = t.gates;
  return (
    <details class="section" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.dropped(props.candidates.length)}</summary>
      {texts.error && <ErrorNote error={texts.error} />}
      <ul class="rows lead">
        {shown.map((each) => (
          <li key={each.id} class="row">
            <div class="row-main">
              <a class="plain" href={link("memories", each.id)}>
                <span class="clamp">{textOf(byId.get(each.id) ?? { title: each.id })}</span>
              </a>
              <p class="meta">
                <span class="badge warn">{gates[each.gate ?? ""] ?? each.gate}</span>
              </p>
            </div>
            <Scores score={each.score} candidate={each} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Scores(props: { score: number; candidate: Candidate | undefined }) {
  const t = useWords(memories);
  const { candidate } = props;
  const shown = (value: number | null) => (value === null ? "–" : value.toFixed(2));
  return (
    <span class="scores">
      <meter min={0} max={1} value={props.score} aria-label={t.score} />
      <strong>{props.score.toFixed(2)}</strong>
      {candidate && (
        <small class="faint">
          {t.byWords} {shown(candidate.words)} · {t.byMeaning} {shown(candidate.meaning)}
        </small>
      )}
    </span>
  );
}
