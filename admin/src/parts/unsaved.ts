// What is written and not saved yet: nobody leaves it without being asked, and no logout loses it.
import { useEffect, useRef } from "preact/hooks";

const written = new Set<object>();

/** Whether anything on the page is written and not saved. */
export function isUnsaved(): boolean {
  return written.size > 0;
}

/** Leave it after all. */
export function abandon(): void {
  written.clear();
}

/** Whether a field is one in which somebody writes, not one that only looks for something. */
export function isWriting(field: EventTarget | null): boolean {
  return (
    field instanceof HTMLTextAreaElement ||
    (field instanceof HTMLInputElement && field.type === "text")
  );
}

/** Hold the page while `isWritten`, as long as the component that says so is there. */
export function useUnsaved(isWritten: boolean): void {
  const mark = useRef({}).current;
  useEffect(() => {
    if (isWritten) written.add(mark);
    return () => {
      written.delete(mark);
    };
  }, [isWritten]);
}

// The browser asks in its own words before it closes or reloads the tab.
addEventListener("beforeunload", (event) => {
  if (isUnsaved()) event.preventDefault();
});
