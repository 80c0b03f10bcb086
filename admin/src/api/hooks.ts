// Asking for data from a component: one answer, or pages of a list.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, call, type Query } from "./client";

export interface Loaded<T> {
  data: T | null;
  error: ApiError | null;
  isLoading: boolean;
  reload: () => void;
}

/** Ask for `path` when shown and whenever path or query change; null asks for nothing. */
export function useLoad<T>(path: string | null, query?: Query): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isLoading, setLoading] = useState(path !== null);
  const [round, setRound] = useState(0);
  const asked = JSON.stringify([path, query ?? null]);
  const shown = useRef(asked);
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    // Another question's answer is not shown under this one; a reload keeps what is there.
    if (shown.current !== asked) {
      setData(null);
      setError(null);
    }
    shown.current = asked;
    setLoading(true);
    call<T>("GET", path, { query: query ?? {}, signal: stop.signal })
      .then((answer) => {
        setData(answer);
        setError(null);
        setLoading(false);
      })
      .catch((failure: unknown) => {
        if (stop.signal.aborted) return;
        setError(errorOf(failure));
        setLoading(false);
      });
    return () => stop.abort();
  }, [asked, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { data, error, isLoading, reload };
}

export interface Pages<T> {
  rows: T[];
  error: ApiError | null;
  isLoading: boolean;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
}

/** What a page of a list looks like at a route: which field has the rows, where the cursor is. */
export interface PageForm<T> {
  rows: (answer: never) => T[];
  cursor: (answer: never) => string | null;
}

/** The form of most lists: rows under a name of their own, `next_cursor` beside them. */
export function rowsUnder<T>(name: string): PageForm<T> {
  return {
    rows: (answer: Record<string, T[]>) => answer[name] ?? [],
    cursor: (answer: { next_cursor: string | null }) => answer.next_cursor,
  };
}

/** A list by pages: the first one when shown, the next when `more` is called. */
export function usePages<T>(path: string | null, form: PageForm<T>, query: Query = {}): Pages<T> {
  const [rows, setRows] = useState<T[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isLoading, setLoading] = useState(path !== null);
  const [round, setRound] = useState(0);
  const asked = JSON.stringify([path, query]);
  const shown = useRef(asked);
  const running = useRef<AbortController | null>(null);

  const load = (from: string | null) => {
    if (path === null) return;
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    setLoading(true);
    call<never>("GET", path, { query: { ...query, cursor: from }, signal: stop.signal })
      .then((answer) => {
        const page = form.rows(answer);
        setRows((before) => (from === null ? page : [...before, ...page]));
        setCursor(form.cursor(answer));
        setError(null);
        setLoading(false);
      })
      .catch((failure: unknown) => {
        if (stop.signal.aborted) return;
        setError(errorOf(failure));
        setLoading(false);
      });
  };

  useEffect(() => {
    if (shown.current !== asked) {
      setRows([]);
      setError(null);
    }
    shown.current = asked;
    load(null);
    return () => running.current?.abort();
  }, [asked, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const more = () => load(cursor);
  return { rows, error, isLoading, hasMore: cursor !== null, more, reload };
}

/** How long to wait, in milliseconds, before each look for a row that is written after its answer. */
const LATE_ROW_WAITS = [100, 200, 400, 800, 1600, 3200, 6400];

/** Ask for a list again until it has what was just done, where that is written after its answer. */
export function useLateRow<T>(pages: Pages<T>, isIt: ((row: T) => boolean) | null): void {
  const looks = useRef(0);
  const { rows, isLoading, reload } = pages;
  useEffect(() => {
    looks.current = 0;
  }, [isIt]);
  useEffect(() => {
    if (isIt === null || isLoading || rows.some(isIt)) return;
    const wait = LATE_ROW_WAITS[looks.current];
    if (wait === undefined) return;
    looks.current += 1;
    const timer = setTimeout(reload, wait);
    return () => clearTimeout(timer);
  }, [isIt, isLoading, rows, reload]);
}

/** Anything thrown as an ApiError; what is not the server's refusal is a defect of the panel. */
export function errorOf(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  return new ApiError(0, "panel_defect", String(failure), null, null);
}

/** An item with the whole of its text, when that is kept apart for its length. */
export async function whole<T extends { content: string; artifact_id?: string | null }>(
  item: T,
): Promise<T> {
  if (!item.artifact_id) return item;
  const path = `/v1/artifacts/${encodeURIComponent(item.artifact_id)}`;
  const { artifact } = await call<{ artifact: { text: string } }>("GET", path);
  return { ...item, content: artifact.text };
}

/** The whole of a text that is kept apart for its length; `text` is null until it is there. */
export function useWhole(artifactId: string | null | undefined, text: string) {
  const path = artifactId ? `/v1/artifacts/${encodeURIComponent(artifactId)}` : null;
  const { data, error, reload } = useLoad<{ artifact: { text: string } }>(path);
  if (path === null) return { text, error: null, reload };
  return { text: data?.artifact.text ?? null, error, reload };
}
