// Jobs: each with its schedule and backlog, its runs, what retention takes next, what was set aside.
import { useEffect, useState } from "preact/hooks";
import { write } from "../api/client";
import { errorOf, useLoad } from "../api/hooks";
import type { Job, Ran } from "../api/upkeep";
import { Check, Form, TextField } from "../parts/form";
import { ErrorNote, useReport, Waiting } from "../parts/notes";
import { Dialog, toast } from "../parts/overlay";
import { Tabs } from "../parts/tabs";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { jobs } from "../words/jobs";
import type { ViewProps } from "./index";
import { Leaves } from "./jobs-leaving";
import { Counts, Failure, OneRun, Runs } from "./jobs-runs";
import { SkippedMessages } from "./jobs-skipped";

const TABS = ["jobs", "runs", "leaving", "skipped"] as const;

/** While a job runs, its progress is asked for this often. */
const LOOK_AGAIN_MS = 3_000;

export default function Jobs(props: ViewProps) {
  const t = useWords(jobs);
  const [first = "jobs", id] = props.route.rest;
  const tab = TABS.find((each) => each === first) ?? "jobs";
  if (tab === "runs" && id) return <OneRun id={id} />;
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <Tabs
        names={TABS}
        chosen={tab}
        labels={t.tabs}
        href={(each) => (each === "jobs" ? link("jobs") : link("jobs", each))}
      />
      {tab === "jobs" && <AllJobs />}
      {tab === "runs" && <Runs job={props.route.query.get("job") ?? ""} />}
      {tab === "leaving" && <Leaves />}
      {tab === "skipped" && <SkippedMessages />}
    </>
  );
}

function AllJobs() {
  const { data, error, reload } = useLoad<{ jobs: Job[] }>("/v1/jobs");
  const isBusy = data?.jobs.some((job) => job.status === "running") ?? false;
  useEffect(() => {
    if (!isBusy) return;
    const timer = setInterval(() => document.hidden || reload(), LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [isBusy]);
  if (error && data === null) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  return (
    <ul class="rows">
      {data.jobs.map((job) => (
        <li key={job.name}>
          <JobCard job={job} onChanged={reload} />
        </li>
      ))}
    </ul>
  );
}

function JobCard(props: { job: Job; onChanged: () => void }) {
  const t = useWords(jobs);
  const { job } = props;
  const report = useReport();
  const [isRunning, setRunning] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const name = (t.names as Record<string, string>)[job.name] ?? job.title;
  const isHalted = job.status === "paused" || job.status === "dead";
  const run = async (body: Record<string, unknown>) => {
    setRunning(true);
    try {
      const { data } = await write<Ran>("POST", `/v1/jobs/${job.name}/run`, { body });
      const action =
        data.run_id === null ? null : { label: t.details, run: () => open(data.run_id ?? "") };
      toast(`${t.outcomes[data.status]}${data.more ? ` ${t.more}` : ""}`, action);
    } finally {
      setRunning(false);
      props.onChanged();
    }
  };
  const runNow = () => run({}).catch((failure: unknown) => report(errorOf(failure)));
  const halt = async (verb: "pause" | "resume") => {
    try {
      await write("POST", `/v1/jobs/${job.name}/${verb}`);
      toast(verb === "pause" ? t.paused : t.resumed);
    } catch (failure) {
      report(errorOf(failure));
    }
    props.onChanged();
  };
  return (
    <article class="card" data-job={job.name}>
      <div class="card-head">
        <h2 class="card-text">{name}</h2>
        <Status status={isRunning ? "running" : job.status} />
      </div>
      <Moments job={job} />
      <p>
        {Object.values(job.backlog).some((count) => count > 0) ? (
          <>
            {t.waits} <Counts counts={job.backlog} />
          </>
        ) : (
          <span class="faint">{t.nothingWaits}</span>
        )}
      </p>
      {job.last_run?.error && <Failure error={job.last_run.error} />}
      {job.last_run?.progress && job.status === "running" && (
        <progress value={job.last_run.progress.done} max={job.last_run.progress.total} />
      )}
      <footer class="actions">
        <a class="button quiet" href={link("jobs", "runs", { job: job.name })}>
          {t.tabs.runs}
        </a>
        <button type="button" onClick={() => halt(isHalted ? "resume" : "pause")}>
          {isHalted ? t.resume : t.pause}
        </button>
        <button type="button" disabled={isRunning} onClick={() => setAsking(true)}>
          {t.runWith}
        </button>
        <button type="button" class="primary" disabled={isRunning} onClick={runNow}>
          {isRunning ? t.running : t.runNow}
        </button>
      </footer>
      {isAsking && (
        <RunDialog
          title={t.runTitle(name)}
          hasDays={job.name === "dream"}
          onClose={() => setAsking(false)}
          onRun={async (body) => {
            await run(body);
            setAsking(false);
          }}
        />
      )}
    </article>
  );
}

function open(runId: string): void {
  location.hash = link("jobs", "runs", runId);
}

const TONES: Record<string, string> = {
  paused: "badge warn",
  waiting: "badge warn",
  lost: "badge warn",
  dead: "badge bad",
  failed: "badge bad",
};

export function Status(props: { status: string }) {
  const t = useWords(jobs);
  const said = (t.statuses as Record<string, string>)[props.status] ?? props.status;
  return <span class={TONES[props.status] ?? "badge"}>{said}</span>;
}

function Moments(props: { job: Job }) {
  const t = useWords(jobs);
  const { job } = props;
  return (
    <p class="meta">
      {job.next_due_at && job.status !== "paused" && (
        <span>
          {t.next} <When at={job.next_due_at} /> <code title="UTC">{job.cron} UTC</code>
        </span>
      )}
      {job.last_success_at ? (
        <span>
          {t.lastDone} <When at={job.last_success_at} />
        </span>
      ) : (
        <span>{t.never}</span>
      )}
      {job.next_try_at && job.status === "waiting" && (
        <span>
          {t.tryAt} <When at={job.next_try_at} />
        </span>
      )}
      {job.failing_since && (
        <span class="badge bad">
          {t.failingSince} <When at={job.failing_since} />
        </span>
      )}
    </p>
  );
}

function RunDialog(props: {
  title: string;
  hasDays: boolean;
  onClose: () => void;
  onRun: (body: Record<string, unknown>) => Promise<void>;
}) {
  const t = useWords(jobs);
  const [isForced, setForced] = useState(true);
  const [date, setDate] = useState("");
  const [batches, setBatches] = useState("");
  const send = () => {
    const body: Record<string, unknown> = { force: isForced };
    if (date) body.date = date;
    if (batches) body.max_runs = Number(batches);
    return props.onRun(body);
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form send={send} label={t.runNow} onCancel={props.onClose}>
        <Check label={t.force} isOn={isForced} onInput={setForced} hint={t.forceHint} />
        <div class="fields">
          {props.hasDays && (
            <TextField
              label={t.date}
              type="date"
              value={date}
              onInput={setDate}
              hint={t.dateHint}
            />
          )}
          <TextField
            label={t.batches}
            type="number"
            value={batches}
            onInput={setBatches}
            hint={t.batchesHint}
          />
        </div>
      </Form>
    </Dialog>
  );
}
