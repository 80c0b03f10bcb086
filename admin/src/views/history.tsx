// Everything that happened, a command at a time, and the way back.
import { write } from "../api/client";
import { errorOf, rowsUnder, useLoad, usePages } from "../api/hooks";
import type { Brief, LedgerEvent } from "../api/types";

import { Actor, Change } from "../parts/history";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { toast } from "../parts/overlay";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { feed } from "../words/feed";
import { history } from "../words/history";
import type { ViewProps } from "./index";

const EVENTS = rowsUnder<LedgerEvent>("events");

/** What cannot be taken back. Source: the ledger. */
const FINAL = new Set(["KeyCreated", "KeyRevoked", "ItemForgotten", "ItemPurged"]);

interface Command {
  cause: string;
  actor: string;
  at: string;
  events: LedgerEvent[];
}

/** Events that follow each other and have one cause. */
export function commandsOf(events: LedgerEvent[]): Command[] {
  const commands: Command[] = [];
  for (const event of events) {
    const last = commands.at(-1);
    if (last?.cause === event.cause) last.events.push(event);
    else {
      const { cause, actor, at } = event;
      commands.push({ cause, actor, at, events: [event] });
    }
  }
  return commands;
}

export default function Feed(props: ViewProps) {
  const t = useWords(feed);
  const h = useWords(history);
  const c = useWords(common);
  const cause = props.route.query.get("cause") ?? "";
  const pages = usePages<LedgerEvent>("/v1/history", EVENTS, { limit: 50, cause });
  const titles = useTitles(pages.rows);
  const report = useReport();
  const take = async (path: string, command: Command, said: string) => {
    try {
      await write("POST", path, { body: { cause: command.cause } });
      toast(said);
    } catch (failure) {
      report(errorOf(failure));
    }
    pages.reload();
  };
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <p class="faint lead">{t.about}</p>
      {cause && (
        <p class="lead">
          {t.only(cause)} · <a href={link("history")}>{t.showAll}</a>
        </p>
      )}
      <PagedList
        pages={{ ...pages, rows: commandsOf(pages.rows) }}
        keyOf={(command) => String(command.events[0]?.position)}
        row={(command) => (
          <OneCommand
            command={command}
            titles={titles}
            onUndo={() => take("/v1/undo", command, c.undone)}
            onRedo={() => take("/v1/redo", command, h.redid)}
          />
        )}
        empty={<Empty title={t.empty}>{t.emptyHint}</Empty>}
      />
    </>
  );
}

/** Items of one request. Source: the API. */
const IDS_MAX = 100;

function useTitles(events: LedgerEvent[]): ReadonlyMap<string, Brief> {
  const ids = [...new Set(events.flatMap((event) => idIn(event, "item") ?? []))].slice(-IDS_MAX);
  const { data } = useLoad<{ items: Brief[] }>(ids.length > 0 ? "/v1/items" : null, {
    id: ids,
    limit: IDS_MAX,
    include_deleted: true,
  });
  return new Map(data?.items.map((item) => [item.id, item]));
}

function idIn(event: LedgerEvent, area: string): string | null {
  const [name, id] = event.stream.split("/", 2);
  return name === area && id ? id : null;
}

function OneCommand(props: {
  command: Command;
  titles: ReadonlyMap<string, Brief>;
  onUndo: () => void;
  onRedo: () => void;
}) {
  const t = useWords(feed);
  const h = useWords(history);
  const { command } = props;
  const isUndoing = command.events.some((event) => event.kind === "ChangeUndone");
  const canUndo = !isUndoing && command.events.some((event) => !FINAL.has(event.kind));
  return (
    <div class="row" data-cause={command.cause}>
      <div class="row-main">
        <p class="faint small">
          <Actor actor={command.actor} /> · <When at={command.at} />
          {command.cause.startsWith("run_") && (
            <>
              {" · "}
              <a href={link("jobs", "runs", command.cause)}>{t.run}</a>
            </>
          )}
        </p>
        {command.events.map((event) => (
          <OneEvent key={event.position} event={event} titles={props.titles} />
        ))}
      </div>
      <span class="row-actions">
        {canUndo && (
          <button type="button" class="quiet" onClick={props.onUndo}>
            {h.undo}
          </button>
        )}
        {isUndoing && (
          <button type="button" class="quiet" onClick={props.onRedo}>
            {h.redo}
          </button>
        )}
      </span>
    </div>
  );
}

/** Fields that say nothing to a person. */
const SILENT = new Set(
  "token_hash text_hash fact state_since authored_by kind type_by_hand through_id path".split(" "),
);

function OneEvent(props: { event: LedgerEvent; titles: ReadonlyMap<string, Brief> }) {
  const t = useWords(feed);
  const h = useWords(history);
  const { event } = props;
  const kinds: Record<string, string> = { ...h.kinds, ...t.kinds };
  const item = props.titles.get(idIn(event, "item") ?? "");
  const name = item?.title ?? nameOf(event);
  const shown = event.changes.filter((change) => !SILENT.has(change.field));
  const isFirst = event.version === 1;
  return (
    <details>
      <summary>
        <strong>{kinds[event.kind] ?? event.kind}</strong> <span class="plain">{cut(name)}</span>
      </summary>
      <div class="there">
        {item && (
          <a href={link(item.kind === "task" ? "tasks" : "memories", item.id)}>{item.title}</a>
        )}
        {event.forgotten && <p class="faint">{h.forgotten}</p>}
        {shown.map((change) => (
          <Change key={change.field} change={change} isFirst={isFirst} />
        ))}
      </div>
    </details>
  );
}

/** Characters of a text that names what an event is about. */
const NAME_CHARS = 100;

function cut(text: string): string {
  const letters = [...text];
  return letters.length > NAME_CHARS ? `${letters.slice(0, NAME_CHARS).join("")}…` : text;
}

/** What an event is about, as far as it says so itself. */
function nameOf(event: LedgerEvent): string {
  const page = idIn(event, "page");
  if (page) return page;
  for (const { field, before, after } of event.changes) {
    const value = after ?? before;
    if (["name", "title", "content"].includes(field) && typeof value === "string") return value;
    if (typeof value !== "object" || value === null) continue;
    const entry = value as Record<string, unknown>;
    for (const part of ["term", "content"]) {
      if (typeof entry[part] === "string") return entry[part];
    }
  }
  return "";
}
