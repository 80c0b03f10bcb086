"""The guard of this folder's conftest sees what use cases write."""

from __future__ import annotations

import pytest
from tests.builders import Bench

from remembrancer.app.memories.save import NewMemory, save_memory
from remembrancer.core.items import fields
from remembrancer.core.ledger import body_types


async def test_field_that_an_import_would_refuse_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    known = dict(body_types.RECORDS["item"].fields)
    assert known.keys() == fields.DEFAULTS.keys()
    del known["title"]
    record = body_types.RecordType(known)
    monkeypatch.setattr(body_types, "RECORDS", {**body_types.RECORDS, "item": record})
    with pytest.raises(AssertionError, match=r"an import would refuse item/.*'title'"):
        await save_memory(bench.app, bench.caller(), NewMemory("茉莉在阳台", {}, "fact"))
