// What would go with a memory that is forgotten: shown in the question before.
import type { Forgetting } from "../api/types";
import { useWords } from "../words";
import { forget } from "../words/forget";
import { memories } from "../words/memories";

/** Counts that are worth a word; digest and notes are seen among the passages. */
const COUNTS = [
  "messages_redacted",
  "pages_redacted",
  "candidates_removed",
  "questions_redacted",
  "turns_dropped",
  "relations_removed",
];

export function ForgettingBody(props: { content: string; preview: Forgetting }) {
  const t = useWords(forget);
  const m = useWords(memories);
  const { counts, passages, more } = props.preview;
  const said = COUNTS.filter((name) => (counts[name] ?? 0) > 0);
  return (
    <>
      <p class="pre quoted">{props.content}</p>
      <p>{m.forgetBody}</p>
      {passages.length > 0 ? (
        <>
          <p class="section">{t.elsewhere}</p>
          <ul class="going">
            {passages.map((passage) => (
              <li key={`${passage.place} ${passage.id}`}>
                <span class="badge">{t.places[passage.place]}</span>{" "}
                <del>{passage.texts.join(" … ")}</del>
              </li>
            ))}
          </ul>
          {more > 0 && <p class="faint">{t.more(more)}</p>}
        </>
      ) : (
        <p class="section">{t.nowhere}</p>
      )}
      {said.length > 0 && (
        <p class="faint small">
          {t.also} {said.map((name) => t.count(name, counts[name] ?? 0)).join(" · ")}
        </p>
      )}
    </>
  );
}
