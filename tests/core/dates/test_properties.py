"""What holds for every text, instant and series."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st
from tests.core.dates.reading import KOLKATA, NEW_YORK, SHANGHAI, next_due
from tests.core.dates.test_chinese import PHRASES as CHINESE
from tests.core.dates.test_english import PHRASES as ENGLISH

from remembrancer.core.dates import (
    ParsedDate,
    Recurrence,
    RecurrenceKind,
    day_bounds,
    find_date,
    format_iso,
    local_date,
    parse_date,
    parse_iso,
    parse_recurrence,
)
from remembrancer.core.dates.english import ENGLISH_RULES
from remembrancer.core.dates.folding import fold
from remembrancer.core.dates.zones import MS_MAX, MS_MIN
from remembrancer.core.errors import InvalidInput

ZONES = (SHANGHAI, NEW_YORK, KOLKATA, ZoneInfo("Pacific/Apia"), ZoneInfo("Australia/Lord_Howe"))
zones = st.sampled_from(ZONES)
years = st.integers(
    int(datetime(1970, 1, 1, tzinfo=UTC).timestamp()) * 1000,
    int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()) * 1000,
)
instants = st.integers(MS_MIN, MS_MAX)

WORDS = sorted(
    {word for row in (*ENGLISH, *CHINESE) for word in row[0].split()}
    | {char for row in CHINESE for char in row[0]}
    | {"0", "24", "25", "60", "99", "9999", ":", "-", "/", ".", ",", "(", ")", " ", "百", "零", "x"}
)
texts = st.text(max_size=210) | st.lists(st.sampled_from(WORDS), max_size=12).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda gap: gap.join(words))
)


@given(texts, instants, zones)
def test_any_text_is_a_date_or_invalid_input(text: str, now_ms: int, zone: ZoneInfo) -> None:
    try:
        parsed = parse_date(text, now_ms=now_ms, zone=zone)
    except InvalidInput as error:
        assert error.field == "due"
        assert error.hint
    else:
        assert MS_MIN <= parsed.at_ms <= MS_MAX
        assert parsed.matched in text
        assert parsed.wording


@given(texts, instants, zones)
def test_any_sentence_gives_a_date_or_none(text: str, now_ms: int, zone: ZoneInfo) -> None:
    parsed = find_date(text, now_ms=now_ms, zone=zone)
    assert parsed is None or parsed.matched in text


@given(texts)
def test_any_text_is_a_series_or_none(text: str) -> None:
    rec = parse_recurrence(text)
    assert rec is None or rec.interval >= 1


@given(texts)
def test_folding_keeps_the_way_back(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.shown) == len(folded.origin)
    assert list(folded.origin) == sorted(folded.origin)
    assert not folded.text or folded.typed(0, len(folded.text)) in text


@given(st.sampled_from([row[0] for row in (*ENGLISH, *CHINESE)]), years, zones)
def test_wording_reads_as_the_same_date(text: str, now_ms: int, zone: ZoneInfo) -> None:
    def reread(phrase: str) -> ParsedDate | None:
        try:
            return parse_date(phrase, now_ms=now_ms, zone=zone)
        except InvalidInput:
            return None

    first = reread(text)
    if first is not None:
        again = reread(first.wording)
        assert again is not None
        assert (again.at_ms, again.has_time) == (first.at_ms, first.has_time)


@given(years, zones)
def test_today_and_tonight_are_never_in_the_past(now_ms: int, zone: ZoneInfo) -> None:
    for text in (
        "today",
        "tonight",
        "今天",
        "今晚",
        "this week",
        "周末",
        "月底",
        "年底",
        "3pm",
        "中午",
    ):
        parsed = parse_date(text, now_ms=now_ms, zone=zone)
        assert parsed.at_ms >= now_ms


@given(instants, zones)
def test_format_iso_is_read_back_by_parse_iso_and_by_parse_date(ms: int, zone: ZoneInfo) -> None:
    text = format_iso(ms)
    assert parse_iso(text, zone=zone) == ms
    assert parse_date(text, now_ms=0, zone=zone).at_ms == ms


@given(years, zones)
def test_day_bounds_hold_the_instant(ms: int, zone: ZoneInfo) -> None:
    start, end = day_bounds(ms, zone)
    assert start <= ms < end
    assert local_date(start, zone) == local_date(end - 1, zone) == local_date(ms, zone)
    assert day_bounds(local_date(ms, zone), zone) == (start, end)


kinds: st.SearchStrategy[RecurrenceKind] = st.sampled_from(
    ["daily", "weekly", "monthly", "yearly", "weekdays"]
)
anchors = {"weekly": 7, "monthly": 31, "yearly": 31}


@st.composite
def series(draw: st.DrawFn) -> Recurrence:
    kind = draw(kinds)
    highest = anchors.get(kind)
    anchor = draw(st.none() | st.integers(1, highest)) if highest else None
    return Recurrence(kind, draw(st.integers(1, 365)), anchor_day=anchor)


@given(series(), st.none() | years, years, zones)
def test_next_due_is_after_now_and_after_the_due_date(
    rec: Recurrence, due_ms: int | None, now_ms: int, zone: ZoneInfo
) -> None:
    following = next_due(rec, due_ms=due_ms, now_ms=now_ms, zone=zone)
    assert following is not None
    assert following > now_ms
    assert due_ms is None or following > due_ms


@given(series(), years, years, years, zones)
def test_next_due_never_moves_back_as_time_passes(
    rec: Recurrence, due_ms: int, one: int, other: int, zone: ZoneInfo
) -> None:
    earlier, later = sorted((one, other))
    first = next_due(rec, due_ms=due_ms, now_ms=earlier, zone=zone)
    second = next_due(rec, due_ms=due_ms, now_ms=later, zone=zone)
    assert first is not None
    assert second is not None
    assert first <= second


@given(series(), years, st.integers(1, 20), zones)
def test_catching_up_lands_where_single_steps_would(
    rec: Recurrence, due_ms: int, steps: int, zone: ZoneInfo
) -> None:
    late = due_ms
    for _ in range(steps):
        following = next_due(rec, due_ms=due_ms, now_ms=late, zone=zone)
        assert following is not None
        late = following
    just_before = next_due(rec, due_ms=due_ms, now_ms=late - 1, zone=zone)
    assert just_before == late


@given(years, st.integers(0, 1000))
def test_next_weekday_due_is_never_on_a_weekend(due_ms: int, days: int) -> None:
    now_ms = due_ms + days * 86_400_000
    following = next_due(Recurrence("weekdays"), due_ms=due_ms, now_ms=now_ms, zone=KOLKATA)
    assert following is not None
    day = datetime.fromisoformat(local_date(following, KOLKATA))
    assert day.weekday() < 5


def test_patterns_hold_no_nested_repeats_that_could_explode() -> None:
    nasty = ("a" * 199, "1 " * 99, "in " * 66, "the " * 50, "一" * 199, "十" * 199, "下" * 199)
    for text in nasty:
        for rule in ENGLISH_RULES:
            rule.match(text, 0)
        assert find_date(text, now_ms=0, zone=SHANGHAI) is None
