// Access keys: made with what they may do, shown once, revoked.
import { useState } from "preact/hooks";
import { ApiError, write } from "../api/client";
import { errorOf, rowsUnder, usePages } from "../api/hooks";
import type { Key } from "../api/upkeep";
import { Check, Form, TextField } from "../parts/form";
import { PagedList } from "../parts/list";
import { Empty, useReport } from "../parts/notes";
import { confirm, Dialog, toast } from "../parts/overlay";
import { useZone, When } from "../parts/time";
import { useWords } from "../words";
import { keys } from "../words/keys";

const KEYS = rowsUnder<Key>("data");

export default function Keys() {
  const t = useWords(keys);
  const pages = usePages<Key>("/v1/keys", KEYS, { limit: 100 });
  const [isMaking, setMaking] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  const [hasRevoked, setHasRevoked] = useState(false);
  const report = useReport();
  const revoke = async (key: Key) => {
    const isSure = await confirm({
      title: t.revokeTitle(key.name),
      body: t.revokeBody,
      action: t.revoke,
      isDangerous: true,
    });
    if (!isSure) return;
    try {
      await write("DELETE", `/v1/keys/${key.id}`);
      toast(t.revoked);
    } catch (failure) {
      report(errorOf(failure));
    }
    pages.reload();
  };
  const shown = pages.rows.filter((key) => hasRevoked || key.revoked_at === null);
  return (
    <>
      <header class="page-head">
        <h1>{t.title}</h1>
        {pages.error?.code !== "forbidden" && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            {t.make}
          </button>
        )}
      </header>
      <p class="faint lead">{t.about}</p>
      {pages.error?.code === "forbidden" ? (
        <p class="note">{t.narrow}</p>
      ) : (
        <>
          {pages.rows.some((key) => key.revoked_at !== null) && (
            <Check label={t.showRevoked} isOn={hasRevoked} onInput={setHasRevoked} />
          )}
          <PagedList
            pages={{ ...pages, rows: shown }}
            keyOf={(key) => key.id}
            row={(key) => <OneKey data={key} onRevoke={() => revoke(key)} />}
            empty={<Empty title={t.empty}>{t.emptyHint}</Empty>}
          />
        </>
      )}
      {isMaking && (
        <NewKey
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false);
            setToken(made);
            pages.reload();
          }}
        />
      )}
      {token && <ShownOnce token={token} onClose={() => setToken(null)} />}
    </>
  );
}

function OneKey(props: { data: Key; onRevoke: () => void }) {
  const t = useWords(keys);
  const { data: key } = props;
  const names: Record<string, string> = t.scopeNames;
  const isExpired = key.expires_at !== null && Date.parse(key.expires_at) <= Date.now();
  return (
    <div class="row" data-key={key.id}>
      <div class="row-main">
        <p>
          <strong>{key.name}</strong> {key.actor !== "user" && <code>{key.actor}</code>}{" "}
          {key.revoked_at && (
            <span class="badge bad">
              {t.wasRevoked} <When at={key.revoked_at} />
            </span>
          )}
          {isExpired && !key.revoked_at && <span class="badge warn">{t.expired}</span>}
        </p>
        <p class="meta">
          {key.scopes.map((scope) => (
            <span key={scope} class="badge" title={names[scope]}>
              {scope}
            </span>
          ))}
        </p>
        <p class="meta">
          <span>
            {t.made} <When at={key.created_at} />
          </span>
          {key.last_used_at ? (
            <span>
              {t.used} <When at={key.last_used_at} />
            </span>
          ) : (
            <span>{t.unused}</span>
          )}
          {key.expires_at && !isExpired && (
            <span>
              {t.expiresAt} <When at={key.expires_at} />
            </span>
          )}
        </p>
      </div>
      {!key.revoked_at && (
        <span class="row-actions">
          <button type="button" class="quiet bad" onClick={props.onRevoke}>
            {t.revoke}
          </button>
        </span>
      )}
    </div>
  );
}

function NewKey(props: { onClose: () => void; onMade: (token: string | null) => void }) {
  const t = useWords(keys);
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(
    new Set(["chat:proxy", "memory:read", "memory:write"]),
  );
  const [agent, setAgent] = useState("");
  const [namespace, setNamespace] = useState("");
  const [expires, setExpires] = useState("");
  const zone = useZone();
  const toggle = (scope: string) => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  const send = async () => {
    if (scopes.size === 0) throw new ApiError(0, "invalid_input", t.chooseOne, null, null);
    const body: Record<string, unknown> = { name, scopes: [...scopes] };
    if (agent.trim()) body.agent = agent.trim();
    // Without an offset the server reads it in the namespace's zone, as everything here is shown.
    if (expires) body.expires_at = expires;
    const { data } = await write<{ token: string | null }>("POST", "/v1/keys", {
      body,
      query: { namespace: namespace.trim() },
    });
    props.onMade(data.token);
  };
  return (
    <Dialog title={t.make} onClose={props.onClose}>
      <Form send={send} label={t.make} onCancel={props.onClose}>
        <TextField label={t.name} value={name} onInput={setName} hint={t.nameHint} isRequired />
        <fieldset class="scopes">
          <legend>{t.scopes}</legend>
          {Object.entries(t.scopeNames).map(([scope, meaning]) => (
            <Check
              key={scope}
              label={scope}
              hint={meaning}
              isOn={scopes.has(scope)}
              onInput={() => toggle(scope)}
            />
          ))}
        </fieldset>
        <TextField label={t.agent} value={agent} onInput={setAgent} hint={t.agentHint} />
        <div class="fields">
          <TextField
            label={t.namespace}
            value={namespace}
            onInput={setNamespace}
            hint={t.namespaceHint}
          />
          <TextField
            label={t.expires}
            type="datetime-local"
            value={expires}
            onInput={setExpires}
            hint={t.expiresHint(zone)}
          />
        </div>
      </Form>
    </Dialog>
  );
}

/** The only moment at which a token can be seen: the dialog is left on purpose, not by Escape. */
function ShownOnce(props: { token: string; onClose: () => void }) {
  const t = useWords(keys);
  const report = useReport();
  const copy = () =>
    navigator.clipboard.writeText(props.token).then(
      () => toast(t.copied),
      (failure: unknown) => report(errorOf(failure)),
    );
  return (
    <Dialog title={t.shownOnce}>
      <p>{t.shownOnceAbout}</p>
      <p class="note token">
        <code>{props.token}</code>
      </p>
      <footer class="actions">
        {/* A page that did not come over HTTPS has no clipboard; then the text is marked by hand. */}
        {navigator.clipboard && (
          <button type="button" onClick={copy}>
            {t.copy}
          </button>
        )}
        <button type="button" class="primary" onClick={props.onClose}>
          {t.done}
        </button>
      </footer>
    </Dialog>
  );
}
