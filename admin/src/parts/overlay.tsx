// What lies above the page: dialogs, the question before something is taken away, short messages.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "../words";
import { common } from "../words/common";
import { abandon, isUnsaved, isWriting } from "./unsaved";

interface Question {
  title: string;
  body: ComponentChildren;
  action: string;
  isDangerous?: boolean;
}

interface Message {
  id: number;
  text: string;
  isError: boolean;
  action: { label: string; run: () => void } | null;
}

const MESSAGE_MS = 6000;
let showQuestion: ((question: Question, answer: (yes: boolean) => void) => void) | null = null;
let showMessage: ((message: Omit<Message, "id">) => void) | null = null;

/** Ask before something happens; the action's label says what will, such as "Delete". */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    if (showQuestion === null) resolve(false);
    else showQuestion(question, resolve);
  });
}

/** Ask before something that loses what is written and not saved; true when nothing is, too. */
export async function mayLeave(t: { leaveTitle: string; leaveBody: string; leave: string }) {
  if (!isUnsaved()) return true;
  const { leaveTitle: title, leaveBody: body, leave: action } = t;
  const isSure = await confirm({ title, body, action, isDangerous: true });
  if (isSure) abandon();
  return isSure;
}

/** Say briefly what happened, perhaps with a way back. */
export function toast(text: string, action: Message["action"] = null, isError = false): void {
  showMessage?.({ text, action, isError });
}

/** A dialog; one without `onClose` is left by what is in it alone, and not by Escape. */
export function Dialog(props: {
  title: string;
  onClose?: () => void;
  children: ComponentChildren;
  isWide?: boolean;
  isWritten?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const isWritten = useRef(props.isWritten ?? false);
  const isAsking = useRef(false);
  const t = useWords(common);
  // Escape also ends a choice of characters: what was written must not be gone by it.
  const leave = async () => {
    if (isAsking.current) return;
    if (isWritten.current) {
      isAsking.current = true;
      const { leaveTitle: title, leaveBody: body, leave: action } = t;
      const isSure = await confirm({ title, body, action, isDangerous: true });
      isAsking.current = false;
      if (!isSure) return;
    }
    props.onClose?.();
  };
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // The first thing to do rather than the way out; on a phone a field would bring up the keys.
    const first = "input, textarea, select, button";
    if (matchMedia("(pointer: fine)").matches) {
      dialog?.querySelector(".dialog-body")?.querySelector<HTMLElement>(first)?.focus();
    }
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={props.isWide ? "dialog wide" : "dialog"}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        void leave();
      }}
      onClose={() => {
        if (!ref.current?.isConnected) return;
        // A browser lets nobody refuse a second Escape: what it closed is opened again.
        if (!props.onClose || isWritten.current) ref.current.showModal();
        else props.onClose();
      }}
      onInput={(event) => {
        isWritten.current ||= isWriting(event.target);
      }}
    >
      <header class="dialog-head">
        <h2>{props.title}</h2>
        {props.onClose && (
          <button type="button" class="quiet" aria-label={t.close} onClick={leave}>
            ✕
          </button>
        )}
      </header>
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}

/** Where questions and messages appear; once, at the end of the page. */
export function Overlay() {
  const t = useWords(common);
  const [asked, setAsked] = useState<{ question: Question; answer: (yes: boolean) => void }>();
  const [messages, setMessages] = useState<Message[]>([]);
  const count = useRef(0);
  useEffect(() => {
    showQuestion = (question, answer) => setAsked({ question, answer });
    showMessage = (message) => {
      count.current += 1;
      const id = count.current;
      setMessages((before) => [...before.slice(-2), { ...message, id }]);
      setTimeout(() => drop(id), MESSAGE_MS);
    };
    return () => {
      showQuestion = null;
      showMessage = null;
    };
  }, []);
  const drop = (id: number) => setMessages((before) => before.filter((each) => each.id !== id));
  const answer = (yes: boolean) => {
    asked?.answer(yes);
    setAsked(undefined);
  };
  return (
    <>
      {asked && (
        <Dialog title={asked.question.title} onClose={() => answer(false)}>
          <div class="question">{asked.question.body}</div>
          <footer class="actions">
            <button type="button" onClick={() => answer(false)}>
              {t.cancel}
            </button>
            <button
              type="button"
              class={asked.question.isDangerous ? "danger" : "primary"}
              onClick={() => answer(true)}
            >
              {asked.question.action}
            </button>
          </footer>
        </Dialog>
      )}
      <div class="toasts" role="status">
        {messages.map((each) => (
          <p key={each.id} class={each.isError ? "toast error" : "toast"}>
            <span>{each.text}</span>
            {each.action && (
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  each.action?.run();
                  drop(each.id);
                }}
              >
                {each.action.label}
              </button>
            )}
          </p>
        ))}
      </div>
    </>
  );
}
