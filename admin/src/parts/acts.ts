// Doing something to an item: send it, tell of it with the way back, show what is there now.
import { write } from "../api/client";
import { errorOf } from "../api/hooks";
import { useChanged } from "./changes";
import { useReport } from "./notes";

export type Act = (method: string, path: string, body: unknown, said: string) => Promise<boolean>;

/** Returns whether it was done; a refusal is told in a message. */
export function useActs(refresh: () => void): Act {
  const changed = useChanged(refresh);
  const report = useReport();
  return async (method, path, body, said) => {
    try {
      const { cause } = await write(method, path, body === null ? {} : { body });
      changed(said, cause);
      refresh();
      return true;
    } catch (failure) {
      report(errorOf(failure));
      return false;
    }
  };
}
