// All memories: asked as a conversation would ask, or listed by what they are.
import { useEffect, useState } from "preact/hooks";
import { rowsUnder, usePages } from "../api/hooks";
import type { Item } from "../api/types";
import { Check, Choice, TextField } from "../parts/form";
import { ItemMeta, textOf } from "../parts/item";
import { PagedList } from "../parts/list";
import { Empty } from "../parts/notes";
import { go, link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { memories } from "../words/memories";
import type { ViewProps } from "./index";
import MemoryPage from "./memory";
import { MemoryEditor } from "./memory-editor";
import { SearchResults } from "./memory-search";

const ITEMS = rowsUnder<Item>("items");

export default function Memories(props: ViewProps) {
  const [id] = props.route.rest;
  return id ? <MemoryPage key={id} id={id} /> : <MemoryList {...props} />;
}

function MemoryList(props: ViewProps) {
  const t = useWords(memories);
  const c = useWords(common);
  const { query } = props.route;
  const asked = query.get("q") ?? "";
  const [typed, setTyped] = useState(asked);
  const [isNew, setNew] = useState(false);
  // A link may ask something else than what was typed here.
  useEffect(() => setTyped(asked), [asked]);
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
        <button type="button" class="primary" onClick={() => setNew(true)}>
          {t.fresh}
        </button>
      </header>
      <form
        class="asking"
        onSubmit={(event) => {
          event.preventDefault();
          go(link("memories", { q: typed.trim() }));
        }}
      >
        <TextField label={t.ask} type="search" value={typed} onInput={setTyped} hint={t.askHint} />
        <button type="submit">{c.search}</button>
      </form>
      {asked ? (
        <>
          <p class="lead">
            <a href={link("memories")}>← {t.all}</a>
          </p>
          <SearchResults key={asked} query={asked} />
        </>
      ) : (
        <Filtered query={query} />
      )}
      {isNew && (
        <MemoryEditor
          memory={null}
          onClose={() => setNew(false)}
          onSaved={(id) => go(link("memories", id))}
        />
      )}
    </>
  );
}

function Filtered(props: { query: URLSearchParams }) {
  const t = useWords(memories);
  const c = useWords(common);
  const state = props.query.get("state") ?? "current";
  const type = props.query.get("type") ?? "";
  const sort = props.query.get("sort") ?? "-updated_at";
  const isPinned = props.query.get("pinned") === "true";
  const places = ["project", "topic", "tag"] as const;
  const set = (name: string, value: string) => {
    const next = Object.fromEntries(props.query);
    go(link("memories", { ...next, [name]: value }), { replace: true });
  };
  const pages = usePages<Item>("/v1/items", ITEMS, {
    kind: "memory",
    sort,
    limit: 30,
    type: type || null,
    pinned: isPinned || null,
    current_only: state === "current" || null,
    state: state === "current" || state === "all" ? null : state,
    include_deleted: state === "deleted" || null,
    project: props.query.get("project"),
    topic: props.query.get("topic"),
    tag: props.query.get("tag"),
  });
  const isFiltered =
    type !== "" || isPinned || state !== "current" || places.some((name) => props.query.get(name));
  const chips = { project: t.inProject, topic: t.inTopic, tag: t.tagged };
  const { archived, superseded, expired, stale, dormant, deleted } = c.states;
  const states = { current: t.current, archived, superseded, expired, stale, dormant, deleted };
  return (
    <>
      <div class="filters">
        <Choice
          label={t.state}
          value={state}
          options={{ ...states, all: c.all }}
          onInput={(value) => set("state", value === "current" ? "" : value)}
        />
        <Choice
          label={t.type}
          value={type}
          options={{ "": c.all, ...memoryTypes(c.types) }}
          onInput={(value) => set("type", value)}
        />
        <Choice
          label={t.sort}
          value={sort}
          options={t.sorts}
          onInput={(value) => set("sort", value)}
        />
        <Check
          label={t.pinnedOnly}
          isOn={isPinned}
          onInput={(isOn) => set("pinned", isOn ? "true" : "")}
        />
        {places.map((name) => {
          const value = props.query.get(name);
          return (
            value && (
              <button
                key={name}
                type="button"
                class="badge chip"
                title={t.noFilter}
                onClick={() => set(name, "")}
              >
                {chips[name](value)} ✕
              </button>
            )
          );
        })}
      </div>
      <PagedList
        pages={pages}
        keyOf={(item) => item.id}
        row={(item) => (
          <div class="row">
            <div class="row-main">
              <a class="plain" href={link("memories", item.id)}>
                <span class="clamp">{textOf(item)}</span>
              </a>
              <ItemMeta item={item} />
            </div>
          </div>
        )}
        empty={
          isFiltered ? (
            <Empty title={t.emptyFiltered} />
          ) : (
            <Empty title={t.empty}>{t.emptyHint}</Empty>
          )
        }
      />
    </>
  );
}

const TASK_TYPES = ["tactical_task", "strategic_goal", "recurring_system"];

export function memoryTypes(types: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(types).filter(([name]) => !TASK_TYPES.includes(name)));
}
