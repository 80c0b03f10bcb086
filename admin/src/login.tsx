// The way in: a key, tried once against the server before anything else is shown.
import { useState } from "preact/hooks";
import { call, useKey } from "./api/client";
import { errorOf } from "./api/hooks";
import type { Settings } from "./api/types";
import { Check, TextField } from "./parts/form";
import { sentenceOf } from "./parts/notes";
import { useLanguage, useWords } from "./words";
import { common } from "./words/common";
import { login } from "./words/login";

/** What a header can carry; a key with anything else in it was pasted wrongly. */
const SENDABLE = /^[\x21-\x7e]+$/;

export function Login(props: {
  hasEnded: boolean;
  onGiveUp?: () => void;
  onEnter: (key: string, isRemembered: boolean, settings: Settings) => void;
}) {
  const t = useWords(login);
  const c = useWords(common);
  const { language, choose } = useLanguage();
  const [key, setKey] = useState("");
  const [isRemembered, setRemembered] = useState(false);
  const [isTrying, setTrying] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const enter = async (event: Event) => {
    event.preventDefault();
    const tried = key.trim();
    if (!SENDABLE.test(tried)) {
      setRefusal(t.malformed);
      return;
    }
    setTrying(true);
    useKey(tried);
    try {
      const settings = await call<Settings>("GET", "/v1/settings");
      props.onEnter(tried, isRemembered, settings);
    } catch (failure) {
      const error = errorOf(failure);
      const own: Record<string, string> = { unauthenticated: t.wrong, forbidden: t.narrow };
      setRefusal(own[error.code] ?? sentenceOf(error, c.errors));
      useKey(null);
      setTrying(false);
    }
  };
  return (
    <main class="login">
      <form onSubmit={enter}>
        <h1>{t.title}</h1>
        <p class="faint">{t.about}</p>
        {props.hasEnded && !refusal && <p class="note error">{t.ended}</p>}
        {props.onGiveUp && (
          <p class="note">
            {t.kept}{" "}
            <button type="button" class="quiet" onClick={props.onGiveUp}>
              {t.giveUp}
            </button>
          </p>
        )}
        {/* Password managers keep a key under a name. */}
        <input hidden autoComplete="username" value={t.title} readOnly />
        <TextField
          label={t.key}
          type="password"
          value={key}
          onInput={setKey}
          hint={t.hint}
          autoComplete="current-password"
          isRequired
        />
        <Check
          label={t.remember}
          isOn={isRemembered}
          onInput={setRemembered}
          hint={t.rememberHint}
        />
        {refusal && (
          <p class="note error" role="alert">
            {refusal}
          </p>
        )}
        <footer class="actions">
          <button
            type="button"
            class="quiet"
            onClick={() => choose(language === "zh" ? "en" : "zh")}
          >
            {c.language}
          </button>
          <button type="submit" class="primary" disabled={isTrying}>
            {isTrying ? c.checking : t.enter}
          </button>
        </footer>
      </form>
    </main>
  );
}
