// What stands where there is nothing to show: an error, an empty list, a wait.
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client";
import { useLanguage, useWords } from "../words";
import { common } from "../words/common";
import { toast } from "./overlay";

/** What went wrong in a sentence; the server's own words say the rest. */
export function sentenceOf(error: ApiError, sentences: Record<string, string>): string {
  // A page's address is refused with the same code as a key that may too little.
  if (error.code === "forbidden" && error.message.startsWith("the origin")) {
    return sentences.origin ?? error.message;
  }
  return sentences[error.code] ?? error.message;
}

export function ErrorNote(props: { error: ApiError; onRetry?: () => void }) {
  const t = useWords(common);
  const { language } = useLanguage();
  const { error } = props;
  const sentence = sentenceOf(error, t.errors);
  return (
    <div class="note error" role="alert">
      <p>
        <strong>{sentence}</strong>
      </p>
      {sentence !== error.message && <p lang="en">{error.message}</p>}
      {error.hint && <p lang="en">{error.hint}</p>}
      {error.requestId && <p class="faint small">{t.requestId(error.requestId)}</p>}
      {props.onRetry && (
        <button type="button" onClick={props.onRetry} lang={language}>
          {t.retry}
        </button>
      )}
    </div>
  );
}

export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="note empty">
      <p>
        <strong>{props.title}</strong>
      </p>
      {props.children}
    </div>
  );
}

export function Waiting() {
  const t = useWords(common);
  return (
    <p class="waiting" aria-busy="true">
      {t.loading}
    </p>
  );
}

/** Report a failed action without leaving the page. */
export function useReport(): (error: ApiError) => void {
  const t = useWords(common);
  return (error) => {
    const sentence = sentenceOf(error, t.errors);
    toast(sentence === error.message ? sentence : `${sentence} ${error.message}`, null, true);
  };
}
