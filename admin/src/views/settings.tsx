// Settings of this memory, to change; settings of the server, to see. Secrets are never shown.
import { useState } from "preact/hooks";
import { write } from "../api/client";
import { errorOf, useLoad } from "../api/hooks";
import type { Settings as Answer } from "../api/types";
import type { ServerSetting } from "../api/upkeep";
import { useChanged } from "../parts/changes";
import { Check, Choice, Form, TextField } from "../parts/form";
import { Empty, ErrorNote, useReport, Waiting } from "../parts/notes";
import { toast } from "../parts/overlay";
import { useWords } from "../words";
import { common } from "../words/common";
import { settings } from "../words/settings";

type Name = keyof Answer["settings"];

export default function Settings() {
  const t = useWords(settings);
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
      </header>
      <Own />
      <OfServer />
    </>
  );
}

function Own() {
  const t = useWords(settings);
  const { data, error, reload } = useLoad<Answer>("/v1/settings");
  if (error) return <ErrorNote error={error} onRetry={reload} />;
  if (data === null) return <Waiting />;
  const names = Object.keys(t.names) as Name[];
  return (
    <section>
      <h2>{t.own}</h2>
      <p class="faint lead">{t.ownAbout}</p>
      <ul class="rows">
        {names.map((name) => (
          <li key={name}>
            <OneSetting
              key={String(data.settings[name])}
              name={name}
              answer={data}
              onChanged={reload}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneSetting(props: { name: Name; answer: Answer; onChanged: () => void }) {
  const t = useWords(settings);
  const c = useWords(common);
  const { name, answer } = props;
  const [isEditing, setEditing] = useState(false);
  const [value, setValue] = useState(String(answer.settings[name]));
  const changed = useChanged(props.onChanged);
  const report = useReport();
  const isSet = answer.sources[name] === "namespace";
  const options: Record<string, string> | null =
    name === "default_quick_add_priority"
      ? t.priorities
      : name === "default_capture_kind"
        ? t.kinds
        : null;
  const said = (given: unknown) => options?.[String(given)] ?? String(given);
  const isNumber = typeof answer.settings[name] === "number";
  const save = async (next: string | number | null) => {
    const { data, cause } = await write<{ changed: boolean }>("PATCH", "/v1/settings", {
      body: { [name]: next },
    });
    setEditing(false);
    if (!data.changed) toast(t.unchanged);
    else changed(name === "time_zone" ? `${t.saved}. ${t.reloadForZone}` : t.saved, cause);
    props.onChanged();
  };
  const shared = { label: t.names[name], value, onInput: setValue, hint: t.hints[name] };
  if (isEditing) {
    return (
      <div class="card" data-setting={name}>
        <Form
          send={() => save(isNumber ? Number(value) : value)}
          onCancel={() => setEditing(false)}
        >
          {options ? (
            <Choice {...shared} options={options} />
          ) : (
            <TextField {...shared} type={isNumber ? "number" : "text"} isRequired />
          )}
        </Form>
      </div>
    );
  }
  return (
    <div class="row" data-setting={name}>
      <div class="row-main">
        <p>
          {t.names[name]}: <strong>{said(answer.settings[name])}</strong>
        </p>
        <p class="meta">
          <span class={isSet ? "badge" : ""}>{t.sources[isSet ? "namespace" : "default"]}</span>
          {isSet && <span>{t.byDefault(said(answer.defaults[name]))}</span>}
        </p>
      </div>
      <span class="row-actions">
        {isSet && (
          <button
            type="button"
            class="quiet"
            onClick={() => save(null).catch((failure: unknown) => report(errorOf(failure)))}
          >
            {t.setBack}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => setEditing(true)}>
          {c.edit}
        </button>
      </span>
    </div>
  );
}

function OfServer() {
  const t = useWords(settings);
  const { data, error, reload } = useLoad<{ settings: ServerSetting[] }>("/v1/settings/server");
  const [find, setFind] = useState("");
  const [isOnlySet, setOnlySet] = useState(false);
  const wanted = find.trim().toLowerCase();
  const shown = (data?.settings ?? []).filter(
    (one) =>
      (!isOnlySet || one.source !== "default") &&
      `${one.variable} ${one.description}`.toLowerCase().includes(wanted),
  );
  return (
    <section class="section">
      <h2>{t.server}</h2>
      <p class="faint lead">{t.serverAbout}</p>
      {error?.code === "forbidden" ? (
        <p class="note">{t.narrow}</p>
      ) : (
        error && <ErrorNote error={error} onRetry={reload} />
      )}
      {!error && data === null && <Waiting />}
      {data && (
        <>
          <div class="filters">
            <div class="grow">
              <TextField label={t.find} type="search" value={find} onInput={setFind} />
            </div>
            <Check label={t.onlySet} isOn={isOnlySet} onInput={setOnlySet} />
          </div>
          {shown.length === 0 && <Empty title={t.noneFound} />}
          {shown.length > 0 && (
            <ul class="rows">
              {shown.map((one) => (
                <li key={one.variable}>
                  <Variable setting={one} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

function Variable(props: { setting: ServerSetting }) {
  const t = useWords(settings);
  const { setting: one } = props;
  const value = one.value === null ? t.unset : one.secret ? t.secretSet : one.value;
  return (
    <div class="row" data-variable={one.variable}>
      <div class="row-main">
        <p>
          <code>{one.variable}</code>
        </p>
        <p lang="en" class="small">
          {one.description}
        </p>
        <p lang="en" class="faint small">
          {t.accepts}: {one.accepts}
        </p>
      </div>
      <div class="setting-value">
        <p class={one.value === null || one.value === "" ? "faint" : ""}>{value || t.unset}</p>
        <p class="meta">
          <span class={one.source === "default" ? "" : "badge"}>{t.origins[one.source]}</span>
          {one.source !== "default" && !one.secret && one.default !== "" && (
            <span>{t.byDefault(one.default)}</span>
          )}
        </p>
      </div>
    </div>
  );
}
