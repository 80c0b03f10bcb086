"""Who asks, and may they; and keys that a person makes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.app.access import (
    CreatedKey,
    authenticate,
    create_key,
    describe_key,
    list_keys,
    local_owner,
    require,
    revoke_key,
)
from remembrancer.app.rebuild import rebuild
from remembrancer.app.settings import load_settings
from remembrancer.app.state import App
from remembrancer.core.access.keys import CreateKey
from remembrancer.core.access.profiles import PROFILES
from remembrancer.core.access.scopes import SCOPES, Scope
from remembrancer.core.access.tokens import hash_token
from remembrancer.core.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitExceeded,
    NotFound,
    Unauthenticated,
)
from remembrancer.core.ids import Namespace, key_stream
from remembrancer.core.ledger.changes import invert
from remembrancer.core.ledger.events import Event
from remembrancer.core.values import HOUR_MS, Caller, Idempotency
from remembrancer.ports.sql import Statement
from remembrancer.store.access import project_keys
from remembrancer.store.ledger import read_stream
from remembrancer.store.record_table import Placed
from remembrancer.testing.kv import MemoryKeyValue
from remembrancer.testing.runtime import FixedRuntime
from remembrancer.testing.stores import CountingStore, memory_store

OWNER = local_owner("req_test")
PHONE = CreateKey(name="手机 phone", scopes=("memory:read",))


class World:
    """An app on a fresh database whose round trips are counted."""

    def __init__(self) -> None:
        self.runtime = FixedRuntime()
        self.sql = CountingStore(memory_store())
        self.app = App(
            self.sql,
            MemoryKeyValue(self.runtime),
            self.runtime,
            load_settings({name: f"sk-{name}" for name in PROFILES}),
        )

    async def make(self, command: CreateKey = PHONE, caller: Caller = OWNER) -> tuple[str, str]:
        """Makes a key and returns its id and token."""
        created = await create_key(self.app, caller, command)
        assert created.token is not None
        return str(created.key["id"]), created.token

    async def knock(self, token: str | None, namespace: str | None = None) -> Caller:
        """Authenticates."""
        return await authenticate(self.app, token, cause="req_1", requested_namespace=namespace)

    async def events(self, key_id: str) -> list[Event]:
        """The events of a key."""
        return await read_stream(self.app.sql, OWNER.namespace, key_stream(key_id))


@pytest.mark.parametrize("variable", PROFILES)
async def test_authenticate_environment_key_needs_no_query(variable: str) -> None:
    world = World()
    caller = await world.knock(f"sk-{variable}")
    assert caller.key_id == variable
    assert caller.scopes == PROFILES[variable].scopes
    assert caller.actor == PROFILES[variable].actor
    assert caller.cause == "req_1"
    assert world.sql.counts.round_trips == 0


@pytest.mark.parametrize(
    ("token", "queries"),
    [(None, 0), ("", 0), ("sk-wrong", 0), ("密钥", 0), ("rmb_" + "A" * 43, 1)],
)
async def test_authenticate_unknown_key_is_refused_without_naming_it(
    token: str | None, queries: int
) -> None:
    world = World()
    with pytest.raises(Unauthenticated) as caught:
        await world.knock(token)
    assert world.sql.counts.round_trips == queries
    assert caught.value.hint
    assert not token or token not in f"{caught.value.message}{caught.value.hint}"


async def test_authenticate_made_key_costs_one_query_and_grants_what_was_asked() -> None:
    world = World()
    key_id, token = await world.make(
        CreateKey("claude", ("memory:write", "memory:read"), agent="claude-code")
    )
    world.sql.counts.calls.clear()
    caller = await world.knock(token)
    assert caller == Caller(
        Namespace("default"),
        "agent:claude-code",
        "req_1",
        frozenset({"memory:read", "memory:write"}),
        key_id=key_id,
    )
    assert caller.authored_by == "agent"
    assert world.sql.counts.round_trips == 1
    world.runtime.discard()


async def test_authenticate_notes_the_last_use_at_most_hourly_and_after_the_answer() -> None:
    world = World()
    _, token = await world.make()

    async def last_used() -> object:
        [row] = await list_keys(world.app, OWNER)
        return row.last_used_at

    await world.knock(token)
    first_ms = world.runtime.now_ms()
    assert await last_used() is None
    assert world.runtime.pending == 1
    await world.runtime.drain()
    assert await last_used() == first_ms
    world.runtime.advance(HOUR_MS - 1)
    await world.knock(token)
    assert world.runtime.pending == 0
    world.runtime.advance(1)
    await world.knock(token)
    await world.runtime.drain()
    assert await last_used() == first_ms + HOUR_MS


async def test_authenticate_expired_key_is_refused_from_that_moment_on() -> None:
    world = World()
    _, token = await world.make(replace(PHONE, expires_at=world.runtime.now_ms() + 10))
    world.runtime.advance(9)
    await world.knock(token)
    world.runtime.discard()
    world.runtime.advance(1)
    with pytest.raises(Unauthenticated, match="expired"):
        await world.knock(token)


async def test_authenticate_revoked_key_is_refused_at_once() -> None:
    world = World()
    key_id, token = await world.make()
    await revoke_key(world.app, OWNER, key_id)
    with pytest.raises(Unauthenticated, match="revoked"):
        await world.knock(token)


async def test_authenticate_only_admin_may_name_another_namespace() -> None:
    world = World()
    _, token = await world.make()
    assert (await world.knock("sk-CHATBOX_API_KEY", "team")).namespace == "team"
    assert (await world.knock("sk-DEBUG_API_KEY", "team")).namespace == "team"
    for other in (token, "sk-IM_API_KEY"):
        assert (await world.knock(other, "default")).namespace == "default"
        with pytest.raises(Forbidden, match="'team'"):
            await world.knock(other, "team")
    world.runtime.discard()


@pytest.mark.parametrize("name", ["../etc", "", "x" * 65, "团队", "-a"])
async def test_authenticate_namespace_of_a_wrong_form_is_invalid(name: str) -> None:
    with pytest.raises(InvalidInput):
        await World().knock("sk-CHATBOX_API_KEY", name)


@pytest.mark.parametrize("scope", SCOPES)
def test_require_passes_with_the_scope_and_names_it_without(scope: Scope) -> None:
    require(replace(OWNER, scopes=frozenset({scope})), scope)
    with pytest.raises(Forbidden, match=scope):
        require(replace(OWNER, scopes=frozenset(SCOPES) - {scope}), scope)


async def test_create_key_keeps_only_the_hash() -> None:
    world = World()
    key_id, token = await world.make()
    [outcome] = await world.app.sql.read(
        [Statement("SELECT token_hash, scopes FROM keys WHERE id = ?", (key_id,))]
    )
    assert outcome.rows == [{"token_hash": hash_token(token), "scopes": '["memory:read"]'}]
    [event] = await world.events(key_id)
    assert event.kind == "KeyCreated"
    assert token not in repr(event)


async def test_create_key_answer_shows_the_key_and_no_hash() -> None:
    world = World()
    created = await create_key(
        world.app, OWNER, replace(PHONE, expires_at=world.runtime.now_ms() + HOUR_MS)
    )
    assert created == CreatedKey(
        {
            "id": created.key["id"],
            "name": "手机 phone",
            "actor": "user",
            "scopes": ["memory:read"],
            "created_at": "2026-03-01T12:00:00Z",
            "expires_at": "2026-03-01T13:00:00Z",
            "revoked_at": None,
            "last_used_at": None,
        },
        created.token,
    )
    [row] = await list_keys(world.app, OWNER)
    assert describe_key(row) == created.key


async def test_create_key_repeated_answers_the_same_key_without_its_token() -> None:
    world = World()
    caller = replace(OWNER, idempotency=Idempotency("once", "hash"))
    first = await create_key(world.app, caller, PHONE)
    again = await create_key(world.app, caller, PHONE)
    assert first.token is not None
    assert (again.key, again.token) == (first.key, None)
    assert len(await list_keys(world.app, OWNER)) == 1
    other = replace(OWNER, idempotency=Idempotency("once", "another hash"))
    with pytest.raises(Conflict) as caught:
        await create_key(world.app, other, PHONE)
    assert caught.value.code == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("command", "error", "field"),
    [
        (replace(PHONE, name="  "), InvalidInput, "name"),
        (replace(PHONE, name="名" * 201), LimitExceeded, "name"),
        (replace(PHONE, scopes=()), InvalidInput, "scopes"),
        (replace(PHONE, scopes=("memory",)), InvalidInput, "scopes"),
        (replace(PHONE, agent=""), InvalidInput, "agent"),
        (replace(PHONE, agent="代理"), InvalidInput, "agent"),
        (replace(PHONE, expires_at=0), InvalidInput, "expires_at"),
        (replace(PHONE, expires_at=2**62), InvalidInput, "expires_at"),
        (replace(PHONE, scopes=("chat:proxy",)), Forbidden, "scopes"),
    ],
)
async def test_create_key_refuses_and_changes_nothing(
    command: CreateKey, error: type[Exception], field: str
) -> None:
    world = World()
    maker = replace(OWNER, scopes=frozenset({"admin", "memory:read"}))
    with pytest.raises(error) as caught:
        await create_key(world.app, maker, command)
    assert getattr(caught.value, "field", None) == field
    assert await list_keys(world.app, OWNER) == []


async def test_create_key_name_of_200_characters_is_taken() -> None:
    world = World()
    await world.make(replace(PHONE, name="名" * 200))
    assert len(await list_keys(world.app, OWNER)) == 1


async def test_revoke_key_twice_is_one_event() -> None:
    world = World()
    key_id, _ = await world.make()
    first = await revoke_key(world.app, OWNER, key_id)
    world.runtime.advance(HOUR_MS)
    again = await revoke_key(world.app, OWNER, key_id)
    assert first == again
    assert first["revoked_at"] == "2026-03-01T12:00:00Z"
    kinds = [event.kind for event in await world.events(key_id)]
    assert kinds == ["KeyCreated", "KeyRevoked"]


async def test_revoke_key_unknown_or_of_another_namespace_is_not_found() -> None:
    world = World()
    key_id, token = await world.make()
    team = replace(OWNER, namespace=Namespace("team"))
    for caller, name in ((OWNER, "key_nothing"), (team, key_id), (OWNER, "'; DROP TABLE keys")):
        with pytest.raises(NotFound):
            await revoke_key(world.app, caller, name)
    await world.knock(token)
    world.runtime.discard()


async def test_revoke_key_keeps_every_other_field() -> None:
    world = World()
    key_id, token = await world.make(replace(PHONE, agent="claude-code"))
    await revoke_key(world.app, OWNER, key_id)
    [row] = await list_keys(world.app, OWNER)
    assert (row.token_hash, row.actor, row.version) == (hash_token(token), "agent:claude-code", 2)
    assert row.scopes == ("memory:read",)


async def test_keys_rebuilt_equal_keys_as_they_were() -> None:
    world = World()
    key_id, _ = await world.make()
    world.runtime.advance(HOUR_MS)
    await world.make(replace(PHONE, agent="claude-code"))
    await revoke_key(world.app, OWNER, key_id)
    every = Statement("SELECT * FROM keys ORDER BY id")
    [before] = await world.app.sql.read([every])
    await rebuild(world.app)
    [after] = await world.app.sql.read([every])
    assert len(before.rows) == 2
    assert after.rows == before.rows


async def test_project_keys_drops_a_key_whose_record_is_empty() -> None:
    world = World()
    kept, _ = await world.make()
    gone, _ = await world.make()
    [made] = await world.events(gone)
    undone = replace(made, version=2, changes=invert(made.changes))
    await world.app.sql.write(project_keys([Placed(undone, {}, {})], ""))
    assert [row.id for row in await list_keys(world.app, OWNER)] == [kept]


async def test_keys_of_a_namespace_are_listed_in_pages_and_alone() -> None:
    world = World()
    ids = [(await world.make(replace(PHONE, name=f"key {n}")))[0] for n in range(3)]
    await world.make(caller=replace(OWNER, namespace=Namespace("team")))
    first = await list_keys(world.app, OWNER, limit=2)
    rest = await list_keys(world.app, OWNER, after_id=first[-1].id, limit=2)
    assert [row.id for row in [*first, *rest]] == ids


async def test_keys_need_the_scope_admin() -> None:
    world = World()
    key_id, _ = await world.make()
    other = replace(OWNER, scopes=frozenset(SCOPES) - {"admin"})
    with pytest.raises(Forbidden):
        await create_key(world.app, other, PHONE)
    with pytest.raises(Forbidden):
        await revoke_key(world.app, other, key_id)
    with pytest.raises(Forbidden):
        await list_keys(world.app, other)
