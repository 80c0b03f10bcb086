// One candidate: what it says, why it waits, what is there now, and what may be decided.
import { useState } from "preact/hooks";
import { useLoad } from "../api/hooks";
import type { Brief } from "../api/types";
import type { Candidate, CandidateDetail } from "../api/upkeep";
import { ErrorNote, Waiting } from "../parts/notes";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { review } from "../words/review";
import type { Action } from "./review";

/** Kinds whose content becomes a memory's text. */
const WORDED = new Set(["fact", "merge", "replace"]);

export function textOf(item: Brief): string {
  return item.content ? `${item.title}\n${item.content}` : item.title;
}

export function CandidateCard(props: {
  candidate: Candidate;
  targets: Brief[];
  isChosen: boolean;
  onChoose: () => void;
  onDecide: (action: Action) => void;
  onOpen: (what: "edit" | "merge" | "supersede") => void;
  onTakeBack: () => void;
}) {
  const t = useWords(review);
  const { candidate } = props;
  const [isOpen, setOpen] = useState(false);
  const isPending = candidate.status === "pending";
  return (
    <article class="card">
      <div class="card-head">
        {isPending && (
          <input
            type="checkbox"
            checked={props.isChosen}
            aria-label={t.select(candidate.content)}
            onInput={props.onChoose}
          />
        )}
        <p class="pre card-text">{candidate.content}</p>
      </div>
      <Facts candidate={candidate} />
      {isPending && <There candidate={candidate} targets={props.targets} />}
      {candidate.decision_note && (
        <p>
          {t.note}: {candidate.decision_note}
        </p>
      )}
      {candidate.source_message_ids.length > 0 && (
        <button
          type="button"
          class="quiet fold"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t.showSources}
        </button>
      )}
      {isOpen && <Sources id={candidate.id} />}
      <footer class="actions">
        {isPending ? (
          <Decisions {...props} />
        ) : (
          <>
            {candidate.memory_id && (
              <a class="button quiet" href={link("memories", candidate.memory_id)}>
                {t.toMemory}
              </a>
            )}
            <button type="button" onClick={props.onTakeBack}>
              {t.takeBack}
            </button>
          </>
        )}
      </footer>
    </article>
  );
}

function Facts(props: { candidate: Candidate }) {
  const t = useWords(review);
  const c = useWords(common);
  const { candidate } = props;
  const why = candidate.why && ((t.whys as Record<string, string>)[candidate.why] ?? candidate.why);
  const isUnsure = candidate.confidence < 0.6;
  return (
    <p class="meta">
      <span class="badge">{t.kinds[candidate.kind]}</span>
      {candidate.kind === "fact" && (
        <>
          <span>{(c.types as Record<string, string>)[candidate.type] ?? candidate.type}</span>
          <span class={isUnsure ? "badge warn" : "badge"}>{t.sure(candidate.confidence)}</span>
        </>
      )}
      {candidate.fact_key && (
        <span>
          {t.key} <code>{candidate.fact_key}</code>
        </span>
      )}
      {why && <span>{why}</span>}
      {candidate.tags.map((tag) => (
        <span key={tag}>#{tag}</span>
      ))}
      <span>
        {candidate.decided_at ? t.decidedAt : t.filedAt}{" "}
        <When at={candidate.decided_at ?? candidate.created_at} />
      </span>
    </p>
  );
}

function There(props: { candidate: Candidate; targets: Brief[] }) {
  const t = useWords(review);
  const c = useWords(common);
  const { candidate, targets } = props;
  if (targets.length === 0) {
    return candidate.fact_key ? <p class="faint small">{t.noTarget}</p> : null;
  }
  const isPair = candidate.kind === "conflict";
  return (
    <div class="there">
      <h3 class="small faint">{isPair ? t.nowTwo : t.now}</h3>
      {targets.map((item, place) => (
        <p key={item.id} class="pre">
          {isPair && <span class="badge">{place === 0 ? t.newer : t.older}</span>}
          {isPair && " "}
          <a href={link(item.kind === "task" ? "tasks" : "memories", item.id)}>{textOf(item)}</a>
          {item.state !== "active" && <span class="badge warn">{c.states[item.state]}</span>}
        </p>
      ))}
    </div>
  );
}

function Sources(props: { id: string }) {
  const t = useWords(review);
  const { data, error, reload } = useLoad<CandidateDetail>(`/v1/candidates/${props.id}`);
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  if (data.sources.length === 0) return <p class="faint small">{t.noSources}</p>;
  return (
    <div class="there">
      <h3 class="small faint">{t.sources}</h3>
      {data.sources.map((message) => (
        <blockquote key={message.id} class="source">
          <p class="pre">{message.content}</p>
          <p class="meta">
            <When at={message.created_at} />
            <a href={link("conversations", message.conversation_id)}>{t.inConversation}</a>
          </p>
        </blockquote>
      ))}
    </div>
  );
}

function Decisions(props: {
  candidate: Candidate;
  onDecide: (action: Action) => void;
  onOpen: (what: "edit" | "merge" | "supersede") => void;
}) {
  const t = useWords(review);
  const { kind } = props.candidate;
  const isFact = kind === "fact";
  return (
    <>
      <button
        type="button"
        class={isFact ? "quiet bad" : "quiet"}
        onClick={() => props.onDecide("discard")}
      >
        {isFact ? t.discard : t.keep}
      </button>
      {isFact && (
        <>
          <button type="button" onClick={() => props.onOpen("supersede")}>
            {t.supersede}
          </button>
          <button type="button" onClick={() => props.onOpen("merge")}>
            {t.merge}
          </button>
        </>
      )}
      {WORDED.has(kind) && (
        <button type="button" onClick={() => props.onOpen("edit")}>
          {t.edit}
        </button>
      )}
      <button type="button" class="primary" onClick={() => props.onDecide("approve")}>
        {t.approveAs[kind]}
      </button>
    </>
  );
}
