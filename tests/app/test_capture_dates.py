"""Quick capture reads a date in the words of a task, and the series that it belongs to."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import Bench, id_of

from remembrancer.app.items.inputs import ItemInput
from remembrancer.app.items.states import update_task_state
from remembrancer.app.items.write import create_item, quick_capture
from remembrancer.core.dates import format_local, load_zone, parse_iso

ZONE = load_zone("Asia/Singapore")
NOW = parse_iso("2026-12-02T10:00", zone=ZONE)


# Any: tests look into answers by key.
async def captured(text: str, **given: Any) -> dict[str, Any]:
    """The item that a line makes on Wednesday 2 December 2026, 10:00."""
    bench = Bench()
    bench.runtime.at_ms = NOW
    filled: ItemInput = {**given}  # type: ignore[typeddict-item]
    answer = await quick_capture(bench.app, bench.caller(), text, filled)
    return answer["item"]  # type: ignore[return-value]


def due(item: dict[str, Any]) -> str | None:
    at = item["due_at"]
    return None if at is None else format_local(parse_iso(at, zone=ZONE), ZONE)


SAID = (
    ("下周五下午三点交报告 #工作 +项目甲", "下周五下午三点交报告", "2026-12-11 15:00"),
    ("大后天 看牙医", "大后天 看牙医", "2026-12-05 09:00"),
    ("后天晚上8点半 和王老师吃饭", "后天晚上8点半 和王老师吃饭", "2026-12-04 20:30"),
    ("今晚十点给妈妈打电话", "今晚十点给妈妈打电话", "2026-12-02 22:00"),
    ("後天下午三點 開會 ＃工作", "後天下午三點 開會", "2026-12-04 15:00"),
    ("本月最后一天 结算", "本月最后一天 结算", "2026-12-31 17:00"),
    ("report next fri 5pm", "report next fri 5pm", "2026-12-11 17:00"),
    ("ship it in 2 weeks", "ship it in 2 weeks", "2026-12-16 09:00"),
    ("pay on the last day of the month", "pay on the last day of the month", "2026-12-31 17:00"),
    ("call Bob", "call Bob", None),
    ("fix login on 2026.1.2 release", "fix login on 2026.1.2 release", None),
    ("last friday was fun", "last friday was fun", None),
    ("买 5 个苹果", "买 5 个苹果", None),
    ("写 2026-02-30 的报告", "写 2026-02-30 的报告", None),
)


@pytest.mark.parametrize(("text", "title", "expected"), SAID, ids=[row[0] for row in SAID])
async def test_date_in_the_words_of_a_captured_task_is_its_due_date(
    text: str, title: str, expected: str | None
) -> None:
    item = await captured(text)
    assert item["title"] == title, "every word stays"
    assert due(item) == expected


async def test_due_marker_or_argument_wins_over_the_words() -> None:
    assert due(await captured("明天准备材料 due:周五")) == "2026-12-04 09:00"
    assert due(await captured("明天准备材料", due="后天")) == "2026-12-04 09:00"
    assert due(await captured("明天准备材料", due=None)) is None


@pytest.mark.parametrize("text", ["note: 明天是妈妈的生日", "记住：明天停电"])
async def test_memory_is_given_no_due_date(text: str) -> None:
    assert due(await captured(text)) is None


async def test_title_of_a_created_item_is_only_a_title() -> None:
    bench = Bench()
    answer = await create_item(bench.app, bench.caller(), {"title": "明天下午三点开会"})
    assert answer["item"]["due_at"] is None  # type: ignore[index,call-overload]


async def test_date_outside_the_title_of_a_long_line_is_found() -> None:
    assert due(await captured("准备材料\n明天下午三点之前发给她")) == "2026-12-03 15:00"


SERIES = (
    ("每月最后一天 交房租 #家", "monthly", 1, "2026-12-31 09:00"),
    ("每天早上7点 吃药", "daily", 1, "2026-12-03 07:00"),
    ("每周五下午三点 写周报", "weekly", 1, "2026-12-04 15:00"),
    ("写周报 每周五", "weekly", 1, "2026-12-04 09:00"),
    ("每月15号 还信用卡", "monthly", 1, "2026-12-15 09:00"),
    ("每兩週 復盤", "weekly", 2, None),
    ("每两周 复盘，下周一开始", "weekly", 2, "2026-12-07 09:00"),
    ("每个工作日 9点 站会", "weekdays", 1, "2026-12-03 09:00"),
    ("standup every weekday at 9:30", "weekdays", 1, "2026-12-03 09:30"),
    ("every friday 3pm weekly report", "weekly", 1, "2026-12-04 15:00"),
    ("water the plants every 3 days", "daily", 3, None),
    ("rent every month on the 1st", "monthly", 1, "2027-01-01 09:00"),
    ("pay rent on the last day of every month", "monthly", 1, "2026-12-31 09:00"),
)


@pytest.mark.parametrize(
    ("text", "kind", "interval", "expected"), SERIES, ids=[row[0] for row in SERIES]
)
async def test_series_at_the_edge_of_a_captured_task_is_its_recurrence(
    text: str, kind: str, interval: int, expected: str | None
) -> None:
    item = await captured(text)
    assert (item["recurrence_kind"], item["recurrence_interval"]) == (kind, interval)
    assert due(item) == expected


NO_SERIES = (
    "整理每天的笔记模板",
    "read about every day carry knives",
    "每周一次的例会太长了",
    "每月例会纪要",
    "every other thing",
    "fix the bug that occurs every day",
    "查一下为什么失败 每天",
    "每月32号 对账",
    "每周一、三、五健身",
    "every monday and friday gym",
)


@pytest.mark.parametrize("text", NO_SERIES)
async def test_words_that_are_no_series_of_the_task_make_none(text: str) -> None:
    assert "recurrence_kind" not in await captured(text)


async def test_series_is_left_to_the_arguments_where_they_name_one() -> None:
    item = await captured("每天早上7点 吃药", recurrence_kind="weekly")
    assert (item["recurrence_kind"], due(item)) == ("weekly", "2026-12-03 07:00")


async def test_last_day_of_the_month_stays_the_last_after_a_short_month() -> None:
    bench = Bench()
    bench.runtime.at_ms = parse_iso("2027-02-03T10:00", zone=ZONE)
    made = await quick_capture(bench.app, bench.caller(), "每月最后一天 交房租", {})
    assert due(made["item"]) == "2027-02-28 09:00"  # type: ignore[arg-type]
    bench.runtime.at_ms = parse_iso("2027-02-28T12:00", zone=ZONE)
    done = await update_task_state(bench.app, bench.caller(), id_of(made), "complete")
    assert due(done["item"]) == "2027-03-31 09:00"  # type: ignore[arg-type]
