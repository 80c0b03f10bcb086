// Projects and topics: what memories and tasks belong to.
import { useState } from "preact/hooks";
import { type ApiError, call, write } from "../api/client";
import { errorOf, rowsUnder, usePages } from "../api/hooks";
import type { Project, Topic } from "../api/types";
import { useChanged } from "../parts/changes";
import { Diff } from "../parts/diff";
import { Choice, Form, TextArea, TextField } from "../parts/form";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { confirm, Dialog } from "../parts/overlay";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { projects } from "../words/projects";
import type { ViewProps } from "./index";

type Owner = Project | Topic;

const PROJECTS = rowsUnder<Owner>("projects");
const TOPICS = rowsUnder<Owner>("topics");

export default function Projects(props: ViewProps) {
  const t = useWords(projects);
  const c = useWords(common);
  const isTopics = props.route.rest[0] === "topics";
  const path = isTopics ? "/v1/topics" : "/v1/projects";
  const pages = usePages<Owner>(path, isTopics ? TOPICS : PROJECTS);
  const [edited, setEdited] = useState<Owner | "new" | null>(null);
  const changed = useChanged(pages.reload);
  const report = useReport();

  const remove = async (owner: Owner) => {
    const isSure = await confirm({
      title: t.deleteTitle(owner.name),
      body: t.deleteBody,
      action: c.remove,
      isDangerous: true,
    });
    if (!isSure) return;
    try {
      const { cause } = await write("DELETE", `${path}/${encodeURIComponent(owner.slug)}`);
      changed(t.deleted(owner.name), cause);
      pages.reload();
    } catch (failure) {
      report(errorOf(failure));
    }
  };

  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
        <button type="button" class="primary" onClick={() => setEdited("new")}>
          {isTopics ? t.newTopic : t.newProject}
        </button>
      </header>
      <div class="tabs">
        <a class="button" href={link("projects")} aria-current={!isTopics}>
          {t.projects}
        </a>
        <a class="button" href={link("projects", "topics")} aria-current={isTopics}>
          {t.topics}
        </a>
      </div>
      <PagedList
        pages={pages}
        keyOf={(owner) => owner.slug}
        row={(owner) => (
          <div class="row">
            <div class="row-main">
              <a href={link("memories", { [isTopics ? "topic" : "project"]: owner.slug })}>
                {owner.name}
              </a>
              <p class={owner.description ? "clamp" : "faint"}>
                {owner.description ?? t.noDescription}
              </p>
              <p class="meta">
                {"active_objective" in owner && (
                  <span>
                    {t.goal}: {owner.active_objective?.title ?? t.noGoal}
                  </span>
                )}
                <span>{t.count(owner.counts?.active ?? 0)}</span>
                {owner.updated_at && (
                  <span>
                    {t.changed} <When at={owner.updated_at} />
                  </span>
                )}
              </p>
            </div>
            <span class="row-actions">
              <button type="button" class="quiet" onClick={() => setEdited(owner)}>
                {c.edit}
              </button>
              <button type="button" class="quiet bad" onClick={() => remove(owner)}>
                {c.remove}
              </button>
            </span>
          </div>
        )}
        empty={
          <Empty title={isTopics ? t.emptyTopics : t.emptyProjects}>
            {isTopics ? t.emptyTopicsHint : t.emptyProjectsHint}
          </Empty>
        }
      />
      {edited && (
        <Editor
          path={path}
          isTopic={isTopics}
          owner={edited === "new" ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={(cause) => {
            setEdited(null);
            if (cause) changed(t.saved, cause);
            pages.reload();
          }}
        />
      )}
    </>
  );
}

function Editor(props: {
  path: string;
  isTopic: boolean;
  owner: Owner | null;
  onClose: () => void;
  onSaved: (cause: string) => void;
}) {
  const t = useWords(projects);
  const { owner, isTopic } = props;
  const topic = owner !== null && "kind" in owner ? owner : null;
  const [name, setName] = useState(owner?.name ?? "");
  const [description, setDescription] = useState(owner?.description ?? "");
  const [kind, setKind] = useState<string>(topic?.kind ?? "topic");
  const [priority, setPriority] = useState(String(topic?.retrieval_priority ?? 0));
  const [theirs, setTheirs] = useState<Owner | null>(null);
  const report = useReport();
  const title = owner
    ? isTopic
      ? t.editTopic
      : t.editProject
    : isTopic
      ? t.newTopic
      : t.newProject;
  const path = owner ? `${props.path}/${encodeURIComponent(owner.slug)}` : props.path;
  const send = async () => {
    const body: Record<string, unknown> = { name, description: description || null };
    if (isTopic) Object.assign(body, { kind, retrieval_priority: Number(priority) });
    if (owner === null) {
      props.onSaved((await write("POST", path, { body })).cause);
      return;
    }
    // What was not touched here stays as another window left it.
    const before: Record<string, unknown> = { ...owner };
    const changes = Object.entries(body).filter(
      ([field, value]) => value !== (before[field] ?? null),
    );
    if (changes.length === 0) {
      props.onClose();
      return;
    }
    const { version } = theirs ?? owner;
    const { cause } = await write("PATCH", path, { body: Object.fromEntries(changes), version });
    props.onSaved(cause);
  };
  const meetTheirs = (refusal: ApiError) => {
    if (refusal.code !== "version_conflict") return false;
    call<Record<string, Owner>>("GET", path).then(
      (answer) => setTheirs(answer[isTopic ? "topic" : "project"] ?? null),
      (failure: unknown) => report(errorOf(failure)),
    );
    return true;
  };
  const text = (one: { name: string; description?: string | null }) =>
    `${one.name}\n${one.description ?? ""}`;
  return (
    <Dialog title={title} onClose={props.onClose}>
      <Form
        send={send}
        onCancel={theirs ? () => props.onSaved("") : props.onClose}
        onRefused={meetTheirs}
        {...(theirs && { label: t.useMine, cancelLabel: t.useTheirs })}
      >
        {theirs && (
          <>
            <p role="alert">{t.conflict}</p>
            <Diff before={text(theirs)} after={text({ name, description })} />
          </>
        )}
        <TextField label={t.name} value={name} onInput={setName} isRequired />
        <TextArea label={t.description} value={description} onInput={setDescription} />
        {isTopic && (
          <div class="fields">
            <Choice label={t.kind} value={kind} options={t.kinds} onInput={setKind} />
            <TextField
              label={t.priority}
              type="number"
              value={priority}
              onInput={setPriority}
              hint={t.priorityHint}
            />
          </div>
        )}
      </Form>
    </Dialog>
  );
}
