// What a new conversation reads before anything is asked: the startup bundle, to look at.
import type { ComponentChildren } from "preact";
import { useLoad } from "../api/hooks";
import type { Brief, Startup } from "../api/types";
import { textOf } from "../parts/item";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { link } from "../router";
import { useWords } from "../words";
import { overview } from "../words/overview";

export function StartupPreview() {
  const t = useWords(overview);
  const { data, error, reload } = useLoad<Startup>("/v1/context/startup");
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const focus = data.current_focus;
  const now = [focus?.strategic_focus, focus?.tactical_next_step].filter((item) => item != null);
  const isBlank =
    data.profile === null &&
    now.length + data.active_goals.length + data.active_projects.length === 0 &&
    data.always_load.length + data.topic_summaries.length === 0;
  if (isBlank) return <Empty title={t.startupHint}>{t.blank}</Empty>;
  return (
    <div class="note startup">
      <p class="faint small">
        {t.startupHint} <span>({t.version(data.context_version)})</span>
      </p>
      <Items title={t.profile} items={data.profile ? [data.profile] : []} />
      <Items title={t.goals} items={data.active_goals} />
      <Items title={t.focus} items={now} />
      <Group title={t.projects} isShown={data.active_projects.length > 0}>
        {data.active_projects.map((project) => (
          <li key={project.slug}>
            <a href={link("memories", { project: project.slug })}>{project.name}</a>{" "}
            <span class="faint">
              {project.active_objective?.title ?? project.description ?? ""} ({project.active_count}
              )
            </span>
          </li>
        ))}
      </Group>
      <Items title={t.always} items={data.always_load} />
      <Group title={t.topics} isShown={data.topic_summaries.length > 0}>
        {data.topic_summaries.map((topic) => (
          <li key={topic.group?.slug ?? ""}>
            <a href={link("memories", { topic: topic.group?.slug })}>{topic.group?.name}</a>{" "}
            <span class="faint">
              {topic.canonical_item?.title ?? topic.summary.top_item?.title ?? ""} (
              {topic.summary.active_count})
            </span>
          </li>
        ))}
      </Group>
    </div>
  );
}

function Items(props: { title: string; items: Brief[] }) {
  return (
    <Group title={props.title} isShown={props.items.length > 0}>
      {props.items.map((item) => (
        <li key={item.id}>
          <a class="plain" href={link(item.kind === "task" ? "tasks" : "memories", item.id)}>
            {textOf(item)}
          </a>
        </li>
      ))}
    </Group>
  );
}

function Group(props: { title: string; isShown: boolean; children: ComponentChildren }) {
  if (!props.isShown) return null;
  return (
    <>
      <h3>{props.title}</h3>
      <ul>{props.children}</ul>
    </>
  );
}
