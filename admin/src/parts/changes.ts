// After a change: say so, and offer the way back.
import { write } from "../api/client";
import { errorOf } from "../api/hooks";
import { useWords } from "../words";
import { common } from "../words/common";
import { useReport } from "./notes";
import { toast } from "./overlay";

/** Tell of a change and let its whole command be undone; `onUndone` shows what is there again. */
export function useChanged(onUndone: () => void): (text: string, cause: string) => void {
  const t = useWords(common);
  const report = useReport();
  const undo = async (cause: string) => {
    try {
      await write("POST", "/v1/undo", { body: { cause } });
      toast(t.undone);
      onUndone();
    } catch (failure) {
      report(errorOf(failure));
    }
  };
  return (text, cause) => toast(text, { label: t.undo, run: () => void undo(cause) });
}
