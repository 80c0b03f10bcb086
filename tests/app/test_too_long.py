"""A text that is too long is refused before it is looked through for secrets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.write import create_item, quick_capture
from remembrancer.app.library.digest import set_digest
from remembrancer.app.library.glossary import set_glossary
from remembrancer.app.library.precious import add_precious
from remembrancer.app.memories.change import update_memory
from remembrancer.app.memories.save import NewMemory, save_memory, supersede_memory
from remembrancer.app.messages import ingest_messages
from remembrancer.core.errors import LimitExceeded
from remembrancer.core.limits import BODY_BYTES_MAX
from remembrancer.core.messages import Message
from remembrancer.core.redact import redaction
from remembrancer.core.redact.known import Kind

LONG = "密码是hunter2！" * (BODY_BYTES_MAX // 24)


async def _captured(bench: Bench) -> None:
    await quick_capture(bench.app, bench.caller(), f"记住：{LONG}", {})


async def _created(bench: Bench) -> None:
    await create_item(bench.app, bench.caller(), {"title": "长", "kind": "memory", "content": LONG})


async def _sourced(bench: Bench) -> None:
    await quick_capture(bench.app, bench.caller(), "记住：短", {"source": LONG})


async def _saved(bench: Bench) -> None:
    await save_memory(bench.app, bench.caller(), NewMemory(LONG))


async def _superseded(bench: Bench) -> None:
    await supersede_memory(bench.app, bench.caller(), "itm_1", NewMemory("短"), reason=LONG)


async def _changed(bench: Bench) -> None:
    made = await create_item(bench.app, bench.caller(), {"title": "短", "kind": "memory"})
    await update_memory(bench.app, bench.caller(), id_of(made), {"content": LONG})


async def _quoted(bench: Bench) -> None:
    await add_precious(bench.app, bench.caller(), LONG)


async def _explained(bench: Bench) -> None:
    await set_glossary(bench.app, bench.caller(), term="词", definition=LONG)


async def _summed_up(bench: Bench) -> None:
    await set_digest(bench.app, bench.caller(), LONG)


async def _said(bench: Bench) -> None:
    await ingest_messages(bench.app, bench.caller(), [Message("user", LONG)])


WAYS: dict[str, Callable[[Bench], Awaitable[None]]] = {
    "captured": _captured,
    "created": _created,
    "source": _sourced,
    "saved": _saved,
    "superseding reason": _superseded,
    "changed": _changed,
    "precious": _quoted,
    "glossary": _explained,
    "digest": _summed_up,
    "message": _said,
}


@pytest.mark.parametrize("way", WAYS)
async def test_text_that_is_too_long_is_refused_before_it_is_looked_through(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench()
    looked_through: list[int] = []
    find = redaction._found

    def counted(text: str) -> list[tuple[int, int, Kind]]:
        looked_through.append(len(text))
        return find(text)

    monkeypatch.setattr(redaction, "_found", counted)
    with pytest.raises(LimitExceeded, match=f"{len(LONG)}|{len(LONG) + 3}"):
        await WAYS[way](bench)
    assert max(looked_through, default=0) < 1_000


async def test_secret_behind_more_blanks_than_a_title_may_have_is_redacted() -> None:
    bench = Bench()
    given: ItemInput = {"title": " " * 300 + "密码是hunter2！", "kind": "memory"}
    answer = await create_item(bench.app, bench.caller(), given)
    assert "hunter2" not in str(answer)
