"""Use cases of the digest: show it, set it. Earlier versions are in the ledger."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.app.commit import Answer, Plan, write_in_turn
from remembrancer.app.projects import check_version
from remembrancer.app.state import App
from remembrancer.core.dates import format_iso
from remembrancer.core.ids import DIGEST
from remembrancer.core.ledger.changes import apply_changes
from remembrancer.core.ledger.events import Head
from remembrancer.core.library.digest import set_digest as draft_digest
from remembrancer.core.values import JSON, Caller
from remembrancer.ports.sql import Row
from remembrancer.store import ledger
from remembrancer.store import library as store
from remembrancer.store.ledger import StreamEdit


async def get_digest(app: App, caller: Caller) -> Answer:
    """Show the digest. *Shape:* `{"digest": {"content", "version", "updated_at"} | null}`.

    *Promise:* one round trip.
    """
    [outcome] = await app.sql.read([store.digest_statement(caller.namespace)])
    return {"digest": digest_view(outcome.rows)}


async def set_digest(
    app: App, caller: Caller, content: str, *, expected_version: int | None = None
) -> Answer:
    """Set the digest; an empty text takes it away.

    *Shape:* as `get_digest`, and `changed`. *Raises:* LimitExceeded above 500 characters:
    nothing is cut; Conflict when it is not at `expected_version` (`version_conflict`; what does not
    exist is at 0). *Promise:* two round trips.
    """

    async def decide() -> Plan:
        found, heads = await app.sql.read(
            [
                store.digest_statement(caller.namespace),
                ledger.heads_statement(caller.namespace, [DIGEST]),
            ]
        )
        check_version("digest", _version_of(found.rows), expected_version)
        present = store.digest_of(found.rows)
        draft = draft_digest(present, content)
        now_ms = app.runtime.now_ms()
        if draft is None:
            return Plan({"digest": digest_view(found.rows), "changed": False}, now_ms)
        head = ledger.heads(heads.rows).get(DIGEST, Head())
        after = apply_changes(present, draft.changes)
        digest: JSON = None
        if after:
            digest = _view(str(after["content"]), head.version + 1, now_ms)
        return Plan(
            answer={"digest": digest, "changed": True},
            at_ms=now_ms,
            edits=[StreamEdit(DIGEST, head, present, (draft,))],
        )

    return await write_in_turn(app, caller, decide)


def digest_view(rows: Sequence[Row]) -> JSON:
    """Return the digest's answer form from the rows of its statement; None when there is none."""
    for row in rows:
        return _view(str(row["content"]), int(str(row["version"])), int(str(row["updated_at"])))
    return None


def _version_of(rows: Sequence[Row]) -> int:
    return int(str(rows[0]["version"])) if rows else 0


def _view(content: str, version: int, updated_at: int) -> dict[str, JSON]:
    return {"content": content, "version": version, "updated_at": format_iso(updated_at)}
