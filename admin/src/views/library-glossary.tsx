// The glossary: terms, their other names and what they mean.
import { useState } from "preact/hooks";
import { write } from "../api/client";
import { errorOf, rowsUnder, usePages } from "../api/hooks";
import type { Term } from "../api/upkeep";
import { useChanged } from "../parts/changes";
import { Form, TextArea, TextField } from "../parts/form";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { confirm, Dialog } from "../parts/overlay";
import { useWords } from "../words";
import { common } from "../words/common";
import { library } from "../words/library";
import { listed } from "./review-dialogs";

const TERMS = rowsUnder<Term>("data");

export function Glossary() {
  const t = useWords(library);
  const c = useWords(common);
  const pages = usePages<Term>("/v1/glossary", TERMS, { limit: 100 });
  const [edited, setEdited] = useState<Term | "new" | null>(null);
  const changed = useChanged(pages.reload);
  const report = useReport();
  const remove = async (term: Term) => {
    const isSure = await confirm({
      title: t.removeTerm(term.term),
      body: t.removeTermBody,
      action: c.remove,
      isDangerous: true,
    });
    if (!isSure) return;
    try {
      const { cause } = await write("DELETE", `/v1/glossary/${term.id}`);
      changed(t.removed, cause);
      pages.reload();
    } catch (failure) {
      report(errorOf(failure));
    }
  };
  return (
    <>
      <div class="batch flush">
        <p class="faint">{t.glossaryAbout}</p>
        <button type="button" class="primary" onClick={() => setEdited("new")}>
          {t.addTerm}
        </button>
      </div>
      <PagedList
        pages={pages}
        keyOf={(term) => term.id}
        row={(term) => (
          <div class="row">
            <div class="row-main">
              <p>
                <strong>{term.term}</strong> <span class="faint">{term.aliases.join(" · ")}</span>
              </p>
              <p class="pre">{term.definition}</p>
              {term.examples.map((example) => (
                <p key={example} class="faint small">
                  {example}
                </p>
              ))}
            </div>
            <span class="row-actions">
              <button type="button" class="quiet" onClick={() => setEdited(term)}>
                {c.edit}
              </button>
              <button type="button" class="quiet bad" onClick={() => remove(term)}>
                {c.remove}
              </button>
            </span>
          </div>
        )}
        empty={<Empty title={t.emptyGlossary}>{t.emptyGlossaryHint}</Empty>}
      />
      {edited && (
        <TermDialog
          term={edited === "new" ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={(cause) => {
            setEdited(null);
            changed(t.saved, cause);
            pages.reload();
          }}
        />
      )}
    </>
  );
}

function TermDialog(props: {
  term: Term | null;
  onClose: () => void;
  onSaved: (cause: string) => void;
}) {
  const t = useWords(library);
  const { term } = props;
  const [name, setName] = useState(term?.term ?? "");
  const [definition, setDefinition] = useState(term?.definition ?? "");
  const [aliases, setAliases] = useState(term?.aliases.join(", ") ?? "");
  const [examples, setExamples] = useState(term?.examples.join("\n") ?? "");
  const send = async () => {
    const whole: Record<string, string | string[]> = {
      term: name,
      definition,
      aliases: listed(aliases),
      examples: examples.split("\n").filter((line) => line.trim() !== ""),
    };
    if (term === null) {
      props.onSaved((await write("POST", "/v1/glossary", { body: whole })).cause);
      return;
    }
    // What was not touched here stays as another window left it.
    const before = { ...term } as Record<string, unknown>;
    const changes = Object.entries(whole).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]),
    );
    if (changes.length === 0) {
      props.onClose();
      return;
    }
    const body = Object.fromEntries(changes);
    props.onSaved((await write("PATCH", `/v1/glossary/${term.id}`, { body })).cause);
  };
  return (
    <Dialog title={term ? t.editTerm : t.addTerm} onClose={props.onClose}>
      <Form send={send} onCancel={props.onClose}>
        <TextField label={t.term} value={name} onInput={setName} isRequired />
        <TextArea
          label={t.definition}
          value={definition}
          onInput={setDefinition}
          rows={2}
          isRequired
        />
        <TextField label={t.aliases} value={aliases} onInput={setAliases} hint={t.commas} />
        <TextArea
          label={t.examples}
          value={examples}
          onInput={setExamples}
          hint={t.lines}
          rows={2}
        />
      </Form>
    </Dialog>
  );
}
