// Two texts as one: what went is struck, what came is marked.

export interface Piece {
  kind: "same" | "gone" | "new";
  text: string;
}

/** Pairs of tokens that are compared; beyond that both texts are shown whole. */
const PAIRS_MAX = 1_000_000;

/** Words, single Chinese characters, spaces and signs. */
const TOKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+|\s+|./gsu;

export function compare(before: string, after: string): Piece[] {
  const a = before.match(TOKEN) ?? [];
  const b = after.match(TOKEN) ?? [];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail += 1;
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  const pieces: Piece[] = [];
  add(pieces, "same", a.slice(0, head).join(""));
  if (left.length * right.length > PAIRS_MAX) {
    add(pieces, "gone", left.join(""));
    add(pieces, "new", right.join(""));
  } else {
    walk(pieces, left, right);
  }
  add(pieces, "same", a.slice(a.length - tail).join(""));
  return pieces;
}

/** The longest common subsequence of both, read forwards. */
function walk(pieces: Piece[], left: string[], right: string[]): void {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      add(pieces, "same", left[i] ?? "");
      i += 1;
      j += 1;
    } else if (i < left.length && (j >= right.length || at(i + 1, j) >= at(i, j + 1))) {
      add(pieces, "gone", left[i] ?? "");
      i += 1;
    } else {
      add(pieces, "new", right[j] ?? "");
      j += 1;
    }
  }
}

function add(pieces: Piece[], kind: Piece["kind"], text: string): void {
  if (text === "") return;
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += text;
  else pieces.push({ kind, text });
}

export function Diff(props: { before: string; after: string }) {
  return (
    <div class="diff">
      <p>
        {compare(props.before, props.after).map((piece, place) => {
          const key = `${place}-${piece.kind}`;
          if (piece.kind === "gone") return <del key={key}>{piece.text}</del>;
          if (piece.kind === "new") return <ins key={key}>{piece.text}</ins>;
          return <span key={key}>{piece.text}</span>;
        })}
      </p>
    </div>
  );
}
