// The review queue: what waits for a person's word, and what was decided.
import { useEffect, useState } from "preact/hooks";
import { call, write } from "../api/client";
import { errorOf, type PageForm, useLoad, usePages } from "../api/hooks";
import type { Brief, LedgerEvent } from "../api/types";
import type { Candidate, CandidateStatus, Decided } from "../api/upkeep";
import { useChanged } from "../parts/changes";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { confirm, toast } from "../parts/overlay";
import { Tabs } from "../parts/tabs";
import { link } from "../router";
import { useWords } from "../words";
import { review } from "../words/review";
import type { ViewProps } from "./index";
import { CandidateCard } from "./review-card";
import { EditDialog, TargetDialog } from "./review-dialogs";

const STATUSES: CandidateStatus[] = ["pending", "approved", "merged", "superseded", "discarded"];

/** Decisions of one call. Source: the API. */
const DECISIONS_MAX = 50;

const FORM: PageForm<Candidate> = {
  rows: (answer: { data: Candidate[] }) => answer.data,
  cursor: (answer: { next_cursor: string | null }) => answer.next_cursor,
};

export type Action = "approve" | "discard" | "merge" | "supersede";

interface Opened {
  candidate: Candidate;
  what: "edit" | "merge" | "supersede";
}

export default function Review(props: ViewProps) {
  const t = useWords(review);
  const status = STATUSES.find((each) => each === props.route.rest[0]) ?? "pending";
  const pages = usePages<Candidate>("/v1/candidates", FORM, { status, limit: 25 });
  const known = useTargets(pages.rows);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<Opened | null>(null);
  const changed = useChanged(pages.reload);
  const report = useReport();
  useEffect(() => setChosen(new Set()), [status]);

  const settle = (text: string, cause: string) => {
    setOpened(null);
    setChosen(new Set());
    changed(text, cause);
    pages.reload();
  };
  const decide = async (candidate: Candidate, action: Action) => {
    try {
      const { cause } = await write("POST", `/v1/candidates/${candidate.id}/${action}`, {
        body: {},
      });
      settle(t.done[action], cause);
    } catch (failure) {
      report(errorOf(failure));
      pages.reload();
    }
  };
  const decideChosen = async (action: "approve" | "discard") => {
    const ids = pages.rows
      .map((row) => row.id)
      .filter((id) => chosen.has(id))
      .slice(0, DECISIONS_MAX);
    if (action === "discard") {
      const isSure = await confirm({
        title: t.discardTitle(ids.length),
        body: t.discardBody,
        action: t.discard,
        isDangerous: true,
      });
      if (!isSure) return;
    }
    try {
      const refused: string[] = [];
      const causes: string[] = [];
      const sum = { decided: 0, failed: 0 };
      for (let left = ids; left.length > 0; ) {
        const { data, cause } = await write<Decided>("POST", "/v1/candidates/decide", {
          body: { decisions: left.map((id) => ({ id, action })) },
        });
        refused.push(...data.results.flatMap((one) => (one.error ? [one.error.message] : [])));
        causes.push(cause);
        sum.decided += data.decided;
        sum.failed += data.failed;
        left = data.left;
      }
      const told = t.decided(sum.decided, sum.failed);
      const [cause, ...others] = causes;
      // What several calls did no single undo takes back.
      if (sum.decided > 0 && cause !== undefined && others.length === 0) settle(told, cause);
      else if (sum.decided > 0) toast(told);
      // Of more than one call takes, the rest stays chosen for the next.
      setChosen(new Set([...chosen].filter((id) => !ids.includes(id))));
      if (refused.length > 0) toast(refused.join(" · "), null, true);
      pages.reload();
    } catch (failure) {
      report(errorOf(failure));
    }
  };
  const takeBack = async (candidate: Candidate) => {
    try {
      const stream = `candidate/${candidate.id}`;
      const { events } = await call<{ events: LedgerEvent[] }>("GET", "/v1/history", {
        query: { stream, limit: 1 },
      });
      const cause = events[0]?.cause;
      if (cause === undefined) return;
      const done = await write("POST", "/v1/undo", { body: { cause } });
      toast(t.statuses.pending);
      pages.reload();
      return done;
    } catch (failure) {
      report(errorOf(failure));
    }
    return undefined;
  };
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };

  const isPending = status === "pending";
  const isAll = pages.rows.length > 0 && pages.rows.every((row) => chosen.has(row.id));
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <p class="faint lead">{t.about}</p>
      <Tabs
        names={STATUSES}
        chosen={status}
        labels={t.statuses}
        href={(each) => (each === "pending" ? link("review") : link("review", each))}
      />
      {isPending && pages.rows.length > 1 && (
        <div class="batch">
          <label>
            <input
              type="checkbox"
              checked={isAll}
              onInput={() => setChosen(new Set(isAll ? [] : pages.rows.map((row) => row.id)))}
            />{" "}
            {chosen.size > 0 ? t.selected(chosen.size) : t.selectAll}
          </label>
          {chosen.size > 0 && (
            <span class="actions">
              <button type="button" onClick={() => decideChosen("discard")}>
                {t.discardSelected}
              </button>
              <button type="button" class="primary" onClick={() => decideChosen("approve")}>
                {t.approveSelected}
              </button>
            </span>
          )}
        </div>
      )}
      <PagedList
        pages={pages}
        keyOf={(candidate) => candidate.id}
        row={(candidate) => (
          <CandidateCard
            candidate={candidate}
            targets={candidate.target_ids.flatMap((id) => known.get(id) ?? [])}
            isChosen={chosen.has(candidate.id)}
            onChoose={() => toggle(candidate.id)}
            onDecide={(action) => void decide(candidate, action)}
            onOpen={(what) => setOpened({ candidate, what })}
            onTakeBack={() => void takeBack(candidate)}
          />
        )}
        empty={
          <Empty title={isPending ? t.emptyPending : t.emptyDecided}>
            {isPending && t.emptyPendingHint}
          </Empty>
        }
      />
      {opened?.what === "edit" && (
        <EditDialog
          candidate={opened.candidate}
          onClose={() => setOpened(null)}
          onDone={(cause) => settle(t.done.approve, cause)}
        />
      )}
      {opened && opened.what !== "edit" && (
        <TargetDialog
          candidate={opened.candidate}
          action={opened.what}
          known={opened.candidate.target_ids.flatMap((id) => known.get(id) ?? [])}
          onClose={() => setOpened(null)}
          onDone={(cause) => opened.what !== "edit" && settle(t.done[opened.what], cause)}
        />
      )}
    </>
  );
}

/** Items of one request. Source: the API. */
const IDS_MAX = 100;

/** What the candidates of a page are about, by id; in one request. */
function useTargets(rows: Candidate[]): ReadonlyMap<string, Brief> {
  const ids = [...new Set(rows.flatMap((row) => row.target_ids))].slice(-IDS_MAX);
  const { data } = useLoad<{ items: Brief[] }>(ids.length > 0 ? "/v1/items" : null, {
    id: ids,
    limit: IDS_MAX,
    include_deleted: true,
  });
  return new Map((data?.items ?? []).map((item) => [item.id, item]));
}
