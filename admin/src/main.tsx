// The start: language, key, then the frame.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "./api/client";
import { call, useKey } from "./api/client";
import { errorOf } from "./api/hooks";
import type { Settings } from "./api/types";
import { Layout } from "./layout";
import { Login } from "./login";
import { ErrorNote, Waiting } from "./parts/notes";
import { Overlay } from "./parts/overlay";
import { ZoneContext } from "./parts/time";
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
  const [hasEnded, setEnded] = useState(false);
  const [isStored, setStored] = useState(() => storedKey() !== null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  }, [language]);

  const leave = (isEnd: boolean) => {
    forgetKey();
    useKey(null);
    setStored(false);
    setSettings(null);
    setEnded(isEnd);
  };
  const enter = (key: string, found: Settings) => {
    useKey(key, () => leave(true));
    setSettings(found);
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
  return (
    <LanguageContext.Provider value={{ language, choose }}>
      <ZoneContext.Provider value={settings?.settings.time_zone ?? "UTC"}>
        {settings !== null ? (
          <Layout onLogout={() => leave(false)} />
        ) : isStored ? (
          error ? (
            <main class="login">
              <ErrorNote error={error} onRetry={resume} />
            </main>
          ) : (
            <Waiting />
          )
        ) : (
          <Login
            hasEnded={hasEnded}
            onEnter={(key, isRemembered, found) => {
              keepKey(key, isRemembered);
              enter(key, found);
            }}
          />
        )}
        <Overlay />
      </ZoneContext.Provider>
    </LanguageContext.Provider>
  );
}

const root = document.getElementById("panel");
if (root !== null) render(<Panel />, root);
