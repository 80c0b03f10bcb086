// The first line of the panel: whether the work gets done, and if not, what is behind.
import { useEffect, useState } from "preact/hooks";
import { useLoad } from "./api/hooks";
import type { Health } from "./api/types";
import { useLanguage, useWords } from "./words";
import { common } from "./words/common";
import { reasonIn } from "./words/reasons";

const ASK_AGAIN_MS = 60_000;

export function HealthLine() {
  const t = useWords(common);
  const { language } = useLanguage();
  const { data, error, reload } = useLoad<Health>("/health");
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  if (error) return <p class="health bad">{t.unreachable}</p>;
  if (data === null) return <p class="health">{t.checking}</p>;
  if (data.status === "ok") return <p class="health good">{t.healthy}</p>;
  return (
    <div class="health warn">
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t.degraded} ({data.reasons.length}): {reasonIn(language, data.reasons[0] ?? "")}
      </button>
      {isOpen && (
        <ul>
          {data.reasons.map((reason) => (
            <li key={reason}>{reasonIn(language, reason)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
