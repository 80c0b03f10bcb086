"""The kept day of a series belongs to its kind: it goes when the kind changes."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from remembrancer.core.items.commands import Moment
from remembrancer.core.items.decide import complete_item, create_item, edit_item

AT = Moment(now_ms=1_796_176_800_000, zone=ZoneInfo("Asia/Shanghai"))


@pytest.mark.parametrize("kind", ["daily", "weekly", "weekdays"])
def test_monthly_task_made_another_kind_loses_its_day_and_can_be_completed(kind: str) -> None:
    created = create_item({"title": "交房租", "recurrence_kind": "monthly"}, at=AT)
    fields = {name: after for name, (_, after) in created.changes.items()}
    edited = edit_item(fields, {"recurrence_kind": kind}, at=AT)
    assert edited is not None
    assert edited.changes["recurrence_day"] == (2, None)
    fields |= {name: after for name, (_, after) in edited.changes.items()}
    completed = complete_item(fields, at=AT)
    assert completed is not None
    assert "due_at" in completed.changes
