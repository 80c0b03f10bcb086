// How a memory or a task is shown in a list, wherever one is.
import type { ComponentChildren } from "preact";
import type { Brief, State } from "../api/types";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { memories } from "../words/memories";
import { When } from "./time";

/** What an item says: its content, else its title. */
export function textOf(item: { title?: string; content?: string }): string {
  return item.content || item.title || "";
}

export function TypeBadge(props: { type: string }) {
  const types: Record<string, string> = useWords(common).types;
  return <span class="badge">{types[props.type] ?? props.type}</span>;
}

export function StateBadge(props: { state: State }) {
  const t = useWords(common);
  if (props.state === "active") return null;
  const kind = props.state === "deleted" ? "badge bad" : "badge warn";
  return <span class={kind}>{t.states[props.state]}</span>;
}

/** A line under an item's text: what kind it is, where it belongs, when it changed. */
export function ItemMeta(props: {
  item: Partial<Brief> & { type: string; updated_at: string; status?: State };
  children?: ComponentChildren;
}) {
  const t = useWords(memories);
  const { item } = props;
  return (
    <p class="meta">
      <TypeBadge type={item.type} />
      <StateBadge state={item.state ?? item.status ?? "active"} />
      {item.pinned && <span class="badge">{t.pinned}</span>}
      {props.children}
      {item.fact_key && <code>{item.fact_key}</code>}
      {item.project && <span>{item.project.name}</span>}
      {item.topic && item.topic.name !== item.project?.name && <span>{item.topic.name}</span>}
      {item.tags?.map((tag) => (
        <a key={tag} href={link("memories", { tag })}>
          #{tag}
        </a>
      ))}
      <When at={item.updated_at} />
    </p>
  );
}
