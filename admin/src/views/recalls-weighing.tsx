// The candidates of a recall: each with its scores, and the gate that dropped it.
import { useLoad } from "../api/hooks";
import type { Brief } from "../api/types";
import type { Weighed } from "../api/upkeep";
import { Empty } from "../parts/notes";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { recalls } from "../words/recalls";

/** `found` is how many there were; only the surest are told of one by one. */
export function Weighing(props: { candidates: Weighed[]; found: number }) {
  const t = useWords(recalls);
  const { candidates } = props;
  const up = candidates.filter((one) => one.gate === null);
  const down = candidates.filter((one) => one.gate !== null);
  const unnamed = candidates.filter((one) => one.title === undefined).map((one) => one.id);
  const { data } = useLoad<{ items: Brief[] }>(unnamed.length > 0 ? "/v1/items" : null, {
    id: unnamed,
    limit: 100,
    include_deleted: true,
  });
  const titles = new Map(data?.items.map((item) => [item.id, item.title]));
  const rows = (list: Weighed[]) => (
    <ul class="rows">
      {list.map((one) => (
        <li key={one.id}>
          <Candidate candidate={one} title={one.title ?? titles.get(one.id) ?? null} />
        </li>
      ))}
    </ul>
  );
  return (
    <>
      <section class="section">
        <h2>{t.upHeading(up.length)}</h2>
        {up.length > 0 ? rows(up) : <Empty title={t.upNone}>{t.upNoneHint}</Empty>}
      </section>
      {down.length > 0 && (
        <section class="section">
          <h2>{t.downHeading(down.length)}</h2>
          {rows(down)}
          {props.found > candidates.length && (
            <p class="faint small">{t.more(props.found - candidates.length)}</p>
          )}
        </section>
      )}
    </>
  );
}

function Candidate(props: { candidate: Weighed; title: string | null }) {
  const t = useWords(recalls);
  const c = useWords(common);
  const { candidate: one, title } = props;
  const gates: Record<string, string> = t.gates;
  const states: Record<string, string> = c.states;
  return (
    <div class="row" data-gate={one.gate ?? "none"}>
      <div class="row-main">
        {title === null ? (
          <p class="faint">{t.gone}</p>
        ) : (
          <a class="plain" href={link("memories", one.id)}>
            {title}
          </a>
        )}
        <p class="meta">
          {one.gate && <strong>{gates[one.gate] ?? one.gate}</strong>}
          {one.layer === "cold" && <span class="badge">{t.cold}</span>}
          {one.state && one.state !== "active" && (
            <span class="badge warn">{states[one.state] ?? one.state}</span>
          )}
        </p>
      </div>
      <dl class="measures">
        <Measure name={t.score} hint={t.scoreHint} value={one.score} />
        <Measure name={t.answers} hint={t.answersHint} value={one.answers ?? null} />
        <Measure name={t.words} hint={t.wordsHint} value={one.words} />
        <Measure name={t.meaning} hint={t.meaningHint} value={one.meaning} />
        <Measure name={t.rerank} hint={t.rerankHint} value={one.rerank} />
      </dl>
    </div>
  );
}

function Measure(props: { name: string; hint: string; value: number | null }) {
  const { value } = props;
  if (value === null) return null;
  return (
    <div title={props.hint}>
      <dt>{props.name}</dt>
      <dd>
        <meter min={0} max={1} value={Math.max(0, value)} aria-label={props.name} />
        <span>{value.toFixed(2)}</span>
      </dd>
    </div>
  );
}
