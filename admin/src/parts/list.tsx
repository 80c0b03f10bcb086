// A list by pages: rows, what stands for none of them, and the way to more.
import type { ComponentChildren, VNode } from "preact";
import type { Pages } from "../api/hooks";
import { useWords } from "../words";
import { common } from "../words/common";
import { ErrorNote, Waiting } from "./notes";

export function PagedList<T>(props: {
  pages: Pages<T>;
  keyOf: (row: T) => string;
  row: (row: T) => ComponentChildren;
  empty: VNode;
}) {
  const t = useWords(common);
  const { pages } = props;
  if (pages.rows.length === 0) {
    if (pages.error) return <ErrorNote error={pages.error} onRetry={pages.reload} />;
    return pages.isLoading ? <Waiting /> : props.empty;
  }
  return (
    <>
      <ul class="rows">
        {pages.rows.map((row) => (
          <li key={props.keyOf(row)}>{props.row(row)}</li>
        ))}
      </ul>
      {pages.error && <ErrorNote error={pages.error} onRetry={pages.more} />}
      {pages.hasMore && !pages.error && (
        <p class="more">
          <button type="button" disabled={pages.isLoading} onClick={pages.more}>
            {pages.isLoading ? t.loading : t.more}
          </button>
        </p>
      )}
    </>
  );
}
