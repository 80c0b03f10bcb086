"""Token estimates: near what real vocabularies count, and trimming that keeps its promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.text.graphemes import is_boundary
from remembrancer.core.text.tokens import estimate_tokens, trim_to_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
TYPED = st.text("ab Zé,.\n0159中文，。あ한ไ🎉👍🏽{}=_-", max_size=120)

TOLERANCE = 0.15
"""Share by which an estimate may leave the range of the two counts. Measured: 0.12 at most."""


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        pytest.param(
            "The user moved to Lisbon in March and now works from a small studio near the river. "
            "She prefers meetings before noon, drinks green tea, and asked to be reminded about "
            "the dentist next Friday. Please do not schedule anything on Sundays, because that "
            "is when her parents call.",
            55,
            55,
            id="english",
        ),
        pytest.param(
            "用户三月份搬到了里斯本，现在在河边的一间小工作室里上班。她喜欢上午开会，平时喝绿茶，"
            "还让我下周五提醒她去看牙医。星期天请不要安排任何事情，因为那天她父母会打电话过来。",
            63,
            104,
            id="chinese",
        ),
        pytest.param(
            "太太是台南人，兩年前搬到杭州，週末常常一起去菜市場買菜，她不吃香菜，也不喜歡太甜的點"
            "心。",
            38,
            64,
            id="traditional",
        ),
        pytest.param(
            "周五之前把 Python 服务的登录接口改完，顺便看一下 pull request #42 里的评论，然后在 "
            "Slack 上告诉 Anna 可以发布 v2.3.1 了。",
            40,
            54,
            id="mixed",
        ),
        pytest.param(
            "def load_items(path: str, *, limit: int = 100) -> list[Item]:\n    with open(path, "
            "encoding='utf-8') as handle:\n        rows = [json.loads(line) for line in handle "
            "if line.strip()]\n    return [Item(id=row['id'], title=row['title']) for row in "
            "rows[:limit]]\n",
            71,
            71,
            id="python",
        ),
        pytest.param(
            '{\n  "id": "itm_01",\n  "title": "买牛奶",\n  "tags": ["购物", "home"]'
            ',\n  "priority": 2,\n  "due_at": "2026-03-05T09:00:00Z",\n  "pinned": '
            "false\n}",
            64,
            68,
            id="json",
        ),
        pytest.param(
            "## Plan\n\n- [ ] write the **parser** (see `core/dates.py`)\n- [x] agree on names\n"
            "\n| Field | Rule |\n|---|---|\n| title | 1–200 characters |\n| tags | at most "
            "50 |\n",
            54,
            54,
            id="markdown",
        ),
        pytest.param(
            "Call +86 138-0013-8000 before 10:30 on 2026-01-03; the order was 1,250,000 at "
            "3.14159 each, invoice 88213.",
            47,
            47,
            id="numbers",
        ),
        pytest.param(
            "明日の会議は三時からです。資料を印刷して、コーヒーも準備してください。",
            25,
            35,
            id="japanese",
        ),
        pytest.param(
            "내일 회의는 세 시에 시작합니다. 자료를 인쇄하고 커피도 준비해 주세요.",
            23,
            33,
            id="korean",
        ),
        pytest.param(
            "Пользователь переехал в Москву и просит напомнить о встрече в пятницу утром.",
            23,
            37,
            id="russian",
        ),
        pytest.param(
            "🎉🎉 great news 👍 see you soon 😂 ❤️ 🚀",
            14,
            20,
            id="emoji",
        ),
    ],
)
def test_estimate_tokens_text_is_near_two_vocabularies(text: str, o200k: int, cl100k: int) -> None:
    # The counts were measured with the two public vocabularies of these names.
    low, high = min(o200k, cl100k), max(o200k, cl100k)
    assert low * (1 - TOLERANCE) <= estimate_tokens(text) <= high * (1 + TOLERANCE)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param(" ", 0, id="space"),
        pytest.param("a", 1, id="letter"),
        pytest.param("hello", 1, id="word"),
        pytest.param("好", 2, id="han"),
        pytest.param("…", 1, id="ellipsis"),
        pytest.param("\ue000", 2, id="private_use"),
    ],
)
def test_estimate_tokens_small_text_is_counted(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(ANY_TEXT | TYPED, ANY_TEXT | TYPED)
def test_estimate_tokens_appending_never_lowers(start: str, more: str) -> None:
    assert estimate_tokens(start) <= estimate_tokens(start + more)


@pytest.mark.parametrize(
    ("text", "max_tokens", "trimmed"),
    [
        pytest.param("hello world", 10, "hello world", id="fits"),
        pytest.param("hello world again and again", 3, "hello world…", id="between_words"),
        pytest.param("hello internationalisation", 3, "hello…", id="long_word_goes_whole"),
        pytest.param("hello", 0, "", id="nothing"),
        pytest.param("hello", -3, "", id="negative"),
        pytest.param("", 5, "", id="empty"),
        pytest.param("我喜欢喝绿茶和咖啡", 5, "我喜欢喝…", id="chinese"),
        pytest.param("我喜欢喝绿茶", 1, "…", id="mark_only"),
        pytest.param("x" * 400, 5, "x" * 27 + "…", id="one_long_word"),
        pytest.param(" " * 40 + "word " * 50, 5, " " * 40 + "word word…", id="space_is_cheap"),
    ],
)
def test_trim_to_tokens_text_ends_with_the_mark(text: str, max_tokens: int, trimmed: str) -> None:
    assert trim_to_tokens(text, max_tokens) == trimmed


@given(ANY_TEXT | TYPED, st.integers(-1, 60))
def test_trim_to_tokens_any_text_keeps_the_budget(text: str, max_tokens: int) -> None:
    trimmed = trim_to_tokens(text, max_tokens)
    assert estimate_tokens(trimmed) <= max(0, max_tokens)
    if trimmed != text:
        kept = trimmed.removesuffix("…")
        assert text.startswith(kept)
        assert is_boundary(text, len(kept))
        assert max_tokens < 1 or estimate_tokens(text) > max_tokens


def test_trim_to_tokens_million_characters_stays_quick() -> None:
    text = "记忆 memory, " * 90_000
    trimmed = trim_to_tokens(text, 50)
    assert trimmed.startswith("记忆 memory")
    assert len(trimmed) < 300
