// Moments, in the time zone of the namespace rather than that of the device.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Language, useLanguage } from "../words";

/** The namespace's zone, an IANA name. */
export const ZoneContext = createContext("UTC");

/** A moment: the time alone for today, day and time for this year, else the date. */
export function When(props: { at: string | null | undefined }) {
  const zone = useContext(ZoneContext);
  const { language } = useLanguage();
  if (!props.at) return null;
  const moment = new Date(props.at);
  return (
    <time dateTime={props.at} title={`${full(moment, zone, language)} (${zone})`}>
      {short(moment, new Date(), zone, language)}
    </time>
  );
}

export function useZone(): string {
  return useContext(ZoneContext);
}

/** A moment as a field shows it and as the server reads it back: `2026-12-03 15:00`, in the zone. */
export function local(at: string | null | undefined, zone: string): string {
  if (!at) return "";
  const moment = new Date(at);
  try {
    const form = { dateStyle: "short", timeStyle: "short", timeZone: zone } as const;
    return new Intl.DateTimeFormat("sv-SE", form).format(moment);
  } catch {
    return at; // a zone that this browser does not know
  }
}

export function short(moment: Date, now: Date, zone: string, language: Language): string {
  const day = (at: Date) => written(at, zone, "en", { dateStyle: "short" });
  const year = (at: Date) => written(at, zone, "en", { year: "numeric" });
  if (day(moment) === day(now)) {
    return written(moment, zone, language, { hour: "2-digit", minute: "2-digit" });
  }
  if (year(moment) === year(now)) {
    return written(moment, zone, language, {
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
    });
  }
  return written(moment, zone, language, { year: "numeric", month: "short", day: "numeric" });
}

export function full(moment: Date, zone: string, language: Language): string {
  return written(moment, zone, language, { dateStyle: "full", timeStyle: "medium" });
}

function written(
  moment: Date,
  zone: string,
  language: Language,
  options: Intl.DateTimeFormatOptions,
): string {
  const locale = language === "zh" ? "zh-CN" : "en-GB";
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: zone }).format(moment);
  } catch {
    return moment.toISOString(); // a zone that this browser does not know
  }
}
