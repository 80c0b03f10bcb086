// What retention takes next, if nothing changes.
import { useState } from "preact/hooks";
import { useLoad } from "../api/hooks";
import type { Leaving } from "../api/upkeep";
import { Choice } from "../parts/form";
import { Empty, ErrorNote, Waiting } from "../parts/notes";
import { When } from "../parts/time";
import { link } from "../router";
import { useWords } from "../words";
import { common } from "../words/common";
import { jobs } from "../words/jobs";
import { Counts } from "./jobs-runs";

/** Items listed by name. */
const SHOWN_MAX = 100;

export function Leaves() {
  const t = useWords(jobs);
  const [days, setDays] = useState("7");
  const { data, error, reload } = useLoad<Leaving>("/v1/jobs/retention/preview", {
    days,
    limit: SHOWN_MAX,
  });
  return (
    <>
      <p class="faint lead">{t.leavingAbout}</p>
      <div class="filters">
        <Choice label={t.within} value={days} options={t.withinDays} onInput={setDays} />
      </div>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {!error && data === null && <Waiting />}
      {data && <Shown leaving={data} />}
    </>
  );
}

function Shown(props: { leaving: Leaving }) {
  const t = useWords(jobs);
  const c = useWords(common);
  const { leaving } = props;
  const { expire, purge, ...rows } = leaving.counts;
  const isNothing = Object.values(leaving.counts).every((count) => count === 0);
  if (isNothing) return <Empty title={t.nothingLeaves}>{t.nothingLeavesHint}</Empty>;
  return (
    <>
      {leaving.expire.length > 0 && (
        <section class="section">
          <h2>
            {t.expiring} ({expire})
          </h2>
          <p class="faint">{t.expiringHint}</p>
          <ul class="rows">
            {leaving.expire.map((item) => (
              <li key={item.item_id} class="row">
                <div class="row-main">
                  <a href={link("memories", item.item_id)}>{item.title}</a>
                  <p class="meta">
                    <span>
                      {t.goes} <When at={item.goes_at} />
                    </span>
                    <span>
                      {t.used} <When at={item.last_used_at} />
                    </span>
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      {leaving.purge.length > 0 && (
        <section class="section">
          <h2>
            {t.purging} ({purge})
          </h2>
          <p class="faint">{t.purgingHint}</p>
          <ul class="rows">
            {leaving.purge.map((item) => (
              <li key={item.item_id} class="row">
                <div class="row-main">
                  <a href={link("memories", item.item_id)}>{item.title}</a>
                  <p class="meta">
                    <span>{(c.states as Record<string, string>)[item.state] ?? item.state}</span>
                    <span>
                      {t.goes} <When at={item.goes_at} />
                    </span>
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      {Object.values(rows).some((count) => count > 0) && (
        <section class="section">
          <h2>{t.rowsTitle}</h2>
          <p>
            <Counts counts={rows} />
          </p>
          {leaving.messages_passed_to && (
            <p class="faint">
              {t.passedTo} <When at={leaving.messages_passed_to} />
            </p>
          )}
        </section>
      )}
      {leaving.messages_waiting > 0 && <p class="faint">{t.unread(leaving.messages_waiting)}</p>}
    </>
  );
}
