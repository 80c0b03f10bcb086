// The library: the diary, the digest, precious quotes, the glossary.
import { useState } from "preact/hooks";
import { type ApiError, call, write } from "../api/client";
import { errorOf, rowsUnder, useLoad, usePages } from "../api/hooks";
import type { Digest, Precious } from "../api/upkeep";
import { useChanged } from "../parts/changes";
import { Diff } from "../parts/diff";
import { Form, TextArea } from "../parts/form";
import { PagedList } from "../parts/list";
import { Markdown } from "../parts/markdown";
import { Empty, ErrorNote, useReport, Waiting } from "../parts/notes";
import { Dialog, toast } from "../parts/overlay";
import { Tabs } from "../parts/tabs";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { library } from "../words/library";
import type { ViewProps } from "./index";
import { Diary } from "./library-diary";
import { Glossary } from "./library-glossary";

const TABS = ["diary", "digest", "precious", "glossary"] as const;
const PRECIOUS = rowsUnder<Precious>("data");

/** Characters of a digest. Source: the API. */
const DIGEST_CHARS_MAX = 500;

export default function Library(props: ViewProps) {
  const t = useWords(library);
  const [first, page] = props.route.rest;
  const tab = TABS.find((each) => each === first) ?? "diary";
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <Tabs
        names={TABS}
        chosen={tab}
        labels={t.tabs}
        href={(each) => (each === "diary" ? link("library") : link("library", each))}
      />
      {tab === "diary" && (
        <Diary page={page ?? null} kind={props.route.query.get("kind") ?? "day"} />
      )}
      {tab === "digest" && <TheDigest />}
      {tab === "precious" && <AllPrecious />}
      {tab === "glossary" && <Glossary />}
    </>
  );
}

function TheDigest() {
  const t = useWords(library);
  const c = useWords(common);
  const { data, error, reload } = useLoad<{ digest: Digest | null }>("/v1/memory_boot");
  // The version that the text was written over; the night writes digests as well.
  const [edited, setEdited] = useState<{ text: string; version: number } | null>(null);
  const [theirs, setTheirs] = useState<Digest | null>(null);
  const changed = useChanged(reload);
  const report = useReport();
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const text = data.digest?.content ?? "";
  const close = () => {
    setEdited(null);
    setTheirs(null);
    reload();
  };
  const send = async (content: string, version: number) => {
    const { cause } = await write("PATCH", "/v1/memory_boot", { body: { content }, version });
    close();
    changed(t.digestSaved, cause);
  };
  const meetTheirs = (refusal: ApiError) => {
    if (refusal.code !== "version_conflict") return false;
    call<{ digest: Digest | null }>("GET", "/v1/memory_boot").then(
      (answer) => setTheirs(answer.digest ?? { content: "", version: 0, updated_at: "" }),
      (failure: unknown) => report(errorOf(failure)),
    );
    return true;
  };
  return (
    <>
      <p class="faint lead">{t.digestAbout}</p>
      {edited !== null ? (
        <Form
          send={() => send(edited.text, theirs?.version ?? edited.version)}
          onCancel={close}
          onRefused={meetTheirs}
          {...(theirs && { label: t.useMine, cancelLabel: t.useTheirs })}
        >
          {theirs && (
            <>
              <p role="alert">{t.digestConflict}</p>
              <Diff before={theirs.content} after={edited.text} />
            </>
          )}
          <TextArea
            label={t.digestText}
            value={edited.text}
            onInput={(text) => setEdited({ ...edited, text })}
            rows={8}
            hint={t.letters([...edited.text].length, DIGEST_CHARS_MAX)}
          />
        </Form>
      ) : text ? (
        <article class="note">
          <Markdown text={text} />
          <p class="meta">
            <span>
              {t.changed} <When at={data.digest?.updated_at} />
            </span>
          </p>
          <button
            type="button"
            onClick={() => setEdited({ text, version: data.digest?.version ?? 0 })}
          >
            {c.edit}
          </button>
        </article>
      ) : (
        <Empty title={t.digestEmpty}>
          <p>{t.digestEmptyHint}</p>
          <button type="button" onClick={() => setEdited({ text: "", version: 0 })}>
            {t.writeDigest}
          </button>
        </Empty>
      )}
    </>
  );
}

function AllPrecious() {
  const t = useWords(library);
  const c = useWords(common);
  const pages = usePages<Precious>("/v1/precious", PRECIOUS, { limit: 50 });
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Precious | null>(null);
  const [text, setText] = useState("");
  const changed = useChanged(pages.reload);
  const open = (isNew: boolean, quote: Precious | null = null) => {
    setText("");
    setAdding(isNew);
    setRemoved(quote);
  };
  const add = async () => {
    const body = { content: text };
    const { data, cause } = await write<{ outcome: string }>("POST", "/v1/precious", { body });
    if (data.outcome === "created") changed(t.kept, cause);
    else toast(t.keptAlready);
    open(false);
    pages.reload();
  };
  const remove = async (quote: Precious) => {
    const { cause } = await write("DELETE", `/v1/precious/${quote.id}`, {
      query: { reason: text },
    });
    open(false);
    changed(t.removed, cause);
    pages.reload();
  };
  return (
    <>
      <div class="batch flush">
        <p class="faint">{t.preciousAbout}</p>
        <button type="button" class="primary" onClick={() => open(true)}>
          {t.addPrecious}
        </button>
      </div>
      <PagedList
        pages={pages}
        keyOf={(quote) => quote.id}
        row={(quote) => (
          <div class="row">
            <div class="row-main">
              <p class="pre">{quote.content}</p>
              <p class="meta">
                <span>
                  <When at={quote.created_at} />
                </span>
                <span>{t.by[quote.source]}</span>
              </p>
            </div>
            <span class="row-actions">
              <button type="button" class="quiet bad" onClick={() => open(false, quote)}>
                {c.remove}
              </button>
            </span>
          </div>
        )}
        empty={<Empty title={t.emptyPrecious}>{t.emptyPreciousHint}</Empty>}
      />
      {isAdding && (
        <Dialog title={t.addPrecious} onClose={() => setAdding(false)}>
          <Form send={add} onCancel={() => setAdding(false)}>
            <TextArea label={t.exact} value={text} onInput={setText} isRequired />
          </Form>
        </Dialog>
      )}
      {removed && (
        <Dialog title={t.removePrecious} onClose={() => setRemoved(null)}>
          <Form send={() => remove(removed)} label={c.remove} onCancel={() => setRemoved(null)}>
            <p class="pre there">{removed.content}</p>
            <TextArea
              label={t.reason}
              value={text}
              onInput={setText}
              hint={t.reasonHint}
              rows={2}
              isRequired
            />
          </Form>
        </Dialog>
      )}
    </>
  );
}
