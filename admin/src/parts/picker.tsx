// Choosing items by what they say.
import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../api/hooks";
import type { Brief } from "../api/types";
import { useWords } from "../words";
import { common } from "../words/common";
import { TextField } from "./form";
import { TypeBadge, textOf } from "./item";

const WAIT_MS = 250;

/** A search field whose matches can be picked; `without` are not offered. */
export function ItemPicker(props: {
  label: string;
  kind: "memory" | "task";
  without: string[];
  onPick: (item: Brief) => void;
}) {
  const t = useWords(common);
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const path = asked === "" ? null : "/v1/search/items";
  const found = useLoad<{ matches: { item: Brief }[] }>(path, {
    q: asked,
    kind: props.kind,
    limit: 8,
  });
  const offered = (found.data?.matches ?? [])
    .map((match) => match.item)
    .filter((item) => !props.without.includes(item.id));
  return (
    <div class="picker">
      <TextField label={props.label} type="search" value={typed} onInput={setTyped} />
      {asked !== "" && (
        <ul class="rows">
          {offered.map((item) => (
            <li key={item.id}>
              <button type="button" class="row pick" onClick={() => props.onPick(item)}>
                <span class="clamp">{textOf(item)}</span> <TypeBadge type={item.type} />
              </button>
            </li>
          ))}
          {offered.length === 0 && (
            <li class="row faint">{found.isLoading ? t.loading : t.none}</li>
          )}
        </ul>
      )}
    </div>
  );
}
