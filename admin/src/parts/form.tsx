// Fields with their labels, and the form that sends them once.
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { ApiError } from "../api/client";
import { errorOf } from "../api/hooks";
import { useWords } from "../words";
import { common } from "../words/common";
import { ErrorNote } from "./notes";
import { isWriting, useUnsaved } from "./unsaved";

interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  isRequired?: boolean;
  maxLength?: number;
  placeholder?: string;
}

export function TextField(
  props: FieldProps & {
    type?: "text" | "password" | "number" | "search" | "date" | "datetime-local";
    autoFocus?: boolean;
    autoComplete?: string;
  },
) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{props.label}</label>
      <input
        id={id}
        type={(props.type ?? "text") as "text"}
        value={props.value}
        required={props.isRequired ?? false}
        maxLength={props.maxLength}
        placeholder={props.placeholder}
        autoComplete={props.autoComplete ?? "off"}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {props.hint && <small class="faint">{props.hint}</small>}
    </p>
  );
}

export function TextArea(props: FieldProps & { rows?: number }) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        rows={props.rows ?? 4}
        value={props.value}
        required={props.isRequired ?? false}
        maxLength={props.maxLength}
        placeholder={props.placeholder}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {props.hint && <small class="faint">{props.hint}</small>}
    </p>
  );
}

export function Choice(props: {
  label: string;
  value: string;
  options: Record<string, string>;
  onInput: (value: string) => void;
  hint?: string;
}) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{props.label}</label>
      <select
        id={id}
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      >
        {Object.entries(props.options).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {props.hint && <small class="faint">{props.hint}</small>}
    </p>
  );
}

export function Check(props: {
  label: string;
  isOn: boolean;
  onInput: (isOn: boolean) => void;
  hint?: string;
}) {
  return (
    <p class="field check">
      <label>
        <input
          type="checkbox"
          checked={props.isOn}
          onInput={(event) => props.onInput(event.currentTarget.checked)}
        />{" "}
        {props.label}
      </label>
      {props.hint && <small class="faint">{props.hint}</small>}
    </p>
  );
}

/** A form that runs `send` once at a time and shows why it was refused; `onRefused` may take over.
 * What is written in it holds the page until it was sent: until `send` answers anything but false. */
export function Form(props: {
  send: () => Promise<unknown>;
  children: ComponentChildren;
  label?: string;
  onCancel?: () => void;
  cancelLabel?: string;
  onRefused?: (error: ApiError) => boolean;
  isWritten?: boolean;
}) {
  const t = useWords(common);
  const [isWritten, setWritten] = useState(props.isWritten ?? false);
  useUnsaved(isWritten);
  const [error, setError] = useState<ApiError | null>(null);
  const [isSending, setSending] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    setError(null);
    try {
      if ((await props.send()) !== false) setWritten(false);
    } catch (failure) {
      const refusal = errorOf(failure);
      // Of a key that ended the login tells, which comes up by itself.
      const isTold = props.onRefused?.(refusal) || refusal.code === "unauthenticated";
      if (!isTold) setError(refusal);
    } finally {
      setSending(false);
    }
  };
  return (
    <form onSubmit={submit} onInput={(event) => isWriting(event.target) && setWritten(true)}>
      {props.children}
      {error && <ErrorNote error={error} />}
      <footer class="actions">
        {props.onCancel && (
          <button type="button" onClick={props.onCancel}>
            {props.cancelLabel ?? t.cancel}
          </button>
        )}
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? t.saving : (props.label ?? t.save)}
        </button>
      </footer>
    </form>
  );
}
