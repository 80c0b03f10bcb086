// The two languages. A view's words lie in `words/<view>.ts`, English and Chinese side by side.
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export type Language = "en" | "zh";

type Phrase = string | ((...values: never[]) => string) | Record<string, string>;

/** Chinese must have each phrase that English has, in the same form. */
type Same<T> = {
  [Name in keyof T]: T[Name] extends string
    ? string
    : T[Name] extends Record<string, string>
      ? { [Key in keyof T[Name]]: string }
      : T[Name];
};

export interface Both<T> {
  en: T;
  zh: Same<T>;
}

export function words<T extends Record<string, Phrase>>(both: Both<T>): Both<T> {
  return both;
}

export interface LanguageChoice {
  language: Language;
  choose: (language: Language) => void;
}

export const LanguageContext = createContext<LanguageChoice>({
  language: "en",
  choose: () => {},
});

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

/** A view's words in the reader's language. */
export function useWords<T>(both: Both<T>): T {
  return useContext(LanguageContext).language === "zh" ? (both.zh as T) : both.en;
}

const STORED = "remembrancer.language";

/** What was chosen on this device, else what the browser asks for. */
export function firstLanguage(): Language {
  const stored = readStored();
  if (stored === "en" || stored === "zh") return stored;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export function keepLanguage(language: Language): void {
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // A browser without storage asks again next time.
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
