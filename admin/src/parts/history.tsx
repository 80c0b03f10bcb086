// What happened to one thing or to the whole namespace, and the way back.
import { write } from "../api/client";
import { errorOf, rowsUnder, usePages } from "../api/hooks";
import type { LedgerEvent } from "../api/types";
import { useWords } from "../words";
import { common } from "../words/common";
import { history } from "../words/history";
import { Diff } from "./diff";
import { PagedList } from "./list";
import { Empty, useReport } from "./notes";
import { toast } from "./overlay";
import { local, useZone, When } from "./time";

const EVENTS = rowsUnder<LedgerEvent>("events");

/** Fields that follow from others, and say nothing to a person. */
const SILENT = new Set(
  "state_since authored_by kind due_zone completed_at type_by_hand startup_priority".split(" "),
);

/** Where an item belongs, by id; of a new one the page shows the names. */
const PLACES = new Set(["project_id", "topic_id", "objective_id"]);

/** Texts long enough for a comparison word by word. */
const COMPARED = new Set(["title", "content", "summary", "description", "definition"]);

export function History(props: { path: string; onChanged: () => void; version?: number }) {
  const t = useWords(history);
  // A change elsewhere on the page makes another question of it.
  const pages = usePages(props.path, EVENTS, { limit: 20 });
  const report = useReport();
  const take = async (path: string, event: LedgerEvent, done: string) => {
    try {
      await write("POST", path, { body: { cause: event.cause } });
      toast(done);
      pages.reload();
      props.onChanged();
    } catch (failure) {
      report(errorOf(failure));
    }
  };
  const c = useWords(common);
  return (
    <PagedList
      pages={pages}
      keyOf={(event) => String(event.position)}
      row={(event) => (
        <Event
          event={event}
          onUndo={() => take("/v1/undo", event, c.undone)}
          onRedo={() => take("/v1/redo", event, t.redid)}
        />
      )}
      empty={<Empty title={t.empty} />}
    />
  );
}

function Event(props: { event: LedgerEvent; onUndo: () => void; onRedo: () => void }) {
  const t = useWords(history);
  const { event } = props;
  const kinds: Record<string, string> = t.kinds;
  const isFirst = event.kind.endsWith("Created");
  const isFinal = event.forgotten === true || event.kind === "ItemForgotten";
  const shown = event.changes.filter(
    (change) =>
      !SILENT.has(change.field) &&
      !(isFirst && (change.after === false || PLACES.has(change.field))),
  );
  return (
    <div class="row">
      <div class="row-main">
        <p>
          <strong>{kinds[event.kind] ?? event.kind}</strong>{" "}
          <span class="faint small">
            <Actor actor={event.actor} /> · <When at={event.at} />
          </span>{" "}
          {event.undone && <span class="badge">{t.undone}</span>}
        </p>
        {event.forgotten && <p class="faint">{t.forgotten}</p>}
        <div class={isFirst ? "first" : ""}>
          {shown.map((change) => (
            <Change key={change.field} change={change} isFirst={isFirst} />
          ))}
        </div>
      </div>
      <span class="row-actions">
        {!event.undone && !isFinal && event.kind !== "ChangeUndone" && (
          <button type="button" class="quiet" onClick={props.onUndo}>
            {t.undo}
          </button>
        )}
        {!event.undone && event.kind === "ChangeUndone" && (
          <button type="button" class="quiet" onClick={props.onRedo}>
            {t.redo}
          </button>
        )}
      </span>
    </div>
  );
}

/** Moments, as the server writes them. */
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

export function Change(props: { change: LedgerEvent["changes"][number]; isFirst: boolean }) {
  const t = useWords(history);
  const c = useWords(common);
  const zone = useZone();
  const { field, before, after } = props.change;
  const fields: Record<string, string> = t.fields;
  const label = fields[field] ?? field;
  if (COMPARED.has(field) && !props.isFirst) {
    return (
      <div class="change">
        <span class="faint small">{label}</span>
        <Diff before={String(before ?? "")} after={String(after ?? "")} />
      </div>
    );
  }
  const words: Record<string, string> =
    field === "state" ? c.states : field === "type" ? c.types : {};
  const said = (value: unknown) => {
    if (value === null || value === undefined || value === "") return t.nothing;
    if (value === true) return c.yes;
    if (value === false) return c.no;
    if (typeof value === "string" && MOMENT.test(value)) return local(value, zone);
    if (typeof value === "string") return words[value] ?? value;
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
      return value.join(", ") || t.nothing;
    }
    return JSON.stringify(value);
  };
  return (
    <p class="change small">
      <span class="faint">{label}:</span>{" "}
      {!props.isFirst && (
        <>
          <del>{said(before)}</del> →{" "}
        </>
      )}
      {said(after)}
    </p>
  );
}

export function Actor(props: { actor: string }) {
  const t = useWords(history);
  const actors: Record<string, string> = t.actors;
  const [kind = "", name = ""] = props.actor.split(":", 2);
  if (kind === "agent") return <>{t.agent(name)}</>;
  if (kind === "job") return <>{t.job(name)}</>;
  return <>{actors[props.actor] ?? props.actor}</>;
}
