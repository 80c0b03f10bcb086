// The one place that talks to the server: the public REST API, with the key of the session.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export type Query = Record<string, string | number | boolean | null | undefined | string[]>;

export interface Asked {
  query?: Query;
  body?: unknown;
  /** The version that was shown: the server refuses the change when there is a newer one. */
  version?: number;
  signal?: AbortSignal;
}

/** What the server said instead of an answer, in its one error shape. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly requestId: string | null,
    readonly details: Record<string, Json> | null = null,
  ) {
    super(message);
  }
}

/** Where the server lies: the page's own address without `/admin` or its alias. */
export const BASE = location.pathname.replace(/\/(memory-)?admin\/?$/, "");

let key: string | null = null;
let refused: (() => void) | null = null;

/** Use this key from now on; `onRefused` hears when the server takes it no more. */
export function useKey(next: string | null, onRefused: (() => void) | null = null): void {
  key = next;
  refused = onRefused;
}

/** Ask the server. Throws ApiError for every refusal, also when it cannot be reached. */
export async function call<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const response = await send(method, path, asked);
  const text = await response.text();
  return (text === "" ? null : JSON.parse(text)) as T;
}

/** A change, and the id of the command that made it: what `undo` takes back. */
export interface Written<T> {
  data: T;
  cause: string;
}

/** Change something. The server names the command that did it in a header of its own. */
export async function write<T>(
  method: string,
  path: string,
  asked: Asked = {},
): Promise<Written<T>> {
  const response = await send(method, path, asked);
  const text = await response.text();
  const data = (text === "" ? null : JSON.parse(text)) as T;
  return { data, cause: response.headers.get("x-remembrancer-cause") ?? "" };
}

/** Send a file as it is. */
export async function upload<T>(
  path: string,
  file: Blob,
  mediaType: string,
  query: Query = {},
): Promise<T> {
  const response = await send("POST", path, { query, file, mediaType });
  return (await response.json()) as T;
}

/** Ask the server for a file. */
export async function download(path: string, query: Query = {}): Promise<Blob> {
  return (await send("GET", path, { query })).blob();
}

interface Sent extends Asked {
  file?: Blob;
  mediaType?: string;
}

async function send(method: string, path: string, asked: Sent): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (key !== null) headers.authorization = `Bearer ${key}`;
  if (asked.version !== undefined) headers["if-match"] = `"${asked.version}"`;
  const init: RequestInit = { method, headers, credentials: "omit", cache: "no-store" };
  if (asked.signal !== undefined) init.signal = asked.signal;
  if (asked.body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(asked.body);
  }
  if (asked.file !== undefined) {
    headers["content-type"] = asked.mediaType ?? "application/octet-stream";
    init.body = asked.file;
  }
  let response: Response;
  try {
    response = await fetch(BASE + path + search(asked.query), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "the server cannot be reached", null, null);
  }
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (failure.code === "unauthenticated") refused?.();
  throw failure;
}

function search(query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) params.append(name, String(each));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

async function failureOf(response: Response): Promise<ApiError> {
  const id = response.headers.get("x-request-id");
  try {
    const { error } = await response.json();
    return new ApiError(
      response.status,
      error.code,
      error.message,
      error.hint ?? null,
      error.request_id ?? id,
      error.details ?? null,
    );
  } catch {
    const text = `the server answered ${response.status}`;
    return new ApiError(response.status, "internal_error", text, null, id);
  }
}
