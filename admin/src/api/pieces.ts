// Long work on the ledger: a server may do a part of it a request, and says where to go on.
import { ApiError, call, download, type Query, upload } from "./client";
import type { Imported, Rebuilt, Verified } from "./upkeep";

/** Told how much is done, and of how much. */
export type Told = (done: number, total: number) => void;

/** What an export is. Source: the API. */
const MEDIA_TYPE = "application/x-ndjson";

/** Bytes of a file that are sent at first, and at most: half of what a server takes. */
const PIECE_BYTES = 256 * 1024;
const PIECE_BYTES_MAX = 2 * 1024 * 1024;

/** Bytes at the end of an export's piece among which its last line lies. */
const TAIL_BYTES = 16 * 1024;

/** How the line begins that says where an export goes on; it is no part of the file. */
const MORE = '{"cursor":';

/** Times that a rebuild's last step may be overtaken by somebody's change. */
const CLASHES_MAX = 50;

/** Walk all chains. */
export async function verify(told: Told): Promise<Verified> {
  let body = {};
  for (;;) {
    const found = await call<Verified>("POST", "/v1/admin/verify", { body });
    if (!found.more) return found;
    told(found.events, 0);
    body = { cursor: found.cursor };
  }
}

/** Make all tables anew. */
export async function rebuild(told: Told): Promise<Rebuilt> {
  let body: Record<string, unknown> = { dry_run: false };
  let clashes = 0;
  for (;;) {
    try {
      const done = await call<Rebuilt>("POST", "/v1/admin/rebuild", { body });
      if (!done.more) return done;
      told(done.events_done, done.events);
      body = { ...body, cursor: done.cursor };
    } catch (failure) {
      clashes += 1;
      const isClash = failure instanceof ApiError && failure.code === "conflict";
      if (!isClash || clashes === CLASHES_MAX) throw failure;
    }
  }
}

/** The whole file of an export. */
export async function exported(query: Query): Promise<Blob> {
  const pieces: Blob[] = [];
  let cursor: string | null = null;
  do {
    const piece: Blob = await download("/v1/export", { ...query, cursor });
    const tail = await piece.slice(-TAIL_BYTES).text();
    const last = tail.slice(tail.lastIndexOf("\n", tail.length - 2) + 1);
    const isMore = last.startsWith(MORE) && last.endsWith("\n");
    cursor = isMore ? (JSON.parse(last) as { cursor: string }).cursor : null;
    pieces.push(isMore ? piece.slice(0, piece.size - new Blob([last]).size) : piece);
  } while (cursor !== null);
  return new Blob(pieces, { type: MEDIA_TYPE });
}

/** Send a file's lines until the server has them all; asked again after a failure, it goes on. */
export async function imported(file: Blob, isDry: boolean, told: Told): Promise<Imported> {
  const query: Query = { pieces: true, dry_run: isDry };
  let offset = 0;
  let lines = 0;
  let room = PIECE_BYTES;
  for (;;) {
    const ends = await lineEnds(file, offset, room);
    const size = ends.at(-1) ?? 0;
    // An empty body asks for nothing; the server says that the file ends too early.
    const body = file.slice(offset, offset + size);
    const answer = await upload<Imported>("/v1/admin/import", body, MEDIA_TYPE, query);
    const taken = answer.lines - lines;
    const bytes = taken > 0 ? (ends[taken - 1] ?? size) : 0;
    lines = answer.lines;
    offset += bytes;
    told(offset, file.size);
    if (!answer.more) return answer;
    if (offset === file.size || (taken === 0 && size === file.size - offset)) {
      throw new ApiError(0, "invalid_input", "the file ends too early", null, null);
    }
    query.cursor = answer.cursor;
    room = bytes > 0 ? Math.min(PIECE_BYTES_MAX, Math.max(PIECE_BYTES / 4, 2 * bytes)) : 2 * room;
  }
}

/** Where the lines end that have room from an offset on, one at least; bytes from the offset. */
async function lineEnds(file: Blob, offset: number, room: number): Promise<number[]> {
  const bytes = new Uint8Array(await file.slice(offset, offset + room).arrayBuffer());
  const ends: number[] = [];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) ends.push(at + 1);
  const isLast = offset + bytes.length === file.size;
  if (isLast && bytes.length > (ends.at(-1) ?? 0)) ends.push(bytes.length);
  if (ends.length > 0 || isLast) return ends;
  return lineEnds(file, offset, 2 * room);
}
