// Letting one memory take the place of others.
import { useState } from "preact/hooks";
import { write } from "../api/client";
import type { Brief, Memory } from "../api/types";
import { Form, TextField } from "../parts/form";
import { textOf } from "../parts/item";
import { Dialog } from "../parts/overlay";
import { ItemPicker } from "../parts/picker";
import { useWords } from "../words";
import { common } from "../words/common";
import { memories } from "../words/memories";

export function Supersede(props: {
  memory: Memory;
  onClose: () => void;
  onDone: (cause: string) => void;
}) {
  const t = useWords(memories);
  const c = useWords(common);
  const [chosen, setChosen] = useState<Brief[]>([]);
  const [reason, setReason] = useState("");
  const send = async () => {
    const body = { target_ids: chosen.map((item) => item.id), ...(reason ? { reason } : {}) };
    const { cause } = await write("POST", `/v1/items/${props.memory.id}/supersede`, { body });
    props.onDone(cause);
  };
  return (
    <Dialog title={t.supersedeTitle} onClose={props.onClose}>
      <Form send={send} onCancel={props.onClose} label={t.supersede}>
        <p class="faint">{t.supersedeHint}</p>
        <ItemPicker
          label={c.search}
          kind="memory"
          without={[props.memory.id, ...chosen.map((item) => item.id)]}
          onPick={(item) => setChosen([...chosen, item])}
        />
        {chosen.length > 0 && (
          <ul class="rows" aria-label={t.chosen}>
            {chosen.map((item) => (
              <li key={item.id} class="row">
                <span class="row-main clamp">{textOf(item)}</span>
                <button
                  type="button"
                  class="quiet"
                  aria-label={t.noFilter}
                  onClick={() => setChosen(chosen.filter((each) => each.id !== item.id))}
                >
                  ✕
                </button>
              </li>
            ))}
          </ul>
        )}
        <TextField label={t.reason} value={reason} onInput={setReason} />
      </Form>
    </Dialog>
  );
}
