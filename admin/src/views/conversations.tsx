// Conversations of the gateway: what was said, what each answer cost, what the cache kept.
import { rowsUnder, useLoad, usePages } from "../api/hooks";
import type { Conversation, Message } from "../api/upkeep";
import { PagedList } from "../parts/list";
import { Empty, ErrorNote } from "../parts/notes";
import { When } from "../parts/time";
import { link } from "../router";
import { useLanguage, useWords } from "../words";
import { common } from "../words/common";
import { conversations } from "../words/conversations";
import { Turns } from "./conversations-turns";
import type { ViewProps } from "./index";

const CONVERSATIONS = rowsUnder<Conversation>("data");
const MESSAGES = rowsUnder<Message>("data");

export default function Conversations(props: ViewProps) {
  const [id, tab] = props.route.rest;
  return id ? <OneConversation id={id} isTurns={tab === "turns"} /> : <AllConversations />;
}

function AllConversations() {
  const t = useWords(conversations);
  const pages = usePages<Conversation>("/v1/conversations", CONVERSATIONS, { limit: 25 });
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <p class="faint lead">{t.about}</p>
      <PagedList
        pages={pages}
        keyOf={(one) => one.id}
        row={(one) => (
          <div class="row">
            <div class="row-main">
              <a href={link("conversations", one.id)}>{one.said ?? t.unnamed}</a>
              <Sums conversation={one} />
            </div>
          </div>
        )}
        empty={<Empty title={t.empty}>{t.emptyHint}</Empty>}
      />
    </>
  );
}

/** Tokens, the cached share of them, and cost. */
function Sums(props: { conversation: Conversation }) {
  const t = useWords(conversations);
  const numbers = useNumbers();
  const { conversation: one } = props;
  return (
    <p class="meta">
      <span>
        <When at={one.updated_at} />
      </span>
      <span>{one.model}</span>
      <span>{t.answers(one.answers)}</span>
      <span>{t.tokens(numbers.whole(one.prompt_tokens + one.completion_tokens))}</span>
      {one.prompt_tokens > 0 && (
        <span class="badge">{t.cachedShare(one.cached_tokens / one.prompt_tokens)}</span>
      )}
      {one.cost > 0 && (
        <span>
          {t.cost} {numbers.money(one.cost)}
        </span>
      )}
    </p>
  );
}

/** Numbers as the reader's language writes them; a cost has no currency of its own. */
export function useNumbers() {
  const { language } = useLanguage();
  const locale = language === "zh" ? "zh-CN" : "en-GB";
  return {
    whole: (n: number) => n.toLocaleString(locale),
    money: (n: number) => n.toLocaleString(locale, { maximumSignificantDigits: 3 }),
  };
}

function OneConversation(props: { id: string; isTurns: boolean }) {
  const t = useWords(conversations);
  const c = useWords(common);
  const path = `/v1/conversations/${encodeURIComponent(props.id)}`;
  const { data, error } = useLoad<{ conversation: Conversation }>(path, { limit: 1 });
  // What was ingested has messages and no answers; that is no fault.
  const isUnknown = error?.code === "not_found";
  return (
    <>
      <header class="page-head">
        <a class="button quiet" href={link("conversations")}>
          ← {c.back}
        </a>
        <h1 class="id">{props.id}</h1>
      </header>
      {error && !isUnknown && <ErrorNote error={error} />}
      {data && <Sums conversation={data.conversation} />}
      {data && data.conversation.cost === 0 && <p class="faint small">{t.noPrices}</p>}
      <nav class="tabs section">
        <a class="button" href={link("conversations", props.id)} aria-current={!props.isTurns}>
          {t.messages}
        </a>
        <a
          class="button"
          href={link("conversations", props.id, "turns")}
          aria-current={props.isTurns}
        >
          {t.turns}
        </a>
      </nav>
      {props.isTurns ? (
        isUnknown ? (
          <Empty title={t.emptyTurns}>{t.emptyTurnsHint}</Empty>
        ) : (
          <Turns path={path} />
        )
      ) : (
        <Messages path={`${path}/messages`} />
      )}
    </>
  );
}

function Messages(props: { path: string }) {
  const t = useWords(conversations);
  const pages = usePages<Message>(props.path, MESSAGES, { limit: 50 });
  return (
    <>
      <p class="faint small lead">{t.older}</p>
      <PagedList
        pages={pages}
        keyOf={(message) => message.id}
        row={(message) => (
          <div class={`message ${message.role}`}>
            <p class="meta">
              <strong>{t.roles[message.role]}</strong>
              <When at={message.created_at} />
              {message.model && <span>{message.model}</span>}
              {message.is_partial && <span class="badge warn">{t.cutOff}</span>}
              {message.chars > message.content.length && <span>{t.long(message.chars)}</span>}
            </p>
            <p class="pre">{message.content}</p>
          </div>
        )}
        empty={<Empty title={t.emptyMessages}>{t.emptyMessagesHint}</Empty>}
      />
    </>
  );
}
