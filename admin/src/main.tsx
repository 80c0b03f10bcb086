// The start: language, key, then the frame.

import type { ComponentChildren } from "preact";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "./api/client";
import { call, useKey } from "./api/client";
import { errorOf } from "./api/hooks";
import type { Settings } from "./api/types";
import { Layout } from "./layout";
import { Login } from "./login";
import { ErrorNote, Waiting } from "./parts/notes";
import { Overlay } from "./parts/overlay";
import { ZoneContext } from "./parts/time";
import { abandon, isUnsaved } from "./parts/unsaved";
import { forgetKey, keepKey, storedKey } from "./session";
import { firstLanguage, keepLanguage, type Language, LanguageContext } from "./words";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/views.css";
import "./styles/upkeep.css";

function Panel() {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const [settings, setSettings] = useState<Settings | null>(null);
  // The key ended while something was written: the page waits, unseen, for its reader's next key.
  const [isWaiting, setWaiting] = useState(false);
  const [hasEnded, setEnded] = useState(false);
  const [isStored, setStored] = useState(() => storedKey() !== null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  }, [language]);

  const leave = (isEnd: boolean) => {
    const isKept = isEnd && isUnsaved();
    forgetKey();
    useKey(null);
    setStored(false);
    setEnded(isEnd);
    setWaiting(isKept);
    if (isKept) return;
    abandon();
    setSettings(null);
  };
  const enter = (key: string, found: Settings) => {
    useKey(key, () => leave(true));
    setSettings(found);
    setWaiting(false);
  };
  const resume = () => {
    const key = storedKey();
    if (key === null) return;
    setError(null);
    useKey(key, () => leave(true));
    call<Settings>("GET", "/v1/settings").then(
      (found) => enter(key, found),
      (failure: unknown) => setError(errorOf(failure)),
    );
  };
  useEffect(resume, []);

  const choose = (next: Language) => {
    setLanguage(next);
    keepLanguage(next);
  };
  const login = (
    <Login
      hasEnded={hasEnded}
      {...(isWaiting && { onGiveUp: () => leave(false) })}
      onEnter={(key, isRemembered, found) => {
        keepKey(key, isRemembered);
        enter(key, found);
      }}
    />
  );
  return (
    <LanguageContext.Provider value={{ language, choose }}>
      <ZoneContext.Provider value={settings?.settings.time_zone ?? "UTC"}>
        {settings !== null ? (
          // What was written in one namespace is not shown in another.
          <div key={settings.namespace} hidden={isWaiting}>
            <Layout onLogout={() => leave(false)} />
          </div>
        ) : isStored ? (
          error ? (
            <main class="login">
              <ErrorNote error={error} onRetry={resume} />
            </main>
          ) : (
            <Waiting />
          )
        ) : (
          login
        )}
        {isWaiting && <Above>{login}</Above>}
        <Overlay />
      </ZoneContext.Provider>
    </LanguageContext.Provider>
  );
}

/** Above an open dialog, which would keep the keyboard from anything else. */
function Above(props: { children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      class="above"
      onCancel={(event) => event.preventDefault()}
      onClose={() => ref.current?.isConnected && ref.current.showModal()}
    >
      {props.children}
    </dialog>
  );
}

const root = document.getElementById("panel");
if (root !== null) render(<Panel />, root);
