"""What kind of value a question asks for, and whether a text tells one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.core.recall.kinds import kinds_asked, share_told


@pytest.mark.parametrize(
    ("question", "kinds", "tells", "silent"),
    [
        pytest.param("车险几月到期", {"time"}, "十月到期", "车险还没买", id="month"),
        pytest.param("團練星期幾", {"time"}, "週五晚上", "團練換了地方", id="two-scripts"),
        pytest.param(
            "When does the lease end?", {"time"}, "It ends in May", "Tom's lease", id="english"
        ),
        pytest.param("房租多少", {"number"}, "三千二", "房东答应换空调", id="numerals"),
        pytest.param(
            "How many cats do I have?", {"number"}, "two cats", "the cats are grey", id="count"
        ),
        pytest.param("护照在哪里", {"place"}, "放在抽屉里", "护照快到期了", id="place"),
        pytest.param(
            "Where does she live?", {"place"}, "She lives in Leeds", "She sings", id="where"
        ),
        pytest.param("猫叫什么名字", {"name"}, "猫叫豆豆", "猫今年四岁", id="name"),
        pytest.param(
            "Who is my dentist?", {"name"}, "my dentist is Visser", "the dentist was late", id="who"
        ),
        pytest.param("为什么不用 Maya", {"reason"}, "因为授权费高", "用 Blender", id="reason"),
    ],
)
def test_kind_of_value_is_told_by_its_form(
    question: str, kinds: set[str], tells: str, silent: str
) -> None:
    asked = kinds_asked(question)
    assert asked == kinds
    assert share_told(asked, tells) == 1
    assert share_told(asked, silent) == 0


def test_half_of_what_is_asked_is_half_told() -> None:
    asked = kinds_asked("团练现在在哪，几点开始")
    assert asked == {"place", "time"}
    assert share_told(asked, "晚上七点") == 0.5
    assert share_told(kinds_asked("我喜欢什么"), "音乐") == 0


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_taken(question: str, text: str) -> None:
    assert 0 <= share_told(kinds_asked(question), text) <= 1
