// How items stand to one another; the page of a task passes memories on to theirs.
import type { Relation } from "../api/types";
import { link } from "../router";
import { useWords } from "../words";
import { memories } from "../words/memories";
import { StateBadge } from "./item";

export function Relations(props: { relations: Relation[] }) {
  const m = useWords(memories);
  const types: Record<string, string> = m.relationTypes;
  return (
    <ul class="rows">
      {props.relations.map((each) => {
        const other = <a href={link("tasks", each.item_id)}>{each.title}</a>;
        const here = <span class="faint">{m.to}</span>;
        const isOut = each.direction === "out";
        return (
          <li key={`${each.type}-${each.direction}-${each.item_id}`} class="row">
            <span>
              {isOut ? here : other} <span class="badge">{types[each.type] ?? each.type}</span>{" "}
              {isOut ? other : here} <StateBadge state={each.state} />
            </span>
            {each.reason && <span class="faint small">{each.reason}</span>}
          </li>
        );
      })}
    </ul>
  );
}
