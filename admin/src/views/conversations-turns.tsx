// The answers of a conversation: tokens asked, cached, written; why a cache was lost; cost.
import { rowsUnder, usePages } from "../api/hooks";
import type { Turn } from "../api/upkeep";
import { PagedList } from "../parts/list";
import { Empty } from "../parts/notes";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { conversations } from "../words/conversations";
import { recalls } from "../words/recalls";
import { useNumbers } from "./conversations";

const TURNS = rowsUnder<Turn>("turns");

export function Turns(props: { path: string }) {
  const t = useWords(conversations);
  const pages = usePages<Turn>(props.path, TURNS, { limit: 25 });
  return (
    <PagedList
      pages={pages}
      keyOf={(turn) => turn.id}
      row={(turn) => <Answer turn={turn} />}
      empty={<Empty title={t.emptyTurns}>{t.emptyTurnsHint}</Empty>}
    />
  );
}

function Answer(props: { turn: Turn }) {
  const t = useWords(conversations);
  const r = useWords(recalls);
  const numbers = useNumbers();
  const { turn } = props;
  const cached = turn.cached_tokens ?? 0;
  const reasons: Record<string, string> = r.degraded;
  return (
    <article class="card">
      <p class="meta">
        <When at={turn.created_at} />
        <span>{turn.model}</span>
        {turn.status >= 400 && <span class="badge bad">{turn.status}</span>}
        {!turn.is_complete && <span class="badge warn">{t.cutOff}</span>}
        <span>{t.firstByte(turn.first_byte_ms)}</span>
        <span>{t.whole(turn.total_ms)}</span>
        {turn.cost !== null && (
          <span>
            {t.cost} {numbers.money(turn.cost)}
          </span>
        )}
      </p>
      {turn.prompt_tokens !== null && turn.prompt_tokens > 0 && (
        <meter
          class="cached"
          min={0}
          max={turn.prompt_tokens}
          value={cached}
          aria-label={t.cachedShare(cached / turn.prompt_tokens)}
        />
      )}
      <p class="counts">
        <Count name={t.asked} value={turn.prompt_tokens} />
        <Count name={t.cached} value={turn.cached_tokens} />
        <Count name={t.written} value={turn.cache_write_tokens || null} />
        <Count name={t.answered} value={turn.completion_tokens} />
        <Count name={t.thought} value={turn.reasoning_tokens || null} />
      </p>
      {turn.cache_note && (
        <p class="note warn small">
          {t.dropped} <Drop note={turn.cache_note} />
        </p>
      )}
      <p class="meta">
        {turn.recall_id && <a href={link("recalls", turn.recall_id)}>{t.recall}</a>}
        {turn.saved.length > 0 && (
          <a href={link("memories", turn.saved[0] ?? "")}>{t.saved(turn.saved.length)}</a>
        )}
        {turn.degraded.length > 0 && (
          <span class="badge warn wrap">
            {t.without} {turn.degraded.map((reason) => reasons[reason] ?? reason).join(", ")}
          </span>
        )}
      </p>
    </article>
  );
}

function Count(props: { name: string; value: number | null }) {
  const numbers = useNumbers();
  if (props.value === null) return null;
  return (
    <span>
      <strong>{numbers.whole(props.value)}</strong> {props.name}
    </span>
  );
}

/** The server's reason in the reader's words; its forms are those of `core.chat.prefix`. */
function Drop(props: { note: string }) {
  const t = useWords(conversations);
  const part = /^the (model|tools|system) changed$/.exec(props.note)?.[1];
  if (part === "model" || part === "tools" || part === "system") return <>{t.drops[part]}</>;
  const message = /^message (\d+)( or a later one)? changed$/.exec(props.note);
  if (message) return <>{t.messageChanged(`${message[1]}${message[2] ? "+" : ""}`)}</>;
  if (props.note.includes("upstream no longer had it")) return <>{t.drops.upstream}</>;
  return <span lang="en">{props.note}</span>;
}
